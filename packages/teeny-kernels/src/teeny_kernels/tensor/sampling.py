"""sample: one index for each row of logits, at random, by temperature, top-k and top-p.

    P(i) = softmax(x / temperature) over what is kept: the top_k largest, and of these the fewest
    largest whose probabilities reach top_p (elements equal to the last that is kept stay too)

The choice is the argmax of x / temperature - log(-log(u)) (Gumbel 1954), u[i] a number within
[0, 1) of Philox at the seed and at the place of the logit in row-major order: equal seeds give
equal choices. What is kept is found by bisection over the order of 32-bit numbers, without sorting
(top-p: Holtzman et al. 2020). Grid: one program for each row. A NaN counts as -inf.
"""

from __future__ import annotations

from math import prod
from typing import Any, TypeVar

import numpy as np

import teeny_triton as tl
from teeny_kernels.arrays import operand
from teeny_kernels.codes import E1202, E1204
from teeny_kernels.layout import Output, contiguous, require_dtype
from teeny_kernels.philox import philox, signed, uniform
from teeny_kernels.rows import is_wide
from teeny_kernels.spec import Case, Cost, KernelSpec, Tolerance
from teeny_kernels.testing import fill
from teeny_macros import device, kernel
from teeny_triton import Axis, Const, Float, Ptr, bf16, f16, f32, i32, i64

A = TypeVar("A")
D = TypeVar("D", bound=Float)

TAKEN = ("f32", "f16", "bf16")
NARROW, WIDE = 256, 4096
INFINITY = float("inf")
# The orders of the least and of the greatest f32.
LEAST, GREATEST = -0x7F800001, 0x7F800000


@device
def known(x: Any, mask: Any) -> Any:
    """Logits in f32, -inf where there is none."""
    wide = x.to(f32) + 0.0
    return tl.where(mask & (wide == wide), wide, -INFINITY)


@device
def ordered(x: Any) -> Any:
    """An i64 in the order of an f32."""
    bits = x.to(i32, bitcast=True)
    return tl.where(bits < 0, bits ^ 0x7FFFFFFF, bits).to(i64)


@device
def below(x: Any, top: Any, scale: Any) -> Any:
    """How far a logit lies below the largest; 0 there, where both are infinite too."""
    return tl.where(x == top, 0.0, (x - top) * scale)


@device
def mass(
    x_ptr: Ptr[Any],
    n_cols: i32 | int,
    least: Any,
    top: Any,
    scale: Any,
    COUNT: Const[bool],
    BLOCK_SIZE: Const[int],
) -> Any:
    """How many elements, or how much of exp((x - top) scale), are of an order from `least` on."""
    lanes = tl.arange(0, BLOCK_SIZE)
    total = tl.zeros((BLOCK_SIZE,), f32)
    for start in range(0, n_cols, BLOCK_SIZE):
        mask = lanes < n_cols - start
        x = known(tl.load(x_ptr + start + lanes, mask=mask, other=0.0), mask)
        if COUNT:
            total += tl.where(mask & (ordered(x) >= least), 1.0, 0.0)
        else:
            total += tl.where(mask & (ordered(x) >= least), tl.exp(below(x, top, scale)), 0.0)
    return tl.sum(total, axis=0)


