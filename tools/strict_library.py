"""Checks the kernel library with basedpyright strict, but for what cannot say its types.

These are the texts of kernels, whose values are of several dtypes, and lambdas of the tables of
operations, whose parameters cannot be annotated. Everything else in the library is strict.
"""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

LIBRARY = Path(__file__).resolve().parent.parent / "packages/teeny-kernels/src"


@cache
def exempt(path: str) -> tuple[tuple[int, int], ...]:
    """The first and last lines of the lambdas and of the kernels and device functions of a file."""
    tree = ast.parse(Path(path).read_text(encoding="utf-8"))
    return tuple(
        (node.lineno, node.end_lineno or node.lineno)
        for node in ast.walk(tree)
        if isinstance(node, ast.Lambda)
        or (isinstance(node, ast.FunctionDef) and is_kernel(node.decorator_list))
    )


def is_kernel(decorators: list[ast.expr]) -> bool:
    """Whether a function is text of a kernel."""
    names = (ast.unparse(own).partition("(")[0] for own in decorators)
    return not {"kernel", "device"}.isdisjoint(names)


def counts(fault: dict[str, Any]) -> bool:
    """Whether a fault lies outside of all that is exempt."""
    begin, end = (fault["range"][side]["line"] + 1 for side in ("start", "end"))
    return not any(first <= end and begin <= last for first, last in exempt(fault["file"]))


def main() -> int:
    """Print the faults that count; 1 if there is one."""
    command = ["basedpyright", "--outputjson", str(LIBRARY)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    found = json.loads(done.stdout)
    if not found["summary"]["filesAnalyzed"]:
        print("basedpyright looked at no file")
        return 1
    faults = [fault for fault in found["generalDiagnostics"] if counts(fault)]
    for fault in faults:
        place = Path(fault["file"]).relative_to(LIBRARY)
        line = fault["range"]["start"]["line"] + 1
        print(f"{place}:{line}: {fault['message']} ({fault.get('rule', '')})")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
