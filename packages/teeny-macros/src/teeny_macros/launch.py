"""The launch path: arguments to a loaded program, and the program onto a device.

`LaunchSite` keeps, for one kernel or instance, what each combination of types, compile-time values,
hints, options and device led to; a repeated launch costs one look into that dict. Checks that
depend on the combination alone run once, checks of values run every time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from teeny_macros import binding, devices, env
from teeny_macros.binding import Array, Number
from teeny_macros.codes import E1007, E1010, E1012, E1014, E1015, E1016, E1017, E1019, E1020, E1021
from teeny_macros.descriptor import Described, check, expanded
from teeny_macros.hot import Home
from teeny_macros.locks import Lock
from teeny_macros.resolve import (
    FLOATS,
    INTEGERS,
    NONE,
    Given,
    Resolver,
    checked_constant,
    python_dtype,
)
from teeny_macros.signature import CONST, DESCRIPTOR, POINTER, SCALAR
from teeny_macros.tracing import untraced

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from teeny_macros.artifact import Param
    from teeny_macros.diagnostics import TeenyError
    from teeny_macros.instance import KernelInstance
    from teeny_macros.kernel import Kernel
    from teeny_macros.options import LaunchOptions
    from teeny_macros.protocol import Device, Grid
    from teeny_macros.resolve import Type
    from teeny_macros.signature import Parameter

_HOMES = 64


class Launcher:
    """A kernel or instance with its grid: call it with the arguments."""

    __slots__ = ("_grid", "_home", "_over", "_stream")

    def __init__(
        self, home: Home, grid: Any, over: dict[Any, Any] | None, stream: Any = None
    ) -> None:
        self._home = home
        self._grid = grid
        self._stream = stream  # `home` does not keep it
        self._over = over  # where to keep a shorter launcher for this grid

    @untraced
    def __call__(self, *args: Any, **kwargs: Any) -> None:
        """Launch. Also takes `num_warps` and the other options, `stream` and `device`, by name.

        Raises:
            LaunchError: E1003-E1027 for wrong arguments; the device's and compiler's own errors.
        """
        home = self._home
        fast = home.fast
        if fast is None:
            home.slow(self._grid, *args, **kwargs)
            return
        if self._over is not None:
            home.install(self._over, self._grid)
        fast.launch(self._grid, *args, **kwargs)


class _Program:
    """An instance on a device: compiled and loaded when it first has work."""

    __slots__ = ("device", "instance", "loaded", "lock", "params")

    def __init__(self, instance: KernelInstance[...], device: Device) -> None:
        self.instance = instance
        self.device = device
        self.loaded: Any = None
        self.params: tuple[Param, ...] = ()
        self.lock = Lock()

    def load(self) -> Any:
        """The loaded program; many threads may ask, one compiles."""
        with self.lock:
            plan = getattr(self.device, "plan", None)
            if plan is not None:
                self.loaded = plan(self.instance)
            if self.loaded is None:
                artifact = devices.bundled(self.instance, self.device)
                if artifact is None:
                    artifact = devices.compiler()(self.instance, self.device.target)
                if getattr(artifact, "source_map", None) is None:
                    artifact.source_map = self.instance.source_map
                self.params = artifact.metadata.params
                self.loaded = self.device.load(artifact)
        return self.loaded


class Prepared:
    """What one combination of arguments led to."""

    __slots__ = ("described", "meta", "narrow", "pin", "program", "run")

    def __init__(self, program: _Program, names: Sequence[str], pin: Any) -> None:
        specialization = program.instance.specialization
        types = dict(specialization.types)
        self.program = program
        self.described = any(type_.kind == DESCRIPTOR for type_ in types.values())
        self.pin = pin  # keeps alive what the key knows by its `id`
        self.run = tuple(at for at, name in enumerate(names) if name in types)
        self.meta = Meta(
            {**dict(specialization.constants), **program.instance.options._asdict()},
            program.instance.name,
        )
        # Integers to look at in every launch: where they are, and the dtype they must fit.
        self.narrow: tuple[tuple[int, str], ...] = ()


class LaunchSite:
    """All launches of one kernel (whose types come from the arguments) or of one instance."""

    def __init__(
        self,
        parameters: Sequence[Parameter],
        *,
        kernel: Kernel[...] | None = None,
        instance: KernelInstance[...] | None = None,
    ) -> None:
        self.kernel = kernel
        self.instance = instance
        self.name = (kernel or instance).name  # type: ignore[union-attr]
        self.parameters = tuple(parameters)
        self.fixed: dict[str, Any] = {}
        if instance is not None:
            self.fixed = dict(instance.specialization.constants)
            self.parameters = tuple(_fixed(parameter, instance) for parameter in parameters)
        self.signature = binding.CallSignature(self.name, self.parameters)
        definition = kernel if instance is None else instance.definition
        self.declared = None if definition is None else definition.declared
        self.prepared: dict[Any, Prepared] = {}
        self.homes: dict[Any, Home] = {}
        self.programs: dict[tuple[KernelInstance[...], str], _Program] = {}
        # What to do with each argument: 0 compile-time, 1 float, 2 anything else at run time.
        self.actions = tuple(
            0 if parameter.kind == CONST
            else 1 if parameter.kind == SCALAR and parameter.dtype in FLOATS
            else 2
            for parameter in self.parameters
        )  # fmt: skip

    def launcher(
        self,
        grid: Any,
        options: LaunchOptions,
        stream: Any = None,
        device: Any = None,
        over: dict[Any, Any] | None = None,
    ) -> Callable[..., None]:
        """A launcher over `grid`. In `over` it may leave a shorter one for the same grid."""
        key: Any = options
        if stream is not None or device is not None:
            where: Any = (stream,) if type(stream) is int else id(stream)
            key = (options, where, device if isinstance(device, str) else id(device))
        home = self.homes.get(key)
        if home is None:
            home = self.settle(key, options, stream, device)
        if home.fast is not None and stream is None and not isinstance(grid, (int, tuple)):
            return home.over_any(over if callable(grid) else None, grid)
        return Launcher(home, grid, over, stream)

    def settle(self, key: Any, options: LaunchOptions, stream: Any, device: Any) -> Home:
        """The home of launches with a new combination of options, stream and device."""
        if len(self.homes) >= _HOMES:
            self.homes.clear()
        homes = self.homes

        def gone(_stream: Any) -> None:
            homes.pop(key, None)

        return homes.setdefault(key, Home(self, options, stream, device, gone))

    def specializes(self, name: str) -> tuple[bool, bool]:
        """Whether a number being 1, and multiples of 16, choose among programs."""
        return (False, False) if self.kernel is None else self.kernel.specializes(name)

    def launch(
        self,
        grid: Any,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        options: LaunchOptions,
        stream: Any,
        device: Any,
    ) -> tuple[Prepared, list[Any]]:
        """Check, find or compile the program, run it; an empty grid runs nothing.

        Returns what the combination of arguments led to, and one value for each parameter.
        """
        if self.instance is None:
            values = self.signature.bind(args, kwargs)
        else:
            values = self.signature.bind_with(args, kwargs, self.fixed)
        key, place = self.read(values, options, device)
        found = self.prepared.get(key)
        if found is None:
            found = self.prepared.setdefault(key, self.prepare(key, values, place, options, device))
        for at, dtype in found.narrow:
            low, high = INTEGERS[dtype]
            if not low <= values[at] <= high:
                self.reject_number(at, values[at], dtype)
        size = evaluate_grid(self.name, grid, found.meta)
        if self.declared is not None:
            self.declared.check(self.name, self.parameters, values)
        if 0 in size:
            return found, values
        program = found.program
        loaded = program.loaded
        if loaded is None:
            loaded = program.load()
        arguments = [values[at] for at in found.run]
        if found.described and program.params:
            names = [self.parameters[at].name for at in found.run]
            arguments = expanded(program.params, names, arguments)
        program.device.launch(loaded, size, arguments, stream=stream)
        return found, values

    def read(
        self, values: list[Any], options: LaunchOptions, device: Any
    ) -> tuple[Any, str | None]:
        """The combination that a call stands for, and where its arrays are.

        Typed numbers in `values` become plain ones. The tuples are those of `Array` and `Number`,
        plain here because this runs in every launch.
        """
        key: list[Any] = [options, device if isinstance(device, str) else id(device), None]
        place: str | None = None
        for at, action in enumerate(self.actions):
            value = values[at]
            kind: type[Any] = type(value)  # pyright: ignore[reportUnknownVariableType]
            if action == 0:
                key.append((kind, value) if kind is int else binding.constant_key(value))
                continue
            if kind is int and action == 2:
                small = -(2**31) <= value < 2**31
                dtype = "i32" if small else python_dtype(value)
                key.append((dtype, False, value & 15 == 0, value == 1))
                continue
            form = binding.FORMS.get(kind) or binding.form_of(kind)
            if form is _ARRAY:
                info = devices.describe(value)
                if info is None:
                    values[at], info = self.unwrapped(at, value)
                key.append((info.dtype, info.pointer & 15 == 0, info.readonly))
                if place is None:
                    place = info.device
                elif place != info.device:
                    self.reject_places(values, at, place, info.device)
            elif form is _NONE:
                key.append(None)
            elif form is _DESCRIPTOR:
                found, where = self.described(at, value)
                key.append(tuple(found))
                if place is None:
                    place = where
                elif place != where:
                    self.reject_places(values, at, place, where)
            else:
                value, element = binding.number_key(value, form)
                if action == 1 and not element.typed:
                    value, element = float(value), _ANY_FLOAT
                values[at] = value
                key.append(tuple(element))
        key[2] = place
        return tuple(key), place

    def described(self, at: int, value: Any) -> tuple[Described, str]:
        """What a launch reads of a descriptor, and where its array is."""
        base = value.base
        info = devices.describe(base)
        if info is None:
            base, info = self.unwrapped(at, base)
        name = self.parameters[at].name
        block = check(self.name, name, value, info)
        return Described(info.dtype, block, info.readonly), info.device

    def unwrapped(self, at: int, value: Any) -> tuple[Any, Any]:
        """The array inside a `tl.typed(...)` that no device knows, with its dtype."""
        inner, dtype = getattr(value, "array", None), getattr(value, "dtype", None)
        info = devices.describe(inner) if inner is not None else None
        if info is None or not isinstance(dtype, str):
            parameter, found = self.parameters[at], f"a `{type(value).__qualname__}`"
            if parameter.kind == "scalar" and parameter.variable is None:
                raise E1007.error(
                    name=parameter.name,
                    kernel=self.name,
                    wanted=f"`{parameter.dtype}`",
                    found=found,
                ).help("pass a Python number")
            raise E1014.error(name=self.parameters[at].name, kernel=self.name, found=found).help(
                "pass a NumPy array, a device's buffer, or an array with `__dlpack__`"
            )
        return inner, info._replace(dtype=dtype)

    def locate(self, error: TeenyError) -> None:
        """Give a refusal the place of the call, and of the parameter that it is about."""
        from teeny_macros.callsite import locate

        kernel = self.kernel or (self.instance and self.instance.definition)
        locate(error, kernel.captured if kernel else None, self.parameters)

    # --- a combination seen for the first time ---------------------------------------------------

    def prepare(
        self,
        key: tuple[Any, ...],
        values: list[Any],
        place: str | None,
        options: LaunchOptions,
        device: Any,
    ) -> Prepared:
        """Check a combination and make its instance; nothing is compiled yet."""
        chosen = self.choose_device(values, place, device)
        names = [parameter.name for parameter in self.parameters]
        elements = dict(zip(names, map(self.element, self.actions, key[3:]), strict=True))
        by_name = dict(zip(elements, values, strict=True))
        given = {
            parameter.name: _given(elements[parameter.name], by_name[parameter.name])
            for parameter in self.parameters
            if parameter.kind != CONST
        }
        dtypes = () if self.kernel is None else self.kernel.dtypes
        types = Resolver(self.name, self.parameters, dtypes).resolve(given)
        if self.instance is None:
            assert self.kernel is not None
            constants = {
                parameter.name: checked_constant(self.name, parameter, by_name[parameter.name])
                for parameter in self.parameters
                if parameter.kind == CONST
            }
            constants.update((name, None) for name, found in given.items() if found.kind == NONE)
            divisible, ones = self.kernel.hints(types, elements)
            instance = self.kernel.instance(types, constants, options, divisible, ones)
        else:
            instance = self.instance
            self.check_fixed(instance, options, elements)
            self.check_tiles(instance, types)
        self.check_writes(instance, elements)
        program = self.programs.setdefault((instance, chosen.name), _Program(instance, chosen))
        found = Prepared(program, list(elements), device)
        found.narrow = tuple(
            (at, types[name].dtype)
            for at, name in enumerate(elements)
            if isinstance(elements[name], Number)
            and types[name].dtype in INTEGERS
            and types[name].dtype not in ("i1", elements[name].dtype)
        )
        return found

    @staticmethod
    def element(action: int, part: Any) -> Any:
        """A part of a key as the `Array` or `Number` that it is."""
        if action == 0 or part is None:
            return part
        if len(part) == len(Described._fields):
            return Described(*part)
        return Array(*part) if len(part) == len(Array._fields) else Number(*part)

    def choose_device(self, values: list[Any], place: str | None, device: Any) -> Device:
        """The device of the arrays, checked against the one asked for."""
        if device is None:
            if place is None:
                raise E1017.error(kernel=self.name).help(
                    "say it: `kernel.on(grid, device='cuda:0')(...)`, or `device=` in the call"
                )
            return devices.device(env.TEENY_DEVICE.get() if place == devices.HOST else place)
        chosen: Device = devices.named(device)
        wanted = chosen.name if chosen.target.kind == "cuda" else devices.HOST
        if place is not None and place != wanted:
            at = next(at for at, value in enumerate(values) if self.is_array(at, value))
            raise E1015.error(
                name=self.parameters[at].name, kernel=self.name, found=place, wanted=wanted
            ).help(f"copy it there, or launch with `device={place!r}`")
        return chosen

    def is_array(self, at: int, value: Any) -> bool:
        """Whether the argument is a run-time array."""
        kind: type[Any] = type(value)  # pyright: ignore[reportUnknownVariableType]
        return self.actions[at] != 0 and binding.form_of(kind) in (_ARRAY, _DESCRIPTOR)

    def reject_places(self, values: list[Any], at: int, first: str, second: str) -> None:
        """Raise E1016: two arrays lie on two devices."""
        before = next(i for i, value in enumerate(values[:at]) if self.is_array(i, value))
        raise E1016.error(
            kernel=self.name,
            first_name=self.parameters[before].name,
            first=first,
            second_name=self.parameters[at].name,
            second=second,
        ).help("copy one of them to the other's device")

    def reject_number(self, at: int, value: int, dtype: str) -> None:
        """Raise E1010: the number does not fit the dtype of its parameter."""
        name = self.parameters[at].name
        raise E1010.error(name=name, kernel=self.name, value=value, dtype=dtype).help(
            f"annotate it with a wider dtype: `{name}: i64 | int`"
        )

    def check_writes(self, instance: KernelInstance[...], elements: dict[str, Any]) -> None:
        """Raise E1020 for a read-only array that the kernel may write to."""
        readonly = {
            name
            for name, found in elements.items()
            if isinstance(found, (Array, Described)) and found.readonly
        }
        if not readonly:
            return
        for name in sorted(readonly & instance.written_parameters()):
            raise E1020.error(kernel=self.name, name=name).help(
                "pass a writable array; a copy of a broadcast or a view of bytes is one"
            )

    def check_tiles(self, instance: KernelInstance[...], types: dict[str, Type]) -> None:
        """Raise E1012 for a descriptor of other tiles than those of the instance."""
        for name, fixed in instance.specialization.types:
            if fixed.block != types[name].block:
                raise E1012.error(
                    kernel=self.name, name=name, fixed=fixed.text, given=types[name].text
                ).help("describe the array with the tiles of the instance")

    def check_fixed(
        self, instance: KernelInstance[...], options: LaunchOptions, elements: dict[str, Any]
    ) -> None:
        """Check what an instance fixes besides types.

        Raises:
            LaunchError: E1012 for another launch option, E1021 where an argument breaks a hint.
        """
        for name, fixed, given in zip(options._fields, instance.options, options, strict=True):
            if fixed != given:
                raise E1012.error(kernel=self.name, name=name, fixed=fixed, given=given).help(
                    f"instantiate the kernel with it: `instantiate({name}={given!r})`"
                )
        for names, hint in (
            (instance.specialization.divisible_by_16, "a multiple of 16"),
            (instance.specialization.equal_to_1, "1"),
        ):
            for name in names:
                found = elements[name]
                if isinstance(found, Array):
                    holds, what = found.aligned, "not aligned to 16 bytes"
                else:
                    holds, what = (
                        (found.one, "not 1") if hint == "1" else (found.divisible, "no such number")
                    )
                if not holds:
                    raise E1021.error(kernel=self.name, name=name, found=what, hint=hint).help(
                        "use the instance without that hint"
                    )


_ARRAY, _NONE, _DESCRIPTOR = binding.Form.ARRAY, binding.Form.NONE, binding.Form.DESCRIPTOR
_ANY_FLOAT = Number("f32", typed=False)


def _fixed(parameter: Parameter, instance: KernelInstance[...]) -> Parameter:
    """The parameter as an instance has it: of one type, or a compile-time value."""
    types = dict(instance.specialization.types)
    if parameter.name not in types:
        return parameter._replace(kind=CONST, variable=None, dtype=None)
    kind, dtype, _ = types[parameter.name]
    return parameter._replace(kind=kind, dtype=dtype, variable=None)


def _given(element: Any, value: Any) -> Given:
    if element is None:
        return Given(NONE)
    if isinstance(element, Described):
        return Given(DESCRIPTOR, element.dtype, block=element.block)
    if isinstance(element, Array):
        return Given(POINTER, element.dtype, foreign="" if element.dtype else _foreign(value))
    return Given(SCALAR, element.dtype, None if element.typed else value)


def _foreign(array: Any) -> str:
    """The dtype of an array in its library's words; empty for raw bytes, which have none."""
    dtype = getattr(array, "dtype", None)
    if dtype is None or getattr(dtype, "kind", "") == "V":
        return ""
    return str(dtype)


