"""Calls of the row norms: the last axes as rows, weights checked, partial sums added."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

from teeny_kernels.arrays import ITEMSIZES, empty, finish, operand, same_place
from teeny_kernels.calls import Plans, bare, key_of, result_of
from teeny_kernels.codes import E1202, E1204
from teeny_kernels.layout import Output, contiguous, require_dtype, whole_numbers
from teeny_kernels.norm.kernels import column_sums, row_norm_backward, row_norm_forward
from teeny_kernels.rows import block_of, is_wide, resident, unit_of, warps_of
from teeny_kernels.spec import FLOATS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from teeny_kernels.arrays import Operand

# Programs of a backward: 16 warps for each of the 132 multiprocessors of an H200, of 128 registers.
# Each keeps sums of its own, so there are never more than fit at a time.
MULTIPROCESSORS = 132
WARPS = 16
LONGEST = 1 << 20  # the largest block


def sides_of(operation: str, x: Operand, normalized_shape: int | Sequence[int]) -> tuple[int, ...]:
    """`normalized_shape` as a tuple. Raises E1202 unless `x` ends in it, E1204 when it is empty."""
    sides = whole_numbers(operation, "normalized_shape", normalized_shape)
    if not sides or prod(sides) > LONGEST:
        raise E1204.error(
            operation=operation, name="normalized_shape", found=f"{normalized_shape!r}"
        ).help(f"give the last axes, of 1 to {LONGEST} elements together")
    if x.shape[x.ndim - len(sides) :] != sides:
        what = f"`x` {x.shape} does not end in `normalized_shape` {sides}"
        raise E1202.error(operation=operation, what=what).help("give the last axes of `x`")
    return sides


def taken(
    operation: str, x: Operand, sides: tuple[int, ...], arrays: dict[str, Any]
) -> dict[str, Operand | None]:
    """Weights and biases as contiguous operands of the shape `sides`; None stays None."""
    found: dict[str, Operand | None] = {}
    for name, value in arrays.items():
        if value is None:
            found[name] = None
            continue
        own = operand(name, value)
        same_place(operation, [("x", x), (name, own)])
        require_dtype(operation, name, own, (x.dtype,))
        if own.shape != sides:
            what = f"`{name}` {own.shape}, and the rows are {sides}"
            raise E1202.error(operation=operation, what=what).help(
                "give one number for each column"
            )
        found[name] = contiguous(operation, own)
    return found


def forward(
    operation: str,
    x: Any,
    normalized_shape: int | Sequence[int],
    weight: Any,
    bias: Any,
    eps: float,
    out: Any,
    *,
    center: bool,
) -> Any:
    """The norm of `x` over its last axes."""
    values = (x, weight, bias, out)
    key = key_of(values, operation, normalized_shape, center)
    plan = _plans.find(key)
    if plan is not None:
        return plan(values, eps)
    source = operand("x", x)
    require_dtype(operation, "x", source, FLOATS)
    sides = sides_of(operation, source, normalized_shape)
    given = taken(operation, source, sides, {"weight": weight, "bias": bias})
    result = Output(operation, source, source.shape, out=out)
    columns = prod(sides)
    if source.size:
        run = _launcher(source, columns, center)
        ready = contiguous(operation, source)
        taken_arrays = [_array(given[name]) for name in ("weight", "bias")]
        run(result.operand.array, ready.array, *taken_arrays, eps)
        # Copies have to be made each time.
        laid = all(own is None or own.is_contiguous() for own in values) if key else False
        if laid:
            _plans.keep(key, _plan(source.shape, run))
    return result.finish()


_plans = Plans()


def _plan(shape: tuple[int, ...], run: Callable[..., None]) -> Callable[[Any, Any], Any]:
    def plan(values: Any, eps: float) -> Any:
        x, weight, bias, out = values
        out = result_of(x, out, shape)
        run(out, bare(x), _bare(weight), _bare(bias), eps)
        return out

    return plan


def _bare(tensor: Any) -> Any:
    return None if tensor is None else bare(tensor)


def _launcher(source: Operand, columns: int, center: bool) -> Callable[..., None]:
    """The launch over rows like those of `source`: from the result, the arrays and eps."""
    block = block_of(columns)
    warps, unit = warps_of(block, ITEMSIZES[source.dtype]), unit_of(columns)
    tuned, rows = resident(row_norm_forward, warps, block), source.size // columns

    def run(out: Any, x: Any, weight: Any, bias: Any, eps: float) -> None:
        tuned[rows](
            out, x, weight, bias, columns // unit, eps, UNIT=unit, CENTER=center, BLOCK_SIZE=block
        )

    return run


def backward(
    operation: str,
    grad: Any,
    x: Any,
    normalized_shape: int | Sequence[int],
    weight: Any,
    eps: float,
    *,
    center: bool,
    with_bias: bool,
    sum_grad: Any = None,
) -> tuple[Any, Any, Any]:
    """The gradients by x, weight (None without one) and bias (None unless `with_bias`).

    `sum_grad`, of the shape of `x`, is added to the first.
    """
    source, upstream = operand("x", x), operand("grad", grad)
    require_dtype(operation, "x", source, FLOATS)
    same_place(operation, [("x", source), ("grad", upstream)])
    require_dtype(operation, "grad", upstream, (source.dtype,))
    sides = sides_of(operation, source, normalized_shape)
    added = None if sum_grad is None else operand("sum_grad", sum_grad)
    for name, own in (("grad", upstream), ("sum_grad", added)):
        if own is not None and own.shape != source.shape:
            what = f"`{name}` {own.shape}, `x` {source.shape}"
            raise E1202.error(operation=operation, what=what).help("give arrays of one shape")
    if added is not None:
        same_place(operation, [("x", source), ("sum_grad", added)])
        require_dtype(operation, "sum_grad", added, (source.dtype,))
        added = contiguous(operation, added)
    given = taken(operation, source, sides, {"weight": weight})["weight"]
    columns = prod(sides)
    rows = source.size // columns if columns else 0
    if is_wide(rows):
        raise E1202.error(operation=operation, what=f"`x` of {rows} rows").help(
            "give fewer than 2^31 rows"
        )
    block = block_of(columns)
    warps, unit = min(16, 2 * warps_of(block, ITEMSIZES[source.dtype])), unit_of(columns)
    programs = max(1, min(MULTIPROCESSORS * max(1, WARPS // warps), rows))
    dx = Output(operation, source, source.shape)
    exact = "f64" if source.dtype == "f64" else "f32"
    parts = [
        empty(source, (programs, columns), exact) if wanted else None
        for wanted in (given is not None, with_bias)
    ]
    row_norm_backward.options(num_warps=warps, maxnreg=128)[programs if columns else 0](
        dx.operand.array,
        _array(parts[0]),
        _array(parts[1]),
        contiguous(operation, upstream).array,
        _array(added),
        contiguous(operation, source).array,
        _array(given),
        rows,
        columns // unit,
        eps,
        UNIT=unit,
        CENTER=center,
        STAGES=_stages(block * ITEMSIZES[source.dtype]),
        BLOCK_SIZE=block,
    )
    dw, db = (None if part is None else _summed(source, part, sides) for part in parts)
    return dx.finish(), dw, db


def _stages(row_bytes: int) -> int:
    """Rows of x and grad that are on their way at a time, within the shared memory of a program."""
    return 3 if 6 * row_bytes <= 96 << 10 else 1


def _summed(like: Operand, part: Operand, sides: tuple[int, ...]) -> Any:
    total = empty(like, sides)
    parts, columns = part.shape
    rows, warps = (256, 8) if parts > 64 else (32, 4)
    column_sums.options(num_warps=warps)[-(-columns // 32)](
        total.array, part.array, parts, columns, ROWS=rows, BLOCK_SIZE=32
    )
    return finish(total)


def _array(given: Operand | None) -> Any:
    return None if given is None else given.array
