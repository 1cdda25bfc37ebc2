"""`@kernel` and `@device`: what they make of a function. The function itself never runs.

`Kernel` finds its instances and launches; how it does is the business of instance.py and launch.py.
"""

from __future__ import annotations

import sys
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, NoReturn, ParamSpec, TypeVar, cast, overload

from teeny_macros.capture import RESERVED, SourceFunction, capture
from teeny_macros.codes import E0027, E0028, E0030, E1001, E1002, E1005, E1011, E1024
from teeny_macros.diagnostics import LaunchError, TeenyError
from teeny_macros.locks import Lock
from teeny_macros.namespace import MISSING
from teeny_macros.options import LaunchOptions

if TYPE_CHECKING:
    import inspect
    from collections.abc import Callable, Iterable, Mapping

    from teeny_macros.capture import Captured
    from teeny_macros.compose import Composition
    from teeny_macros.declared import Declared
    from teeny_macros.instance import KernelInstance
    from teeny_macros.launch import LaunchSite
    from teeny_macros.namespace import Guard
    from teeny_macros.resolve import Type
    from teeny_macros.signature import Parameter

    Axes = tuple[int] | tuple[int, int] | tuple[int, int, int]
    # The values are not all integers; those that a grid computes with are. A function may declare
    # its parameter as any mapping.
    Grid = int | Axes | list[int] | Callable[[dict[str, int]], int | Axes | list[int]]

P = ParamSpec("P")
Fn = TypeVar("Fn", bound="Callable[..., Any]")

DEFAULT_OPTIONS = LaunchOptions()
# Among short launchers, by their grids, the key of the one that takes any grid as an argument.
ANY_GRID = object()


class DeviceFunction(SourceFunction):
    """A helper that kernels call. Checkers see the function itself."""

    def __init__(self, captured: Captured) -> None:
        super().__init__(captured)
        _take_names(self, captured)

    def __call__(self, *_args: Any, **_kwargs: Any) -> NoReturn:
        """Raise E1002: it works only inside a kernel."""
        raise _located(
            E1002.error(name=self.captured.name).help(
                "call it from a function that `@kernel` captures, or test it through a small kernel"
            ),
            self.captured,
        )

    def __repr__(self) -> str:
        return f"<device function {self.captured.function.__qualname__}>"

    def __reduce__(self) -> tuple[Any, ...]:
        function = self.captured.function
        return _find_by_name, (function.__module__, function.__qualname__)


def _take_names(target: Any, captured: Captured) -> None:
    function = captured.function
    target.__name__ = captured.name
    target.__qualname__ = function.__qualname__
    target.__module__ = function.__module__
    target.__doc__ = function.__doc__
    target.__wrapped__ = function


def _find_by_name(module: str, name: str) -> Any:
    from importlib import import_module

    found: Any = import_module(module)
    for part in name.split("."):
        found = getattr(found, part)
    return found


class _Shared:
    """What a kernel and its copies with other options have in common."""

    def __init__(
        self,
        not_specialized: frozenset[str],
        not_aligned: frozenset[str],
        dtypes: tuple[str, ...] = (),
        backward: Kernel[...] | None = None,
        extents: Mapping[str, str] | None = None,
    ) -> None:
        self.extents = dict(extents or {})
        self.not_specialized = not_specialized
        self.not_aligned = not_aligned
        self.dtypes = dtypes
        self.backward = backward
        self.declared: Declared | None = None
        self.lock = Lock()
        self.parameters: tuple[Parameter, ...] | None = None
        self.composition: Composition | None = None
        self.instances: dict[Any, KernelInstance[...]] = {}
        self.site: LaunchSite | None = None
        self.variants: dict[LaunchOptions, Any] = {}