class Meta(dict[str, Any]):
    """The compile-time values as a grid function sees them."""

    __slots__ = ("_kernel",)

    def __init__(self, values: dict[str, Any], kernel: str) -> None:
        super().__init__(values)
        self._kernel = kernel

    def __missing__(self, name: object) -> Any:
        what = f"a function that asks for {name!r}, which is no compile-time value"
        known = ", ".join(f"`{other}`" for other in self)
        raise E1019.error(kernel=self._kernel, what=what).help(f"there are {known}")


def evaluate_grid(kernel: str, grid: Any, meta: dict[str, Any]) -> Grid:
    """The grid as three numbers.

    From an int, up to three ints, or a function of the compile-time values.

    Raises:
        LaunchError: E1019.
    """
    if callable(grid):
        grid = grid(meta if type(meta) is Meta else Meta(meta, kernel))
    sides: Sequence[Any] = grid if type(grid) in (tuple, list) else (grid,)
    if len(sides) == 1 and type(sides[0]) is int and sides[0] >= 0:
        return sides[0], 1, 1
    if not 1 <= len(sides) <= 3:
        raise E1019.error(kernel=kernel, what=f"of {len(sides)} sides").help(
            "give one to three numbers"
        )
    found: list[int] = []
    for side in sides:
        try:
            number: int = side.__index__()
        except AttributeError:
            what = f"{grid!r}, where `{side!r}` is no integer"
            raise E1019.error(kernel=kernel, what=what).help(
                "divide with `//` or `tl.cdiv`, or convert with `int`"
            ) from None
        if number < 0:
            raise E1019.error(kernel=kernel, what=f"{grid!r}, which is negative").help(
                "count the programs of each axis from 0 up"
            )
        found.append(number)
    found += [1] * (3 - len(found))
    return found[0], found[1], found[2]
