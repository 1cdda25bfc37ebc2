"""One run over a tree: modules are followed, requests become instances, which are checked."""

from __future__ import annotations

import ast
import os
from contextlib import contextmanager
from fnmatch import fnmatch
from typing import TYPE_CHECKING, Any, NamedTuple

from teeny_compiler import reports
from teeny_compiler.check import guesses
from teeny_compiler.check.calls import Caller
from teeny_compiler.check.execute import Executor
from teeny_compiler.check.frontend import Answer, FrontEnd
from teeny_compiler.check.kernels import Found
from teeny_compiler.check.launches import Launches
from teeny_compiler.check.modules import Library, find_files
from teeny_compiler.check.scope import Scope
from teeny_compiler.check.trials import Choice, Request
from teeny_compiler.check.values import Tuned
from teeny_macros.codes import E0022
from teeny_macros.diagnostics import WARNING, Diagnostic, Label, TeenyError
from teeny_macros.instance import KernelInstance
from teeny_macros.kernel import Kernel
from teeny_macros.signature import CONST
from teeny_macros.source import Span

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from teeny_compiler.check.evaluate import Evaluator
    from teeny_compiler.check.frontend import Extents
    from teeny_compiler.check.modules import StaticModule
    from teeny_compiler.toolchain import Toolchain
    from teeny_macros.target import Target

# Faults of values that were only assumed say nothing of the kernel.
_REFUTED = frozenset({"E0513", "E0514", "E0515"})
_OF_ASSUMPTIONS = frozenset(
    {"E0108", "E0203", "E0312", "E0404", "E0406", "E0408", "E0416", "E0418", "E0419", "E0716"}
)


class Skipped(NamedTuple):
    """A kernel that was not checked, and why."""

    kernel: str
    place: str
    reason: str


class Summary(NamedTuple):
    """What a run found."""

    files: int
    kernels: int
    instances: int
    faults: list[Diagnostic]
    skipped: list[Skipped]
    bounds: list[dict[str, Any]]


