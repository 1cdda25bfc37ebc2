"""`Program`: a kernel's unit, lowered by the interpreter that the package teenyc registers.

teenyc is not imported by name: it is found in the entry-point group `teeny.interpreter`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from teeny_cpu.codes import E1101, E1103, E1104

if TYPE_CHECKING:
    from collections.abc import Callable

    from teeny_macros.artifact import Artifact
    from teeny_macros.diagnostics import Label, TeenyError

GROUP = "teeny.interpreter"
REMEDY = "pip install 'teenyc[interpret]'"

_loaders: dict[str, Callable[[str], Any]] = {}


class Program:
    """A kernel that can be launched on the host."""

    __slots__ = ("_interpreted", "artifact")

    def __init__(self, artifact: Artifact) -> None:
        kernel, target = artifact.metadata.kernel, artifact.target
        if target.kind != "interpret":
            raise E1103.error(kernel=kernel, target=target, device="`cpu`").help(
                "compile it for `Target.interpret()`"
            )
        try:
            text = artifact.read_text()
        except (OSError, UnicodeDecodeError) as error:
            raise (
                E1104.error(kernel=kernel)
                .note(str(error))
                .help("compile the kernel again: `teeny cache clear`")
            ) from error
        self.artifact = artifact
        loader = find_loader()
        self._interpreted = self._at_users_lines(lambda: loader(text))

    def run(self, grid: tuple[int, int, int], args: list[Any]) -> None:
        """Run every program of `grid` in order; `args` are NumPy arrays, None and numbers."""
        self._at_users_lines(lambda: self._interpreted.launch(grid, args))

    def _at_users_lines(self, work: Callable[[], Any]) -> Any:
        """What `work` returns; an error's places in the unit become those of the user's file."""
        from teeny_macros.diagnostics import TeenyError

        try:
            return work()
        except TeenyError as error:
            self._move(error)
            raise

    def _move(self, error: TeenyError) -> None:
        source_map = self.artifact.source_map
        if source_map is None:
            return
        unit_file = f"{self.artifact.metadata.kernel}.py"

        def moved(label: Label) -> Label:
            import linecache  # knows notebook cells and zipped modules too

            if label.span.file != unit_file or source_map.lookup(label.span.line) is None:
                return label
            span = source_map.span(label.span)
            line = linecache.getline(span.file, span.line).rstrip("\r\n")
            return type(label)(span, label.text, primary=label.primary, source=line or label.source)

        error.diagnostics[:] = [diagnostic.map_spans(moved) for diagnostic in error.diagnostics]

    def __repr__(self) -> str:
        return f"Program({self.artifact.metadata.kernel}, {self.artifact.target})"


def find_loader() -> Callable[[str], Any]:
    """The interpreter's `load`. Raises E1101 when no installed package has one."""
    known = _loaders.get(GROUP)
    if known is None:
        from importlib.metadata import entry_points

        found = next(iter(entry_points(group=GROUP, name="default")), None)
        if found is None:
            raise E1101.error().help(REMEDY)
        try:
            known = _loaders[GROUP] = found.load()
        except ImportError as error:
            raise (
                E1101.error().note(f"its package cannot be imported: {error}").help(REMEDY)
            ) from error
    return known
