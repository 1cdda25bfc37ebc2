"""adam_8bit_step: Adam whose state takes a byte for each element and moment; in place.

    m, v, p as in adam_step, or, decoupled, as in adamw_step; between steps, for each block of 256
    elements in row-major order with the largest |m| and v of the block as its scales,
    m is kept as i8 q:  m = sign(q) (q / 127)^4 scale      v as u8 q:  v = (q / 255)^4 scale

A code is the nearest to the fourth root of its number; a v above 0 is never kept as 0, so that no
step is divided by eps alone. After Dettmers et al. 2022, "8-bit optimizers via block-wise
quantization", with powers in place of their table. Grid: one program for each `ROWS` blocks.
Computed in f32, f64 for f64, and the step is taken before the state is rounded. A gradient that is
no finite number makes its block's state NaN.
"""

from __future__ import annotations

from math import prod, sqrt
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

import teeny_triton as tl
from teeny_kernels.arrays import Operand, empty, operand, same_place
from teeny_kernels.codes import E1202, E1204
from teeny_kernels.layout import contiguous, copy, require_dtype
from teeny_kernels.numerics import number, widen
from teeny_kernels.optimizer.run import require_step
from teeny_kernels.optimizer.specs import copied
from teeny_kernels.spec import FLOATS, Case, Cost, KernelSpec, Tolerance
from teeny_kernels.testing import fill, host
from teeny_macros import device, kernel
from teeny_triton import Axis, Const, Float, Ptr, bf16, f16, f32, f64, i8, i64, u8

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from teeny_kernels.options import Betas, NotNegative

A = TypeVar("A")
D = TypeVar("D", bound=Float)

BLOCK = 256
ROWS = 4


@device
def larger(x: Any, y: Any) -> Any:
    return tl.maximum(x, y, propagate_nan=tl.PropagateNan.ALL)


@device
def nearest(x: Any, most: float) -> Any:
    """The integer nearest to x `most`, for x within 0 and 1; 0 for NaN."""
    return tl.where(x == x, tl.floor(x * most + 0.5), 0.0)


@kernel(dtypes=(f32, f16, bf16, f64, i8, u8))
def adam_8bit_kernel(
    param_ptr: Ptr[D],
    grad_ptr: Ptr[D],
    m_ptr: Ptr[i8],
    m_scale_ptr: Ptr[f32],
    v_ptr: Ptr[u8],
    v_scale_ptr: Ptr[f32],
    n_elements: i64 | int,
    n_blocks: i64 | int,
    sign: f64 | float,
    decay: f64 | float,
    shrink: f64 | float,
    rate: f64 | float,
    share_m: f64 | float,
    beta_v: f64 | float,
    share_v: f64 | float,
    root: f64 | float,
    eps: f64 | float,
    ROWS: Const[int],
    BLOCK: Const[int],
) -> None:
    block = tl.program_id(Axis.X).to(i64) * ROWS + tl.arange(0, ROWS)
    at = (block * BLOCK)[:, None] + tl.arange(0, BLOCK)[None, :]
    mask = at < n_elements
    there = block < n_blocks
    p = widen(tl.load(param_ptr + at, mask=mask, other=0.0))
    g = widen(tl.load(grad_ptr + at, mask=mask, other=0.0)) * number(sign, p)
    m_scale = tl.load(m_scale_ptr + block, mask=there, other=0.0).to(p.dtype)[:, None]
    v_scale = tl.load(v_scale_ptr + block, mask=there, other=0.0).to(p.dtype)[:, None]
    m_code = tl.load(m_ptr + at, mask=mask, other=0).to(p.dtype) / number(127.0, p)
    v_code = tl.load(v_ptr + at, mask=mask, other=0).to(p.dtype) / number(255.0, p)
    m = m_code * tl.abs(m_code) * (m_code * m_code) * m_scale
    v = v_code * v_code * (v_code * v_code) * v_scale
    g = g + p * number(decay, p)
    p = p * number(shrink, p)
    m = m + (g - m) * number(share_m, p)
    v = v * number(beta_v, p) + g * g * number(share_v, p)
    p = p - m / (tl.sqrt_rn(v) * number(root, p) + number(eps, p)) * number(rate, p)
    tl.store(param_ptr + at, p.to(tl.elem(param_ptr)), mask=mask)
    m_top = tl.reduce(tl.where(mask, tl.abs(m), 0.0), 1, larger)
    v_top = tl.reduce(tl.where(mask, v, 0.0), 1, larger)
    m_size = tl.where(m == 0.0, 0.0, tl.sqrt_rn(tl.sqrt_rn(tl.abs(m) / m_top[:, None])))
    v_size = tl.where(v == 0.0, 0.0, tl.sqrt_rn(tl.sqrt_rn(v / v_top[:, None])))
    m_new = nearest(m_size, 127.0)
    v_new = nearest(v_size, 255.0)
    m_new = tl.where(m < 0.0, -m_new, m_new)
    v_new = tl.where((v > 0.0) & (v_new < 1.0), 1.0, v_new)
    tl.store(m_ptr + at, m_new.to(i8), mask=mask)
    tl.store(v_ptr + at, v_new.to(u8), mask=mask)
    tl.store(m_scale_ptr + block, m_top.to(f32), mask=there)
    tl.store(v_scale_ptr + block, v_top.to(f32), mask=there)


