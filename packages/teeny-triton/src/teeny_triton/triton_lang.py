"""The DSL's own source text, `TRITON`, and its SHA-256, `TRITON_SHA`: what teenyc parses.

A built package carries the text in `_embedded.py`; a checkout makes it from the folder `triton`.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

from teeny_triton.codes import E0010


def load(package: Path) -> tuple[str, str]:
    """The text and its digest, for the package in this folder; raises as `from_source`."""
    try:
        embedded = import_module("teeny_triton._embedded")
    except ModuleNotFoundError:
        return from_source(package / "triton")
    return embedded.TRITON, embedded.TRITON_SHA


def from_source(root: Path) -> tuple[str, str]:
    """The text and its digest, made from the files in the folder `root`.

    Raises:
        ToolchainError: E0010 when there are none.
    """
    from teeny_triton import embed

    if not embed.source_files(root):
        raise (
            E0010.error()
            .note(f"looked in {root}")
            .help("reinstall teeny-triton, or build it: `python -m build packages/teeny-triton`")
        )
    text = embed.build_text(root)
    return text, embed.digest(text)


TRITON, TRITON_SHA = load(Path(__file__).parent)
