"""Enumerations that operations take."""

from enum import Enum


class Axis(Enum):
    """An axis of the launch grid."""

    X = 0
    Y = 1
    Z = 2


class PropagateNan(Enum):
    """What `maximum` and `minimum` do with a NaN: NONE gives the other operand, ALL the NaN."""

    NONE = 0
    ALL = 0xFFFF
