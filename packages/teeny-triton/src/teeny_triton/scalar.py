"""What a dtype class is on the host: a name, a size, and the type of one launch argument."""

from __future__ import annotations

from typing import ClassVar


class Scalar:
    """A value with its dtype: `f32(3)` at a launch is an f32, whatever the parameter says.

    Class attributes: `name` ("f32"), `itemsize` (bytes in memory).
    """

    __slots__ = ("value",)
    name: ClassVar[str] = ""
    itemsize: ClassVar[int] = 0

    def __init_subclass__(cls) -> None:
        cls.name = cls.__name__

    def __init__(self, value: Scalar | float) -> None:
        self.value: float = value.value if isinstance(value, Scalar) else value

    @property
    def dtype(self) -> type[Scalar]:
        """The dtype class."""
        return type(self)

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and self.value == other.value

    def __hash__(self) -> int:
        return hash((type(self), self.value))

    def __repr__(self) -> str:
        return f"{self.name}({self.value!r})"
