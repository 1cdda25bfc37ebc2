"""What calls do: decorators make kernels, launches are noted, host functions give what they say."""

from __future__ import annotations

import ast
import math
import operator
from types import ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, cast

from teeny_compiler.check import libraries
from teeny_compiler.check.functions import annotation_value
from teeny_compiler.check.kernels import Decorator, apply_decorator
from teeny_compiler.check.values import (
    UNKNOWN,
    Abstract,
    ArrayOf,
    DescriptorOf,
    Foreign,
    HostFunction,
    Launcher,
    Method,
    Some,
    Tuned,
    Typed,
    is_known,
    kind_of,
)
from teeny_macros.codes import E1001, E1002
from teeny_macros.diagnostics import TeenyError
from teeny_macros.instance import KernelInstance
from teeny_macros.kernel import DeviceFunction, Kernel, device, kernel
from teeny_macros.namespace import dsl_name, dtype_name
from teeny_macros.options import LaunchOptions

if TYPE_CHECKING:
    from teeny_compiler.check.evaluate import Evaluator
    from teeny_compiler.check.session import Session

# Built-in functions without effects, carried out on known arguments.
_PURE = (
    int, float, bool, str, len, min, max, abs, round, sum, tuple, list, dict, set, frozenset,
    sorted, range, enumerate, zip, reversed, all, any, divmod, pow, repr,
)  # fmt: skip
_RESULTS = {int: "int", float: "float", bool: "bool", str: "str", len: "int", round: "int"}
_HOST_INTS = frozenset({"cdiv", "next_power_of_2"})
_DECORATORS = {"kernel": "kernel", "device": "device"}


class Arguments(NamedTuple):
    """The arguments of a call; not `complete` when an unknown number is spread into it."""

    args: list[Any]
    kwargs: dict[str, Any]
    nodes: list[ast.expr]
    named: dict[str, ast.expr]
    complete: bool

    @property
    def known(self) -> bool:
        """Whether all of them are known."""
        return self.complete and is_known(self.args) and is_known(self.kwargs)


def read_arguments(evaluator: Evaluator, node: ast.Call) -> Arguments:
    """Evaluate the arguments of a call, with tuples and dicts spread."""
    args: list[Any] = []
    nodes: list[ast.expr] = []
    kwargs: dict[str, Any] = {}
    named: dict[str, ast.expr] = {}
    complete = True
    for one in node.args:
        value = evaluator.value(one)
        if not isinstance(one, ast.Starred):
            if complete:  # behind an unknown number of others nobody knows which it is
                args.append(value)
                nodes.append(one)
        elif isinstance(value, tuple | list) and complete:
            members: list[Any] = list(cast("Any", value))
            args += members
            nodes += [one] * len(members)
        else:
            complete = False
    for keyword in node.keywords:
        value = evaluator.value(keyword.value)
        if keyword.arg is not None:
            kwargs[keyword.arg] = value
            named[keyword.arg] = keyword.value
        elif isinstance(value, dict):
            for name, one in value.items():
                if isinstance(name, str):
                    kwargs[name] = one
                    named[name] = keyword.value
        else:
            complete = False
    return Arguments(args, kwargs, nodes, named, complete)


