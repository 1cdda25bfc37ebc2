"""What names stand for: the modules of a unit, the DSL's text, the variables of a call."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING, Any, NamedTuple

from teeny_macros.unit import DSL_MODULE
from teenyc.codes import E0103, E0213
from teenyc.frontend.parser import Source, parse_text
from teenyc.frontend.signature import Function
from teenyc.types import DTYPES
from teenyc.values import EnumMember

if TYPE_CHECKING:
    from collections.abc import Iterator

    from teeny_macros.source import Span
    from teeny_macros.unit import Unit
    from teenyc.ir.core import Location

DSL_FILE = f"{DSL_MODULE}.py"
MISSING = object()


class Poison:
    """The value of a variable whose assignment failed: using it is not reported again."""


POISON = Poison()


class Undefined(NamedTuple):
    """A variable without a value on some path: where it is assigned, and the remedy (`rule`)."""

    name: str
    place: Span | None
    rule: str


class Unevaluated(NamedTuple):
    """A compile-time expression of a module that nobody has asked for yet."""

    expression: ast.expr
    scope: Scope
    source: Source


class Symbol:
    """A name that is no data; plain classes, since named tuples would slow the import."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name


class Namespace(Symbol):
    """The DSL module, or a dotted part of it such as `tl.math`."""


class UnitNamespace(Symbol):
    """A module of the unit under a name of its own: a captured module or class, for its parts."""

    __slots__ = ("scope",)

    def __init__(self, name: str, scope: ModuleScope) -> None:
        super().__init__(name)
        self.scope = scope


class Class(Symbol):
    """A class that is only good for annotations and `isinstance`: `Tensor`, `Ptr`, `int`."""


class Builtin(Symbol):
    """One of Python's own functions."""


class TypeVariable(Symbol):
    """A captured `TypeVar`: it has a meaning in annotations alone."""


class EnumClass(Symbol):
    """An enumeration of the DSL."""

    __slots__ = ("members",)

    def __init__(self, name: str, members: dict[str, int | str]) -> None:
        super().__init__(name)
        self.members = members

    def member(self, name: str) -> EnumMember | None:
        """The member `name`, if there is one."""
        return EnumMember(self.name, name, self.members[name]) if name in self.members else None


class BoundMethod:
    """A method of a tensor or scalar; `owner` is the value left of the dot."""

    __slots__ = ("function", "owner")

    def __init__(self, owner: Any, function: Function) -> None:
        self.owner = owner
        self.function = function


class DTypeMethod(Symbol):
    """A question to a dtype, such as `x.dtype.is_floating()`."""

    __slots__ = ("owner",)

    def __init__(self, owner: Any, name: str) -> None:
        super().__init__(name)
        self.owner = owner


