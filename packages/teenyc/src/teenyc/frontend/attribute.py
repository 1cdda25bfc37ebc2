"""Attributes: names of the DSL, members of enumerations, facts of dtypes, methods of values."""

from __future__ import annotations

import ast
from math import prod
from typing import TYPE_CHECKING, Any, NamedTuple

from teenyc.codes import E0199, E0202
from teenyc.frontend import remedies
from teenyc.frontend.constexpr import is_number, plain
from teenyc.frontend.scope import (
    MISSING,
    BoundMethod,
    DTypeMethod,
    EnumClass,
    Namespace,
    UnitNamespace,
    dsl_attribute,
)
from teenyc.frontend.suggest import suggest
from teenyc.types import AnyDType, DType, PointerDType
from teenyc.values import BlockPointer, Descriptor, EnumMember, Record, RuntimeValue

if TYPE_CHECKING:
    from collections.abc import Callable

    from teenyc.frontend.context import Context


class BlockType(NamedTuple):
    """`x.type` of a tensor, as Triton has it: pointers of `ptrs.type` are its elements."""

    element_ty: AnyDType
    shape: tuple[int, ...]

    @property
    def scalar(self) -> AnyDType:
        """The dtype of an element."""
        return self.element_ty

    @property
    def numel(self) -> int:
        """The number of elements."""
        return prod(self.shape)


def lower_attribute(context: Context, node: ast.Attribute) -> Any:
    """The value of `owner.name`. Raises E0202 where there is none, E0199 if there will be."""
    owner = context.value(node.value)
    found = attribute(context, node, owner)
    if found is not MISSING:
        return found
    if isinstance(owner, Namespace) and context.library.dsl.comes_later(node.attr):
        raise context.fail(E0199, node, what=f"`{node.attr}`")
    error = context.fail(E0202, node, owner=_owner(owner), name=node.attr)
    if node.attr in remedies.ATTRIBUTES:
        raise error.help(remedies.ATTRIBUTES[node.attr])
    if isinstance(owner, Record):
        raise error.help(f"its fields are {', '.join(f'`{name}`' for name in owner.kind.fields)}")
    raise suggest(error, node.attr, _attributes(context, owner))


def _owner(owner: Any) -> str:
    if isinstance(owner, RuntimeValue):
        return f"a value of type {owner.describe()}"
    if isinstance(owner, Namespace):
        return f"module `{owner.name}`"
    if isinstance(owner, UnitNamespace):
        return f"`{owner.name}`"
    if isinstance(owner, Record):
        return f"a `{owner.kind.name}`"
    return f"enumeration `{owner.name}`" if isinstance(owner, EnumClass) else plain(owner)


def _attributes(context: Context, owner: Any) -> list[str]:
    if isinstance(owner, Namespace):
        return context.library.dsl.names()
    if isinstance(owner, UnitNamespace):
        return owner.scope.names()
    if isinstance(owner, EnumClass):
        return list(owner.members)
    if isinstance(owner, Record):
        return list(owner.kind.fields)
    if isinstance(owner, (Descriptor, BlockPointer)):
        class_, known = _PLACES[type(owner)]
        return [*known, *context.library.dsl.methods(class_)]
    if isinstance(owner, RuntimeValue) or is_number(owner):
        return ["shape", "dtype", "type", "numel", *context.library.dsl.methods()]
    if isinstance(owner, BlockType):
        return [*_BLOCK_ATTRIBUTES, *_DTYPE_QUESTIONS]
    return [*_DTYPE_ATTRIBUTES, *_DTYPE_QUESTIONS, "element_ty"]


