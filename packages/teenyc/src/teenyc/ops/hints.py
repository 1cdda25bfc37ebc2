"""What a kernel tells the compiler: facts of values, barriers, inline assembly.

A fact of a value is an attribute of the operation that makes it (`Operation.attrs["hints"]`); the
printer writes it down. The interpreter does without: a fact that does not hold has no meaning.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn

from teenyc.codes import E0210, E0310, E0312, E0413, E0419
from teenyc.ir.builder import Builder
from teenyc.ir.core import Operation
from teenyc.ir.opdef import Effects, OpDef, lowers, register
from teenyc.ir.printer import Names, quoted
from teenyc.ops import semantics
from teenyc.ops.broadcasting import broadcast_pair
from teenyc.ops.families import Array, Environment, kind_of, no_result
from teenyc.ops.literals import to_value
from teenyc.types import I1, I64, DType, IRType, ScalarType, ir_type, shape_of
from teenyc.values import RuntimeValue, describe

# --- facts of values ------------------------------------------------------------------------------


def _hint(name: str, attribute: str) -> None:
    """`name(input, values)` notes one number for each side of `input`."""

    def handler(b: Builder, input: object, values: object) -> RuntimeValue:  # noqa: A002
        value = to_value(b, input, arg="input")
        given = values if type(values) is tuple else (values,)
        for number in given:
            if isinstance(number, RuntimeValue):
                raise b.fail(E0210, arg="values", what=f"`values` of `{name}`").help(
                    "write integers, or `Const[int]` parameters"
                )
            if not isinstance(number, int) or isinstance(number, bool) or number < 1:
                raise _wrong(b, name, describe(number))
        if len(given) != max(1, len(value.shape)):
            raise _wrong(b, name, f"{len(given)} values for {value.describe()}")
        op = value.ir.op
        if op is not None and not op.regions and kind_of(value.ir.type) != "float":
            hints = dict(op.attrs.get("hints", ()))
            op.attrs["hints"] = tuple({**hints, attribute: given}.items())
        return value

    handler.__name__ = f"_{name}"
    lowers(name)(handler)


def _wrong(b: Builder, name: str, what: str) -> Exception:
    return b.fail(E0419, arg="values", op=name, what=what).help(
        "give one positive integer for each side: `(16, 1)` for a tensor of two sides"
    )


_hint("multiple_of", "tt.divisibility")
_hint("max_contiguous", "tt.contiguity")
_hint("max_constancy", "tt.constancy")

# --- assumptions and barriers ---------------------------------------------------------------------


def _verify_assume(op: Operation) -> str | None:
    found = op.operands[0].type
    return None if found == ScalarType("i1") else f"assumes {found}"


def _ref_assume(np: Any, op: Operation, operands: Sequence[Array], env: Environment) -> tuple[()]:
    if not operands[0].all():
        raise env.fail(op, "what it assumes does not hold")
    return ()


ASSUME = register(
    OpDef(
        "llvm.intr.assume",
        no_result,
        lambda op, names: f"{op.name} {names(op.operands[0])} : i1",
        effects=Effects.WRITE,
        verify=_verify_assume,
        ref=_ref_assume,
        cpu=lambda c, op, condition: None,
        dsl=("assume",),
    )
)
BARRIER = register(
    OpDef(
        "gpu.barrier",
        no_result,
        lambda op, names: op.name,
        effects=Effects.WRITE,
        verify=lambda op: "has operands" if op.operands else None,
        ref=lambda np, op, operands, env: (),
        cpu=lambda c, op: None,
        dsl=("debug_barrier",),
    )
)


@lowers("assume")
def _assume(b: Builder, cond: object) -> None:
    value = to_value(b, cond, arg="cond")
    if value.shape:
        raise b.fail(E0413, arg="cond", op="assume", what="a scalar", type=value.describe()).help(
            "assume something of each scalar that the tensor is made of"
        )
    b.emit(ASSUME, [semantics.cast(b, value, I1, arg="cond").ir])


@lowers("debug_barrier")
def _debug_barrier(b: Builder) -> None:
    b.emit(BARRIER)


# --- grids that overlap -------------------------------------------------------------------------

_OVERLAP = {
    "gdc_wait": "griddepcontrol.wait",
    "gdc_launch_dependents": "griddepcontrol.launch_dependents",
}


def _format_overlap(op: Operation, names: Names) -> str:
    """As inline assembly, which Triton's releases have in common; the result is not used."""
    text = quoted(f"{_OVERLAP[op.attrs['what']]}; // dummy $0")
    options = '{constraints = "=r", packed_element = 1 : i32, pure = false}'
    return f"tt.elementwise_inline_asm {text} {options} -> i32"


OVERLAP = register(
    OpDef(
        "nvidia.grid_dependency",
        lambda operands, attrs: (ScalarType("i32"),),
        _format_overlap,
        effects=Effects.WRITE,
        attrs=("what",),
        verify=lambda op: None if op.attrs["what"] in _OVERLAP else f"asks {op.attrs['what']}",
        ref=lambda np, op, operands, env: np.asarray(0, dtype=np.int32),
        cpu=lambda c, op: c.constant(0, "i32"),
        dsl=tuple(_OVERLAP),
    )
)


@lowers("gdc_wait")
def _gdc_wait(b: Builder) -> None:
    b.emit(OVERLAP, attrs={"what": "gdc_wait"})


@lowers("gdc_launch_dependents")
def _gdc_launch_dependents(b: Builder) -> None:
    b.emit(OVERLAP, attrs={"what": "gdc_launch_dependents"})


# --- the target, and its clock --------------------------------------------------------------------


