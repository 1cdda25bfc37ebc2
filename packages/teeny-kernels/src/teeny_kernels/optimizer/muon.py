"""muon_step: momentum whose matrix is made orthogonal, nearly, by Newton-Schulz steps; in place.

    b <- b + (1 - momentum) (g - b);   u = g + momentum (b - g), or b without Nesterov
    X = u / max(|u|, eps), turned so that it is wide;   A = X X^T;   X <- a X + (b A + c A A) X
    p <- (1 - lr weight_decay) p - lr' X

|u| is the Frobenius norm. Names, defaults and meanings of torch.optim.Muon (Jordan et al. 2024),
which takes the steps in bf16; here they are in f32, in f64 for f64. Kernels: the one below over
blocks of elements, and those of sums, products and pointwise operations.
"""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

import teeny_triton as tl
from teeny_kernels.arrays import ITEMSIZES, Operand, empty, operand, same_place
from teeny_kernels.codes import E1202, E1204
from teeny_kernels.elementwise.broadcast import broadcasting, launch_broadcasting
from teeny_kernels.elementwise.run import flat_block
from teeny_kernels.layout import contiguous, copy, permuted, require_dtype
from teeny_kernels.numerics import R, number, widen
from teeny_kernels.optimizer.specs import copied
from teeny_kernels.products.linear import linear
from teeny_kernels.products.matmul import matmul
from teeny_kernels.reduce.kernels import exact
from teeny_kernels.reduce.run import reduced
from teeny_kernels.reduce.squares import L2
from teeny_kernels.spec import FLOATS, Case, Cost, KernelSpec, Tolerance
from teeny_macros import device, kernel
from teeny_triton import Axis, Const, Float, Ptr, Tensor, bf16, f16, f32, f64, i64

if TYPE_CHECKING:
    from collections.abc import Sequence

    from teeny_kernels.options import NotNegative

A = TypeVar("A")
D = TypeVar("D", bound=Float)
E = TypeVar("E", bound=Float)
C = TypeVar("C", bound=Float)

COEFFICIENTS = (3.4445, -4.775, 2.0315)


@kernel(dtypes=(f32, f16, bf16, f64))
def muon_momentum_kernel(
    update_ptr: Ptr[C],
    buffer_ptr: Ptr[E],
    grad_ptr: Ptr[D],
    n_elements: i64 | int,
    momentum: f64 | float,
    NESTEROV: Const[bool],
    BLOCK_SIZE: Const[int],
) -> None:
    start = tl.program_id(Axis.X).to(i64) * BLOCK_SIZE
    at = tl.arange(0, BLOCK_SIZE)
    mask = at < n_elements - start
    g = widen(tl.load(grad_ptr + start + at, mask=mask))
    b = widen(tl.load(buffer_ptr + start + at, mask=mask)).to(g.dtype)
    kept = number(momentum, g)
    b = b + (g - b) * (1.0 - kept)
    if NESTEROV:
        u = g + (b - g) * kept
    else:
        u = b
    tl.store(buffer_ptr + start + at, b.to(tl.elem(buffer_ptr)), mask=mask)
    tl.store(update_ptr + start + at, u.to(tl.elem(update_ptr)), mask=mask)


@device
def over_norm(u: Tensor[f32, R], norm: Tensor[f32, R], eps: f32) -> Tensor[f32, R]:
    return u / tl.where(norm < eps, eps, norm)


@device
def mixed(x: Tensor[f32, R], y: Tensor[f32, R], a: f32, b: f32) -> Tensor[f32, R]:
    return x * a + y.to(x.dtype) * b


_scale = broadcasting("muon_scale", over_norm, scalars=1)
_mix = broadcasting("muon_mix", mixed, scalars=2)


