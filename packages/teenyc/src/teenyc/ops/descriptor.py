"""Tensor descriptors: tiles of an array that the hardware moves by itself where it can (sm_90 on).

What a tile has outside of its array is read as the padding and not written. The interpreter holds a
descriptor as the numbers it is made of: the address, the sides and the strides.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from teenyc.codes import E0501, E0511, E0512
from teenyc.ir.builder import Builder
from teenyc.ir.core import Operation, Value
from teenyc.ir.opdef import Effects, OpDef, lowers, register
from teenyc.ir.printer import Names
from teenyc.ops import arrays
from teenyc.ops.atomic import COMBINE
from teenyc.ops.broadcasting import check_shape, spell
from teenyc.ops.families import Array, Environment, no_result
from teenyc.ops.literals import to_value
from teenyc.ops.semantics import implicitly
from teenyc.ops.tiles import padding, same_rank, scalars
from teenyc.types import (
    BF16,
    F16,
    F32,
    I1,
    I16,
    I32,
    I64,
    U32,
    U64,
    DescriptorType,
    DType,
    IRType,
    PointerDType,
    PointerType,
    ScalarType,
    TensorType,
)
from teenyc.values import Descriptor, RuntimeValue, describe

# --- types ----------------------------------------------------------------------------------------


def _descriptor(value: Value) -> DescriptorType:
    assert isinstance(value.type, DescriptorType)
    return value.type


# --- the record that makes one --------------------------------------------------------------------


def _format_make(op: Operation, names: Names) -> str:
    rank = len(op.attrs["block"])
    base, *rest = op.operands
    sides, strides = names.list(rest[:rank]), names.list(rest[rank:])
    extra = " {padding = 2 : i32}" if op.attrs["nan"] else ""
    assert isinstance(base.type, PointerType)
    found = names.type(op.results[0].type).removeprefix("!tt.tensordesc")
    return (
        f"{op.name} {names(base)}, [{sides}], [{strides}]{extra} : <{base.type.pointee}>, {found}"
    )


def _verify_make(op: Operation) -> str | None:
    rank = len(op.attrs["block"])
    found = [str(value.type) for value in op.operands[1:]]
    if found != ["i32"] * rank + ["i64"] * rank:
        return f"has sides and strides of types {', '.join(found)}"
    if not isinstance(op.operands[0].type, PointerType):
        return f"describes {op.operands[0].type}"
    return None


def _made_type(operands: Sequence[Value], attrs: dict[str, Any]) -> tuple[IRType, ...]:
    base = operands[0].type
    assert isinstance(base, PointerType)
    assert isinstance(base.pointee, ScalarType)
    return (DescriptorType(attrs["block"], base.pointee, attrs["signed"]),)


def _ref_make(np: Any, op: Operation, operands: Sequence[Array], env: Environment) -> Array:
    numbers = [int(operand) for operand in operands]
    return np.asarray([*numbers, int(op.attrs["nan"])], dtype=np.int64)


MAKE = register(
    OpDef(
        "tt.make_tensor_descriptor",
        _made_type,
        _format_make,
        effects=Effects.READ,  # a handle of its own: two equal ones are not merged
        attrs=("block", "nan", "signed"),
        verify=_verify_make,
        ref=_ref_make,
        dsl=("make_tensor_descriptor",),
    )
)

# --- readings -------------------------------------------------------------------------------------


def _places(
    np: Any, descriptor: Array, indices: Sequence[Array], element: Any
) -> tuple[Array, Array, bool]:
    """Addresses of a tile, where it lies inside, and whether it is padded with NaN."""
    rank = len(indices)
    base, sides, strides = descriptor[0], descriptor[1 : rank + 1], descriptor[rank + 1 : -1]
    inside, offset = True, 0
    for axis, index in enumerate(indices):
        inside = inside & (index >= 0) & (index < sides[axis])
        offset = offset + index * strides[axis]
    addresses = np.asarray(base + offset * arrays.itemsize(element), dtype=np.int64)
    return addresses, np.broadcast_to(inside, addresses.shape), bool(descriptor[-1])


def _tile(np: Any, op: Operation, operands: Sequence[Array]) -> tuple[Array, Array, bool]:
    """The tile at the offsets that follow the descriptor."""
    found = _descriptor(op.operands[0])
    indices = [
        operands[axis + 1].astype(np.int64)
        + np.arange(side).reshape([-1 if i == axis else 1 for i in range(len(found.shape))])
        for axis, side in enumerate(found.shape)
    ]
    return _places(np, operands[0], indices, found.element)


def _rows(np: Any, op: Operation, operands: Sequence[Array]) -> tuple[Array, Array, bool]:
    """The rows whose numbers follow the descriptor, from the column after them on."""
    found = _descriptor(op.operands[0])
    rows, column = operands[1].astype(np.int64), operands[2].astype(np.int64)
    columns = column + np.arange(found.shape[1])
    return _places(np, operands[0], [rows[:, np.newaxis], columns[np.newaxis, :]], found.element)


Places = Callable[[Any, Operation, Sequence[Array]], tuple[Array, Array, bool]]


def _reads(places: Places) -> Callable[..., Array]:
    def read(np: Any, op: Operation, operands: Sequence[Array], env: Environment) -> Array:
        addresses, inside, nan = places(np, op, operands)
        found = env.load(op, addresses, inside)
        return np.where(inside, found, found.dtype.type("nan")) if nan else found

    return read


def _writes(places: Places) -> Callable[..., tuple[()]]:
    def write(np: Any, op: Operation, operands: Sequence[Array], env: Environment) -> tuple[()]:
        addresses, inside, _ = places(np, op, operands)
        env.store(op, addresses, operands[-1], inside)
        return ()

    return write


def _ref_reduce(np: Any, op: Operation, operands: Sequence[Array], env: Environment) -> tuple[()]:
    addresses, inside, _ = _tile(np, op, operands)
    kind, name = op.attrs["kind"], arrays.element_name(op.operands[-1].type)
    if kind == "add" and name[0] != "i":
        kind = "fadd"
    old = env.load(op, addresses, inside)
    env.store(op, addresses, COMBINE[kind](np, old, operands[-1], name), inside)
    return ()


# --- records --------------------------------------------------------------------------------------


def _verify_tile(op: Operation) -> str | None:
    """A descriptor, its offsets in i32, and the tile as operand or result."""
    found = op.operands[0].type
    if not isinstance(found, DescriptorType):
        return f"reads or writes through {found}"
    rank = len(found.shape)
    rest = op.operands[1 : rank + 1]
    if [str(value.type) for value in rest] != ["i32"] * rank:
        return f"has offsets of types {', '.join(str(value.type) for value in rest)}"
    tiles = [value.type for value in (*op.operands[rank + 1 :], *op.results)]
    return None if tiles == [found.block] else f"moves {tiles} through {found}"


def _verify_rows(op: Operation) -> str | None:
    found = op.operands[0].type
    if not isinstance(found, DescriptorType) or len(found.shape) != 2:
        return f"reads or writes rows through {found}"
    rows = op.operands[1].type
    if not isinstance(rows, TensorType) or str(rows.element) not in ("i16", "i32"):
        return f"has rows {rows}"
    wanted = TensorType((rows.shape[0], found.shape[1]), found.element)
    tiles = [value.type for value in (*op.operands[3:], *op.results)]
    return None if tiles == [wanted] else f"moves {tiles} through {found}"


def _format_tile(op: Operation, names: Names) -> str:
    descriptor, rank = op.operands[0], len(_descriptor(op.operands[0]).shape)
    kind = f" {op.attrs['kind']}," if "kind" in op.attrs else ""
    left = f"{op.name}{kind} {names(descriptor)}[{names.list(op.operands[1 : rank + 1])}]"
    if op.results:
        return f"{left} : {names.type(descriptor.type)} -> {op.results[0].type}"
    value = op.operands[-1]
    return f"{left}, {names(value)} : {names.type(descriptor.type)}, {value.type}"


def _format_rows(op: Operation, names: Names) -> str:
    descriptor, rows, column = op.operands[:3]
    left = f"{op.name} {names(descriptor)}[{names(rows)}, {names(column)}]"
    types = f"{names.type(descriptor.type)}, {rows.type}, {column.type}"
    if op.results:
        return f"{left} : ({types}) -> {op.results[0].type}"
    value = op.operands[3]
    return f"{left}, {names(value)} : {types}, {value.type}"


LOAD = register(
    OpDef(
        "tt.descriptor_load",
        lambda operands, attrs: (_descriptor(operands[0]).block,),
        _format_tile,
        effects=Effects.READ,
        verify=_verify_tile,
        ref=_reads(_tile),
        dsl=("load_tensor_descriptor",),
    )
)
STORE = register(
    OpDef(
        "tt.descriptor_store",
        no_result,
        _format_tile,
        effects=Effects.WRITE,
        verify=_verify_tile,
        ref=_writes(_tile),
        dsl=("store_tensor_descriptor",),
    )
)
REDUCE = register(
    OpDef(
        "tt.descriptor_reduce",
        no_result,
        _format_tile,
        effects=Effects.READ | Effects.WRITE,
        attrs=("kind",),
        verify=_verify_tile,
        ref=_ref_reduce,
        dsl=("_descriptor_atomic",),
    )
)
GATHER = register(
    OpDef(
        "tt.descriptor_gather",
        lambda operands, attrs: (attrs["type"],),
        _format_rows,
        effects=Effects.READ,
        attrs=("type",),
        verify=_verify_rows,
        ref=_reads(_rows),
        dsl=("_descriptor_gather",),
    )
)
SCATTER = register(
    OpDef(
        "tt.descriptor_scatter",
        no_result,
        _format_rows,
        effects=Effects.WRITE,
        verify=_verify_rows,
        ref=_writes(_rows),
        dsl=("_descriptor_scatter",),
    )
)

# --- handlers -------------------------------------------------------------------------------------

_LEAST_BYTES = 16


@lowers("make_tensor_descriptor")
def _make_tensor_descriptor(
    b: Builder,
    base: object,
    shape: object,
    strides: object,
    block_shape: object,
    padding_option: object = "zero",
) -> Descriptor:
    pointer = to_value(b, base, arg="base")
    dtype = pointer.dtype.element if isinstance(pointer.dtype, PointerDType) else None
    if pointer.shape or not isinstance(dtype, DType) or dtype == I1:
        raise b.fail(E0501, arg="base", op="make_tensor_descriptor", type=pointer.describe()).help(
            "give it the array's own pointer, a scalar, to numbers"
        )
    block = check_block(b, "block_shape", dtype, block_shape)
    rank = len(block)
    if type(strides) is tuple and strides and strides[-1] != 1:
        raise _misfit(b, "strides", f"{describe(strides[-1])} along the last side").help(
            "the last stride is the literal 1: elements lie side by side"
        )
    for stride in strides[:-1] if isinstance(strides, tuple) else ():
        if type(stride) is int and stride * dtype.itemsize % 16:
            raise _misfit(
                b, "strides", f"{stride * dtype.itemsize} bytes from one row to the next"
            ).help("all strides but the last are multiples of 16 bytes: pad the rows")
    sides = scalars(b, shape, "shape", I32)
    steps = scalars(b, strides, "strides", I64)
    same_rank(b, rank, {"shape": sides, "strides": steps})
    nan = padding(b, padding_option, dtype) != 0
    operands = [value.ir for value in (pointer, *sides, *steps)]
    attrs = {"block": block, "nan": nan, "signed": dtype.is_signed}
    handle = b.emit(MAKE, operands, attrs=attrs).result
    return Descriptor(handle, dtype, block, sides, steps)


def check_block(b: Builder, arg: str, dtype: DType, given: object) -> tuple[int, ...]:
    """The sides of a descriptor's tiles. Raises E0512 and what `check_shape` raises."""
    block = check_shape(b, given, arg)
    if not 1 <= len(block) <= 5:
        raise _misfit(b, arg, f"{len(block)} sides").help("a descriptor has 1 to 5 sides")
    nbytes = block[-1] * dtype.itemsize
    if nbytes < _LEAST_BYTES:
        raise _misfit(b, arg, f"{nbytes} bytes along the last side").help(
            f"the last side has at least {_LEAST_BYTES // dtype.itemsize} elements of {dtype}"
        )
    return block


