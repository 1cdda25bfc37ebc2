"""Defines what LLVM leaves undefined and the instructions of a GPU do not.

LLVM takes it that no divisor is zero, no shift reaches the width, and every number fits what it is
cast to, and drops code by it: `where(d == 0, 0, x // d)` would be a quotient by zero.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from teenyc.ir.opdef import HANDLERS
from teenyc.ops import arith, arrays, casts
from teenyc.ops.compare import CMPI
from teenyc.passes.replace import replace
from teenyc.types import DTYPES, I32, U32, DType, shape_of
from teenyc.values import RuntimeValue

if TYPE_CHECKING:
    from teenyc.ir.builder import Builder
    from teenyc.ir.core import Module, Operation, Value

_DIVISIONS = {arith.DIVSI.name, arith.REMSI.name, arith.DIVUI.name, arith.REMUI.name}
_SHIFTS = {arith.SHLI.name, arith.SHRUI.name, arith.SHRSI.name}
_FROM_INTEGER = {casts.SITOFP.name: "i", casts.UITOFP.name: "u"}
_TO_INTEGER = {casts.FPTOSI.name: I32, casts.FPTOUI.name: U32}
# The same number in another form.
_FORMS = {"tt.splat", "tt.broadcast", "tt.expand_dims", "tt.reshape", "tt.trans", "tt.unsplat"}
_FORMS |= {casts.EXTSI.name, casts.EXTUI.name, casts.TRUNCI.name}
# Beyond f16's numbers, and odd: LLVM must not think that f16 holds it.
_BEYOND_F16 = 2**17 - 1


def define(module: Module) -> None:
    """Guard what LLVM may use against the kernel, in place."""
    tested = _Tested(module)

    def guard(b: Builder, op: Operation) -> None:
        if op.name in _DIVISIONS and tested.knows(op.operands[1]):
            op.operands[1] = _not_zero(b, op.operands[1])

    replace(module, guard)  # by itself: what is tested is known by the values as they are
    replace(module, _defined)


def _defined(b: Builder, op: Operation) -> Value | None:
    name = op.name
    if name in _SHIFTS:
        return _shifted(b, op)
    if name in _TO_INTEGER:
        return _truncated(b, op)
    if name in _FROM_INTEGER and arrays.element_name(op.result.type) == "f16":
        op.operands[0] = _clamped(b, op.operands[0], _FROM_INTEGER[name])
    return None


class _Tested:
    """Which divisors are compared with a constant: LLVM would drop that comparison."""

    def __init__(self, module: Module) -> None:
        self._uses: dict[int, list[Operation]] = {}
        ops = list(module.walk())
        if any(op.name in _DIVISIONS for op in ops):
            for op in ops:
                for value in op.operands:
                    self._uses.setdefault(id(value), []).append(op)

    def knows(self, divisor: Value) -> bool:
        """Whether something is decided by what `divisor` is."""
        root = _root(divisor)
        if root.op is not None and root.op.name == arith.CONSTANT.name:
            return False
        pending, seen = [root], set[int]()
        while pending:
            value = pending.pop()
            if id(value) in seen:
                continue
            seen.add(id(value))
            for op in self._uses.get(id(value), ()):
                if _decides(op):
                    return True
                if op.opdef.is_pure and not op.regions and op.name not in _DIVISIONS:
                    pending += op.results
        return False


def _decides(op: Operation) -> bool:
    compares = op.name in (CMPI.name, arith.MAXUI.name, arith.MINUI.name)
    return compares and any(
        (origin := _root(value).op) is not None and origin.name == arith.CONSTANT.name
        for value in op.operands
    )


def _root(value: Value) -> Value:
    """What `value` is another form of."""
    while value.op is not None and value.op.name in _FORMS:
        value = value.op.operands[0]
    return value


def _held(value: Value, kind: str) -> RuntimeValue:
    """A value with the signedness of `kind`; what is no integer, and i1, have none."""
    name = arrays.element_name(value.type)
    dtype = DTYPES[kind + name[1:] if name[0] == "i" and name != "i1" else name]
    return RuntimeValue(value, dtype, shape_of(value.type))


def _do(b: Builder, name: str, **given: Any) -> RuntimeValue:
    found: RuntimeValue = HANDLERS[name](b, **given)
    return found


def _not_zero(b: Builder, value: Value) -> Value:
    divisor = _held(value, "i")
    is_zero = _do(b, "operator.eq", lhs=divisor, rhs=0)
    return _do(b, "where", condition=is_zero, x=1, y=divisor).ir


def _shifted(b: Builder, op: Operation) -> Value | None:
    """By the width or more: nothing is left but what fills."""
    value, amount = op.operands
    origin = _root(amount).op
    if origin is not None and origin.name == arith.CONSTANT.name:
        return None  # the front end has checked it
    by = _held(amount, "u")
    assert isinstance(by.dtype, DType)
    width = by.dtype.bits
    if op.name == arith.SHRSI.name:
        op.operands[1] = _do(b, "minimum", x=by, y=width - 1).ir
        return None
    found = RuntimeValue(b.value(op.opdef, value, amount), by.dtype, by.shape)
    inside = _do(b, "operator.lt", lhs=by, rhs=width)
    return _do(b, "where", condition=inside, x=found, y=0).ir


def _clamped(b: Builder, value: Value, kind: str) -> Value:
    """LLVM joins casts by way of f16 where its bits hold the number, though its range may not."""
    if arrays.element_name(value.type) == "i1":
        return value
    given = _held(value, kind)
    assert isinstance(given.dtype, DType)
    if given.dtype.bits < 32:
        return value
    found = _do(b, "minimum", x=given, y=_BEYOND_F16)
    return (_do(b, "maximum", x=found, y=-_BEYOND_F16) if kind == "i" else found).ir


def _truncated(b: Builder, op: Operation) -> Value | None:
    """An f32 as the nearest 32-bit integer, which LLVM knows no instruction for."""
    dtype = _TO_INTEGER[op.name]
    names = [arrays.element_name(value.type) for value in (op.operands[0], op.result)]
    if names != ["f32", "i32"]:
        return None
    given = _held(op.operands[0], "f")
    found = _do(
        b,
        "inline_asm_elementwise",
        asm=f"cvt.rzi.{'s' if dtype == I32 else 'u'}32.f32 $0, $1;",
        constraints="=r,f",
        args=(given,),
        dtype=dtype,
        is_pure=True,
        pack=1,
    )
    return found.ir