class DslScope:
    """The flat namespace of the DSL's text: statements are indexed, and parsed when used."""

    _STATEMENT = re.compile(
        r"^(?:def[ ]+(?P<def>\w+)|class[ ]+(?P<class>\w+)"
        r"|(?P<name>\w+)[ ]*(?::[^=\n]+)?=(?!=)|[^\s)\]}#])",
        re.MULTILINE,
    )
    _METHOD = re.compile(
        r"^    (?:def[ ]+(?P<def>\w+)|(?P<property>@property)|[^\s)\]}#])", re.MULTILINE
    )

    def __init__(self, text: str) -> None:
        self.text = text
        self._index: dict[str, tuple[str, int, int]] = {}
        self._found: dict[str, Any] = {}
        self._methods: dict[str, dict[str, tuple[int, int, bool]]] = {}
        self._method_cache: dict[tuple[str, str], Function] = {}
        previous: tuple[str, str, int] | None = None
        for match in self._STATEMENT.finditer(text):
            start = match.start()
            if previous is not None:
                self._index[previous[1]] = (previous[0], previous[2], start)
            kind = match.lastgroup
            previous = None if kind is None else (kind, match[kind], start)
        if previous is not None:
            self._index[previous[1]] = (previous[0], previous[2], len(text))

    def names(self) -> list[str]:
        """All names, for suggestions."""
        return [*self._index, *DTYPES]

    def lookup(self, name: str) -> Any:
        """What `name` stands for, or MISSING."""
        found = self._found.get(name, MISSING)
        if found is MISSING:
            found = self._found[name] = self._resolve(name)
        return found

    def _resolve(self, name: str) -> Any:
        if name in DTYPES:
            return DTYPES[name]
        entry = self._index.get(name)
        if entry is None:
            return MISSING
        kind, start, end = entry
        if kind == "class":
            return self._class(name, start, end)
        source, (stmt, *_) = self._parse(start, end)
        if isinstance(stmt, ast.FunctionDef):
            return Function(stmt, source, self, is_dsl=True)
        value = getattr(stmt, "value", None)
        return MISSING if value is None else Unevaluated(value, self, source)

    def _parse(self, start: int, end: int) -> tuple[Source, list[ast.stmt]]:
        text = self.text[start:end]
        source = Source(DSL_FILE, text, self.text.count("\n", 0, start) + 1)
        return source, parse_text(source, text)

    def _class(self, name: str, start: int, end: int) -> Any:
        if not re.match(r"class \w+\((?:\w+\.)?(?:Int|Str)?Enum\)", self.text[start:end]):
            return Class(name)
        members: dict[str, int | str] = {}
        _, (stmt, *_) = self._parse(start, end)
        assert isinstance(stmt, ast.ClassDef)
        for row in stmt.body:
            if isinstance(row, ast.Assign) and isinstance(row.targets[0], ast.Name):
                members[row.targets[0].id] = ast.literal_eval(row.value)
        return EnumClass(name, members)

    def comes_later(self, name: str) -> bool:
        """Whether the text says that a later version has this name."""
        entry = self._index.get("_NOT_SUPPORTED_YET")
        if entry is None:
            return False
        _, (stmt, *_) = self._parse(entry[1], entry[2])
        assert isinstance(stmt, ast.Assign)
        return name in ast.literal_eval(stmt.value)

    def method(self, name: str, owner: str = "Tensor") -> Function | None:
        """The method or property `name` of a class of the DSL."""
        found = self._method_cache.get((owner, name))
        if found is None and (entry := self.methods(owner).get(name)) is not None:
            start, end, is_property = entry
            body = self.text[start:end]
            # The method is parsed where it stands: `if 1:` takes the place of its class.
            source = Source(DSL_FILE, "\n" + body, self.text.count("\n", 0, start))
            (outer,) = parse_text(source, "if 1:\n" + body)
            assert isinstance(outer, ast.If)
            node = outer.body[0]
            assert isinstance(node, ast.FunctionDef)
            found = Function(node, source, self, is_dsl=True)
            found.is_property = is_property
            self._method_cache[owner, name] = found
        return found

    def methods(self, owner: str = "Tensor") -> dict[str, tuple[int, int, bool]]:
        """Start, end and whether it is a property, of each method of a class."""
        found = self._methods.get(owner)
        if found is None:
            found = self._methods[owner] = {}
            entry = self._index.get(owner)
            if entry is not None:
                self._find_methods(found, entry[1], entry[2])
        return found

    def _find_methods(self, found: dict[str, tuple[int, int, bool]], begin: int, stop: int) -> None:
        is_property = False
        previous: tuple[str, int, bool] | None = None
        for match in self._METHOD.finditer(self.text, begin, stop):
            if previous is not None:
                found[previous[0]] = (previous[1], match.start(), previous[2])
                previous = None
            if match["property"]:
                is_property = True
            elif match["def"]:
                previous = (match["def"], match.start(), is_property)
                is_property = False
        if previous is not None:
            found[previous[0]] = (previous[1], stop, previous[2])


class ModuleScope:
    """One module of the body: imports, helpers, captured literals and type variables."""

    def __init__(self, library: Library, name: str, text: str, first_line: int) -> None:
        self.library = library
        self.source = Source(library.unit.file, text, first_line)
        self.bindings: dict[str, Any] = {}
        self._found: dict[str, Any] = {}
        self.statements = parse_text(self.source, text)
        for stmt in self.statements:
            self._bind(stmt)

    def _bind(self, stmt: ast.stmt) -> None:
        if isinstance(stmt, ast.FunctionDef):
            self.bindings[stmt.name] = stmt
        elif isinstance(stmt, ast.Import):
            for alias in stmt.names:
                self.bindings[alias.asname or alias.name.partition(".")[0]] = alias
        elif isinstance(stmt, ast.ImportFrom):
            for alias in stmt.names:
                self.bindings[alias.asname or alias.name] = (stmt.module or "", alias)
        elif isinstance(stmt, ast.Assign) and isinstance(stmt.targets[0], ast.Name):
            self.bindings[stmt.targets[0].id] = stmt.value
        elif isinstance(stmt, ast.AnnAssign) and isinstance(stmt.target, ast.Name) and stmt.value:
            self.bindings[stmt.target.id] = stmt.value
        elif isinstance(stmt, ast.AsyncFunctionDef):
            raise E0103.at(self.source.span(stmt), what="an async function")

    def names(self) -> list[str]:
        """All names, for suggestions."""
        return list(self.bindings)

    def lookup(self, name: str) -> Any:
        """What `name` stands for, or MISSING."""
        found = self._found.get(name, MISSING)
        if found is MISSING and name in self.bindings:
            found = self._found[name] = self._resolve(name, self.bindings[name])
        return found

    def _resolve(self, name: str, binding: Any) -> Any:
        if isinstance(binding, ast.FunctionDef):
            return Function(binding, self.source, self, is_dsl=False)
        if isinstance(binding, ast.alias):
            if binding.name.partition(".")[0] == DSL_MODULE:
                return Namespace(DSL_MODULE)
            scope = self.library.scope(binding.name)
            if scope is not None:
                return UnitNamespace(name, scope)
            raise E0213.at(self.source.span(binding), module=binding.name)
        if isinstance(binding, tuple):
            module, alias = binding
            return self._import(module, alias)
        assert isinstance(binding, ast.expr)
        if isinstance(binding, ast.Call) and _last_name(binding.func) == "TypeVar":
            return TypeVariable(name)
        return Unevaluated(binding, self, self.source)

    def _import(self, module: str, alias: ast.alias) -> Any:
        if module.partition(".")[0] == DSL_MODULE:
            return dsl_attribute(self.library, alias.name)
        scope = self.library.scope(module)
        if scope is None:
            raise E0213.at(self.source.span(alias), module=module)
        return scope.lookup(alias.name)