_BLOCK_ATTRIBUTES = ("element_ty", "scalar", "shape", "numel")
_DTYPE_ATTRIBUTES: dict[str, Callable[[DType], Any]] = {
    "name": lambda d: d.name,
    "itemsize": lambda d: d.itemsize,
    "primitive_bitwidth": lambda d: d.bits,
    "scalar": lambda d: d,
}
_DTYPE_QUESTIONS: dict[str, Callable[[Any], bool]] = {
    "is_floating": lambda d: isinstance(d, DType) and d.is_float,
    "is_int": lambda d: isinstance(d, DType) and d.is_int,
    "is_int_signed": lambda d: isinstance(d, DType) and d.is_signed,
    "is_int_unsigned": lambda d: isinstance(d, DType) and d.kind == "uint",
    "is_bool": lambda d: isinstance(d, DType) and d.is_bool,
    "is_ptr": lambda d: isinstance(d, PointerDType),
    "is_block": lambda d: isinstance(d, BlockType),
}


def ask_dtype(method: DTypeMethod) -> bool:
    """The answer to `dtype.is_floating()` and the like."""
    return _DTYPE_QUESTIONS[method.name](method.owner)


def attribute(context: Context, node: ast.Attribute, owner: Any) -> Any:
    """`owner.<attr>`, or MISSING."""
    name = node.attr
    if isinstance(owner, Namespace):
        found = dsl_attribute(context.library, name)
        return found if found is MISSING else context.settle(found, name)
    if isinstance(owner, UnitNamespace):
        found = owner.scope.lookup(name)
        return found if found is MISSING else context.settle(found, name)
    if isinstance(owner, EnumClass):
        member = owner.member(name)
        return MISSING if member is None else member
    if isinstance(owner, EnumMember):
        return {"name": owner.name, "value": owner.value}.get(name, MISSING)
    if isinstance(owner, (DType, PointerDType)):
        if name in _DTYPE_QUESTIONS:
            return DTypeMethod(owner, name)
        if isinstance(owner, PointerDType):
            return {"element_ty": owner.element, "scalar": owner}.get(name, MISSING)
        return _DTYPE_ATTRIBUTES[name](owner) if name in _DTYPE_ATTRIBUTES else MISSING
    if isinstance(owner, BlockType):
        return _block_attribute(owner, name)
    if isinstance(owner, Record):
        fields = owner.kind.fields
        return owner[fields.index(name)] if name in fields else MISSING
    if isinstance(owner, RuntimeValue):
        return _tensor_attribute(context, node, owner)
    if isinstance(owner, (Descriptor, BlockPointer)):
        return _place_attribute(context, owner, name)
    if name == "value" and (is_number(owner) or isinstance(owner, str)):
        return owner  # of a `constexpr`, which is its value here
    if is_number(owner):
        method = context.library.dsl.method(name)
        return MISSING if method is None or method.is_property else BoundMethod(owner, method)
    return MISSING


def _block_attribute(owner: BlockType, name: str) -> Any:
    if name in _DTYPE_QUESTIONS:
        return DTypeMethod(owner, name)
    return getattr(owner, name) if name in _BLOCK_ATTRIBUTES else MISSING


# What the language knows of places in memory, by Triton's names.
_PLACES: dict[type, tuple[str, tuple[str, ...]]] = {
    Descriptor: ("TensorDescriptor", ("dtype", "shape", "strides")),
    BlockPointer: ("BlockPtr", ()),
}


def _place_attribute(context: Context, owner: Descriptor | BlockPointer, name: str) -> Any:
    class_, known = _PLACES[type(owner)]
    if name in known:
        return getattr(owner, name)
    if isinstance(owner, Descriptor) and name == "block_shape":
        return owner.block
    method = context.library.dsl.method(name, class_)
    return MISSING if method is None else BoundMethod(owner, method)


def _tensor_attribute(context: Context, node: ast.Attribute, owner: RuntimeValue) -> Any:
    if node.attr == "dtype":
        return owner.dtype
    if node.attr == "type":
        return BlockType(owner.dtype, owner.shape) if owner.is_tensor else owner.dtype
    if node.attr == "shape":
        return owner.shape
    if node.attr == "numel":
        return prod(owner.shape)
    class_ = "PtrTensor" if owner.is_pointer else "Tensor"
    method = context.library.dsl.method(node.attr, class_) or context.library.dsl.method(node.attr)
    return MISSING if method is None else BoundMethod(owner, method)
