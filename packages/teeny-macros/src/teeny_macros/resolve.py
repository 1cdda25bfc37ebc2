"""Types of a kernel's parameters from what was given.

Annotations, type variables, and their bounds.

Serves launches and `instantiate` alike; reads no arrays and builds no text.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from teeny_macros.codes import (
    E1007,
    E1008,
    E1009,
    E1010,
    E1013,
    E1014,
    E1024,
    E1025,
    E1027,
    E1028,
)
from teeny_macros.namespace import dsl_name, dtype_name, literal_text, unwrap_constexpr
from teeny_macros.signature import CONST, DESCRIPTOR, POINTER, SCALAR, UNTYPED

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from teeny_macros.signature import Parameter

INTEGERS = {
    "i8": (-(2**7), 2**7 - 1),
    "i16": (-(2**15), 2**15 - 1),
    "i32": (-(2**31), 2**31 - 1),
    "i64": (-(2**63), 2**63 - 1),
    "u8": (0, 2**8 - 1),
    "u16": (0, 2**16 - 1),
    "u32": (0, 2**32 - 1),
    "u64": (0, 2**64 - 1),
    "i1": (0, 1),
}
FLOATS = frozenset({"f8e4m3", "f8e5m2", "f16", "bf16", "f32", "f64"})
NONE = "none"


class Given(NamedTuple):
    """What was given for a run-time parameter.

    `kind` is `pointer`, `scalar`, `descriptor` or `none`; `dtype` of a Python number is the one it
    has without an annotation, and `number` the number itself, which takes the dtype that the
    parameter asks for. `foreign` is the dtype of an array in its library's words where kernels have
    no such dtype, `block` the tile of a descriptor.
    """

    kind: str
    dtype: str = ""
    number: bool | int | float | None = None
    foreign: str = ""
    block: tuple[int, ...] = ()


_LONGEST_SHOWN = 60  # characters of a value in a message


class Type(NamedTuple):
    """The type of a run-time parameter: `Ptr[f32]` is a pointer, `f32` a scalar.

    `block` is the tile that a descriptor moves.
    """

    kind: str
    dtype: str
    block: tuple[int, ...] = ()

    @property
    def text(self) -> str:
        """The annotation of the entry point."""
        if self.kind == DESCRIPTOR:
            return (
                f"TensorDescriptor[{self.dtype}, {self.block}]"
                if self.block
                else (f"TensorDescriptor[{self.dtype}]")
            )
        return f"Ptr[{self.dtype}]" if self.kind == POINTER else self.dtype


def python_dtype(value: float) -> str:
    """The dtype of a Python number without an annotation, by Triton's rule.

    Empty for too large integers.
    """
    if isinstance(value, bool):
        return "i1"
    if isinstance(value, float):
        return "f32"
    for dtype in ("i32", "i64", "u64"):
        low, high = INTEGERS[dtype]
        if low <= value <= high:
            return dtype
    return ""


class Resolver:
    """Gives every run-time parameter of one kernel its type.

    Raises:
        LaunchError: E1007 (another dtype), E1008 (a type variable bound twice), E1009 (outside of
            its bound), E1010 (an integer that does not fit), E1014, E1025 and E1027 (no array, no
            dtype, none that kernels have), E1028 (a dtype that the kernel is not made for), E1024.
    """

    def __init__(
        self, kernel: str, parameters: Iterable[Parameter], dtypes: Sequence[str] = ()
    ) -> None:
        self.kernel = kernel
        self.dtypes = dtypes  # those of the type variables; empty: any within their bounds
        self.parameters = [parameter for parameter in parameters if parameter.kind != CONST]
        self.variables: dict[str, tuple[str, str]] = {}

    def bind_variable(self, name: str, variable: TypeVar | None, dtype: str, by: str) -> None:
        """Fix a type variable, by a parameter or by its own name."""
        first = self.variables.setdefault(name, (dtype, by))
        if first[0] != dtype:
            raise E1008.error(
                kernel=self.kernel,
                variable=name,
                first=first[0],
                first_name=first[1],
                second=dtype,
                second_name=by,
            ).help("convert one of the arrays, or give their parameters different type variables")
        bound = None if variable is None else bound_fault(variable, dtype)
        if bound:
            raise E1009.error(kernel=self.kernel, variable=name, found=dtype, bound=bound).help(
                "pass arrays of such a dtype"
            )
        if self.dtypes and dtype not in self.dtypes:
            supported = ", ".join(f"`{known}`" for known in self.dtypes)
            raise E1028.error(kernel=self.kernel, found=dtype, by=by).help(
                f"it is made for {supported}: convert to one of them"
            )

    def resolve(self, given: Mapping[str, Given]) -> dict[str, Type]:
        """The types by name; a parameter that was given None has none."""
        for parameter in self.parameters:
            found = given.get(parameter.name)
            if found is not None and found.number is None and found.kind != NONE:
                self.bind_typed(parameter, found)
        types: dict[str, Type] = {}
        lacking: list[str] = []
        for parameter in self.parameters:
            found = given.get(parameter.name)
            if found is None:
                declared = self.declared(parameter)
                if declared is None:
                    lacking.append(parameter.name)
                else:
                    types[parameter.name] = declared
            elif found.kind == NONE:
                if parameter.kind == SCALAR:
                    help_ = "only pointers and descriptors may be None"
                    raise self.mistyped(parameter, "None", help_=help_)
                if parameter.kind == DESCRIPTOR and not parameter.is_optional:
                    help_ = "annotate it `TensorDescriptor[...] | None` where it may be None"
                    raise self.mistyped(parameter, "None", help_=help_)
            elif found.number is not None:
                types[parameter.name] = self.number(parameter, found)
            else:
                types[parameter.name] = Type(found.kind, found.dtype, found.block)
        if lacking:
            names = ", ".join(f"`{name}`" for name in lacking)
            raise E1024.error(kernel=self.kernel, names=names).help(
                f"give it by name: `instantiate({lacking[0]}=Ptr[f32])` or `{lacking[0]}=i32`; "
                "type variables go by their own name"
            )
        return types

    def declared(self, parameter: Parameter) -> Type | None:
        """The type that the annotation says, with type variables replaced.

        None when it does not say.
        """
        if parameter.kind == UNTYPED or parameter.dtype is None:
            return None
        if parameter.kind == DESCRIPTOR:
            return None  # its tile comes with the argument
        if parameter.variable is not None:
            bound = self.variables.get(parameter.dtype)
            return None if bound is None else Type(parameter.kind, bound[0])
        return Type(parameter.kind, parameter.dtype)

    def mistyped(self, parameter: Parameter, found: str, *, help_: str) -> Exception:
        declared = self.declared(parameter)
        wanted = f"`{declared.text}`" if declared is not None else f"a {parameter.kind}"
        error = E1007.error(name=parameter.name, kernel=self.kernel, wanted=wanted, found=found)
        return error.help(help_)

    def undescribed(self, parameter: Parameter, found: Given) -> Exception:
        """An array where a descriptor belongs, or the other way round."""
        wanted = "an array" if parameter.kind == POINTER else f"a {parameter.kind}"
        what = {POINTER: "an array", DESCRIPTOR: "a descriptor"}.get(found.kind, "a number")
        error = E1007.error(name=parameter.name, kernel=self.kernel, wanted=wanted, found=what)
        return error.help(
            "make one of an array: `tl.tensor_descriptor(array, block_shape=(64, 64))`"
            if parameter.kind == DESCRIPTOR
            else "pass the array itself"
        )

    def bind_typed(self, parameter: Parameter, found: Given) -> None:
        """Check what has a dtype of its own against the annotation."""
        if DESCRIPTOR in (parameter.kind, found.kind) and parameter.kind not in (
            UNTYPED,
            found.kind,
        ):
            raise self.undescribed(parameter, found)
        if parameter.kind == POINTER and found.kind == SCALAR:
            raise E1014.error(
                name=parameter.name, kernel=self.kernel, found=f"a `{found.dtype}`"
            ).help("pass an array of the device, or a NumPy array")
        if not found.dtype:
            if found.foreign:
                raise E1027.error(
                    name=parameter.name, kernel=self.kernel, found=found.foreign
                ).help(f"convert it to one of {', '.join((*INTEGERS, *sorted(FLOATS)))}")
            declared = self.declared(parameter)
            error = E1025.error(name=parameter.name, kernel=self.kernel)
            dtype = declared.dtype if declared is not None else "f32"
            raise error.help(f"say which: `tl.typed(array, {dtype})`")
        if parameter.kind == SCALAR and found.kind == POINTER:
            raise self.mistyped(parameter, f"an array of `{found.dtype}`", help_="pass a number")
        if parameter.kind == UNTYPED or parameter.dtype is None:
            return
        if parameter.variable is not None:
            self.bind_variable(parameter.dtype, parameter.variable, found.dtype, parameter.name)
        elif parameter.dtype != found.dtype:
            what = "an array of" if found.kind == POINTER else "a"
            same_size = {parameter.dtype, found.dtype} in ({"u16", "bf16"}, {"i16", "bf16"})
            remedy = (
                f"say what its bits are: `tl.typed(array, {parameter.dtype})`"
                if same_size
                else f"convert it to `{parameter.dtype}` first"
            )
            raise self.mistyped(parameter, f"{what} `{found.dtype}`", help_=remedy)

    def number(self, parameter: Parameter, found: Given) -> Type:
        """The type of a parameter that was given a Python number."""
        value = found.number
        if parameter.kind == DESCRIPTOR:
            raise self.undescribed(parameter, found)
        if parameter.kind == POINTER:
            shown = f"the number {value!r}"
            raise E1014.error(name=parameter.name, kernel=self.kernel, found=shown).help(
                "pass an array of the device, or a NumPy array"
            )
        declared = self.declared(parameter)
        if declared is None:
            if not found.dtype:
                raise self.out_of_range(parameter, "u64", value)
            if parameter.kind == SCALAR and parameter.dtype is not None:
                self.bind_variable(parameter.dtype, parameter.variable, found.dtype, parameter.name)
            return Type(SCALAR, found.dtype)
        dtype = declared.dtype
        if dtype in FLOATS:
            return declared
        if isinstance(value, float):
            raise self.mistyped(parameter, f"the float {value!r}", help_="pass an int")
        low, high = INTEGERS[dtype]
        if value is None or not low <= value <= high:
            raise self.out_of_range(parameter, dtype, value)
        return declared

    def out_of_range(self, parameter: Parameter, dtype: str, value: object) -> Exception:
        error = E1010.error(name=parameter.name, kernel=self.kernel, value=value, dtype=dtype)
        if dtype in ("i64", "u64"):
            return error.help("no integer dtype of kernels is wider than 64 bits")
        return error.help(f"annotate it with a wider dtype: `{parameter.name}: i64 | int`")


def bound_fault(variable: TypeVar, dtype: str) -> str:
    """What a type variable asks for that `dtype` is not; empty when it fits."""
    bound = variable.__bound__
    options = variable.__constraints__ or getattr(bound, "__args__", None) or (bound,)
    names: list[str] = []
    for option in options:
        name = dsl_name(option)
        module = sys.modules.get(getattr(option, "__module__", ""))
        own = getattr(module, dtype, None)
        if name is None or not isinstance(option, type) or not isinstance(own, type):
            return ""  # a bound of the user's own; the type checker judges it
        if issubclass(own, option):
            return ""
        names.append(f"`{name}`")
    return " or ".join(names)


def given_type(value: Any) -> Given | None:
    """What a type given to `instantiate` says: `Ptr[f32]`, `f32`, a descriptor's type, or None.

    None for anything else.
    """
    if value is None:
        return Given(NONE)
    dtype = dtype_name(value)
    if dtype is not None:
        return Given(SCALAR, dtype)
    block = getattr(value, "block_shape", None)
    if type(block) is tuple and type(value).__name__ == "DescriptorType":
        return Given(DESCRIPTOR, value.dtype, block=block)
    if dsl_name(getattr(value, "__origin__", None)) == "Ptr":
        element = dtype_name(value.__args__[0])
        return None if element is None else Given(POINTER, element)
    return None


def checked_constant(kernel: str, parameter: Parameter, value: Any) -> Any:
    """The value of a compile-time parameter as its annotation wants it.

    Raises:
        LaunchError: E1007 for a value of another type than the annotation's, E1013 for one that is
            no literal, dtype, enum member or device function.
    """
    from teeny_macros.capture import SourceFunction

    value = unwrap_constexpr(value)
    wanted = parameter.dtype
    if wanted == "float" and isinstance(value, int) and not isinstance(value, bool):
        value = float(value)
    fits = {
        "int": isinstance(value, int),
        "float": isinstance(value, float),
        "bool": isinstance(value, bool),
        "str": isinstance(value, str),
    }
    if wanted is not None and value is not None and not fits.get(wanted, True):
        shown = f"{value!r}"
        if len(shown) > _LONGEST_SHOWN or "\n" in shown:  # an array, say
            shown = f"a `{type(value).__qualname__}`"  # pyright: ignore[reportUnknownMemberType]
        raise E1007.error(
            name=parameter.name, kernel=kernel, wanted=f"`Const[{wanted}]`", found=shown
        ).help(f"pass a Python {wanted}")
    if isinstance(value, SourceFunction) or literal_text(value, str) is not None:
        return value
    kind: type[Any] = type(value)  # pyright: ignore[reportUnknownVariableType]
    raise E1013.error(name=parameter.name, kernel=kernel, what=f"a `{kind.__qualname__}`").help(
        "pass a tuple instead of a list, and arrays as run-time arguments"
        if isinstance(value, list)
        else "give a number, str, None, dtype, enum member, device function or a tuple of them"
    )
