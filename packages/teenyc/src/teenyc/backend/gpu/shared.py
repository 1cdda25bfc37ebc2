"""Shared memory that a kernel needs, read from its IR without libtriton.

What a product multiplies lies there whole when it comes from memory: a least size, which is sure.
Loops that load ahead keep several tiles, how many is libtriton's decision: an estimate.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from teeny_macros.source import Span
from teenyc.backend.gpu.versions import arch_number
from teenyc.codes import E0716
from teenyc.ir.core import Operation
from teenyc.ops import arrays
from teenyc.types import TensorType

if TYPE_CHECKING:
    from collections.abc import Iterator

    from teeny_macros.diagnostics import Diagnostic
    from teenyc.ir.core import Module, Value

# Bytes a block may have, those reserved by the system left out (CUDA C++ Programming Guide,
# "Technical Specifications per Compute Capability").
LIMITS = {75: 65536, 80: 166912, 86: 101376, 87: 166912, 89: 101376, 90: 232448, 100: 232448,
          103: 232448, 110: 232448, 120: 101376, 121: 101376}  # fmt: skip
_PRODUCTS = ("tt.dot", "tt.dot_scaled")
_LOADS = ("tt.load", "tt.descriptor_load")
_MOVES = ("tt.trans", "tt.reshape", "arith.extf", "arith.truncf", "tt.fp_to_fp", "tt.bitcast")


def check_shared(module: Module, arch: str) -> list[Diagnostic]:
    """Warnings of products whose loops will probably need too much.

    Raises E0716 where one product is sure to.
    """
    limit = LIMITS.get(arch_number(arch))
    if limit is None:
        return []
    warnings: list[Diagnostic] = []
    for op in module.walk():
        if op.name not in _PRODUCTS:
            continue
        loads = list(dict.fromkeys(_loaded(op)))
        least = sum(_size(load.result) for load in loads)
        if least > limit:
            raise E0716.at(
                _span(op), "here", what=f"the tiles that this multiplies take {least} bytes",
                arch=arch, limit=limit,
            ).help("take smaller blocks, or fewer along the inner side")  # fmt: skip
        loop = _loop_around(op)
        if loop is None:
            continue
        stages = int(loop.attrs.get("tt.num_stages") or module.attributes["num_stages"])
        inside = [load for load in loads if _loop_around(load) is loop]
        ahead = sum(_size(load.result) for load in inside) * max(stages - 1, 1)
        if ahead > limit:
            found = E0716.warn(
                _span(op), "here", what=f"the tiles loaded ahead for this take about {ahead} bytes",
                arch=arch, limit=limit,
            )  # fmt: skip
            found.notes.append(f"estimated from its operands and {stages} stages")
            found.helps.append("take smaller blocks, or a smaller `num_stages`")
            warnings.append(found)
    return warnings


def require_shared(size: int, arch: str, span: Span | None) -> None:
    """Raise E0716 for a kernel that was compiled and needs more than a block may have."""
    limit = LIMITS[arch_number(arch)]
    if size > limit:
        raise E0716.at(
            span, "here", what=f"the kernel takes {size} bytes", arch=arch, limit=limit
        ).help("take smaller blocks, or a smaller `num_stages`")


def _loaded(op: Operation) -> Iterator[Operation]:
    """The loads that the two factors of a product come from."""
    for value in (op.operands[0], op.operands[2 if op.name == "tt.dot_scaled" else 1]):
        made = value.op
        while made is not None and made.name in _MOVES:
            made = made.operands[0].op
        if made is not None and made.name in _LOADS:
            yield made


def _size(value: Value) -> int:
    type_ = value.type
    assert isinstance(type_, TensorType)
    count = arrays.itemsize(type_.element)
    for side in type_.shape:
        count *= side
    return count


def _loop_around(op: Operation) -> Operation | None:
    """The innermost loop that an operation stands in."""
    block = op.parent
    while block is not None and block.parent is not None:
        owner = block.parent.parent
        if not isinstance(owner, Operation):
            return None
        if owner.name == "scf.for":
            return owner
        block = owner.parent
    return None


def _span(op: Operation) -> Span | None:
    loc = op.loc
    while loc.caller is not None:
        loc = loc.caller
    return Span.point(loc.file, loc.line, loc.column) if loc.file else None
