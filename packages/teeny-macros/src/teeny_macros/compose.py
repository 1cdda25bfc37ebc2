"""The modules of a unit below its entry point: the kernel, its helpers, and the literals both use.

One module for each scope that helpers come from (`m0`, `m1`... in the order of discovery), then
`kernel`. Names, files and places of the user's modules leave no trace in the text.
"""

from __future__ import annotations

from functools import partial
from types import CellType
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, cast

from teeny_macros.capture import Captured, SourceFunction
from teeny_macros.namespace import (
    MISSING,
    Guard,
    dsl_name,
    find,
    is_builtin,
    is_dsl_module,
    is_namespace,
    literal_text,
    type_variable_text,
)
from teeny_macros.refusal import uncapturable
from teeny_macros.source import Origin, SourceMap
from teeny_macros.texts import ANNOTATION, BODY
from teeny_macros.unit import DSL_MODULE, KERNEL_MODULE, UnitModule

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from teeny_macros.texts import Use

Key = tuple[str, object]


class Composition(NamedTuple):
    """The modules below the entry point, where their lines come from, and what they rest on.

    `names` gives, for each captured function, the module and the name of its `def`.
    """

    modules: tuple[UnitModule, ...]
    source_map: SourceMap
    helpers: tuple[SourceFunction, ...]
    guards: tuple[Guard, ...]
    names: dict[int, tuple[str, str]]

    def holds(self) -> bool:
        """Whether every name still stands for what it stood for."""
        for guard in self.guards:  # noqa: SIM110 - runs in every launch
            if not guard.holds():
                return False
        return True


def compose(kernel: SourceFunction, arguments: Iterable[SourceFunction] = ()) -> Composition:
    """Follow the names of a kernel, and of functions given to it as compile-time arguments.

    Raises:
        CaptureError: E0022 for a name that stands for something a kernel cannot capture.
    """
    composer = _Composer()
    home = composer.place(kernel, _Module(KERNEL_MODULE))
    for argument in arguments:
        if id(argument) not in composer.placed:
            composer.place(argument)
    modules: list[UnitModule] = []
    placed: list[tuple[int, Captured]] = []
    line = 1
    for module in [*composer.modules, home]:
        text, places = module.write()
        placed += [(line + at, captured) for at, captured in places]
        modules.append(UnitModule(module.name, text))
        line += modules[-1].line_count
    return Composition(
        tuple(modules),
        SourceMap(partial(_origins, placed)),
        tuple(helper for helper in composer.order if helper is not kernel),
        tuple(composer.guards.values()),
        {key: (module.name, name) for key, (module, name) in composer.placed.items()},
    )


def _origins(placed: Iterable[tuple[int, Captured]]) -> dict[int, Origin]:
    """Where the lines of functions come from that begin on these lines of the body."""
    return {
        line: Origin(captured.file, pieces[0][1], pieces)
        for first, captured in placed
        for line, pieces in enumerate(captured.normal.pieces, start=first)
        if pieces
    }


