"""Calls that are planned once: the results of calls that are looked at, and what has no plan."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import teeny_kernels as tk
from teeny_kernels import calls
from teeny_kernels.codes import KernelError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

torch: Any = pytest.importorskip("torch")
pytestmark = pytest.mark.torch


@pytest.fixture(autouse=True)
def planned(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """No plan of another test; each use of one is noted."""
    found: list[str] = []
    find, plans = calls.Plans.find, set()

    def noted(self: Any, key: Any) -> Any:
        if self not in plans:
            plans.add(self)
            self.clear()
        plan = find(self, key)
        if plan is not None:
            found.append("plan")
        return plan

    monkeypatch.setattr(calls.Plans, "find", noted)
    return found


def normal(*shape: int, dtype: Any = torch.float32) -> Any:
    return torch.randn(shape).to(dtype)


CALLS: dict[str, tuple[Callable[..., Any], list[tuple[int, ...]], dict[str, Any]]] = {
    "softmax": (tk.softmax, [(6, 40)], {}),
    "log_softmax": (tk.log_softmax, [(2, 3, 40)], {"axis": 2}),
    "layer_norm": (
        lambda x, w, b, **own: tk.layer_norm(x, (40,), w, b, **own),
        [(6, 40), (40,), (40,)],
        {},
    ),
    "layer_norm of two axes": (
        lambda x, w, **own: tk.layer_norm(x, x.shape[1:], w, None, **own),
        [(6, 4, 8), (4, 8)],
        {"eps": 1e-3},
    ),
    "rms_norm": (lambda x, w, **own: tk.rms_norm(x, 40, w, **own), [(6, 40), (40,)], {}),
    "relu": (tk.relu, [(7, 9)], {}),
    "gelu": (tk.gelu, [(7, 9)], {}),
    "leaky_relu": (tk.leaky_relu, [(7, 9)], {"negative_slope": 0.3}),
    "add": (tk.add, [(5, 9), (5, 9)], {}),
    "add of a row": (tk.add, [(5, 9), (9,)], {}),
    "add with a factor": (tk.add, [(5, 9), (5, 1)], {"alpha": 2.5}),
    "mul": (tk.mul, [(5, 9), (5, 9)], {}),
    "matmul": (tk.matmul, [(33, 24), (24, 40)], {}),
    "linear": (tk.linear, [(33, 24), (40, 24), (40,)], {}),
    "linear without bias": (tk.linear, [(2, 5, 24), (40, 24)], {}),
    "linear_activation": (
        tk.linear_activation,
        [(2, 5, 24), (40, 24), (40,), (2, 5, 40)],
        {"activation": "silu", "scale": 0.5},
    ),
    "batched matmul": (tk.matmul, [(3, 33, 24), (24, 40)], {}),
}


def _same(one: Any, two: Any) -> bool:
    return bool(torch.equal(one, two)) and one.dtype == two.dtype


def _looked_at(function: Callable[..., Any], arrays: Sequence[Any], options: Any) -> Any:
    """The result without a plan: arrays of NumPy have none."""
    numpy = [own.detach().float().numpy() for own in arrays]
    return torch.from_numpy(function(*numpy, **options))


@pytest.mark.parametrize("name", CALLS)
def test_planned_calls_give_what_others_give(name: str, planned: list[str]) -> None:
    function, shapes, options = CALLS[name]
    for turn in range(3):
        arrays = [normal(*shape) for shape in shapes]
        found = function(*arrays, **options)
        assert len(planned) == turn
        assert _same(found, _looked_at(function, arrays, options))
    # Into memory that is given, and of parameters.
    out = torch.empty_like(found)
    for turn in range(0 if name.startswith("linear") else 2):
        arrays = [normal(*shape) for shape in shapes]
        assert function(*arrays, out=out, **options) is out
        assert _same(out, _looked_at(function, arrays, options))
        assert len(planned) == 2 + turn
    before = len(planned)
    parameters = [torch.nn.Parameter(normal(*shape)) for shape in shapes]
    found = function(*parameters, **options)
    assert len(planned) == before + 1
    assert not found.requires_grad
    assert _same(found, _looked_at(function, parameters, options))


@pytest.mark.parametrize("name", CALLS)
def test_arrays_that_lie_otherwise_are_looked_at(name: str, planned: list[str]) -> None:
    function, shapes, options = CALLS[name]
    arrays = [normal(*shape) for shape in shapes]
    function(*arrays, **options)
    first, *rest = arrays
    turned = torch.empty_strided(first.shape, first.stride()[::-1]) if first.ndim == 2 else None
    others = [first.to(torch.float64), torch.stack([first, first], -1)[..., 0]]
    if turned is not None:
        turned = first.T.contiguous().T
        others.append(turned)
    for own in others:
        again = [own, *(other.to(own.dtype) for other in rest)]
        for _ in range(2):
            found = function(*again, **options)
            assert torch.allclose(found.float(), _looked_at(function, again, options), atol=1e-5)
            assert found.dtype == own.dtype
    assert _same(function(*arrays, **options), _looked_at(function, arrays, options))


def test_options_that_equal_each_other_but_differ_have_plans_of_their_own() -> None:
    x = torch.tensor([[-1.0, 2.0]])
    for slope in (0.0, -0.0, 1, 1.0, 2.5):
        for _ in range(2):
            found = tk.leaky_relu(x, negative_slope=slope)
            assert torch.equal(found, torch.tensor([[-1.0 * slope, 2.0]]))
    softmax: Any = tk.softmax
    assert softmax(x, 1).shape == x.shape
    for axis in (1.0, "1", None):
        with pytest.raises(KernelError):
            softmax(x, axis)
    for _ in range(2):
        assert tk.layer_norm(x, (2,)).shape == x.shape
    for sides in ((2.0,), (3,), ()):
        with pytest.raises(KernelError):
            tk.layer_norm(x, sides)  # type: ignore[arg-type]


def test_a_number_that_an_integer_array_cannot_take_is_refused_behind_a_plan() -> None:
    x, y = torch.arange(4), torch.arange(4)
    for _ in range(2):
        assert tk.add(x, y, alpha=2).tolist() == [0, 3, 6, 9]
    with pytest.raises(KernelError):
        tk.add(x, y, alpha=2.5)
    with pytest.raises(KernelError):
        tk.add(x, y, alpha=2**60)


def test_what_does_not_fit_is_refused_behind_a_plan(planned: list[str]) -> None:
    x, y = normal(4, 8), normal(4, 8)
    for _ in range(2):
        tk.add(x, y)
        tk.matmul(x, y.T)
    wrong: list[tuple[Any, tuple[Any, ...], dict[str, Any]]] = [
        (tk.add, (x, y.double()), {}),
        (tk.add, (x, normal(3, 8)), {}),
        (tk.add, (x, y.numpy()), {}),
        (tk.add, (x, y), {"out": normal(4, 7)}),
        (tk.add, (x, y), {"out": x.double()}),
        (tk.add, (x.to_sparse(), y), {}),
        (tk.matmul, (x, y), {}),
        (tk.matmul, (x, y.T), {"out": normal(4, 8)}),
        (tk.relu, (x.to("meta"),), {}),
        (tk.relu, (x.to(torch.complex64),), {}),
    ]
    for function, arrays, options in wrong:
        for _ in range(2):
            before = len(planned)
            with pytest.raises(KernelError):
                function(*arrays, **options)
            assert len(planned) == before


def test_subclasses_and_negated_views_have_no_plan() -> None:
    class Own(torch.Tensor):  # type: ignore[misc]
        pass

    x = normal(4, 8)
    assert calls.key_of((x,)) == calls.key_of((torch.nn.Parameter(x),))
    assert calls.key_of((x.as_subclass(Own),)) is None
    assert calls.key_of((torch._neg_view(x),)) is None
    assert calls.key_of((x.to_sparse(),)) is None
    assert calls.key_of((x.numpy(),)) is None
    assert calls.key_of((x,), [1]) is None
    assert calls.key_of((x,), (1, [2])) is None
    assert calls.key_of((x, None), 1) != calls.key_of((x, None), 1.0)
    assert calls.key_of((x,), (1,)) != calls.key_of((x,), (True,))


def test_plans_are_not_kept_without_end() -> None:
    plans = calls.Plans()
    assert plans.find(None) is None
    for at in range(2000):
        plans.keep((at,), print)
        assert plans.find((at,)) is print
    plans.keep(None, print)
    assert plans.find((0,)) is None
    assert len(plans._known) <= 512
