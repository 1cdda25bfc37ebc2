"""Values of the NumPy reading: numbers of one dtype, each with how far a target may be off from it.

This is written from the language's documentation and shares nothing with the compiler. A value is
an array `v` in the dtype's own precision and `e`: None where every target must give these bits,
else the greatest allowed distance of each element, infinite where anything goes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

Array = Any


class RefusedError(Exception):
    """The language has no such operation on these dtypes."""


class UndecidedError(Exception):
    """The kernel branches on a number that targets need not agree about."""


class Dtype(NamedTuple):
    """A dtype: `held` is NumPy's that holds its values; floats have their format."""

    name: str
    kind: str
    bits: int
    held: str
    precision: int = 0
    lowest: int = 0
    greatest: float = 0.0

    def __repr__(self) -> str:
        return self.name

    @property
    def is_float(self) -> bool:
        return self.kind == "float"

    @property
    def is_int(self) -> bool:
        return self.kind in ("int", "uint")

    @property
    def saturates(self) -> bool:
        return self.bits == 8 and self.is_float


DTYPES: dict[str, Dtype] = {
    d.name: d
    for d in (
        Dtype("i1", "bool", 1, "bool"),
        *(Dtype(f"i{n}", "int", n, f"int{n}") for n in (8, 16, 32, 64)),
        *(Dtype(f"u{n}", "uint", n, f"uint{n}") for n in (8, 16, 32, 64)),
        Dtype("f8e4m3", "float", 8, "float32", 4, -6, 448.0),
        Dtype("f8e5m2", "float", 8, "float32", 3, -14, 57344.0),
        Dtype("f16", "float", 16, "float16", 11, -14, 65504.0),
        Dtype("bf16", "float", 16, "float32", 8, -126, (2 - 2.0**-7) * 2.0**127),
        Dtype("f32", "float", 32, "float32", 24, -126, (2 - 2.0**-23) * 2.0**127),
        Dtype("f64", "float", 64, "float64", 53, -1022, float(np.finfo("f8").max)),
    )
}
I1, I32, I64, U32, U64 = (DTYPES[n] for n in ("i1", "i32", "i64", "u32", "u64"))
F16, BF16, F32, F64 = (DTYPES[n] for n in ("f16", "bf16", "f32", "f64"))


def rounded(d: Dtype, x: Array) -> Array:
    """float64 values rounded once, to nearest even, to the float dtype `d`."""
    if d.held != "float32" or d is F32:
        return np.asarray(x).astype(d.held)
    wide = np.asarray(x, np.float64)
    size = np.where(np.isfinite(wide), np.abs(wide), 1.0)
    exponent = np.maximum(np.frexp(size)[1] - 1, d.lowest) - (d.precision - 1)
    near = np.copysign(np.ldexp(np.rint(np.ldexp(size, -exponent)), exponent), wide)
    beyond = d.greatest if d.saturates else np.inf
    near = np.where(np.abs(near) > d.greatest, np.copysign(beyond, wide), near)
    near = np.where(np.isinf(wide), np.copysign(beyond, wide), near)
    return np.where(np.isnan(wide), wide, near).astype(d.held)


def spacing(d: Dtype, size: Array) -> Array:
    """The distance between neighboring numbers of `d` around `size`."""
    size = np.where(np.isfinite(size), np.abs(size), d.greatest)
    exponent = np.maximum(np.frexp(size)[1] - 1, d.lowest)
    exponent = np.where(size == 0, d.lowest, exponent)
    return np.ldexp(1.0, exponent - (d.precision - 1))


def odd_sum(x: Array, y: Array) -> Array:
    """X + y as a float64 whose last bit is odd where the sum is not exact.

    Rounding that to fewer bits rounds the exact sum once.
    """
    total = x + y
    part = total - x
    rest = (x - (total - part)) + (y - part)
    bits = np.asarray(total, np.float64).view(np.int64)
    even = (bits & 1) == 0
    inexact = np.isfinite(total) & (rest != 0) & np.isfinite(rest) & even
    away = (rest > 0) == (total > 0)
    return np.where(inexact, bits + np.where(away, 1, -1), bits).view(np.float64)


