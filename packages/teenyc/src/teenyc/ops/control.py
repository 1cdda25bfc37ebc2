"""Structured control flow: loops, conditionals and their terminators.

The front end builds the regions. A structured operation has no effects besides those of its
regions.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from teenyc.ir.core import Block, Operation, Value
from teenyc.ir.opdef import Effects, OpDef, register
from teenyc.ir.printer import Names
from teenyc.ops.families import INT, Array, Environment, kind_of, no_result
from teenyc.types import IRType, ScalarType

_I1 = ScalarType("i1")
# The attribute that keeps what does not change in a loop inside of it, and how it is written.
LOOP_ANNOTATION = "llvm.loop_annotation"
_NO_LICM = "#llvm.loop_annotation<licm = <disable = true>>"


def _types(values: Sequence[Value]) -> list[IRType]:
    return [value.type for value in values]


def _listed(types: Sequence[IRType]) -> str:
    return ", ".join(map(str, types))


def _terminator_types(block: Block, *names: str) -> list[IRType] | str:
    """The types a block hands on, or what is wrong with its end."""
    last = block.ops[-1]
    if last.name not in names:
        return f"ends a region with `{last.name}` instead of `{names[0]}`"
    return _types(last.operands)


def _mismatch(what: str, found: Sequence[IRType], wanted: Sequence[IRType]) -> str | None:
    if list(found) == list(wanted):
        return None
    return f"{what} ({_listed(found)}) instead of ({_listed(wanted)})"


# --- for ------------------------------------------------------------------------------------------


def _format_for(op: Operation, names: Names) -> str:
    lower, upper, step = (names(value) for value in op.operands[:3])
    induction, *carried = op.regions[0].block.args
    head = f"scf.for {names.define(induction, 'i')} = {lower} to {upper} step {step}"
    if carried:
        pairs = zip(carried, op.operands[3:], strict=True)
        inits = ", ".join(f"{names.define(arg, 'carried')} = {names(init)}" for arg, init in pairs)
        head += f" iter_args({inits}) -> ({names.types(op.results)})"
    head += f" : {induction.type} {{}}"
    return head + _format_loop_attributes(op)


def _format_loop_attributes(op: Operation) -> str:
    """Flags (`tt.flatten`) are written without a value, numbers as i32."""
    parts = []
    for name, value in op.attrs.items():
        if value is True:
            parts.append(f"{name} = {_NO_LICM}" if name == LOOP_ANNOTATION else name)
        elif value is not False:
            parts.append(f"{name} = {value} : i32")
    return f" {{{', '.join(parts)}}}" if parts else ""


def _verify_for(op: Operation) -> str | None:
    induction, *carried = op.regions[0].block.args
    bounds = _types(op.operands[:3])
    if kind_of(induction.type) != INT or bounds != [induction.type] * 3:
        return f"counts in {induction.type} from, to and by {_listed(bounds)}"
    found = _terminator_types(op.regions[0].block, "scf.yield")
    if isinstance(found, str):
        return found
    inits = _types(op.operands[3:])
    return (
        _mismatch("yields", found, inits)
        or _mismatch("carries", _types(carried), inits)
        or _mismatch("gives", _types(op.results), inits)
    )


def _ref_for(
    np: Any, op: Operation, operands: Sequence[Array], env: Environment
) -> tuple[Array, ...]:
    lower, upper, step = (int(bound) for bound in operands[:3])
    if step <= 0:
        raise env.fail(op, f"the step of the loop is {step}, not positive")
    kind = operands[0].dtype.type
    carried = tuple(operands[3:])
    for number in range(lower, upper, step):
        carried = env.run(op.regions[0], (np.asarray(kind(number)), *carried))
    return carried


SCF_FOR = register(
    OpDef(
        "scf.for",
        lambda operands, attrs: tuple(_types(operands[3:])),
        _format_for,
        attrs=(
            "tt.num_stages",
            "tt.loop_unroll_factor",
            "tt.disallow_acc_multi_buffer",
            "tt.flatten",
            "tt.warp_specialize",
            LOOP_ANNOTATION,
        ),
        verify=_verify_for,
        ref=_ref_for,
    )
)

# --- if -------------------------------------------------------------------------------------------


def _format_if(op: Operation, names: Names) -> str:
    head = f"scf.if {names(op.operands[0])}"
    if op.results:
        head += f" -> ({names.types(op.results)})"
    return head + " {} else {}" if len(op.regions) > 1 else head + " {}"


def _verify_if(op: Operation) -> str | None:
    if op.operands[0].type != _I1:
        return f"has a condition of type {op.operands[0].type}"
    if op.results and len(op.regions) != 2:
        return "gives results but has no else region"
    for region in op.regions:
        found = _terminator_types(region.block, "scf.yield")
        problem = (
            found if isinstance(found, str) else _mismatch("yields", found, _types(op.results))
        )
        if problem:
            return problem
    return None


def _ref_if(
    np: Any, op: Operation, operands: Sequence[Array], env: Environment
) -> tuple[Array, ...]:
    if operands[0]:
        return env.run(op.regions[0], ())
    return env.run(op.regions[1], ()) if len(op.regions) > 1 else ()


SCF_IF = register(
    OpDef(
        "scf.if",
        lambda operands, attrs: tuple(attrs.get("types", ())),
        _format_if,
        verify=_verify_if,
        ref=_ref_if,
    )
)

# --- while ----------------------------------------------------------------------------------------


def _format_while(op: Operation, names: Names) -> str:
    args = op.regions[0].block.args
    pairs = zip(args, op.operands, strict=True)
    inits = ", ".join(f"{names.define(arg, 'carried')} = {names(init)}" for arg, init in pairs)
    types = f"({names.types(op.operands)}) -> ({names.types(op.results)})"
    tail = f" attributes{_format_loop_attributes(op)}" if op.attrs else ""
    head = f"scf.while ({inits})" if inits else "scf.while"
    return f"{head} : {types} {{}} do {{}}{tail}"


def _verify_while(op: Operation) -> str | None:
    before, after = (region.block for region in op.regions)
    condition = _terminator_types(before, "scf.condition")
    if isinstance(condition, str):
        return condition
    found = _terminator_types(after, "scf.yield")
    if isinstance(found, str):
        return found
    inits = _types(op.operands)
    return (
        _mismatch("carries", _types(before.args), inits)
        or _mismatch("hands on", condition[1:], _types(op.results))
        or _mismatch("takes into its body", _types(after.args), _types(op.results))
        or _mismatch("yields", found, inits)
    )


def _ref_while(
    np: Any, op: Operation, operands: Sequence[Array], env: Environment
) -> tuple[Array, ...]:
    before, after = op.regions
    carried = tuple(operands)
    while True:
        holds, *handed = env.run(before, carried)
        if not holds:
            return tuple(handed)
        carried = env.run(after, handed)


SCF_WHILE = register(
    OpDef(
        "scf.while",
        lambda operands, attrs: tuple(_types(operands)),
        _format_while,
        attrs=(LOOP_ANNOTATION,),
        verify=_verify_while,
        ref=_ref_while,
        labelled=(1,),
    )
)

# --- terminators ----------------------------------------------------------------------------------


def _format_yield(op: Operation, names: Names) -> str:
    if not op.operands:
        return op.name
    return f"{op.name} {names.list(op.operands)} : {names.types(op.operands)}"


def _format_condition(op: Operation, names: Names) -> str:
    condition, *handed = op.operands
    text = f"scf.condition({names(condition)})"
    return f"{text} {names.list(handed)} : {names.types(handed)}" if handed else text


def _verify_condition(op: Operation) -> str | None:
    found = op.operands[0].type
    return None if found == _I1 else f"has a condition of type {found}"


def _terminator(name: str, fmt: Any, verify: Any = None) -> OpDef:
    return register(
        OpDef(
            name,
            no_result,
            fmt,
            effects=Effects.TERMINATOR,
            verify=verify,
            ref=lambda np, op, operands, env: tuple(operands),
        )
    )


SCF_YIELD = _terminator("scf.yield", _format_yield)
SCF_CONDITION = _terminator("scf.condition", _format_condition, _verify_condition)
TT_RETURN = _terminator("tt.return", _format_yield)
REDUCE_RETURN = _terminator("tt.reduce.return", _format_yield)
SCAN_RETURN = _terminator("tt.scan.return", _format_yield)
MAP_RETURN = _terminator("tt.map_elementwise.return", _format_yield)
