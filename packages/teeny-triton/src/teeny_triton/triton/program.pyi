"""Which program of the grid this is.

Generated from the kernel language's text by `python -m stubgen`; never edited.
"""
# fmt: off
# ruff: noqa
# mypy: disable-error-code="empty-body, override, overload-overlap, misc"
# pyright: reportIncompatibleMethodOverride=false, reportOverlappingOverload=false
# pyright: reportInvalidTypeVarUse=false, reportPropertyTypeMismatch=false
from typing import Literal

from teeny_triton.triton.dtypes import i32
from teeny_triton.triton.enums import Axis

def program_id(axis: Axis | Literal[0, 1, 2]) -> i32:
    """The number of this program along one axis of the grid, an i32 from 0.

    `axis` is `Axis.X`, `Axis.Y`, `Axis.Z` or 0, 1, 2, known at compile time.
    """

def num_programs(axis: Axis | Literal[0, 1, 2]) -> i32:
    """How many programs the grid has along one axis, an i32 from 1.

    `axis` is `Axis.X`, `Axis.Y`, `Axis.Z` or 0, 1, 2, known at compile time.
    """
