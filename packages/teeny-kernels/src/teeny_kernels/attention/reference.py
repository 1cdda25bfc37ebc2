"""Attention in NumPy's f64 and in PyTorch, written from its formulas and not from the kernels.

The masks of dropout come from Philox as its authors give it (Salmon et al. 2011, "Parallel random
numbers: as easy as 1, 2, 3"); packed and paged attention are loops over the sequences.
"""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


class Weights(NamedTuple):
    """Probabilities, what dropout multiplies them by, the log of the sums; of the sinks; slopes.

    `k` and `v` are repeated for each head of q; `slope` is how far a soft cap lets a gradient by.
    """

    p: Any
    keep: Any
    lse: Any
    sink: Any
    slope: Any
    k: Any
    v: Any


def seen(sq: int, sk: int, options: Mapping[str, Any]) -> np.ndarray:
    """Which columns each row sees, (sq, sk)."""
    m, n = np.arange(sq)[:, None] + (sk - sq), np.arange(sk)[None, :]
    visible: np.ndarray = np.ones((sq, sk), bool)
    window: tuple[int, int] | int | None = options.get("window")
    if isinstance(window, tuple):
        left, right = window
        visible &= (n >= m - left) | (left == -1)
        visible &= (n <= m + right) | (right == -1)
    elif window is not None:
        visible &= n > m - window
    if options.get("sink_tokens"):
        right = window[1] if isinstance(window, tuple) and window[1] != -1 else sk + sq
        visible |= (n < options["sink_tokens"]) & (n <= m + right)
    if options.get("causal"):
        visible &= n <= m
    return visible


def random_bits(seed: int, counters: Sequence[Any]) -> list[Any]:
    """Philox 4x32-10: four arrays of 32 bits for four arrays of counters."""
    low, word = np.uint64(0xFFFFFFFF), np.uint64(32)
    c = [np.asarray(own, np.uint64) for own in counters]
    keys = [np.uint64(seed & 0xFFFFFFFF), np.uint64(seed >> 32 & 0xFFFFFFFF)]
    for _ in range(10):
        one, two = c[0] * np.uint64(0xD2511F53), c[2] * np.uint64(0xCD9E8D57)
        c = [two >> word ^ c[1] ^ keys[0], two & low, one >> word ^ c[3] ^ keys[1], one & low]
        keys = [
            (key + np.uint64(step)) & low
            for key, step in zip(keys, (0x9E3779B9, 0xBB67AE85), strict=True)
        ]
    return c


