"""The options of a call of attention, and the numbers that they become for the kernels."""

from __future__ import annotations

from math import sqrt
from typing import Any, NamedTuple

from teeny_kernels.codes import E1204

NO_LIMIT = 1 << 30


class Options(NamedTuple):
    """The options of a call as its function takes them."""

    causal: bool
    scale: float | None
    window: int | tuple[int, int] | None
    soft_cap: float
    alibi_slopes: Any
    sink: Any
    sink_tokens: int
    dropout: float = 0.0
    seed: int = 0


def numbers_of(operation: str, depth: int, asked: Options) -> dict[str, Any]:
    """Limits and options as the kernels take them. Raises E1204."""
    return {**_limits(operation, asked), **_probabilities(operation, depth, asked)}


def _limits(operation: str, asked: Options) -> dict[str, int]:
    """How far left and right of its own a row sees columns, and how many first ones always."""
    window, sink_tokens = asked.window, asked.sink_tokens
    left = right = NO_LIMIT
    if isinstance(window, tuple):
        sizes = [NO_LIMIT if size == -1 else size for size in window]
        if len(sizes) != 2 or min(sizes) < 0:
            raise E1204.error(operation=operation, name="window", found=f"{window}").help(
                "give (left, right): columns on either side of a row's own, or -1 for all"
            )
        left, right = (min(size, NO_LIMIT) for size in sizes)
    elif window is not None:
        if window < 1:
            raise E1204.error(operation=operation, name="window", found=f"{window}").help(
                "give the number of columns that a row sees, (left, right), or None"
            )
        left = min(window - 1, NO_LIMIT)
    if sink_tokens < 0:
        raise E1204.error(operation=operation, name="sink_tokens", found=f"{sink_tokens}").help(
            "give how many first columns every row sees, or 0"
        )
    return {
        "left": left,
        "right": 0 if asked.causal else right,
        "sinks": min(sink_tokens, NO_LIMIT),
    }


def _probabilities(operation: str, depth: int, asked: Options) -> dict[str, Any]:
    """How scores become probabilities."""
    soft_cap, dropout = asked.soft_cap, asked.dropout
    if not soft_cap >= 0.0:
        raise E1204.error(operation=operation, name="soft_cap", found=f"{soft_cap}").help(
            "give a positive number, or 0 for none"
        )
    if not 0.0 <= dropout < 1.0:
        raise E1204.error(operation=operation, name="dropout", found=f"{dropout}").help(
            "give the probability of a zero, at least 0 and less than 1"
        )
    factor = 1.0 / sqrt(depth) if asked.scale is None else float(asked.scale)
    plain = factor > 0.0 and not soft_cap and asked.alibi_slopes is None
    log2e = 1.4426950408889634
    return {
        "scale": factor,
        "unit": log2e * factor if plain else log2e,
        "cap": float(soft_cap),
        "seed": _signed(asked.seed),
        "threshold": threshold_of(dropout),
        "rescale": 1.0 / (1.0 - dropout),
        "PLAIN": plain,
        "CAP": soft_cap > 0.0,
        "DROPOUT": dropout > 0.0,
    }


def threshold_of(dropout: float) -> int:
    """Random 32 bits below this are dropped."""
    return min(round(dropout * 2.0**32), 2**32 - 1)


def _signed(seed: int) -> int:
    """The 64 bits of a seed as a signed number."""
    seed &= 2**64 - 1
    return seed - 2**64 if seed >= 2**63 else seed
