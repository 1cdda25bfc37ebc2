"""Atomic operations: read, change and write one place of memory as if nobody came in between.

The interpreter runs one program after the other, and the lanes of a program in their order; so each
lane that meets an address again sees what the lanes before it left there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, NoReturn

from teenyc.codes import E0416, E0501, E0511
from teenyc.ir.builder import Builder
from teenyc.ir.core import Operation, Value
from teenyc.ir.opdef import Effects, OpDef, lowers, register
from teenyc.ir.printer import Names
from teenyc.ops import arith, arrays
from teenyc.ops.broadcasting import stretch
from teenyc.ops.compare import CMPI, SELECT
from teenyc.ops.families import Array, Environment, no_result
from teenyc.ops.literals import constant, to_value
from teenyc.ops.memory import (
    as_bytes,
    pointer_argument,
    refuse_larger,
    refuse_wider,
    require_mask,
)
from teenyc.ops.semantics import bitcast, cast, note_cast
from teenyc.types import (
    DTYPES,
    F32,
    F64,
    I1,
    I8,
    DType,
    IRType,
    PointerDType,
    PointerType,
    ScalarType,
    scalar_of,
    with_element,
)
from teenyc.values import RuntimeValue, describe

# --- records --------------------------------------------------------------------------------------

SEMANTICS = ("acq_rel", "acquire", "release", "relaxed")
LOAD_ORDERS = ("acquire", "relaxed")
STORE_ORDERS = ("release", "relaxed")
SCOPES = ("gpu", "cta", "sys")


def _changed_type(operands: Sequence[Value], attrs: dict[str, Any]) -> tuple[IRType, ...]:
    pointer = scalar_of(operands[0].type)
    assert isinstance(pointer, PointerType)
    return (with_element(operands[0].type, pointer.pointee),)


def _element(op: Operation) -> str:
    pointer = scalar_of(op.operands[0].type)
    assert isinstance(pointer, PointerType)
    return arrays.element_name(pointer.pointee)


def _types(op: Operation, count: int) -> str:
    operands = ", ".join(str(value.type) for value in op.operands[:count])
    return f"({operands}) -> {op.results[0].type}" if op.results else operands


def _order(op: Operation) -> str:
    return f"{op.attrs['sem']}, {op.attrs['scope']}"


def _verify(values: int, *, masked: bool) -> Callable[[Operation], str | None]:
    """`values` operands of the pointee's type behind the pointer, then a mask."""

    def verify(op: Operation) -> str | None:
        pointer = op.operands[0].type
        target = scalar_of(pointer)
        if not isinstance(target, PointerType):
            return f"changes {pointer}"
        wanted = [with_element(pointer, target.pointee)] * values
        if masked:
            wanted.append(with_element(pointer, ScalarType("i1")))
        found = [value.type for value in op.operands[1:]]
        if found != wanted:
            return f"changes {pointer} with {', '.join(map(str, found))}"
        if op.attrs["sem"] not in SEMANTICS or op.attrs["scope"] not in SCOPES:
            return f"has the order {_order(op)}"
        return None

    return verify


def _float_sum(np: Any, old: Array, value: Array, element: str) -> Array:
    wide = (arrays.widened(np, array, element) for array in (old, value))
    return arrays.rounded(np, sum(wide), element)


def _unsigned(choose: str) -> Callable[[Any, Array, Array, str], Array]:
    def combine(np: Any, old: Array, value: Array, element: str) -> Array:
        pair = (arrays.without_sign(array) for array in (old, value))
        return arrays.with_sign(np, getattr(np, choose)(*pair))

    return combine


COMBINE: dict[str, Callable[[Any, Array, Array, str], Array]] = {
    "fadd": _float_sum,
    "add": lambda np, old, value, element: old + value,
    "and": lambda np, old, value, element: old & value,
    "or": lambda np, old, value, element: old | value,
    "xor": lambda np, old, value, element: old ^ value,
    "max": lambda np, old, value, element: np.maximum(old, value),
    "min": lambda np, old, value, element: np.minimum(old, value),
    "umax": _unsigned("maximum"),
    "umin": _unsigned("minimum"),
    "exch": lambda np, old, value, element: value,
}


def _rounds(np: Any, addresses: Array, mask: Array) -> list[Array]:
    """Masks of lanes with addresses of their own: round n has the nth lane of each address."""
    lanes = np.flatnonzero(np.ravel(mask))
    live = np.ravel(addresses)[lanes]
    order = np.argsort(live, kind="stable")
    _, first, counts = np.unique(live[order], return_index=True, return_counts=True)
    turn = np.empty(lanes.size, dtype=np.int64)
    turn[order] = np.arange(lanes.size) - np.repeat(first, counts)
    rounds = []
    for number in range(int(counts.max()) if counts.size else 0):
        chosen = np.zeros(np.size(mask), dtype=bool)
        chosen[lanes[turn == number]] = True
        rounds.append(chosen.reshape(np.shape(mask)))
    return rounds


