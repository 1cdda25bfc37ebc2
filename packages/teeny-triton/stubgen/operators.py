"""The operators of scalars and tensors: regular tables, so they are written out from here.

What the forms are for (protocol self types, the last overload of ==) is said at each.
"""

from __future__ import annotations

ARITHMETIC = ("add", "sub", "mul")
ORDER = ("lt", "le", "gt", "ge")
INTEGER = ("floordiv", "mod")
BITWISE = ("and", "or", "xor")
SHIFT = ("lshift", "rshift")
_TO = (
    "self, dtype: type[X], "
    'fp_downcast_rounding: Literal["rtne", "rtz"] | None = None, bitcast: bool = False'
)
WIDE = (("i32", "i64"), ("i64", "i32"))


def _def(name: str, parameters: str, returns: str, *, overload: bool = False) -> list[str]:
    line = f"    def __{name}__({parameters}, /) -> {returns}: ..."
    return ["    @overload", line] if overload else [line]


def _equality(name: str, operand: str, what: str) -> list[str]:
    """== must not fail: checkers then fall back to object's and give `bool` in silence.

    The last overload takes anything, is reported as deprecated, and nothing accepts its result.
    """
    symbol = {"eq": "==", "ne": "!="}[name]
    return [
        *_def(name, f"self, o: {operand}", "i1", overload=True),
        "    @overload",
        f'    @deprecated("{symbol} on operands of different {what}")',
        f"    def __{name}__(self, o: object, /) -> Mismatch: ...",
    ]


def _mixed(names: tuple[str, ...], operand: str, other: str, returns: str) -> list[str]:
    lines: list[str] = []
    for name in names:
        lines += _def(name, f"self, o: {operand}", returns)
        if other:
            lines += _def(f"r{name}", f"self, o: {other}", returns)
    return lines


def scalar_members(name: str) -> list[str]:
    """The lines inside the stub of one dtype class."""
    match name:
        case "Elem":
            return [
                "    name: ClassVar[str]",
                "    itemsize: ClassVar[int]",
                "    def __init__(self, value: Num | i1 | float, /) -> None: ...",
                "    @property",
                "    def value(self) -> float: ...",
                "    @property",
                "    def dtype(self) -> type[Self]: ...",
                f"    def to({_TO}) -> X: ...",
                "    def __hash__(self) -> int: ...",
                *_equality("eq", "Self | int", "dtype"),
                *_equality("ne", "Self | int", "dtype"),
            ]
        case "Bits":
            return [*_mixed(BITWISE, "Self", "", "Self"), "    def __invert__(self) -> Self: ..."]
        case "i1":
            return ["    def __bool__(self) -> bool: ..."]
        case "Num":
            return [
                *_mixed(ARITHMETIC, "Self | int", "int", "Self"),
                *_mixed(ORDER, "Self | int", "", "i1"),
                "    def __neg__(self) -> Self: ...",
            ]
        case "Float":
            return [
                *_mixed((*ARITHMETIC, "truediv"), "Self | float", "float", "Self"),
                *_mixed(ORDER, "Self | float", "", "i1"),
                *_equality("eq", "Self | float", "dtype"),
                *_equality("ne", "Self | float", "dtype"),
            ]
        case "Int":
            return [
                "    def __index__(self) -> int: ...",
                *_def("radd", "self, o: int", "Self", overload=True),
                *_def("radd", "self, o: Ptr[E]", "Ptr[E]", overload=True),
                *_mixed((*INTEGER, *BITWISE, *SHIFT), "Self | int", "int", "Self"),
            ]
        case _:
            return _wide_scalar(name)


def _wide_scalar(name: str) -> list[str]:
    """i32 with i64 gives i64; no other dtypes mix."""
    lines: list[str] = []
    for own, other in WIDE:
        if own != name:
            continue
        for operator in (*ARITHMETIC, *INTEGER):
            lines += _def(operator, "self, o: Self | int", "Self", overload=True)
            lines += _def(operator, f"self, o: {other}", "i64", overload=True)
        lines += _mixed(ORDER, f"Self | int | {other}", "", "i1")
        for equality in ("eq", "ne"):
            lines += _equality(equality, f"Self | int | {other}", "dtype")
    return lines


