"""Kernels with faults: each compiles, or gets coded errors at places in it, soon."""

from __future__ import annotations

import io
import keyword
import random
import re
import signal
import time
import tokenize
from itertools import pairwise
from typing import Any

from cases import HEAD, Case
from catalog import NAMES
from generator import make
from targets import Failure, Result

from teeny_macros.diagnostics import InternalError, TeenyError
from teeny_macros.target import Target
from teenyc.driver import compile_text
from teenyc.options import Options

FIRST = 10**9
SECONDS = 10.0
WORDS = [
    *"if else for while return break in not and is lambda None def with try yield await".split(),  # noqa: SIM905
    *"global del import class assert [ ] ( ) { } * ** // << < = : := ~ @ , . ... -> !=".split(),  # noqa: SIM905
    *("'", '"', "\\", "f'{n}'", "x", "n", "pid", "tl", "k"),
]
NUMBERS = ["0", "-1", "3", "1e400", "9" * 400, "0x" + "F" * 64, "2**70", "1 << 100", "1.5",
           "-0.0", "1j", "0b12", "10_000", "007", "1_000_000_000", "4294967296",
           "float('nan')"]  # fmt: skip
STRANGE = [
    "é",
    "🐍",
    "\u202e",
    "\x00",
    "\ufeff",
    "\t",
    "\x0c",
    "ﬁ",
    "\uff10",
    "\ud800",
    "\u2028",
    "'''",
]
ATOMS = ["tl.load(x_ptr)", "tl.arange(0, 16)", "tl.sum", "tl.zeros((4, 4), f32)", "()", "(n, 1)",
         "'a'", "True", "tl.dot", "tl.nonexistent(1)", "x.shape", "x.T", "tl.float32", "range(n)",
         "tl.static_range(10**9)", "tl.arange(0, 2**40)", "k(n)", "tl", "[1, 2]"]  # fmt: skip


def _tokens(text: str) -> list[str]:
    """The text cut into tokens and the space between them."""
    try:
        ends = [(t.start, t.end) for t in tokenize.generate_tokens(io.StringIO(text).readline)]
    except (tokenize.TokenError, SyntaxError):
        return re.findall(r"\w+|\s+|.", text)
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    cuts = sorted({starts[min(r - 1, len(starts) - 1)] + c for pair in ends for r, c in pair})
    cuts = [0, *(c for c in cuts if 0 < c < len(text)), len(text)]
    return [text[a:b] for a, b in pairwise(cuts)]


# How often each change comes: those that leave the syntax whole more often.
KINDS = {"atom": 5, "number": 4, "dtype": 5, "name": 5, "line": 4, "swap": 3, "indent": 2,
         "word": 1, "delete": 1, "double": 1, "unicode": 1, "cut": 1}  # fmt: skip


def _is_name(token: str) -> bool:
    return token.isidentifier() and not keyword.iskeyword(token)


