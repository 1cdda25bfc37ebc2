"""`Builder`: where the next operation goes, which place it comes from, and how to fail there."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from teenyc.ir.core import UNKNOWN, Block, Operation, Region

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from teeny_macros.diagnostics import Code, Diagnostic, TeenyError
    from teeny_macros.source import Span
    from teeny_macros.target import Target
    from teenyc.ir.core import Location, Value
    from teenyc.ir.opdef import OpDef
    from teenyc.types import IRType


class Builder:
    """Appends operations to a block.

    The front end sets `loc` and `span` to the node it visits and `arg_spans` to the spans of the
    call's arguments by parameter name, so that handlers can point at the argument that is wrong.
    """

    def __init__(self, block: Block | None = None) -> None:
        self.block = block if block is not None else Block()
        self.loc: Location = UNKNOWN
        self.span: Span | None = None
        self.arg_spans: dict[str, Span] = {}
        # Warnings about casts that the text does not say, where they are asked for.
        self.implicit: list[Diagnostic] | None = None
        # What is compiled for, where it is known: a dead branch of one target lives in another.
        self.target: Target | None = None

    def emit(
        self,
        opdef: OpDef,
        operands: Sequence[Value] = (),
        *,
        attrs: dict[str, Any] | None = None,
        results: Sequence[IRType] | None = None,
        regions: Sequence[Region] = (),
    ) -> Operation:
        """Append one operation; result types are inferred by its record unless given."""
        found = attrs or {}
        types = opdef.result(operands, found) if results is None else results
        return self.block.append(Operation(opdef, operands, types, found, regions, self.loc))

    def value(self, opdef: OpDef, *operands: Value, **attrs: Any) -> Value:
        """Append an operation with one result and return the result."""
        return self.emit(opdef, operands, attrs=attrs).result

    @contextmanager
    def inside(self, block: Block) -> Iterator[Block]:
        """Append to `block` for a while."""
        outer, self.block = self.block, block
        try:
            yield block
        finally:
            self.block = outer

    def fail(self, code: Code, label: str = "", *, arg: str = "", **fields: object) -> TeenyError:
        """The error `code` at argument `arg` (by parameter name), or at the node being lowered."""
        return code.at(self.arg_spans.get(arg, self.span), label, **fields)
