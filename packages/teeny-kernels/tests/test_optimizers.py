"""Several steps of each optimizer beside PyTorch's, strided parameters, and what is refused."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import teeny_kernels
from teeny_kernels.codes import KernelError

if TYPE_CHECKING:
    from collections.abc import Iterator

# Function, torch.optim's class, PyTorch's names of the state in our order, options, whether the
# step is given.
OPTIMIZERS: list[tuple[str, str, tuple[str, ...], dict[str, Any], bool]] = [
    ("sgd_step", "SGD", (), {"lr": 0.1, "weight_decay": 0.01}, False),
    ("sgd_step", "SGD", ("momentum_buffer",), {"lr": 0.1, "momentum": 0.9, "dampening": 0.2}, True),
    ("sgd_step", "SGD", ("momentum_buffer",), {"momentum": 0.9, "nesterov": True}, True),
    ("adam_step", "Adam", ("exp_avg", "exp_avg_sq"), {"weight_decay": 0.1}, True),
    ("adamw_step", "AdamW", ("exp_avg", "exp_avg_sq"), {"lr": 0.1}, True),
    ("adam_step", "Adam", ("exp_avg", "exp_avg_sq", "max_exp_avg_sq"),
     {"amsgrad": True, "betas": (0.5, 0.6)}, True),
    ("adamax_step", "Adamax", ("exp_avg", "exp_inf"), {"maximize": True}, True),
    ("nadam_step", "NAdam", ("exp_avg", "exp_avg_sq"), {"weight_decay": 0.1}, True),
    ("radam_step", "RAdam", ("exp_avg", "exp_avg_sq"), {"lr": 0.1}, True),
    ("radam_step", "RAdam", ("exp_avg", "exp_avg_sq"), {"betas": (0.8, 0.9)}, True),
    ("rmsprop_step", "RMSprop", ("square_avg",), {"alpha": 0.9}, False),
    ("rmsprop_step", "RMSprop", ("square_avg", "momentum_buffer"), {"momentum": 0.9}, False),
    ("rmsprop_step", "RMSprop", ("square_avg", "momentum_buffer", "grad_avg"),
     {"momentum": 0.9, "centered": True}, False),
    ("adagrad_step", "Adagrad", ("sum",), {"lr_decay": 0.1}, True),
    ("adadelta_step", "Adadelta", ("square_avg", "acc_delta"), {}, False),
    ("asgd_step", "ASGD", ("ax",), {"lambd": 0.1, "t0": 1.0, "lr": 0.5}, True),
    ("rprop_step", "Rprop", ("prev", "step_size"), {}, False),
]  # fmt: skip


@pytest.fixture
def torch() -> Iterator[Any]:
    """PyTorch with f64 for the numbers that its optimizers keep between steps."""
    found = pytest.importorskip("torch")
    before = found.get_default_dtype()
    found.set_default_dtype(found.float64)
    yield found
    found.set_default_dtype(before)


@pytest.mark.torch
@pytest.mark.parametrize(("name", "kind", "states", "options", "counted"), OPTIMIZERS)
def test_three_steps_equal_those_of_torch_optim(
    name: str,
    kind: str,
    states: tuple[str, ...],
    options: dict[str, Any],
    counted: bool,
    torch: Any,
) -> None:
    rng = np.random.default_rng(5)
    param = rng.standard_normal((7, 33))
    ours = {state: np.zeros_like(param) for state in states}
    if name == "rprop_step":
        ours["step_size"][...] = 0.01  # the learning rate
    theirs = torch.nn.Parameter(torch.from_numpy(param.copy()))
    optimizer = getattr(torch.optim, kind)([theirs], **options)
    for step in range(1, 4):
        grad = rng.standard_normal(param.shape)
        theirs.grad = torch.from_numpy(grad.copy())
        optimizer.step()
        own = {**options, "step": step} if counted else options
        getattr(teeny_kernels, name)(param, grad, *ours.values(), **own)
        np.testing.assert_allclose(param, theirs.detach().numpy(), rtol=1e-12, atol=1e-14)
        for state, array in ours.items():
            wanted = optimizer.state[theirs][state].numpy()
            np.testing.assert_allclose(array, wanted, rtol=1e-12, atol=1e-14, err_msg=state)


def test_strided_parameters_and_state_are_changed_where_they_lie() -> None:
    rng = np.random.default_rng(6)
    plain = [rng.standard_normal((5, 9)).astype(np.float32) for _ in range(3)]
    plain.append(np.abs(plain[2]))
    wide = [np.full((5, 18), 7, np.float32) for _ in range(4)]
    for own, array in zip(wide, plain, strict=True):
        own[:, ::2] = array
    teeny_kernels.adam_step(*plain, step=3)
    teeny_kernels.adam_step(*(own[:, ::2] for own in wide), step=3)
    for own, array in zip(wide, plain, strict=True):
        assert own[:, ::2].tobytes() == array.tobytes()
        assert (own[:, 1::2] == 7).all()


def test_state_may_be_wider_than_the_parameter() -> None:
    rng = np.random.default_rng(7)
    exact: list[Any] = [
        rng.standard_normal(100).astype(np.float16).astype(np.float32) for _ in range(4)
    ]
    exact[3] = np.abs(exact[3])
    mixed: list[Any] = [
        exact[0].astype(np.float16),
        exact[1].astype(np.float16),
        *map(np.copy, exact[2:]),
    ]
    teeny_kernels.adam_step(*exact, step=2)
    teeny_kernels.adam_step(*mixed, step=2)
    assert mixed[0].tobytes() == exact[0].astype(np.float16).tobytes()
    assert mixed[2].tobytes() == exact[2].tobytes()
    assert mixed[3].tobytes() == exact[3].tobytes()


def test_lions_step_is_the_sign_of_the_average() -> None:
    param, grad, average = np.zeros(4), np.array([3.0, -0.5, 0.0, np.nan]), np.zeros(4)
    teeny_kernels.lion_step(param, grad, average, lr=0.5)
    assert param.tolist() == [-0.5, 0.5, 0.0, 0.0]
    np.testing.assert_allclose(average, 0.01 * grad)


def test_nadam_steps_may_be_asked_for_in_any_order() -> None:
    def stepped(step: int) -> bytes:
        arrays = [np.full(3, own) for own in (1.0, 0.5, 0.25, 0.125)]
        teeny_kernels.nadam_step(*arrays, step=step)
        return arrays[0].tobytes()

    later, sooner = stepped(9), stepped(2)
    assert (stepped(9), stepped(2)) == (later, sooner)
    assert later != sooner


@pytest.mark.parametrize(
    ("name", "count", "options", "code"),
    [
        ("sgd_step", 2, {"momentum": 0.9}, "E1204"),
        ("sgd_step", 3, {"nesterov": True}, "E1204"),
        ("sgd_step", 3, {"nesterov": True, "momentum": 0.9, "dampening": 0.1}, "E1204"),
        ("rmsprop_step", 3, {"momentum": 0.9}, "E1204"),
        ("rmsprop_step", 3, {"centered": True}, "E1204"),
        ("adam_step", 4, {"step": 0}, "E1204"),
        ("adamw_step", 4, {"step": 1, "amsgrad": True}, "E1204"),
    ],
)
def test_options_that_do_not_fit_are_refused(
    name: str, count: int, options: dict[str, Any], code: str
) -> None:
    with pytest.raises(KernelError, match=code):
        getattr(teeny_kernels, name)(*(np.ones(3) for _ in range(count)), **options)


def test_arrays_that_do_not_fit_are_refused_and_nothing_changes() -> None:
    param = np.ones(3)
    with pytest.raises(KernelError, match="E1202"):
        teeny_kernels.sgd_step(param, np.ones(4))
    with pytest.raises(KernelError, match="E1203"):
        teeny_kernels.sgd_step(param, np.ones(3, np.float32))
    with pytest.raises(KernelError, match="E1203"):
        teeny_kernels.adam_step(param, np.ones(3), np.ones(3), np.ones(3, np.float32), step=1)
    assert param.tolist() == [1, 1, 1]


def test_muon_makes_the_momentum_orthogonal() -> None:
    rng = np.random.default_rng(8)
    grad = rng.standard_normal((6, 40))
    param, buffer = np.zeros_like(grad), np.zeros_like(grad)
    # Steps that converge, instead of those that are quickest at first.
    options: dict[str, Any] = {
        "ns_coefficients": (1.875, -1.25, 0.375),
        "ns_steps": 30,
        "weight_decay": 0.0,
    }
    teeny_kernels.muon_step(param, grad, buffer, lr=1.0, **options)
    np.testing.assert_allclose(param @ param.T, np.eye(6), atol=1e-12)
    np.testing.assert_allclose(buffer, 0.05 * grad)


@pytest.mark.torch
@pytest.mark.parametrize("shape", [(16, 24), (24, 16)])
def test_muons_step_is_near_that_of_torch_optim_in_bf16(shape: Any, torch: Any) -> None:
    rng = np.random.default_rng(9)
    param = rng.standard_normal(shape)
    buffer = np.zeros_like(param)
    theirs = torch.nn.Parameter(torch.from_numpy(param.copy()))
    optimizer = torch.optim.Muon([theirs], lr=0.1)
    for _ in range(3):
        grad = rng.standard_normal(shape)
        theirs.grad = torch.from_numpy(grad.copy())
        optimizer.step()
        teeny_kernels.muon_step(param, grad, buffer, lr=0.1)
        # PyTorch's own steps are rounded to bf16: 5 of them, of numbers up to 1.
        np.testing.assert_allclose(param, theirs.detach().numpy(), atol=0.1 * 0.05)
        wanted = optimizer.state[theirs]["momentum_buffer"].numpy()
        np.testing.assert_allclose(buffer, wanted, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize(
    ("shape", "options", "code"),
    [
        ((3,), {}, "E1202"),
        ((3, 3), {"adjust_lr_fn": "no"}, "E1204"),
        ((3, 3), {"ns_steps": 100}, "E1204"),
    ],
)
def test_muon_refuses_what_does_not_fit(shape: Any, options: dict[str, Any], code: str) -> None:
    with pytest.raises(KernelError, match=code):
        teeny_kernels.muon_step(*(np.ones(shape) for _ in range(3)), **options)


def test_adam_with_eight_bits_follows_adam() -> None:
    rng = np.random.default_rng(10)
    exact = rng.standard_normal(1000).astype(np.float32)
    short = exact.copy()
    state = [np.zeros(1000, np.float32) for _ in range(2)]
    codes: list[Any] = [
        np.zeros(1000, np.int8), np.zeros(4, np.float32),
        np.zeros(1000, np.uint8), np.zeros(4, np.float32),
    ]  # fmt: skip
    size = 10.0 ** rng.uniform(-4, 0, 1000)
    for step in range(1, 21):
        grad = (size * rng.standard_normal(1000)).astype(np.float32)
        teeny_kernels.adam_step(exact, grad, *state, step=step, lr=0.01)
        teeny_kernels.adam_8bit_step(short, grad, *codes, step=step, lr=0.01)
    # Of 20 steps of 0.01 at most: the way is the same to a tenth.
    assert np.abs(short - exact).max() < 0.1
    assert np.abs(short - exact).mean() < 0.005


@pytest.mark.parametrize(("place", "code"), [(1, "E1202"), (2, "E1203"), (3, "E1202")])
def test_a_state_of_eight_bits_that_does_not_fit_is_refused(place: int, code: str) -> None:
    arrays: list[Any] = [
        np.ones(300, np.float32), np.ones(300, np.float32), np.zeros(300, np.int8),
        np.zeros(2, np.float32), np.zeros(300, np.uint8), np.zeros(2, np.float32),
    ]  # fmt: skip
    arrays[place] = arrays[place][:1] if code == "E1202" else arrays[place].astype(np.uint8)
    with pytest.raises(KernelError, match=code):
        teeny_kernels.adam_8bit_step(*arrays, step=1)


def test_a_code_of_eight_bits_is_the_nearest_to_the_fourth_root() -> None:
    roots = np.array([127.0, 100.497, 100.503, 0.499, 0.501, -100.497, -100.503, 0.0])
    grad = np.sign(roots) * (roots / 127) ** 4
    codes: list[Any] = [
        np.zeros(8, np.int8), np.zeros(1, np.float32),
        np.zeros(8, np.uint8), np.zeros(1, np.float32),
    ]  # fmt: skip
    teeny_kernels.adam_8bit_step(np.zeros(8), grad, *codes, step=1)
    assert codes[0].tolist() == [127, 100, 101, 0, 1, -100, -101, 0]
    np.testing.assert_allclose(codes[1], 0.1, rtol=1e-6)
    # A second moment above 0 is never kept as 0.
    assert codes[2].tolist()[-1] == 0
    assert min(codes[2][:-1]) == 1