def _misfit(b: Builder, arg: str, what: str) -> Any:
    return b.fail(E0512, arg=arg, parameter=arg, what=what)


def _require(b: Builder, desc: object, op: str) -> Descriptor:
    if isinstance(desc, Descriptor):
        return desc
    raise b.fail(E0501, arg="desc", op=op, type=describe(desc)).help(
        "give it what `make_tensor_descriptor` makes"
    )


def _starts(b: Builder, desc: Descriptor, offsets: object) -> list[Value]:
    found = scalars(b, offsets, "offsets", I32)
    same_rank(b, len(desc.block), {"offsets": found})
    return [value.ir for value in found]


def _fitting(b: Builder, desc: Descriptor, value: object, shape: tuple[int, ...]) -> RuntimeValue:
    given = to_value(b, value, arg="value")
    if given.shape != shape:
        raise _misfit(b, "value", f"{given.describe()} for a tile of shape {spell(shape)}").help(
            "a tile is written whole: bring the value to its shape"
        )
    return implicitly(b, given, desc.dtype, arg="value")


@lowers("load_tensor_descriptor")
def _load_tensor_descriptor(b: Builder, desc: object, offsets: object) -> RuntimeValue:
    found = _require(b, desc, "load_tensor_descriptor")
    tile = b.emit(LOAD, [found.ir, *_starts(b, found, offsets)]).result
    return RuntimeValue(tile, found.dtype, found.block)


