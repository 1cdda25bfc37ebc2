"""Makes the DSL's text from its source files: text processing, the same bytes on every machine.

The build hook loads this file by its path, so it imports the standard library alone.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def source_files(root: Path) -> list[Path]:
    """The files of the text under `root` (the folder `triton`), in order of their names."""
    return sorted(
        (path for path in root.glob("*.py") if path.name != "__init__.py"),
        key=lambda path: path.name,
    )


def build_text(root: Path) -> str:
    r"""The files under `root` one after the other, each behind a line `#file: triton/<name>`.

    Line ends are `\n`, trailing space is cut, and neither paths nor times get in.
    """
    parts: list[str] = []
    for path in source_files(root):
        lines = path.read_text(encoding="utf-8").splitlines()
        body = "\n".join(line.rstrip() for line in lines).strip("\n")
        parts.append(f"#file: triton/{path.name}\n{body}\n")
    return "\n".join(parts)


def digest(text: str) -> str:
    """SHA-256 of the text, in hex."""
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def module_text(text: str) -> str:
    """The Python module that carries `text` and its digest as constants."""
    rows = "".join(f"    {line!r}\n" for line in text.splitlines(keepends=True))
    return (
        '"""Made by the build hook from triton/*.py. Never edit."""\n\n'
        f"TRITON = (\n{rows})\n"
        f"TRITON_SHA = {digest(text)!r}\n"
    )
