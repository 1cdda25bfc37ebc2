"""The dtypes of kernels as this package meets them: in NumPy, DLPack, array interfaces and scalars.

It knows names and sizes; it imports NumPy and ml_dtypes only when a host array is asked for.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from teeny_cuda.codes import E1071


class DType(NamedTuple):
    """One dtype: its DSL name and its size in bytes.

    `foreign` is its name in NumPy, ml_dtypes and torch, `typestr` that of array interfaces,
    `dlpack` DLPack's type code, `letter` how `struct` packs it (bf16 and fp8: as bits).
    """

    name: str
    itemsize: int
    foreign: str
    typestr: str
    dlpack: int
    letter: str

    @property
    def is_float(self) -> bool:
        """Whether its values are floating-point numbers."""
        return "f" in self.name

    @property
    def is_narrow_float(self) -> bool:
        """Whether NumPy alone does not know it: bf16 and fp8."""
        return self.name == "bf16" or self.name.startswith("f8")

    @property
    def is_signed(self) -> bool:
        """Whether it is a signed integer."""
        return self.name[0] == "i" and self.name != "i1"


_ROWS = (
    DType("i1", 1, "bool", "|b1", 6, "B"),
    DType("i8", 1, "int8", "|i1", 0, "b"),
    DType("i16", 2, "int16", "<i2", 0, "h"),
    DType("i32", 4, "int32", "<i4", 0, "i"),
    DType("i64", 8, "int64", "<i8", 0, "q"),
    DType("u8", 1, "uint8", "|u1", 1, "B"),
    DType("u16", 2, "uint16", "<u2", 1, "H"),
    DType("u32", 4, "uint32", "<u4", 1, "I"),
    DType("u64", 8, "uint64", "<u8", 1, "Q"),
    DType("f16", 2, "float16", "<f2", 2, "e"),
    # Array interfaces have no letters for these: plain bytes, as ml_dtypes writes them.
    DType("bf16", 2, "bfloat16", "<V2", 4, "H"),
    DType("f32", 4, "float32", "<f4", 2, "f"),
    DType("f64", 8, "float64", "<f8", 2, "d"),
    DType("f8e4m3", 1, "float8_e4m3fn", "|V1", 10, "B"),
    DType("f8e5m2", 1, "float8_e5m2", "|V1", 12, "B"),
)
DTYPES = {row.name: row for row in _ROWS}
_BY_FOREIGN = {row.foreign: row for row in _ROWS}
_BY_TYPESTR = {row.typestr[1:]: row for row in _ROWS if row.typestr[1] != "V"}
_BY_DLPACK = {(row.dlpack, row.itemsize * 8): row for row in _ROWS}


def find_dtype(spec: Any) -> DType | None:
    """The dtype that `spec` names, or None.

    `spec` is a DSL name or type (`"f32"`, `tl.f32`), or a dtype of NumPy, ml_dtypes or torch.
    """
    name = spec if isinstance(spec, str) else getattr(spec, "name", None)
    if isinstance(name, str) and name in DTYPES:
        return DTYPES[name]
    if not isinstance(name, str):
        # `np.float32` is a class; `torch.float32` shows its name only as text.
        name = spec.__name__ if isinstance(spec, type) else str(spec)
    name = name.rpartition(".")[2]
    return DTYPES.get(name) or _BY_FOREIGN.get(name)


def require_dtype(spec: Any) -> DType:
    """The dtype that `spec` names. Raises E1071 when kernels have no such dtype."""
    found = find_dtype(spec)
    if found is None:
        raise E1071.error(dtype=spec).help(f"one of {', '.join(DTYPES)}")
    return found


def dtype_of_typestr(typestr: str) -> str:
    """The DSL name of an array interface's type string (`<f4`).

    Empty when kernels have no such dtype.
    """
    found = _BY_TYPESTR.get(typestr[1:]) if typestr[:1] != ">" else None
    return found.name if found else ""


def dtype_of_dlpack(code: int, bits: int, lanes: int) -> str:
    """The DSL name of a DLPack dtype; empty when kernels have no such dtype."""
    found = _BY_DLPACK.get((code, bits)) if lanes == 1 else None
    return found.name if found else ""


def host_dtype(dtype: DType) -> Any:
    """The NumPy dtype of host arrays.

    For bf16 and fp8 it is that of ml_dtypes where it is installed, else unsigned bits.
    """
    import numpy as np

    if not dtype.is_narrow_float:
        return np.dtype(dtype.foreign)
    try:
        import ml_dtypes
    except ImportError:
        return np.dtype(f"uint{dtype.itemsize * 8}")
    return np.dtype(getattr(ml_dtypes, dtype.foreign))
