"""Which program of the grid this is."""

from teeny_triton.rules import rule


@rule(axis="Axis | Literal[0, 1, 2]", returns="i32")
def program_id(axis):
    """The number of this program along one axis of the grid, an i32 from 0.

    `axis` is `Axis.X`, `Axis.Y`, `Axis.Z` or 0, 1, 2, known at compile time.
    """
    ...


@rule(axis="Axis | Literal[0, 1, 2]", returns="i32")
def num_programs(axis):
    """How many programs the grid has along one axis, an i32 from 1.

    `axis` is `Axis.X`, `Axis.Y`, `Axis.Z` or 0, 1, 2, known at compile time.
    """
    ...