@lowers("store_tensor_descriptor")
def _store_tensor_descriptor(b: Builder, desc: object, offsets: object, value: object) -> None:
    found = _require(b, desc, "store_tensor_descriptor")
    tile = _fitting(b, found, value, found.block)
    b.emit(STORE, [found.ir, *_starts(b, found, offsets), tile.ir])


# What the hardware changes by itself, by dtype.
REDUCES: dict[str, tuple[DType, ...]] = {
    "add": (U32, I32, U64, F32, F16, BF16),
    "min": (U32, I32, U64, I64, F16, BF16),
    "max": (U32, I32, U64, I64, F16, BF16),
    "and": (U32, I32, U64, I64),
    "or": (U32, I32, U64, I64),
    "xor": (U32, I32, U64, I64),
}


@lowers("_descriptor_atomic")
def _descriptor_atomic(
    b: Builder, desc: object, kind: object, offsets: object, value: object
) -> None:
    found = _require(b, desc, f"atomic_{kind}")
    known = REDUCES[str(kind)]
    if found.dtype not in known:
        raise b.fail(E0511, arg="desc", op=f"atomic_{kind}", dtype=found.dtype).help(
            f"descriptors have it for {', '.join(map(str, known))}"
        )
    tile = _fitting(b, found, value, found.block)
    operands = [found.ir, *_starts(b, found, offsets), tile.ir]
    b.emit(REDUCE, operands, attrs={"kind": kind})


