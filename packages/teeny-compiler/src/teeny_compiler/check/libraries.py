"""What calls of array libraries give: which functions make arrays, and of what dtype."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from teeny_compiler.check.values import UNKNOWN, ArrayOf, Foreign, Some
from teeny_macros.namespace import dtype_name

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

# dtype names of NumPy, ml_dtypes, torch and JAX -> ours
DTYPES = {
    "bool": "i1", "bool_": "i1", "int8": "i8", "int16": "i16", "int32": "i32", "int64": "i64",
    "uint8": "u8", "uint16": "u16", "uint32": "u32", "uint64": "u64", "float16": "f16",
    "half": "f16", "bfloat16": "bf16", "float32": "f32", "single": "f32", "float": "f32",
    "float64": "f64", "double": "f64", "float8_e4m3fn": "f8e4m3", "float8_e5m2": "f8e5m2",
    "int": "i32", "long": "i64", "short": "i16", "intc": "i32", "intp": "i64",
}  # fmt: skip
LIBRARIES = frozenset({"numpy", "torch", "cupy", "jax", "ml_dtypes"})
CONSTANTS: dict[str, Any] = {
    f"{library}.{name}": getattr(math, name)
    for library in ("numpy", "torch", "cupy", "jax.numpy")
    for name in ("pi", "e", "inf", "nan")
}
# Classes of arrays without their dtype, for annotations.
_ARRAYS = frozenset(
    {"numpy.ndarray", "torch.Tensor", "cupy.ndarray", "jax.Array", "numpy.typing.ArrayLike"}
)
# Position of `dtype` among the arguments of functions that make arrays; none without one.
_NUMPY_POSITION = {"zeros": 1, "ones": 1, "empty": 1, "full": 2, "asarray": 1, "array": 1}
_MAKERS = frozenset(
    [
        "zeros",
        "ones",
        "empty",
        "full",
        "arange",
        "linspace",
        "rand",
        "randn",
        "normal",
        "uniform",
        "random",
        "standard_normal",
        "eye",
        "identity",
        "asarray",
        "array",
        "ascontiguousarray",
        "tensor",
        "as_tensor",
        "from_numpy",
        "copy",
    ]
)
_LIKE = frozenset({"zeros_like", "ones_like", "empty_like", "full_like", "randn_like", "rand_like"})
_KEEPING = frozenset(
    [
        "copy",
        "reshape",
        "contiguous",
        "clone",
        "cuda",
        "cpu",
        "transpose",
        "ravel",
        "flatten",
        "view",
        "permute",
        "squeeze",
        "detach",
        "unsqueeze",
        "swapaxes",
        "requires_grad_",
    ]
)
_CASTS = {"half": "f16", "float": "f32", "double": "f64", "bfloat16": "bf16", "int": "i32",
          "long": "i64", "bool": "i1", "short": "i16"}  # fmt: skip
_FLOATS = frozenset(
    "rand randn normal uniform random standard_normal linspace eye identity".split()  # noqa: SIM905
)


def dtype_of(value: Any) -> ArrayOf:
    """The array that a dtype given to an array library makes."""
    own = dtype_name(value)
    if own is not None:
        return ArrayOf(own)
    if isinstance(value, Foreign):
        name, library = value.path.rpartition(".")[2], value.path.partition(".")[0]
        if library == "numpy" and name == "float":
            name = "float64"
    elif isinstance(value, str):
        name = value
        if hasattr_dtype(name):
            return ArrayOf(name)
    elif value in (float, int, bool) and isinstance(value, type):
        name = {"float": "float64", "int": "int64", "bool": "bool"}[value.__name__]
    else:
        return ArrayOf()
    found = DTYPES.get(name)
    if found is None and name in ("complex64", "complex128", "object_", "object", "str_"):
        return ArrayOf(None, name)
    return ArrayOf(found)


def hasattr_dtype(name: str) -> bool:
    """Whether this is the name of one of our own dtypes, such as `bf16`."""
    from teeny_macros.namespace import DTYPES as OURS

    return name in OURS


def is_array_class(value: Foreign) -> bool:
    """Whether an annotation names an array of a library."""
    return value.path in _ARRAYS or value.path.endswith(".NDArray")


def annotated(value: Foreign) -> Any:
    """What an annotation of another library says of a value."""
    if value.path.endswith(".NDArray") and value.arguments:
        return dtype_of(value.arguments[0])
    if is_array_class(value):
        return ArrayOf()
    return UNKNOWN


def call(path: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """What a function of an array library gives."""
    library, name = path.partition(".")[0], path.rpartition(".")[2]
    if library not in LIBRARIES:
        return UNKNOWN
    given = kwargs.get("dtype")
    if given is None and library == "numpy":
        at = _NUMPY_POSITION.get(name)
        given = args[at] if at is not None and at < len(args) else None
    if name in _LIKE or name in _MAKERS:
        if given is not None:
            return dtype_of(given)
        if args and isinstance(args[0], ArrayOf) and name not in ("full", "linspace"):
            return args[0]
        return ArrayOf(_default(library, name, args))
    if library == "numpy" and name in DTYPES:
        return UNKNOWN
    if name in ("default_rng", "RandomState"):
        return Foreign("numpy.random")
    if name in ("cdiv", "prod"):
        return Some("int") if name == "cdiv" else UNKNOWN
    if any(isinstance(arg, ArrayOf) for arg in args):
        return ArrayOf()
    return UNKNOWN


def _default(library: str, name: str, args: Sequence[Any]) -> str | None:
    """The dtype of an array made without one."""
    if name in ("zeros", "ones", "empty") or name in _FLOATS:
        return {"numpy": "f64", "torch": "f32", "cupy": "f64", "jax": "f32"}.get(library)
    if name == "arange" and args and all(isinstance(arg, int | Some) for arg in args):
        floats = [arg for arg in args if isinstance(arg, Some) and arg.kind != "int"]
        return "i64" if not floats and library in ("numpy", "torch", "cupy") else None
    return None


def method(array: ArrayOf, name: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """What a method of an array gives."""
    if name in ("astype", "to", "type", "view"):
        for value in (*args, *kwargs.values()):
            found = dtype_of(value)
            if found.dtype or found.foreign:
                return found
        return array if name != "view" or not args else ArrayOf()
    if name in _CASTS and not args:
        return ArrayOf(_CASTS[name])
    if name in _KEEPING:
        return array
    if name in ("item", "tolist"):
        return UNKNOWN
    if name in ("numel", "size", "dim", "stride", "element_size", "nelement", "data_ptr"):
        return Some("int") if not (name in ("size", "stride") and not args) else UNKNOWN
    return UNKNOWN