class Caller:
    """Carries out the calls that matter, for one session."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.known = libraries.CONSTANTS

    def member(self, module: ModuleType, name: str) -> Any:
        """`module.name` of a module that was read."""
        return self.session.library.member(module, name)

    def call(self, evaluator: Evaluator, node: ast.Call) -> Any:
        """What is known of the result."""
        called = evaluator.value(node.func)
        given = read_arguments(evaluator, node)
        if isinstance(called, Launcher):
            self.session.launches.check(evaluator, node, called, given)
            return None
        if isinstance(called, Kernel | Tuned):
            error = E1001.error(
                name=called.kernel.name if isinstance(called, Tuned) else called.name
            )
            self.session.refuse(
                error.help("give the number of programs first: `kernel[grid](...)`"),
                evaluator.scope.module,
                node,
            )
            return UNKNOWN
        if isinstance(called, DeviceFunction):
            error = E1002.error(name=called.captured.name)
            self.session.refuse(
                error.help("call it from a function that `@kernel` captures"),
                evaluator.scope.module,
                node,
            )
            return UNKNOWN
        if isinstance(called, Decorator):
            return self.decorate(evaluator, node, called, given)
        if isinstance(called, Method):
            return self.method(evaluator, node, called, given)
        if isinstance(called, Foreign):
            return libraries.call(called.path, given.args, given.kwargs)
        if isinstance(called, HostFunction):
            return self.host_function(called)
        return UNKNOWN if isinstance(called, Abstract) else self.real(evaluator, called, given)

    def decorate(
        self, evaluator: Evaluator, node: ast.Call, called: Decorator, given: Arguments
    ) -> Any:
        """`kernel(function)`, `kernel(num_warps=8)`, `autotune(configs=...)(kernel)`."""
        if given.args and not given.kwargs:
            return apply_decorator(self.session, evaluator, called, given.args[0], node)
        if called.kind == "kernel":
            return Decorator("kernel", given.kwargs, given.complete)
        return UNKNOWN

    def method(self, evaluator: Evaluator, node: ast.Call, called: Method, given: Arguments) -> Any:
        """A method of a kernel, instance, array or collection."""
        owner, name = called.owner, called.name
        if isinstance(owner, Kernel | KernelInstance | Tuned):
            return self.kernel_method(evaluator, node, called, given)
        if isinstance(owner, ArrayOf):
            return libraries.method(owner, name, given.args, given.kwargs)
        if name in ("buffer", "empty") and isinstance(owner, Abstract):
            dtype = given.kwargs.get("dtype", given.args[1] if len(given.args) > 1 else None)
            return UNKNOWN if dtype is None else libraries.dtype_of(dtype)
        if isinstance(owner, dict) and name in ("get", "items", "keys", "values", "copy"):
            return self.attempt(getattr(cast("Any", owner), name), given, listed=name != "get")
        if isinstance(owner, str | tuple) and is_known(owner):
            return self.attempt(getattr(cast("Any", owner), name, None), given)
        if isinstance(owner, list) and name in ("append", "extend", "insert", "pop", "remove"):
            members = owner
            if name == "append" and len(given.args) == 1:
                members.append(given.args[0])
            else:
                members.append(UNKNOWN)
        if isinstance(owner, Foreign | Some) and any(
            isinstance(arg, ArrayOf) for arg in given.args
        ):
            return ArrayOf()
        return UNKNOWN

    def attempt(self, function: Any, given: Arguments, *, listed: bool = False) -> Any:
        """The result of a harmless function, UNKNOWN where it fails or an argument is not known."""
        if function is None or not (given.complete and (listed or given.known)):
            return UNKNOWN
        try:
            found = function(*given.args, **given.kwargs)
        except Exception:  # noqa: BLE001 - running it would raise
            return UNKNOWN
        return list(found) if listed and not isinstance(found, dict) else found

    def kernel_method(
        self, evaluator: Evaluator, node: ast.Call, called: Method, given: Arguments
    ) -> Any:
        """`on`, `options`, `instantiate`, `with_hints` and `tune`."""
        owner, name = called.owner, called.name
        session, module = self.session, evaluator.scope.module
        if name == "on":
            grid = given.args[0] if given.args else given.kwargs.get("grid", UNKNOWN)
            at = given.nodes[0] if given.nodes else given.named.get("grid")
            session.launches.check_device(evaluator, node, given, owner)
            return Launcher(owner, grid, at)
        if name == "tune" and isinstance(owner, Tuned) and given.args:
            rest = given._replace(args=given.args[1:], nodes=given.nodes[1:])
            launcher = Launcher(owner, given.args[0], given.nodes[0])
            session.launches.check(evaluator, node, launcher, rest, extra=("force",))
            return UNKNOWN
        try:
            if name == "options" and isinstance(owner, Kernel):
                plain = {key: one for key, one in given.kwargs.items() if is_known(one)}
                unknown = {key: 0 for key in given.kwargs if key not in LaunchOptions._fields}
                owner.launch_options.changed(unknown)
                return owner.options(**plain)
            if name == "instantiate" and isinstance(owner, Kernel):
                return session.launches.instantiate(evaluator, node, owner, given)
            if name == "with_hints" and isinstance(owner, KernelInstance):
                return owner.with_hints(*given.args, **given.kwargs) if given.known else owner
        except TeenyError as error:
            session.refuse(error, module, node, owner if isinstance(owner, Kernel) else None)
        except TypeError:
            return UNKNOWN
        return UNKNOWN

    def host_function(self, called: HostFunction) -> Any:
        """What a function of the checked tree says that it returns."""
        from teeny_compiler.check.evaluate import Evaluator as Inner

        node = called.node
        if node.returns is None or isinstance(node, ast.AsyncFunctionDef):
            return UNKNOWN
        return annotated(node.returns, Inner(called.scope, self, typing=True))

    def real(self, evaluator: Evaluator, called: Any, given: Arguments) -> Any:
        """A built-in function, or one of our own packages."""
        if called is kernel or called is device:
            kind = _DECORATORS[called.__name__]
            bare = Decorator(kind, {})
            if given.args and isinstance(given.args[0], HostFunction):
                return apply_decorator(self.session, evaluator, bare, given.args[0], None)
            return Decorator(kind, given.kwargs, given.complete)
        name = getattr(called, "__name__", "")
        if name in ("autotune", "heuristics") and "teeny_compiler" in called.__module__:
            return Decorator(name, given.kwargs or {"rules": (given.args or [UNKNOWN])[0]})
        if called is TypeVar or getattr(called, "__module__", "") == "typing":
            return self.attempt(called, given)
        language = dsl_name(called)
        if language in _HOST_INTS:
            return self.attempt(called, given) if given.known else Some("int")
        if language == "typed":
            return self.typed(given)
        if language == "tensor_descriptor":
            return described(given)
        if isinstance(called, type):
            dtype = dtype_name(called)
            if dtype is not None:
                return self.attempt(called, given) if given.known else Typed(dtype)
        if language is not None or _is_own(called):
            return self.attempt(called, given) if _is_harmless(called) else UNKNOWN
        if called in _PURE:
            found = self.attempt(called, given, listed=called in (enumerate, zip, reversed, list))
            return Some(_RESULTS[called]) if found is UNKNOWN and called in _RESULTS else found
        module = getattr(called, "__module__", None)
        if module in (math.__name__, operator.__name__):
            return self.attempt(called, given) if given.known else UNKNOWN
        return UNKNOWN

    @staticmethod
    def typed(given: Arguments) -> Any:
        """`tl.typed(array)` and `tl.typed(array, f32)`."""
        dtype = given.kwargs.get("dtype", given.args[1] if len(given.args) > 1 else None)
        if dtype is not None:
            return libraries.dtype_of(dtype)
        array = given.args[0] if given.args else UNKNOWN
        return array if isinstance(array, ArrayOf) else ArrayOf()


def described(given: Arguments) -> DescriptorOf:
    """`tl.tensor_descriptor(array, (64, 64))`."""
    array = given.args[0] if given.args else UNKNOWN
    block = given.kwargs.get("block_shape", given.args[1] if len(given.args) > 1 else None)
    sides: list[Any] = list(cast("Any", block)) if isinstance(block, tuple | list) else []
    known = bool(sides) and all(type(side) is int for side in sides)
    dtype = array.dtype if isinstance(array, ArrayOf) else None
    return DescriptorOf(dtype, tuple(sides) if known else None)


def _is_own(called: Any) -> bool:
    return str(getattr(called, "__module__", "")).partition(".")[0] in (
        "teeny_macros",
        "teeny_compiler",
    )


def _is_harmless(called: Any) -> bool:
    """Whether a call only makes a description: a config, a target, a wrapped constant."""
    return getattr(called, "__name__", "") in (
        "Config",
        "constexpr",
        "descriptor_type",
        "auto",
        "Extent",
        "LaunchOptions",
    )


def annotated(node: ast.expr, evaluator: Evaluator) -> Any:
    """A value of which an annotation of a host function is all that is known."""
    found = evaluator.value(node)
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        found = annotation_value(node, evaluator)
    if isinstance(found, Foreign):
        return libraries.annotated(found)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        return _annotated_union(node, evaluator)
    if isinstance(found, type):
        if found in (int, float, bool, str):
            return Some(found.__name__)
        dtype = dtype_name(found)
        if dtype is not None:
            return Typed(dtype)
    if dsl_name(getattr(found, "__origin__", None)) in ("Ptr", "DeviceArray"):
        dtype = dtype_name(cast("Any", found).__args__[0])
        return ArrayOf(dtype)
    if dsl_name(found) in ("Ptr", "DeviceArray"):
        return ArrayOf()
    return UNKNOWN


def _annotated_union(node: ast.BinOp, evaluator: Evaluator) -> Any:
    """`i32 | int` is an int at a launch; other unions say nothing."""
    parts = [annotated(part, evaluator) for part in (node.left, node.right)]
    kinds = [kind_of(part) for part in parts if kind_of(part)]
    numbers = [part for part in parts if isinstance(part, Some | Typed)]
    return Some(kinds[0]) if len(kinds) == 1 and len(numbers) == 2 else UNKNOWN
