"""Pointer arithmetic, loads and stores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from teenyc.codes import E0302, E0416, E0501, E0502, E0503, E0504, E0505, E0512
from teenyc.ir.builder import Builder
from teenyc.ir.core import Operation, Value
from teenyc.ir.opdef import Effects, OpDef, lowers, register
from teenyc.ir.printer import Names
from teenyc.ops import arrays, semantics
from teenyc.ops.broadcasting import Shape, broadcast_pair, common_shape, spell, stretch
from teenyc.ops.families import Array, Environment, no_result, same_type
from teenyc.ops.literals import to_value
from teenyc.ops.tiles import checked_axes, padding, tile
from teenyc.types import (
    I1,
    I8,
    AnyDType,
    DType,
    IRType,
    PointerDType,
    PointerType,
    ScalarType,
    scalar_of,
    shape_of,
    with_element,
)
from teenyc.values import BlockPointer, RuntimeValue, describe

# --- records --------------------------------------------------------------------------------------


def _pointee(type_: IRType) -> ScalarType | PointerType | None:
    pointer = scalar_of(type_)
    return pointer.pointee if isinstance(pointer, PointerType) else None


def _verify_addptr(op: Operation) -> str | None:
    pointer, amount = (value.type for value in op.operands)
    number = scalar_of(amount)
    if _pointee(pointer) is None or isinstance(number, PointerType) or number.name[0] != "i":
        return f"moves {pointer} by {amount}"
    return None if shape_of(pointer) == shape_of(amount) else f"moves {pointer} by {amount}"


def _ref_addptr(np: Any, op: Operation, operands: Sequence[Array], env: Environment) -> Array:
    pointee = _pointee(op.operands[0].type)
    assert pointee is not None
    return operands[0] + operands[1].astype(np.int64) * np.int64(arrays.itemsize(pointee))


def _cpu_addptr(c: Any, op: Operation, pointer: Any, amount: Any) -> Any:
    pointee = _pointee(op.operands[0].type)
    assert pointee is not None
    wide = c.resized(amount, "i64", signed=True)
    size = c.constant(arrays.itemsize(pointee), "i64")
    return c.integer("add", pointer, c.integer("mul", wide, size))


ADDPTR = register(
    OpDef(
        "tt.addptr",
        same_type,
        lambda op, names: (
            f"tt.addptr {names.list(op.operands)} : {op.operands[0].type}, {op.operands[1].type}"
        ),
        verify=_verify_addptr,
        ref=_ref_addptr,
        cpu=_cpu_addptr,
    )
)


def _loaded_type(operands: Sequence[Value], attrs: dict[str, Any]) -> tuple[IRType, ...]:
    pointee = _pointee(operands[0].type)
    assert pointee is not None
    return (with_element(operands[0].type, pointee),)


def _policy(op: Operation, names: Names) -> str:
    """How caches are asked to treat the data, in the spelling of the dialect."""
    cache, eviction = op.attrs.get("cache"), op.attrs.get("eviction")
    parts = []
    if names.dialect.cache_policy_attribute and (cache or eviction):  # the attribute has both
        both = f"cache_modifier = {cache or 'none'}, eviction_policy = {eviction or 'evict_normal'}"
        parts.append(f"cachePolicy = #tt.cache_policy<{both}>")
    if op.attrs.get("volatile"):
        parts.append("isVolatile = true")
    text = f" {{{', '.join(parts)}}}" if parts else ""
    if not names.dialect.cache_policy_attribute:
        text = (f" evictionPolicy = {eviction}" if eviction else "") + text
        text = (f" cacheModifier = {cache}" if cache else "") + text
    return text


def _format_access(op: Operation, names: Names) -> str:
    return f"{op.name} {names.list(op.operands)}{_policy(op, names)} : {op.operands[0].type}"


def _verify_access(op: Operation, value: IRType, mask: Value | None) -> str | None:
    pointer = op.operands[0].type
    pointee = _pointee(pointer)
    if pointee is None or value != with_element(pointer, pointee):
        return f"moves {value} through {pointer}"
    if pointee == ScalarType("i1"):
        return "booleans are bytes in memory"
    if mask is not None and mask.type != with_element(pointer, ScalarType("i1")):
        return f"has a mask of {mask.type} for {pointer}"
    return None


def _verify_load(op: Operation) -> str | None:
    if len(op.operands) > 2 and op.operands[2].type != op.results[0].type:
        return f"puts {op.operands[2].type} where {op.results[0].type} is not read"
    return _verify_access(op, op.results[0].type, op.operands[1] if len(op.operands) > 1 else None)


def _ref_load(np: Any, op: Operation, operands: Sequence[Array], env: Environment) -> Array:
    mask = operands[1] if len(operands) > 1 else None
    found = env.load(op, operands[0], mask)
    return found if len(operands) < 3 else np.where(mask, found, operands[2])


LOAD = register(
    OpDef(
        "tt.load",
        _loaded_type,
        _format_access,
        effects=Effects.READ,
        attrs=("cache", "eviction", "volatile"),
        verify=_verify_load,
        ref=_ref_load,
        dsl=("load",),
    )
)


def _verify_store(op: Operation) -> str | None:
    mask = op.operands[2] if len(op.operands) > 2 else None
    return _verify_access(op, op.operands[1].type, mask)


def _ref_store(np: Any, op: Operation, operands: Sequence[Array], env: Environment) -> tuple[()]:
    env.store(op, operands[0], operands[1], operands[2] if len(operands) > 2 else None)
    return ()


STORE = register(
    OpDef(
        "tt.store",
        no_result,
        _format_access,
        effects=Effects.WRITE,
        attrs=("cache", "eviction"),
        verify=_verify_store,
        ref=_ref_store,
        dsl=("store",),
    )
)

# --- handlers -------------------------------------------------------------------------------------

_LOAD_CACHE = (".ca", ".cg", ".cv")
_STORE_CACHE = (".wb", ".cg", ".cs", ".wt")
_EVICTION = ("evict_first", "evict_last")


def _option(b: Builder, value: object, known: tuple[str, ...], arg: str) -> str | None:
    if value in ("", None):
        return None
    if value not in known:
        raise b.fail(E0416, arg=arg, what=describe(value), parameter=arg).help(
            f"it is one of {', '.join(map(repr, known))}, or left out"
        )
    return str(value).removeprefix(".")


def pointer_argument(b: Builder, x: object, op: str) -> tuple[RuntimeValue, PointerDType]:
    """The argument `pointer` of `op`: a pointer, or a tensor of pointers."""
    if isinstance(x, RuntimeValue) and isinstance(x.dtype, PointerDType):
        return x, x.dtype
    raise b.fail(E0501, arg="pointer", op=op, type=describe(x)).help(
        "give it a pointer: `x_ptr + offsets`"
    )


def require_mask(b: Builder, mask: object, pointer: RuntimeValue) -> RuntimeValue:
    """A mask beside `pointer`: i1, and of no more axes."""
    found = to_value(b, mask, arg="mask")
    if found.dtype != I1:
        raise b.fail(E0502, f"is {found.describe()}", arg="mask", dtype=found.dtype).help(
            "compare: `mask=offsets < n`, or `mask=m != 0`"
        )
    refuse_wider(b, found.shape, pointer, "mask")
    return found


def refuse_wider(b: Builder, shape: Shape, pointer: RuntimeValue, arg: str) -> None:
    """Nothing beside a pointer has more axes than the pointer."""
    if shape and not pointer.shape:
        raise b.fail(E0504, arg=arg, what=arg, shape=spell(shape)).help(
            "make the pointer a tensor too: `pointer + offsets`"
        )
    if len(shape) > len(pointer.shape):
        raise b.fail(
            E0505, arg=arg, what=arg, shape=spell(shape), pointer=spell(pointer.shape)
        ).help("give both the same rank: `x[:, None]` puts a side in")


def refuse_larger(
    b: Builder, pointer: RuntimeValue, values: Mapping[str, RuntimeValue | None]
) -> None:
    """Nothing that is written has more elements than there are pointers."""
    for arg, value in values.items():
        if value is None:
            continue
        if common_shape(b, pointer.shape, value.shape, arg) != pointer.shape:
            raise b.fail(
                E0505, arg=arg, what=arg, shape=spell(value.shape), pointer=spell(pointer.shape)
            ).help(
                "let the pointer have every element: `pointer + rows[:, None] * stride + columns`"
            )


def _refuse_block_options(b: Builder, boundary_check: object, padding_option: object = "") -> None:
    for arg, value in (("boundary_check", boundary_check), ("padding_option", padding_option)):
        if value not in ((), "", None):
            raise b.fail(
                E0512,
                arg=arg,
                parameter=arg,
                what="only a block pointer knows where its array ends",
            ).help("use `mask` and `other` with other pointers")


def _refuse_masks(b: Builder, **given: object) -> None:
    for arg, value in given.items():
        if value is not None:
            raise b.fail(
                E0512, arg=arg, parameter=arg, what="a block pointer has `boundary_check` instead"
            ).help("name the axes to be checked: `boundary_check=(0, 1)`")


def as_bytes(b: Builder, pointer: RuntimeValue, dtype: PointerDType) -> RuntimeValue:
    """Pointers to i1 read and write bytes."""
    return semantics.cast(b, pointer, PointerDType(I8)) if dtype.element == I1 else pointer


@lowers("load")
def _load(
    b: Builder,
    pointer: object,
    mask: object = None,
    other: object = None,
    boundary_check: object = (),
    padding_option: object = "",
    cache_modifier: object = "",
    eviction_policy: object = "",
    volatile: object = False,
) -> RuntimeValue:
    if isinstance(pointer, BlockPointer):
        _refuse_masks(b, mask=mask, other=other)
        block = pointer
        pointer, mask = tile(b, block, checked_axes(b, boundary_check, len(block.block)))
        if padding_option not in ("", None):
            filling = padding(b, padding_option, block.element)
            other = None if mask is None else filling
    else:
        _refuse_block_options(b, boundary_check, padding_option)
    address, dtype = pointer_argument(b, pointer, "load")
    if mask is None and other is not None:
        raise b.fail(E0503, arg="other").help("add `mask=`, or leave `other` out")
    attrs = {
        "cache": _option(b, cache_modifier, _LOAD_CACHE, "cache_modifier"),
        "eviction": _option(b, eviction_policy, _EVICTION, "eviction_policy"),
        "volatile": bool(volatile),
    }
    condition = None if mask is None else require_mask(b, mask, address)
    rest = None if other is None else to_value(b, other, arg="other")
    if rest is not None:
        refuse_wider(b, rest.shape, address, "other")
    if condition is not None and address.shape:
        address, condition = broadcast_pair(b, address, condition, "mask")
    if rest is not None and address.shape:
        address, rest = broadcast_pair(b, address, rest, "other")
    if condition is not None and condition.shape != address.shape:
        condition = stretch(b, condition, address.shape)
    element = I8 if dtype.element == I1 else dtype.element
    address = as_bytes(b, address, dtype)
    operands = [address.ir]
    if condition is not None:
        operands.append(condition.ir)
    if rest is not None:
        semantics.note_cast(b, other, dtype.element, "other")
        operands.append(semantics.cast(b, rest, element, arg="other").ir)
    found = RuntimeValue(b.emit(LOAD, operands, attrs=attrs).result, element, address.shape)
    return semantics.cast(b, found, dtype.element)


def _refuse_literal(b: Builder, value: object, dtype: AnyDType) -> None:
    """A number of the kernel's text whose bits the places cannot hold, signed or not."""
    if type(value) is int and isinstance(dtype, DType) and dtype.is_int and dtype != I1:
        bits = dtype.bits
        if not -(1 << (bits - 1)) <= value < 1 << bits:
            raise b.fail(E0302, arg="value", value=value, dtype=dtype).help(
                f"the pointer is to {dtype}, which has {bits} bits"
            )


