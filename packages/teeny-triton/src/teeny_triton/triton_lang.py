"""The DSL's own source text, `TRITON`, and its SHA-256, `TRITON_SHA`: what teenyc parses.

A built package carries the text in `_embedded.py`; a checkout makes it from the folder `triton`.
"""

from __future__ import annotations

from pathlib import Path

from teeny_triton.codes import E0010


def _load() -> tuple[str, str]:
    try:
        from teeny_triton import _embedded
    except ModuleNotFoundError:
        from teeny_triton import embed

        root = Path(__file__).with_name("triton")
        if not embed.source_files(root):
            raise E0010.error().note(f"looked in {root}").help(
                "reinstall teeny-triton, or build it: `hatch build -t wheel`"
            ) from None
        text = embed.build_text(root)
        return text, embed.digest(text)
    else:
        return _embedded.TRITON, _embedded.TRITON_SHA


TRITON, TRITON_SHA = _load()
