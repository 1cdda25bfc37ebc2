"""Checks that the tasks of noxfile.py are the promised ones and say what they do."""

from __future__ import annotations

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
SESSIONS = {
    "demo", "test", "torch", "types", "lint", "build", "publish", "accept", "gpu", "bench", "docs",
    "golden", "mutate",
}  # fmt: skip


def sessions() -> dict[str, str | None]:
    tree = ast.parse((ROOT / "noxfile.py").read_text(encoding="utf-8"))
    return {
        node.name: ast.get_docstring(node)
        for node in tree.body
        if isinstance(node, ast.FunctionDef)
        and any(ast.unparse(line).startswith("nox.session") for line in node.decorator_list)
    }


def test_the_promised_sessions_exist() -> None:
    assert sessions().keys() == SESSIONS


def test_every_session_has_a_docstring_of_one_line() -> None:
    for name, docstring in sessions().items():
        assert docstring, name
        assert "\n" not in docstring, name


def test_the_texts_name_only_sessions_that_exist() -> None:
    for path in [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), ROOT / ".ci" / "run"]:
        named = set(re.findall(r"nox -s (\w+)", path.read_text(encoding="utf-8")))
        assert named <= SESSIONS, path.name