@lowers("store")
def _store(
    b: Builder,
    pointer: object,
    value: object,
    mask: object = None,
    boundary_check: object = (),
    cache_modifier: object = "",
    eviction_policy: object = "",
) -> None:
    if isinstance(pointer, BlockPointer):
        _refuse_masks(b, mask=mask)
        pointer, mask = tile(b, pointer, checked_axes(b, boundary_check, len(pointer.block)))
    else:
        _refuse_block_options(b, boundary_check)
    address, dtype = pointer_argument(b, pointer, "store")
    attrs = {
        "cache": _option(b, cache_modifier, _STORE_CACHE, "cache_modifier"),
        "eviction": _option(b, eviction_policy, _EVICTION, "eviction_policy"),
    }
    _refuse_literal(b, value, dtype.element)
    stored = to_value(b, value, arg="value")
    refuse_wider(b, stored.shape, address, "value")
    condition = None if mask is None else require_mask(b, mask, address)
    refuse_larger(b, address, {"value": stored, "mask": condition})
    stored = stretch(b, stored, address.shape)
    if condition is not None:
        condition = stretch(b, condition, address.shape)
    element = I8 if dtype.element == I1 else dtype.element
    address = as_bytes(b, address, dtype)
    semantics.note_cast(b, value, dtype.element, "value")
    stored = semantics.cast(b, stored, dtype.element, arg="value")
    operands = [address.ir, semantics.cast(b, stored, element).ir]
    if condition is not None:
        operands.append(condition.ir)
    b.emit(STORE, operands, attrs=attrs)
