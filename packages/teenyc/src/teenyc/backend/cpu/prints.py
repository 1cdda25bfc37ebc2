"""`device_print`: the values go to memory, and a function of the package that runs the object.

It is told what lies there in one line of text, whose fields `teeny_cpu/prints.py` reads: the IR
element, the type in memory, sign, hexadecimal, the operand's number, how many there are, sides,
strides and start in elements, prefix.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from teenyc.backend.cpu.memory import store
from teenyc.ops import arrays

if TYPE_CHECKING:
    from teenyc.backend.cpu.cluster import Serial
    from teenyc.backend.cpu.scope import Scope
    from teenyc.backend.cpu.text import Val

SYMBOL = "teeny_print"


def emit_print(scope: Scope, step: Serial) -> None:
    """A call for each operand, or one without any."""
    op = step.op
    sources = iter(step.sources)
    if not op.operands:
        _call(scope, f"||0|0|0|0||||{op.attrs['prefix']}", "null")
    for number, value in enumerate(op.operands):
        element = arrays.element_name(value.type)
        if hasattr(value.type, "shape"):
            place = next(sources)
            pointer, type_ = place.target.pointer, place.type
            layout = (place.shape, place.strides, (place.start,))
        else:
            pointer, type_ = _stored(scope, scope.scalar(value))
            layout = ((), (), (0,))
        signed, as_hex = int(op.attrs["signed"][number]), int(op.attrs["hex"])
        sides = "|".join(",".join(map(str, part)) for part in layout)
        head = f"{element}|{type_}|{signed}|{as_hex}|{number}|{len(op.operands)}"
        _call(scope, f"{head}|{sides}|{op.attrs['prefix']}", pointer)


def _stored(scope: Scope, x: Val) -> tuple[str, str]:
    """A scalar's place on the stack, and its type there."""
    c, slot = scope.builder(), scope.slot(0)
    held = c.encode(x, "i1") if x.type == "i1" else x
    store(c, slot, held, 0)
    return slot, held.type


def _call(scope: Scope, text: str, pointer: str) -> None:
    data = text.encode()
    name = f"teeny.print.{data.hex()}"
    spelled = "".join(f"\\{byte:02X}" for byte in data)
    scope.output.helpers[name] = f'@{name} = private constant [{len(data)} x i8] c"{spelled}"\n'
    scope.output.declares.add(f"declare void @{SYMBOL}(ptr, i64, ptr, i64, i64, i64)")
    given = "i64 %pid.x, i64 %pid.y, i64 %pid.z"
    scope.builder().do(
        f"call void @{SYMBOL}(ptr @{name}, i64 {len(data)}, ptr {pointer}, {given})", 0
    )
