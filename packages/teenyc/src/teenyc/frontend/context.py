"""`Context`: the state of one lowering: its builder, the calls being inlined, the faults found.

It knows no Python construct.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from teeny_macros.diagnostics import CompileError, Label, TeenyError
from teenyc.codes import E0108
from teenyc.frontend.scope import MISSING, POISON, Frame, Undefined, Unevaluated
from teenyc.ir.builder import Builder
from teenyc.ir.opdef import HANDLERS
from teenyc.values import RuntimeValue

if TYPE_CHECKING:
    import ast
    from collections.abc import Callable, Iterator, Mapping

    from teeny_macros.diagnostics import Code, Diagnostic
    from teeny_macros.source import Span
    from teenyc.frontend.parser import Node
    from teenyc.frontend.scope import Library, Scope
    from teenyc.frontend.signature import Argument, Function
    from teenyc.ir.core import Block

MAX_DIAGNOSTICS = 20
# A kernel that unrolls to more statements is a mistake: the back end would take minutes.
MAX_STATEMENTS = 20_000


class Poisoned(Exception):  # noqa: N818 - not an error: what went wrong is reported already
    """A value is used whose making failed before."""


class Context:
    """One lowering. `expressions` maps a kind of node to what lowers it."""

    def __init__(
        self,
        library: Library,
        frame: Frame,
        expressions: Mapping[type[ast.expr], Callable[[Context, Any], Any]],
    ) -> None:
        self.library = library
        self.frame = frame
        self.expressions = expressions
        self.builder = Builder()
        self.diagnostics: list[Diagnostic] = []
        self.statements = 0
        # The engine of stmt.py, set by lowering.py: bodies of branches and loops, and of functions.
        self.run: Callable[[list[ast.stmt]], None]
        self.run_function: Callable[[Function], Any]

    # --- places ----------------------------------------------------------------------------------

    def span(self, node: Node) -> Span:
        """Where to point for `node`; inside the DSL's text, the user's call that led there."""
        frame = self.frame
        if not frame.is_dsl:
            return frame.source.span(node)
        name = getattr(node, "id", "")
        found = frame.parameter_spans.get(name, frame.call_span)
        return found if found is not None else frame.source.span(node)

    def at(self, node: Node) -> Builder:
        """The builder, its place set to `node`."""
        frame = self.frame
        builder = self.builder
        builder.loc = frame.source.location(node, frame.caller)
        builder.span = self.span(node)
        builder.arg_spans = {}
        return builder

    def fail(self, code: Code, node: Node, label: str = "", **fields: object) -> TeenyError:
        """The error `code` at `node`."""
        return code.at(self.span(node), label, **fields)

    # --- expressions -----------------------------------------------------------------------------

    def value(self, node: ast.expr) -> Any:
        """What an expression stands for: a compile-time value, a RuntimeValue, a function, ..."""
        return self.expressions[type(node)](self, node)

    def settle(self, found: Any, name: str) -> Any:
        """A name's binding as a value: module literals are evaluated once, in their own module."""
        if isinstance(found, Unevaluated):
            with self.entered(Frame(found.scope, found.source)):
                return self.value(found.expression)
        assert found is not MISSING
        assert not isinstance(found, Undefined), name
        return found

    @contextmanager
    def entered(self, frame: Frame) -> Iterator[Frame]:
        """Work in another frame for a while."""
        outer, self.frame = self.frame, frame
        try:
            yield frame
        finally:
            self.frame = outer

    @contextmanager
    def into(self, block: Block) -> Iterator[None]:
        """Append to `block`, with the variables as they are; both are put back afterwards."""
        frame = self.frame
        variables, assigned = frame.variables, frame.assigned
        frame.variables, frame.assigned = dict(variables), dict(assigned)
        try:
            with self.builder.inside(block):
                yield
        finally:
            frame.variables, frame.assigned = variables, assigned

    def handle(self, name: str, node: Node, arguments: Mapping[str, Argument]) -> Any:
        """Call the handler of a primitive or operator with arguments by name."""
        builder = self.at(node)
        builder.arg_spans = {key: argument.span for key, argument in arguments.items()}
        try:
            return HANDLERS[name](builder, **{k: a.value for k, a in arguments.items()})
        except TeenyError as error:
            raise placed(error, builder.span) from None

    # --- faults ----------------------------------------------------------------------------------

    def report(self, error: TeenyError) -> None:
        """Keep a fault and go on; too many, or one of ours, end the lowering."""
        if not isinstance(error, CompileError):
            raise error
        self._add_calls(error)
        seen = {(d.code, d.span, d.message) for d in self.diagnostics}
        for diagnostic in error.diagnostics:
            if (diagnostic.code, diagnostic.span, diagnostic.message) not in seen:
                self.diagnostics.append(diagnostic)
        if len(self.diagnostics) >= MAX_DIAGNOSTICS:
            raise TooMany

    def _add_calls(self, error: TeenyError) -> None:
        frame: Frame | None = self.frame
        while frame is not None and frame.function is not None:
            outer = frame.outer
            if outer is None or outer.function is None or outer.outer is None:
                break  # the entry point is generated text: its call of the kernel tells nothing
            if not frame.is_dsl:
                error.also(frame.call_span, f"in `{frame.function.name}`, called here")
            frame = outer

    def count_statement(self, node: ast.stmt) -> None:
        """Keep unrolling finite. Raises E0108."""
        self.statements += 1
        if self.statements > MAX_STATEMENTS:
            raise GiveUp(self.fail(E0108, node, limit=MAX_STATEMENTS))

    def assign(self, name: str, value: Any, node: Node) -> None:
        """Bind a variable; an IR value without a name takes this one."""
        if isinstance(value, RuntimeValue) and not value.ir.hint and not self.frame.is_dsl:
            value.ir.hint = name
        self.frame.variables[name] = value
        self.frame.assigned[name] = self.span(node)

    def poison(self, names: Iterator[str]) -> None:
        """Mark variables whose statement failed."""
        for name in names:
            self.frame.variables[name] = POISON


class TooMany(Exception):  # noqa: N818 - ends the lowering, is not an error of its own
    """Enough faults are reported."""


class GiveUp(Exception):  # noqa: N818 - carries the fault that ends the lowering
    """A fault after which going on makes no sense."""

    def __init__(self, error: TeenyError) -> None:
        super().__init__(error)
        self.error = error


def placed(error: TeenyError, span: Span | None) -> TeenyError:
    """`error`, pointing at `span` where it points nowhere yet."""
    if span is not None:
        for diagnostic in error.diagnostics:
            if not diagnostic.labels:
                diagnostic.labels.append(Label(span))
    return error


def lookup(context: Context, scope: Scope, name: str) -> Any:
    """What `name` stands for outside of a call's own variables, or MISSING."""
    found = scope.lookup(name)
    return found if found is MISSING else context.settle(found, name)