def _tensor_operator(
    name: str, bound: str, *, result: str = "E", literal: str = "int", floats: bool = False
) -> list[str]:
    """One binary operator: tensors and scalars of one dtype, literals, and i32 with i64."""
    wide = "i1" if result == "i1" else "i64"
    own = f"Tensor[{result}, R]"
    rows = [(f"self: Of[{bound}], o: Tensor[E, R] | E | {literal}", own)]
    if floats:
        rows.append(("self: Of[Float], o: E | float", own))
    # `| int` for `n: i64 | int` beside an i32 tensor: == would else take its last overload
    rows += [
        (f"self: Tensor[{a}, R], o: Tensor[{b}, R] | {b} | int", f"Tensor[{wide}, R]")
        for a, b in WIDE
    ]
    lines: list[str] = []
    for parameters, returns in rows:
        lines += _def(name, parameters, returns, overload=True)
    return lines


def _reflected(name: str, bound: str, *, floats: bool = False) -> list[str]:
    rows = [(f"self: Of[{bound}], o: E | int", "Tensor[E, R]")]
    if floats:
        rows.append(("self: Of[Float], o: float", "Tensor[E, R]"))
    rows += [(f"self: Tensor[{a}, R], o: {b}", "Tensor[i64, R]") for a, b in WIDE]
    if name == "radd":  # pointers take part from the left, so that Ptr stays a protocol of arrays
        rows.append(("self: Of[i32 | i64], o: Ptr[X]", "PtrTensor[X, R]"))
    lines: list[str] = []
    for parameters, returns in rows:
        lines += _def(name, parameters, returns, overload=True)
    return lines


def _pair(name: str, bound: str, literal: str) -> list[str]:
    return [
        *_def(name, f"self: Of[{bound}], o: Tensor[E, R] | E | {literal}", "Tensor[E, R]"),
        *_def(f"r{name}", f"self: Of[{bound}], o: E | {literal}", "Tensor[E, R]"),
    ]


def _bitwise(name: str) -> list[str]:
    mask = "Tensor[i1, R]"
    lines: list[str] = []
    lines += _def(name, "self: Of[Int], o: Tensor[E, R] | E | int", "Tensor[E, R]", overload=True)
    lines += _def(name, f"self: {mask}, o: {mask} | i1 | bool", mask, overload=True)
    lines += _def(f"r{name}", "self: Of[Int], o: E | int", "Tensor[E, R]", overload=True)
    lines += _def(f"r{name}", f"self: {mask}, o: i1 | bool", mask, overload=True)
    return lines


def _tensor_equality(name: str) -> list[str]:
    mask = "Tensor[i1, R]"
    return [
        *_tensor_operator(name, "Num", result="i1", floats=True),
        *_def(name, f"self: {mask}, o: {mask} | i1 | bool", mask, overload=True),
        *_equality(name, "object", "dtype or rank")[2:],
    ]


def tensor_members() -> list[str]:
    """The operator lines inside the stub of Tensor."""
    lines = [
        "    def _elem(self) -> E: ...",
        "    if not MYPY:  # a tensor is no condition; mypy reports it where the method is missing",
        "        def __bool__(self) -> Mismatch: ...",
        "    def __hash__(self) -> int: ...",
        "    def __neg__(self: Of[Num]) -> Tensor[E, R]: ...",
        "    def __invert__(self: Of[Bits]) -> Tensor[E, R]: ...",
    ]
    for name in ARITHMETIC:
        lines += _tensor_operator(name, "Num", floats=True)
        lines += _reflected(f"r{name}", "Num", floats=True)
    lines += _pair("truediv", "Float", "float")
    for name in INTEGER:
        lines += _tensor_operator(name, "Int")
        lines += _reflected(f"r{name}", "Int")
    for name in BITWISE:
        lines += _bitwise(name)
    for name in SHIFT:
        lines += _pair(name, "Int", "int")
    for name in ORDER:
        lines += _tensor_operator(name, "Num", result="i1", floats=True)
    for name in ("eq", "ne"):
        lines += _tensor_equality(name)
    return lines


def pointer_members() -> list[str]:
    """The lines inside the stub of PtrTensor."""
    offsets = "Tensor[i32, R] | Tensor[i64, R] | i32 | i64 | int"
    return [
        *_def("add", f"self, o: {offsets}", "PtrTensor[E, R]"),
        *_def("radd", "self, o: i32 | i64 | int", "PtrTensor[E, R]"),
        *_def("sub", f"self, o: {offsets}", "PtrTensor[E, R]"),
    ]
