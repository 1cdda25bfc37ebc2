"""The operations: everything the compiler knows of each, in one place per operation.

A module holds the records of one family (what an IR operation is) and the handlers of the DSL
functions that lower to them. Importing this package fills both registries. Nothing here imports
NumPy, llvmlite or Triton.
"""

from teenyc.ops import (
    arith,
    atomic,
    casts,
    compare,
    control,
    creation,
    debug,
    descriptor,
    hints,
    indexing,
    layout,
    libdevice,
    linalg,
    mapping,
    math,
    math_exact,
    memory,
    operators,
    program,
    reduce,
    regions,
    scaled,
    scan,
    semantics,
    shape,
    tiles,
)

__all__ = [
    "arith",
    "atomic",
    "casts",
    "compare",
    "control",
    "creation",
    "debug",
    "descriptor",
    "hints",
    "indexing",
    "layout",
    "libdevice",
    "linalg",
    "mapping",
    "math",
    "math_exact",
    "memory",
    "operators",
    "program",
    "reduce",
    "regions",
    "scaled",
    "scan",
    "semantics",
    "shape",
    "tiles",
]
