"""Makes a failing case small: takes away lines while it fails in the same way."""

from __future__ import annotations

import re
import signal
from collections.abc import Iterator
from dataclasses import replace

from cases import Case
from targets import Failure, check


def _spans(lines: list[str]) -> Iterator[tuple[int, int]]:
    """Runs of lines that can go: halves and smaller parts first, then statements with blocks."""
    size = len(lines) // 2
    while size >= 2:
        for start in range(0, len(lines) - size + 1, size):
            yield start, start + size
        size //= 2
    for start in range(len(lines)):
        indent = len(lines[start]) - len(lines[start].lstrip())
        end = start + 1
        while end < len(lines) and len(lines[end]) - len(lines[end].lstrip()) > indent:
            end += 1
        if end > start + 1:
            yield start, end
        yield start, start + 1


def _closing(text: str) -> int | None:
    """Where the parenthesis around the start of `text` closes."""
    depth = 0
    for at, c in enumerate(text):
        depth += (c == "(") - (c == ")")
        if depth < 0:
            return at
    return None


def _simpler(line: str) -> Iterator[str]:
    """The line with one call replaced by its first argument."""
    for match in re.finditer(r"tl\.(?:math\.)?\w+\(([\w.]+)[,)]", line):
        rest = line[match.end() - 1 :]
        end = _closing(rest)
        if end is not None:
            yield line[: match.start()] + match[1] + rest[end + 1 :]
    for match in re.finditer(r"\(([\w.]+) (?:[-+*/%&|^<>]|//|<<|>>) ([\w.]+)\)", line):
        yield line[: match.start()] + match[1] + line[match.end() :]
        yield line[: match.start()] + match[2] + line[match.end() :]


def _late(*signal_: object) -> None:
    raise TimeoutError


def _fails(case: Case, failure: Failure) -> bool:
    before = signal.signal(signal.SIGALRM, _late)  # a loop may have lost its step
    signal.setitimer(signal.ITIMER_REAL, 5.0)
    try:
        found = check(case, [failure.target]).failures
    except Exception:  # noqa: BLE001 - the reading refuses it, so it is no case
        return False
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    return any((f.target, f.kind) == (failure.target, failure.kind) for f in found)


def shrink(case: Case, failure: Failure, budget: int = 150) -> Case:
    """A case with fewer lines that fails on the same target in the same way."""
    changed = True
    while changed and budget > 0:
        changed = False
        lines = case.text.splitlines()
        for candidate in _candidates(lines):
            if budget <= 0:
                break
            budget -= 1
            smaller = replace(case, text="\n".join(candidate) + "\n")
            if _fails(smaller, failure):
                case, changed = smaller, True
                break
    for smaller in (replace(case, grid=1), replace(case, num_warps=1)):
        if smaller != case and _fails(smaller, failure):
            case = smaller
    return case


def _candidates(lines: list[str]) -> Iterator[list[str]]:
    for start, end in _spans(lines):
        if not any(line.startswith("def k(") for line in lines[start:end]):
            yield lines[:start] + lines[end:]
    for at, line in enumerate(lines):
        for simpler in _simpler(line):
            yield [*lines[:at], simpler, *lines[at + 1 :]]
