"""flash_attention and its backward over dense arrays, and their spec."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any, TypeVar

from teeny_kernels.attention.backward import (
    attention_backward_kv,
    attention_backward_q,
    attention_backward_sink,
)
from teeny_kernels.attention.cases import arguments, sizes_of_gradients
from teeny_kernels.attention.decode import attention_combine, attention_decode
from teeny_kernels.attention.forward import attention_forward
from teeny_kernels.attention.options import Options
from teeny_kernels.attention.plan import dense
from teeny_kernels.attention.reference import (
    attention,
    gradients,
    sizes_of_results,
    torch_attention,
)
from teeny_kernels.attention.run import attend, backward_of
from teeny_kernels.spec import Case, Cost, KernelSpec, Tolerance

A = TypeVar("A")


def flash_attention(
    q: A,
    k: A,
    v: A,
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
    """softmax(scale q k^T + bias) v, and the logarithm of the sum of each row of exponentials.

    `q` is (batch, heads, rows, depth), `k` (batch, heads of k, columns, depth), `v` (batch, heads
    of k, columns, depth of v); `heads` is a multiple of the heads of k (grouped queries). The
    results are (batch, heads, rows, depth of v) and, in f32 (f64 for f64), (batch, heads, rows).

    Row m sees columns around m + columns - rows, its own: all; with `causal` none after it; with
    `window` w the last w of those, with (left, right) as many on either side (-1: all).
    `sink_tokens` first columns are seen from any distance behind. `scale`: 1 / sqrt(depth) if None.
    `soft_cap` c > 0 turns a score s into c tanh(s / c). `alibi_slopes`, f32 and (heads) or (batch,
    heads), then lower it by slope times the distance from the row's own column; they have no
    gradient. `sink` (heads) is a score beside those of each row whose value is zero: exp(sink) is
    in the sum, and in its logarithm. A row that sees nothing gives zeros, and -inf for the
    logarithm.

    `dropout` sets probabilities to zero and divides the others by 1 - dropout. Philox 4x32-10 with
    the key `seed` and the counter (n // 4, m, batch heads + head, 0) gives the bits for columns
    n to n + 3; below dropout 2^32 they drop. The logarithms know nothing of it.

    Raises:
        KernelError: E1202 when shapes do not fit, E1203, E1204, E1206.
    """
    options = Options(
        causal, scale, window, soft_cap, alibi_slopes, sink, sink_tokens, dropout, seed
    )
    return attend("flash_attention", (q, k, v), options)


def flash_attention_backward(
    grad: A,
    q: A,
    k: A,
    v: A,
    out: A,
    lse: A,
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
    plan = dense("flash_attention_backward", (q, k, v), options)
    return backward_of(plan, grad, out, lse)


def _call(q: Any, k: Any, v: Any, sink: Any = None, **options: Any) -> Any:
    return flash_attention(q, k, v, sink=sink, **arguments(q, options))


def _backward(
    grads: Sequence[Any], arrays: Sequence[Any], outputs: Sequence[Any], options: Mapping[str, Any]
) -> Sequence[Any]:
    q, k, v, sink = (*arrays, None)[:4]
    return flash_attention_backward(grads[0], q, k, v, *outputs, sink=sink, **arguments(q, options))


def _gradients(
    grads: Sequence[Any], arrays: Sequence[Any], options: Mapping[str, Any]
) -> Sequence[Any]:
    return gradients(grads[0], *arrays, **options)


def _case(
    batch: int, heads: int, shared: int, sq: int, sk: int, dq: int, dv: int, values: str = "normal",
    sink: bool = False, **options: Any,
) -> Case:  # fmt: skip
    shapes = ((batch, heads, sq, dq), (batch, shared, sk, dq), (batch, shared, sk, dv))
    return Case((*shapes, (heads,)) if sink else shapes, options, values)


def _cost(case: Case, itemsize: int) -> Cost:
    q, k, v = case.shapes[:3]
    flops = 2 * q[0] * q[1] * q[2] * k[2] * (q[3] + v[3])
    if case.options.get("causal"):
        flops //= 2
    return Cost(itemsize * (2 * prod(q) + prod(k) + prod(v)), flops)


SPEC = KernelSpec(
    name="flash_attention",
    family="attention",
    function=flash_attention,
    outputs=2,
    differentiable_outputs=1,
    kernels=(
        attention_forward,
        attention_backward_q,
        attention_backward_kv,
        attention_backward_sink,
        attention_decode,
        attention_combine,
    ),
    call=_call,
    backward=_backward,
    differentiable=(0, 1, 2, 3),
    gradients=("q", "k", "v", "sink"),
    formula="softmax(scale q k^T + mask) v",
    source="Dao 2023, FlashAttention-2",
    reference=attention,
    backward_reference=_gradients,
    torch_name="torch.nn.functional.scaled_dot_product_attention",
    torch=torch_attention,
    cases=(
        _case(1, 2, 1, 1, 1, 16, 16),
        _case(0, 2, 1, 8, 8, 16, 16),
        _case(1, 2, 1, 4, 0, 16, 16),
        _case(2, 2, 1, 33, 33, 16, 16),
        _case(1, 4, 2, 17, 50, 16, 16, causal=True),
        _case(1, 2, 1, 5, 3, 16, 16, causal=True),
        _case(1, 2, 1, 60, 60, 16, 16, causal=True, window=7),
        _case(1, 2, 1, 60, 90, 16, 16, window=(30, 4), sink_tokens=5),
        _case(1, 2, 1, 90, 60, 16, 16, sink=True, causal=True, window=20, sink_tokens=3),
        _case(1, 2, 1, 300, 300, 16, 16, causal=True),
        _case(1, 4, 2, 5, 300, 16, 16, causal=True, window=200),
        _case(1, 2, 1, 140, 260, 16, 16, window=(100, 20), sink_tokens=65),
        # Limits one short of where a block more needs no mask.
        _case(1, 2, 1, 200, 260, 16, 16, window=(186, 2)),
        _case(1, 2, 2, 129, 65, 40, 24),
        _case(1, 1, 1, 20, 30, 128, 128, "wide"),
        _case(1, 1, 1, 9, 11, 256, 256),
        _case(
            2,
            2,
            2,
            40,
            70,
            16,
            16,
            causal=True,
            scale=-0.3,
            soft_cap=2.0,
            alibi=((0.5, 0.25), (0.125, 1.0)),
        ),
        _case(
            2,
            2,
            1,
            33,
            260,
            16,
            16,
            sink=True,
            dropout=0.5,
            seed=1 << 40,
            window=(150, 9),
            soft_cap=3.0,
            alibi=(0.5, 0.25),
        ),
        _case(
            2,
            2,
            1,
            45,
            260,
            16,
            16,
            causal=True,
            dropout=0.3,
            seed=-7,
            alibi=(0.5, 0.25),
            soft_cap=9.0,
        ),
    ),
    tolerance=Tolerance(2, "probabilities rounded to the dtype, sums of products in f32"),
    backward_tolerance=Tolerance(3, "probabilities and their gradients rounded to the dtype"),
    magnitude=sizes_of_results,
    backward_magnitude=sizes_of_gradients,
    rounded_terms=True,
    cost=_cost,
    benchmarks=(
        _case(4, 32, 32, 4096, 4096, 128, 128),
        _case(4, 32, 32, 4096, 4096, 128, 128, causal=True),
    ),
)
