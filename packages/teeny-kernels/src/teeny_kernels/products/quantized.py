"""Products of 8-bit numbers with factors, and linear layers with 8-bit weights.

    scaled_matmul:    out[m, n] = s[m] t[n] sum over k of x[m, k] y[k, n] + bias[n]
    quantized_linear: out[..., o] = s[o] sum over i of x[..., i] weight[o, i] + bias[o]

Sums of i8 are exact, in i32; those of 8-bit floats and of 16-bit inputs are in f32. Factors in
blocks of 128: see blocks.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any, TypeVar

import numpy as np

from teeny_kernels.arrays import Operand, finish, numpy_dtype, operand, same_place
from teeny_kernels.codes import E1202, E1204
from teeny_kernels.elementwise.arithmetic import mul
from teeny_kernels.layout import Output, contiguous, require_dtype, reshaped
from teeny_kernels.products.blocks import BLOCK, matmul_blocks
from teeny_kernels.products.run import KERNELS, PLAIN, Epilogue, product
from teeny_kernels.products.shapes import flattened
from teeny_kernels.products.views import turned
from teeny_kernels.spec import FLOATS, Case, Cost, KernelSpec, Tolerance

A = TypeVar("A")

SHORT = ("f8e4m3", "f8e5m2", "i8")
# Rows from which on weights are widened once, before the product.
_MANY_ROWS = 256
_RESULTS = ("bf16", "f16", "f32", "i32")


def scaled_matmul(
    x: A,
    y: A,
    x_scale: Any = None,
    y_scale: Any = None,
    bias: Any = None,
    *,
    dtype: str = "bf16",
    fast_accumulation: bool = False,
) -> Any:
    """The product of 8-bit matrices (m, k) and (k, n), times the factors of both, plus `bias` (n).

    `x` and `y` are of f8e4m3 or f8e5m2, or both of i8. Factors are f32: one number; one for each
    row of x, (m) or (m, 1), and for each column of y, (n) or (1, n); or, given for both, one for
    each row of x and 128 of k, (m, k / 128), and for each block of y, (k / 128, n / 128), rounded
    up. `dtype` is the result's: `bf16`, `f16`, `f32`, or, for i8 alone, `i32`. As
    `torch._scaled_mm`, `fast_accumulation` lets a GPU sum 8-bit floats in fewer bits; without it
    sums of 128 products at most are. y lies best along k, as the transpose of (n, k).

    Raises:
        KernelError: E1202 when shapes do not fit, E1203, E1204 for another `dtype`, E1206.
    """
    a, b = operand("x", x), operand("y", y)
    _check_scaled(a, b, dtype)
    m, n = a.shape[0], b.shape[1]
    extra = None if bias is None else operand("bias", bias)
    if extra is not None and extra.shape != (n,):
        raise _misfit("bias", extra, f"({n},)")
    s, t = _factors("x_scale", x_scale), _factors("y_scale", y_scale)
    same_place("scaled_matmul", [
        (name, own)
        for name, own in (("x", a), ("y", b), ("x_scale", s), ("y_scale", t), ("bias", extra))
        if own is not None
    ])  # fmt: skip
    ready = None if extra is None else contiguous("scaled_matmul", extra)
    result = Output("scaled_matmul", a, (m, n), dtype=dtype)
    if s is not None and t is not None and _in_blocks(a, b, s, t):
        _launch_blocks(result.operand, (a, b), (s, t), ready)
        return result.finish()
    epilogue = Epilogue(_along("x_scale", s, m, 0), _along("y_scale", t, n, 1), ready)
    product(result.operand, a, b, epilogue, relaxed=fast_accumulation)
    return result.finish()


def _check_scaled(a: Operand, b: Operand, dtype: str) -> None:
    require_dtype("scaled_matmul", "x", a, SHORT)
    require_dtype("scaled_matmul", "y", b, ("i8",) if a.dtype == "i8" else SHORT[:2])
    if a.ndim != 2 or b.ndim != 2 or a.shape[1] != b.shape[0]:
        what = f"`x` {a.shape}, `y` {b.shape}"
        raise E1202.error(operation="scaled_matmul", what=what).help("give (m, k) and (k, n)")
    if dtype not in _RESULTS or (dtype == "i32" and a.dtype != "i8"):
        raise E1204.error(operation="scaled_matmul", name="dtype", found=repr(dtype)).help(
            "give bf16, f16 or f32; i32 for i8 inputs"
        )


def _misfit(name: str, found: Operand, wanted: str) -> Any:
    what = f"`{name}` {found.shape}, not {wanted}"
    return E1202.error(operation="scaled_matmul", what=what).help("see the docstring for shapes")


def _factors(name: str, value: Any) -> Operand | None:
    if value is None:
        return None
    found = operand(name, value)
    require_dtype("scaled_matmul", name, found, ("f32",))
    return found


def _along(name: str, factors: Operand | None, side: int, axis: int) -> Operand | None:
    """Factors as one number or one for each row or column."""
    if factors is None:
        return None
    shapes = ((side,), (side, 1) if axis == 0 else (1, side))
    if factors.size != 1 and factors.shape not in shapes:
        raise _misfit(name, factors, f"one number, {shapes[0]} or {shapes[1]}, or blocks for both")
    return reshaped(contiguous("scaled_matmul", factors), (factors.size,))


def _in_blocks(a: Operand, b: Operand, s: Operand, t: Operand) -> bool:
    """Whether factors are those of blocks. One for each row wins where it could be either."""
    (m, k), n = a.shape, b.shape[1]
    steps, across = -(-k // BLOCK), -(-n // BLOCK)
    if s.ndim != 2 or t.ndim != 2 or (s.shape[1] == 1 and t.shape in ((1, 1), (1, n))):
        return False
    return s.shape == (m, steps) and t.shape == (steps, across)


def _launch_blocks(
    out: Operand, pair: tuple[Operand, Operand], factors: tuple[Operand, Operand], bias: Any
) -> None:
    (a, b), (s, t) = pair, factors
    (m, k), n = a.shape, b.shape[1]
    if not m * n:
        return
    side = 64 if out.device == "cpu" or m <= 64 else 128
    launch: Any = matmul_blocks.options(num_warps=8 if side == 128 else 4, num_stages=3)[
        -(-m // side) * -(-n // side)
    ]
    launch(
        out.array, a.array, b.array, s.array, t.array, None if bias is None else bias.array,
        m, n, k, *a.strides, *b.strides, *s.strides, *t.strides,
        EVEN_K=k % BLOCK == 0, BLOCK_M=side, BLOCK_N=side, BLOCK_K=BLOCK, GROUP_M=8,
    )  # fmt: skip


def quantized_linear(x: A, weight: Any, scale: Any, bias: A | None = None) -> A:
    """X (scale weight)^T + bias, with a weight of 8 bits that is widened in the kernel.

    `x` is (..., in) of f32, f16, bf16 or f64, `weight` (out, in) of i8, f8e4m3 or f8e5m2, `scale`
    f32, one number or one for each output, (out), `bias` (out) of the dtype of x.

    Raises:
        KernelError: E1202 when shapes do not fit, E1203, E1206.
    """
    source, w, s, b = _layer("quantized_linear", x, weight, scale, bias)
    result = Output("quantized_linear", source, (*source.shape[:-1], w.shape[0]))
    ready = None if b is None else contiguous("quantized_linear", b)
    flat = flattened("quantized_linear", source)
    w = _widened("quantized_linear", w, flat)
    product(result.operand, flat, turned(w), Epilogue(columns=s, bias=ready))
    found: A = result.finish()
    return found


def quantized_linear_backward(grad: A, weight: Any, scale: Any) -> A:
    """The gradient by x: (`grad` scale) weight, the factors rounded into the gradient."""
    name = "quantized_linear_backward"
    upstream, w, s, _ = _layer(name, grad, weight, scale, None, forward=False)
    result = Output(name, upstream, (*upstream.shape[:-1], w.shape[1]))
    epilogue = Epilogue(rows=s)
    if s.size != 1:
        upstream = operand("grad", mul(grad, finish(contiguous(name, s, upstream.dtype))))
        epilogue = PLAIN
    flat = flattened(name, upstream)
    product(result.operand, flat, _widened(name, w, flat), epilogue)
    found: A = result.finish()
    return found


def _widened(operation: str, weight: Operand, x: Operand) -> Operand:
    """The weight in the dtype of x where that costs less than to widen each tile of it often."""
    if x.dtype == "f64":  # tensor cores take no f64 that was made of 8 bits
        return contiguous(operation, contiguous(operation, weight, "f32"), "f64")
    if x.device == "cpu" or x.shape[0] < _MANY_ROWS:
        return weight
    return contiguous(operation, weight, x.dtype)


def _layer(
    operation: str, x: Any, weight: Any, scale: Any, bias: Any, *, forward: bool = True
) -> tuple[Operand, Operand, Operand, Operand | None]:
    """The operands of a layer with 8-bit weights; `x` is the gradient when not `forward`."""
    source, w, s = operand("x", x), operand("weight", weight), operand("scale", scale)
    b = None if bias is None else operand("bias", bias)
    require_dtype(operation, "x", source, FLOATS)
    require_dtype(operation, "weight", w, SHORT)
    require_dtype(operation, "scale", s, ("f32",))
    named = [("x", source), ("weight", w), ("scale", s)]
    same_place(operation, named if b is None else [*named, ("bias", b)])
    fits = w.ndim == 2 and source.ndim >= 1 and source.shape[-1] == w.shape[1 if forward else 0]
    fits = fits and (s.size == 1 or s.shape == w.shape[:1])
    if b is not None:
        require_dtype(operation, "bias", b, (source.dtype,))
        fits = fits and b.shape == w.shape[:1]
    if not fits:
        what = f"`x` {source.shape}, `weight` {w.shape}, `scale` {s.shape}"
        what += "" if b is None else f", `bias` {b.shape}"
        raise E1202.error(operation=operation, what=what).help(
            "x is (..., in), weight (out, in), scale and bias (out)"
        )
    return source, w, reshaped(contiguous(operation, s), (s.size,)), b


def _scaled_reference(
    x: Any, y: Any, s: Any = None, t: Any = None, b: Any = None, **_options: Any
) -> Any:
    (m, k), n = x.shape, y.shape[1]
    x, y = x.astype(np.float64), y.astype(np.float64)
    if s is not None and s.ndim == 2 and s.shape[1] == -(-k // BLOCK) > 1:
        x = x * np.repeat(s, BLOCK, axis=1)[:, :k]
        y = y * np.repeat(np.repeat(t, BLOCK, axis=0)[:k], BLOCK, axis=1)[:, :n]
        s = t = None
    found = x @ y
    found = found if s is None else found * (s if s.size == 1 else s.reshape(m, 1)).reshape(-1, 1)
    found = found if t is None else found * t.reshape(1, -1)
    return found if b is None else found + b


def _scaled_sizes(*arrays: Any, **options: Any) -> Any:
    return _scaled_reference(*(np.abs(own.astype(np.float64)) for own in arrays), **options)


def _scaled_torch(t: Any, x: Any, y: Any, *others: Any, **options: Any) -> Any:
    """PyTorch's own where it has it, for benchmarks; else the formula, of 8-bit numbers widened."""
    kinds = (t.float8_e4m3fn, t.float8_e5m2)
    if x.dtype in kinds and y.stride(0) == 1:
        s, c = (own.reshape(1, 1) if own.numel() == 1 else own for own in others[:2])
        options = {"out_dtype": t.bfloat16, "use_fast_accum": True}
        return t._scaled_mm(x, y, s, c, **options)  # noqa: SLF001 - it has no other
    arrays = [x, y, *others]
    return t.from_numpy(_scaled_reference(*(own.double().cpu().numpy() for own in arrays)))


