"""What is printed and checked, while compiling and while running."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

from teenyc.codes import E0210, E0408, E0419
from teenyc.ir.builder import Builder
from teenyc.ir.core import Operation
from teenyc.ir.opdef import HANDLERS, Effects, OpDef, lowers, register
from teenyc.ir.printer import Names, quoted
from teenyc.ops import arrays, semantics
from teenyc.ops.families import Array, Environment, no_result
from teenyc.ops.literals import to_value
from teenyc.types import I1, DType, ScalarType, scalar_of, shape_of
from teenyc.values import EnumMember, RuntimeValue, describe

# --- while compiling ------------------------------------------------------------------------------


@lowers("static_assert")
def _static_assert(b: Builder, cond: object, msg: object = "") -> None:
    if isinstance(cond, RuntimeValue):
        raise b.fail(E0210, arg="cond", what=f"the condition ({describe(cond)})").help(
            "only compile-time values can be asserted here; `device_assert` checks at run time"
        )
    if not cond:
        own = "give the operation what it asks for; its page of operations says it in full"
        changed = "instantiate with other compile-time values, or change the assertion"
        is_ours = b.loc.file.startswith("teeny_triton")
        raise b.fail(E0408, arg="cond", message=f": {msg}" if msg else "").help(
            own if is_ours else changed
        )


def _shown(value: object) -> str:
    """What `static_print` writes of a value; of a run-time value its type."""
    if isinstance(value, RuntimeValue | EnumMember):
        return describe(value)
    if type(value) is tuple:
        inner = ", ".join(map(_shown, value))
        return f"({inner},)" if len(value) == 1 else f"({inner})"
    return str(value)


@lowers("static_print")
def _static_print(
    b: Builder,
    values: object = (),
    sep: object = " ",
    end: object = "\n",
    file: object = None,
    flush: object = False,
) -> None:
    """Standard error: standard output belongs to the answers of a worker."""
    for text, arg in ((sep, "sep"), (end, "end")):
        if not isinstance(text, str):
            raise b.fail(E0419, arg=arg, op="static_print", what=describe(text)).help(
                f"`{arg}` is a string"
            )
    if file is not None:
        raise b.fail(E0419, arg="file", op="static_print", what=describe(file)).help(
            "leave `file` out: a compiler prints to standard error"
        )
    given = values if type(values) is tuple else (values,)
    sys.stderr.write(f"{str(sep).join(map(_shown, given))}{end}")
    if flush:
        sys.stderr.flush()


# --- printing from a program ----------------------------------------------------------------------


def _format_print(op: Operation, names: Names) -> str:
    signs = ", ".join(str(int(sign)) for sign in op.attrs["signed"])
    options = (
        f"{{hex = {'true' if op.attrs['hex'] else 'false'}, "
        f"isSigned = array<i32{f': {signs}' if signs else ''}>}}"
    )
    text = f"{op.name} {quoted(op.attrs['prefix'])} {options}"
    if not op.operands:
        return text
    types = ", ".join(str(value.type) for value in op.operands)
    return f"{text} : {names.list(op.operands)} : {types}"


def _verify_print(op: Operation) -> str | None:
    if len(op.attrs["signed"]) != len(op.operands):
        return "does not know the sign of each value"
    return None


def _element(value: Any, element: str, *, signed: bool, as_hex: bool) -> str:
    """One element as `printf` writes it on a GPU."""
    if element == "ptr":
        return hex(int(value) % (1 << 64))
    if element[0] == "i":
        bits = int(element[1:])
        number = int(value) if signed or bits == 1 else int(value) % (1 << bits)
        return f"0x{number % (1 << bits):0{max(1, bits // 4)}x}" if as_hex else str(number)
    return float(value).hex() if as_hex else f"{float(value):f}"


def _ref_print(np: Any, op: Operation, operands: Sequence[Array], env: Environment) -> tuple[()]:
    """A line for each element of each value, as on a GPU; there their order is not defined."""
    program = f"pid ({', '.join(map(str, env.program))})"
    prefix, as_hex = op.attrs["prefix"], op.attrs["hex"]
    if not operands:
        sys.stdout.write(f"{program}{prefix}\n")
    for number, (operand, array) in enumerate(zip(op.operands, operands, strict=True)):
        element = arrays.element_name(operand.type)
        which = f"(operand {number}) " if len(operands) > 1 else ""
        for place in np.ndindex(*shape_of(operand.type)):
            index = f" idx ({', '.join(map(str, place))})" if place else " idx ()"
            text = _element(array[place], element, signed=op.attrs["signed"][number], as_hex=as_hex)
            sys.stdout.write(f"{program}{index}{prefix}{which}{text}\n")
    return ()


PRINT = register(
    OpDef(
        "tt.print",
        no_result,
        _format_print,
        effects=Effects.WRITE,
        attrs=("prefix", "hex", "signed"),
        verify=_verify_print,
        ref=_ref_print,
        dsl=("device_print",),
    )
)


@lowers("device_print")
def _device_print(
    b: Builder,
    prefix: object,
    args: object = (),
    hex: object = False,  # noqa: A002 - the DSL's name
) -> None:
    if not isinstance(prefix, str) or not prefix.isascii():
        raise b.fail(E0419, arg="prefix", op="device_print", what=describe(prefix)).help(
            'the first argument is a string of ASCII characters: `device_print("x", x)`'
        )
    if isinstance(hex, RuntimeValue):
        raise b.fail(E0210, arg="hex", what="`hex`").help("it is True or False")
    given = args if type(args) is tuple else (args,)
    values = [to_value(b, value, arg="args") for value in given]
    signed = tuple(isinstance(v.dtype, DType) and v.dtype.is_signed for v in values)
    attrs = {"prefix": _prefix(prefix, bool(values)), "hex": bool(hex), "signed": signed}
    b.emit(PRINT, [value.ir for value in values], attrs=attrs)


def _prefix(text: str, has_values: bool) -> str:
    """A colon between the text and the values, a space in front of both."""
    if has_values and not text.endswith(": "):
        text = (text if text.endswith(" ") else f"{text} ")[:-1] + ": "
    return f" {text}" if len(text) > 2 and not text.startswith(" ") else text


# --- checking in a program ------------------------------------------------------------------------


def _verify_assert(op: Operation) -> str | None:
    found = op.operands[0].type
    return None if scalar_of(found) == ScalarType("i1") else f"checks {found}"


def _ref_assert(np: Any, op: Operation, operands: Sequence[Array], env: Environment) -> tuple[()]:
    if not operands[0].all():
        raise env.fail(op, f"assertion failed: {op.attrs['message']}".removesuffix(": "))
    return ()


ASSERT = register(
    OpDef(
        "tt.assert",
        no_result,
        lambda op, names: (
            f"{op.name} {names(op.operands[0])}, {quoted(op.attrs['message'])}"
            f" : {op.operands[0].type}"
        ),
        effects=Effects.WRITE,
        attrs=("message",),
        verify=_verify_assert,
        ref=_ref_assert,
        dsl=("device_assert",),
    )
)


@lowers("device_assert")
def _device_assert(b: Builder, cond: object, msg: object = "", mask: object = None) -> None:
    if not isinstance(msg, str):
        raise b.fail(E0419, arg="msg", op="device_assert", what=describe(msg)).help(
            "`msg` is a string known at compile time"
        )
    condition = semantics.implicitly(b, to_value(b, cond, arg="cond"), I1, arg="cond")
    if mask is not None:
        lanes = semantics.cast(b, to_value(b, mask, arg="mask"), I1, arg="mask")
        off: RuntimeValue = HANDLERS["operator.invert"](b, x=lanes)
        condition = HANDLERS["operator.or"](b, lhs=condition, rhs=off)
    b.emit(ASSERT, [condition.ir], attrs={"message": msg})