class Kernel(SourceFunction, Generic[P]):
    """A captured kernel. Launched as `kernel[grid](...)`, compiled ahead through `instantiate`."""

    def __init__(self, captured: Captured, shared: _Shared, options: LaunchOptions) -> None:
        super().__init__(captured)
        self._shared = shared
        self._options = options
        self._over: dict[Any, Any] = {}  # short launchers, by their grids
        self._changed: dict[Any, Kernel[P]] = {}  # what `options` gave, by what it was asked for
        _take_names(self, captured)

    @property
    def name(self) -> str:
        """The name in the `def`."""
        return self.captured.name

    @property
    def kernel_source(self) -> str:
        """The normalised text of the function."""
        return self.captured.text

    @property
    def signature(self) -> inspect.Signature:
        """Python's signature of the function."""
        import inspect

        return inspect.signature(self.captured.function)

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """The parameters with what their annotations say. Raises E0024 and E0025."""
        found = self._shared.parameters
        if found is None:
            from teeny_macros.signature import read_parameters

            found = self._shared.parameters = read_parameters(self.captured)
        return found

    @property
    def helpers(self) -> tuple[SourceFunction, ...]:
        """The device functions and kernels that this one uses, in the order of discovery."""
        return self._compose().helpers

    @property
    def dtypes(self) -> tuple[str, ...]:
        """The dtypes that its type variables may stand for; empty when their bounds alone say."""
        return self._shared.dtypes

    @property
    def backward(self) -> Kernel[...] | None:
        """The kernel of the gradient, as `@kernel(backward=...)` named it."""
        return self._shared.backward

    @property
    def extents(self) -> dict[str, str]:
        """How many elements of its arrays a kernel may touch, as text over its parameters.

        From `@kernel(extents=...)` and from `Annotated[Ptr[f32], Extent("n")]`; `teeny check
        --bounds` holds its accesses against them. They are no part of its code or identity.
        """
        annotated = {p.name: p.extent for p in self.parameters if p.extent is not None}
        return {**annotated, **self._shared.extents}

    @property
    def declared(self) -> Declared | None:
        """What the kernel declares of its arrays and each launch is checked against, if anything.

        From `@kernel(contiguous=..., separate=..., alignment=..., strides=...)`.
        """
        return self._shared.declared

    @property
    def launch_options(self) -> LaunchOptions:
        """The launch options that hold where a launch says nothing."""
        return self._options

    # --- launching -------------------------------------------------------------------------------

    def __getitem__(self, grid: Grid, /) -> Callable[P, None]:
        """A launcher over `grid`.

        An int, up to three ints, or a function of the compile-time values.
        """
        over = self._over
        try:
            found: Callable[P, None] | None = over.get(grid)
        except TypeError:  # a list
            found = None
        if found is None and callable(grid):
            short = over.get(ANY_GRID)
            if short is not None:
                return partial(short, grid)
        return found or self.site().launcher(grid, self._options, over=self._over)

    def on(self, grid: Grid, *, stream: Any = None, device: Any = None) -> Callable[P, None]:
        """A launcher over `grid`, on a stream and on a device (`"cuda:1"` or an object)."""
        return self.site().launcher(grid, self._options, stream, device)

    def options(
        self,
        *,
        num_warps: int | None = None,
        num_stages: int | None = None,
        num_ctas: int | None = None,
        maxnreg: int | None = None,
        enable_fp_fusion: bool | None = None,
        launch_pdl: bool | None = None,
        launch_cooperative_grid: bool | None = None,
    ) -> Kernel[P]:
        """The same kernel with other launch options.

        None leaves an option as it is. Raises E1023.
        """
        # The types, too, since True is 1.
        asked = (
            num_warps, num_stages, num_ctas, maxnreg, enable_fp_fusion, launch_pdl,
            launch_cooperative_grid,
        )  # fmt: skip
        key = (asked, *map(type, asked))
        try:
            known = self._changed.get(key)
        except TypeError:  # a value that no option has
            known = None
        if known is not None:
            return known
        given = {
            "num_warps": num_warps,
            "num_stages": num_stages,
            "num_ctas": num_ctas,
            "maxnreg": maxnreg,
            "enable_fp_fusion": enable_fp_fusion,
            "launch_pdl": launch_pdl,
            "launch_cooperative_grid": launch_cooperative_grid,
        }
        changed = {name: value for name, value in given.items() if value is not None}
        options = self._options.changed(changed)
        # One object for each, so that launches through it stay short from the first one on.
        variants: dict[LaunchOptions, Kernel[P]] = self._shared.variants
        if options not in variants:
            variants.setdefault(options, Kernel(self.captured, self._shared, options))
        found = self._changed[key] = variants[options]
        return found

    if not TYPE_CHECKING:  # checkers must see that a kernel cannot be called

        def __call__(self, *_args: Any, **_kwargs: Any) -> NoReturn:
            """Raise E1001: kernels are launched."""
            raise _located(
                E1001.error(name=self.name).help(
                    f"give the number of programs first: `{self.name}[grid](...)`"
                ),
                self.captured,
            )

    def __repr__(self) -> str:
        return f"<kernel {self.captured.function.__qualname__}>"

    def __reduce__(self) -> tuple[Any, ...]:
        function = self.captured.function
        return _find_by_name, (function.__module__, function.__qualname__)

    # --- instances -------------------------------------------------------------------------------

    def instantiate(self, **binds: Any) -> KernelInstance[P]:
        """Fix types (`D=f32`, `x_ptr=Ptr[f32]`), compile-time values and launch options by name.

        Parameters whose annotation is concrete need no type; compile-time values fall back on
        defaults.

        Raises:
            LaunchError: E1005 (no such name), E1011 and E1024 (something missing), E1007-E1009,
                E1013, E1023.
        """
        try:
            return self._instantiate(binds)
        except LaunchError as error:
            from teeny_macros.callsite import locate

            locate(error, self.captured, self.parameters)
            raise

    def _instantiate(self, binds: Mapping[str, Any]) -> KernelInstance[P]:
        from teeny_macros.resolve import Resolver

        resolver = Resolver(self.name, self.parameters, self.dtypes)
        variables = {p.variable.__name__: p.variable for p in self.parameters if p.variable}
        parameters = {p.name: p for p in self.parameters}
        options: dict[str, Any] = {}
        for name, value in binds.items():
            if name in RESERVED:
                options[name] = value
            elif name in variables:
                resolver.bind_variable(name, variables[name], self._dtype(name, value), name)
            elif name not in parameters:
                raise self._unknown_bind(name, [*parameters, *variables])
        constants = self._constants(binds)
        given = {
            p.name: self._type(p, binds[p.name])
            for p in self.parameters
            if p.kind != "const" and p.name in binds
        }
        types = resolver.resolve(given)
        constants.update((name, None) for name in given if name not in types)
        return self.instance(types, constants, self._options.changed(options))

    def _constants(self, binds: Mapping[str, Any]) -> dict[str, Any]:
        from teeny_macros.resolve import checked_constant

        constants: dict[str, Any] = {}
        missing: list[str] = []
        for parameter in self.parameters:
            if parameter.kind == "const":
                value = binds.get(parameter.name, parameter.default)
                if value is MISSING:
                    missing.append(parameter.name)
                else:
                    constants[parameter.name] = checked_constant(self.name, parameter, value)
        if missing:
            names = ", ".join(f"`{name}`" for name in missing)
            raise E1011.error(kernel=self.name, names=names).help(
                f"give it by name: `instantiate({missing[0]}=...)`"
            )
        return constants

    def _dtype(self, name: str, value: Any) -> str:
        from teeny_macros.resolve import given_type

        found = given_type(value)
        if found is None or found.kind != "scalar":
            raise E1024.error(kernel=self.name, names=f"`{name}`").help(
                f"give a dtype: `instantiate({name}=f32)`"
            )
        return found.dtype

    def _type(self, parameter: Parameter, value: Any) -> Any:
        from teeny_macros.resolve import given_type

        found = given_type(value)
        if found is None:
            raise E1024.error(kernel=self.name, names=f"`{parameter.name}`").help(
                f"give a type: `{parameter.name}=Ptr[f32]` for a pointer, "
                f"`{parameter.name}=i32` for a number"
            )
        return found

    def _unknown_bind(self, name: str, known: Iterable[str]) -> Exception:
        from difflib import get_close_matches

        known = [*known]
        close = get_close_matches(name, [*known, *LaunchOptions._fields], n=1)
        names = ", ".join(f"`{other}`" for other in known)
        return E1005.error(kernel=self.name, name=name).help(
            f"did you mean `{close[0]}`?"
            if close
            else f"it has {names}; launch options are {', '.join(LaunchOptions._fields)}"
        )

    def instance(
        self,
        types: Mapping[str, Type],
        constants: Mapping[str, Any],
        options: LaunchOptions,
        divisible_by_16: Iterable[str] = (),
        equal_to_1: Iterable[str] = (),
    ) -> KernelInstance[P]:
        """The instance of resolved types and checked values; equal ones are one object."""
        from teeny_macros.binding import constant_key
        from teeny_macros.instance import Foundation, KernelInstance, Specialization

        ordered = tuple((p.name, constants[p.name]) for p in self.parameters if p.name in constants)
        hints = tuple(divisible_by_16), tuple(equal_to_1)
        specialization = Specialization(tuple(types.items()), ordered, *hints)
        values = tuple((name, constant_key(value)) for name, value in ordered)
        key = (specialization.types, values, *hints, options)
        composition = self._compose(value for _, value in ordered)
        with self._shared.lock:
            found = self._shared.instances.get(key)
            if found is None:
                function = self.captured.function
                foundation = Foundation(
                    self.name,
                    (function.__module__, function.__qualname__),
                    self.parameters,
                    composition.modules,
                    composition.source_map,
                    composition.names,
                )
                found = KernelInstance(foundation, specialization, options, self)
                self._shared.instances[key] = found
        return cast("KernelInstance[P]", found)

    def hints(
        self, types: Mapping[str, Type], elements: Mapping[str, Any]
    ) -> tuple[list[str], list[str]]:
        """The names of arguments that are multiples of 16, and of those that are 1."""
        from teeny_macros.binding import Array
        from teeny_macros.resolve import INTEGERS

        divisible: list[str] = []
        ones: list[str] = []
        for name, type_ in types.items():
            element = elements[name]
            if name in self._shared.not_specialized:
                continue
            if isinstance(element, Array):
                if element.aligned and name not in self._shared.not_aligned:
                    divisible.append(name)
            elif type_.kind == "scalar" and type_.dtype in INTEGERS and type_.dtype != "i1":
                if element.one:
                    ones.append(name)
                elif element.divisible and name not in self._shared.not_aligned:
                    divisible.append(name)
        return divisible, ones

    def _compose(self, values: Iterable[Any] = ()) -> Composition:
        """The text below an entry point, taken anew when a captured name changed its meaning."""
        from teeny_macros.compose import compose

        functions = [value for value in values if isinstance(value, SourceFunction)]
        with self._shared.lock:
            found = self._shared.composition
            if found is None or not found.holds():
                found = self._shared.composition = compose(self)
                self._shared.instances.clear()
                self._shared.site = None
        return compose(self, functions) if functions else found

    def specializes(self, name: str) -> tuple[bool, bool]:
        """Whether launches look at an argument being 1, and at multiples of 16."""
        shared = self._shared
        flexible = name not in shared.not_specialized
        return flexible, flexible and name not in shared.not_aligned

    def guards(self) -> tuple[Guard, ...]:
        """The lookups of captured names on which the compiled text rests."""
        return self._compose().guards

    def site(self) -> LaunchSite:
        """The launches of this kernel as it is now: a new one when a captured name changed."""
        shared = self._shared
        site = shared.site
        composition = shared.composition
        if site is None or composition is None or not composition.holds():
            from teeny_macros.launch import LaunchSite

            with shared.lock:
                self._compose()  # forgets the site when the text changed
                site = shared.site
                if site is None:
                    site = shared.site = LaunchSite(self.parameters, kernel=self)
        return site