def _scaled_inputs(rng: np.random.Generator, case: Case) -> Sequence[Any]:
    """8-bit matrices of the kinds that `values` names, then factors, then a bias in f32."""
    x, y, *factors = case.shapes
    kinds = case.values.split()[:2]
    made: list[Any] = []
    for shape, kind in zip((x, y), kinds, strict=True):
        if kind == "i8":
            made.append(rng.integers(-128, 128, shape, dtype=np.int8))
        else:
            made.append(rng.standard_normal(shape).astype(numpy_dtype(kind)))
    if case.values.endswith("turned"):
        made[1] = np.ascontiguousarray(made[1].T).T
    return [*made, *(rng.random(own) + 0.5 for own in factors)]


def _cost(case: Case, itemsize: int) -> Cost:
    (m, k), (_, n) = case.shapes[:2]
    return Cost(m * k + k * n + 2 * m * n, 2 * m * n * k)


def _layer_inputs(rng: np.random.Generator, case: Case) -> Sequence[Any]:
    x, w, *others = case.shapes
    if case.values == "i8":
        weight = rng.integers(-128, 128, w, dtype=np.int8)
    else:
        weight = rng.standard_normal(w).astype(numpy_dtype(case.values))
    # Factors that f16 and bf16 hold: they are given in f32.
    scale = np.ldexp(1.0, rng.integers(-6, -3, others[0])).astype(np.float32)
    return [
        rng.standard_normal(x),
        weight,
        scale,
        *(rng.standard_normal(own) for own in others[1:]),
    ]


