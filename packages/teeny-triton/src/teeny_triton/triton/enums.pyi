"""Enumerations that operations take.

Generated from the kernel language's text by `python -m stubgen`; never edited.
"""
# fmt: off
# ruff: noqa
# mypy: disable-error-code="empty-body, override, overload-overlap, misc"
# pyright: reportIncompatibleMethodOverride=false, reportOverlappingOverload=false
# pyright: reportInvalidTypeVarUse=false, reportPropertyTypeMismatch=false
from enum import Enum

class Axis(Enum):
    """An axis of the launch grid."""
    X = 0
    Y = 1
    Z = 2

class PropagateNan(Enum):
    """What `maximum` and `minimum` do with a NaN: NONE gives the other operand, ALL the NaN."""
    NONE = 0
    ALL = 65535
