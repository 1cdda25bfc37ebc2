"""Statements, and the engine that goes through a body with its early returns and unrolled loops.

The statements still to come are a linked list, so that an `if` with a `return` inside can give
them to both of its ways.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any, NamedTuple

from teeny_macros.diagnostics import TeenyError
from teenyc.codes import E0102, E0103, E0104, E0210, E0212, E0601, E0603
from teenyc.frontend.constexpr import has_runtime, plain
from teenyc.frontend.context import Context, Poisoned
from teenyc.frontend.control import fork, lower_if
from teenyc.frontend.expr import apply_binary
from teenyc.frontend.loops import lower_for, lower_while
from teenyc.frontend.operands import data, operand, truth
from teenyc.frontend.ranges import Range, parse_iterable
from teenyc.frontend.scope import assigned_names
from teenyc.frontend.signature import Argument, is_const_annotation
from teenyc.frontend.subset import row_of
from teenyc.values import RuntimeValue, is_tuple

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from teenyc.frontend.signature import Function


class StaticLoop(NamedTuple):
    """An unrolled loop with `values[turn:]` still to come."""

    node: ast.For
    values: Sequence[Any]
    turn: int


class Returned(NamedTuple):
    """A body ended with `return`."""

    value: Any


class _Task(NamedTuple):
    head: ast.stmt | StaticLoop
    tail: _Task | None


def _tasks(statements: list[ast.stmt], tail: _Task | None = None) -> _Task | None:
    for stmt in reversed(statements):
        tail = _Task(stmt, tail)
    return tail


def run_function(context: Context, function: Function) -> Any:
    """Lower a function's body in the current frame; its value is what it returns."""
    outcome = _run(context, _tasks(function.body))
    return None if outcome is None else outcome.value


def run_body(context: Context, statements: list[ast.stmt]) -> None:
    """Lower the body of a run-time branch or loop."""
    _run(context, _tasks(statements))


def _run(context: Context, tasks: _Task | None) -> Returned | None:
    """Lower statements up to the end or a `return`; a fault in one leaves the others checked."""
    while tasks is not None:
        stmt, tasks = tasks
        if isinstance(stmt, StaticLoop):
            tasks = _turn(context, stmt, tasks)
            continue
        context.count_statement(stmt)
        try:
            if isinstance(stmt, ast.If):
                done, tasks = _if(context, stmt, tasks)
                if done is not None:
                    return done
            elif isinstance(stmt, ast.For):
                tasks = _for(context, stmt, tasks)
            elif isinstance(stmt, ast.Return):
                return _return(context, stmt)
            elif isinstance(stmt, (ast.Break, ast.Continue)):
                tasks = _jump(context, stmt, tasks)
            else:
                STATEMENTS.get(type(stmt), _refused)(context, stmt)
        except (Poisoned, TeenyError) as error:
            _recover(context, stmt, error)
            if isinstance(stmt, ast.Return):
                return Returned(None)
    return None


def _recover(context: Context, stmt: ast.stmt, error: Poisoned | TeenyError) -> None:
    """Report a fault and forget what the statement would have done."""
    if isinstance(error, TeenyError):
        if context.frame.is_dsl:
            raise error
        context.report(error)
    context.poison(assigned_names([stmt]))
    if _leaves(stmt):
        context.frame.has_failed = True


# --- flow ----------------------------------------------------------------------------------------


def _return(context: Context, node: ast.Return) -> Returned:
    if context.frame.loops:
        raise context.fail(E0601, node).help(
            "keep the result in a variable and return it after the loop"
        )
    return Returned(None if node.value is None else context.value(node.value))


def _if(context: Context, node: ast.If, rest: _Task | None) -> tuple[Returned | None, _Task | None]:
    condition = data(context, node.test)
    if not isinstance(condition, RuntimeValue):
        chosen = node.body if truth(context, node.test, condition, "`if`") else node.orelse
        return None, _tasks(chosen, rest)
    if not _leaves(node):
        lower_if(context, node, condition)
        return None, rest

    def way(body: list[ast.stmt]) -> Callable[[], Any]:
        def run() -> Any:
            outcome = _run(context, _tasks(body, rest))
            return None if outcome is None else outcome.value

        return run

    ways = (way(node.body), way(node.orelse))
    name = context.frame.function.name if context.frame.function is not None else "this"
    return Returned(fork(context, node, condition, ways, f"the result of `{name}`")), None


def _leaves(node: ast.stmt, *, in_loop: bool = False) -> bool:
    """Whether a statement may leave its body: by `return`, or `break` of a loop around it."""
    if isinstance(node, ast.Return):
        return True
    if isinstance(node, (ast.Break, ast.Continue)):
        return not in_loop
    inner = in_loop or isinstance(node, (ast.For, ast.While))
    return any(
        _leaves(child, in_loop=inner)
        for child in ast.iter_child_nodes(node)
        if isinstance(child, ast.stmt)
    )


def _refuse_else(context: Context, node: ast.For | ast.While) -> None:
    if node.orelse:
        raise context.fail(E0103, node.orelse[0], what="the `else` of a loop").help(
            "write it after the loop"
        )