def _exact(scale: Any) -> Any:
    """Factors in f32 again, which tests round to the dtype of a case (powers of two, exactly)."""
    return finish(contiguous("scale", operand("scale", scale), "f32"))


def _call_layer(x: Any, weight: Any, scale: Any, bias: Any) -> Any:
    return quantized_linear(x, weight, _exact(scale), bias)


def _layer_cost(case: Case, itemsize: int) -> Cost:
    x, w = case.shapes[:2]
    moved = itemsize * (prod(x) + prod(x[:-1]) * w[0]) + prod(w)
    return Cost(moved, 2 * prod(x) * w[0])


_EIGHT_BITS = "tensor cores add 8-bit floats with 14 bits, 128 products at a time"

_SIDES: tuple[tuple[Any, ...], ...] = (
    ("f8e4m3 f8e4m3", 1, 1, 1, (1,), (1,), None, {}),
    ("f8e4m3 f8e4m3", 0, 8, 4, (1,), (1,), None, {}),
    ("i8 i8", 3, 0, 4, (3,), (4,), None, {}),
    ("f8e4m3 f8e4m3", 32, 64, 48, (), (), None, {"dtype": "f32"}),
    ("f8e4m3 f8e5m2", 33, 40, 70, (33,), (70,), None, {"dtype": "f32"}),
    ("f8e5m2 f8e5m2", 17, 100, 9, (17, 1), (1, 9), (9,), {"dtype": "f16"}),
    ("i8 i8", 40, 80, 24, (40,), (1,), (24,), {"dtype": "f32"}),
    ("i8 i8", 65, 300, 130, (65, 1), (1, 130), None, {"dtype": "f16"}),
    ("f8e4m3 f8e4m3", 20, 256, 130, (20, 2), (2, 2), None, {}),
    ("f8e4m3 f8e5m2", 70, 300, 40, (70, 3), (3, 1), (40,), {"dtype": "f32"}),
    ("i8 i8", 5, 140, 200, (5, 2), (2, 2), None, {"dtype": "f32"}),
    ("f8e4m3 f8e4m3", 16, 512, 16, (1,), (16,), None, {"fast_accumulation": True}),
    ("f8e4m3 f8e4m3", 1, 130, 130, (1, 2), (2, 2), None, {"dtype": "f16"}),
)

