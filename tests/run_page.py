"""A program, run by a test: runs the Python files of one page in one namespace, as a reader does.

Standard input names the files as a JSON list; standard output gets a JSON list of what each
printed, followed by the text of the coded error that ended it, if one did.
"""

from __future__ import annotations

import contextlib
import io
import json
import sys
from pathlib import Path
from typing import Any

from teeny_macros import TeenyError


def run_file(file: str, namespace: dict[str, Any]) -> str:
    """Run one file and return what a reader sees, without Python's traceback."""
    code = compile(Path(file).read_text(encoding="utf-8"), file, "exec")
    namespace["__file__"] = file
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        try:
            exec(code, namespace)
        except TeenyError as error:
            print(error)
    return printed.getvalue()


if __name__ == "__main__":
    shared: dict[str, Any] = {"__name__": "__main__"}
    json.dump([run_file(file, shared) for file in json.load(sys.stdin)], sys.stdout)
