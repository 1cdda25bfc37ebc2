"""What a `for` goes through: run-time ranges with their options, static ranges and tuples."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any, NamedTuple

from teenyc.codes import E0106, E0199, E0210, E0606, E0608, E0609
from teenyc.frontend.call import arguments_of
from teenyc.frontend.constexpr import has_runtime, plain
from teenyc.frontend.operands import data
from teenyc.frontend.scope import Builtin
from teenyc.frontend.signature import POSITIONAL, Argument, Function, Parameter, bind
from teenyc.ir.opdef import HANDLERS
from teenyc.ops import semantics
from teenyc.ops.control import LOOP_ANNOTATION
from teenyc.types import DType
from teenyc.values import RuntimeValue, is_tuple

if TYPE_CHECKING:
    from collections.abc import Callable

    from teenyc.frontend.context import Context
    from teenyc.ir.core import Value

_HELP = "go through `range(...)`, `tl.range(...)`, `tl.static_range(...)` or a tuple"
_NONE = ast.Constant(None)
_PYTHON_RANGE = tuple(
    Parameter(name, POSITIONAL, default, False, ast.arg(name))
    for name, default in (("arg1", None), ("arg2", _NONE), ("step", _NONE))
)
# Options of tl.range: MLIR's name of the attribute, and whether it is a flag.
_OPTIONS = {
    "num_stages": ("tt.num_stages", False),
    "loop_unroll_factor": ("tt.loop_unroll_factor", False),
    "disallow_acc_multi_buffer": ("tt.disallow_acc_multi_buffer", True),
    "flatten": ("tt.flatten", True),
    "warp_specialize": ("tt.warp_specialize", True),
    "disable_licm": (LOOP_ANNOTATION, True),
}


class Range(NamedTuple):
    """A run-time range, counted upwards: where the step is negative the bounds are swapped.

    scf.for compares with a sign. Unsigned bounds are less by half of their range, which keeps their
    order, and the loop variable is as much more than the counter.
    """

    lower: RuntimeValue
    upper: RuntimeValue
    step: RuntimeValue
    dtype: DType
    is_reversed: bool
    attrs: dict[str, Any]

    def variable(self, context: Context, node: ast.For, counter: Value) -> RuntimeValue:
        """The loop variable from the loop's counter."""
        value = RuntimeValue(counter, self.dtype)
        builder = context.at(node)
        if self.is_reversed:
            value = HANDLERS["operator.sub"](builder, lhs=self.upper, rhs=value)
            value = HANDLERS["operator.add"](builder, lhs=value, rhs=self.lower)
        if self.dtype.kind == "uint":
            value = HANDLERS["operator.add"](builder, lhs=value, rhs=_half(self.dtype))
        return value


def _half(dtype: DType) -> int:
    return 1 << (dtype.bits - 1)


def parse_iterable(
    context: Context, node: ast.For | ast.comprehension
) -> Range | range | tuple[Any, ...]:
    """What the loop goes through: a `Range` runs on the device, the others are unrolled."""
    source = node.iter
    if isinstance(source, ast.Call):
        target = context.value(source.func)
        if isinstance(target, Builtin) and target.name == "range":
            given = arguments_of(context, source)
            for argument in given:
                if argument.keyword is not None:
                    message = "a keyword"
                    raise E0106.at(argument.span, operator="range", what=message).help(
                        "`tl.range` takes keywords"
                    )
            bound = bind("range", _PYTHON_RANGE, given, context.span(source))
            return _runtime(context, source, bound)
        make = _RANGES.get(target.name) if isinstance(target, Function) and target.is_dsl else None
        if make is not None:
            given = arguments_of(context, source)
            bound = bind(target.name, target.parameters, given, context.span(source))
            return make(context, source, bound)
    value = data(context, source)
    if is_tuple(value):
        return tuple(value)
    raise context.fail(E0608, source, what=plain(value)).help(_HELP)


def _bounds(
    context: Context, source: ast.Call, bound: dict[str, Argument]
) -> tuple[Argument, Argument, Argument]:
    """Start, stop and step. Raises E0606 (a step of zero) and E0609 (a bound is no integer)."""
    place = context.span(source)
    start, stop = Argument(0, place), bound["arg1"]
    second = bound.get("arg2")
    if second is not None and second.value is not None:
        start, stop = stop, second
    step = bound.get("step")
    if step is None or step.value is None:
        step = Argument(1, place)
    for argument in (start, stop, step):
        value = argument.value
        is_int = isinstance(value, int)
        if isinstance(value, RuntimeValue):
            is_int = isinstance(value.dtype, DType) and value.dtype.is_int and not value.is_tensor
        if not is_int:
            raise E0609.at(argument.span, what=plain(value)).help(
                "bounds are integers and scalars: cast a float, `n.to(i32)`; load a scalar"
            )
    if not isinstance(step.value, RuntimeValue) and step.value == 0:
        raise E0606.at(step.span).help("take the distance between two values: 1, or -1 to go down")
    return start, stop, step


def _static(context: Context, source: ast.Call, bound: dict[str, Argument]) -> range:
    bounds = _bounds(context, source, bound)
    for argument in bounds:
        if isinstance(argument.value, RuntimeValue):
            raise E0210.at(argument.span, what="a bound of `tl.static_range`").help(
                "`tl.range` takes run-time bounds"
            )
    return range(*(int(argument.value) for argument in bounds))


def _runtime(context: Context, source: ast.Call, bound: dict[str, Argument]) -> Range:
    start, stop, step = _bounds(context, source, bound)
    attrs = _options(context, source, bound)
    is_reversed = not isinstance(step.value, RuntimeValue) and step.value < 0
    if is_reversed:
        start, stop, step = stop, start, step._replace(value=-step.value)
    builder = context.at(source)
    values: list[RuntimeValue] = []
    for argument in (start, stop, step):
        builder.span = argument.span
        values.append(semantics.to_value(builder, argument.value))
    dtype = _widest([value.dtype for value in values if isinstance(value.dtype, DType)])
    lower, upper, by = (semantics.cast(builder, value, dtype) for value in values)
    if dtype.kind == "uint":
        lower, upper = (
            HANDLERS["operator.sub"](builder, lhs=value, rhs=_half(dtype))
            for value in (lower, upper)
        )
    return Range(lower, upper, by, dtype, is_reversed, attrs)


def _widest(dtypes: list[DType]) -> DType:
    """The counter's dtype: the widest of the bounds, unsigned where one of that width is."""
    return max(dtypes, key=lambda d: (d.bits, d.kind == "uint"))


def _options(context: Context, source: ast.Call, bound: dict[str, Argument]) -> dict[str, Any]:
    attrs: dict[str, Any] = {}
    for name, argument in bound.items():
        if name in ("arg1", "arg2", "step"):
            continue
        if has_runtime(argument.value):
            raise E0210.at(argument.span, what=f"option `{name}` of `tl.range`")
        if argument.value is None or argument.value is False:
            continue
        if name not in _OPTIONS:
            raise E0199.at(argument.span, what=f"`{name}` of `tl.range`")
        attribute, is_flag = _OPTIONS[name]
        if is_flag:
            attrs[attribute] = bool(argument.value)
        elif type(argument.value) is int and 0 <= argument.value < 2**31:
            attrs[attribute] = argument.value
        else:
            raise E0106.at(argument.span, operator=f"range({name}=)", what=plain(argument.value))
    return attrs


_RANGES: dict[str, Callable[[Context, ast.Call, dict[str, Argument]], Range | range]] = {
    "range": _runtime,
    "static_range": _static,
}
