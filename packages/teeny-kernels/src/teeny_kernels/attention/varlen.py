"""flash_attention_varlen and its backward: sequences of any lengths, one behind the other."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import accumulate, pairwise
from typing import Any, TypeVar

import numpy as np

from teeny_kernels.attention.backward import (
    attention_backward_kv,
    attention_backward_q,
    attention_backward_sink,
)
from teeny_kernels.attention.cases import arguments, filled, sizes_of_gradients
from teeny_kernels.attention.forward import attention_forward
from teeny_kernels.attention.options import Options
from teeny_kernels.attention.plan import packed
from teeny_kernels.attention.reference import (
    attention,
    gradients,
    sizes_of_results,
    torch_attention,
)
from teeny_kernels.attention.run import backward_of, forward
from teeny_kernels.spec import Case, Cost, KernelSpec, Tolerance

A = TypeVar("A")


def flash_attention_varlen(
    q: A,
    k: A,
    v: A,
    cu_seqlens_q: A,
    cu_seqlens_k: A,
    max_seqlen_q: int,
    max_seqlen_k: int,
    *,
    causal: bool = False,
    scale: float | None = None,
    window: int | tuple[int, int] | None = None,
    soft_cap: float = 0.0,
    alibi_slopes: A | None = None,
    sink: A | None = None,
    sink_tokens: int = 0,
    dropout: float = 0.0,
    seed: int = 0,
) -> tuple[A, A]:
    """`flash_attention` of sequences that lie one behind the other, each with itself alone.

    `q` is (rows of all, heads, depth), `k` (columns of all, heads of k, depth), `v` (columns of
    all, heads of k, depth of v). `cu_seqlens_q` and `cu_seqlens_k`, i32 and (sequences + 1), say
    where each begins, and where the last ends; none is longer than `max_seqlen_q` and
    `max_seqlen_k`. What lies outside of all is not written. The results are (rows, heads, depth of
    v) and (heads, rows). Options, row numbers and masks are those of `flash_attention`, for each
    sequence as a batch.

    Raises:
        KernelError: E1202 when shapes do not fit, E1203, E1204, E1206.
    """
    options = Options(
        causal, scale, window, soft_cap, alibi_slopes, sink, sink_tokens, dropout, seed
    )
    starts, longest = (cu_seqlens_q, cu_seqlens_k), (max_seqlen_q, max_seqlen_k)
    out, lse = forward(packed("flash_attention_varlen", (q, k, v), starts, longest, options))
    return out.finish(), lse.finish()


def flash_attention_varlen_backward(
    grad: A,
    q: A,
    k: A,
    v: A,
    out: A,
    lse: A,
    cu_seqlens_q: A,
    cu_seqlens_k: A,
    max_seqlen_q: int,
    max_seqlen_k: int,
    *,
    causal: bool = False,
    scale: float | None = None,
    window: int | tuple[int, int] | None = None,
    soft_cap: float = 0.0,
    alibi_slopes: A | None = None,
    sink: A | None = None,
    sink_tokens: int = 0,
    dropout: float = 0.0,
    seed: int = 0,
) -> tuple[A, ...]:
    """The gradients by q, k and v, and by the sink where there is one.

    `grad` is that of the first result; `out` and `lse` are the results, the rest as it was there.

    Raises:
        KernelError: E1202 when shapes do not fit, E1203, E1204, E1206.
    """
    options = Options(
        causal, scale, window, soft_cap, alibi_slopes, sink, sink_tokens, dropout, seed
    )
    starts, longest = (cu_seqlens_q, cu_seqlens_k), (max_seqlen_q, max_seqlen_k)
    plan = packed("flash_attention_varlen_backward", (q, k, v), starts, longest, options)
    return backward_of(plan, grad, out, lse)


def _asked(q: Any, options: Mapping[str, Any]) -> dict[str, Any]:
    """The options of a case as the functions take them."""
    found = arguments(q, options)
    for side in "qk":
        lengths = found.pop(f"lengths_{side}")
        found[f"cu_seqlens_{side}"] = filled(q, [0, *accumulate(lengths)], "i32")
        found[f"max_seqlen_{side}"] = max(lengths, default=0)
    return found


def _call(q: Any, k: Any, v: Any, sink: Any = None, **options: Any) -> Any:
    return flash_attention_varlen(q, k, v, sink=sink, **_asked(q, options))


def _backward(
    grads: Sequence[Any], arrays: Sequence[Any], outputs: Sequence[Any], options: Mapping[str, Any]
) -> Sequence[Any]:
    q, k, v, sink = (*arrays, None)[:4]
    return flash_attention_varlen_backward(
        grads[0], q, k, v, *outputs, sink=sink, **_asked(q, options)
    )


def _each(arrays: Sequence[Any], options: Mapping[str, Any], call: Callable[..., Any]) -> list[Any]:
    """`call(rows, columns, dense q, k, v, and sink, options)` for each sequence."""
    (q, k, v), more = arrays[:3], arrays[3:]
    own = {name: value for name, value in options.items() if not name.startswith("lengths")}
    starts = [[0, *accumulate(options[f"lengths_{side}"])] for side in "qk"]
    found: list[Any] = []
    for at, ((a, b), (c, d)) in enumerate(zip(*map(pairwise, starts), strict=True)):
        dense = [x[None, i:j].swapaxes(1, 2) for x, i, j in ((q, a, b), (k, c, d), (v, c, d))]
        mine = {**own, "first_head": at * q.shape[1]}
        if np.ndim(own.get("alibi", ())) == 2:
            mine["alibi"] = own["alibi"][at]
        found.append(call(slice(a, b), slice(c, d), *dense, *more, **mine))
    return found


def _joined(of: Callable[..., Any]) -> Callable[..., Any]:
    """`of`, which gives a result and logarithms of dense arrays, for packed ones."""

    def both(q: Any, k: Any, v: Any, *more: Any, **options: Any) -> Any:
        parts = _each(
            (q, k, v, *more), options, lambda _rows, _cols, *own, **rest: of(*own, **rest)
        )
        empty = np.zeros((1, q.shape[1], 0, v.shape[2])), np.zeros((1, q.shape[1], 0))
        outs, logs = zip(empty, *parts, strict=True)
        return np.concatenate(outs, 2)[0].swapaxes(0, 1), np.concatenate(logs, 2)[0]

    return both


def _gradients(
    grads: Sequence[Any], arrays: Sequence[Any], options: Mapping[str, Any], of: Any = gradients
) -> Sequence[Any]:
    found = [np.zeros(own.shape) for own in arrays]

    def add(rows: slice, cols: slice, *dense: Any, **own: Any) -> None:
        parts = of(grads[0][None, rows].swapaxes(1, 2), *dense, **own)
        for at, (part, place) in enumerate(zip(parts, (rows, cols, cols), strict=False)):
            found[at][place] += part[0].swapaxes(0, 1)
        if len(parts) > 3:
            found[3] += parts[3]

    _each(arrays, options, add)
    return found


def _sizes(
    grads: Sequence[Any], arrays: Sequence[Any], options: Mapping[str, Any], rounding: float
) -> Sequence[Any]:
    def of(grad: Any, *dense: Any, **own: Any) -> Any:
        return sizes_of_gradients([grad], dense, own, rounding)

    return _gradients(grads, arrays, options, of)


def _torch(t: Any, *arrays: Any, **options: Any) -> Any:
    def of(_rows: slice, _cols: slice, *dense: Any, **own: Any) -> Any:
        return torch_attention(t, *dense, **own)[0].swapaxes(0, 1)

    parts = _each(arrays, options, of)
    return (
        t.cat([arrays[0][:0] @ arrays[2][:0].transpose(1, 2)[:0], *parts])
        if not parts
        else t.cat(parts)
    )


def _case(
    lengths_q: Sequence[int], lengths_k: Sequence[int], heads: int, shared: int, dq: int, dv: int,
    *, sink: bool = False, **options: Any,
) -> Case:  # fmt: skip
    rows, columns = sum(lengths_q), sum(lengths_k)
    shapes = ((rows, heads, dq), (columns, shared, dq), (columns, shared, dv))
    lengths = {"lengths_q": tuple(lengths_q), "lengths_k": tuple(lengths_k)}
    return Case((*shapes, (heads,)) if sink else shapes, {**lengths, **options})


def _cost(case: Case, itemsize: int) -> Cost:
    lengths = zip(case.options["lengths_q"], case.options["lengths_k"], strict=True)
    (rows, heads, dq), (columns, shared, _), (_, _, dv) = case.shapes[:3]
    pairs = sum(a * b for a, b in lengths) // (2 if case.options.get("causal") else 1)
    moved = rows * heads * (dq + dv) + columns * shared * (dq + dv)
    return Cost(itemsize * moved, 2 * heads * pairs * (dq + dv))


_MIXED = (15, 1, 0, 100, 33, 7)
_LONG = (4096, 512, 2048, 1536)

SPEC = KernelSpec(
    name="flash_attention_varlen",
    family="attention",
    function=flash_attention_varlen,
    call=_call,
    outputs=2,
    differentiable_outputs=1,
    kernels=(
        attention_forward,
        attention_backward_q,
        attention_backward_kv,
        attention_backward_sink,
    ),
    backward=_backward,
    differentiable=(0, 1, 2, 3),
    gradients=("q", "k", "v", "sink"),
    formula="softmax(scale q k^T + mask) v of each sequence",
    source="Dao 2023, FlashAttention-2",
    reference=_joined(attention),
    backward_reference=_gradients,
    torch_name="torch.nn.attention.varlen.varlen_attn",
    torch=_torch,
    cases=(
        _case((1,), (1,), 2, 1, 16, 16),
        _case((0,), (0,), 2, 1, 16, 16),
        _case((3, 0), (0, 4), 2, 1, 16, 16),
        _case((64, 64), (64, 64), 2, 1, 16, 16),
        _case(_MIXED, _MIXED, 2, 1, 16, 16, causal=True),
        _case(_MIXED, (7, 33, 5, 60, 1, 0), 4, 2, 16, 16, causal=True),
        _case((5, 9), (3, 2), 2, 1, 16, 16, causal=True),
        _case((120, 90), (100, 120), 2, 1, 16, 16, window=(64, 20), sink_tokens=9),
        _case(_MIXED, _MIXED, 4, 2, 40, 24, window=9, sink=True),
        _case((33, 50, 1), (40, 20, 9), 4, 2, 40, 24, sink=True, window=(9, 3), sink_tokens=2),
        _case((15, 40), (33, 40), 4, 2, 40, 24, sink=True, causal=True),
        _case(
            (300, 20, 40), (150, 160, 9), 2, 1, 16, 16, sink=True, causal=True, dropout=0.4,
            seed=5, soft_cap=3.0, alibi=((0.5, 0.25), (0.125, 1.0), (0.25, 0.5)),
        ),
    ),
    tolerance=Tolerance(2, "probabilities rounded to the dtype, sums of products in f32"),
    backward_tolerance=Tolerance(3, "probabilities and their gradients rounded to the dtype"),
    magnitude=_joined(sizes_of_results),
    backward_magnitude=_sizes,
    rounded_terms=True,
    cost=_cost,
    benchmarks=(_case(_LONG, _LONG, 32, 32, 128, 128, causal=True),),
)  # fmt: skip
