"""Element types: one class is the tag in `Ptr[f32]`, the value in `x.to(f32)`, a scalar's type."""

from teeny_triton.scalar import Scalar


class Elem(Scalar):
    """Anything a tensor holds: compared with == and !=, cast with `.to`."""


class Bits(Elem):
    """Elements with & | ^ ~: integers and booleans."""


class Num(Elem):
    """Elements with + - * and an order: every dtype but i1."""


class Float(Num):
    """Floating-point elements: / and the functions of `math`; Python floats mix with them."""


class MmaFloat(Float):
    """Floating-point elements whose `dot` accumulates in f32: every one but f64."""


class WideFloat(Float):
    """Floating-point elements that `exp`, `sqrt` and the other functions of `math` compute in."""


class Int(Num, Bits):
    """Integer elements: // % << >>; they wrap on overflow."""


class i1(Bits):
    """A boolean; one byte in memory."""

    itemsize = 1


class i8(Int):
    """A signed integer of 8 bits."""

    itemsize = 1


class i16(Int):
    """A signed integer of 16 bits."""

    itemsize = 2


class i32(Int):
    """A signed integer of 32 bits: the dtype of program ids, `arange` and small Python integers."""

    itemsize = 4


class i64(Int):
    """A signed integer of 64 bits."""

    itemsize = 8


class u8(Int):
    """An unsigned integer of 8 bits."""

    itemsize = 1


class u16(Int):
    """An unsigned integer of 16 bits."""

    itemsize = 2


class u32(Int):
    """An unsigned integer of 32 bits."""

    itemsize = 4


class u64(Int):
    """An unsigned integer of 64 bits."""

    itemsize = 8


class f8e4m3(MmaFloat):
    """A float of 8 bits, 4 of them exponent, finite values and NaN only."""

    itemsize = 1


class f8e5m2(MmaFloat):
    """A float of 8 bits, 5 of them exponent."""

    itemsize = 1


class f16(MmaFloat):
    """IEEE half precision."""

    itemsize = 2


class bf16(MmaFloat):
    """The upper 16 bits of an f32."""

    itemsize = 2


class f32(MmaFloat, WideFloat):
    """IEEE single precision."""

    itemsize = 4


class f64(WideFloat):
    """IEEE double precision."""

    itemsize = 8


# Triton's names
int1 = i1
int8 = i8
int16 = i16
int32 = i32
int64 = i64
uint8 = u8
uint16 = u16
uint32 = u32
uint64 = u64
float8e4nv = f8e4m3
float8e5 = f8e5m2
float16 = f16
bfloat16 = bf16
float32 = f32
float64 = f64