@kernel(dtypes=(f32, f16, bf16, i64), do_not_specialize=("seed", "top_k"))
def sample_kernel(
    out_ptr: Ptr[i64],
    x_ptr: Ptr[D],
    n_cols: i32 | int,
    seed: i64 | int,
    scale: f32 | float,
    top_k: i32 | int,
    top_p: f32 | float,
    GREEDY: Const[bool],
    BY_COUNT: Const[bool],
    BY_MASS: Const[bool],
    BLOCK_SIZE: Const[int],
) -> None:
    row = tl.program_id(Axis.X).to(i64)
    base = x_ptr + row * n_cols
    lanes = tl.arange(0, BLOCK_SIZE)
    largest = tl.full((BLOCK_SIZE,), -INFINITY, f32)
    for start in range(0, n_cols, BLOCK_SIZE):
        mask = lanes < n_cols - start
        largest = tl.maximum(
            largest, known(tl.load(base + start + lanes, mask=mask, other=0.0), mask)
        )
    top = tl.max(largest, axis=0)
    least: Any = row * 0 + LEAST
    if BY_COUNT:
        high = ordered(top)
        while least < high:
            middle = least + (high - least + 1) // 2
            reached = mass(base, n_cols, middle, top, scale, True, BLOCK_SIZE) >= tl.cast(
                top_k, f32
            )
            least = tl.where(reached, middle, least)
            high = tl.where(reached, high, middle - 1)
    if BY_MASS:
        wanted = mass(base, n_cols, least, top, scale, False, BLOCK_SIZE) * top_p
        high = ordered(top)
        while least < high:
            middle = least + (high - least + 1) // 2
            reached = mass(base, n_cols, middle, top, scale, False, BLOCK_SIZE) >= wanted
            least = tl.where(reached, middle, least)
            high = tl.where(reached, high, middle - 1)
    best = tl.full((BLOCK_SIZE,), -INFINITY, f32)
    chosen = tl.full((BLOCK_SIZE,), -1, i32)
    for start in range(0, n_cols, BLOCK_SIZE):
        mask = lanes < n_cols - start
        x = known(tl.load(base + start + lanes, mask=mask, other=0.0), mask)
        score = x
        if not GREEDY:
            u = tl.rand(seed, row * n_cols + start + lanes)
            score = below(x, top, scale) - tl.log(-tl.log(u))
        kept = mask & (ordered(x) >= least)
        better = kept & ((score > best) | (chosen < 0))
        best = tl.where(better, score, best)
        chosen = tl.where(better, start + lanes, chosen)
    winner = tl.max(best, axis=0)
    place = tl.where((best == winner) & (chosen >= 0), chosen, n_cols)
    tl.store(out_ptr + row, tl.min(place, axis=0).to(i64))


def sample(
    logits: A,
    *,
    seed: int,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
    out: A | None = None,
) -> A:
    """An index of the last axis for each row of `logits` (..., n), in i64, of the shape (...).

    A `temperature` of 0 takes the first of the largest. With `top_k` only the largest are chosen
    from, with `top_p` only the fewest whose probabilities, after `top_k`, reach it; elements equal
    to the last of them count as well. `logits` are of f32, f16 or bf16.

    Raises:
        KernelError: E1201, E1203, E1207; E1202 for rows without an element, E1204 for options out
            of their range.
    """
    source = operand("logits", logits)
    require_dtype("sample", "logits", source, TAKEN)
    if not source.ndim or not source.shape[-1]:
        raise E1202.error(operation="sample", what=f"`logits` {source.shape}").help(
            "give rows of at least one element"
        )
    _check(temperature, top_k, top_p)
    columns = source.shape[-1]
    if is_wide(columns):
        raise E1202.error(operation="sample", what=f"a row of {columns} logits").help(
            "give rows of fewer than 2^31 elements"
        )
    result = Output("sample", source, source.shape[:-1], dtype="i64", out=out)
    rows = result.operand.size
    if rows:
        by_count = top_k is not None and top_k < columns
        launch: Any = sample_kernel.options(num_warps=8)[rows]
        launch(
            *(result.operand.array, contiguous("sample", source).array, columns, signed(seed)),
            *(1 / temperature if temperature else 1.0, top_k if by_count else 0),
            1.0 if top_p is None else top_p,
            GREEDY=not temperature,
            BY_COUNT=by_count and bool(temperature),
            BY_MASS=top_p is not None and top_p < 1 and bool(temperature),
            BLOCK_SIZE=NARROW if columns <= NARROW else WIDE,
        )
    found: A = result.finish()
    return found