@lowers("is_cuda")
def _is_cuda(b: Builder) -> bool:
    return b.target is not None and b.target.kind == "cuda"


@lowers("cuda_capability_geq")
def _cuda_capability_geq(b: Builder, major: object, minor: object = 0) -> bool:
    for name, number in (("major", major), ("minor", minor)):
        if type(number) is not int:
            raise b.fail(E0419, arg=name, op="cuda_capability_geq", what=describe(number)).help(
                "compute capabilities are numbers known at compile time: 9, 0"
            )
    assert isinstance(major, int)
    assert isinstance(minor, int)
    if b.target is None or b.target.kind != "cuda":
        return False
    return int(b.target.arch.removeprefix("sm_")) >= 10 * major + minor


def _ref_timer(np: Any, op: Operation, operands: Sequence[Array], env: Environment) -> Array:
    import time

    return np.asarray(time.monotonic_ns(), dtype=np.int64)


def _cpu_timer(c: Any, op: Operation) -> Any:
    c.output.declares.add("declare i64 @llvm.readcyclecounter()")
    return c.put("call i64 @llvm.readcyclecounter()", "i64", 0, 0)


TIMER = register(
    OpDef(
        "nvidia.timer",
        lambda operands, attrs: (ScalarType("i64"),),
        lambda op, names: (
            'tt.elementwise_inline_asm "mov.u64 $0, %globaltimer;" '
            '{constraints = "=l", packed_element = 1 : i32, pure = false} -> i64'
        ),
        effects=Effects.WRITE,
        verify=lambda op: "has operands" if op.operands else None,
        ref=_ref_timer,
        cpu=_cpu_timer,
        dsl=("_timer",),
    )
)


@lowers("_timer")
def _timer(b: Builder) -> RuntimeValue:
    return RuntimeValue(b.emit(TIMER).result, I64)


# --- inline assembly ------------------------------------------------------------------------------


def _format_asm(op: Operation, names: Names) -> str:
    attrs = op.attrs
    pure = "true" if attrs["is_pure"] else "false"
    options = (
        f"{{constraints = {quoted(attrs['constraints'])}, "
        f"packed_element = {attrs['pack']} : i32, pure = {pure}}}"
    )
    after = names.types(op.results)
    given = f" {names.list(op.operands)} : {names.types(op.operands)}" if op.operands else ""
    return f"{op.name} {quoted(attrs['asm'])} {options}{given} -> {after}"


def _verify_asm(op: Operation) -> str | None:
    shapes = {shape_of(value.type) for value in (*op.operands, *op.results)}
    if not op.results or len(shapes) != 1:
        return "gives nothing" if not op.results else "has values of several shapes"
    return None


def _ref_asm(np: Any, op: Operation, operands: Sequence[Array], env: Environment) -> NoReturn:
    raise env.fail(op, "inline assembly runs on a GPU alone")


def _given_types(operands: Sequence[Any], attrs: dict[str, Any]) -> tuple[IRType, ...]:
    types: tuple[IRType, ...] = attrs["types"]
    return types


INLINE_ASM = register(
    OpDef(
        "tt.elementwise_inline_asm",
        _given_types,
        _format_asm,
        effects=Effects.WRITE,
        attrs=("asm", "constraints", "pack", "is_pure", "types"),
        verify=_verify_asm,
        ref=_ref_asm,
        dsl=("inline_asm_elementwise",),
    )
)


def _text(b: Builder, value: object, arg: str) -> str:
    if isinstance(value, str):
        return value
    raise b.fail(E0419, arg=arg, op="inline_asm_elementwise", what=describe(value)).help(
        f"`{arg}` is a string"
    )


@lowers("inline_asm_elementwise")
def _inline_asm_elementwise(
    b: Builder,
    asm: object,
    constraints: object,
    args: object,
    dtype: object,
    is_pure: object,
    pack: object,
) -> RuntimeValue | tuple[RuntimeValue, ...]:
    text, rules = _text(b, asm, "asm"), _text(b, constraints, "constraints")
    if isinstance(is_pure, RuntimeValue):
        raise b.fail(E0210, arg="is_pure", what="`is_pure`").help("it is True or False")
    if not isinstance(pack, int) or isinstance(pack, bool) or pack < 1 or pack & (pack - 1):
        raise b.fail(E0419, arg="pack", op="inline_asm_elementwise", what=describe(pack)).help(
            "`pack` says how many elements one copy of the text handles: 1, 2, 4, ..."
        )
    dtypes = dtype if type(dtype) is tuple else (dtype,)
    for kind in dtypes:
        if not isinstance(kind, DType):
            raise b.fail(E0312, arg="dtype", what=describe(kind)).help(
                "dtypes are names such as `f32`; several results have a tuple of them"
            )
    if not dtypes:
        raise b.fail(E0312, arg="dtype", what="an empty tuple").help("give at least one result")
    if type(args) is not tuple:
        raise b.fail(E0310, arg="args", what=describe(args)).help("give a list: `[x, y]`")
    values = [to_value(b, value, arg="args") for value in args]
    for i in (*range(1, len(values)), *range(1, len(values))):  # once more: sides may have grown
        values[0], values[i] = broadcast_pair(b, values[0], values[i], "args")
    shape = values[0].shape if values else ()
    attrs = {
        "asm": text,
        "constraints": rules,
        "pack": pack,
        "is_pure": bool(is_pure),
        "types": tuple(ir_type(kind, shape) for kind in dtypes),
    }
    op = b.emit(INLINE_ASM, [value.ir for value in values], attrs=attrs)
    found = tuple(
        RuntimeValue(result, kind, shape) for result, kind in zip(op.results, dtypes, strict=True)
    )
    return found if type(dtype) is tuple else found[0]