@overload
def kernel(function: Callable[P, None], /) -> Kernel[P]: ...
@overload
def kernel(
    *,
    do_not_specialize: Iterable[str] = ...,
    do_not_specialize_on_alignment: Iterable[str] = ...,
    name: str = ...,
    dtypes: Iterable[Any] = ...,
    backward: Kernel[...] | None = ...,
    extents: Mapping[str, str] = ...,
    contiguous: Iterable[str] = ...,
    separate: Iterable[str] = ...,
    alignment: Mapping[str, int] = ...,
    strides: Mapping[str, tuple[int | str, ...]] = ...,
    num_warps: int = ...,
    num_stages: int = ...,
    num_ctas: int = ...,
    maxnreg: int | None = ...,
    enable_fp_fusion: bool = ...,
    launch_pdl: bool = ...,
    launch_cooperative_grid: bool = ...,
) -> Callable[[Callable[P, None]], Kernel[P]]: ...
def kernel(function: Any = None, /, **options: Any) -> Any:
    """Capture a function as a kernel.

    `@kernel`, or `@kernel(do_not_specialize=("n",), num_warps=8)`.

    `do_not_specialize` names parameters whose values and alignment never lead to another
    compilation, `do_not_specialize_on_alignment` those of which only divisibility by 16 does not;
    `name` names the kernel instead of its `def`, for kernels made by a function. `dtypes` are those
    that its type variables may stand for (`dtypes=[f32, f16, bf16]`; others are refused at the
    launch), `backward` is the kernel of its gradient; `Kernel.dtypes` and `Kernel.backward` tell
    them. `extents` says how many elements of each array it may touch, for `teeny check --bounds`:
    `extents={"x_ptr": "n_rows * n_cols"}`. `contiguous` and `separate` name arrays that have to be
    row-major without gaps, and to share no memory with other arguments; `alignment={"x_ptr": 64}`
    says at a multiple of how many bytes an array begins, `strides={"x_ptr": ("stride_row", 1)}`
    which strides its axes have: each launch is checked against them. The other options are the
    defaults of launches.

    Raises:
        CaptureError: E0001-E0009 when the function cannot be captured, E0027, E0028 and E0030 for
            options.
    """
    try:
        if function is not None:
            return make_kernel(function, _scope_of_caller(), {})
        check_options(options)
    except TeenyError as error:
        _located(error, None)
        raise

    def decorate(function: Any) -> Any:
        try:
            return make_kernel(function, _scope_of_caller(), options)
        except TeenyError as error:
            _located(error, None)
            raise

    return decorate


