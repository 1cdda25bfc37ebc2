"""Values, operations, blocks, regions, functions and modules of the IR; none known by name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from teenyc.ir.opdef import OpDef
    from teenyc.types import IRType


class Location(NamedTuple):
    """A place in the unit, `caller` the call that brought it here when a helper was inlined."""

    file: str
    line: int
    column: int
    caller: Location | None = None


UNKNOWN = Location("", 0, 0)


class Value:
    """A result of an operation or an argument of a block; `hint` is the source name, if any."""

    __slots__ = ("hint", "index", "owner", "type")

    def __init__(self, type_: IRType, owner: Operation | Block, index: int, hint: str = "") -> None:
        self.type = type_
        self.owner = owner
        self.index = index
        self.hint = hint

    @property
    def op(self) -> Operation | None:
        """The operation that makes the value; None for block arguments."""
        return self.owner if isinstance(self.owner, Operation) else None


class Operation:
    """One operation. `attrs` hold Python values or IR types; `parent` is the block around it."""

    __slots__ = ("attrs", "loc", "opdef", "operands", "parent", "regions", "results")

    def __init__(
        self,
        opdef: OpDef,
        operands: Sequence[Value],
        result_types: Sequence[IRType],
        attrs: dict[str, Any] | None = None,
        regions: Sequence[Region] = (),
        loc: Location = UNKNOWN,
    ) -> None:
        self.opdef = opdef
        self.operands = list(operands)
        self.results = [Value(type_, self, i) for i, type_ in enumerate(result_types)]
        self.attrs: dict[str, Any] = attrs or {}
        self.regions = list(regions)
        for region in self.regions:
            region.parent = self
        self.loc = loc
        self.parent: Block | None = None

    @property
    def name(self) -> str:
        """The MLIR name, such as `arith.addf`."""
        return self.opdef.name

    @property
    def result(self) -> Value:
        """The only result."""
        (value,) = self.results
        return value

    def walk(self) -> Iterator[Operation]:
        """This operation and all inside its regions, in order."""
        yield self
        for region in self.regions:
            yield from region.walk()


class Block:
    """A list of operations with arguments; the last operation is its terminator."""

    __slots__ = ("args", "ops", "parent")

    def __init__(self, arg_types: Sequence[IRType] = (), hints: Sequence[str] = ()) -> None:
        names = list(hints) or [""] * len(arg_types)
        self.args = [Value(t, self, i, names[i]) for i, t in enumerate(arg_types)]
        self.ops: list[Operation] = []
        self.parent: Region | None = None

    def append(self, op: Operation) -> Operation:
        """Add `op` at the end."""
        op.parent = self
        self.ops.append(op)
        return op


class Region:
    """Blocks of a region; structured operations have exactly one block a region."""

    __slots__ = ("blocks", "parent")

    def __init__(self, *blocks: Block) -> None:
        self.blocks = list(blocks)
        for block in blocks:
            block.parent = self
        self.parent: Operation | Function | None = None

    @property
    def block(self) -> Block:
        """The first block."""
        return self.blocks[0]

    def walk(self) -> Iterator[Operation]:
        """All operations inside, in order."""
        for block in self.blocks:
            for op in list(block.ops):
                yield from op.walk()


class Function:
    """A `tt.func`: `arg_attrs` holds one dict an argument, such as `{"tt.divisibility": 16}`."""

    __slots__ = ("arg_attrs", "body", "loc", "name", "result_types")

    def __init__(
        self,
        name: str,
        arg_types: Sequence[IRType],
        arg_names: Sequence[str] = (),
        arg_attrs: Sequence[dict[str, int]] = (),
        loc: Location = UNKNOWN,
    ) -> None:
        self.name = name
        self.body = Region(Block(arg_types, arg_names))
        self.body.parent = self
        self.arg_attrs = list(arg_attrs) or [{} for _ in arg_types]
        self.result_types: list[IRType] = []
        self.loc = loc

    @property
    def args(self) -> list[Value]:
        """The arguments, as values."""
        return self.body.block.args


class Module:
    """One compiled unit: its public function is the entry point.

    `attributes` are the launch attributes of the unit (num_warps, num_stages, num_ctas, maxnreg,
    enable_fp_fusion, and those of launches alone); `params` the run-time parameters as (name, kind,
    dtype name).
    """

    __slots__ = ("attributes", "functions", "kernel", "params")

    def __init__(self, kernel: str) -> None:
        self.kernel = kernel
        self.functions: list[Function] = []
        self.attributes: dict[str, Any] = {}
        self.params: list[tuple[str, str, str]] = []

    @property
    def entry(self) -> Function:
        """The entry point."""
        return self.functions[0]

    def walk(self) -> Iterator[Operation]:
        """All operations of all functions, in order."""
        for function in self.functions:
            yield from function.body.walk()
