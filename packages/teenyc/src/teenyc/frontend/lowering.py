"""From a unit to its IR module: the entry point's types and attributes, and the kernel inlined."""

from __future__ import annotations

import ast
import re
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

import teenyc.ops  # noqa: F401 - enters the handlers of all operations
from teeny_macros.codes import I0000
from teeny_macros.diagnostics import CompileError, TeenyError
from teeny_macros.source import Span
from teeny_macros.unit import ENTRY_MODULE, KERNEL_MODULE
from teenyc.codes import E0107, E0214
from teenyc.frontend import remedies
from teenyc.frontend.constexpr import has_runtime
from teenyc.frontend.context import Context, GiveUp, TooMany
from teenyc.frontend.expr import EXPRESSIONS
from teenyc.frontend.scope import Frame, Library, ModuleScope
from teenyc.frontend.signature import Function
from teenyc.frontend.stmt import run_body, run_function
from teenyc.ir.core import Function as IRFunction
from teenyc.ir.core import Module
from teenyc.ops.control import TT_RETURN
from teenyc.ops.descriptor import check_block
from teenyc.types import (
    I32,
    I64,
    DescriptorKind,
    DescriptorType,
    DType,
    PointerDType,
    ScalarType,
    ir_type,
)
from teenyc.values import Descriptor, RuntimeValue

if TYPE_CHECKING:
    from collections.abc import Sequence

    from teeny_macros.diagnostics import Diagnostic
    from teeny_macros.target import Target
    from teeny_macros.unit import Unit
    from teenyc.ir.core import Value
    from teenyc.types import IRType

_ATTRIBUTES = (
    *("num_warps", "num_stages", "num_ctas", "maxnreg", "enable_fp_fusion"),
    *("launch_pdl", "launch_cooperative_grid", "extents"),
)
# Of which types these are, and what they are where an entry point does not say.
_USUAL: dict[str, tuple[tuple[type, ...], int | None]] = {
    "num_warps": ((int,), 4),
    "num_stages": ((int,), 3),
    "num_ctas": ((int,), 1),
    "maxnreg": ((int, type(None)), None),
    "enable_fp_fusion": ((bool,), True),
}
_MOST = {"num_warps": 32, "num_ctas": 32}  # as at a launch
_HINTS = {"divisible_by_16": ("tt.divisibility", 16)}


def lower(
    unit: Unit, implicit: list[Diagnostic] | None = None, target: Target | None = None
) -> Module:
    """The IR module of `unit`. Raises CompileError with every fault found, at most 20."""
    try:
        module = _lower(unit, implicit, target)
    except TeenyError as error:
        remedies.complete(error.diagnostics)
        _quote(error.diagnostics, unit)
        raise
    if implicit:
        _spell(implicit, unit)
        _quote(implicit, unit)
    return module


def _quote(diagnostics: Sequence[Diagnostic], unit: Unit) -> None:
    """Give each label the line it points at: the body is no file that a renderer could read."""
    lines = unit.body.split("\n")
    for diagnostic in diagnostics:
        for label in diagnostic.labels:
            if label.span.file == unit.file and 0 < label.span.line <= len(lines):
                label.source = lines[label.span.line - 1]


def _spell(implicit: list[Diagnostic], unit: Unit) -> None:
    """Warn once of each place, with the text that stands there in the remedy."""
    lines = unit.body.split("\n")
    seen: set[tuple[Span | None, str]] = set()
    for diagnostic in list(implicit):
        span = diagnostic.span
        if (span, diagnostic.message) in seen:
            implicit.remove(diagnostic)
            continue
        seen.add((span, diagnostic.message))
        text = "x"
        if span is not None and span.file == unit.file and span.line == span.end_line:
            text = lines[span.line - 1][span.column - 1 : span.end_column - 1]
        atom = re.fullmatch(r"[\w.]+(\([^()]*\)|\[[^\[\]]*\])*", text)
        operand = text if atom else f"({text})"
        diagnostic.helps = [
            help_.format(text if "({})" in help_ else operand) for help_ in diagnostic.helps
        ]


def _lower(unit: Unit, implicit: list[Diagnostic] | None, target: Target | None) -> Module:
    context: Context | None = None
    try:
        library = Library(unit)
        scope = library.scope(ENTRY_MODULE)
        node = _entry_point(scope)
        assert scope is not None
        frame = Frame(scope, scope.source)
        context = Context(library, frame, EXPRESSIONS)
        context.builder.implicit, context.builder.target = implicit, target
        context.run = partial(run_body, context)
        context.run_function = partial(run_function, context)
        return _lower_entry(context, scope, node)
    except TooMany:
        pass
    except GiveUp as stop:
        assert context is not None
        raise CompileError(*context.diagnostics, *stop.error.diagnostics) from None
    except RecursionError:
        raise _too_deep(context, unit) from None
    except TeenyError:
        raise
    except Exception as error:
        raise _internal(context, error) from error
    assert context is not None
    raise CompileError(*context.diagnostics)


def _too_deep(context: Context | None, unit: Unit) -> TeenyError:
    span = context.builder.span if context is not None else None
    return E0107.at(span or Span.point(unit.file, 1)).help("split it into several statements")


def _internal(context: Context | None, error: Exception) -> TeenyError:
    """Our own fault: the error names the place in the kernel and in teenyc."""
    import traceback

    last = traceback.extract_tb(error.__traceback__)[-1]
    what = f"{type(error).__name__}: {error}".replace("\n", " ")
    span = context.builder.span if context is not None else None
    place = f"{last.filename.replace(chr(92), '/').rpartition('/')[2]}:{last.lineno}"
    return I0000.at(span, where="the front end", what=what).note(f"raised in {last.name}, {place}")