def _located(error: TeenyError, captured: Captured | None) -> TeenyError:
    """`error`, pointing at the user's line where it points nowhere yet."""
    from teeny_macros.callsite import locate

    locate(error, captured, ())
    return error


def _scope_of_caller() -> Mapping[str, Any]:
    """The variables of the scope in which the decorator stands."""
    return sys._getframe(2).f_locals  # noqa: SLF001 - `inspect` would do the same, at a cost


_NAMING_OPTIONS = ("do_not_specialize", "do_not_specialize_on_alignment")
_DECLARED = ("contiguous", "separate", "alignment", "strides")
_KERNEL_OPTIONS = (*_NAMING_OPTIONS, "name", "dtypes", "backward", "extents", *_DECLARED)


def check_options(options: Mapping[str, Any]) -> None:
    """Raise E0028 for an option that `@kernel` does not have."""
    for name in options:
        if name not in _KERNEL_OPTIONS and name not in LaunchOptions._fields:
            known = ", ".join(f"`{other}`" for other in (*_KERNEL_OPTIONS, *LaunchOptions._fields))
            raise E0028.error(name=name).help(f"its options are {known}")


def make_kernel(function: Any, scope: Mapping[str, Any], options: Mapping[str, Any]) -> Kernel[...]:
    """What `@kernel(**options)` makes of a function that stands in a scope of these variables."""
    if isinstance(function, Kernel) and not options:
        return function
    captured = capture(function, scope, is_kernel=True)
    name = options.get("name")
    if name is not None:
        captured = captured.renamed(_checked_name(name))
    flexible, aligned = names = [_names_of(options.get(option, ())) for option in _NAMING_OPTIONS]
    launch = {name: value for name, value in options.items() if name not in _KERNEL_OPTIONS}
    shared = _Shared(flexible, aligned, _checked_dtypes(options), _checked_backward(options))
    shared.extents = _checked_extents(options)
    if not options.keys().isdisjoint(_DECLARED):
        from teeny_macros.declared import Declared

        shared.declared = Declared(options) or None
    found: Kernel[...] = Kernel(captured, shared, DEFAULT_OPTIONS.changed(launch))
    for option, given in zip(_NAMING_OPTIONS, names, strict=True):
        if given:
            _check_specialization(found, option, given)
    if shared.declared is not None:
        shared.declared.bind(captured, found.parameters)
    for name in shared.extents:
        if name not in {p.name for p in found.parameters} and not name.startswith("num_programs("):
            raise E0027.at(
                captured.normal.header, name=name, option="extents", what="no parameter"
            ).help("name parameters, or `num_programs(0)` for the most programs of an axis")
    return found


