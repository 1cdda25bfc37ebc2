"""Single operations: every elementwise form on every dtype it takes, over special values.

One kernel holds one form on one choice of dtypes; each target is compared within the ulp of the
operation, and exactly where it has none.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

import numpy as np
from cases import Argument, Case, names
from catalog import CLASSES, ELEMENTWISE, Form
from tracked import DTYPES, RefusedError, Tracked, UndecidedError

SIZE = 128


def _choices(form: Form) -> Iterator[tuple[str, ...]]:
    """Operand dtypes: all of one operand, equal and neighboring ones of more."""
    kinds = [CLASSES[kind] for kind in form.holes]
    for at, first in enumerate(kinds[0]):
        others = {(first,) * len(kinds), tuple(k[(at + 1) % len(k)] for k in kinds)}
        others.add((first, *(k[(at + 5) % len(k)] for k in kinds[1:])))
        for chosen in sorted(others):
            if all(d in k for d, k in zip(chosen, kinds, strict=True)) and chosen[0] == first:
                yield chosen


def _result(form: Form, chosen: tuple[str, ...]) -> str | None:
    """The dtype of the result, or None where the language refuses the operands."""
    scope = names()
    scope["n"] = Tracked(DTYPES["i32"], np.int32(3))
    texts = []
    for i, d in enumerate(chosen):
        scope[f"x{i}"] = Tracked(DTYPES[d], np.ones(4, DTYPES[d].held))
        texts.append(f"x{i}")
    try:
        with np.errstate(all="ignore"):
            found = eval(form.text.format(*texts), scope)  # noqa: S307 - from the table
    except (RefusedError, UndecidedError):
        return None
    return str(found.d)


@lru_cache(maxsize=1)
def table() -> tuple[tuple[Form, tuple[str, ...], str], ...]:
    """All single operations."""
    forms = dict.fromkeys(form for form in ELEMENTWISE if form.name != "ternary")
    rows = []
    for form, chosen in ((f, c) for f in forms for c in _choices(f)):
        made = _result(form, chosen)
        if made is not None:
            rows.append((form, chosen, made))
    return tuple(rows)


def single(number: int) -> Case:
    """The single operation of a number, over special and ordinary values."""
    form, chosen, made = table()[number % len(table())]
    arguments = [Argument("n", "i32", number=3)]
    lines = [f"o = tl.arange(0, {SIZE})"]
    texts = []
    for i, d in enumerate(chosen):
        flavor = "special" if i == 0 else "special turned" if i == 1 else "special again"
        arguments.append(Argument(f"a{i}_ptr", d, SIZE, flavor))
        lines.append(f"x{i} = tl.load(a{i}_ptr + o)")
        texts.append(f"x{i}")
    arguments.append(Argument("w_ptr", made, SIZE, "zero"))
    lines.append(f"y = {form.text.format(*texts)}")
    lines.append(f"tl.static_assert(y.dtype == {made}, 'dtype')")
    lines.append("tl.store(w_ptr + o, y)")
    body = "".join(f"    {line}\n" for line in lines)
    text = f"def k({', '.join(a.name for a in arguments)}):\n{body}"
    counts = {f"op {form.name}": 1, f"dtype {made}": 1, "stmt single operation": 1}
    return Case(-1 - number, text, arguments, {}, 1, 4, counts)


COUNT = len(table())
