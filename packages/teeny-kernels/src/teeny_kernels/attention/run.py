"""The launches of flash attention, dense or packed: the same kernels with other strides."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from teeny_kernels.arrays import Operand, empty, finish, operand, same_place
from teeny_kernels.attention.backward import (
    attention_backward_kv,
    attention_backward_q,
    attention_backward_sink,
)
from teeny_kernels.attention.blocks import DESCRIBED_WORK, Blocks, blocks_of, depth_of, tuned
from teeny_kernels.attention.forward import attention_forward
from teeny_kernels.attention.options import Options
from teeny_kernels.attention.plan import (
    Extras,
    Plan,
    Rows,
    Sides,
    dense_of,
    describer,
    exact_of,
    operands_of,
    rows_of,
)
from teeny_kernels.attention.split import Cache, decode, is_step
from teeny_kernels.calls import Plans, aligned, bare, key_of
from teeny_kernels.codes import E1202
from teeny_kernels.layout import Output, contiguous, require_dtype

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


def attend(operation: str, arrays: tuple[Any, Any, Any], asked: Options) -> tuple[Any, Any]:
    """The results of a call on dense arrays, which is checked and planned once for all like it."""
    key: Any = None
    if asked.alibi_slopes is None and asked.sink is None:
        key = key_of(arrays, operation, *asked)
        key = key and (*key, *aligned(*arrays))
        plan = _plans.find(key)
        if plan is not None:
            found: tuple[Any, Any] = plan(*arrays)
            return found
    own = dense_of(operation, operands_of(arrays), asked)
    if is_step(own):
        out, lse = decode(own, Cache())
        return out.finish(), lse.finish()
    out, lse = _results(own)
    rows = [rows_of(operation, array) for array in own.arrays]
    run = _forward(own, rows, out)
    run(out.operand.array, lse.operand.array, *(row.array for row in rows))
    # Copies have to be made each time.
    if all(a.array is b.array for a, b in zip(rows, own.arrays, strict=True)):
        _plans.keep(key, _call(run, out.operand, lse.operand))
    return out.finish(), lse.finish()


_plans = Plans()


def _call(
    run: Callable[..., None], out: Operand, lse: Operand
) -> Callable[[Any, Any, Any], tuple[Any, Any]]:
    shape, logarithms, exact = out.shape, lse.shape, getattr(lse.array, "dtype", None)

    def call(q: Any, k: Any, v: Any) -> tuple[Any, Any]:
        result, sums = q.new_empty(shape), q.new_empty(logarithms, dtype=exact)
        run(result, sums, bare(q), bare(k), bare(v))
        return result, sums

    return call


def _results(plan: Plan) -> tuple[Output, Output]:
    operation, first = plan.operation, plan.arrays[0]
    out = Output(operation, first, (*first.shape[:-1], plan.sides.dv))
    exact = exact_of(first.dtype)
    return out, Output(operation, first, plan.shape_of_logarithms(), dtype=exact)


def forward(plan: Plan) -> tuple[Output, Output]:
    """The result and the logarithms of the sums."""
    out, lse = _results(plan)
    rows = [rows_of(plan.operation, own) for own in plan.arrays]
    run = _forward(plan, rows, out)
    run(out.operand.array, lse.operand.array, *(own.array for own in rows))
    return out, lse


def _forward(plan: Plan, rows: Sequence[Rows], out: Output) -> Callable[..., None]:
    """The launch, from the results, q, k and v; the optional arrays are those of the plan."""
    sides = plan.sides
    by_tiles, blocks = _blocks(plan, "forward")
    grid = sides.batch * sides.heads * -(-sides.sq // blocks.m)
    sink = plan.extras.sink
    extras = (None if sink is None else sink.array, *_extras(plan.extras))
    describers = _describers(plan, rows[1:], blocks.n, by_tiles)
    strides = [step for own in rows for step in own.strides]
    sizes = (*strides, *rows_of(plan.operation, out.operand).strides, *_numbers(plan))
    constants: dict[str, Any] = {
        **plan.numbers,
        **_constants(sides, blocks),
        "HELD": blocks.held,
    }
    options = blocks.launch

    def run(result: Any, sums: Any, q: Any, k: Any, v: Any) -> None:
        tiles = (None, None)
        if describers is not None:
            tiles = describers[0](k), describers[1](v)
        tuned(attention_forward, *options)[grid](
            result, sums, q, k, v, *tiles, *extras, *sizes, **constants
        )

    return run


def backward(plan: Plan, grad: Operand, out: Operand, lse: Operand) -> list[Any]:
    """The gradients by q, k and v, and by the sink where there is one."""
    operation, sides, extras = plan.operation, plan.sides, plan.extras
    first = plan.arrays[0]
    delta = empty(first, lse.shape, lse.dtype)
    outputs = [Output(operation, own, own.shape) for own in plan.arrays]
    dq, dk, dv = (rows_of(operation, own.operand) for own in outputs)
    q, k, v = (rows_of(operation, own) for own in plan.arrays)
    upstream, result = rows_of(operation, grad), rows_of(operation, out)
    logs = contiguous(operation, lse).array
    strides = [*upstream.strides, *q.strides, *k.strides, *v.strides]
    numbers = _numbers(plan)
    by_tiles, blocks = _blocks(plan, "q")
    grid = sides.batch * sides.heads * -(-sides.sq // blocks.m)
    tuned(attention_backward_q, *blocks.launch)[grid](
        dq.array,
        delta.array,
        upstream.array,
        result.array,
        q.array,
        k.array,
        v.array,
        logs,
        *_described(plan, (k, v), blocks.n, by_tiles),
        *_extras(extras),
        *strides,
        *result.strides,
        *dq.strides,
        *numbers,
        **plan.numbers,
        **_constants(sides, blocks),
        HELD=blocks.held,
    )
    by_tiles, blocks = _blocks(plan, "kv")
    grid = sides.batch * sides.shared * -(-sides.sk // blocks.n)
    tuned(attention_backward_kv, *blocks.launch)[grid](
        dk.array,
        dv.array,
        upstream.array,
        q.array,
        k.array,
        v.array,
        logs,
        delta.array,
        *_described(plan, (q, upstream), blocks.m, by_tiles),
        *_extras(extras),
        *strides,
        *dk.strides,
        *dv.strides,
        *numbers,
        **plan.numbers,
        **_constants(sides, blocks),
        GROUPED=sides.group > 1,
    )
    found = [own.finish() for own in outputs]
    return found if extras.sink is None else [*found, _of_sink(plan, extras.sink, logs, delta)]


def backward_of(plan: Plan, grad: Any, out: Any, lse: Any) -> tuple[Any, ...]:
    """`backward` of arrays as they were given. Raises E1201, E1202, E1203 or E1206."""
    given = [operand(name, own) for name, own in (("grad", grad), ("out", out), ("lse", lse))]
    check_results(plan, *given)
    return tuple(backward(plan, *given))


def check_results(plan: Plan, grad: Operand, out: Operand, lse: Operand) -> None:
    """Raise E1202, E1203 or E1206 unless these belong to the results of the forward."""
    first = plan.arrays[0]
    operation = plan.operation
    same_place(operation, [("q", first), ("grad", grad), ("out", out), ("lse", lse)])
    shape = (*first.shape[:-1], plan.sides.dv)
    if (grad.shape, out.shape, lse.shape) != (shape, shape, plan.shape_of_logarithms()):
        what = f"`grad` {grad.shape}, `out` {out.shape}, `lse` {lse.shape}, `q` {first.shape}"
        raise E1202.error(operation=operation, what=what).help("give what the forward returned")
    require_dtype(operation, "grad", grad, (first.dtype,))
    require_dtype(operation, "out", out, (first.dtype,))
    require_dtype(operation, "lse", lse, (exact_of(first.dtype),))


def _of_sink(plan: Plan, sink: Operand, logs: Any, delta: Operand) -> Any:
    """The gradient by the sink, in the dtype that it was given in."""
    made = empty(sink, sink.shape)
    stride_batch, stride_head = plan.strides_of_logarithms()
    batches = 1 if plan.packed else plan.sides.batch
    launch: Any = attention_backward_sink[plan.sides.heads]
    launch(
        made.array, sink.array, logs, delta.array, stride_batch, stride_head, batches,
        delta.shape[-1], BLOCK=1024 if delta.shape[-1] > 1024 else 128,
    )  # fmt: skip
    return finish(contiguous(plan.operation, made, plan.extras.sink_dtype))


def _blocks(plan: Plan, kernel: str) -> tuple[bool, Blocks]:
    """Whether a call is worth descriptors, and its blocks."""
    by_tiles = not plan.packed and plan.work() >= DESCRIBED_WORK[kernel]
    depth = depth_of(max(plan.sides.dq, plan.sides.dv))
    return by_tiles, blocks_of(kernel, plan.arrays[0], depth, by_tiles=by_tiles)


def _described(plan: Plan, rows: Sequence[Rows], side: int, by_tiles: bool) -> list[Any]:
    found = _describers(plan, rows, side, by_tiles)
    if found is None:
        return [None, None]
    return [describe(own.array) for describe, own in zip(found, rows, strict=True)]


def _describers(
    plan: Plan, rows: Sequence[Rows], side: int, by_tiles: bool
) -> list[Callable[[Any], Any]] | None:
    """What makes the descriptors of two arrays; None where either has none."""
    if not by_tiles:
        return None
    first, depths = plan.arrays[0], (plan.sides.dq, plan.sides.dv)
    found = [
        describer(own, first.device, first.dtype, side, depth_of(depth))
        for own, depth in zip(rows, depths, strict=True)
    ]
    made = [describe for describe in found if describe is not None]
    return made if len(made) == len(found) else None


def _extras(extras: Extras) -> tuple[Any, Any, Any]:
    return extras.slopes, extras.starts_q, extras.starts_k


def _numbers(plan: Plan) -> list[int]:
    sides = plan.sides
    return [
        *plan.strides_of_logarithms(),
        plan.extras.stride_slopes,
        *(sides.sq, sides.sk, sides.dq, sides.dv, sides.heads, sides.group),
    ]


def _constants(sides: Sides, blocks: Blocks) -> dict[str, Any]:
    depths = depth_of(sides.dq), depth_of(sides.dv)
    return {
        "PHASES": 2 if max(sides.sq, sides.sk) >= 4 * max(blocks.m, blocks.n) else 1,
        "FULL": depths == (sides.dq, sides.dv),
        "BLOCK_M": blocks.m,
        "BLOCK_N": blocks.n,
        "BLOCK_D": depths[0],
        "BLOCK_DV": depths[1],
    }