def _checked_name(name: Any) -> str:
    from keyword import iskeyword

    if not isinstance(name, str) or not name.isidentifier() or iskeyword(name):
        raise E0030.error(option="name", value=f"{name!r}").help(
            'give a Python identifier, such as `name="relu_forward"`'
        )
    return name


def _checked_dtypes(options: Mapping[str, Any]) -> tuple[str, ...]:
    from teeny_macros.resolve import given_type

    names: list[str] = []
    for dtype in options.get("dtypes", ()):
        found = given_type(dtype)
        if found is None or found.kind != "scalar":
            raise E0030.error(option="dtypes", value=f"{dtype!r}").help(
                "give dtypes of the language: `dtypes=[f32, f16]`"
            )
        names.append(found.dtype)
    return tuple(dict.fromkeys(names))


def _checked_backward(options: Mapping[str, Any]) -> Kernel[...] | None:
    backward = options.get("backward")
    if backward is not None and not isinstance(backward, Kernel):
        raise E0030.error(option="backward", value=f"{backward!r}").help(
            "give a kernel, defined above this one"
        )
    return backward


def _checked_extents(options: Mapping[str, Any]) -> dict[str, str]:
    given: Any = options.get("extents", {})
    found: Any = given
    if not isinstance(given, dict) or not all(
        isinstance(part, str) for pair in found.items() for part in pair
    ):
        raise E0030.error(option="extents", value=f"{given!r}").help(
            'give texts by the names of parameters: `extents={"x_ptr": "n_elements"}`'
        )
    return dict(found)