def _for(context: Context, node: ast.For, rest: _Task | None) -> _Task | None:
    _refuse_else(context, node)
    values = parse_iterable(context, node)
    if not isinstance(values, Range):
        return _Task(StaticLoop(node, values, 0), rest)
    if not isinstance(node.target, ast.Name):
        raise context.fail(E0104, node.target, what="several variables of a run-time loop").help(
            "a range gives one integer at a time: `for i in range(n):`"
        )
    lower_for(context, node, node.target.id, values)
    return rest


def _turn(context: Context, loop: StaticLoop, rest: _Task | None) -> _Task | None:
    try:
        value = loop.values[loop.turn]
    except IndexError:  # not by its length, which may be beyond what `len` can say
        return rest
    node = loop.node
    context.count_statement(node)
    try:
        assign_target(context, node.target, value)
    except TeenyError as error:
        context.report(error)
        return rest
    return _tasks(node.body, _Task(StaticLoop(node, loop.values, loop.turn + 1), rest))


def _jump(context: Context, node: ast.Break | ast.Continue, tasks: _Task | None) -> _Task | None:
    while tasks is not None:
        if isinstance(tasks.head, StaticLoop):
            return tasks.tail if isinstance(node, ast.Break) else tasks
        tasks = tasks.tail
    what = "break" if isinstance(node, ast.Break) else "continue"
    error = context.fail(E0603, node, what=what)
    if isinstance(node, ast.Break):
        raise error.help("use `while` with the condition to go on")
    raise error.help("put the rest of the body under an `if`")


def _while(context: Context, node: ast.While) -> None:
    _refuse_else(context, node)
    lower_while(context, node)


# --- simple statements ---------------------------------------------------------------------------


def assign_target(context: Context, target: ast.expr, value: Any) -> None:
    """Bind a name or a tuple's names. Raises E0104 (other targets) and E0212 (unequal counts)."""
    if isinstance(target, ast.Name):
        context.assign(target.id, value, target)
        return
    if not isinstance(target, (ast.Tuple, ast.List)):
        raise _refused_target(context, target)
    if not is_tuple(value):
        raise context.fail(E0212, target, values=plain(value), names=_count(target, "name"))
    starred = next((item for item in target.elts if isinstance(item, ast.Starred)), None)
    if starred is not None:
        raise _refused_target(context, starred)
    if len(value) != len(target.elts):
        values = f"{len(value)} value{'' if len(value) == 1 else 's'}"
        raise context.fail(E0212, target, values=values, names=_count(target, "name"))
    for item, part in zip(target.elts, value, strict=True):
        assign_target(context, item, part)


def _refused_target(context: Context, target: ast.expr) -> TeenyError:
    if isinstance(target, ast.Starred):
        return context.fail(E0104, target, what="a starred name").help("name each value")
    what = "an attribute" if isinstance(target, ast.Attribute) else "an element"
    return context.fail(E0104, target, what=what).help(
        "tensors do not change: make a new one with `tl.where`, or write memory with `tl.store`"
    )


def _count(target: ast.Tuple | ast.List, noun: str) -> str:
    n = len(target.elts)
    return f"{n} {noun}{'' if n == 1 else 's'}"


def _assign(context: Context, node: ast.Assign) -> None:
    value = context.value(node.value)
    for target in node.targets:
        assign_target(context, target, value)


def _annotated(context: Context, node: ast.AnnAssign) -> None:
    if node.value is None:
        return
    value = context.value(node.value)
    if is_const_annotation(node.annotation) and has_runtime(value):
        raise context.fail(E0210, node.value, what="the value of a constant").help(
            "leave the annotation out: the variable is a run-time value"
        )
    assign_target(context, node.target, value)


def _augmented(context: Context, node: ast.AugAssign) -> None:
    target = node.target
    if not isinstance(target, ast.Name):
        raise _refused_target(context, target)
    load = ast.copy_location(ast.Name(target.id, ast.Load()), target)
    left = Argument(data(context, load), context.span(target))
    value = apply_binary(context, node, node.op, left, operand(context, node.value))
    context.assign(target.id, value, target)


def _expression(context: Context, node: ast.Expr) -> None:
    value = node.value
    if isinstance(value, ast.Constant):
        return  # a string or `...` on a line of its own
    context.value(value)


def _assert(context: Context, node: ast.Assert) -> None:
    condition = operand(context, node.test)
    message = Argument("", context.span(node))
    if node.msg is not None:
        message = operand(context, node.msg)
    if isinstance(condition.value, RuntimeValue):
        checked = {"cond": condition, "msg": message, "mask": Argument(None, condition.span)}
        context.handle("device_assert", node, checked)
        return
    held = Argument(truth(context, node.test, condition.value, "`assert`"), condition.span)
    context.handle("static_assert", node, {"cond": held, "msg": message})


def _pass(context: Context, node: ast.Pass) -> None:
    pass


def _refused(context: Context, node: ast.stmt) -> None:
    row = row_of(node)
    error = context.fail(row.refused_by or E0102, node, what=row.what)
    raise error.help(row.instead) if row.instead else error


STATEMENTS: dict[type[ast.stmt], Callable[[Context, Any], None]] = {
    ast.Assign: _assign,
    ast.AnnAssign: _annotated,
    ast.AugAssign: _augmented,
    ast.Expr: _expression,
    ast.Assert: _assert,
    ast.While: _while,
    ast.Pass: _pass,
}
