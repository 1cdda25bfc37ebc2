"""`KernelInstance`: a kernel with types, compile-time values, hints and launch options fixed.

Immutable, hashable and picklable. Its `id` is the identity that caches go by; the DSL's text is no
part of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, NamedTuple, ParamSpec, cast

from teeny_macros.codes import E1005, E1026
from teeny_macros.entry import entry_point_name, entry_text
from teeny_macros.namespace import MISSING, literal_text
from teeny_macros.resolve import INTEGERS, Type
from teeny_macros.signature import POINTER, SCALAR, Parameter
from teeny_macros.source import SourceMap
from teeny_macros.unit import ENTRY_MODULE, KERNEL_MODULE, Unit, UnitModule

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from teeny_macros.kernel import Grid, Kernel
    from teeny_macros.options import LaunchOptions

P = ParamSpec("P")


class Specialization(NamedTuple):
    """What an instance fixes.

    Types of run-time parameters, compile-time values, and hints by name.
    """

    types: tuple[tuple[str, Type], ...]
    constants: tuple[tuple[str, Any], ...]
    divisible_by_16: tuple[str, ...] = ()
    equal_to_1: tuple[str, ...] = ()


class Foundation(NamedTuple):
    """What instances of one capture share.

    The modules below the entry point, and where they come from.
    """

    name: str
    reference: tuple[str, str]
    parameters: tuple[Parameter, ...]
    modules: tuple[UnitModule, ...]
    source_map: SourceMap
    functions: dict[int, tuple[str, str]]


class KernelInstance(Generic[P]):
    """One instance of a kernel. Made by `kernel.instantiate(...)` and by launches.

    Attributes: `name`, `specialization`, `options`, `entry_point_source`, `source` (the body of the
    unit), `id` (its SHA-256).
    """

    __slots__ = (
        "_foundation",
        "_kernel",
        "_launches",
        "entry_point_source",
        "id",
        "options",
        "source",
        "specialization",
    )

    def __init__(
        self,
        foundation: Foundation,
        specialization: Specialization,
        options: LaunchOptions,
        kernel: Kernel[P] | None,
    ) -> None:
        from hashlib import sha256

        self._foundation = foundation
        self._kernel = kernel
        self._launches: Any = None
        self.specialization = specialization
        self.options = options
        self.entry_point_source = entry_text(
            foundation.name,
            foundation.parameters,
            dict(specialization.types),
            dict(specialization.constants),
            foundation.functions,
            options=options,
            divisible_by_16=specialization.divisible_by_16,
            equal_to_1=specialization.equal_to_1,
        )
        below = "".join(module.text for module in foundation.modules)
        self.source = below + self.entry_point_source
        self.id = sha256(self.source.encode()).hexdigest()

    @property
    def name(self) -> str:
        """The name of the kernel."""
        return self._foundation.name

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """The parameters of the kernel."""
        return self._foundation.parameters

    @property
    def entry_point_name(self) -> str:
        """The symbol of the compiled kernel."""
        return entry_point_name(self._foundation.name)

    @property
    def kernel_source(self) -> str:
        """The normalised text of the kernel, with the imports and literals that it uses."""
        return next(m.text for m in self._foundation.modules if m.name == KERNEL_MODULE)

    @property
    def source_map(self) -> SourceMap:
        """The way from the body's positions to the files of this process."""
        return self._foundation.source_map

    @property
    def definition(self) -> Kernel[P] | None:
        """The kernel if this process has made the instance from it, without any import."""
        return self._kernel

    @property
    def kernel(self) -> Kernel[P]:
        """The kernel; in another process, the one that its module has under its name.

        Raises:
            LaunchError: E1026 when there is none, as for a kernel defined inside a function.
        """
        if self._kernel is None:
            self._kernel = cast("Kernel[P]", _import_kernel(*self._foundation.reference))
        return self._kernel

    @property
    def reference(self) -> tuple[str, str]:
        """The module of the kernel, and its qualified name there."""
        return self._foundation.reference

    def unit(self, dsl_text: str | None, dsl_digest: str) -> Unit:
        """The unit that teenyc compiles, with the DSL's text or only its digest."""
        modules = (*self._foundation.modules, UnitModule(ENTRY_MODULE, self.entry_point_source))
        return Unit(self.name, modules, dsl_digest, dsl_text)

    def checked_unit(
        self, dsl_text: str | None, dsl_digest: str, extents: Mapping[str, str]
    ) -> Unit:
        """The unit with the extents of its arrays, for checks: compiled units are without them.

        Compile-time values that the extents name are put in their place.
        """
        import re

        values = {n: v for n, v in self.specialization.constants if type(v) is int}
        names = re.compile(r"\b(" + "|".join(map(re.escape, values)) + r")\b") if values else None
        rows = tuple(
            (name, names.sub(lambda found: f"({values[found[0]]})", text) if names else text)
            for name, text in extents.items()
        )
        found = self.unit(dsl_text, dsl_digest)
        *below, entry = found.modules
        text = entry.text.replace("@entry_point(", f"@entry_point(extents={rows!r}, ", 1)
        return found._replace(modules=(*below, entry._replace(text=text)))

    def with_hints(
        self, divisible_by_16: Iterable[str] = (), equal_to_1: Iterable[str] = ()
    ) -> KernelInstance[P]:
        """The same instance, which assumes some arguments to be multiples of 16, or to be 1.

        Raises:
            LaunchError: E1005 for a name that is no pointer or integer parameter.
        """
        types = dict(self.specialization.types)
        divisible, ones = set(divisible_by_16), set(equal_to_1)
        for name in sorted(divisible | ones):
            kind = types.get(name)
            fits = kind is not None and (
                (kind.kind == SCALAR and kind.dtype in INTEGERS)
                or (kind.kind == POINTER and name not in ones)
            )
            if not fits:
                raise E1005.error(kernel=self.name, name=name).help(
                    "hints are for run-time integers, and of 16 for pointers as well"
                )
        specialization = self.specialization._replace(
            divisible_by_16=tuple(name for name in types if name in divisible),
            equal_to_1=tuple(name for name in types if name in ones),
        )
        return KernelInstance(self._foundation, specialization, self.options, self._kernel)

    def written_parameters(self) -> frozenset[str]:
        """The names of the parameters that the kernel may write through."""
        from teeny_macros.written import written_parameters

        return written_parameters(self._foundation.modules, self.name)

    def __getitem__(self, grid: Grid, /) -> Callable[P, None]:
        """A launcher over `grid`; compile-time values may be given again, equal, or left out."""
        return self.on(grid)

    def on(self, grid: Grid, *, stream: Any = None, device: Any = None) -> Callable[P, None]:
        """A launcher over `grid` on a stream and device."""
        if self._launches is None:
            from teeny_macros.launch import LaunchSite

            self._launches = LaunchSite(self.parameters, instance=self)
        launcher: Callable[P, None] = self._launches.launcher(grid, self.options, stream, device)
        return launcher

    def __eq__(self, other: object) -> bool:
        return isinstance(other, KernelInstance) and self.id == other.id

    def __hash__(self) -> int:
        return hash(self.id)

    def __repr__(self) -> str:
        types = [f"{name}={type_.text}" for name, type_ in self.specialization.types]
        constants = [f"{name}={value!r}" for name, value in self.specialization.constants]
        return f"<instance of {self.name}({', '.join(types + constants)}) {self.id[:12]}>"

    def __reduce__(self) -> tuple[Any, ...]:
        foundation = self._foundation
        positions = {
            name: foundation.functions[id(value)]
            for name, value in self.specialization.constants
            if id(value) in foundation.functions
        }
        rows = foundation.source_map.to_json()
        plain = [_portable(parameter) for parameter in self.parameters]
        state = (foundation.name, foundation.reference, tuple(plain), foundation.modules, rows)
        return _restore, (state, positions, self.specialization, self.options)


def _portable(parameter: Parameter) -> Parameter:
    """The parameter without objects of its module; a default that is no literal goes."""
    default = parameter.default
    if default is not MISSING and literal_text(default, str) is None:
        default = MISSING
    return parameter._replace(default=default, variable=None)


def _restore(
    state: Sequence[Any],
    positions: dict[str, tuple[str, str]],
    specialization: Specialization,
    options: LaunchOptions,
) -> KernelInstance[...]:
    name, reference, parameters, modules, rows = state
    values = dict(specialization.constants)
    functions = {id(values[key]): place for key, place in positions.items()}
    foundation = Foundation(
        name, reference, parameters, modules, SourceMap.from_json(rows), functions
    )
    return KernelInstance(foundation, specialization, options, None)


def _import_kernel(module: str, name: str) -> Kernel[...]:
    from importlib import import_module

    from teeny_macros.kernel import Kernel

    try:
        found: Any = import_module(module)
        for part in name.split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError):
        found = None
    if not isinstance(found, Kernel):
        raise E1026.error(name=f"{module}.{name}").help(
            "define it at the top level of a module that both processes can import"
        )
    return found