def _change(
    np: Any,
    op: Operation,
    addresses: Array,
    mask: Array,
    env: Environment,
    new: Callable[[Array], tuple[Array, Array]],
) -> Array:
    """Go through the rounds; `new(old)` is what is written, and where."""
    result = None
    for lanes in _rounds(np, addresses, mask):
        old = env.load(op, addresses, lanes)
        value, written = new(old)
        env.store(op, addresses, value, lanes & written)
        result = old if result is None else np.where(lanes, old, result)
    return env.load(op, addresses, np.zeros_like(mask)) if result is None else result


def _ref_rmw(np: Any, op: Operation, operands: Sequence[Array], env: Environment) -> Array:
    addresses, value, mask = operands
    combine, element = COMBINE[op.attrs["kind"]], _element(op)
    everywhere = np.ones_like(mask)
    return _change(
        np, op, addresses, mask, env, lambda old: (combine(np, old, value, element), everywhere)
    )


def _ref_cas(np: Any, op: Operation, operands: Sequence[Array], env: Environment) -> Array:
    addresses, expected, value = operands
    pointer = scalar_of(op.operands[0].type)
    assert isinstance(pointer, PointerType)

    def bits(array: Array) -> Array:
        held = np.ascontiguousarray(arrays.encode(np, array, pointer.pointee))
        return held.view(f"u{held.dtype.itemsize}").reshape(np.shape(array))

    mask = np.ones(np.shape(addresses), dtype=bool)
    return _change(np, op, addresses, mask, env, lambda old: (value, bits(old) == bits(expected)))


def _format_rmw(op: Operation, names: Names) -> str:
    return (
        f"{op.name} {op.attrs['kind']}, {_order(op)}, {names.list(op.operands)} : {_types(op, 3)}"
    )


ATOMIC_RMW = register(
    OpDef(
        "tt.atomic_rmw",
        _changed_type,
        _format_rmw,
        effects=Effects.READ | Effects.WRITE,
        attrs=("kind", "sem", "scope"),
        verify=_verify(1, masked=True),
        ref=_ref_rmw,
        dsl=tuple(f"atomic_{name}" for name in ("add", "max", "min", "and", "or", "xor", "xchg")),
    )
)
ATOMIC_CAS = register(
    OpDef(
        "tt.atomic_cas",
        _changed_type,
        lambda op, names: f"{op.name} {_order(op)}, {names.list(op.operands)} : {_types(op, 3)}",
        effects=Effects.READ | Effects.WRITE,
        attrs=("sem", "scope"),
        verify=_verify(2, masked=False),
        ref=_ref_cas,
        dsl=("atomic_cas",),
    )
)


def _format_atomic_load(op: Operation, names: Names) -> str:
    """The operands are the pointer, zero and the mask; older dialects add the zero."""
    if not names.dialect.atomic_access:
        return f"tt.atomic_rmw or, {_order(op)}, {names.list(op.operands)} : {_types(op, 3)}"
    pointer, _, mask = op.operands
    types = f"({pointer.type}, {mask.type}) -> {op.results[0].type}"
    return f"{op.name} {_order(op)}, {names(pointer)}, {names(mask)} : {types}"


def _format_atomic_store(op: Operation, names: Names) -> str:
    if not names.dialect.atomic_access:
        pointer, value, mask = (operand.type for operand in op.operands)
        types = f"({pointer}, {value}, {mask}) -> {value}"
        return f"tt.atomic_rmw exch, {_order(op)}, {names.list(op.operands)} : {types}"
    return f"{op.name} {_order(op)}, {names.list(op.operands)} : {op.operands[0].type}"


ATOMIC_LOAD = register(
    OpDef(
        "tt.atomic_load",
        _changed_type,
        _format_atomic_load,
        effects=Effects.READ | Effects.WRITE,
        attrs=("sem", "scope"),
        verify=_verify(1, masked=True),
        ref=lambda np, op, operands, env: env.load(op, operands[0], operands[2]),
        dsl=("atomic_load",),
    )
)


def _ref_atomic_store(
    np: Any, op: Operation, operands: Sequence[Array], env: Environment
) -> tuple[()]:
    env.store(op, *operands)
    return ()


ATOMIC_STORE = register(
    OpDef(
        "tt.atomic_store",
        no_result,
        _format_atomic_store,
        effects=Effects.WRITE,
        attrs=("sem", "scope"),
        verify=_verify(1, masked=True),
        ref=_ref_atomic_store,
        dsl=("atomic_store",),
    )
)

