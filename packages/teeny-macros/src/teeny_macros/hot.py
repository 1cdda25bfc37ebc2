"""Launches that recur: told to the device, which may shorten them, and found again without binding.

`Home` holds what launches of one site with the same options, stream and device share. What a
device must know to launch by itself is a `HotCall`; it offers `shortcut(slow, guards)` to take it,
or does not, and then every launch takes the long way.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol
from weakref import ref

from teeny_macros.descriptor import is_descriptor_class, places_of
from teeny_macros.diagnostics import TeenyError
from teeny_macros.options import LaunchOptions
from teeny_macros.resolve import FLOATS, INTEGERS, python_dtype
from teeny_macros.signature import DESCRIPTOR, POINTER

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from teeny_macros.kernel import Kernel
    from teeny_macros.launch import LaunchSite, Prepared

# A combination is told to its device after so many launches of one shape, then after four times as
# many, since objects that an entry knows by their identity may have changed.
HOT = 16
_TELL = frozenset(HOT * 4**turn for turn in range(8))
_GRIDS = 1024
_OPTION_NAMES = frozenset(LaunchOptions._fields)


class Reliance(NamedTuple):
    """What a kernel declares of one array, to be checked in every launch.

    Arrays without elements are exempt. `alignment` is in bytes. `sized`: it shares no memory with
    any array whose `separate` is set, or with any `sized` one if its own is. `strides` has for each
    axis a place among the program's arguments, or -1, and then the number itself.
    """

    contiguous: bool = False
    alignment: int = 1
    separate: bool = False
    sized: bool = False
    strides: tuple[tuple[int, int], ...] | None = None


class HotArgument(NamedTuple):
    """One argument of a call, in the call's order, and what must be checked of it again.

    `kind` is `array`, `descriptor`, `int`, `float`, `number` (a float or int for a float
    parameter), `bool`, or `same`: the value must be the same object, or an equal int. `at` is its
    place among the program's arguments, of a descriptor the first of its places; -1 when it is
    compiled in. `dtype` is the parameter's. With `wide` an int must not fit i32. `aligned`,
    `divisible` and `one` must hold or must not; None leaves it open. `relied` is what the kernel
    declares of an array.
    """

    kind: str
    at: int
    value: Any
    dtype: str = ""
    wide: bool = False
    aligned: bool | None = None
    divisible: bool | None = None
    one: bool | None = None
    relied: Reliance | None = None


class HotCall(NamedTuple):
    """A call that recurs: its shape, its arguments, and the program it led to.

    `names` are the keywords in the call's order, `values` all arguments of the program in its
    order, `grid_of` makes three sizes of whatever was given as the grid.
    """

    program: Any
    positional: int
    names: tuple[str, ...]
    arguments: tuple[HotArgument, ...]
    values: tuple[Any, ...]
    stream: Any
    grid_of: Callable[[Any], tuple[int, int, int]]


class Shortcut(Protocol):
    """What a device makes of hot calls. Other calls go to the `slow` it was made with."""

    launch: Callable[..., Any]
    """Takes the grid, then the arguments of the call."""

    def add(self, call: HotCall) -> bool: ...
    def over(self, grid: Any, slow: Callable[..., Any]) -> Callable[..., Any] | None: ...


class Home:
    """The launches of a site with the same options, stream and device.

    It does not keep the stream: who launches has it. `gone` is called when the stream is no more.
    """

    __slots__ = ("_counts", "_overs", "_stream", "device", "fast", "kernel", "options", "site")

    def __init__(
        self,
        site: LaunchSite,
        options: LaunchOptions,
        stream: Any,
        device: Any,
        gone: Callable[[Any], object] | None = None,
    ) -> None:
        self.site = site
        self.kernel: Kernel[...] | None = site.kernel
        self.options = options
        self._stream: Callable[[], Any]
        try:
            self._stream = ref(stream, gone)
        except TypeError:  # None, a handle, or an object that offers no weak references
            self._stream = partial(_same, stream)
        self.device = device
        self.fast: Shortcut | None = None
        self._overs: list[dict[Any, Any]] = []
        # How often each shape of call came: what it led to, the number of arguments by position,
        # the names, and the arguments' types.
        self._counts: dict[tuple[object, ...], int] = {}

    def slow(self, grid: Any, /, *args: Any, **kwargs: Any) -> None:
        """Launch the long way, and tell the device about what recurs."""
        try:
            self._launch(grid, args, kwargs)
        except TeenyError as error:
            self.site.locate(error)
            raise

    def _launch(self, grid: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        site = self.site
        if self.kernel is not None:
            site = self.kernel.site()
            if site is not self.site:  # a captured name changed its meaning
                for over in self._overs:
                    over.clear()
                site.launcher(grid, self.options, self._stream(), self.device)(*args, **kwargs)
                return
        options, stream, device = self.options, self._stream(), self.device
        rest = kwargs
        if not _LAUNCH_NAMES.isdisjoint(kwargs):
            rest = dict(kwargs)
            stream = rest.pop("stream", stream)
            device = rest.pop("device", device)
            if not _OPTION_NAMES.isdisjoint(rest):
                given = {name: rest.pop(name) for name in _OPTION_NAMES if name in rest}
                options = options.changed(given)
        found, values = site.launch(grid, args, rest, options, stream, device)
        # An entry knows arrays by their type, so calls with another library's count anew.
        given = (*args, *kwargs.values())
        shape = (found, len(args), tuple(kwargs), *map(type, given))
        if found.described:
            shape = (*shape, *map(_base_type, given))
        count = self._counts[shape] = self._counts.get(shape, 0) + 1
        if count in _TELL:
            self.shorten(found, args, kwargs, values, stream)

    def shorten(
        self,
        found: Prepared,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        values: Sequence[Any],
        stream: Any,
    ) -> None:
        """Tell the device of a call, when both can."""
        if self.fast is None:
            make = getattr(found.program.device, "shortcut", None)
            guards = () if self.kernel is None else self.kernel.guards()
            self.fast = make and make(self.slow, guards)
        if self.fast is not None:
            call = _describe(self.site, found, args, kwargs, values, stream)
            if call is not None:
                self.fast.add(call)

    def install(self, over: dict[Any, Any], grid: Any) -> None:
        """Let `over[grid]` be the short launch over a grid that may come again."""
        if self.fast is None or not isinstance(grid, (int, tuple)):
            return
        launch = self.fast.over(grid, partial(self.slow, grid))
        if launch is not None:
            self._keep(over, grid, launch)

    def over_any(self, over: dict[Any, Any] | None, grid: Any) -> Callable[..., Any]:
        """The short launch over a grid that is a function; nothing is kept for its like alone."""
        assert self.fast is not None
        if over is not None:
            from teeny_macros.kernel import ANY_GRID

            self._keep(over, ANY_GRID, self.fast.launch)
        return partial(self.fast.launch, grid)

    def _keep(self, over: dict[Any, Any], key: Any, launch: Callable[..., Any]) -> None:
        if not any(known is over for known in self._overs):
            self._overs.append(over)
        if len(over) >= _GRIDS:
            over.clear()
        over[key] = launch


def _base_type(value: Any) -> type[Any] | None:
    """The type of the array that a descriptor describes."""
    kind: type[Any] = type(value)  # pyright: ignore[reportUnknownVariableType]
    if not is_descriptor_class(kind):
        return None
    base: type[Any] = type(value.base)  # pyright: ignore[reportUnknownVariableType]
    return base


def _same(value: Any) -> Any:
    return value


_LAUNCH_NAMES = _OPTION_NAMES | {"stream", "device"}


def _describe(
    site: LaunchSite,
    found: Prepared,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    values: Sequence[Any],
    stream: Any,
) -> HotCall | None:
    """A call as its device must check it again; None when it cannot be checked so simply."""
    from teeny_macros.launch import evaluate_grid

    loaded = found.program.loaded
    if loaded is None:
        return None  # an empty grid loads nothing
    run = [values[at] for at in found.run]
    firsts, expanded = places_of(found.program.params, run)
    places = dict(zip(found.run, firsts, strict=True))
    arguments: list[HotArgument] = []
    given = [*enumerate(args), *((site.signature.index.get(n, -1), v) for n, v in kwargs.items())]
    for at, value in given:
        # A keyword that is no parameter is an option of the launch.
        argument = _argument(site, found, at, places.get(at, -1), value)
        if argument is None:
            return None
        arguments.append(argument)
    if site.declared is not None:
        relied = _relied(site, found, places, values)
        if relied is None:
            return None
        arguments = [
            own._replace(relied=relied.get(own.at)) if own.kind == "array" else own
            for own in arguments
        ]

    name, meta = site.name, found.meta

    def grid_of(grid: Any) -> tuple[int, int, int]:
        return evaluate_grid(name, grid, meta)

    return HotCall(
        loaded,
        len(args),
        tuple(kwargs),
        tuple(arguments),
        tuple(expanded),
        stream,
        grid_of,
    )


def _argument(
    site: LaunchSite, found: Prepared, at: int, place: int, value: object
) -> HotArgument | None:
    if place < 0:
        return HotArgument("same", -1, value)
    parameter = site.parameters[at]
    specialization = found.program.instance.specialization
    type_ = dict(specialization.types)[parameter.name]
    dtype = type_.dtype
    if type_.kind == DESCRIPTOR:
        return HotArgument("descriptor", place, value, dtype)
    flexible, alignable = site.specializes(parameter.name)
    divisible = parameter.name in specialization.divisible_by_16 or None
    if divisible is None and flexible and alignable:
        divisible = False
    if type_.kind == POINTER:
        return HotArgument("array", place, value, dtype, aligned=divisible)
    if type(value) is bool:
        return HotArgument("bool", place, value, dtype) if dtype == "i1" else None
    if dtype in FLOATS:
        annotated = parameter.dtype is not None
        if type(value) is float or (type(value) is int and annotated):
            return HotArgument("number" if annotated else "float", place, value, dtype)
        return None
    if type(value) is not int or dtype not in INTEGERS or dtype == "i1":
        return None
    one = parameter.name in specialization.equal_to_1 or (False if flexible else None)
    if one:
        divisible = None
    wide = parameter.dtype is None and dtype == "i64" and python_dtype(value) == "i64"
    if parameter.dtype is None and dtype == "u64":
        return None
    return HotArgument("int", place, value, dtype, wide, divisible=divisible, one=one)


def _relied(
    site: LaunchSite, found: Prepared, places: dict[int, int], values: Sequence[Any]
) -> dict[int, Reliance] | None:
    """What is declared of each array, by places; None when it cannot be checked so simply."""
    declared = site.declared
    assert declared is not None
    types = dict(found.program.instance.specialization.types)
    index = {parameter.name: at for at, parameter in enumerate(site.parameters)}

    def stride(part: int | str) -> tuple[int, Any]:
        if not isinstance(part, str):
            return -1, part
        place = places.get(index[part], -1)
        # The words of floats and truth values are other bits.
        is_whole = place < 0 or (types[part].dtype in INTEGERS and types[part].dtype != "i1")
        return place, values[index[part]] if is_whole else None

    made: dict[int, Reliance] = {}
    for name, type_ in types.items():
        if type_.kind != POINTER:
            continue
        strides = None
        if name in declared.strides:
            strides = tuple(map(stride, declared.strides[name]))
            if any(type(value) is not int for _, value in strides):
                return None
        made[places[index[name]]] = Reliance(
            name in declared.contiguous,
            declared.alignment.get(name, 1),
            name in declared.separate,
            bool(declared.separate),
            strides,
        )
    return made
