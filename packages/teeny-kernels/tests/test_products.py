"""Every kernel and configuration of the products of matrices, and what is chosen for a shape."""

from __future__ import annotations

from math import erf
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import teeny_kernels as tk
from teeny_compiler.reading.limits import LIMITS
from teeny_kernels import testing
from teeny_kernels.arrays import operand
from teeny_kernels.codes import KernelError
from teeny_kernels.products import run
from teeny_kernels.products.choose import Config, Problem, choose, table
from teeny_kernels.products.grouped_kernels import grouped_described
from teeny_kernels.products.run import PLAIN, Epilogue, product
from teeny_kernels.products.views import along_k, described
from teeny_macros.target import CUDA_ARCHS

RNG = np.random.default_rng(11)
BF16 = ml_dtypes.bfloat16

# Small tiles, so that small matrices have many.
CONFIGS = {
    "tiles": Config("tiles", 32, 32, 16, 4, 2, group=2),
    "three shares": Config("shares", 32, 32, 16, 4, 2, programs=3),
    "shares of part of a tile": Config("shares", 32, 32, 16, 4, 2, programs=40),
    "shares by descriptors": Config("persistent shares", 32, 32, 16, 4, 2, programs=7),
    "descriptors": Config("persistent", 32, 32, 16, 4, 2, group=2, programs=3),
    "descriptors, two parts": Config("persistent", 32, 32, 16, 4, 2, split=2, programs=2),
    "descriptors, four parts": Config("persistent", 32, 32, 16, 4, 2, split=4, programs=2),
}


def normal(*shape: int, dtype: Any = np.float32) -> Any:
    return RNG.standard_normal(shape).astype(dtype)


def turned(array: Any) -> Any:
    """The same matrices, the elements of a column side by side."""
    return np.ascontiguousarray(array.swapaxes(-1, -2)).swapaxes(-1, -2)


def multiplied(x: Any, y: Any, epilogue: Epilogue = PLAIN, **options: Any) -> Any:
    out = np.full((*x.shape[:-1], y.shape[-1]), np.nan, x.dtype)
    made, left, right = (operand("array", own) for own in (out, x, y))
    product(made, left, right, epilogue, **options)
    return out


@pytest.mark.parametrize("name", CONFIGS)
@pytest.mark.parametrize("shape", [(100, 72, 136), (1, 200, 8), (64, 64, 64), (3, 40, 48, 56)])
def test_every_kernel_gives_the_product(name: str, shape: tuple[int, ...]) -> None:
    *batch, m, k, n = shape
    x, y = normal(*batch, m, k), normal(*batch, k, n)
    wanted = x.astype(np.float64) @ y.astype(np.float64)
    found = multiplied(x, y, config=CONFIGS[name])
    assert np.abs(found - wanted).max() < 1e-4
    both = multiplied(turned(x), turned(y), config=CONFIGS[name])
    assert testing.same_bits(found, both)


@pytest.mark.parametrize("split", [1, 2, 4])
@pytest.mark.parametrize("shape", [(100, 72, 136), (3, 40, 48, 56)])
def test_numbers_of_tf32_may_lie_in_any_order(split: int, shape: tuple[int, ...]) -> None:
    *batch, m, k, n = shape
    # Numbers that tf32 holds, so that nothing is rounded away.
    x, y = (normal(*batch, *own, dtype=BF16).astype(np.float32) for own in ((m, k), (k, n)))
    residual = normal(*batch, m, n)
    end = Epilogue(
        residual=operand("residual", residual), bias=operand("bias", residual[..., 0, :])
    )
    if batch:
        end = end._replace(bias=None)
    wanted = x.astype(np.float64) @ y + residual + (0 if batch else residual[0])
    config = CONFIGS["descriptors"]._replace(split=split)
    for a in (x, turned(x)):
        for b in (y, turned(y)):
            found = multiplied(a, b, end, config=config, relaxed=True)
            assert np.abs(found - wanted).max() < 1e-4