def _check(temperature: float, top_k: int | None, top_p: float | None) -> None:
    for name, value, fits, help_ in (
        ("temperature", temperature, 0 <= temperature < INFINITY, "give 0 or more"),
        ("top_k", top_k, top_k is None or top_k >= 1, "give at least 1, or None"),
        ("top_p", top_p, top_p is None or 0 < top_p <= 1, "give a number within 0 and 1, or None"),
    ):
        if not fits:
            raise E1204.error(operation="sample", name=name, found=f"{value!r}").help(help_)


def _below(x: np.ndarray, temperature: float) -> np.ndarray:
    with np.errstate(all="ignore"):
        return np.where(x == x.max(), 0.0, (x - x.max()) / temperature)


def _reference(
    x: np.ndarray,
    seed: int,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
) -> np.ndarray:
    rows = np.where(np.isnan(x), -np.inf, x).reshape(prod(x.shape[:-1]), x.shape[-1])
    if not temperature:
        return rows.argmax(axis=-1).reshape(x.shape[:-1])
    words = philox(seed, np.arange(rows.size))[:, 0]
    noise = -np.log(-np.log(uniform(words).astype(np.float64).reshape(rows.shape)))
    found: list[Any] = []
    for own, gumbel in zip(rows, noise, strict=True):
        kept = np.ones(own.shape, bool)
        if top_k is not None:
            kept = own >= np.sort(own)[-min(top_k, own.size)]
        if top_p is not None:
            p = np.where(kept, np.exp(_below(own, temperature)), 0.0)
            order = np.argsort(-np.where(kept, own, -np.inf), kind="stable")
            reached = np.cumsum(p[order]) >= top_p * p.sum()
            kept &= own >= own[order[reached.argmax()]]
        score = np.where(kept, _below(own, temperature) + gumbel, -np.inf)
        found.append(score.argmax())
    return np.array(found, np.int64).reshape(x.shape[:-1])


def _cost(case: Case, itemsize: int) -> Cost:
    return Cost(itemsize * prod(case.shapes[0]), 40 * prod(case.shapes[0]))


def _case(shape: tuple[int, ...], values: str = "normal", **options: Any) -> Case:
    return Case((shape,), {"seed": 1, **options}, values)


def _make(rng: np.random.Generator, case: Case) -> list[Any]:
    shape = case.shapes[0]
    if "neighbors" not in case.values:
        return [fill(rng, shape, case.values)]
    # Logits that differ in their last bit: the greatest, and those just below it.
    least = (rng.standard_normal((*shape[:-1], 1)) * 1e-3).astype(np.float32)
    steps = rng.permuted(np.broadcast_to(np.arange(shape[-1]), shape), axis=-1)
    return [(least.view(np.int32) + steps.astype(np.int32)).view(np.float32).astype(np.float64)]


SPEC = KernelSpec(
    name="sample",
    family="tensor",
    function=sample,
    kernels=(sample_kernel,),
    formula="argmax(x / temperature - log(-log(u))) over what top-k and top-p keep",
    source="Gumbel 1954; Holtzman et al. 2020 (top-p); Salmon et al. 2011 (u)",
    reference=_reference,
    make=_make,
    dtypes=TAKEN,
    cases=(
        _case((1,)),
        _case((0, 5)),
        _case((5,)),
        _case((64, 100), seed=2),
        _case((64, 100), "special", seed=3),
        _case((3, 4, 100), "wide", seed=-4, temperature=3.0),
        _case((64, 100), temperature=0.0),
        _case((64, 100), "ties", temperature=0.0),
        _case((64, 100), top_k=5),
        _case((64, 100), "ties", top_k=1, temperature=0.5),
        _case((64, 100), top_p=0.7),
        _case((64, 100), "special", top_k=20, top_p=0.3, seed=2**60),
        _case((2, 5000), top_k=50, top_p=0.9),
        _case((64, 5), "neighbors", top_k=2),
        _case((64, 5), "neighbors", top_p=0.3),
    ),
    tolerance=Tolerance(0, "an index"),
    cost=_cost,
    benchmarks=(_case((256, 131072), top_k=50, top_p=0.9), _case((256, 131072))),
)
