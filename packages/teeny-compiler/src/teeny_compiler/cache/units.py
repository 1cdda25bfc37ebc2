"""Sizes and ages as people write them: `500M`, `30d`. What cannot be read is None, not an error."""

from __future__ import annotations

SIZES = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}
AGES = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 7 * 86400}


def parse_size(text: str) -> int | None:
    """`500M`, `2GiB`, `1000000` in bytes."""
    import re

    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([KMGT]?)(?:I?B)?", text.strip().upper())
    return None if match is None else int(float(match[1]) * SIZES[match[2]])


def parse_age(text: str) -> float | None:
    """`90m`, `12h`, `30d`, `2w` in seconds."""
    import re

    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([smhdw])", text.strip().lower())
    return None if match is None else float(match[1]) * AGES[match[2]]
