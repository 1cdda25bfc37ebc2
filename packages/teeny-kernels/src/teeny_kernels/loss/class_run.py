"""Calls of losses of integer classes: what is checked, and how one loss for each row is reduced."""

from __future__ import annotations

from typing import Any, NamedTuple

from teeny_kernels.arrays import Operand, empty, operand, same_place
from teeny_kernels.codes import E1202, E1204
from teeny_kernels.layout import Output, contiguous, require_dtype
from teeny_kernels.loss import reduction as reductions
from teeny_kernels.loss.class_kernels import row_shares, row_total
from teeny_kernels.rows import block_of, is_wide, warps_of
from teeny_kernels.spec import FLOATS

INTEGERS = ("i64", "i32", "i16", "i8", "u8")
ROW_BLOCK = 512
# Rows whose losses one program adds, in less time than a second launch takes.
ONE_PROGRAM = 16384


class ClassCall(NamedTuple):
    """A checked call; `inner` counts the elements between two classes of a row."""

    operation: str
    x: Operand
    target: Operand
    weight: Operand | None
    ignore_index: int
    reduction: str
    axis: int
    columns: int
    inner: int

    @property
    def weights(self) -> Any:
        """The array of the weights, or None."""
        return None if self.weight is None else self.weight.array


def class_call(
    operation: str, x: Any, target: Any, weight: Any, ignore_index: int, reduction: str
) -> ClassCall:
    """The arguments of a loss, checked. Raises E1201-E1204 and E1206."""
    reductions.checked_reduction(operation, reduction)
    source, classes = operand("x", x), operand("target", target)
    given = [("x", source), ("target", classes)]
    weights = None
    if weight is not None:
        weights = operand("weight", weight)
        given.append(("weight", weights))
    same_place(operation, given)
    require_dtype(operation, "x", source, FLOATS)
    require_dtype(operation, "target", classes, INTEGERS)
    axis = 1 if source.ndim > 1 else 0
    wanted = source.shape[:axis] + source.shape[axis + 1 :]
    if not source.ndim or classes.shape != wanted or not source.shape[axis]:
        what = f"`x` {source.shape}, `target` {classes.shape}"
        raise E1202.error(operation=operation, what=what).help(
            "`x` is (C,), (N, C) or (N, C, ...), and `target` has no axis C"
        )
    columns = source.shape[axis]
    if weights is not None:
        require_dtype(operation, "weight", weights, (source.dtype,))
        if weights.shape != (columns,):
            what = f"`weight` {weights.shape}, and there are {columns} classes"
            raise E1202.error(operation=operation, what=what).help("give one number for each class")
        weights = contiguous(operation, weights)
    inner = 1
    for side in source.shape[axis + 1 :]:
        inner *= side
    ready = contiguous(operation, classes, "i64")
    return ClassCall(
        operation, source, ready, weights, ignore_index, reduction, axis, columns, max(1, inner)
    )


def reduced_losses(call: ClassCall, launch: Any, out: Any) -> Any:
    """The losses that `launch` stores for each target, reduced as the call says."""
    rows = call.target.size
    if call.reduction == "none":
        result = Output(call.operation, call.x, call.target.shape, out=out)
        if rows:
            launch(result.operand)
        return result.finish()
    result = Output(call.operation, call.x, (), out=out)
    losses = reductions.shares(call.x, rows)
    if rows:
        launch(losses)
    if rows <= ONE_PROGRAM:
        _total(call, result.operand, losses)
        return result.finish()
    loss_parts, weight_parts = weight_shares(call, losses)
    weights = weight_parts if call.reduction == "mean" else None
    reductions.divide(result.operand, loss_parts, weights)
    return result.finish()


def weight_shares(call: ClassCall, losses: Operand | None) -> tuple[Operand, Operand]:
    """Sums of the losses and of the weights of the targets, of a few programs."""
    rows = call.target.size
    programs = min(reductions.PROGRAMS, -(-rows // ROW_BLOCK))
    loss_parts, weight_parts = (reductions.shares(call.x, programs) for _ in range(2))
    if rows:
        row_shares[programs](
            loss_parts.array,
            weight_parts.array,
            None if losses is None else losses.array,
            call.target.array,
            call.weights,
            rows,
            call.columns,
            call.ignore_index,
            BLOCK_SIZE=ROW_BLOCK,
        )
    return loss_parts, weight_parts


def _total(call: ClassCall, total: Operand, losses: Operand | None) -> None:
    """Store the sum or the mean of the losses, or without them the sum of the weights."""
    row_total.options(num_warps=16)[1](
        total.array,
        None if losses is None else losses.array,
        call.target.array,
        call.weights,
        call.target.size,
        call.columns,
        call.ignore_index,
        MEAN=call.reduction == "mean",
        BLOCK_SIZE=4096,
    )


class Tile(NamedTuple):
    """How a program reads a row of classes; see entropy_kernels.py."""

    warps: int
    whole: bool
    height: int
    width: int
    wide: bool

    @property
    def constants(self) -> dict[str, Any]:
        """The sides, and whether rows are too long for i32, by the names that kernels give them."""
        return {"HEIGHT": self.height, "WIDTH": self.width, "WIDE": self.wide}


def row_tile(columns: int, itemsize: int, *, twice: bool = False) -> Tile:
    """The tile for rows that are read once, or `twice` unless it holds them.

    Read once, 16 KB are on their way for each four warps. Rows of up to 32 KB stay in registers;
    longer ones are read again from the L2 cache, which holds the rows of few and large programs.
    """
    vector = max(1, 16 // itemsize)
    whole = columns * itemsize <= 32 << 10
    if twice and not whole:
        warps = 16 if columns * itemsize <= 128 << 10 else 32
        return Tile(warps, False, 4, warps * 32 * vector, is_wide(columns))
    block = block_of(columns) if twice else min(block_of(columns), (16 << 10) // itemsize)
    warps = min(16 if twice else 4, warps_of(block, itemsize))
    width = min(block, warps * 32 * vector)
    return Tile(warps, True, block // width, width, is_wide(columns))


def weight_sum(call: ClassCall) -> Any:
    """The sum of the weights of all targets, for the gradient of a mean; else None."""
    if call.reduction != "mean":
        return None
    total = empty(call.x, (), reductions.computed(call.x))
    if call.target.size <= ONE_PROGRAM:
        _total(call, total, None)
    else:
        reductions.divide(total, weight_shares(call, None)[1], None)
    return total.array


def class_gradient(call: ClassCall, grad: Any) -> Operand:
    """The gradient of the loss, contiguous. Raises E1201-E1203 and E1206."""
    upstream = operand("grad", grad)
    same_place(call.operation, [("x", call.x), ("grad", upstream)])
    shape = call.target.shape if call.reduction == "none" else ()
    reductions.checked_gradient(call.operation, upstream, call.x, shape)
    return contiguous(call.operation, upstream)


def check_smoothing(operation: str, smoothing: float) -> None:
    """Raise E1204 unless label smoothing lies within 0 and 1."""
    if not 0.0 <= smoothing <= 1.0:
        raise E1204.error(operation=operation, name="label_smoothing", found=smoothing).help(
            "it lies within 0 and 1"
        )