class Session:
    """The state of one run of `teeny check`."""

    def __init__(self) -> None:
        self.library = Library(self.execute)
        self.caller = Caller(self)
        self.launches = Launches(self)
        self.kernels: list[Found] = []
        self.requests: list[Request] = []
        self.faults: dict[Any, Diagnostic] = {}
        self.skipped: list[Skipped] = []
        self.bounds: dict[Any, dict[str, Any]] = {}
        self.wanted: set[str] = set()
        self.instances = 0
        self._silent = 0

    # --- following modules ------------------------------------------------------------------------

    def follow(self, paths: Iterable[str], exclude: Iterable[str] = ()) -> int:
        """Read and follow all files below `paths` but excluded ones; how many there are."""
        left_out = tuple(exclude)
        files = [
            file
            for file in dict.fromkeys(find_files(paths))
            if not any(fnmatch(file, pattern) for pattern in left_out)
        ]
        self.wanted = set(files)
        for file in files:
            try:
                self.library.read_file(file)
            except TeenyError as error:
                self.note(error)
        return len(files)

    def execute(self, module: StaticModule) -> None:
        """Follow a module that was read. Functions are followed in files that are checked."""
        scope = Scope(module, module.variables)
        executor = Executor(self, scope)
        if module.path in self.wanted:
            executor.run(module.tree.body)
        else:
            executor.block(module.tree.body)

    def take_imported(self) -> None:
        """Import the files, and take the kernels that only running them has made."""
        from teeny_compiler.check.imported import kernels_of

        for file in sorted(self.wanted):
            module = self.library.paths.get(os.path.realpath(file))
            for kernel in kernels_of(file) if module is not None else ():
                assert module is not None
                header = kernel.captured.normal.header[1:]
                same = [
                    one
                    for one in self.kernels
                    if one.module is module and one.kernel.captured.normal.header[1:] == header
                ]
                if not all(self.is_whole(one.kernel) for one in same) or not same:
                    self.kernels = [one for one in self.kernels if one not in same]
                    self.kernels.append(Found(kernel, module, module.tree))
        self.skipped.clear()

    def name_of(self, kernel: Any) -> str:
        """The name of a kernel, tuned kernel or instance."""
        return str(kernel.kernel.name if isinstance(kernel, Tuned) else kernel.name)

    def definition_of(self, kernel: Any) -> Kernel[...] | None:
        """The kernel behind a tuned kernel or an instance."""
        if isinstance(kernel, Tuned):
            kernel = kernel.kernel
        if isinstance(kernel, KernelInstance):
            kernel = kernel.definition
        return kernel if isinstance(kernel, Kernel) else None

    @contextmanager
    def silence(self, *, active: bool) -> Iterator[None]:
        """While `active`, faults are meant to be and launches ask for nothing."""
        self._silent += active
        kept = len(self.requests), len(self.kernels)
        try:
            yield
        finally:
            self._silent -= active
            if active:
                del self.requests[kept[0] :], self.kernels[kept[1] :]

    def span(self, evaluator: Evaluator, node: ast.AST) -> Span:
        """The place of a node in its file."""
        return span_of(evaluator.scope.module, node)

    def ask_for(self, instance: KernelInstance[...], place: Span) -> None:
        """Have an instance checked."""
        if instance.definition is not None:
            self.requests.append(_Fixed(instance, place))

    # --- faults -----------------------------------------------------------------------------------

    def refuse(
        self,
        error: TeenyError,
        module: StaticModule,
        node: ast.AST | None,
        kernel: Kernel[...] | None = None,
        *,
        places: Any = None,
    ) -> None:
        """Note a fault at a node of a module, and the definitions that it is about."""
        found = error.diagnostics[0]
        if _of_unknown(found):
            reason = "it captures a value that is made at run time (`--import` runs the module)"
            self.skip(kernel, found.span, reason)
            return
        ours = [label for label in found.labels if not label.span.file.endswith(module.path)]
        if ours or not found.labels:
            found.labels = []
            at = places.find(found.message) if places is not None else node
            if at is not None:
                found.labels.append(Label(span_of(module, at), "in this call"))
            if kernel is not None:
                _label_definition(error, kernel)
        self.note(error)

    def note(self, error: TeenyError) -> None:
        """Note the faults of an error, each once."""
        for fault in error.diagnostics:
            self.add(fault)

    def add(self, fault: Diagnostic) -> None:
        """Note one fault, unless its line says that it is meant."""
        if self._silent or _is_ignored(fault):
            return
        key = (fault.code, fault.message, fault.span)
        self.faults.setdefault(key, fault)

    def skip(self, kernel: Kernel[...] | None, span: Span | None, reason: str) -> None:
        """Note a kernel that cannot be checked."""
        place = "" if span is None else f"{span.file}:{span.line}:{span.column}"
        name = kernel.name if kernel is not None else "a kernel"
        row = Skipped(name, place, reason)
        if row not in self.skipped:
            self.skipped.append(row)

    # --- checking instances -----------------------------------------------------------------------

    def check(
        self,
        toolchain: Toolchain,
        target: Target,
        options: tuple[str, ...],
        *,
        strict: bool,
        extents: Extents | None = None,
    ) -> None:
        """Check every request, and every kernel that nothing asks for."""
        whole = {one.kernel.captured: self.is_whole(one.kernel) for one in self.kernels}
        asked = {request.kernel.captured for request in self.requests}
        for found in self.kernels:
            kernel = found.kernel
            if whole[kernel.captured] and kernel.captured not in asked and self.owns(found):
                known = guesses.default_constants(kernel)
                constants = [p.name for p in kernel.parameters if p.kind == CONST]
                unsure = [name for name in constants if name not in known]
                self.requests.append(
                    Request(kernel, {}, known, unsure, kernel.launch_options, None)
                )
        front = FrontEnd(toolchain, target, options, extents)
        checked: dict[str, Answer] = {}
        try:
            for request in self.requests:
                captured = request.kernel.captured
                if whole.get(captured) or (captured not in whole and self.is_whole(request.kernel)):
                    self._check_request(front, request, checked, strict)
        finally:
            front.close()
        self.instances = len(checked)

    def owns(self, found: Found) -> bool:
        """Whether a kernel stands in a file that is to be checked."""
        return found.module.path in self.wanted

    def is_whole(self, kernel: Kernel[...]) -> bool:
        """Whether the kernel's text and parameters can be read; what is wrong is noted."""
        try:
            _ = kernel.parameters
            kernel.guards()
        except TeenyError as error:
            fault = error.diagnostics[0]
            if _of_unknown(fault):
                reason = "it captures a value that is made at run time (`--import` runs the module)"
                self.skip(kernel, fault.span or kernel.captured.normal.header, reason)
            else:
                self.note(_of_library(error))
            return False
        return True

    def _check_request(
        self, front: FrontEnd, request: Request, checked: dict[str, Answer], strict: bool
    ) -> None:
        groups: dict[Any, list[Choice]] = {}
        for choice in request.choices():
            groups.setdefault((choice.dtypes, choice.flags), []).append(choice)
        if not groups:
            span = request.place or request.kernel.captured.normal.header
            self.skip(request.kernel, span, "no plausible compile-time values are known")
        first = next((dtypes for dtypes, _ in groups), ())
        for (dtypes, _), choices in groups.items():
            is_first = dtypes == first
            self._check_choices(front, request, choices, checked, strict, is_first=is_first)

    def _check_choices(
        self,
        front: FrontEnd,
        request: Request,
        choices: list[Choice],
        checked: dict[str, Answer],
        strict: bool,
        *,
        is_first: bool,
    ) -> None:
        """Take the first choice without an error; note the errors where there is none."""
        worst: list[tuple[Choice, list[Diagnostic]]] = []
        for choice in choices:
            instance = choice.instance
            if instance.id not in checked:
                checked[instance.id] = front.check(instance)
            answer = checked[instance.id]
            file = f"{instance.name}.py"
            faults = [reports.map_to_user(f, file, instance.source_map) for f in answer.faults]
            refuted = [fault for fault in faults if fault.code in _REFUTED]
            errors = [f for f in faults if f.severity != WARNING and f not in refuted]
            if not errors:
                for fault in refuted:
                    self._explain(fault, request, choice, is_first=True)
                for fault in faults if strict or not choice.assumed else refuted:
                    self.add(fault)
                self._note_bounds(choice, answer.facts)
                return
            worst.append((choice, errors))
        choice, errors = min(worst, key=lambda row: len(row[1]))
        if choice.assumed and all(
            any(fault.code in _OF_ASSUMPTIONS for fault in found) for _, found in worst
        ):
            span = choice.instance.definition.captured.normal.header  # type: ignore[union-attr]
            self.skip(request.kernel, span, f"it refuses the assumed values ({choice.assumed})")
            return
        if choice.guesses_types and all(_is_of_types(fault) for fault in errors):
            span = errors[0].span
            reason = f"taking {choice.assumed}, {errors[0].message}; annotate it, or launch it here"
            self.skip(request.kernel, span, reason)
            return
        for fault in errors:
            self._explain(fault, request, choice, is_first=is_first)
            self.add(fault)

    def _explain(
        self, fault: Diagnostic, request: Request, choice: Choice, *, is_first: bool
    ) -> None:
        """Say what was assumed, and who asked."""
        if choice.assumed:
            why = "the launch does not tell" if request.place else "it is launched nowhere here"
            fault.notes.append(f"assumed: {choice.assumed}, since {why}")
            if not is_first:
                fault.severity = WARNING
                fault.code = "W" + fault.code[1:]
        if request.place is not None and request.place != fault.span:
            fault.labels.append(Label(request.place, "asked for here", primary=False))

    def _note_bounds(self, choice: Choice, facts: dict[str, Any]) -> None:
        for row in facts.get("bounds", ()):
            fault = Diagnostic("", "", "", labels=[Label(Span(*row["span"]), "")])
            instance = choice.instance
            mapped = reports.map_to_user(fault, f"{instance.name}.py", instance.source_map)
            span = mapped.span
            key = (instance.id, row["number"])
            self.bounds[key] = {**row, "span": list(span or ()), "kernel": instance.name}

    def summary(self, files: int) -> Summary:
        """What the run found, faults in the order of files and lines."""
        faults = sorted(self.faults.values(), key=_order)
        return Summary(
            files, len(self.kernels), self.instances, faults, self.skipped,
            list(self.bounds.values()),
        )  # fmt: skip


