"""One side of a comparison: a kernel, in this tree or in that of a git revision.

Each side is compiled by a `teeny show` of its own: two versions of a module have one name.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import tempfile
from typing import TYPE_CHECKING, Any, NamedTuple

from teeny_compiler.codes import E0982, E0983

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_COMMAND = "import sys\nfrom teeny_compiler.cli import main\nsys.exit(main())\n"
_SECONDS = 600


class Side(NamedTuple):
    """A kernel as the command line names it, a git revision or nothing, arguments of `show`."""

    kernel: str
    revision: str
    arguments: tuple[str, ...]

    @property
    def title(self) -> str:
        """What it is called in the comparison."""
        # Of a name that is given again the last value holds.
        given = dict(word.split("=", 1) for word in self.arguments if "=" in word)
        options = [f"{name}={value}" for name, value in given.items()]
        return " ".join(
            [f"{self.revision}:{self.kernel}" if self.revision else self.kernel, *options]
        )


def stages_of(sides: Sequence[Side]) -> list[dict[str, Any]]:
    """What `teeny show --json` says of each side.

    Raises:
        ToolchainError: E0982 for a revision that git does not know, E0983 when `show` fails; what
            it said was printed.
    """
    return [_stage_of(side) for side in sides]


def _stage_of(side: Side) -> dict[str, Any]:
    with _tree(side.revision) as folder:
        done = subprocess.run(
            [sys.executable, "-c", _COMMAND, "show", side.kernel, *side.arguments, "--json"],
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            text=True,
            timeout=_SECONDS,
            check=False,
        )
        if done.returncode:
            raise E0983.error(side=side.title).help(
                "its error stands above; `teeny show` shows each side by itself"
            )
        found: dict[str, Any] = json.loads(done.stdout)
        return found


@contextlib.contextmanager
def _tree(revision: str) -> Iterator[str]:
    """The folder that corresponds to the current one in a revision's tree."""
    if not revision:
        yield os.getcwd()
        return
    top = _git(revision, "rev-parse", "--show-toplevel").decode().strip()
    inside = os.path.relpath(os.path.realpath(os.getcwd()), os.path.realpath(top))
    archive = _git(revision, "-C", top, "archive", "--format=tar", revision)
    with tempfile.TemporaryDirectory(prefix="teeny-diff-") as folder:
        import io
        import tarfile

        with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
            tar.extractall(folder, filter="data")
        place = os.path.join(folder, inside)
        if not os.path.isdir(place):
            raise E0982.error(revision=revision, reason=f"it has no folder `{inside}`").help(
                "run the command in a folder that both revisions have"
            )
        yield place


def _git(revision: str, *arguments: str) -> bytes:
    try:
        done = subprocess.run(
            ["git", *arguments], stdin=subprocess.DEVNULL, capture_output=True, check=False
        )
    except FileNotFoundError:
        raise E0982.error(revision=revision, reason="git is not installed").help(
            "compare two files instead: `teeny diff old.py:kernel new.py:kernel`"
        ) from None
    if done.returncode:
        reason = done.stderr.decode(errors="replace").strip().partition("\n")[0]
        raise E0982.error(revision=revision, reason=reason).help(
            "give a commit, branch or tag, and run it inside of the repository"
        )
    return done.stdout
