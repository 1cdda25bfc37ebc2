"""Kernels found in a tree: what `@kernel`, `@device` and the tuner's decorators make of a `def`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, cast

from teeny_compiler.check.functions import make_function
from teeny_compiler.check.values import UNKNOWN, Abstract, HostFunction, Tuned, is_known
from teeny_compiler.tuning.config import Config
from teeny_macros.diagnostics import TeenyError
from teeny_macros.kernel import DeviceFunction, Kernel, check_options, make_device, make_kernel
from teeny_macros.options import LaunchOptions

if TYPE_CHECKING:
    import ast

    from teeny_compiler.check.evaluate import Evaluator
    from teeny_compiler.check.modules import StaticModule
    from teeny_compiler.check.session import Session


class Decorator(Abstract):
    """`kernel`, `device`, `autotune` or `heuristics`, with the options that it was given."""

    __slots__ = ("complete", "kind", "options")

    def __init__(self, kind: str, options: dict[str, Any], complete: bool = True) -> None:
        self.kind = kind
        self.options = options
        self.complete = complete


class Found(NamedTuple):
    """A kernel of the tree, and where it is defined."""

    kernel: Kernel[...]
    module: StaticModule
    node: ast.AST


def apply_decorator(
    session: Session,
    evaluator: Evaluator,
    decorator: Decorator,
    target: Any,
    node: ast.AST | None,
) -> Any:
    """What the decorator makes of a function or kernel; a refusal is noted."""
    module = evaluator.scope.module
    try:
        if decorator.kind in ("kernel", "device") and isinstance(target, HostFunction):
            return _capture(session, evaluator, decorator, target)
        if decorator.kind == "autotune" and isinstance(target, Kernel | Tuned):
            return _tuned(decorator, target)
        if decorator.kind == "heuristics" and isinstance(target, Kernel | Tuned):
            rules = decorator.options.get("rules")
            names = frozenset(cast("dict[str, Any]", rules)) if isinstance(rules, dict) else None
            kernel = target.kernel if isinstance(target, Tuned) else target
            configs = target.configs if isinstance(target, Tuned) else [({}, {})]
            if names is None:
                return Tuned(kernel, None)
            return Tuned(kernel, configs, names | getattr(target, "ruled", frozenset()))
    except TeenyError as error:
        at = target.node if isinstance(target, HostFunction) else node
        session.refuse(error, module, at)
    return UNKNOWN


def _capture(
    session: Session, evaluator: Evaluator, decorator: Decorator, target: HostFunction
) -> Any:
    scope = target.scope
    function = make_function(target.node, scope, evaluator)
    if function is None:
        return UNKNOWN
    around = function.__globals__ if scope.kind == "module" else scope.variables
    if decorator.kind == "device":
        made: DeviceFunction = make_device(function, around)
        return made
    options = {name: value for name, value in decorator.options.items() if is_known(value)}
    check_options(options)
    backward = options.get("backward")
    if isinstance(backward, Tuned):
        options["backward"] = backward.kernel
    found = make_kernel(function, around, options)
    session.kernels.append(Found(found, scope.module, target.node))
    return found


def _tuned(decorator: Decorator, target: Kernel[...] | Tuned) -> Tuned:
    """The kernel with its configs, where these are known."""
    kernel = target.kernel if isinstance(target, Tuned) else target
    ruled = target.ruled if isinstance(target, Tuned) else frozenset()
    space = decorator.options.get("configs", UNKNOWN)
    rows: list[tuple[dict[str, Any], dict[str, Any]]] | None = None
    if isinstance(space, tuple | list):
        members: list[Any] = list(cast("Any", space))
        if all(isinstance(one, Config) for one in members):
            rows = [(one.values, one.options) for one in members]
    elif isinstance(space, dict) and is_known(space):
        rows = _product(cast("dict[str, Any]", space))
    return Tuned(kernel, rows, ruled)


def _product(space: dict[str, Any]) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    from itertools import product

    rows: list[tuple[dict[str, Any], dict[str, Any]]] = []
    for row in product(*(list(values) for values in space.values())):
        given = dict(zip(space, row, strict=True))
        options = {name: given.pop(name) for name in list(given) if name in LaunchOptions._fields}
        rows.append((given, options))
    return rows