class _Fixed(Request):
    """A request for one instance that is known whole."""

    def __init__(self, instance: KernelInstance[...], place: Span) -> None:
        kernel = instance.definition
        assert kernel is not None
        super().__init__(kernel, {}, {}, [], instance.options, place)
        self.instance = instance

    def choices(self) -> Iterator[Choice]:
        yield Choice(self.instance, "")


def _order(fault: Diagnostic) -> tuple[str, int, int, str]:
    span = fault.span
    return ("", 0, 0, fault.code) if span is None else (*span[:3], fault.code)


def _is_of_types(fault: Diagnostic) -> bool:
    """Whether another dtype of an array without an annotation might be without the fault."""
    return fault.code.startswith(("E03", "E05"))


def _of_unknown(fault: Diagnostic) -> bool:
    """Whether a fault is only that a captured value is not known here."""
    hidden = fault.code == E0022.code and "check.values." in fault.message
    return hidden and "check.values.Foreign" not in fault.message


def _of_library(error: TeenyError) -> TeenyError:
    """E0022 in words for an object of an array library."""
    for fault in error.diagnostics:
        if fault.code == E0022.code and "check.values" in fault.message:
            head = fault.message.partition(" of type `")[0]
            fault.message = f"{head.removesuffix(' an object')} an object of another library"
            fault.helps = ["use an operation of `teeny_triton`, or pass the value as an argument"]
    return error


