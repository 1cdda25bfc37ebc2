"""Kernels of a bundle, launched by name without their source: `bundle["vector_add"][grid](...)`.

Arguments bind and are checked as for a captured kernel; only the instances come from the bundle.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar, cast

from teeny_macros.binding import Array
from teeny_macros.bundle import LOCK
from teeny_macros.capture import SourceFunction
from teeny_macros.codes import E1001
from teeny_macros.instance import Specialization
from teeny_macros.namespace import MISSING, literal_text
from teeny_macros.options import LaunchOptions
from teeny_macros.resolve import INTEGERS, Type
from teeny_macros.signature import Parameter

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from teeny_macros.bundle import Bundle
    from teeny_macros.bundle_file import InstanceRow, KernelRow
    from teeny_macros.declared import Declared
    from teeny_macros.kernel import Grid, Kernel
    from teeny_macros.launch import LaunchSite


def constant_text(value: Any) -> str:
    """A compile-time value as a bundle writes it."""
    if isinstance(value, SourceFunction):
        function = value.captured.function
        return f"<{function.__module__}:{function.__qualname__}>"
    return str(literal_text(value, str))


class BundledInstance:
    """An instance in a bundle, as a launch asks for it: `base` is its identity without hints."""

    __slots__ = ("base", "bundle", "name", "options", "row", "source_map", "specialization")

    def __init__(
        self,
        bundle: Bundle,
        row: KernelRow,
        base: str,
        specialization: Specialization,
        options: LaunchOptions,
    ) -> None:
        self.bundle = bundle
        self.row = row
        self.base = base
        self.name = row.name
        self.specialization = specialization
        self.options = options
        self.source_map = None

    @property
    def definition(self) -> None:
        """There is no source at hand."""
        return

    def written_parameters(self) -> frozenset[str]:
        """The names of the parameters that the kernel may write through."""
        return frozenset(self.row.written)


class BundledKernel:
    """A kernel whose source is not at hand, launched like any other: `kernel[grid](...)`."""

    def __init__(
        self, bundle: Bundle, row: KernelRow, options: LaunchOptions | None = None
    ) -> None:
        self.bundle = bundle
        self.row = row
        self.name = row.name
        self.captured = None
        self.dtypes = ()  # the instances say it
        self.declared: Declared | None = None
        if row.declared:
            from teeny_macros.declared import Declared

            self.declared = Declared.from_json(row.declared)
        self.parameters = tuple(map(_parameter, row.parameters))
        own = _launch_options(row.options) or LaunchOptions()
        self._options = own if options is None else options
        self._site: LaunchSite | None = None
        self._instances: dict[Any, BundledInstance] = {}
        self._bases: dict[Any, list[InstanceRow]] = {}
        for instance in row.instances:
            launch_options = _launch_options(dict(instance.options))
            if launch_options is None:
                continue
            key = (instance.types, instance.constants, launch_options)
            self._bases.setdefault(key, []).append(instance)

    @property
    def instances(self) -> tuple[InstanceRow, ...]:
        """The instances that can be launched."""
        return self.row.instances

    # --- launching -------------------------------------------------------------------------------

    def __getitem__(self, grid: Grid, /) -> Callable[..., None]:
        """A launcher over `grid`: an int, up to three ints, or a function of the constants."""
        return self.on(grid)

    def on(self, grid: Grid, *, stream: Any = None, device: Any = None) -> Callable[..., None]:
        """A launcher over `grid`, on a stream and on a device (`"cuda:1"` or an object)."""
        return self.site().launcher(grid, self._options, stream, device)

    def options(self, **options: Any) -> BundledKernel:
        """The same kernel with other launch options. Raises E1023."""
        given = {name: value for name, value in options.items() if value is not None}
        return BundledKernel(self.bundle, self.row, self._options.changed(given))

    def __call__(self, *_args: Any, **_kwargs: Any) -> NoReturn:
        """Raise E1001: kernels are launched."""
        raise E1001.error(name=self.name).help(
            f"give the number of programs first: `{self.name}[grid](...)`"
        )

    def __repr__(self) -> str:
        return f"<kernel {self.name} of {self.bundle.path}>"

    # --- what a launch asks of a kernel ----------------------------------------------------------

    def site(self) -> LaunchSite:
        """The launches of this kernel."""
        with LOCK:
            if self._site is None:
                from teeny_macros.launch import LaunchSite

                self._site = LaunchSite(self.parameters, kernel=cast("Kernel[...]", self))
            return self._site

    @staticmethod
    def guards() -> tuple[()]:
        """Nothing that could change its meaning."""
        return ()

    @staticmethod
    def specializes(_name: str) -> tuple[bool, bool]:
        """Whether launches look at an argument being 1, and at multiples of 16."""
        return True, True

    @staticmethod
    def hints(
        types: Mapping[str, Type], elements: Mapping[str, Any]
    ) -> tuple[list[str], list[str]]:
        """The names of arguments that are multiples of 16, and of those that are 1."""
        divisible: list[str] = []
        ones: list[str] = []
        for name, type_ in types.items():
            element = elements[name]
            if isinstance(element, Array):
                if element.aligned:
                    divisible.append(name)
            elif type_.dtype in INTEGERS and type_.dtype != "i1":
                if element.one:
                    ones.append(name)
                elif element.divisible:
                    divisible.append(name)
        return divisible, ones

    def instance(
        self,
        types: Mapping[str, Type],
        constants: Mapping[str, Any],
        options: LaunchOptions,
        divisible_by_16: Iterable[str] = (),
        equal_to_1: Iterable[str] = (),
    ) -> BundledInstance:
        """The instance of resolved types and checked values. Raises E1030 if it is not there."""
        ordered = tuple((p.name, constants[p.name]) for p in self.parameters if p.name in constants)
        texts = tuple((name, constant_text(value)) for name, value in ordered)
        named = tuple((name, type_.text) for name, type_ in types.items())
        rows = self._bases.get((named, texts, options))
        specialization = Specialization(tuple(types.items()), ordered)
        if rows is None:
            made = BundledInstance(self.bundle, self.row, "", specialization, options)
            raise self.bundle.miss(made, self.row, ())
        # Hints that no variant rests on would only make the same program anew.
        used = {name for row in rows for name in row.divisible_by_16}
        ones = {name for row in rows for name in row.equal_to_1}
        specialization = specialization._replace(
            divisible_by_16=tuple(name for name in divisible_by_16 if name in used),
            equal_to_1=tuple(name for name in equal_to_1 if name in ones),
        )
        key = (rows[0].base, specialization.divisible_by_16, specialization.equal_to_1)
        with LOCK:
            found = self._instances.get(key)
            if found is None:
                found = self._instances[key] = BundledInstance(
                    self.bundle, self.row, rows[0].base, specialization, options
                )
        return found


def _launch_options(given: Mapping[str, Any]) -> LaunchOptions | None:
    """The options of a bundle, where it lacks one its default; None if it has one unknown here."""
    if not given.keys() <= set(LaunchOptions._fields):
        return None
    return LaunchOptions(**given)


def parameter_json(parameter: Parameter) -> dict[str, Any]:
    """A parameter as a bundle keeps it."""
    default = parameter.default
    text = None if default is MISSING else literal_text(default, str)
    return {
        "name": parameter.name,
        "kind": parameter.kind,
        "dtype": parameter.dtype,
        "variable": parameter.variable is not None,
        "optional": parameter.is_optional,
        "passing": parameter.passing,
        "default": text,
    }


def _parameter(data: Mapping[str, Any]) -> Parameter:
    default: Any = MISSING
    if data["default"] is not None:
        try:
            default = ast.literal_eval(data["default"])
        except (ValueError, SyntaxError):
            default = MISSING  # a name of the kernel language, which is not imported here
    make: Any = TypeVar  # checkers want to see the name
    variable = make(data["dtype"]) if data["variable"] else None
    return Parameter(
        data["name"],
        data["kind"],
        data["dtype"],
        default,
        variable,
        data["optional"],
        data["passing"],
    )