@pytest.mark.parametrize("name", CONFIGS)
@pytest.mark.parametrize("activation", [None, "relu", "gelu", "gelu_tanh", "silu"])
def test_every_kernel_has_the_epilogue(name: str, activation: str | None) -> None:
    x, y, bias, residual = normal(40, 48), normal(48, 72), normal(72), normal(40, 72)
    rows, columns = (RNG.random(side).astype(np.float32) for side in (40, 72))
    s, t, b, r = (operand("array", own) for own in (rows, columns, bias, residual))
    epilogue = Epilogue(s, t, b, r, 0.5, -2.0, activation)
    found = multiplied(x, y, epilogue, config=CONFIGS[name])
    z = 0.5 * rows[:, None] * columns * (x.astype(np.float64) @ y) + bias
    sign = np.vectorize(erf)(z / 2**0.5)
    inner = (2 / np.pi) ** 0.5 * (z + 0.044715 * z**3)
    wanted = {
        None: z,
        "relu": np.maximum(z, 0),
        "gelu": z * 0.5 * (1 + sign),
        "gelu_tanh": z * 0.5 * (1 + np.tanh(inner)),
        "silu": z / (1 + np.exp(-z)),
    }[activation]
    assert np.abs(found - (wanted - 2 * residual)).max() < 1e-4


@pytest.mark.parametrize("name", CONFIGS)
def test_repeated_runs_give_the_same_bits(name: str) -> None:
    x, y = normal(70, 136, dtype=BF16), normal(136, 40, dtype=BF16)
    first = multiplied(x, y, config=CONFIGS[name])
    for _ in range(3):
        assert testing.same_bits(first, multiplied(x, y, config=CONFIGS[name]))


@pytest.mark.parametrize("name", CONFIGS)
@pytest.mark.parametrize("dtype", [ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2])
def test_every_kernel_takes_floats_of_eight_bits(name: str, dtype: Any) -> None:
    x, y = normal(40, 80).astype(dtype), turned(normal(80, 48)).astype(dtype)
    out = np.full((40, 48), np.nan, np.float32)
    made, left, right = (operand("array", own) for own in (out, x, y))
    product(made, left, right, config=CONFIGS[name]._replace(k=32))
    assert np.abs(out - x.astype(np.float64) @ y.astype(np.float64)).max() < 1e-4


def test_integers_are_summed_exactly() -> None:
    x, y = (RNG.integers(-128, 128, side, dtype=np.int8) for side in ((40, 80), (80, 32)))
    for config in (own._replace(k=32) for own in CONFIGS.values()):
        out = np.zeros((40, 32), np.int32)
        made, left, right = (operand("array", own) for own in (out, x, y))
        product(made, left, right, config=config)
        assert np.array_equal(out, x.astype(np.int32) @ y.astype(np.int32))


PROBLEM = Problem(
    4096, 4096, 4096, 1, "bf16", "bf16", False, False, True, True, False, "sm_90", 132
)


def test_large_products_take_descriptors_where_arrays_allow_it() -> None:
    assert choose(PROBLEM).kind == "persistent"
    assert choose(PROBLEM._replace(described=False)).kind == "tiles"
    assert choose(PROBLEM._replace(arch="", processors=1)).kind == "tiles"
    older = choose(PROBLEM._replace(arch="sm_80", described=False, processors=108))
    assert older.kind == "tiles"