def muon_step(
    param: A,
    grad: A,
    momentum_buffer: A,
    *,
    lr: NotNegative = 1e-3,
    weight_decay: NotNegative = 0.1,
    momentum: NotNegative = 0.95,
    nesterov: bool = True,
    ns_coefficients: tuple[float, float, float] = COEFFICIENTS,
    eps: NotNegative = 1e-7,
    ns_steps: int = 5,
    adjust_lr_fn: str | None = None,
    allow_tf32: bool = False,
) -> None:
    """One step of Muon for a matrix; changes `param` and `momentum_buffer`.

    `momentum_buffer` is of the shape of `param`, zeros before the first step. The rate is
    lr sqrt(max(1, rows / columns)), or, for `adjust_lr_fn="match_rms_adamw"`,
    0.2 lr sqrt(max(rows, columns)). `allow_tf32` lets a GPU take the products in tf32.

    Raises:
        KernelError: E1201-E1203, E1206; E1202 for arrays that are no matrices; E1204 for options
            that do not fit and arrays that cannot be changed.
    """
    given = {"param": param, "grad": grad, "momentum_buffer": momentum_buffer}
    p, g, b = _checked(given)
    rate = lr * _ratio(adjust_lr_fn, p.shape)
    if not 0 <= ns_steps < 100:
        raise E1204.error(operation="muon_step", name="ns_steps", found=f"{ns_steps!r}").help(
            "give at least 0 and fewer than 100 steps"
        )
    if not p.size:
        return
    update = _updated(g, b, momentum, nesterov)
    norm = reduced("muon_step", L2, update, (0, 1))
    turned = p.shape[0] > p.shape[1]
    wide = permuted(update, (1, 0)) if turned else update
    x = launch_broadcasting("muon_step", _scale, [wide, norm], wide.shape, [eps]).operand
    x = _orthogonal(x, ns_coefficients, ns_steps, allow_tf32)
    x = permuted(x, (1, 0)) if turned else x
    launch_broadcasting(
        "muon_step", _mix, [p, x], p.shape, [1 - lr * weight_decay, -rate], like=p, out=p.array
    ).finish()


def _checked(arrays: dict[str, Any]) -> list[Operand]:
    given = [(name, operand(name, value)) for name, value in arrays.items()]
    same_place("muon_step", given)
    first = given[0][1]
    for name, own in given:
        known = FLOATS if name != "grad" else (first.dtype,)
        require_dtype("muon_step", name, own, known)
        if own.shape != first.shape or own.ndim != 2:
            what = f"`{name}` {own.shape}, `param` {first.shape}"
            raise E1202.error(operation="muon_step", what=what).help("give matrices of one shape")
        if name != "grad" and own.library == "jax":
            raise E1204.error(operation="muon_step", name=name, found="a JAX array").help(
                "JAX arrays do not change; pass a buffer of the device, or another library's array"
            )
    return [own for _, own in given]


def _ratio(adjust: str | None, shape: Sequence[int]) -> float:
    if adjust in (None, "original"):
        return sqrt(max(1.0, shape[0] / max(1, shape[1])))
    if adjust == "match_rms_adamw":
        return 0.2 * sqrt(max(shape))
    raise E1204.error(operation="muon_step", name="adjust_lr_fn", found=f"{adjust!r}").help(
        'it is "original" or "match_rms_adamw"'
    )


