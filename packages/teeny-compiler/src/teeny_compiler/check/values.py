"""What is known of a value without running the program that makes it.

A value is either the Python object itself (numbers, strings, tuples, dtypes, kernels) or one of the
classes below, which say less. Nothing here is evaluated.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import ast

    from teeny_compiler.check.scope import Scope


class Abstract:
    """Base of what stands for a value that is not known."""

    __slots__ = ()


class NotStatic(Abstract):
    """A value that only running the program can tell; `reason` says where it comes from."""

    __slots__ = ("reason",)

    def __init__(self, reason: str = "") -> None:
        self.reason = reason

    def __repr__(self) -> str:
        return "a value made at run time"


UNKNOWN = NotStatic()


class Foreign(Abstract):
    """An object of another library by its dotted name, such as `numpy.float32`.

    `arguments` are those of a subscript: `numpy.typing.NDArray[numpy.float32]`.
    """

    __slots__ = ("arguments", "path")

    def __init__(self, path: str, arguments: tuple[Any, ...] = ()) -> None:
        self.path = path
        self.arguments = arguments


class Some(Abstract):
    """A Python value of a known type: `kind` is int, float, bool or str."""

    __slots__ = ("kind",)

    def __init__(self, kind: str) -> None:
        self.kind = kind

    def __repr__(self) -> str:
        return f"{'an' if self.kind == 'int' else 'a'} {self.kind}"


class Typed(Abstract):
    """A number with a dtype of the kernel language: what `i32(n)` gives."""

    __slots__ = ("dtype",)

    def __init__(self, dtype: str) -> None:
        self.dtype = dtype

    def __repr__(self) -> str:
        return f"a `{self.dtype}`"


class ArrayOf(Abstract):
    """An array. `dtype` is ours, None when it is not known; `foreign` one that kernels lack."""

    __slots__ = ("dtype", "foreign", "readonly")

    def __init__(
        self, dtype: str | None = None, foreign: str = "", *, readonly: bool = False
    ) -> None:
        self.dtype = dtype
        self.foreign = foreign
        self.readonly = readonly

    def __repr__(self) -> str:
        return f"an array of `{self.dtype or self.foreign or 'some dtype'}`"


class DescriptorOf(Abstract):
    """A tensor descriptor made on the host: its dtype and tile, None where they are not known."""

    __slots__ = ("block", "dtype")

    def __init__(self, dtype: str | None, block: tuple[int, ...] | None) -> None:
        self.dtype = dtype
        self.block = block

    def __repr__(self) -> str:
        return "a descriptor"


class Method(Abstract):
    """A method of a value that is known in part."""

    __slots__ = ("name", "owner")

    def __init__(self, owner: Any, name: str) -> None:
        self.owner = owner
        self.name = name


class HostFunction(Abstract):
    """A function that runs on the host: its text, and the scope that it stands in."""

    __slots__ = ("node", "scope")

    def __init__(self, node: ast.FunctionDef | ast.AsyncFunctionDef, scope: Scope) -> None:
        self.node = node
        self.scope = scope


class LambdaValue(Abstract):
    """A lambda, and the scope that it stands in."""

    __slots__ = ("node", "scope")

    def __init__(self, node: ast.Lambda, scope: Scope) -> None:
        self.node = node
        self.scope = scope


class Tuned(Abstract):
    """A kernel under `@autotune` or `@heuristics`.

    `configs` are (values, options) or None when they are not known; `ruled` the names that rules
    give values to.
    """

    __slots__ = ("configs", "kernel", "ruled")

    def __init__(
        self,
        kernel: Any,
        configs: list[tuple[dict[str, Any], dict[str, Any]]] | None,
        ruled: frozenset[str] = frozenset(),
    ) -> None:
        self.kernel = kernel
        self.configs = configs
        self.ruled = ruled


class Launcher(Abstract):
    """`kernel[grid]`, ready to be called."""

    __slots__ = ("grid", "grid_node", "kernel")

    def __init__(self, kernel: Any, grid: Any, grid_node: ast.expr | None) -> None:
        self.kernel = kernel
        self.grid = grid
        self.grid_node = grid_node


def is_known(value: Any) -> bool:
    """Whether the value itself is known, down to the members of tuples, lists and dicts."""
    if isinstance(value, Abstract):
        return False
    if isinstance(value, tuple | list | set | frozenset):
        members: Any = value
        return all(is_known(member) for member in members)
    if isinstance(value, dict):
        pairs: dict[Any, Any] = value
        return all(is_known(key) and is_known(one) for key, one in pairs.items())
    return True


def kind_of(value: Any) -> str:
    """`int`, `float`, `bool` or `str` when the value is one; else empty."""
    if isinstance(value, Some):
        return value.kind
    kind: type[Any] = type(value)
    return kind.__name__ if kind in (int, float, bool, str) else ""


def same(left: Any, right: Any) -> bool:
    """Whether two values say the same."""
    if left is right:
        return True
    if isinstance(left, Some) and isinstance(right, Some):
        return left.kind == right.kind
    if isinstance(left, ArrayOf) and isinstance(right, ArrayOf):
        return (left.dtype, left.foreign) == (right.dtype, right.foreign)
    if is_known(left) and is_known(right) and type(left) is type(right):
        try:
            return bool(left == right)
        except Exception:  # noqa: BLE001 - comparing is the value's own business
            return False
    return False


def join(left: Any, right: Any) -> Any:
    """What is known when the value is one of two."""
    if same(left, right):
        return left
    if isinstance(left, ArrayOf) and isinstance(right, ArrayOf):
        return ArrayOf()
    kinds = kind_of(left), kind_of(right)
    if kinds[0] and kinds[0] == kinds[1]:
        return Some(kinds[0])
    return UNKNOWN