def _entry_point(scope: ModuleScope | None) -> ast.FunctionDef:
    if scope is None:
        raise E0214.error(reason="the unit has no module `entry`")
    for stmt in scope.statements:
        if isinstance(stmt, ast.FunctionDef):
            return stmt
    raise E0214.error(reason="module `entry` defines no function")


def _lower_entry(context: Context, scope: ModuleScope, node: ast.FunctionDef) -> Module:
    attributes = _read_attributes(context, node)
    function = Function(node, scope.source, scope, is_dsl=False)
    module = Module(context.library.unit.kernel)
    for name in _ATTRIBUTES:
        if name in attributes:
            module.attributes[name] = attributes[name]
    slots: list[Slot] = []
    for parameter in function.parameters:
        slots += _slots(parameter.name, _parameter_type(context, parameter.node))
    module.params = [slot.param for slot in slots]
    hints = [
        {
            attribute: value
            for hint, (attribute, value) in _HINTS.items()
            if slot.name in attributes.get(hint, ())
        }
        for slot in slots
    ]
    names = [slot.name for slot in slots]
    loc = scope.source.location(node, None)
    entry = IRFunction(node.name, [slot.type for slot in slots], names, hints, loc)
    module.functions.append(entry)
    frame = Frame(scope, scope.source, function=function)
    frame.variables.update(_variables(slots, entry.args))
    context.frame = frame
    context.builder.block = entry.body.block
    run_function(context, function)
    if context.diagnostics:
        raise TooMany
    context.at(node).emit(TT_RETURN, results=())
    return module


class Slot(NamedTuple):
    """One argument of the entry point in the IR; a descriptor takes several, itself the first."""

    name: str
    dtype: DType | PointerDType
    block: tuple[int, ...] = ()

    @property
    def type(self) -> IRType:
        """Its type in the IR."""
        if not self.block:
            return ir_type(self.dtype)
        assert isinstance(self.dtype, DType)
        return DescriptorType(self.block, ScalarType(self.dtype.mlir), self.dtype.is_signed)

    @property
    def param(self) -> tuple[str, str, str]:
        """Its row in the metadata."""
        if self.block:
            return self.name, "descriptor", f"{self.dtype}[{','.join(map(str, self.block))}]"
        if isinstance(self.dtype, PointerDType):
            return self.name, "pointer", self.dtype.element.name
        return self.name, "scalar", self.dtype.name


def _slots(name: str, type_: DType | PointerDType | DescriptorKind) -> list[Slot]:
    """As Triton passes them: the descriptor, its sides as i32, its strides as i64."""
    if not isinstance(type_, DescriptorKind):
        return [Slot(name, type_)]
    axes = range(len(type_.block))
    sides = [Slot(f"{name}.shape.{axis}", I32) for axis in axes]
    return [
        Slot(name, type_.dtype, type_.block),
        *sides,
        *(Slot(f"{name}.stride.{axis}", I64) for axis in axes),
    ]


def _variables(slots: Sequence[Slot], args: Sequence[Value]) -> dict[str, Any]:
    """The parameters by name."""
    found: dict[str, Any] = {}
    pairs = iter(zip(slots, args, strict=True))
    for slot, arg in pairs:
        if not slot.block:
            found[slot.name] = RuntimeValue(arg, slot.dtype)
            continue
        rank = len(slot.block)
        rest = [RuntimeValue(a, s.dtype) for s, a in islice(pairs, 2 * rank)]
        assert isinstance(slot.dtype, DType)
        sides, strides = tuple(rest[:rank]), tuple(rest[rank:])
        found[slot.name] = Descriptor(arg, slot.dtype, slot.block, sides, strides)
    return found


def _read_attributes(context: Context, node: ast.FunctionDef) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for decorator in node.decorator_list:
        if not isinstance(decorator, ast.Call):
            continue
        for keyword in decorator.keywords:
            if keyword.arg is not None:
                found[keyword.arg] = context.value(keyword.value)
    for name, value in found.items():
        if has_runtime(value) or not isinstance(value, (int, tuple, type(None))):
            raise context.fail(E0214, node.decorator_list[0], reason=f"`{name}` is not a constant")
        if name in _HINTS and type(value) is not tuple:
            raise context.fail(E0214, node.decorator_list[0], reason=f"`{name}` is not a tuple")
    for name, (kinds, usual) in _USUAL.items():
        if type(found.setdefault(name, usual)) not in kinds:
            reason = f"`{name}` is no {kinds[0].__name__}"
            raise context.fail(E0214, node, reason=reason)
    for name, most in _MOST.items():
        value = found[name]
        if not 0 < value <= most or value & (value - 1):
            reason = f"`{name}` is {value}, not a power of two up to {most}"
            raise context.fail(E0214, node, reason=reason)
    return found


def _parameter_type(context: Context, arg: ast.arg) -> DType | PointerDType | DescriptorKind:
    if arg.annotation is not None:
        dtype = context.value(arg.annotation)
        if isinstance(dtype, (DType, PointerDType)):
            return dtype
        if isinstance(dtype, DescriptorKind):
            builder = context.at(arg.annotation)
            builder.span = _declaration(context, arg.arg) or builder.span
            check_block(builder, "block_shape", dtype.dtype, dtype.block)
            return dtype
    raise context.fail(E0214, arg, reason=f"parameter `{arg.arg}` has no concrete type")


def _declaration(context: Context, name: str) -> Span | None:
    """Where the kernel itself declares a parameter: the entry point is no text of the user's."""
    scope = context.library.scope(KERNEL_MODULE)
    if scope is None:
        return None
    for node in scope.statements:
        if isinstance(node, ast.FunctionDef) and node.name == context.library.unit.kernel:
            for arg in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs):
                if arg.arg == name:
                    return scope.source.span(arg)
    return None