def _updated(g: Operand, b: Operand, momentum: float, nesterov: bool) -> Operand:
    """The momentum, and what is made orthogonal, in the dtype of the computation."""
    ready, buffer = contiguous("muon_step", g), contiguous("muon_step", b)
    update = empty(g, g.shape, exact(g))
    block, warps = flat_block(max(ITEMSIZES[own.dtype] for own in (update, buffer)))
    launch: Any = muon_momentum_kernel.options(num_warps=warps)[-(-g.size // block)]
    launch(
        *(update.array, buffer.array, ready.array, g.size, momentum),
        NESTEROV=nesterov,
        BLOCK_SIZE=block,
    )
    if buffer is not b:
        copy("muon_step", b, buffer)
    return update


def _orthogonal(x: Operand, coefficients: Sequence[float], steps: int, allow_tf32: bool) -> Operand:
    """Newton-Schulz steps: each drives the singular values towards 1."""
    a, b, c = coefficients

    def mix(one: Operand, other: Any, first: float, second: float) -> Operand:
        both = [one, operand("product", other)]
        return launch_broadcasting("muon_step", _mix, both, one.shape, [first, second]).operand

    for _ in range(steps):
        gram = linear(x.array, x.array, allow_tf32=allow_tf32)
        square = matmul(gram, gram, allow_tf32=allow_tf32)
        inner = mix(operand("gram", gram), square, b, c)
        x = mix(x, matmul(inner.array, x.array, allow_tf32=allow_tf32), a, 1.0)
    return x


def _stepped(param: Any, grad: Any, buffer: Any, **options: Any) -> tuple[Any, ...]:
    own = [copied(param), copied(buffer)]
    muon_step(own[0], grad, own[1], **options)
    return tuple(own)


def _reference(
    p: Any,
    g: Any,
    b: Any,
    lr: float = 1e-3,
    weight_decay: float = 0.1,
    momentum: float = 0.95,
    nesterov: bool = True,
    ns_coefficients: Sequence[float] = COEFFICIENTS,
    eps: float = 1e-7,
    ns_steps: int = 5,
    adjust_lr_fn: str | None = None,
) -> tuple[Any, ...]:
    b = b + (1 - momentum) * (g - b)
    u = (1 - momentum) * g + momentum * b if nesterov else b
    x = u / np.maximum(np.sqrt((u**2).sum()), eps)
    x = x.T if p.shape[0] > p.shape[1] else x
    for _ in range(ns_steps):
        gram = x @ x.T
        x = (
            ns_coefficients[0] * x
            + (ns_coefficients[1] * gram + ns_coefficients[2] * gram @ gram) @ x
        )
    x = x.T if p.shape[0] > p.shape[1] else x
    rate = 0.2 * sqrt(max(p.shape)) if adjust_lr_fn == "match_rms_adamw" else 1.0
    if adjust_lr_fn != "match_rms_adamw" and p.size:
        rate = sqrt(max(1, p.shape[0] / p.shape[1]))
    return p * (1 - lr * weight_decay) - lr * rate * x, b


def _magnitude(p: Any, g: Any, b: Any, **options: Any) -> tuple[Any, ...]:
    lr = options.get("lr", 1e-3)
    most = lr * max(sqrt(max(1, p.shape[0] / max(1, p.shape[1]))), 0.2 * sqrt(max(p.shape)))
    return np.abs(p) + most, (np.abs(g) + np.abs(b)) / STEPS


# The polynomials raise small singular values, and what is wrong in them, by up to 3.4445^5.
STEPS = 1024.0


def _cost(case: Case, itemsize: int) -> Cost:
    least, most = sorted(case.shapes[0])
    return Cost(5 * itemsize * least * most, 5 * (4 * least * least * most + 2 * least**3))


_CASES = tuple(
    Case((shape,) * 3, {"lr": 0.5, **options}, values)
    for shape, options, values in (
        ((1, 1), {}, "normal"),
        ((0, 5), {}, "normal"),
        ((9, 11), {}, "normal"),
        ((11, 9), {}, "normal"),
        ((11, 9), {"nesterov": False, "momentum": 0.8}, "normal"),
        ((9, 11), {"weight_decay": 0.0}, "wide"),
        ((9, 11), {"adjust_lr_fn": "match_rms_adamw"}, "normal"),
        ((11, 9), {"adjust_lr_fn": "original", "ns_steps": 3}, "ties"),
        ((9, 11), {"ns_coefficients": (2.0, -1.5, 0.5)}, "unit"),
        ((9, 11), {"ns_steps": 0}, "normal"),
        ((9, 11), {}, "special"),
        ((33, 70), {}, "normal"),
        ((70, 33), {"eps": 100.0}, "normal"),
    )
)

SPEC = KernelSpec(
    name="muon_step",
    family="optimizer",
    function=muon_step,
    call=_stepped,
    kernels=(muon_momentum_kernel, _scale, _mix, L2.rows, L2.columns),
    formula="X = u / |u|;  X = a X + (b X X^T + c (X X^T)^2) X;  p = (1 - lr wd) p - lr' X",
    source="Jordan et al. 2024, Muon; PyTorch, torch.optim.Muon",
    reference=_reference,
    cases=_CASES,
    outputs=2,
    tolerance=Tolerance(
        4 * STEPS, "polynomials that raise small singular values, and their errors, by 3.4445^5"
    ),
    magnitude=_magnitude,
    torch_name="torch.optim.Muon",
    cost=_cost,
    benchmarks=(Case(((4096, 4096),) * 3, {"lr": 0.02}),),
)

__all__ = ["muon_step"]