def from_integers(d: Dtype, x: Array) -> Array:
    """Integers as the float dtype `d`, rounded once."""
    if d is F64 or x.dtype.itemsize < 8 or (d is F32):
        return rounded(d, x.astype(np.float64)) if d is not F32 else x.astype(np.float32)
    # The tail of 64 bits becomes one odd bit, since float64 has no room for it.
    sign = x < 0 if x.dtype.kind == "i" else np.zeros(x.shape, bool)
    size = np.where(sign, -(x.astype(np.uint64)), x.astype(np.uint64)).astype(np.uint64)
    tail = (size & np.uint64(0x7FF)) != 0
    large = size >= np.uint64(1 << 53)
    head = (size & ~np.uint64(0x7FF)) | np.where(tail, np.uint64(0x800), np.uint64(0))
    wide = np.where(large, head, size).astype(np.float64)
    return rounded(d, np.where(sign, -wide, wide))


class Tracked:
    """A scalar or tensor of a kernel."""

    __array_ufunc__ = None
    __hash__ = None  # type: ignore[assignment]
    __slots__ = ("d", "e", "v")

    def __init__(self, d: Dtype, v: Array, e: Array | None = None) -> None:
        self.d = d
        self.v = np.asarray(v)
        assert self.v.dtype == np.dtype(d.held), (d, self.v.dtype)
        self.e = None
        if e is not None:
            off = np.broadcast_to(np.asarray(e, np.float64), self.v.shape)
            if off.any():
                self.e = np.where(np.isnan(off), np.inf, off)
        if self.e is not None and d.is_float:
            size = np.abs(self.v.astype(np.float64)) + self.e
            self.e = np.where((self.e > 0) & ~(size < d.greatest), np.inf, self.e)

    @property
    def off(self) -> Array:
        """`e` as an array."""
        return np.zeros(self.v.shape) if self.e is None else self.e

    @property
    def shape(self) -> tuple[int, ...]:
        return self.v.shape

    @property
    def dtype(self) -> Dtype:
        return self.d

    @property
    def numel(self) -> int:
        return self.v.size

    @property
    def T(self) -> Tracked:
        return self.moved(lambda a: a.T)

    def moved(self, f: Any) -> Tracked:
        """The same elements in another arrangement."""
        return Tracked(self.d, f(self.v), None if self.e is None else f(self.e))

    def unsure(self) -> Array:
        """Where targets may give other bits."""
        return self.off > 0

    def __getitem__(self, index: Any) -> Tracked:
        return self.moved(lambda a: a[index])

    def __bool__(self) -> bool:
        if self.shape:
            raise RefusedError("a tensor as a condition")
        if self.off > 0 and (self.d.is_int or not abs(self.v) > self.off):
            raise UndecidedError
        return bool(self.v)

    if TYPE_CHECKING:  # the operators are entered below

        def __neg__(self) -> Tracked: ...
        def __add__(self, other: Any) -> Tracked: ...
        def __sub__(self, other: Any) -> Tracked: ...
        def __mul__(self, other: Any) -> Tracked: ...
        def __rmul__(self, other: Any) -> Tracked: ...
        def __radd__(self, other: Any) -> Tracked: ...
        def __rtruediv__(self, other: Any) -> Tracked: ...
        def __xor__(self, other: Any) -> Tracked: ...
        def __or__(self, other: Any) -> Tracked: ...

    def __getattr__(self, name: str) -> Any:
        import reading

        function = reading.LANGUAGE.get(name)
        if function is None:
            raise AttributeError(name)
        return lambda *args, **kwargs: function(self, *args, **kwargs)

    def to(
        self, dtype: Dtype, fp_downcast_rounding: str | None = None, bitcast: bool = False
    ) -> Tracked:
        import reading

        return reading.cast(self, dtype, fp_downcast_rounding, bitcast)


def _operator(name: str) -> None:
    def forward(self: Tracked, other: Any) -> Any:
        import reading

        if not isinstance(other, Tracked | int | float):
            return NotImplemented
        return reading.OPERATORS[name](self, other)

    def backward(self: Tracked, other: Any) -> Tracked:
        import reading

        return reading.OPERATORS[name](other, self)

    setattr(Tracked, f"__{name}__", forward)
    if name not in ("lt", "le", "gt", "ge", "eq", "ne"):
        setattr(Tracked, f"__r{name}__", backward)


for _name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "and", "or", "xor", "lshift",
              "rshift", "lt", "le", "gt", "ge", "eq", "ne"):  # fmt: skip
    _operator(_name)


