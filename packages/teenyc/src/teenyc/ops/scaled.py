"""Products of matrices in microscaling formats: blocks of narrow floats that share a power of two.

The formats are those of the OCP Microscaling Formats specification 1.0: e2m1 (two numbers a byte,
the first in the lower bits), e4m3, e5m2; scales are e8m0 bytes, 2 ** (byte - 127), 255 for NaN.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from teenyc.codes import E0210, E0301, E0410, E0413, E0416
from teenyc.ir.builder import Builder
from teenyc.ir.core import Operation
from teenyc.ir.opdef import OpDef, lowers, register
from teenyc.ir.printer import Names
from teenyc.ops import arrays, semantics
from teenyc.ops.broadcasting import Shape, check_size, spell
from teenyc.ops.families import Array, Environment
from teenyc.ops.linalg import accumulate
from teenyc.ops.literals import constant, numeric
from teenyc.types import BF16, F8E4M3, F8E5M2, F16, F32, U8, U16, DType, shape_of
from teenyc.values import RuntimeValue, describe

# Each format: the dtype of its elements, and the dtype that may hold their bits instead.
FORMATS: dict[str, tuple[DType, DType]] = {
    "e2m1": (U8, U8),
    "e4m3": (F8E4M3, U8),
    "e5m2": (F8E5M2, U8),
    "bf16": (BF16, U16),
    "fp16": (F16, U16),
}
_E2M1 = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0)


class _Sides(NamedTuple):
    """The operands of an operation by their parts; scales may be absent."""

    left: Any
    left_scale: Any
    right: Any
    right_scale: Any
    acc: Any


def _parts(op: Operation, values: Sequence[Any]) -> _Sides:
    rest = list(values)
    left, left_scale = rest.pop(0), rest.pop(0) if op.attrs["has_lhs_scale"] else None
    right, right_scale = rest.pop(0), rest.pop(0) if op.attrs["has_rhs_scale"] else None
    return _Sides(left, left_scale, right, right_scale, rest.pop(0))


def operand_parts(op: Operation) -> _Sides:
    """The operands of a scaled product by their parts; scales may be absent."""
    return _parts(op, op.operands)


def _format_scaled(op: Operation, names: Names) -> str:
    side, attrs = _parts(op, op.operands), op.attrs
    values, types = [], []
    for value, scale in ((side.left, side.left_scale), (side.right, side.right_scale)):
        values.append(names(value) + (f" scale {names(scale)}" if scale is not None else ""))
        types.append(str(value.type) + (f", {scale.type}" if scale is not None else ""))
    flags = [f"fastMath = {str(attrs['fast_math']).lower()}"]
    flags += [f"{name} = false" for name in ("lhs_k_pack", "rhs_k_pack") if not attrs[name]]
    return (
        f"tt.dot_scaled {', '.join(values)}, {names(side.acc)}"
        f" lhs = {attrs['lhs_format']} rhs = {attrs['rhs_format']} {{{', '.join(flags)}}}"
        f" : {' * '.join(types)} -> {side.acc.type}"
    )


def _verify_scaled(op: Operation) -> str | None:
    side, attrs = _parts(op, op.operands), op.attrs
    if side.acc.type != op.results[0].type or arrays.element_name(side.acc.type) != "f32":
        return f"adds to {side.acc.type} and gives {op.results[0].type}"
    left = _unpacked(
        shape_of(side.left.type), attrs["lhs_format"], -1 if attrs["lhs_k_pack"] else -2
    )
    right = _unpacked(
        shape_of(side.right.type), attrs["rhs_format"], -2 if attrs["rhs_k_pack"] else -1
    )
    if left[-1] != right[-2] or shape_of(side.acc.type) != (*left[:-1], right[-1]):
        return f"multiplies {left} by {right} into {side.acc.type}"
    return None


def _unpacked(shape: Shape, name: str, axis: int) -> Shape:
    """The shape in numbers: a byte of e2m1 holds two along `axis`."""
    sides = list(shape)
    sides[axis] *= 2 if name == "e2m1" else 1
    return tuple(sides)


def _numbers(np: Any, data: Array, name: str, axis: int) -> Array:
    """The numbers that the elements stand for, as float32."""
    if name != "e2m1":
        return data.astype(np.float32)
    table = np.asarray([*_E2M1, *(-x for x in _E2M1)], dtype=np.float32)
    codes = data.view(np.uint8)
    both = np.stack((table[codes & 15], table[codes >> 4]), axis=-1)
    return both.reshape(*data.shape[:-1], -1) if axis == -1 else _rows(np, both)


def _rows(np: Any, both: Array) -> Array:
    """(..., K, N, 2) as (..., 2 K, N): the second of each pair in a row below."""
    turned = np.moveaxis(both, -1, -2)
    return turned.reshape(*turned.shape[:-3], -1, turned.shape[-1])


def _scales(np: Any, scale: Array, element: str, k: int) -> Array:
    """The scale of each number along k."""
    if element == "i8":
        codes = scale.view(np.uint8)
        powers = np.ldexp(np.float32(1), codes.astype(np.int32) - 127)
        found = np.where(codes == 255, np.float32("nan"), powers)
    else:
        found = scale
    return np.repeat(found.astype(np.float32), k // scale.shape[-1], axis=-1)


def _ref_scaled(np: Any, op: Operation, operands: Sequence[Array], env: Environment) -> Array:
    side, types, attrs = _parts(op, operands), _parts(op, op.operands), op.attrs
    left = _numbers(np, side.left, attrs["lhs_format"], -1 if attrs["lhs_k_pack"] else -2)
    right = _numbers(np, side.right, attrs["rhs_format"], -2 if attrs["rhs_k_pack"] else -1)
    k = left.shape[-1]
    if side.left_scale is not None:
        name = arrays.element_name(types.left_scale.type)
        left = left * _scales(np, side.left_scale, name, k)
    if side.right_scale is not None:
        name = arrays.element_name(types.right_scale.type)
        right = right * np.swapaxes(_scales(np, side.right_scale, name, k), -1, -2)
    return accumulate(np, left, right, side.acc, np.float32)


DOT_SCALED = register(
    OpDef(
        "tt.dot_scaled",
        lambda operands, attrs: (operands[-1].type,),
        _format_scaled,
        attrs=(
            *("lhs_format", "rhs_format", "fast_math", "lhs_k_pack", "rhs_k_pack"),
            *("has_lhs_scale", "has_rhs_scale"),
        ),
        verify=_verify_scaled,
        ref=_ref_scaled,
        dsl=("dot_scaled",),
    )
)

# --- the handler ----------------------------------------------------------------------------------


def _operand(b: Builder, x: object, name: object, arg: str) -> tuple[RuntimeValue, str]:
    """An operand in its format; bits are read as the format's dtype."""
    if name not in FORMATS:
        option = f"{arg}_format"
        raise b.fail(E0416, arg=option, what=describe(name), parameter=option).help(
            f"it is one of {', '.join(map(repr, FORMATS))}"
        )
    value, dtype = numeric(b, x, "dot_scaled", arg)
    own, bits = FORMATS[str(name)]
    if dtype not in (own, bits):
        raise b.fail(E0301, arg=arg, op="dot_scaled", types=f"{dtype} as {name}").help(
            f"{name} is held as {' or '.join(dict.fromkeys((str(own), str(bits))))}"
        )
    if len(value.shape) not in (2, 3):
        raise b.fail(
            E0413, arg=arg, op="dot_scaled", what="a tensor of 2 or 3 sides", type=value.describe()
        ).help("a vector becomes a matrix with `x[:, None]`")
    return semantics.bitcast(b, value, own), str(name)