SPECS = (
    KernelSpec(
        name="scaled_matmul",
        family="linear algebra",
        function=scaled_matmul,
        kernels=(*KERNELS, matmul_blocks),
        formula="out[m, n] = s[m] t[n] sum over k of x[m, k] y[k, n] + bias[n]",
        source="PyTorch, torch.nn.functional.scaled_mm; DeepSeek-V3, section 3.3, for blocks",
        reference=_scaled_reference,
        torch_name="torch._scaled_mm",
        torch=_scaled_torch,
        make=_scaled_inputs,
        dtypes=("f32",),
        cases=tuple(
            Case(((m, k), (k, n), s, t, *(() if bias is None else (bias,))), options, kinds)
            for kinds, m, k, n, s, t, bias, options in _SIDES
        ),
        tolerance=Tolerance(2048, _EIGHT_BITS),
        magnitude=_scaled_sizes,
        cost=_cost,
        benchmarks=tuple(
            Case(((n, n), (n, n), s, t), {"fast_accumulation": True}, "f8e4m3 f8e4m3 turned")
            for n, s, t in ((4096, (1,), (1,)), (8192, (1,), (1,)), (4096, (4096, 1), (1, 4096)))
        ),
    ),
    KernelSpec(
        name="quantized_linear",
        family="linear algebra",
        function=quantized_linear,
        call=_call_layer,
        kernels=KERNELS,
        backward=lambda grads, arrays, outputs, options: (
            quantized_linear_backward(grads[0], arrays[1], _exact(arrays[2])),
        ),
        differentiable=(0,),
        formula="out[..., o] = s[o] sum over i of x[..., i] weight[o, i] + bias[o]",
        source="Dettmers, Lewis, Belkada, Zettlemoyer 2022, LLM.int8(): weights of 8 bits",
        reference=lambda x, w, s, b: x @ w.astype(np.float64).T * s + b,
        backward_reference=lambda grads, arrays, options: (
            (grads[0] * arrays[2]) @ arrays[1].astype(np.float64),
        ),
        torch=lambda t, x, w, s, b: x @ w.to(x.dtype).T * s.to(x.dtype) + b.to(x.dtype),
        make=_layer_inputs,
        cases=tuple(
            Case(((*lead, i), (o, i), s, (o,)), {}, kind)
            for lead, i, o, s, kind in (
                ((1,), 1, 1, (1,), "i8"),
                ((), 8, 5, (5,), "i8"),
                ((0,), 4, 3, (3,), "i8"),
                ((3,), 0, 4, (4,), "i8"),
                ((16,), 32, 16, (16,), "i8"),
                ((33,), 40, 9, (1,), "i8"),
                ((16,), 128, 64, (64,), "f8e4m3"),
                ((2, 3), 20, 30, (), "i8"),
                ((2, 3, 4), 33, 65, (65,), "f8e5m2"),
                ((70,), 24, 129, (129,), "f8e4m3"),
                ((5,), 300, 7, (7,), "i8"),
                ((1,), 256, 40, (40,), "i8"),
            )
        ),
        tolerance=Tolerance(3, "a sum of products in f32; weights of 8 bits widen exactly"),
        magnitude=lambda x, w, s, b: np.abs(x) @ np.abs(w.astype(np.float64)).T * s + np.abs(b),
        backward_tolerance=Tolerance(3, "as forward; factors are powers of two in the tests"),
        backward_magnitude=lambda grads, arrays, options, rounding: (
            (np.abs(grads[0]) * arrays[2]) @ np.abs(arrays[1].astype(np.float64)),
        ),
        cost=_layer_cost,
        benchmarks=tuple(
            Case(((m, 4096), (4096, 4096), (4096,), (4096,)), {}, kind)
            for m in (1, 16, 4096)
            for kind in ("i8", "f8e4m3")
        ),
    ),
)
