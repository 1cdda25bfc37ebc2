"""The dtypes of kernels as this package meets them: their sizes, ranges.

Names in NumPy and torch. It imports NumPy and ml_dtypes only when a NumPy dtype is asked for.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from teeny_cpu.codes import E1113


class DType(NamedTuple):
    """One dtype: its DSL name, its size in bytes, its name in NumPy, ml_dtypes and torch."""

    name: str
    itemsize: int
    foreign: str

    @property
    def is_float(self) -> bool:
        """Whether its values are floating-point numbers."""
        return "f" in self.name

    @property
    def is_narrow_float(self) -> bool:
        """Whether NumPy alone does not know it: bf16 and fp8."""
        return self.name == "bf16" or self.name.startswith("f8")

    @property
    def bounds(self) -> tuple[int, int]:
        """The smallest and the largest value of an integer dtype."""
        if self.name == "i1":
            return 0, 1
        bits = 8 * self.itemsize
        return (
            (-(1 << (bits - 1)), (1 << (bits - 1)) - 1)
            if self.name[0] == "i"
            else (0, (1 << bits) - 1)
        )


_ROWS = (
    DType("i1", 1, "bool"),
    DType("i8", 1, "int8"),
    DType("i16", 2, "int16"),
    DType("i32", 4, "int32"),
    DType("i64", 8, "int64"),
    DType("u8", 1, "uint8"),
    DType("u16", 2, "uint16"),
    DType("u32", 4, "uint32"),
    DType("u64", 8, "uint64"),
    DType("f16", 2, "float16"),
    DType("bf16", 2, "bfloat16"),
    DType("f32", 4, "float32"),
    DType("f64", 8, "float64"),
    DType("f8e4m3", 1, "float8_e4m3fn"),
    DType("f8e5m2", 1, "float8_e5m2"),
)
DTYPES = {row.name: row for row in _ROWS}
_BY_FOREIGN = {row.foreign: row for row in _ROWS}


def find_dtype(spec: Any) -> DType | None:
    """The dtype that `spec` names, or None.

    `spec` is a DSL name or type (`"f32"`, `tl.f32`), or a dtype of NumPy, ml_dtypes or torch.
    """
    name = spec if isinstance(spec, str) else getattr(spec, "name", None)
    if not isinstance(name, str):
        # `np.float32` is a class; `torch.float32` shows its name only as text.
        name = spec.__name__ if isinstance(spec, type) else str(spec)
    name = name.rpartition(".")[2]
    return DTYPES.get(name) or _BY_FOREIGN.get(name)


def require_dtype(spec: Any) -> DType:
    """The dtype that `spec` names. Raises E1113 when kernels have no such dtype."""
    found = find_dtype(spec)
    if found is None:
        raise E1113.error(dtype=spec).help(f"one of {', '.join(DTYPES)}")
    return found


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