def _unary(name: str) -> None:
    def apply(self: Tracked) -> Tracked:
        import reading

        return reading.UNARY[name](self)

    setattr(Tracked, f"__{name}__", apply)


for _name in ("neg", "pos", "invert"):
    _unary(_name)

# --- promotion ------------------------------------------------------------------------------------

_RANK = {"bool": 0, "int": 1, "uint": 1, "float": 2}


def literal_dtype(x: Any) -> Dtype:
    """The dtype of a number written in a kernel."""
    if isinstance(x, bool):
        return I1
    if isinstance(x, float):
        plain = not np.isfinite(x) or x == 0 or 2.0**-126 <= abs(x) <= F32.greatest
        return F32 if plain else F64
    return next(d for d in (I32, I64, U64) if fits(x, d))


def fits(x: int, d: Dtype) -> bool:
    if d.kind == "bool":
        return x in (0, 1)
    low, high = (-(1 << (d.bits - 1)), 1 << (d.bits - 1)) if d.kind == "int" else (0, 1 << d.bits)
    return low <= x < high


def full(x: Any, d: Dtype, shape: tuple[int, ...] = ()) -> Tracked:
    """A literal in each element."""
    if d.is_float:
        return Tracked(d, np.full(shape, rounded(d, np.float64(x))))
    if isinstance(x, float) or not fits(int(x), d):
        raise RefusedError(f"{x} as {d}")
    return Tracked(d, np.full(shape, int(x), d.held))


def value(x: Any) -> Tracked:
    return x if isinstance(x, Tracked) else full(x, literal_dtype(x))


def common(left: Dtype, right: Dtype, *, division: bool = False) -> Dtype:
    """The dtype in which two values meet."""
    for d in (F64, F32):
        if d in (left, right):
            return d
    if left.is_float or right.is_float:
        if any(d.is_float and d.bits == 8 for d in (left, right)):
            raise RefusedError("arithmetic of 8-bit floats")
        if division:
            return F32
        if F16 in (left, right):
            return F16
        return BF16 if left is right else F32
    if left.kind == "uint" and right.kind == "uint":
        return max(left, right, key=lambda d: d.bits)
    signed = [d for d in (left, right) if d.kind != "uint"]
    if len(signed) == 2:
        return max(left, right, key=lambda d: d.bits)
    if division:
        raise RefusedError("a quotient of signed and unsigned")
    unsigned = right if signed[0] is left else left
    return unsigned if unsigned.bits >= signed[0].bits else signed[0]


def _with_literal(x: Any, d: Dtype, *, division: bool) -> Dtype:
    if d.is_float and d.bits == 8:
        raise RefusedError("arithmetic of 8-bit floats")
    own = literal_dtype(x)
    if _RANK[own.kind] <= _RANK[d.kind]:
        return F32 if division and d in (F16, BF16) else d
    return common(own, d, division=division)


def _exact(x: Any, d: Dtype) -> bool:
    if d.is_float:
        return bool(rounded(d, np.float64(x)) == x)
    return not isinstance(x, float) and fits(int(x), d)


def promoted(
    *operands: Any, division: bool = False, exact: bool = False
) -> tuple[Dtype, list[Tracked]]:
    """All operands in one dtype and one shape."""
    import reading

    values = [x for x in operands if isinstance(x, Tracked)]
    literals = [x for x in operands if not isinstance(x, Tracked)]
    if not values:
        values = [value(literals.pop(0))]
        operands = (values[0], *operands[1:])
    d = values[0].d
    for x in values[1:]:
        d = common(d, x.d, division=division)
    for x in literals:
        if exact and not _exact(x, d):
            d = common(d, literal_dtype(x), division=division)
        else:
            d = _with_literal(x, d, division=division)
    if d.is_float and d.bits == 8:
        raise RefusedError("arithmetic of 8-bit floats")
    if d.kind in ("uint", "bool") and any(not isinstance(x, bool) and x < 0 for x in literals):
        raise RefusedError("a negative literal beside unsigned")
    cast_to = [reading.cast(x, d) if isinstance(x, Tracked) else full(x, d) for x in operands]
    shape = np.broadcast_shapes(*(x.shape for x in cast_to))
    return d, [x.moved(lambda a: np.broadcast_to(a, shape)) for x in cast_to]
