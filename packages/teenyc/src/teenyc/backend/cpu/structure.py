"""Which records the back end treats by their structure; all others are elementwise, by their `cpu`."""

from __future__ import annotations

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
    | {UNSPLAT, JOIN, CAT, SPLIT}
)
