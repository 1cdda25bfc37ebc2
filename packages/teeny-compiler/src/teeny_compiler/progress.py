"""How long work is followed: a bar where rich and a terminal are there, else a line now and then.

A caller may pass a function instead, which gets what is done, of how much, and the latest step.
"""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

from teeny_compiler import log

Report = Callable[[int, int, str], None]
Step = Callable[[str], None]
_SECONDS = 30.0  # between lines


@contextlib.contextmanager
def follow(title: str, total: int, progress: Report | bool) -> Iterator[Step]:
    """A function to call after each of `total` steps with what it came to."""
    if callable(progress):
        yield _counting(total, progress)
        return
    bar = _bar() if progress and total > 1 else None
    if bar is None:
        yield _counting(total, _lines(title) if progress else _nothing)
        return
    with bar:
        task = bar.add_task(title, total=total)

        def step(text: str) -> None:
            bar.update(task, advance=1, description=f"{title}: {text}")

        yield step


def _counting(total: int, report: Report) -> Step:
    done = 0

    def step(text: str) -> None:
        nonlocal done
        done += 1
        report(done, total, text)

    return step


def _lines(title: str) -> Report:
    last = time.monotonic()

    def line(done: int, total: int, text: str) -> None:
        nonlocal last
        log.debug(f"{title} {done}/{total}: {text}")
        now = time.monotonic()
        if done < total and now - last >= _SECONDS:
            last = now
            log.step(f"{title}: {done} of {total}")

    return line


def _nothing(_done: int, _total: int, _text: str) -> None:
    """Progress that nobody wants to see."""


def _bar() -> Any:
    """A progress bar of rich on standard error; None without rich, a terminal or the wish."""
    stream = sys.stderr
    if log.level() < log.INFO or stream is None or not stream.isatty():
        return None
    try:
        from rich.console import Console
        from rich.progress import Progress
    except ImportError:
        return None
    return Progress(console=Console(file=stream), transient=True)