def _row_arguments(
    b: Builder, desc: object, x_offsets: object, y_offset: object, op: str
) -> tuple[Descriptor, RuntimeValue, RuntimeValue]:
    found = _require(b, desc, op)
    if len(found.block) != 2 or found.block[0] != 1:
        raise _misfit(b, "desc", f"its block is {spell(found.block)}").help(
            f"`{op}` takes a descriptor of single rows: `block_shape=[1, n]`"
        )
    rows = to_value(b, x_offsets, arg="x_offsets")
    if len(rows.shape) != 1 or rows.dtype not in (I16, I32) or rows.shape[0] < 8:
        raise _misfit(b, "x_offsets", f"{rows.describe()}").help(
            "the rows are a tensor of rank 1 of at least 8 numbers, i16 or i32"
        )
    least = 32 // found.dtype.itemsize
    if found.block[1] < least:
        raise _misfit(b, "desc", f"its rows have {found.block[1]} elements").help(
            f"rows of {found.dtype} have at least {least}"
        )
    (column,) = scalars(b, (y_offset,), "y_offset", I32)
    return found, rows, column


@lowers("_descriptor_gather")
def _descriptor_gather(
    b: Builder, desc: object, x_offsets: object, y_offset: object
) -> RuntimeValue:
    found, rows, column = _row_arguments(b, desc, x_offsets, y_offset, "gather")
    shape = (rows.shape[0], found.block[1])
    type_ = TensorType(shape, ScalarType(found.dtype.mlir))
    tile = b.emit(GATHER, [found.ir, rows.ir, column.ir], attrs={"type": type_}).result
    return RuntimeValue(tile, found.dtype, shape)


@lowers("_descriptor_scatter")
def _descriptor_scatter(
    b: Builder, desc: object, value: object, x_offsets: object, y_offset: object
) -> None:
    found, rows, column = _row_arguments(b, desc, x_offsets, y_offset, "scatter")
    tile = _fitting(b, found, value, (rows.shape[0], found.block[1]))
    b.emit(SCATTER, [found.ir, rows.ir, column.ir, tile.ir])
