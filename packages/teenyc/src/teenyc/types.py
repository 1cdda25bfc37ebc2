"""Types: the language's dtypes (which know signedness) and the IR's types (which do not).

A front-end value has a dtype and a shape; `ir_type` gives the type of the IR value under it.
"""

from __future__ import annotations

from typing import NamedTuple


class DType(NamedTuple):
    """A dtype of the language; `kind` is `bool`, `int`, `uint` or `float`, `mlir` its IR name."""

    name: str
    kind: str
    bits: int
    mlir: str

    @property
    def is_float(self) -> bool:
        """Floating point of any width."""
        return self.kind == "float"

    @property
    def is_int(self) -> bool:
        """Integer, i1 included."""
        return self.kind != "float"

    @property
    def is_bool(self) -> bool:
        """i1."""
        return self.kind == "bool"

    @property
    def is_signed(self) -> bool:
        """Signed integer (i1 is unsigned)."""
        return self.kind == "int"

    @property
    def itemsize(self) -> int:
        """Bytes of one element in memory."""
        return max(1, self.bits // 8)

    def __str__(self) -> str:
        return self.name


def _dtype(name: str, kind: str, bits: int, mlir: str = "") -> DType:
    return DType(name, kind, bits, mlir or name)


I1 = _dtype("i1", "bool", 1)
I8 = _dtype("i8", "int", 8)
I16 = _dtype("i16", "int", 16)
I32 = _dtype("i32", "int", 32)
I64 = _dtype("i64", "int", 64)
U8 = _dtype("u8", "uint", 8, "i8")
U16 = _dtype("u16", "uint", 16, "i16")
U32 = _dtype("u32", "uint", 32, "i32")
U64 = _dtype("u64", "uint", 64, "i64")
F8E4M3 = _dtype("f8e4m3", "float", 8, "f8E4M3FN")
F8E5M2 = _dtype("f8e5m2", "float", 8, "f8E5M2")
F16 = _dtype("f16", "float", 16)
BF16 = _dtype("bf16", "float", 16)
F32 = _dtype("f32", "float", 32)
F64 = _dtype("f64", "float", 64)

DTYPES: dict[str, DType] = {
    d.name: d
    for d in (I1, I8, I16, I32, I64, U8, U16, U32, U64, F8E4M3, F8E5M2, F16, BF16, F32, F64)
}


class PointerDType(NamedTuple):
    """A pointer of the language; `element` is what it points at."""

    element: DType | PointerDType

    @property
    def name(self) -> str:
        """How errors spell it."""
        return f"Ptr[{self.element.name}]"

    def __str__(self) -> str:
        return self.name


class DescriptorKind(NamedTuple):
    """The type of a descriptor made on the host: its dtype, and the tiles it moves."""

    dtype: DType
    block: tuple[int, ...]


AnyDType = DType | PointerDType


class ScalarType(NamedTuple):
    """A signless scalar of the IR: `i1` ... `i64`, `f16` ..., `index`."""

    name: str

    def __str__(self) -> str:
        return self.name


class PointerType(NamedTuple):
    """`!tt.ptr<...>`."""

    pointee: ScalarType | PointerType

    def __str__(self) -> str:
        return f"!tt.ptr<{self.pointee}>"


class TensorType(NamedTuple):
    """`tensor<4x8xf32>`; the shape is never empty."""

    shape: tuple[int, ...]
    element: ScalarType | PointerType

    def __str__(self) -> str:
        dims = "x".join(str(n) for n in self.shape)
        return f"tensor<{dims}x{self.element}>"


class DescriptorType(NamedTuple):
    """`!tt.tensordesc<64x64xf16>`: a tensor in memory and the shape of the tiles read from it.

    It is the one type that knows the sign of integers: `si32`.
    """

    shape: tuple[int, ...]
    element: ScalarType
    is_signed: bool = False

    @property
    def name(self) -> str:
        """What stands for an element type where descriptors are held."""
        return "tensordesc"

    @property
    def block(self) -> TensorType:
        """The type of a tile."""
        return TensorType(self.shape, self.element)

    @property
    def sides(self) -> str:
        """`64x64xf16`."""
        sign = "s" if self.is_signed else ""
        return "x".join([*map(str, self.shape), f"{sign}{self.element}"])

    def __str__(self) -> str:
        return f"!tt.tensordesc<{self.sides}>"


IRType = ScalarType | PointerType | TensorType | DescriptorType


def element_type(dtype: AnyDType) -> ScalarType | PointerType:
    """The IR type of one element of `dtype`."""
    if isinstance(dtype, PointerDType):
        return PointerType(element_type(dtype.element))
    return ScalarType(dtype.mlir)


def ir_type(dtype: AnyDType, shape: tuple[int, ...] = ()) -> IRType:
    """The IR type of a value of `dtype`; a scalar when `shape` is empty."""
    element = element_type(dtype)
    return TensorType(shape, element) if shape else element


def shape_of(type_: IRType) -> tuple[int, ...]:
    """The shape, `()` for a scalar."""
    return type_.shape if isinstance(type_, TensorType) else ()


def scalar_of(type_: IRType) -> ScalarType | PointerType:
    """The element of a tensor, or the scalar itself."""
    if isinstance(type_, DescriptorType):
        return ScalarType(type_.name)
    return type_.element if isinstance(type_, TensorType) else type_


def with_element(type_: IRType, element: ScalarType | PointerType) -> IRType:
    """The type of the same shape with another element."""
    return TensorType(type_.shape, element) if isinstance(type_, TensorType) else element