def test_few_tiles_with_a_long_k_are_shared() -> None:
    for m, n, k in ((16, 1024, 4096), (256, 256, 65536), (1, 512, 8192), (1024, 16, 4096)):
        config = choose(PROBLEM._replace(m=m, n=n, k=k))
        wide = min(config.m, config.n) >= 64
        assert config.kind == ("persistent shares" if wide else "shares"), (m, n, k)
        pointers = choose(PROBLEM._replace(m=m, n=n, k=k, described=False))
        assert pointers.kind == "shares"
        assert config.programs > -(-m // config.m) * -(-n // config.n)


def test_an_epilogue_leaves_room_for_itself() -> None:
    config = choose(PROBLEM._replace(plain=False))
    assert config.split == 2 or config.n < 256


def test_a_wide_result_leaves_room_for_its_tile() -> None:
    config = choose(PROBLEM._replace(out_bytes=4))
    loads = config.stages * (config.m + config.n) * config.k * 2
    assert loads + config.m * config.n // config.split * 4 < 232448


@pytest.mark.parametrize("arch", [arch for arch in CUDA_ARCHS if arch != "sm_75"])
def test_every_choice_fits_its_gpu(arch: str) -> None:
    described = int(arch[3:]) >= 90
    for x, out_bytes in (("bf16", 2), ("bf16", 4), ("f32", 4), ("f64", 8), ("f8e4m3", 2)):
        for m, n, k in ((4096, 4096, 4096), (16, 4096, 4096), (512, 512, 65536), (1000, 64, 99)):
            for relaxed in (False, True):
                problem = PROBLEM._replace(
                    m=m, n=n, k=k, x=x, y=x, arch=arch, described=described, relaxed=relaxed,
                    out_bytes=out_bytes,
                )  # fmt: skip
                config = choose(problem)
                size = {"f64": 8, "f32": 4, "bf16": 2}.get(x, 1)
                used = config.stages * (config.m + config.n) * config.k * size
                if config.kind == "persistent":
                    used += config.m * config.n // config.split * out_bytes
                assert used < LIMITS[arch].shared_per_block, (problem, config)
                assert config.k * size >= 32 or x == "f64"
                assert config.stages >= 2


def test_many_matrices_times_one_are_one_product() -> None:
    x, y = normal(3, 2, 20, 16), normal(16, 24)
    found = multiplied(x, y)
    assert testing.same_bits(found.reshape(-1, 24), multiplied(x.reshape(-1, 16), y))
    apart = np.asfortranarray(x)
    assert testing.same_bits(found, multiplied(apart, y))


@pytest.mark.parametrize("dtype", [np.float32, np.int8])
@pytest.mark.parametrize("shape", [(1, 300, 260), (3, 257, 256)])
def test_operands_are_turned_where_tensor_cores_need_it(shape: Any, dtype: Any) -> None:
    count, m, k = shape
    x = turned(RNG.integers(-9, 9, shape).astype(dtype))
    y = RNG.integers(-9, 9, (count, k, m)).astype(dtype)
    kept = [operand("array", own) for own in (x, y)]
    assert along_k("sm_80", *kept, relaxed=True) == tuple(kept)
    for given, own, axis in zip(kept, along_k("sm_90", *kept, relaxed=True), (1, 0), strict=True):
        assert own.shape == given.shape
        assert own.strides[1 + axis] == 1
        array = own.array if axis == 1 else own.array.swapaxes(1, 2)
        assert np.array_equal(array, given.array)


@pytest.mark.parametrize(
    "ends", [[10, 10, 75, 90], [0, 0, 0, 0], [100, 100, 100, 100], [3, 4, 5, 6]]
)
@pytest.mark.parametrize("y_turned", [False, True])
def test_groups_of_rows_are_found_through_descriptors(ends: list[int], y_turned: bool) -> None:
    x, y = normal(100, 48), normal(4, 48, 40)
    own = turned(y) if y_turned else y
    offs, out = np.array(ends, np.int32), np.full((100, 40), np.nan, np.float32)
    whole, matrices = operand("x", x[None]), operand("y", own)
    launch: Any = grouped_described[8 * 2]
    launch(
        out, described(whole, 32, 16), described(matrices, 16, 32, turned=y_turned), offs,
        100, 40, 48, 4, 8, PRECISION="ieee", Y_TURNED=y_turned, BLOCK_G=8, BLOCK_M=32, BLOCK_N=32,
        BLOCK_K=16, GROUP_M=2,
    )  # fmt: skip
    wanted, begin = np.zeros((100, 40)), 0
    for group, end in enumerate(ends):
        wanted[begin:end] = x[begin:end].astype(np.float64) @ y[group]
        begin = end
    assert np.abs(out - wanted).max() < 1e-4


F8 = ml_dtypes.float8_e4m3fn
ONES = np.ones((4, 8), np.float32)


@pytest.mark.parametrize(
    ("call", "code"),
    [
        (lambda: tk.matmul(ONES, ONES), "E1202"),
        (lambda: tk.matmul(ONES, ONES.T.astype(np.float64)), "E1203"),
        (lambda: tk.matmul_backward(ONES, ONES, ONES.T), "E1202"),
        (lambda: tk.bmm(ONES, ONES.T), "E1202"),
        (lambda: tk.bmm(np.stack([ONES] * 2), ONES.T[None]), "E1202"),
        (lambda: tk.addmm(np.ones((3, 4), np.float32), ONES, ONES.T), "E1202"),
        (lambda: tk.linear(ONES, ONES.T), "E1202"),
        (lambda: tk.linear(ONES, ONES, np.ones(5, np.float32)), "E1202"),
        (lambda: tk.linear_activation(ONES, ONES, activation="tanh"), "E1204"),
        (lambda: tk.scaled_matmul(ONES, ONES.T), "E1203"),
        (lambda: tk.scaled_matmul(ONES.astype(F8), ONES.T.astype(np.int8)), "E1203"),
        (lambda: tk.scaled_matmul(ONES.astype(F8), ONES.T.astype(F8), dtype="i32"), "E1204"),
        (lambda: tk.scaled_matmul(ONES.astype(F8), ONES.T.astype(F8), ONES[0]), "E1202"),
        (lambda: tk.quantized_linear(ONES, ONES, ONES[0, :1]), "E1203"),
        (lambda: tk.quantized_linear(ONES, ONES.astype(np.int8), ONES[0]), "E1202"),
        (lambda: tk.grouped_mm(ONES, ONES.T[None], np.array([4])), "E1203"),
        (lambda: tk.grouped_mm(ONES, ONES.T[None], np.array([2, 4], np.int32)), "E1202"),
    ],
)
def test_arrays_that_do_not_fit_are_refused(call: Any, code: str) -> None:
    with pytest.raises(KernelError) as caught:
        call()
    assert caught.value.code == code


def test_i8_without_factors_gives_the_sums_themselves() -> None:
    x, y = (RNG.integers(-128, 128, own, dtype=np.int8) for own in ((33, 300), (300, 40)))
    found = tk.scaled_matmul(x, y, dtype="i32")
    assert np.array_equal(found, x.astype(np.int32) @ y.astype(np.int32))


def test_addmm_with_beta_0_does_not_read_its_input() -> None:
    x, y = normal(8, 16), normal(16, 4)
    found = tk.addmm(np.full((8, 4), np.nan, np.float32), x, y, beta=0)
    assert testing.same_bits(found, tk.matmul(x, y))


@pytest.mark.gpu
@pytest.mark.large
@pytest.mark.parametrize("n", [35008, 35001])
def test_a_result_of_more_than_2_to_the_31_elements_is_right(n: int) -> None:
    import torch

    x = torch.randn(65536, 32, device="cuda", dtype=torch.bfloat16)
    y = torch.randn(32, n, device="cuda", dtype=torch.bfloat16)
    found = tk.matmul(x, y)
    assert found.numel() > 2**31
    for rows in (slice(0, 64), slice(61300, 61400), slice(65472, 65536)):
        exact = x[rows].double() @ y.double()
        assert ((found[rows].double() - exact).abs() <= 2**-8 * exact.abs() + 1e-4).all()


@pytest.mark.gpu
@pytest.mark.parametrize("y_turned", [False, True])
def test_groups_of_rows_on_a_gpu(y_turned: bool) -> None:
    import torch

    rows, k, n, groups = 1500, 264, 520, 6
    x = torch.randn(rows, k, device="cuda", dtype=torch.bfloat16)
    y = torch.randn(groups, k, n, device="cuda", dtype=torch.bfloat16)
    y = y.mT.contiguous().mT if y_turned else y
    offs = torch.tensor([0, 400, 401, 1000, 1000, 1400], device="cuda", dtype=torch.int32)
    grad = torch.randn(rows, n, device="cuda", dtype=torch.bfloat16)
    found = tk.grouped_mm(x, y, offs)
    dx, dy = tk.grouped_mm_backward(grad, x, y, offs)
    wanted, exact_dx = torch.zeros_like(found).double(), torch.zeros_like(x).double()
    begin = 0
    for group, end in enumerate(offs.tolist()):
        part = slice(begin, end)
        wanted[part] = x[part].double() @ y[group].double()
        exact_dx[part] = grad[part].double() @ y[group].double().T
        exact_dy = x[part].double().T @ grad[part].double()
        error = (dy[group].double() - exact_dy).abs()
        assert (error <= 2**-8 * exact_dy.abs() + 1e-3 * max(end - begin, 1) ** 0.5).all()
        begin = end
    for own, exact, side in ((found, wanted, k), (dx, exact_dx, n)):
        assert ((own.double() - exact).abs() <= 2**-8 * exact.abs() + 1e-3 * side**0.5).all()


def test_the_tuned_rows_fit_the_hardware() -> None:
    for problem, config in table("sm_90"):
        size = {"f32": 4, "i8": 1, "f8e4m3": 1, "f8e5m2": 1}.get(problem.x, 2)
        stages = config.stages * (config.m + config.n) * config.k * size
        assert stages <= 232448, (problem, config)
        near = choose(problem._replace(described=True, processors=132))
        assert near._replace(stages=0) == config._replace(stages=0), problem
        assert config.kind in ("tiles", "shares", "persistent", "persistent shares")


GPU_CONFIGS = [
    Config("tiles", 128, 256, 64, 8, 3),
    Config("shares", 64, 64, 64, 4, 4, programs=100),
    Config("shares", 16, 64, 128, 4, 4, programs=100),
    Config("persistent", 128, 256, 64, 8, 3),
    Config("persistent", 128, 256, 64, 8, 4, split=2),
    Config("persistent", 128, 128, 64, 8, 4, programs=7),
    Config("persistent shares", 128, 128, 64, 4, 4, programs=100),
]


@pytest.mark.gpu
@pytest.mark.parametrize("m", [4096, 1000])
def test_tf32_on_a_gpu_reads_operands_as_they_lie(m: int) -> None:
    import torch

    x, y = (torch.randn(*own, device="cuda") for own in ((m, 1032), (1032, 2056)))
    wanted = x.double() @ y.double()
    out = torch.empty(m, 2056, device="cuda")
    for a in (x, x.mT.contiguous().mT):
        for b in (y, y.mT.contiguous().mT):
            for config in (None, Config("persistent", 256, 128, 32, 8, 3, split=2)):
                o, p, q = (operand("array", own) for own in (out.fill_(float("nan")), a, b))
                product(o, p, q, relaxed=True, config=config)
                assert (out.double() - wanted).abs().max() < 2**-10 * 6 * 1032**0.5


@pytest.mark.gpu
@pytest.mark.parametrize("shape", [(1024, 4096, 2048), (4096, 1024, 4096), (300, 272, 512)])
def test_sums_of_8_bit_floats_are_whole_on_a_gpu(shape: tuple[int, ...]) -> None:
    import torch

    m, k, n = shape
    x, y = (torch.randn(*own, device="cuda").to(torch.float8_e4m3fn) for own in ((m, k), (n, k)))
    wanted = x.double() @ y.double().T
    terms = x.double().abs() @ y.double().abs().T
    found = tk.scaled_matmul(x, y.T, dtype="f32")
    assert ((found.double() - wanted).abs() <= 2**-12 * terms).all()
    for _ in range(3):
        assert torch.equal(found, tk.scaled_matmul(x, y.T, dtype="f32"))


@pytest.mark.gpu
@pytest.mark.parametrize("config", GPU_CONFIGS, ids=str)
@pytest.mark.parametrize("shape", [(520, 1032, 264), (1, 512, 4096), (3, 264, 136, 520)])
def test_every_kernel_gives_the_product_on_a_gpu(config: Config, shape: tuple[int, ...]) -> None:
    import torch

    *batch, m, k, n = shape
    for dtype, bound in ((torch.bfloat16, 2**-7), (torch.float16, 2**-9)):
        x = torch.randn(*batch, m, k, device="cuda", dtype=dtype)
        y = torch.randn(*batch, k, n, device="cuda", dtype=dtype)
        wanted = x.double() @ y.double()
        bias = torch.randn(n, device="cuda", dtype=dtype)
        for a, b in ((x, y), (x.mT.contiguous().mT, y.mT.contiguous().mT)):
            out = torch.full((*batch, m, n), float("nan"), device="cuda", dtype=dtype)
            o, p, q, r = (operand("array", own) for own in (out, a, b, bias))
            for epilogue, exact in (
                (PLAIN, wanted),
                (Epilogue(bias=r, activation="relu"), (wanted + bias).clamp(min=0)),
            ):
                fits = epilogue == PLAIN or config.n < 256 or config.split == 2
                if config.kind == "persistent" and not fits:
                    continue
                out.fill_(float("nan"))
                product(o, p, q, epilogue, config=config)
                error = (out.double() - exact).abs()
                assert (error <= bound * (exact.abs() + k**0.5 * 0.01)).all(), error.max()


def test_products_alike_are_chosen_once_and_others_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    chosen: list[Any] = []
    monkeypatch.setattr(run, "_runs", {})

    def noted(problem: Problem) -> Config:
        chosen.append(problem)
        return choose(problem)

    monkeypatch.setattr(run, "choose", noted)

    def check(x: Any, y: Any, factor: float = 1.0) -> None:
        found = tk.matmul(x, y) if factor == 1.0 else _scaled(x, y, factor)
        assert np.allclose(found, factor * (x @ y), atol=1e-4)

    def _scaled(x: Any, y: Any, factor: float) -> Any:
        return multiplied(x, y, PLAIN._replace(alpha=factor))

    x, y = normal(40, 24), normal(24, 56)
    for _ in range(2):
        check(x, y)
        check(x + 1, normal(24, 56))
    assert len(chosen) == 1
    cases: list[tuple[Any, ...]] = [
        (turned(x), y), (x, turned(y)), (x[:30], y), (x[:, :8], y[:8]),
        (x, y, 2.0), (x, y, -0.5), (np.repeat(x, 2, axis=1)[:, ::2], y),
    ]  # fmt: skip
    for count, case in enumerate(cases, 2):
        for _ in range(2):
            check(*case)
        assert len(chosen) == count
    # A number that may change by itself is looked at each time.
    factor = np.array(3.0)
    for value in (3.0, 4.0):
        factor[...] = value
        found = multiplied(x, y, PLAIN._replace(alpha=factor))  # type: ignore[arg-type]
        assert np.allclose(found, value * (x @ y), atol=1e-4)


def test_copies_of_operands_are_made_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "_runs", {})
    x = normal(3, 2, 40, 24).transpose(1, 0, 2, 3)  # leading axes that do not join
    y = normal(2, 3, 24, 8)
    for own in (x, x + 1):
        assert np.allclose(tk.matmul(own, y), own @ y, atol=1e-4)
    assert not run._runs
