"""PyTorch's names of operations that have another name here, for messages.

Read when a name is not found, never before.
"""

from __future__ import annotations

_OPERATIONS = {
    **{name: f"reduce_{name}" for name in ("sum", "mean", "prod", "max", "min")},
    "amax": "reduce_max",
    "amin": "reduce_min",
    "logsumexp": "reduce_log_sum_exp",
    "clamp": "clip",
    "eq": "equal",
    "gt": "greater",
    "ge": "greater_equal",
    "lt": "less",
    "le": "less_equal",
    "mm": "matmul",
    "scaled_dot_product_attention": "flash_attention",
}


def unknown(module: str, name: str) -> AttributeError:
    """The error for a name that a module lacks, with the one that PyTorch's name has here."""
    own = f": it is {_OPERATIONS[name]!r} here" if name in _OPERATIONS else ""
    return AttributeError(f"module {module!r} has no attribute {name!r}{own}")
