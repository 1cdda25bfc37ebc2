"""What a name stands for while a kernel is lowered.

Compile-time values are plain Python objects (int, float, bool, str, None, tuple, `DType`,
`EnumMember`); run-time values are `RuntimeValue`s. Handlers in `teenyc.ops` take and return both.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from teenyc.types import PointerDType

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from teenyc.ir.core import Value
    from teenyc.types import AnyDType, DType


class EnumMember(NamedTuple):
    """A member of a DSL enumeration, such as `Axis.X`."""

    enum: str
    name: str
    value: int | str


class RuntimeValue:
    """An IR value with the dtype and shape the language gives it; a scalar has the shape `()`."""

    __slots__ = ("dtype", "ir", "shape")

    def __init__(self, ir: Value, dtype: AnyDType, shape: tuple[int, ...] = ()) -> None:
        self.ir = ir
        self.dtype = dtype
        self.shape = shape

    @property
    def is_tensor(self) -> bool:
        """Has at least one axis."""
        return bool(self.shape)

    @property
    def is_pointer(self) -> bool:
        """A pointer or a tensor of pointers."""
        return isinstance(self.dtype, PointerDType)

    def describe(self) -> str:
        """How errors spell the type: `f32`, `Tensor[f32, (4, 8)]`, `Ptr[f32]`."""
        if not self.shape:
            return str(self.dtype)
        dims = ", ".join(map(str, self.shape)) + ("," if len(self.shape) == 1 else "")
        return f"Tensor[{self.dtype}, ({dims})]"

    def __repr__(self) -> str:
        return f"RuntimeValue({self.describe()})"


class RecordType(NamedTuple):
    """A captured class of named tuples; `defaults` are of the last fields."""

    name: str
    fields: tuple[str, ...]
    defaults: tuple[Any, ...] = ()


class Record(tuple[Any, ...]):  # noqa: SLOT001 - a tuple takes none but the empty ones
    """A named tuple: a tuple whose elements have names too."""

    kind: RecordType

    @classmethod
    def make(cls, kind: RecordType, values: Sequence[Any]) -> Record:
        """One of `kind` with these elements."""
        record = cls(values)
        record.kind = kind
        return record


def is_tuple(value: object) -> bool:
    """A tuple of the kernel, named or not; the compiler's own named tuples are other things."""
    return type(value) is tuple or type(value) is Record


class BlockPointer:
    """A place in a strided array and the shape of the tile there, for `load` and `store`.

    `shape`, `strides` and `offsets` are i64 scalars in elements, one for each side of `block`. The
    parts are values of their own: there is no block pointer in the IR.
    """

    __slots__ = ("base", "block", "offsets", "shape", "strides")

    def __init__(
        self,
        base: RuntimeValue,
        shape: tuple[RuntimeValue, ...],
        strides: tuple[RuntimeValue, ...],
        offsets: tuple[RuntimeValue, ...],
        block: tuple[int, ...],
    ) -> None:
        self.base = base
        self.shape = shape
        self.strides = strides
        self.offsets = offsets
        self.block = block

    @property
    def element(self) -> AnyDType:
        """The dtype of what it points at."""
        assert isinstance(self.base.dtype, PointerDType)
        return self.base.dtype.element

    @property
    def parts(self) -> tuple[RuntimeValue, ...]:
        """What may change from one iteration to the next."""
        return (self.base, *self.shape, *self.strides, *self.offsets)

    def with_parts(self, parts: Sequence[RuntimeValue]) -> BlockPointer:
        """The same block with other parts."""
        rank = len(self.block)
        base, *rest = parts
        shape, strides, offsets = (tuple(rest[i * rank : (i + 1) * rank]) for i in range(3))
        return BlockPointer(base, shape, strides, offsets, self.block)

    def describe(self) -> str:
        """How errors spell the type."""
        return f"block pointer to {self.base.dtype} with block {self.block}"


class Descriptor:
    """A tensor descriptor: its handle in the IR, and what the language knows of it."""

    __slots__ = ("block", "dtype", "ir", "shape", "strides")

    def __init__(
        self,
        ir: Value,
        dtype: DType,
        block: tuple[int, ...],
        shape: tuple[RuntimeValue, ...],
        strides: tuple[RuntimeValue, ...],
    ) -> None:
        self.ir = ir
        self.dtype = dtype
        self.block = block
        self.shape = shape
        self.strides = strides

    @property
    def element(self) -> DType:
        """The dtype of what it describes."""
        return self.dtype

    @property
    def parts(self) -> tuple[RuntimeValue, ...]:
        """What may change from one iteration to the next: the handle, the sides, the strides."""
        return (RuntimeValue(self.ir, self.dtype, self.block), *self.shape, *self.strides)

    def with_parts(self, parts: Sequence[RuntimeValue]) -> Descriptor:
        """A descriptor of the same tiles with other parts."""
        rank = len(self.block)
        handle, *rest = parts
        return Descriptor(handle.ir, self.dtype, self.block, tuple(rest[:rank]), tuple(rest[rank:]))

    def describe(self) -> str:
        """How errors spell the type."""
        return f"TensorDescriptor[{self.dtype}, {self.block}]"


class FunctionValue:
    """A function given as an argument, such as the combine function of `reduce`.

    `call(values)` lowers its body where the builder stands and returns what it returns;
    `parameters` are the names in its signature.
    """

    __slots__ = ("call", "name", "parameters")

    def __init__(
        self, name: str, parameters: tuple[str, ...], call: Callable[[Sequence[RuntimeValue]], Any]
    ) -> None:
        self.name = name
        self.parameters = parameters
        self.call = call


def describe(value: object) -> str:
    """How errors spell a value of either kind."""
    if isinstance(value, RuntimeValue | BlockPointer | Descriptor):
        return value.describe()
    if value is None:
        return "None"
    if isinstance(value, FunctionValue):
        return f"function `{value.name}`"
    if isinstance(value, EnumMember):
        return f"{value.enum}.{value.name}"
    if type(value).__name__ == "Class":  # the front end's, which this module does not import
        return f"class `{getattr(value, 'name', '')}`"
    if is_tuple(value) and any(isinstance(part, RuntimeValue) for part in value):  # type: ignore[attr-defined]
        parts = ", ".join(describe(part).removeprefix("compile-time ") for part in value)  # type: ignore[attr-defined]
        return f"`{value.kind.name}` of {parts}" if isinstance(value, Record) else f"({parts})"
    kind = f"`{value.kind.name}`" if isinstance(value, Record) else type(value).__name__
    return f"compile-time {kind} {value!r}"