# --- arguments ------------------------------------------------------------------------------------


class Target(NamedTuple):
    """What every atomic operation gets: where, the values to write, which lanes, in what order."""

    pointer: RuntimeValue
    values: tuple[RuntimeValue, ...]
    mask: RuntimeValue | None
    attrs: dict[str, Any]

    @property
    def lanes(self) -> Value:
        """Which places take part."""
        assert self.mask is not None
        return self.mask.ir

    @property
    def dtype(self) -> DType:
        """The dtype of the places."""
        assert isinstance(self.pointer.dtype, PointerDType)
        assert isinstance(self.pointer.dtype.element, DType)
        return self.pointer.dtype.element


def _choice(b: Builder, value: object, known: tuple[str, ...], arg: str) -> str:
    if value is None:
        return known[0]
    if value not in known:
        raise b.fail(E0416, arg=arg, what=describe(value), parameter=arg).help(
            f"it is one of {', '.join(map(repr, known))}, or left out"
        )
    return str(value)


def _target(
    b: Builder,
    op: str,
    pointer: object,
    values: dict[str, object],
    mask: object,
    sem: object,
    scope: object,
    *,
    order: tuple[str, ...] = SEMANTICS,
    masked: bool = True,
) -> Target:
    """The arguments in the pointer's shape and dtype; with no `mask`, all lanes if `masked`."""
    place, dtype = pointer_argument(b, pointer, op)
    if not isinstance(dtype.element, DType):
        raise b.fail(E0501, arg="pointer", op=op, type=place.describe()).help(
            "give it a pointer to numbers"
        )
    attrs = {"sem": _choice(b, sem, order, "sem"), "scope": _choice(b, scope, SCOPES, "scope")}
    given = {arg: to_value(b, value, arg=arg) for arg, value in values.items()}
    chosen = None if mask is None else require_mask(b, mask, place)
    for arg, value in given.items():
        refuse_wider(b, value.shape, place, arg)
    refuse_larger(b, place, {**given, "mask": chosen})
    element = dtype.element
    if element == I1:
        place, element = as_bytes(b, place, dtype), I8
    for arg, value in given.items():
        note_cast(b, value, dtype.element, arg)
    cast_values = tuple(
        cast(b, cast(b, stretch(b, value, place.shape), dtype.element, arg=arg), element)
        for arg, value in given.items()
    )
    lanes = None
    if chosen is not None:
        lanes = stretch(b, chosen, place.shape)
    elif masked:
        lanes = constant(b, True, I1, place.shape)
    return Target(place, cast_values, lanes, attrs)


def _refuse(b: Builder, op: str, dtype: DType, forms: str) -> NoReturn:
    raise b.fail(E0511, arg="pointer", op=op, dtype=dtype).help(
        f"it takes pointers to {forms}: keep the places in one of these"
    )


def _rmw(b: Builder, kind: str, target: Target) -> RuntimeValue:
    (value,) = target.values
    operands = [target.pointer.ir, value.ir, target.lanes]
    found = b.emit(ATOMIC_RMW, operands, attrs={"kind": kind, **target.attrs}).result
    return RuntimeValue(found, value.dtype, value.shape)


# --- handlers -------------------------------------------------------------------------------------

_WIDE_INTS = "i32, u32, i64 and u64"


@lowers("atomic_add")
def _atomic_add(
    b: Builder,
    pointer: object,
    val: object,
    mask: object = None,
    sem: object = None,
    scope: object = None,
) -> RuntimeValue:
    target = _target(b, "atomic_add", pointer, {"val": val}, mask, sem, scope)
    dtype = target.dtype
    if dtype.bits < (16 if dtype.is_float else 32):
        _refuse(b, "atomic_add", dtype, f"{_WIDE_INTS}, f16, bf16, f32 and f64")
    return _rmw(b, "fadd" if dtype.is_float else "add", target)


def _bits(name: str, kind: str, forms: str, *, floats: bool) -> None:
    """and, or, xor, xchg."""

    def handler(
        b: Builder,
        pointer: object,
        val: object,
        mask: object = None,
        sem: object = None,
        scope: object = None,
    ) -> RuntimeValue:
        target = _target(b, name, pointer, {"val": val}, mask, sem, scope)
        dtype = target.dtype
        if dtype.bits < 32 or (dtype.is_float and not floats):
            _refuse(b, name, dtype, forms)
        return _rmw(b, kind, target)

    handler.__name__ = f"_{name}"
    lowers(name)(handler)


for _name in ("and", "or", "xor"):
    _bits(f"atomic_{_name}", _name, _WIDE_INTS, floats=False)
