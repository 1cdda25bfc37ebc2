"""The functions of CUDA's libdevice, all through one record: `TABLE` says which symbol is which.

A row is the dtypes of the operands, the symbol and the dtype of the result, as upstream has them;
the readings stand in libdevice_reference.py.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from teenyc.codes import E0301
from teenyc.ir.builder import Builder
from teenyc.ir.core import Operation
from teenyc.ir.opdef import OpDef, lowers, register
from teenyc.ir.printer import Names
from teenyc.ops import arrays, libdevice_cpu
from teenyc.ops.broadcasting import broadcast_pair
from teenyc.ops.directed import MODES
from teenyc.ops.families import Array, Environment, given_type
from teenyc.ops.libdevice_reference import BITS, WIDE, read_directed
from teenyc.ops.literals import constant, numeric
from teenyc.types import DTYPES, DType, ScalarType, ir_type, scalar_of, shape_of
from teenyc.values import RuntimeValue, describe

# --- the table ------------------------------------------------------------------------------------


class Row(NamedTuple):
    """One form of a function: the operands' dtypes, the symbol, the result's dtype."""

    operands: tuple[str, ...]
    symbol: str
    result: str


TABLE: dict[str, tuple[Row, ...]] = {}


def _floats(count: int, names: str, result: str = "") -> None:
    """Functions of f32 or of f64, whose f32 symbol ends in `f`."""
    for name in names.split():
        TABLE[name] = (
            Row(("f32",) * count, f"__nv_{name}f", result or "f32"),
            Row(("f64",) * count, f"__nv_{name}", result or "f64"),
        )


def _rows(name: str, *rows: str) -> None:
    """A function by its rows, each such as `f32,i32 ldexpf f32`."""
    TABLE[name] = tuple(
        Row(tuple(operands.split(",")), f"__nv_{symbol}", result)
        for operands, symbol, result in map(str.split, rows)
    )


_floats(1, "acos acosh asin asinh atan atanh cbrt cosh cospi cyl_bessel_i0 cyl_bessel_i1 erfc")
_floats(1, "erfcinv erfcx erfinv exp10 expm1 j0 j1 lgamma log10 log1p logb nearbyint normcdf")
_floats(1, "normcdfinv rcbrt rint round sinh sinpi tan tanh tgamma trunc y0 y1")
_floats(2, "atan2 copysign fdim fmod hypot nextafter remainder rhypot")
_floats(3, "norm3d rnorm3d")
_floats(4, "norm4d rnorm4d")
_floats(1, "llrint llround", "i64")
_floats(1, "ilogb", "i32")
_rows("isnan", "f32 isnanf i32", "f64 isnand i32")
_rows("isinf", "f32 isinff i32", "f64 isinfd i32")
_rows("signbit", "f32 signbitf i32", "f64 signbitd i32")
_rows("finitef", "f32 finitef i32")
_rows("isfinited", "f64 isfinited i32")
_rows("saturatef", "f32 saturatef f32")
_rows("pow", "f32,f32 powf f32", "f64,f64 pow f64", "f32,i32 powif f32", "f64,i32 powi f64")
_rows("ldexp", "f32,i32 ldexpf f32", "f64,i32 ldexp f64")
_rows("scalbn", "f32,i32 scalbnf f32", "f64,i32 scalbn f64")
_rows("jn", "i32,f32 jnf f32", "i32,f64 jn f64")
_rows("yn", "i32,f32 ynf f32", "i32,f64 yn f64")
_rows("rcp64h", "f64 rcp64h f64")
_rows("rsqrt_rn", "f32 frsqrt_rn f32")
# bits
_rows("clz", "i32 clz i32", "i64 clzll i32")
_rows("popc", "i32 popc i32", "i64 popcll i32")
_rows("ffs", "i32 ffs i32", "i64 ffsll i32")
_rows("brev", "i32 brev i32", "i64 brevll i64")
_rows("byte_perm", "i32,i32,i32 byte_perm i32")
_rows(
    "mulhi",
    "i32,i32 mulhi i32",
    "u32,u32 umulhi u32",
    "i64,i64 mul64hi i64",
    "u64,u64 umul64hi u64",
)
_rows("mul24", "i32,i32 mul24 i32", "u32,u32 umul24 u32")
_rows("sad", "i32,i32,u32 sad i32", "u32,u32,u32 usad u32")
_rows("hadd", "i32,i32 hadd i32", "u32,u32 uhadd u32")
_rows("rhadd", "i32,i32 rhadd i32", "u32,u32 urhadd u32")
_rows("hiloint2double", "i32,i32 hiloint2double f64")
_rows("double2loint", "f64 double2loint i32")
_rows("double2hiint", "f64 double2hiint i32")
_rows("int_as_float", "i32 int_as_float f32")
_rows("float_as_int", "f32 float_as_int i32")
_rows("uint_as_float", "u32 uint_as_float f32")
_rows("float_as_uint", "f32 float_as_uint i32")
_rows("longlong_as_double", "i64 longlong_as_double f64")
_rows("double_as_longlong", "f64 double_as_longlong i64")
# approximations
for _name in ("sinf", "cosf", "tanf", "logf", "log2f", "log10f", "expf", "exp10f"):
    _rows(f"fast_{_name}", f"f32 fast_{_name} f32")
_rows("fast_powf", "f32,f32 fast_powf f32")
_rows("fast_dividef", "f32,f32 fast_fdividef f32")

# rounding modes
_WITHOUT = {"div_rn", "sqrt_rn"}  # functions of the language's own, of all floats
_C_NAMES = {"f32": "float", "f64": "double", "i32": "int", "u32": "uint", "i64": "ll", "u64": "ull"}


def _conversion(source: str, target: str, mode: str, result: str) -> None:
    name = f"{_C_NAMES[source]}2{_C_NAMES[target]}_{mode}"
    _rows(name, f"{source} {name} {result}")


for _mode in MODES:
    for _name, _count in {"add": 2, "sub": 2, "mul": 2, "div": 2, "rcp": 1, "sqrt": 1}.items():
        if f"{_name}_{_mode}" not in _WITHOUT:
            _rows(
                f"{_name}_{_mode}",
                *(
                    f"{','.join([_dtype] * _count)} {_letter}{_name}_{_mode} {_dtype}"
                    for _dtype, _letter in (("f32", "f"), ("f64", "d"))
                ),
            )
    _rows(f"fma_{_mode}", f"f32,f32,f32 fmaf_{_mode} f32", f"f64,f64,f64 fma_{_mode} f64")
    _conversion("f64", "f32", _mode, "f32")
    for _integer in ("i32", "u32", "i64", "u64"):
        for _dtype in ("f32", "f64"):
            _conversion(_dtype, _integer, _mode, f"i{_integer[1:]}")
            if (_dtype, _integer[1:]) != ("f64", "32") or _mode == "rn":
                _conversion(_integer, _dtype, _mode, _dtype)

_BY_SYMBOL = {row.symbol: (name, row) for name, rows in TABLE.items() for row in rows}

# --- the record -----------------------------------------------------------------------------------


def _format(op: Operation, names: Names) -> str:
    options = f'{{libname = "", libpath = "", pure = true, symbol = "{op.attrs["symbol"]}"}}'
    types = ", ".join(str(value.type) for value in op.operands)
    return f"{op.name} {names.list(op.operands)} {options} : ({types}) -> {op.results[0].type}"


def _verify(op: Operation) -> str | None:
    known = _BY_SYMBOL.get(op.attrs["symbol"])
    if known is None:
        return f"calls `{op.attrs['symbol']}`, which is not in the table"
    row = known[1]
    wanted = [ScalarType(DTYPES[dtype].mlir) for dtype in (*row.operands, row.result)]
    values = [*op.operands, *op.results]
    if [scalar_of(value.type) for value in values] != wanted:
        return f"calls `{row.symbol}` with {', '.join(str(value.type) for value in values)}"
    shapes = {shape_of(value.type) for value in values}
    return None if len(shapes) == 1 else "has operands of several shapes"


def _ref(np: Any, op: Operation, operands: Sequence[Array], env: Environment) -> Array:
    name, row = _BY_SYMBOL[op.attrs["symbol"]]
    given = [
        arrays.without_sign(array) if dtype[0] == "u" else array
        for array, dtype in zip(operands, row.operands, strict=True)
    ]
    if name in WIDE:
        wide = [array.astype(np.float64) if array.dtype.kind == "f" else array for array in given]
        found = WIDE[name](np, *wide)
    elif name in BITS:
        found = BITS[name](np, *given)
    else:
        found = read_directed(np, name, row.result, given)
    return _held(np, found, row.result)


def _held(np: Any, found: Array, result: str) -> Array:
    """A reading as the interpreter holds values of the dtype `result`."""
    dtype = DTYPES[result]
    array = np.asarray(found)
    if dtype.is_float:
        return arrays.rounded(np, array, dtype.mlir)
    if array.dtype == object:
        mask = (1 << dtype.bits) - 1
        array = np.asarray([int(x) & mask for x in array.flat], np.uint64).reshape(array.shape)
    return array.astype(arrays.held_dtype(dtype.mlir))


def _cpu(c: Any, op: Operation, *operands: Any) -> Any:
    name, row = _BY_SYMBOL[op.attrs["symbol"]]
    if name in libdevice_cpu.SIGNED:
        return libdevice_cpu.SIGNED[name](c, *operands, signed=row.operands[0][0] == "i")
    return libdevice_cpu.emit(c, name, operands, DTYPES[row.result].mlir)


EXTERN = register(
    OpDef(
        "tt.extern_elementwise",
        given_type,
        _format,
        attrs=("symbol", "type"),
        verify=_verify,
        ref=_ref,
        cpu=_cpu,
        dsl=tuple(TABLE),
        cost=40,
    )
)

# --- handlers -------------------------------------------------------------------------------------


def _takes(dtype: DType, given: object, *, loosely: bool) -> bool:
    """Whether an operand of `dtype` may be `given`.

    Loosely: an integer of the other signedness, an integer literal for a float.
    """
    if isinstance(given, RuntimeValue):
        found = given.dtype
        if found == dtype:
            return True
        same_bits = isinstance(found, DType) and found.mlir == dtype.mlir
        return loosely and same_bits
    if isinstance(given, float):
        return dtype.is_float
    if isinstance(given, bool):
        return False
    return dtype.is_int or loosely


def find_row(name: str, given: Sequence[object]) -> Row | None:
    """The form of a function that takes these operands."""
    for loosely in (False, True):
        for row in TABLE[name]:
            pairs = zip(row.operands, given, strict=True)
            if all(_takes(DTYPES[dtype], value, loosely=loosely) for dtype, value in pairs):
                return row
    return None


def call(b: Builder, name: str, given: Sequence[object]) -> RuntimeValue:
    """A call of a libdevice function; operands are broadcast to one shape."""
    for position, value in enumerate(given):
        if not isinstance(value, int | float):
            numeric(b, value, name, f"arg{position}")
    row = find_row(name, given)
    if row is None:
        forms = " or ".join(dict.fromkeys(f"({', '.join(row.operands)})" for row in TABLE[name]))
        raise b.fail(E0301, arg="arg0", op=name, types=" and ".join(map(describe, given))).help(
            f"it takes {forms}: cast what differs, such as `x.to({TABLE[name][0].operands[0]})`"
        )
    values = [
        value
        if isinstance(value, RuntimeValue)
        else constant(b, value, DTYPES[dtype], arg=f"arg{i}")  # type: ignore[arg-type]
        for i, (dtype, value) in enumerate(zip(row.operands, given, strict=True))
    ]
    for i in (*range(1, len(values)), *range(1, len(values))):  # once more: sides may have grown
        values[0], values[i] = broadcast_pair(b, values[0], values[i], f"arg{i}")
    dtype, shape = DTYPES[row.result], values[0].shape
    attrs = {"symbol": row.symbol, "type": ir_type(dtype, shape)}
    found = b.emit(EXTERN, [value.ir for value in values], attrs=attrs).result
    return RuntimeValue(found, dtype, shape)


def _handler(name: str, count: int) -> Callable[..., RuntimeValue]:
    """The handler of one function, whose parameters are the DSL's `arg0`, `arg1`, ..."""

    def one(b: Builder, arg0: object) -> RuntimeValue:
        return call(b, name, (arg0,))

    def two(b: Builder, arg0: object, arg1: object) -> RuntimeValue:
        return call(b, name, (arg0, arg1))

    def three(b: Builder, arg0: object, arg1: object, arg2: object) -> RuntimeValue:
        return call(b, name, (arg0, arg1, arg2))

    def four(b: Builder, arg0: object, arg1: object, arg2: object, arg3: object) -> RuntimeValue:
        return call(b, name, (arg0, arg1, arg2, arg3))

    return (one, two, three, four)[count - 1]


for _name, _forms in TABLE.items():
    lowers(_name)(_handler(_name, len(_forms[0].operands)))