def _scale(b: Builder, x: object, rows: Shape, k: int, arg: str) -> RuntimeValue | None:
    if x is None:
        return None
    value, dtype = numeric(b, x, "dot_scaled", arg)
    if dtype not in (U8, F8E4M3):
        raise b.fail(E0301, arg=arg, op="dot_scaled", types=f"scales of {dtype}").help(
            "scales are e8m0 bytes held as u8, one for 32 numbers, or f8e4m3, one for 16"
        )
    wanted = (*rows, k // (16 if dtype == F8E4M3 else 32))
    if value.shape != wanted:
        raise b.fail(E0410, arg=arg, left=spell(wanted), right=spell(value.shape)).help(
            f"the scales of this operand have the shape {spell(wanted)}, also on the right side"
        )
    return value


def _pack(b: Builder, given: object, name: str, arg: str) -> bool:
    """Whether numbers are packed along k; only e2m1 can be packed along the other side."""
    option = f"{arg}_k_pack"
    if isinstance(given, RuntimeValue):
        raise b.fail(E0210, arg=option, what=f"`{option}`").help("write True or False")
    if not given and name != "e2m1":
        raise b.fail(E0416, arg=option, what=describe(given), parameter=option).help(
            "only e2m1 is packed along another side than k"
        )
    return bool(given)


@lowers("dot_scaled")
def _dot_scaled(
    b: Builder,
    lhs: object,
    lhs_scale: object,
    lhs_format: object,
    rhs: object,
    rhs_scale: object,
    rhs_format: object,
    acc: object = None,
    fast_math: object = False,
    lhs_k_pack: object = True,
    rhs_k_pack: object = True,
    out_dtype: object = F32,
) -> RuntimeValue:
    left, left_name = _operand(b, lhs, lhs_format, "lhs")
    right, right_name = _operand(b, rhs, rhs_format, "rhs")
    packs = _pack(b, lhs_k_pack, left_name, "lhs"), _pack(b, rhs_k_pack, right_name, "rhs")
    one = _unpacked(left.shape, left_name, -1 if packs[0] else -2)
    two = _unpacked(right.shape, right_name, -2 if packs[1] else -1)
    if len(one) != len(two) or one[:-2] != two[:-2] or one[-1] != two[-2]:
        raise b.fail(
            E0410,
            f"{one[-1]} columns times {two[-2]} rows",
            arg="rhs",
            left=spell(one),
            right=spell(two),
        ).help("the last side of the first operand is the second to last of the other")
    if out_dtype != F32:
        raise b.fail(E0416, arg="out_dtype", what=describe(out_dtype), parameter="out_dtype").help(
            "the result is f32: cast it"
        )
    if isinstance(fast_math, RuntimeValue):
        raise b.fail(E0210, arg="fast_math", what="`fast_math`").help("write True or False")
    shape = check_size(b, (*one[:-1], two[-1]), "lhs")
    scales = (
        _scale(b, lhs_scale, one[:-1], one[-1], "lhs_scale"),
        _scale(b, rhs_scale, (*two[:-2], two[-1]), one[-1], "rhs_scale"),
    )
    total = constant(b, 0, F32, shape) if acc is None else numeric(b, acc, "dot_scaled", "acc")[0]
    if total.dtype != F32 or total.shape != shape:
        raise b.fail(E0410, arg="acc", left=f"{spell(shape)} of f32", right=total.describe()).help(
            f"start with `zeros({shape}, f32)`"
        )
    attrs = {
        "lhs_format": left_name,
        "rhs_format": right_name,
        "fast_math": bool(fast_math),
        "lhs_k_pack": packs[0],
        "rhs_k_pack": packs[1],
        "has_lhs_scale": scales[0] is not None,
        "has_rhs_scale": scales[1] is not None,
    }
    operands = [x.ir for x in (left, scales[0], right, scales[1], total) if x is not None]
    return RuntimeValue(b.emit(DOT_SCALED, operands, attrs=attrs).result, F32, shape)