def dropped(shape: Sequence[int], options: Mapping[str, Any]) -> Any:
    """What dropout multiplies probabilities of `shape` (batch, heads, rows, columns) by."""
    rate = options.get("dropout", 0.0)
    if not rate:
        return np.ones(shape)
    batch, heads, rows, columns = shape
    place = np.arange(batch * heads).reshape(batch, heads, 1, 1) + options.get("first_head", 0)
    quads, row = np.arange(-(-columns // 4)), np.arange(rows)[:, None]
    full = (batch, heads, rows, len(quads))
    counters = [np.broadcast_to(own, full) for own in (quads, row, place, 0)]
    words = np.stack(random_bits(options.get("seed", 0), counters), axis=-1)
    bits = words.reshape(batch, heads, rows, -1)[..., :columns]
    return (bits >= round(rate * 2**32)) / (1.0 - rate)


def weights(q: Any, k: Any, v: Any, sink: Any = None, **options: Any) -> Weights:
    """All that results and gradients are made of."""
    group = q.shape[1] // k.shape[1]
    k, v = np.repeat(k, group, axis=1), np.repeat(v, group, axis=1)
    s = _scale(q, options) * q @ np.swapaxes(k, -1, -2)
    slope = np.ones_like(s)
    cap = options.get("soft_cap", 0.0)
    if cap:
        slope = 1 - np.tanh(s / cap) ** 2
        s = cap * np.tanh(s / cap)
    s = np.where(seen(s.shape[-2], s.shape[-1], options), s - distances(s.shape, options), -np.inf)
    ends = np.full((1, s.shape[1], 1, 1), -np.inf) if sink is None else sink[None, :, None, None]
    with np.errstate(all="ignore"):
        top = np.maximum(s.max(axis=-1, keepdims=True, initial=-np.inf), ends)
        finite = np.where(top == -np.inf, 0.0, top)
        e, of_sink = np.exp(s - finite), np.exp(ends - finite)
        total = e.sum(axis=-1, keepdims=True) + of_sink
        lse = finite + np.log(total)
        safe = np.where(total == 0, 1.0, total)
    keep = dropped(s.shape, options)
    return Weights(e / safe, keep, lse[..., 0], (of_sink / safe)[..., 0], slope, k, v)


def distances(shape: Sequence[int], options: Mapping[str, Any]) -> Any:
    """What the slopes of the heads take from scores of `shape`."""
    if options.get("alibi") is None:
        return 0.0
    rows, columns = shape[-2:]
    far = np.abs(np.arange(rows)[:, None] + (columns - rows) - np.arange(columns)[None, :])
    slopes = np.asarray(options["alibi"])
    return slopes.reshape(-1, slopes.shape[-1], 1, 1) * far


def attention(q: Any, k: Any, v: Any, sink: Any = None, **options: Any) -> Any:
    """The result and the logarithms of the sums."""
    found = weights(q, k, v, sink, **options)
    return (found.p * found.keep) @ found.v, found.lse


def gradients(
    grad: Any, q: Any, k: Any, v: Any, sink: Any = None, *, sizes: bool = False, **options: Any
) -> list[Any]:
    """The gradients by q, k, v and the sink; with `sizes` the sums of their terms' sizes."""
    w = weights(q, k, v, sink, **options)
    k_all, v_all = w.k, w.v
    if sizes:
        grad, q, k_all, v_all = (np.abs(own) for own in (grad, q, k_all, v_all))
    dp = (grad @ np.swapaxes(v_all, -1, -2)) * w.keep
    along = (dp * w.p).sum(axis=-1, keepdims=True)
    d = w.p * (dp + along if sizes else dp - along) * w.slope * abs(_scale(q, options))
    d = d if sizes else d * np.sign(_scale(q, options))
    shape = (q.shape[0], k.shape[1], q.shape[1] // k.shape[1], k.shape[2])
    dq = d @ k_all
    dk = (np.swapaxes(d, -1, -2) @ q).reshape(*shape, q.shape[-1]).sum(axis=2)
    dv = np.swapaxes(w.p * w.keep, -1, -2) @ grad
    found = [dq, dk, dv.reshape(*shape, v.shape[-1]).sum(axis=2)]
    if sink is not None:
        own = (w.sink * along[..., 0]).sum(axis=(0, 2))
        found.append(own if sizes else -own)
    return found


def _scale(q: Any, options: Mapping[str, Any]) -> float:
    given = options.get("scale")
    return 1 / sqrt(q.shape[-1]) if given is None else float(given)


def spread(arrays: Sequence[Any], options: Mapping[str, Any]) -> float:
    """The largest score: a probability is as exact as its exponent is."""
    q, k = np.abs(arrays[0]), np.abs(arrays[1])
    bias = np.max(distances((q.shape[-2], k.shape[-2]), options), initial=0.0)
    largest = abs(_scale(q, options)) * q.sum(axis=-1).max(initial=0) * k.max(initial=0)
    return float(largest + bias) / 8


def sizes_of_results(q: Any, k: Any, v: Any, sink: Any = None, **options: Any) -> Any:
    """The sizes of the terms of `attention`."""
    w = weights(q, k, v, sink, **options)
    finite = np.where(np.isfinite(w.lse), np.abs(w.lse), 0.0)
    more = 1 + spread((q, k), options)
    return (w.p * w.keep) @ np.abs(w.v) * more, (finite + 1) * more


def torch_attention(t: Any, q: Any, k: Any, v: Any, sink: Any = None, **options: Any) -> Any:
    """PyTorch's own function where it has the options, else softmax and products of PyTorch."""
    shape = (q.shape[0], q.shape[1], q.shape[2], k.shape[2])
    grouped = {"enable_gqa": True} if k.shape[1] != q.shape[1] else {}
    if set(options) <= {"causal"} and sink is None and shape[2] == shape[3] > 0:
        causal = options.get("causal", False)
        return t.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=causal, **grouped)
    plain = not (options.get("soft_cap") or options.get("dropout") or sink is not None)
    place = {"device": q.device, "dtype": q.dtype}
    visible = seen(*shape[2:], options)
    bias = np.where(visible, 0.0 - distances(shape, options), -np.inf)
    mask = t.from_numpy(np.ascontiguousarray(bias)).to(**place)
    if plain and visible.any(axis=-1).all():
        return t.nn.functional.scaled_dot_product_attention(
            q, k, v, attn_mask=mask, scale=options.get("scale"), **grouped
        )
    group = q.shape[1] // k.shape[1]
    k, v = (own.repeat_interleave(group, dim=1) for own in (k, v))
    s = _scale(q, options) * q @ k.transpose(-1, -2)
    if options.get("soft_cap"):
        s = options["soft_cap"] * t.tanh(s / options["soft_cap"])
    lowest = -1e300 if s.dtype == t.float64 else -1e30  # a row of -inf alone would be NaN
    s = t.where(mask == -np.inf, lowest, s + mask)
    if sink is not None:
        s = t.cat([s, sink.view(1, -1, 1, 1).expand(*s.shape[:3], 1)], dim=-1)
    p = t.softmax(s, -1)[..., : shape[3]] * t.from_numpy(visible).to(q.device)
    return (p * t.from_numpy(np.asarray(dropped(shape, options))).to(**place)) @ v
