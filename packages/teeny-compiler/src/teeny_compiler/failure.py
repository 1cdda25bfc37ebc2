"""Failed runs of teenyc: the folder of the run is kept, so that the failure can be shown again."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from teeny_compiler import options as option_names

if TYPE_CHECKING:
    from teeny_compiler.runner import Job
    from teeny_macros.diagnostics import TeenyError

FOLDER = ".failed"
_COMMAND = "command.sh"


class FailedRun(Exception):  # noqa: N818 - it carries the error, it is none
    """A failure whose work folder is worth keeping. Never leaves this package."""

    def __init__(self, error: TeenyError) -> None:
        super().__init__(error)
        self.error = error


def keep_work(error: TeenyError, work: str, root: str, job: Job, key: str) -> TeenyError:
    """Move a failed run's folder to `.failed/<kernel>-<key>` of the cache, and say so in `error`.

    A later failure of the same kernel takes its place. Where it cannot be moved it stays where it
    is.
    """
    import shutil

    goal = os.path.join(root, FOLDER, f"{job.kernel}-{key[:12]}")
    try:
        command = " ".join(option_names.arguments(job.options, job.target))
        with open(os.path.join(work, _COMMAND), "w", encoding="utf-8", newline="\n") as file:
            file.write(f"#!/bin/sh\nteenyc unit.py {command} -o again\n")
        os.makedirs(os.path.dirname(goal), 0o700, exist_ok=True)
        shutil.rmtree(goal, ignore_errors=True)
        os.rename(work, goal)
    except OSError:
        goal = work
    for diagnostic in error.diagnostics:
        # teenyc names its own files relative to where it ran.
        diagnostic.helps = [_moved(text, goal) for text in diagnostic.helps]
    return error.help(f"what it was given is kept: `cd {goal} && sh {_COMMAND}` runs it again")


def _moved(text: str, goal: str) -> str:
    return text.replace("`sh out/", f"`sh {os.path.join(goal, 'out')}/")