class _Module:
    """One module in the making: what each of its names stands for, and its functions."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.keys: dict[str, Key] = {}
        self.dsl_modules: set[str] = set()
        self.dsl: dict[str, str] = {}
        self.helpers: dict[str, tuple[str, str]] = {}
        self.namespaces: dict[str, str] = {}
        self.values: dict[str, str] = {}
        self.functions: list[Captured] = []

    def accepts(self, bindings: Iterable[tuple[str, Key]]) -> bool:
        return all(self.keys.get(name, key) == key for name, key in bindings)

    def need(self, name: str) -> str:
        """The name in this module of an object of the kernel language."""
        key: Key = ("dsl", name)
        local = name
        while self.keys.setdefault(local, key) != key:
            local = f"_{local}"
        self.dsl[local] = name
        return local

    def write(self) -> tuple[str, list[tuple[int, Captured]]]:
        """The text, and the line of it (counted from 0) at which each function begins."""
        lines = [
            f"import {DSL_MODULE}{_renamed(DSL_MODULE, name)}" for name in sorted(self.dsl_modules)
        ]
        if self.dsl:
            lines.append(_import(DSL_MODULE, self.dsl.items()))
        by_module: dict[str, list[tuple[str, str]]] = {}
        for local, (module, name) in self.helpers.items():
            by_module.setdefault(module, []).append((local, name))
        lines += [_import(module, by_module[module]) for module in sorted(by_module)]
        lines += [f"import {self.namespaces[name]} as {name}" for name in sorted(self.namespaces)]
        lines += [f"{name} = {self.values[name]}" for name in sorted(self.values)]
        text = "".join(f"{line}\n" for line in lines)
        at = len(lines)
        places: list[tuple[int, Captured]] = []
        for captured in self.functions:
            places.append((at, captured))
            text += captured.text
            at += len(captured.normal.pieces)
        return text, places


def _renamed(name: str, local: str) -> str:
    return "" if name == local else f" as {local}"


def _import(module: str, names: Iterable[tuple[str, str]]) -> str:
    ordered = sorted((name, name != local, local) for local, name in names)
    parts = ", ".join(f"{name}{_renamed(name, local)}" for name, _, local in ordered)
    return f"from {module} import {parts}"


class _Binding(NamedTuple):
    """An outside name of a function: what it stands for, and the attributes taken from that."""

    use: Use
    value: Any
    key: Key


class _Composer:
    """Places functions and namespaces into modules, in the order in which it meets them."""

    def __init__(self) -> None:
        self.modules: list[_Module] = []
        self.scopes: dict[int, list[_Module]] = {}
        self.placed: dict[int, tuple[_Module, str]] = {}
        self.order: list[SourceFunction] = []
        self.guards: dict[tuple[int, str], Guard] = {}
        self.kept: list[object] = []  # scopes are known by `id`: they must stay alive

    def place(self, function: SourceFunction, module: _Module | None = None) -> _Module:
        """The module of a function, which is put into one with all it uses when it has none yet."""
        if id(function) in self.placed:
            return self.placed[id(function)][0]
        captured = function.captured
        own: Key = ("function", id(function))
        bindings = list(self.bindings(captured))
        wanted = [
            (captured.name, own),
            *((binding.use.chain[0], binding.key) for binding in bindings),
        ]
        if module is None:
            module = self.scope(captured.function.__globals__, wanted)
        self.placed[id(function)] = (module, captured.name)
        self.order.append(function)
        module.keys.update(wanted)
        module.functions.append(captured)
        for binding in bindings:
            self.bind(module, binding, 0, captured)
        return module

    def scope(self, place: Any, wanted: Iterable[tuple[str, Key]]) -> _Module:
        """A module for things of one scope in which their names do not clash."""
        wanted = list(wanted)
        modules = self.scopes.setdefault(id(place), [])
        for module in modules:
            if module.accepts(wanted):
                return module
        module = _Module(f"m{len(self.modules)}")
        self.modules.append(module)
        modules.append(module)
        self.kept.append(place)
        return module

    def bindings(self, captured: Captured) -> Iterator[_Binding]:
        """What the outside names of a function stand for, Python's own names left out."""
        known: dict[str, Key] = {}
        for use in captured.uses:
            name = use.chain[0]
            guard = find(captured, name, in_body=use.role == BODY)
            value = guard.value
            if value is MISSING or is_builtin(name, value):
                if use.role == BODY:
                    place = captured.function.__globals__
                    later = Guard(place, name, place.get(name, MISSING))
                    self.guard(guard if isinstance(guard.place, CellType) else later)
                continue  # the compiler says what is wrong, or knows the built-in
            if use.role == ANNOTATION and not _annotates(value):
                continue
            key = self.key(value, use, 0, captured)
            if known.setdefault(name, key) == key:
                if key[0] != "dsl":
                    self.guard(guard)
                yield _Binding(use, value, key)

    def guard(self, guard: Guard) -> None:
        self.guards[id(guard.place), guard.name] = guard

    def key(self, value: Any, use: Use, depth: int, captured: Captured) -> Key:
        """What makes two things under one name the same."""
        if isinstance(value, SourceFunction):
            return "function", id(value)
        if is_dsl_module(value):
            return "dsl", ""
        if isinstance(value, TypeVar):
            return "value", type_variable_text(value, str)
        name = dsl_name(value)
        if name is not None:
            return "dsl", name
        # A class of named tuples is a value, unless something is taken from it.
        is_parted = isinstance(value, type) and len(use.chain) > depth + 1
        text = None if is_parted else literal_text(value, str)
        if text is not None:
            return "value", text
        if is_namespace(value) and len(use.chain) > depth + 1:
            return "namespace", id(value)
        raise uncapturable(value, use, captured, depth)

    def bind(self, module: _Module, binding: _Binding, depth: int, captured: Captured) -> None:
        """Make `use.chain[depth]` stand for the value in `module`, and its attributes below it."""
        use, value, (kind, key) = binding
        name = use.chain[depth]
        if kind == "dsl":
            if key:
                module.dsl[name] = str(key)
            else:
                module.dsl_modules.add(name)
        elif kind == "function":
            target = self.place(value)
            if (target, value.captured.name) != (module, name):
                module.helpers[name] = (target.name, value.captured.name)
        elif kind == "namespace":
            self.bind_attribute(module, use, depth, value, captured)
        elif isinstance(value, TypeVar):
            module.values[name] = type_variable_text(value, module.need)
        else:
            module.values[name] = str(literal_text(value, module.need))

    def bind_attribute(
        self, module: _Module, use: Use, depth: int, namespace: Any, captured: Captured
    ) -> None:
        name, attribute = use.chain[depth], use.chain[depth + 1]
        place = cast("Mapping[str, Any]", vars(namespace))
        value = getattr(namespace, attribute, MISSING)
        self.guard(Guard(place, attribute, place.get(attribute, MISSING)))
        if value is MISSING:
            return  # the compiler reports an unknown name
        key = self.key(value, use, depth + 1, captured)
        # The globals of a module are also the scope of its functions.
        scope = cast("object", namespace if isinstance(namespace, type) else place)
        target = self.scope(scope, [(attribute, key)])
        target.keys[attribute] = key
        module.namespaces[name] = target.name
        self.bind(target, _Binding(use, value, key), depth + 1, captured)


def _annotates(value: Any) -> bool:
    """Whether a name of an annotation means something to the compiler.

    `Any` or an array's class does not.
    """
    return (
        is_dsl_module(value)
        or isinstance(value, TypeVar)
        or dsl_name(value) is not None
        or literal_text(value, str) is not None
    )
