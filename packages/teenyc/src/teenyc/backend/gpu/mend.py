"""LLVM IR rewritten where an older libtriton's code generator is known to be wrong.

The text is what the optimizer left, so that nothing changes a rewritten instruction back. Each
rewriting keeps the meaning of the IR: it is right, and harmless, with libtritons that are sound.
"""

from __future__ import annotations

import re

# NVPTX gives 1, not -1, for true as a signed bit (libtriton 3.6 and 3.7; LLVM mended it later).
_BIT_TO_BF16 = re.compile(
    r"= sitofp (i1|<(\d+) x i1>) (\S+?) to (bfloat|<\d+ x bfloat>)(?=,|\s|$)", re.MULTILINE
)
_MINUS_ONE, _ZERO = "bfloat 0xRBF80", "bfloat 0xR0000"


def mend(text: str) -> str:
    """The LLVM IR `text` without instructions that code generators get wrong."""
    return _BIT_TO_BF16.sub(_selected, text) if "bfloat" in text else text


def _selected(found: re.Match[str]) -> str:
    condition, lanes, value, result = found.groups()
    if lanes is None:
        return f"= select {condition} {value}, {_MINUS_ONE}, {_ZERO}"
    both = [", ".join([one] * int(lanes)) for one in (_MINUS_ONE, _ZERO)]
    return f"= select {condition} {value}, {result} <{both[0]}>, {result} <{both[1]}>"