def _is_ignored(fault: Diagnostic) -> bool:
    """Whether the line of a fault says `# teeny: ignore` or `# teeny: ignore[E0401]`."""
    import linecache

    span = fault.span
    line = "" if span is None else linecache.getline(span.file, span.line)
    _, mark, rest = line.partition("# teeny: ignore")
    if not mark:
        return False
    return not rest.startswith("[") or fault.code in rest.partition("]")[0]


def _label_definition(error: TeenyError, kernel: Kernel[...]) -> None:
    from teeny_macros.signature import parameter_span

    found = error.diagnostics[0]
    named = [p.name for p in kernel.parameters if f"`{p.name}`" in found.message]
    for name in named:
        error.also(parameter_span(kernel.captured, name), "declared here")
    if not named:
        error.also(kernel.captured.normal.header, "defined here")


def span_of(module: StaticModule, node: ast.AST) -> Span:
    """The place of a node, columns counted from 1 in characters."""
    lines = module.text.splitlines()
    line, end = getattr(node, "lineno", 1), getattr(node, "end_lineno", None)
    end = end or line
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        end = line

    def column(number: int, offset: int) -> int:
        text = lines[number - 1] if number <= len(lines) else ""
        return len(text.encode()[:offset].decode(errors="replace")) + 1

    start = column(line, getattr(node, "col_offset", 0))
    offset = getattr(node, "end_col_offset", None)
    if offset is None or isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        text = lines[line - 1] if line <= len(lines) else ""
        return Span(module.path, line, start, line, max(len(text), start) + 1)
    return Span(module.path, line, start, end, column(end, offset))