def _names_of(given: Iterable[str] | str) -> frozenset[str]:
    return frozenset({given} if isinstance(given, str) else given)


def _check_specialization(found: Kernel[...], option: str, given: frozenset[str]) -> None:
    from teeny_macros.signature import parameter_span

    kinds = {parameter.name: parameter.kind for parameter in found.parameters}
    for name in sorted(given):
        if name not in kinds:
            raise E0027.at(
                found.captured.normal.header, name=name, option=option, what="no parameter"
            ).help(f"its parameters are {', '.join(f'`{known}`' for known in kinds)}")
        if kinds[name] == "const":
            span = parameter_span(found.captured, name)
            raise E0027.at(
                span,
                "a compile-time value",
                name=name,
                option=option,
                what="a compile-time parameter",
            ).help("every value of it is compiled for itself; take it out of the option")


def device(function: Fn, /) -> Fn:
    """Capture a function as a helper of kernels; for type checkers it stays what it is.

    Raises:
        CaptureError: E0001-E0007 when the function cannot be captured.
    """
    try:
        return make_device(function, _scope_of_caller())  # type: ignore[return-value]
    except TeenyError as error:
        _located(error, None)
        raise


def make_device(function: Any, scope: Mapping[str, Any]) -> DeviceFunction:
    """What `@device` makes of a function that stands in a scope of these variables."""
    return DeviceFunction(capture(function, scope, is_kernel=False))
