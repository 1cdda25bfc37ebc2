"""Small functions of the text for lanes that hardware has no instruction for: one loop each.

They touch exactly the lanes of their mask, bit i for lane i, in order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from teenyc.backend.cpu.text import Output

_LOOP = """\
define internal void @{name}(ptr %to, ptr %from, i64 %mask) noinline nounwind {{
  %none = icmp eq i64 %mask, 0
  br i1 %none, label %done, label %next
next:
  %left = phi i64 [%mask, %0], [%rest, %next]
  %lane = call i64 @llvm.cttz.i64(i64 %left, i1 true)
{body}  %less = add i64 %left, -1
  %rest = and i64 %left, %less
  %last = icmp eq i64 %rest, 0
  br i1 %last, label %done, label %next
done:
  ret void
}}
"""
_LOAD = "  %x = load {type}, ptr {source}, align {size}\n"
_STORE = "  store {type} %x, ptr {target}, align {size}\n"


def _lane(name: str, pointer: str, type_: str) -> str:
    return f"  %{name} = getelementptr {type_}, ptr {pointer}, i64 %lane\n"


def _address(name: str, pointer: str) -> str:
    return (
        _lane("at", pointer, "i64")
        + "  %address = load i64, ptr %at, align 8\n"
        + f"  %{name} = inttoptr i64 %address to ptr\n"
    )


def lanes(output: Output, kind: str, size: int) -> str:
    """The symbol of `copy`, `gather` (through addresses at `from`) or `scatter` (at `to`)."""
    name = f"teeny.{kind}.{size * 8}"
    if name not in output.helpers:
        type_ = f"i{size * 8}"
        source = (
            _address("source", "%from") if kind == "gather" else _lane("source", "%from", type_)
        )
        target = _address("target", "%to") if kind == "scatter" else _lane("target", "%to", type_)
        body = source + _LOAD.format(type=type_, source="%source", size=size)
        body += target + _STORE.format(type=type_, target="%target", size=size)
        output.helpers[name] = _LOOP.format(name=name, body=body)
        output.declares.add("declare i64 @llvm.cttz.i64(i64, i1)")
    return f"@{name}"
