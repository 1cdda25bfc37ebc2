"""Expressions: what is known of their value without running the program.

Only arithmetic on numbers, strings and tuples, and the functions of the kernel language, are
carried out; calls are the business of calls.py.
"""

from __future__ import annotations

import ast
import operator
from types import ModuleType
from typing import TYPE_CHECKING, Any, TypeVar, cast

from teeny_compiler.check.scope import MISSING
from teeny_compiler.check.values import (
    UNKNOWN,
    Abstract,
    ArrayOf,
    Foreign,
    LambdaValue,
    Launcher,
    Method,
    NotStatic,
    Some,
    Tuned,
    Typed,
    is_known,
    join,
    kind_of,
)
from teeny_macros.instance import KernelInstance
from teeny_macros.kernel import Kernel
from teeny_macros.namespace import dsl_name, is_dsl_module

if TYPE_CHECKING:
    from collections.abc import Callable

    from teeny_compiler.check.calls import Caller
    from teeny_compiler.check.scope import Scope

MOST_TURNS = 16  # of a loop or comprehension over known values
_BITS = 4096  # results of constant arithmetic stay below this

_BINARY: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul,
    ast.Div: operator.truediv, ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod,
    ast.Pow: operator.pow, ast.LShift: operator.lshift, ast.RShift: operator.rshift,
    ast.BitOr: operator.or_, ast.BitAnd: operator.and_, ast.BitXor: operator.xor,
}  # fmt: skip
_UNARY: dict[type[ast.unaryop], Callable[[Any], Any]] = {
    ast.USub: operator.neg, ast.UAdd: operator.pos, ast.Invert: operator.invert,
    ast.Not: operator.not_,
}  # fmt: skip
_COMPARE: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le,
    ast.Gt: operator.gt, ast.GtE: operator.ge, ast.Is: operator.is_, ast.IsNot: operator.is_not,
    ast.In: lambda a, b: a in b, ast.NotIn: lambda a, b: a not in b,
}  # fmt: skip


