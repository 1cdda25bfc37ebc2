"""`InterpretedProgram`: a unit, lowered by the interpreter that the package teenyc registers.

teenyc is not imported by name: it is found in the entry-point group `teeny.interpreter`.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from teeny_cpu.codes import E1101, E1103, E1104
from teeny_cpu.positions import at_users_lines

if TYPE_CHECKING:
    from collections.abc import Callable

    from teeny_macros.artifact import Artifact

GROUP = "teeny.interpreter"
REMEDY = "pip install 'teenyc[interpret]'"

_loaders: dict[str, Callable[[str], Any]] = {}


class InterpretedProgram:
    """A kernel that the interpreter can launch."""

    __slots__ = ("_interpreted", "artifact")

    def __init__(self, artifact: Artifact) -> None:
        kernel, target = artifact.metadata.kernel, artifact.target
        if target.kind != "interpret":
            raise E1103.error(kernel=kernel, target=target, device="`interpret`").help(
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
        load: Callable[..., Any] = find_loader()
        if artifact.metadata.overflow_checks:
            load = partial(load, overflow_checks=True)
        self._interpreted = at_users_lines(artifact, lambda: load(text))

    def run(self, grid: tuple[int, int, int], args: list[Any]) -> None:
        """Run every program of `grid` in order; `args` are NumPy arrays, None and numbers."""
        at_users_lines(self.artifact, lambda: self._interpreted.launch(grid, args))

    def __repr__(self) -> str:
        return f"InterpretedProgram({self.artifact.metadata.kernel}, {self.artifact.target})"


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