_bits("atomic_xchg", "exch", f"{_WIDE_INTS}, f32 and f64", floats=True)


def _extreme(name: str, signed: str, unsigned: str) -> None:
    """The greater and the smaller of two.

    Floats that are not negative are ordered as their bits are, the others in reverse: two
    operations on the bits, each with the lanes of one sign.
    """

    def handler(
        b: Builder,
        pointer: object,
        val: object,
        mask: object = None,
        sem: object = None,
        scope: object = None,
    ) -> RuntimeValue:
        target = _target(b, name, pointer, {"val": val}, mask, sem, scope)
        dtype = target.dtype
        if dtype.bits < 32:
            _refuse(b, name, dtype, f"{_WIDE_INTS}, f32 and f64")
        if dtype.is_int:
            return _rmw(b, signed if dtype.is_signed else f"u{signed}", target)
        return _by_sign(b, target, signed, unsigned)

    handler.__name__ = f"_{name}"
    lowers(name)(handler)


def _by_sign(b: Builder, target: Target, signed: str, unsigned: str) -> RuntimeValue:
    (value,) = target.values
    dtype = target.dtype
    assert dtype in (F32, F64)
    bits = DTYPES[f"i{dtype.bits}"]
    raw = bitcast(b, value, bits)
    place = cast(b, target.pointer, PointerDType(bits))
    sign = bitcast(b, value, bits)
    shift = constant(b, dtype.bits - 1, bits, value.shape)
    top = b.value(arith.SHRUI, sign.ir, shift.ir)
    zero = constant(b, 0, bits, value.shape)
    negative = b.value(CMPI, top, zero.ir, predicate="ne")
    true = constant(b, True, I1, value.shape)
    positive = b.value(arith.XORI, negative, true.ir)
    found = []
    for kind, lanes in ((signed, positive), (unsigned, negative)):
        chosen = RuntimeValue(b.value(arith.ANDI, target.lanes, lanes), I1, value.shape)
        found.append(_rmw(b, kind, Target(place, (raw,), chosen, target.attrs)))
    chosen_bits = b.value(SELECT, positive, found[0].ir, found[1].ir)
    return bitcast(b, RuntimeValue(chosen_bits, bits, value.shape), dtype)


_extreme("atomic_max", "max", "umin")
_extreme("atomic_min", "min", "umax")


@lowers("atomic_cas")
def _atomic_cas(
    b: Builder,
    pointer: object,
    cmp: object,
    val: object,
    sem: object = None,
    scope: object = None,
) -> RuntimeValue:
    target = _target(
        b, "atomic_cas", pointer, {"cmp": cmp, "val": val}, None, sem, scope, masked=False
    )
    dtype = target.dtype
    if dtype.bits < 16:
        _refuse(b, "atomic_cas", dtype, "numbers of 16, 32 and 64 bits")
    expected, value = target.values
    operands = [target.pointer.ir, expected.ir, value.ir]
    found = b.emit(ATOMIC_CAS, operands, attrs=target.attrs).result
    return RuntimeValue(found, value.dtype, value.shape)


def _whole(b: Builder, op: str, target: Target) -> tuple[RuntimeValue, DType]:
    """The pointer to the bits of the places, which have 32 or 64 of them."""
    dtype = target.dtype
    if dtype.bits not in (32, 64):
        _refuse(b, op, dtype, "numbers of 32 and 64 bits")
    bits = DTYPES[f"i{dtype.bits}"]
    return cast(b, target.pointer, PointerDType(bits)), bits


@lowers("atomic_load")
def _atomic_load(
    b: Builder, pointer: object, mask: object = None, sem: object = None, scope: object = None
) -> RuntimeValue:
    target = _target(b, "atomic_load", pointer, {}, mask, sem, scope, order=LOAD_ORDERS)
    place, bits = _whole(b, "atomic_load", target)
    zero = constant(b, 0, bits, place.shape)
    operands = [place.ir, zero.ir, target.lanes]
    found = b.emit(ATOMIC_LOAD, operands, attrs=target.attrs).result
    return bitcast(b, RuntimeValue(found, bits, place.shape), target.dtype)


@lowers("atomic_store")
def _atomic_store(
    b: Builder,
    pointer: object,
    val: object,
    mask: object = None,
    sem: object = None,
    scope: object = None,
) -> None:
    target = _target(b, "atomic_store", pointer, {"val": val}, mask, sem, scope, order=STORE_ORDERS)
    place, bits = _whole(b, "atomic_store", target)
    value = bitcast(b, target.values[0], bits)
    b.emit(ATOMIC_STORE, [place.ir, value.ir, target.lanes], attrs=target.attrs)
