"""Compile-time arithmetic: Python's own results on int, float, bool, str, None, tuples and dtypes.

Results are bounded in size, so that no text makes the compiler run for long.
"""

from __future__ import annotations

import ast
import operator
from typing import TYPE_CHECKING, Any

from teenyc.codes import E0106, E0109
from teenyc.frontend.scope import Class
from teenyc.types import DType, PointerDType
from teenyc.values import (
    BlockPointer,
    Descriptor,
    EnumMember,
    Record,
    RuntimeValue,
    describe,
    is_tuple,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from teeny_macros.diagnostics import TeenyError
    from teenyc.frontend.context import Context
    from teenyc.frontend.parser import Node

# What works on dtypes and enumeration members, and on tuples that hold run-time values.
_FOR_SYMBOLS = frozenset({"==", "!=", "in", "[]", "format"})
_FOR_TUPLES = frozenset({"+", "*", "[]"})
MAX_INT_BITS = 4096
MAX_LENGTH = 65_536

# Each binary operator: its symbol, the name of its handler in teenyc.ops, and Python's meaning.
BINARY: dict[type[ast.operator], tuple[str, str, Callable[[Any, Any], Any]]] = {
    ast.Add: ("+", "add", operator.add),
    ast.Sub: ("-", "sub", operator.sub),
    ast.Mult: ("*", "mul", operator.mul),
    ast.Div: ("/", "truediv", operator.truediv),
    ast.FloorDiv: ("//", "floordiv", operator.floordiv),
    ast.Mod: ("%", "mod", operator.mod),
    ast.Pow: ("**", "pow", operator.pow),
    ast.LShift: ("<<", "lshift", operator.lshift),
    ast.RShift: (">>", "rshift", operator.rshift),
    ast.BitAnd: ("&", "and", operator.and_),
    ast.BitOr: ("|", "or", operator.or_),
    ast.BitXor: ("^", "xor", operator.xor),
    ast.MatMult: ("@", "matmul", operator.matmul),
}

COMPARE: dict[type[ast.cmpop], tuple[str, str, Callable[[Any, Any], Any]]] = {
    ast.Lt: ("<", "lt", operator.lt),
    ast.LtE: ("<=", "le", operator.le),
    ast.Gt: (">", "gt", operator.gt),
    ast.GtE: (">=", "ge", operator.ge),
    ast.Eq: ("==", "eq", operator.eq),
    ast.NotEq: ("!=", "ne", operator.ne),
}

UNARY: dict[type[ast.unaryop], tuple[str, str, Callable[[Any], Any]]] = {
    ast.USub: ("-", "neg", operator.neg),
    ast.UAdd: ("+", "pos", operator.pos),
    ast.Invert: ("~", "invert", operator.invert),
}

_DATA = (int, float, str, type(None), tuple, DType, PointerDType, EnumMember, slice, Class)


def is_compile_time(value: Any) -> bool:
    """Whether `value` is data known now (tuples may still hold run-time values)."""
    return not isinstance(value, RuntimeValue) and isinstance(value, _DATA)


def is_number(value: Any) -> bool:
    """int, float or bool."""
    return isinstance(value, (int, float))


def has_runtime(value: Any) -> bool:
    """Whether a run-time value is in `value`."""
    if is_tuple(value):
        return any(has_runtime(item) for item in value)
    return isinstance(value, (RuntimeValue, BlockPointer, Descriptor))


def plain(value: Any) -> str:
    """How messages show a value of either kind."""
    if isinstance(value, (DType, PointerDType)):
        return f"dtype {value}"
    if value is None:
        return "None"
    if is_compile_time(value) and not isinstance(value, Class):
        return describe(value)
    return describe(value) if has_runtime(value) else _kind(value)


def _kind(value: Any) -> str:
    return f"a {type(value).__name__.lower()}"


def evaluate(
    context: Context, node: Node, symbol: str, function: Callable[..., Any], *values: Any
) -> Any:
    """`function(*values)` as in Python. Raises E0106 (no such operation) or E0109 (it fails)."""
    _refuse_huge(context, node, symbol, values)
    if symbol not in _FOR_SYMBOLS and any(map(_is_symbol, values)):
        raise _refused(context, node, symbol, values)
    if symbol not in _FOR_TUPLES and has_runtime(values):
        raise _refused(context, node, symbol, values)
    try:
        result = function(*values)
    except TypeError:
        raise _refused(context, node, symbol, values) from None
    except (ArithmeticError, ValueError, IndexError, MemoryError) as error:
        raise context.fail(E0109, node, reason=str(error)) from None
    if isinstance(result, complex):
        raise context.fail(E0109, node, reason="the result is a complex number")
    if type(result) is int and result.bit_length() > MAX_INT_BITS:
        raise context.fail(E0109, node, reason=f"the result has more than {MAX_INT_BITS} bits")
    return result


def _is_symbol(value: Any) -> bool:
    """Values that are tuples to Python alone: they can be compared, not computed with."""
    return isinstance(value, (DType, PointerDType, EnumMember, Class, slice))


def _refused(context: Context, node: Node, symbol: str, values: tuple[Any, ...]) -> TeenyError:
    what = " and ".join(plain(value) for value in values)
    return context.fail(E0106, node, operator=symbol, what=what)


def _refuse_huge(context: Context, node: Node, symbol: str, values: tuple[Any, ...]) -> None:
    """Stop before a power, shift or repetition that would take all memory."""
    if len(values) != 2:
        return
    left, right = values
    size = 0
    if symbol == "**" and isinstance(left, int) and isinstance(right, int):
        size = left.bit_length() * abs(right)
        limit = MAX_INT_BITS
    elif symbol == "<<" and isinstance(left, int) and isinstance(right, int):
        size, limit = left.bit_length() + right, MAX_INT_BITS
    elif symbol in ("*", "+") and any(isinstance(v, (str, tuple)) for v in values):
        limit = MAX_LENGTH
        sizes = [len(v) if isinstance(v, (str, tuple)) else v for v in values]
        if all(isinstance(v, int) for v in sizes):
            size = sizes[0] * sizes[1] if symbol == "*" else sizes[0] + sizes[1]
    elif symbol == "%" and isinstance(left, str):
        raise context.fail(E0106, node, operator="%", what="a string").help("use an f-string")
    if size and size > limit:
        raise context.fail(E0109, node, reason="the result is too large")


def same(left: Any, right: Any) -> bool:
    """Whether two values cannot be told apart: 0, 0.0 and False can, NaN equals itself."""
    if left is right:
        return True
    if isinstance(left, RuntimeValue) or isinstance(right, RuntimeValue):
        return (
            isinstance(left, RuntimeValue)
            and isinstance(right, RuntimeValue)
            and left.ir is right.ir
            and left.dtype == right.dtype
        )
    if type(left) is not type(right):
        return False
    if is_tuple(left):
        named = [value.kind for value in (left, right) if isinstance(value, Record)]
        return len(left) == len(right) and named[:1] == named[1:] and all(map(same, left, right))
    if isinstance(left, float):
        return repr(left) == repr(right)  # tells 0.0 from -0.0
    return bool(left == right)
