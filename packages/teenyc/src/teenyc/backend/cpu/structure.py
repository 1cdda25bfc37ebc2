"""Which records the back end treats by their structure; all others are elementwise, by their `cpu`."""

from __future__ import annotations

from teenyc.ops.control import (
    REDUCE_RETURN,
    SCF_CONDITION,
    SCF_FOR,
    SCF_IF,
    SCF_WHILE,
    SCF_YIELD,
    TT_RETURN,
)
from teenyc.ops.linalg import DOT
from teenyc.ops.memory import LOAD, STORE
from teenyc.ops.reduce import REDUCE
from teenyc.ops.shape import BROADCAST, EXPAND_DIMS, MAKE_RANGE, RESHAPE, SPLAT, TRANS

# Other places of the same elements: they are read through, never computed.
VIEWS = frozenset((SPLAT, EXPAND_DIMS, BROADCAST, TRANS))
TERMINATORS = frozenset((SCF_YIELD, SCF_CONDITION, TT_RETURN, REDUCE_RETURN))
REGIONS = frozenset((SCF_FOR, SCF_IF, SCF_WHILE))
STRUCTURAL = VIEWS | TERMINATORS | REGIONS | {MAKE_RANGE, RESHAPE, LOAD, STORE, REDUCE, DOT}