def adam_8bit_step(
    param: A,
    grad: A,
    exp_avg: A,
    exp_avg_scale: A,
    exp_avg_sq: A,
    exp_avg_sq_scale: A,
    *,
    step: int,
    lr: NotNegative = 1e-3,
    betas: Betas = (0.9, 0.999),
    eps: NotNegative = 1e-8,
    weight_decay: NotNegative = 0.0,
    decoupled_weight_decay: bool = False,
    maximize: bool = False,
) -> None:
    """One step of Adam with a state of 8 bits; changes `param` and the state.

    `exp_avg` (i8) and `exp_avg_sq` (u8) are of the shape of `param`, their scales of one f32 number
    for each 256 elements in row-major order, the last of fewer; all are zeros before step 1. `step`
    counts from 1. With `decoupled_weight_decay` it is a step of AdamW.

    Raises:
        KernelError: E1201-E1204, E1206.
    """
    operation = "adam_8bit_step"
    require_step(operation, step)
    given = {
        "param": param,
        "grad": grad,
        "exp_avg": exp_avg,
        "exp_avg_scale": exp_avg_scale,
        "exp_avg_sq": exp_avg_sq,
        "exp_avg_sq_scale": exp_avg_sq_scale,
    }
    arrays = _checked(operation, given)
    n = arrays[0].size
    if not n:
        return
    ready = [contiguous(operation, own) for own in arrays]
    blocks = -(-n // BLOCK)
    decoupled = decoupled_weight_decay
    launch: Any = adam_8bit_kernel.options(num_warps=4)[-(-blocks // ROWS)]
    launch(
        *(own.array for own in ready),
        *(n, blocks, -1.0 if maximize else 1.0, 0.0 if decoupled else float(weight_decay)),
        *(1 - lr * weight_decay if decoupled else 1.0, lr / (1 - betas[0] ** step)),
        *(1 - betas[0], betas[1], 1 - betas[1], 1 / sqrt(1 - betas[1] ** step), eps),
        ROWS=ROWS,
        BLOCK=BLOCK,
    )
    for name, own, updated in zip(given, arrays, ready, strict=True):
        if updated is not own and name != "grad":
            copy(operation, own, updated)


def _checked(operation: str, arrays: Mapping[str, Any]) -> list[Operand]:
    given = [(name, operand(name, value)) for name, value in arrays.items()]
    same_place(operation, given)
    first = given[0][1]
    require_dtype(operation, "param", first, FLOATS)
    wanted = {"grad": first.dtype, "exp_avg": "i8", "exp_avg_sq": "u8"}
    scales = (-(-first.size // BLOCK),)
    for name, own in given[1:]:
        require_dtype(operation, name, own, (wanted.get(name, "f32"),))
        shape = scales if name.endswith("scale") else first.shape
        if own.shape != shape:
            what = f"`{name}` {own.shape}, `param` {first.shape}"
            raise E1202.error(operation=operation, what=what).help(f"give it the shape {shape}")
    for name, own in given:
        if name != "grad" and own.library == "jax":
            raise E1204.error(operation=operation, name=name, found="a JAX array").help(
                "JAX arrays do not change; pass a buffer of the device, or another library's array"
            )
    return [own for _, own in given]


def _blocks(x: Any) -> Any:
    """Blocks of 256 elements, the last filled with zeros."""
    flat = x.reshape(-1)
    return np.pad(flat, (0, -flat.size % BLOCK)).reshape(-1, BLOCK)


def _whole(blocks: Any, like: Any) -> Any:
    return blocks.reshape(-1)[: like.size].reshape(like.shape)


def _decoded(code: Any, scale: Any, most: int) -> Any:
    own = _blocks(code.astype(np.float64)) / most
    return _whole(np.sign(own) * own**4 * scale[:, None], code)


def _encoded(x: Any, most: int) -> tuple[Any, Any]:
    own = _blocks(x)
    top = np.abs(own).max(axis=1, initial=0)
    with np.errstate(all="ignore"):
        size = (np.abs(own) / top[:, None]) ** 0.25
    code = np.floor(np.where(own == 0, 0.0, size) * most + 0.5)
    code = np.where(np.isnan(code), 0.0, code)
    if most == 255:
        code = np.where((own > 0) & (code < 1), 1.0, code)
    return _whole(np.where(own < 0, -code, code), x), top.astype(np.float32).astype(np.float64)


def _reference(
    p: Any,
    g: Any,
    m_code: Any,
    m_scale: Any,
    v_code: Any,
    v_scale: Any,
    step: int,
    lr: float = 1e-3,
    betas: tuple[float, float] = (0.9, 0.999),
    eps: float = 1e-8,
    weight_decay: float = 0.0,
    decoupled_weight_decay: bool = False,
    maximize: bool = False,
) -> tuple[Any, ...]:
    g = -g if maximize else g
    m, v = _decoded(m_code, m_scale, 127), _decoded(v_code, v_scale, 255)
    g = g if decoupled_weight_decay else g + weight_decay * p
    p = p * (1 - lr * weight_decay) if decoupled_weight_decay else p
    m, v = m + (1 - betas[0]) * (g - m), betas[1] * v + (1 - betas[1]) * g**2
    below = np.sqrt(v / (1 - betas[1] ** step)) + eps
    p = p - lr / (1 - betas[0] ** step) * m / below
    return p, _decoded(*_encoded(m, 127), 127), _decoded(*_encoded(v, 255), 255)


_ULPS = 16


def _magnitude(p: Any, g: Any, *state: Any, **options: Any) -> tuple[Any, ...]:
    stepped, m, v = _reference(p, g, *state, **options)
    lr, (b1, b2), t = options.get("lr", 1e-3), options.get("betas", (0.9, 0.999)), options["step"]
    old_m = np.abs(_decoded(state[0], state[1], 127))
    # What adds up to m may cancel: |m| + |g| over the root of v.
    rooted = np.sqrt(_decoded(state[2], state[3], 255) * b2 + (1 - b2) * g**2)
    decayed = np.abs(g) + np.abs(p * options.get("weight_decay", 0.0))
    moved = lr / (1 - b1**t) * (old_m + decayed) / (rooted / sqrt(1 - b2**t) + 1e-8)
    tops = [_whole(np.broadcast_to(_blocks(np.abs(own)).max(axis=1, initial=0)[:, None],
                                   _blocks(own).shape), own) for own in (m, v)]  # fmt: skip
    # A number on the border of two codes may get the other: d(q^n) = n q^(n - 1) / most.
    step_m = 6 * np.abs(m) ** 0.75 * tops[0] ** 0.25 / 127 + tops[0] / 127**4
    step_v = 6 * np.abs(v) ** 0.75 * tops[1] ** 0.25 / 255 + tops[1] / 255**4
    unit = _ULPS * 2.0**-23
    return np.abs(p) + np.abs(stepped) + moved, step_m / unit, step_v / unit


def _in_f32(scale: Any) -> Any:
    """A scale as the step takes it: the harness makes it in the dtype of the parameter."""
    given = operand("scale", scale)
    made = empty(given, given.shape, "f32")
    copy("copy", made, given)
    return made.array


def _in_place(p: Any, g: Any, m: Any, m_scale: Any, v: Any, v_scale: Any, **options: Any) -> None:
    adam_8bit_step(p, g, m, _in_f32(m_scale), v, _in_f32(v_scale), **options)


def _stepped(p: Any, g: Any, *state: Any, **options: Any) -> tuple[Any, ...]:
    own = [copied(p), *(copied(code) for code in state)]
    for at in (2, 4):
        own[at] = _in_f32(own[at])
    adam_8bit_step(own[0], g, *own[1:], **options)
    m_code, m_scale, v_code, v_scale = (host(array) for array in own[1:])
    m = _decoded(m_code, m_scale.astype(np.float64), 127)
    v = _decoded(v_code, v_scale.astype(np.float64), 255)
    return own[0], m.astype(np.float32), v.astype(np.float32)


def _make(rng: np.random.Generator, case: Case) -> Sequence[Any]:
    shape = case.shapes[0]
    p, g = (fill(rng, shape, case.values) for _ in range(2))
    blocks = (-(-prod(shape) // BLOCK),)
    m_code = np.asarray(rng.integers(-127, 128, shape), np.int8)
    v_code = np.asarray(rng.integers(64, 256, shape), np.uint8)
    scales = [np.exp2(rng.integers(-3, 3, blocks).astype(float)) for _ in range(2)]
    return [p, g, m_code, scales[0], v_code, scales[1]]


def _case(shape: tuple[int, ...], values: str = "normal", **options: Any) -> Case:
    return Case((shape,), {"step": 3, **options}, values)


SPEC = KernelSpec(
    name="adam_8bit_step",
    family="optimizer",
    function=adam_8bit_step,
    call=_stepped,
    in_place=_in_place,
    kernels=(adam_8bit_kernel,),
    formula="Adam with m = sign(q) (q / 127)^4 scale, v = (q / 255)^4 scale",
    source="Dettmers et al. 2022, 8-bit optimizers via block-wise quantization",
    reference=_reference,
    magnitude=_magnitude,
    make=_make,
    outputs=3,
    cases=(
        _case(()),
        _case((1,)),
        _case((0,)),
        _case((255,)),
        _case((256,), step=1),
        _case((257,), lr=0.1),
        _case((1025,), betas=(0.8, 0.95), eps=1e-3),
        _case((33, 77), weight_decay=0.1, lr=0.1),
        _case((33, 77), weight_decay=0.1, lr=0.1, decoupled_weight_decay=True),
        _case((2, 3, 4, 5), "ties", maximize=True),
        _case((300,), "special"),
        _case((3, 300), "wide", step=100),
    ),
    tolerance=Tolerance(_ULPS, "roots and a quotient; a number between two codes gets either"),
    cost=lambda case, itemsize: Cost(
        (3 * itemsize + 4) * prod(case.shapes[0]), 40 * prod(case.shapes[0])
    ),
    benchmarks=(Case(((1 << 26,),), {"step": 3}),),
)