class Mutator:
    """Changes one text; `kinds` says how."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.kinds: list[str] = []

    def change(self, text: str) -> str:
        """The text after a few changes."""
        for _ in range(self.random.choice([1, 1, 2, 3])):
            (kind,) = self.random.choices(list(KINDS), list(KINDS.values()))
            self.kinds.append(kind)
            text = getattr(self, f"_{kind}")(text)
        return text if text.endswith("\n") else text + "\n"

    def _edit(self, text: str, pattern: str, choices: list[str]) -> str:
        """Exchange one token that matches for one of the choices."""
        tokens = _tokens(text)
        places = [i for i, token in enumerate(tokens) if re.fullmatch(pattern, token)]
        if places:
            tokens[self.random.choice(places)] = self.random.choice(choices)
        return "".join(tokens)

    def _delete(self, text: str) -> str:
        return self._edit(text, r"\S+", [""])

    def _double(self, text: str) -> str:
        tokens = _tokens(text)
        at = self.random.randrange(len(tokens))
        return "".join([*tokens[:at], tokens[at], *tokens[at:]])

    def _swap(self, text: str) -> str:
        tokens = _tokens(text)
        names = [i for i, token in enumerate(tokens) if _is_name(token)]
        pool = names if len(names) > 1 and self.random.random() < 0.7 else range(len(tokens))
        a, b = self.random.choice(pool), self.random.choice(pool)
        tokens[a], tokens[b] = tokens[b], tokens[a]
        return "".join(tokens)

    def _word(self, text: str) -> str:
        return self._edit(text, r"\S+", WORDS)

    def _number(self, text: str) -> str:
        return self._edit(text, r"[\d.]+", NUMBERS)

    def _atom(self, text: str) -> str:
        tokens = _tokens(text)
        names = [i for i, token in enumerate(tokens) if _is_name(token) or token.isdecimal()]
        if names:
            tokens[self.random.choice(names)] = self.random.choice(ATOMS)
        return "".join(tokens)

    def _dtype(self, text: str) -> str:
        return self._edit(text, r"(f|bf|i|u)\d\w*", [*NAMES, "n", "None", "tl.int1"])

    def _name(self, text: str) -> str:
        tokens = _tokens(text)
        names = [i for i, token in enumerate(tokens) if _is_name(token)]
        if names:
            tokens[self.random.choice(names)] = tokens[self.random.choice(names)]
        return "".join(tokens)

    def _indent(self, text: str) -> str:
        lines = text.split("\n")
        at = self.random.randrange(len(lines))
        lines[at] = self.random.choice(["", " ", "    ", "\t", "        "]) + lines[at].lstrip()
        return "\n".join(lines)

    def _unicode(self, text: str) -> str:
        at = self.random.randrange(len(text))
        return text[:at] + self.random.choice(STRANGE) + text[at:]

    def _cut(self, text: str) -> str:
        return text[: self.random.randrange(len(text))]

    def _line(self, text: str) -> str:
        lines = text.split("\n")
        a, b = self.random.randrange(len(lines)), self.random.randrange(len(lines))
        lines[a], lines[b] = lines[b], lines[a]
        return "\n".join(lines)


def mutant(seed: int) -> Case:
    """The faulty kernel of a number."""
    case = make(seed % 100_000)
    mutator = Mutator(seed)
    text = mutator.change(case.text)
    counts = dict.fromkeys((f"mutation {kind}" for kind in mutator.kinds), 1)
    return Case(FIRST + seed, text, case.arguments, case.constants, 1, 4, counts)


class LateError(BaseException):
    """The compiler did not come back; no `except Exception` of its may hold this up."""


def _late(*signal_: object) -> None:
    raise LateError


def check_mutant(case: Case) -> Result:
    """Compile for the CPU; what is wrong must be a coded error with a place inside the unit."""
    unit = case.unit()
    before = signal.signal(signal.SIGALRM, _late)
    signal.setitimer(signal.ITIMER_REAL, SECONDS)
    start = time.monotonic()
    problem: tuple[str, str] | None = None
    try:
        compile_text(unit.render(), Options(Target.cpu(), ("obj",)))
    except TeenyError as error:
        problem = _unplaced(error, unit)
    except LateError:
        problem = ("hangs", f"more than {time.monotonic() - start:.0f} s")
    except BaseException as error:  # noqa: BLE001 - whatever escapes is a finding
        import traceback

        text = "".join(traceback.format_exception(error)[-4:])
        problem = (f"raised {type(error).__name__}", text[-1500:])
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    failures = () if problem is None else (Failure("mutant", *problem),)
    return Result(failures, {"compiled or refused": 1})


def _unplaced(error: TeenyError, unit: Any) -> tuple[str, str] | None:
    """What is wrong with an error: its kind or its place."""
    code = error.diagnostics[0].code
    if isinstance(error, InternalError):
        return f"internal {code}", str(error)[:1500]
    last = unit.body.count("\n") + 1
    for diagnostic in error.diagnostics:
        if diagnostic.span is None and diagnostic.code != "E0214":
            return f"no place {diagnostic.code}", str(error)[:800]
        for label in diagnostic.labels:
            inside = label.span.file == unit.file and 1 <= label.span.line <= last
            if not inside or not (label.span.line, label.span.column) <= label.span[3:]:
                return f"place outside {diagnostic.code}", f"{label.span}: {str(error)[:800]}"
    return None


__all__ = ["FIRST", "HEAD", "check_mutant", "mutant"]
