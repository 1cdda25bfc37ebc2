"""What `@kernel` declares of its arrays, and the check of each launch against it.

Dtypes, devices and read-only arrays are checked for every kernel; contiguity, strides, alignment
and overlap are only where the kernel says that it relies on them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from teeny_macros import devices
from teeny_macros.codes import E0027, E0030, E1034, E1035, E1036, E1037
from teeny_macros.signature import CONST, POINTER, UNTYPED

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from teeny_macros.capture import Captured
    from teeny_macros.protocol import ArrayInfo
    from teeny_macros.signature import Parameter

OPTIONS = ("contiguous", "separate", "alignment", "strides")
_STRIDES_HELP = 'give strides by parameters: `strides={"x_ptr": ("stride_row", 1)}`'


class Declared:
    """The declarations of one kernel.

    Arrays of `contiguous` are row-major without gaps, those of `separate` share no memory with
    another argument, those of `alignment` begin at a multiple of so many bytes, and the axes of
    those of `strides` have these strides, in elements: numbers, or the values of parameters.
    """

    __slots__ = ("alignment", "contiguous", "separate", "strides")

    def __init__(self, options: Mapping[str, Any]) -> None:
        self.contiguous = _names("contiguous", options)
        self.separate = _names("separate", options)
        self.alignment: dict[str, int] = _mapping(
            "alignment",
            options,
            _is_power_of_two,
            'give powers of two by parameters: `alignment={"x_ptr": 64}`',
        )
        self.strides: dict[str, tuple[Any, ...]] = _mapping(
            "strides",
            options,
            _are_strides,
            _STRIDES_HELP,
        )

    def __bool__(self) -> bool:
        return bool(self.contiguous or self.separate or self.alignment or self.strides)

    def to_json(self) -> dict[str, Any]:
        """A JSON object of what is declared; `Declared.from_json` reads it."""
        data: dict[str, Any] = {
            "contiguous": sorted(self.contiguous),
            "separate": sorted(self.separate),
            "alignment": self.alignment,
            "strides": {name: list(parts) for name, parts in self.strides.items()},
        }
        return {option: value for option, value in data.items() if value}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Declared:
        """The declarations that `to_json` wrote."""
        strides = {name: tuple(parts) for name, parts in data.get("strides", {}).items()}
        return cls({**data, "strides": strides})

    def bind(self, captured: Captured, parameters: Sequence[Parameter]) -> None:
        """Raise E0027 for names that are no parameters of the kernel, or of no array."""
        kinds = {parameter.name: parameter.kind for parameter in parameters}
        for option in OPTIONS:
            for name in sorted(getattr(self, option)):
                kind = kinds.get(name)
                if kind not in (POINTER, UNTYPED):
                    raise E0027.at(
                        captured.normal.header,
                        name=name,
                        option=option,
                        what="no parameter" if kind is None else "no pointer",
                    ).help("name parameters that take arrays")
        for parts in self.strides.values():
            for part in parts:
                if isinstance(part, str) and part not in kinds:
                    raise E0027.at(
                        captured.normal.header, name=part, option="strides", what="no parameter"
                    ).help(_STRIDES_HELP)

    def check(self, kernel: str, parameters: Sequence[Parameter], values: Sequence[Any]) -> None:
        """Check the arguments of a launch, one value for each parameter.

        Raises:
            LaunchError: E1034 for a strided array, E1035 for a misaligned one, E1036 for two that
                share memory, E1037 for other strides.
        """
        given = {parameter.name: value for parameter, value in zip(parameters, values, strict=True)}
        arrays: dict[str, ArrayInfo] = {}
        for parameter in parameters:
            if parameter.kind == CONST:
                continue
            info = devices.describe(given[parameter.name])
            if info is not None and info.nbytes:
                arrays[parameter.name] = info
        for name, info in arrays.items():
            self._check_one(kernel, name, info, given)
        if self.separate:
            self._check_overlap(kernel, arrays)

    def _check_one(self, kernel: str, name: str, info: ArrayInfo, given: Mapping[str, Any]) -> None:
        if name in self.contiguous and not info.contiguous:
            raise E1034.error(kernel=kernel, name=name).help(
                f"copy it, or take `{name}` out of `contiguous` and pass its strides"
            )
        wanted = self.alignment.get(name, 1)
        if info.pointer % wanted:
            raise E1035.error(
                kernel=kernel, name=name, wanted=wanted, pointer=hex(info.pointer)
            ).help("copy it: memory of its own begins at a multiple of 256 bytes on a GPU")
        declared = self.strides.get(name)
        if declared is None:
            return
        found = devices.layout(given[name])
        if found is None:
            return
        shape, strides = found
        values = tuple(given[part] if isinstance(part, str) else part for part in declared)
        fits = len(shape) == len(values) and all(
            size <= 1 or step == value
            for size, step, value in zip(shape, strides, values, strict=True)
        )
        if not fits:
            text = ", ".join(
                f"{part} = {value}" if isinstance(part, str) else str(part)
                for part, value in zip(declared, values, strict=True)
            )
            raise E1037.error(
                kernel=kernel, name=name, declared=f"({text})", found=f"{tuple(strides)}"
            ).help("pass the strides of the array, in elements")

    def _check_overlap(self, kernel: str, arrays: Mapping[str, ArrayInfo]) -> None:
        for name in sorted(self.separate & arrays.keys()):
            one = arrays[name]
            for other, two in arrays.items():
                apart = (
                    one.pointer + one.nbytes <= two.pointer
                    or two.pointer + two.nbytes <= one.pointer
                )
                if other != name and not apart:
                    raise E1036.error(kernel=kernel, first=name, second=other).help(
                        "give each an array of its own"
                    )


def _names(option: str, options: Mapping[str, Any]) -> frozenset[str]:
    given: Any = options.get(option, ())
    names = [given] if isinstance(given, str) else given
    try:
        found: frozenset[Any] = frozenset(names)
    except TypeError:
        found = frozenset((None,))
    if not all(isinstance(name, str) for name in found):
        raise E0030.error(option=option, value=f"{given!r}").help(
            f'give names of parameters: `{option}=("x_ptr",)`'
        )
    return found


def _mapping(
    option: str, options: Mapping[str, Any], fits: Callable[[Any], bool], remedy: str
) -> dict[str, Any]:
    given: Any = options.get(option, {})
    rows: Any = given
    if not isinstance(given, dict) or not all(
        isinstance(name, str) and fits(value) for name, value in rows.items()
    ):
        raise E0030.error(option=option, value=f"{given!r}").help(remedy)
    return dict(rows)


def _is_power_of_two(value: Any) -> bool:
    return type(value) is int and value > 0 and not value & (value - 1)


def _are_strides(value: Any) -> bool:
    parts: Any = value
    return isinstance(value, tuple) and all(type(part) in (int, str) for part in parts)
