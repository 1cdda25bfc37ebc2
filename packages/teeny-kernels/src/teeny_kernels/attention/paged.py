"""paged_attention: decoding steps over a cache of keys and values in pages."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np

from teeny_kernels.arrays import operand
from teeny_kernels.attention.cases import arguments, filled
from teeny_kernels.attention.decode import attention_combine, attention_decode
from teeny_kernels.attention.options import Options
from teeny_kernels.attention.plan import paged
from teeny_kernels.attention.reference import attention, sizes_of_results, torch_attention
from teeny_kernels.attention.split import MOST_SPLITS, Cache, decode
from teeny_kernels.codes import E1204
from teeny_kernels.spec import Case, Cost, KernelSpec, Tolerance

A = TypeVar("A")


def paged_attention(
    q: A,
    k_cache: A,
    v_cache: A,
    block_table: A,
    context_lens: A,
    *,
    causal: bool = True,
    scale: float | None = None,
    window: int | tuple[int, int] | None = None,
    soft_cap: float = 0.0,
    alibi_slopes: A | None = None,
    sink: A | None = None,
    sink_tokens: int = 0,
    splits: int | None = None,
) -> tuple[A, A]:
    """`flash_attention` of the last rows of each sequence over keys and values in pages.

    `q` is (batch, heads, rows, depth); `k_cache` (pages, page size, heads of k, depth) and
    `v_cache` (pages, page size, heads of k, depth of v). `block_table`, i32 and (batch, most
    pages), names the pages of each sequence in order; `context_lens`, i32 and (batch), how many
    columns of them are in use, those of the rows of `q` included. The results are (batch, heads,
    rows, depth of v) and, in f32 (f64 for f64), (batch, heads, rows). Options are those of
    `flash_attention`. The columns are worked on in `splits` parts at a time, chosen when None;
    results are the same bits for the same number of parts.

    Raises:
        KernelError: E1202 when shapes do not fit, E1203, E1204, E1206.
    """
    operation = "paged_attention"
    if splits is not None and not 1 <= splits <= MOST_SPLITS:
        raise E1204.error(operation=operation, name="splits", found=f"{splits}").help(
            f"give 1 to {MOST_SPLITS}, or None"
        )
    options = Options(causal, scale, window, soft_cap, alibi_slopes, sink, sink_tokens)
    plan, table, lengths = paged(
        operation, (q, k_cache, v_cache), block_table, context_lens, options
    )
    page_size = operand("k_cache", k_cache).shape[1]
    cache = Cache(table.array, table.shape[1], page_size, lengths.array)
    out, lse = decode(plan, cache, splits)
    return out.finish(), lse.finish()


def _table(options: Mapping[str, Any], pages: int) -> np.ndarray:
    """Pages in no order, of which each sequence has as many as any."""
    most = pages // len(options["lengths"])
    order = np.random.default_rng(3).permutation(pages)
    return order[: most * len(options["lengths"])].reshape(len(options["lengths"]), most)


def _call(q: Any, k: Any, v: Any, sink: Any = None, **options: Any) -> Any:
    found = arguments(q, options)
    lengths = filled(q, found.pop("lengths"), "i32")
    table = filled(q, _table(options, k.shape[0]), "i32")
    return paged_attention(q, k, v, table, lengths, sink=sink, **found)


def _make(rng: np.random.Generator, case: Case) -> Sequence[Any]:
    """Normal values, and NaN in all of the cache that is not in use."""
    q, k, v, *more = (rng.standard_normal(shape) for shape in case.shapes)
    table, size = _table(case.options, k.shape[0]), k.shape[1]
    used = np.zeros(k.shape[:2], bool)
    for pages, length in zip(table, case.options["lengths"], strict=True):
        at = np.arange(int(length))
        used[pages[at // size], at % size] = True
    k[~used], v[~used] = np.nan, np.nan
    return [q, k, v, *more]


def _each(arrays: Sequence[Any], options: Mapping[str, Any], call: Callable[..., Any]) -> list[Any]:
    """`call(dense q, k, v, and sink, options)` for each sequence."""
    (q, k, v), more = arrays[:3], arrays[3:]
    own = {name: value for name, value in options.items() if name not in {"lengths", "splits"}}
    own.setdefault("causal", True)
    found: list[Any] = []
    for at, (pages, length) in enumerate(
        zip(_table(options, k.shape[0]), options["lengths"], strict=True)
    ):
        places = np.arange(int(length))
        page, inner = pages[places // k.shape[1]], places % k.shape[1]
        dense = [cache[page, inner].swapaxes(0, 1)[None] for cache in (k, v)]
        mine = dict(own)
        if np.ndim(own.get("alibi", ())) == 2:
            mine["alibi"] = own["alibi"][at]
        found.append(call(q[at : at + 1], *dense, *more, **mine))
    return found


def _joined(of: Callable[..., Any]) -> Callable[..., Any]:
    def both(*arrays: Any, **options: Any) -> Any:
        outs, logs = zip(*_each(arrays, options, of), strict=True)
        return np.concatenate(outs), np.concatenate(logs)

    return both


def _torch(t: Any, *arrays: Any, **options: Any) -> Any:
    def of(*dense: Any, **own: Any) -> Any:
        return torch_attention(t, *dense, **own)

    return t.cat(_each(arrays, options, of))


def _case(
    lengths: Sequence[int], heads: int, shared: int, rows: int, dq: int, dv: int, *, size: int = 16,
    sink: bool = False, **options: Any,
) -> Case:  # fmt: skip
    batch = len(lengths)
    pages = batch * max(1, -(-max(lengths) // size))
    cache = (pages, size, shared)
    shapes = ((batch, heads, rows, dq), (*cache, dq), (*cache, dv))
    found = {"lengths": tuple(lengths), **options}
    return Case((*shapes, (heads,)) if sink else shapes, found)


def _cost(case: Case, itemsize: int) -> Cost:
    (batch, heads, rows, dq), (*_, shared, _), (*_, dv) = case.shapes[:3]
    columns = sum(case.options["lengths"])
    moved = columns * shared * (dq + dv) + batch * heads * rows * (dq + dv)
    return Cost(itemsize * moved, 2 * columns * heads * rows * (dq + dv))


SPEC = KernelSpec(
    name="paged_attention",
    family="attention",
    function=paged_attention,
    call=_call,
    make=_make,
    outputs=2,
    kernels=(attention_decode, attention_combine),
    formula="softmax(scale q k^T + mask) v over the pages of each sequence",
    source="Kwon et al. 2023, PagedAttention; Dao et al. 2023, Flash-Decoding",
    reference=_joined(attention),
    torch=_torch,
    cases=(
        _case((1,), 2, 1, 1, 16, 16),
        _case((0,), 2, 1, 1, 16, 16),
        _case((5, 300, 64, 0), 2, 1, 1, 16, 16),
        _case((200, 17), 4, 2, 1, 16, 16, splits=7),
        _case((200, 17), 4, 2, 1, 16, 16, splits=1, size=5),
        _case((8, 15), 2, 1, 1, 16, 16, size=3),  # the table ends with the last column
        _case((500, 33), 2, 1, 4, 16, 16, window=70),
        _case((3, 130), 2, 2, 5, 16, 16),
        _case((40, 256), 8, 1, 9, 16, 16, splits=3),
        _case((300, 100), 2, 1, 4, 16, 16, causal=False, window=(50, 1), sink_tokens=20, splits=4),
        _case((100, 40), 4, 2, 1, 40, 24, size=1, sink=True, splits=2),
        _case((100, 0), 4, 2, 3, 40, 24, size=32, sink=True, window=10, sink_tokens=4),
        _case((129, 60), 4, 2, 2, 16, 16, sink=True, soft_cap=3.0, scale=0.5, splits=5,
              alibi=((0.5, 0.25, 0.125, 1.0), (0.25, 0.5, 1.0, 0.125))),
    ),
    tolerance=Tolerance(2, "probabilities rounded to the dtype, sums of products in f32"),
    magnitude=_joined(sizes_of_results),
    rounded_terms=True,
    cost=_cost,
    benchmarks=(
        _case((8192,) * 16, 32, 8, 1, 128, 128),
        _case((32768,), 32, 8, 1, 128, 128),
    ),
)  # fmt: skip