class Evaluator:
    """Evaluates expressions of one scope; `caller` knows what calls do."""

    def __init__(self, scope: Scope, caller: Caller, *, typing: bool = False) -> None:
        self.scope = scope
        self.caller = caller
        self.typing = typing

    def value(self, node: ast.expr | None) -> Any:
        """What is known of the expression's value."""
        if node is None:
            return None
        method = getattr(self, f"visit_{type(node).__name__}", None)
        if method is None:
            for child in ast.iter_child_nodes(node):
                if isinstance(child, ast.expr):
                    self.value(child)
            return UNKNOWN
        return method(node)

    def visit_Constant(self, node: ast.Constant) -> Any:
        return node.value

    def visit_Name(self, node: ast.Name) -> Any:
        found = self.scope.lookup(node.id, typing=self.typing)
        return UNKNOWN if found is MISSING else found

    def visit_Attribute(self, node: ast.Attribute) -> Any:
        return self.attribute(self.value(node.value), node.attr)

    def attribute(self, owner: Any, name: str) -> Any:
        """`owner.name`."""
        if isinstance(owner, Foreign):
            path = f"{owner.path}.{name}"
            return self.caller.known.get(path, Foreign(path))
        if isinstance(owner, ArrayOf):
            if name in ("T", "mT", "real", "flat"):
                return owner
            return (
                UNKNOWN if name in ("shape", "dtype", "device", "strides") else Method(owner, name)
            )
        if isinstance(owner, Kernel | KernelInstance | Tuned | dict | list) and not isinstance(
            owner, type
        ):
            kernel = getattr(cast("Any", owner), "kernel", None)
            if name == "kernel" and isinstance(owner, Tuned):
                return kernel
            return Method(owner, name)
        if isinstance(owner, Abstract):
            return Method(owner, name)
        if isinstance(owner, ModuleType):
            return self.caller.member(owner, name)
        if isinstance(owner, type) or is_dsl_module(owner):
            return getattr(cast("Any", owner), name, UNKNOWN)
        if isinstance(owner, str | int | float | tuple):
            return Method(owner, name)
        return UNKNOWN

    def visit_Subscript(self, node: ast.Subscript) -> Any:
        owner, index = self.value(node.value), self.value(node.slice)
        return self.subscript(owner, index, node.slice)

    def subscript(self, owner: Any, index: Any, node: ast.expr) -> Any:
        """`owner[index]`; of a kernel it is a launcher."""
        if isinstance(owner, Kernel | KernelInstance | Tuned):
            return Launcher(owner, index, node)
        if isinstance(owner, Foreign):
            return Foreign(owner.path, index if isinstance(index, tuple) else (index,))
        if isinstance(owner, ArrayOf):
            parts: tuple[Any, ...] = index if isinstance(index, tuple) else (index,)
            sliced = any(isinstance(part, slice | ArrayOf) or part is None for part in parts)
            return owner if sliced else UNKNOWN
        if isinstance(owner, dict | tuple | list | str):
            if not is_known(index):
                return UNKNOWN
            try:
                return cast("Any", owner)[index]
            except Exception:  # noqa: BLE001 - running it would raise; that is not our business
                return UNKNOWN
        if isinstance(owner, type) or dsl_name(owner) is not None or hasattr(owner, "__origin__"):
            return self.generic(owner, index)
        name = getattr(owner, "__module__", "")
        return self.generic(owner, index) if name == "typing" else UNKNOWN

    @staticmethod
    def generic(owner: Any, index: Any) -> Any:
        """`Ptr[f32]`, `Const[int]`, `Annotated[...]`."""
        if not is_known(index):
            return UNKNOWN
        try:
            return owner[index]
        except TypeError:
            return UNKNOWN

    def visit_Slice(self, node: ast.Slice) -> Any:
        return slice(self.value(node.lower), self.value(node.upper), self.value(node.step))

    def visit_Tuple(self, node: ast.Tuple) -> Any:
        found = self.items(node.elts)
        return UNKNOWN if found is None else tuple(found)

    def visit_List(self, node: ast.List) -> Any:
        found = self.items(node.elts)
        return UNKNOWN if found is None else found

    def visit_Set(self, node: ast.Set) -> Any:
        found = self.items(node.elts)
        return UNKNOWN if found is None or not is_known(found) else set(found)

    def items(self, nodes: list[ast.expr]) -> list[Any] | None:
        """The members of a display; None when an unknown number is spread into it."""
        found: list[Any] = []
        for node in nodes:
            if isinstance(node, ast.Starred):
                spread = self.value(node.value)
                if not isinstance(spread, tuple | list):
                    return None
                found.extend(cast("Any", spread))
            else:
                found.append(self.value(node))
        return found

    def visit_Dict(self, node: ast.Dict) -> Any:
        found: dict[Any, Any] = {}
        for key, one in zip(node.keys, node.values, strict=True):
            value = self.value(one)
            if key is None:
                if not isinstance(value, dict):
                    return UNKNOWN
                found.update(cast("Any", value))
                continue
            name = self.value(key)
            if not is_known(name):
                return UNKNOWN
            try:
                found[name] = value
            except TypeError:
                return UNKNOWN
        return found

    def visit_Starred(self, node: ast.Starred) -> Any:
        return self.value(node.value)

    def visit_NamedExpr(self, node: ast.NamedExpr) -> Any:
        value = self.value(node.value)
        self.scope.bind(node.target.id, value)
        return value

    def visit_Lambda(self, node: ast.Lambda) -> Any:
        return LambdaValue(node, self.scope)

    def visit_JoinedStr(self, node: ast.JoinedStr) -> Any:
        for part in node.values:
            if isinstance(part, ast.FormattedValue):
                self.value(part.value)
        return Some("str")

    def visit_IfExp(self, node: ast.IfExp) -> Any:
        test = self.value(node.test)
        if is_known(test):
            return self.value(node.body if test else node.orelse)
        return join(self.value(node.body), self.value(node.orelse))

    def visit_BoolOp(self, node: ast.BoolOp) -> Any:
        values = [self.value(part) for part in node.values]
        if all(is_known(value) for value in values):
            stop = isinstance(node.op, ast.Or)
            return next((value for value in values if bool(value) is stop), values[-1])
        found = values[0]
        for value in values[1:]:
            found = join(found, value)
        return found

    def visit_Compare(self, node: ast.Compare) -> Any:
        values = [self.value(node.left), *(self.value(part) for part in node.comparators)]
        if len(values) == 2 and all(is_known(value) for value in values):
            try:
                return _COMPARE[type(node.ops[0])](*values)
            except Exception:  # noqa: BLE001 - running it would raise
                return UNKNOWN
        if any(isinstance(value, ArrayOf) for value in values):
            return ArrayOf("i1")
        return Some("bool")

    def visit_UnaryOp(self, node: ast.UnaryOp) -> Any:
        value = self.value(node.operand)
        if isinstance(value, Some | ArrayOf | Typed):
            return Some("bool") if isinstance(node.op, ast.Not) else value
        if not is_known(value) or not isinstance(value, int | float):
            return UNKNOWN
        try:
            return _UNARY[type(node.op)](cast("Any", value))
        except TypeError:
            return UNKNOWN

    def visit_BinOp(self, node: ast.BinOp) -> Any:
        return self.binary(type(node.op), self.value(node.left), self.value(node.right))

    def binary(self, kind: type[ast.operator], left: Any, right: Any) -> Any:
        """The value of an operator."""
        if is_known(left) and is_known(right):
            return _computed(kind, left, right)
        for one, other in ((left, right), (right, left)):
            if isinstance(one, ArrayOf):
                keeps = isinstance(other, ArrayOf) and other.dtype == one.dtype
                keeps = keeps or (kind_of(other) in ("int", "float") and _is_float(one.dtype))
                fits = keeps and (kind is not ast.Div or _is_float(one.dtype))
                return ArrayOf(one.dtype) if fits else ArrayOf()
        kinds = {kind_of(left), kind_of(right)}
        if kinds <= {"int", "bool"}:
            return Some("float" if kind is ast.Div else "int")
        if kinds <= {"int", "bool", "float"}:
            return Some("float")
        if kinds == {"str"}:
            return Some("str")
        return UNKNOWN

    def visit_Call(self, node: ast.Call) -> Any:
        return self.caller.call(self, node)

    def visit_Await(self, node: ast.Await) -> Any:
        self.value(node.value)
        return UNKNOWN

    def visit_Yield(self, node: ast.Yield) -> Any:
        self.value(node.value)
        return UNKNOWN

    # --- comprehensions ---------------------------------------------------------------------------

    def visit_ListComp(self, node: ast.ListComp) -> Any:
        return self.comprehension(node.generators, [node.elt])

    def visit_SetComp(self, node: ast.SetComp) -> Any:
        self.comprehension(node.generators, [node.elt])
        return UNKNOWN

    def visit_GeneratorExp(self, node: ast.GeneratorExp) -> Any:
        return self.comprehension(node.generators, [node.elt])

    def visit_DictComp(self, node: ast.DictComp) -> Any:
        found = self.comprehension(node.generators, [node.key, node.value])
        if isinstance(found, list) and all(is_known(key) for key, _ in found):
            return dict(found)
        return UNKNOWN

    def comprehension(self, parts: list[ast.comprehension], wanted: list[ast.expr]) -> Any:
        """The members as a list where the first iterable is known and short, else UNKNOWN."""
        from teeny_compiler.check.scope import Scope

        inner = Evaluator(
            Scope(self.scope.module, {}, self.scope, "function"), self.caller, typing=self.typing
        )
        turns = self.turns(self.value(parts[0].iter))
        several = len(parts) > 1 or parts[0].ifs
        found: list[Any] = []
        for item in turns if turns is not None else [UNKNOWN]:
            inner.assign(parts[0].target, item)
            for other in parts[1:]:
                inner.value(other.iter)
                inner.assign(other.target, UNKNOWN)
            for part in parts:
                for test in part.ifs:
                    inner.value(test)
            values = [inner.value(one) for one in wanted]
            found.append(values[0] if len(values) == 1 else tuple(values))
        return UNKNOWN if turns is None or several else found

    @staticmethod
    def turns(iterable: Any) -> list[Any] | None:
        """The members that a loop goes through, if they are few and known to be those."""
        if isinstance(iterable, dict):
            iterable = list(cast("Any", iterable))
        if isinstance(iterable, tuple | list | range | set | frozenset):
            members = list(cast("Any", iterable))
            return members if len(members) <= MOST_TURNS else None
        return None

    def assign(self, target: ast.expr, value: Any) -> None:
        """Bind a target of an assignment or loop."""
        if isinstance(target, ast.Name):
            self.scope.bind(target.id, value)
        elif isinstance(target, ast.Starred):
            self.assign(target.value, UNKNOWN)
        elif isinstance(target, ast.Tuple | ast.List):
            count = len(target.elts)
            plain = not any(isinstance(part, ast.Starred) for part in target.elts)
            members: list[Any] = [UNKNOWN] * count
            if isinstance(value, tuple | list) and plain and len(cast("Any", value)) == count:
                members = list(cast("Any", value))
            elif isinstance(value, ArrayOf):
                members = [value] * count
            for part, member in zip(target.elts, members, strict=True):
                self.assign(part, member)
        else:
            self.value(target)
            self.note_read_only(target, value)

    def note_read_only(self, target: ast.expr, value: Any) -> None:
        """`x.flags.writeable = False`."""
        if isinstance(target, ast.Attribute) and target.attr == "writeable" and value is False:
            flags = target.value
            if isinstance(flags, ast.Attribute) and isinstance(flags.value, ast.Name):
                array = self.scope.lookup(flags.value.id)
                if isinstance(array, ArrayOf):
                    found = ArrayOf(array.dtype, array.foreign, readonly=True)
                    self.scope.bind(flags.value.id, found)


def _is_float(dtype: str | None) -> bool:
    return dtype in ("f16", "bf16", "f32", "f64")


def _computed(kind: type[ast.operator], left: Any, right: Any) -> Any:
    """The value of an operator on known operands, where it is harmless and small."""
    plain = isinstance(left, int | float) and isinstance(right, int | float)
    if plain and kind in (ast.Pow, ast.LShift, ast.Mult):
        size = left.bit_length() if isinstance(left, int) else 64
        far = abs(right)
        if isinstance(right, int) and kind is not ast.Mult and size * max(far, 1) + far > _BITS:
            return NotStatic("a large power")
    joins = isinstance(left, str | tuple | list) and type(left) is type(right) and kind is ast.Add
    types = kind is ast.BitOr and all(
        isinstance(one, type | TypeVar) or one is None or hasattr(one, "__args__")
        for one in (left, right)
    )
    merges = isinstance(left, dict) and isinstance(right, dict) and kind is ast.BitOr
    if not (plain or joins or types or merges):
        return UNKNOWN
    try:
        return _BINARY[kind](left, right)
    except Exception:  # noqa: BLE001 - running it would raise
        return UNKNOWN
