"""Which records the back end treats by their structure; all others are elementwise (`cpu`).

A record that is neither has no code here, and `refusal` says so where a kernel uses it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from teeny_macros.source import Span
from teenyc.codes import E0803
from teenyc.ops.atomic import ATOMIC_CAS, ATOMIC_LOAD, ATOMIC_RMW, ATOMIC_STORE
from teenyc.ops.control import (
    MAP_RETURN,
    REDUCE_RETURN,
    SCAN_RETURN,
    SCF_CONDITION,
    SCF_FOR,
    SCF_IF,
    SCF_WHILE,
    SCF_YIELD,
    TT_RETURN,
)
from teenyc.ops.debug import ASSERT, PRINT
from teenyc.ops.indexing import GATHER, HISTOGRAM
from teenyc.ops.linalg import DOT
from teenyc.ops.mapping import MAP_ELEMENTWISE
from teenyc.ops.memory import LOAD, STORE
from teenyc.ops.reduce import REDUCE
from teenyc.ops.scan import SCAN
from teenyc.ops.shape import (
    BROADCAST,
    CAT,
    EXPAND_DIMS,
    JOIN,
    MAKE_RANGE,
    RESHAPE,
    SPLAT,
    SPLIT,
    TRANS,
    UNSPLAT,
)

__all__ = [
    "ASSERT",
    "ATOMICS",
    "ATOMIC_CAS",
    "ATOMIC_LOAD",
    "ATOMIC_RMW",
    "ATOMIC_STORE",
    "BROADCAST",
    "CAT",
    "DOT",
    "EXPAND_DIMS",
    "GATHER",
    "HISTOGRAM",
    "JOIN",
    "LAZY",
    "LOAD",
    "MAKE_RANGE",
    "MAP_ELEMENTWISE",
    "MAP_RETURN",
    "PRINT",
    "REDUCE",
    "REDUCE_RETURN",
    "REGIONS",
    "RESHAPE",
    "SCAN",
    "SCAN_RETURN",
    "SCF_CONDITION",
    "SCF_FOR",
    "SCF_IF",
    "SCF_WHILE",
    "SCF_YIELD",
    "SPLAT",
    "SPLIT",
    "STORE",
    "STRUCTURAL",
    "TERMINATORS",
    "TRANS",
    "TT_RETURN",
    "UNSPLAT",
    "VIEWS",
    "refusal",
]

if TYPE_CHECKING:
    from teenyc.ir.core import Operation

# Other places of the same elements: they are read through, never computed.
VIEWS = frozenset((SPLAT, EXPAND_DIMS, BROADCAST, TRANS))
TERMINATORS = frozenset(
    (SCF_YIELD, SCF_CONDITION, TT_RETURN, REDUCE_RETURN, SCAN_RETURN, MAP_RETURN)
)
REGIONS = frozenset((SCF_FOR, SCF_IF, SCF_WHILE))
ATOMICS = frozenset((ATOMIC_RMW, ATOMIC_CAS, ATOMIC_LOAD, ATOMIC_STORE))
# Computed where they are asked for, though they are not elementwise.
LAZY = frozenset((LOAD, GATHER))
STRUCTURAL = (
    VIEWS
    | TERMINATORS
    | REGIONS
    | ATOMICS
    | LAZY
    | {MAKE_RANGE, RESHAPE, STORE, REDUCE, DOT, SCAN, MAP_ELEMENTWISE, HISTOGRAM}
    | {UNSPLAT, JOIN, CAT, SPLIT, ASSERT, PRINT}
)


def refusal(op: Operation) -> Exception:
    """The error of an operation that has no code for a CPU."""
    loc = op.loc
    span = Span.point(loc.file, loc.line, loc.column) if loc.file else None
    return E0803.at(span, op=op.name).help(
        "compile it for a GPU, or write it with other operations"
    )