def _last_name(node: ast.expr) -> str:
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


_TYPES_OF_TRITON = {"tensor": "Tensor", "tensor_descriptor": "TensorDescriptor"}

# `tl.math`, `tl.extra.libdevice` and `tl.extra.cuda.libdevice` are views of the one flat module.
_PARTS = frozenset({"math", "triton", "extra", "cuda", "libdevice", "target_info"})


def dsl_attribute(library: Library, name: str) -> Any:
    """`tl.<name>`, or MISSING."""
    found = library.dsl.lookup(name)
    if found is not MISSING:
        return found
    if name in ("constexpr", "Const"):
        return Class(name)
    if name in _TYPES_OF_TRITON:
        return Class(_TYPES_OF_TRITON[name])
    return Namespace(f"{DSL_MODULE}.{name}") if name in _PARTS else MISSING


Scope = DslScope | ModuleScope


class Library:
    """All modules of a unit, each parsed when first used."""

    def __init__(self, unit: Unit) -> None:
        self.unit = unit
        self.dsl = DslScope(unit.dsl_text or "")
        self._scopes: dict[str, ModuleScope] = {}
        self._texts = {module.name: module.text for module in unit.modules}

    def scope(self, name: str) -> ModuleScope | None:
        """The module `name` of the body, or None."""
        found = self._scopes.get(name)
        if found is None and name in self._texts:
            first_line = self.unit.first_line(name)
            found = self._scopes[name] = ModuleScope(self, name, self._texts[name], first_line)
        return found


class Frame:
    """One call being inlined: its variables, where it was called, how deep in loops it is."""

    __slots__ = (
        "assigned",
        "call_span",
        "caller",
        "function",
        "has_failed",
        "is_dsl",
        "loops",
        "outer",
        "parameter_spans",
        "scope",
        "source",
        "variables",
    )

    def __init__(
        self,
        scope: Scope,
        source: Source,
        *,
        function: Function | None = None,
        outer: Frame | None = None,
        caller: Location | None = None,
        call_span: Span | None = None,
    ) -> None:
        self.scope = scope
        self.source = source
        self.function = function
        self.is_dsl = isinstance(scope, DslScope)
        self.outer = outer
        self.caller = caller
        self.call_span = call_span
        self.variables: dict[str, Any] = {}
        self.assigned: dict[str, Span] = {}
        self.parameter_spans: dict[str, Span] = {}
        self.loops = 0
        self.has_failed = False  # what the call returns is not known, for a fault in it


def assigned_names(statements: list[ast.stmt]) -> Iterator[str]:
    """The names that these statements may assign, in order of first appearance, each once."""
    seen: dict[str, None] = {}
    pending: list[ast.AST] = list(reversed(statements))
    while pending:
        node = pending.pop()
        if isinstance(node, ast.Name):
            if isinstance(node.ctx, ast.Store):
                seen.setdefault(node.id)
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            seen.setdefault(node.name)
        elif isinstance(node, ast.alias):
            seen.setdefault(node.asname or node.name.partition(".")[0])
        elif isinstance(node, ast.ListComp):
            pending.append(node.generators[0].iter)  # its variables are its own
        elif not isinstance(node, ast.Lambda):
            pending.extend(reversed(list(ast.iter_child_nodes(node))))
    return iter(seen)
