"""Writes random kernels: statements over tiles, rows and scalars, from the tables of `catalog`.

What type an expression has, the reading says: it is evaluated over placeholders, and one that the
language refuses is drawn again.
"""

from __future__ import annotations

import random
from collections import Counter
from math import prod
from typing import Any, NamedTuple

import numpy as np
from cases import Argument, Case, names
from catalog import CALLS, HELPERS, TOGETHER, Form, has_class
from reading_memory import BadKernelError, Memory, Pointer
from tracked import DTYPES, Dtype, RefusedError, Tracked, UndecidedError

Shape = tuple[int, ...]


class Var(NamedTuple):
    """A variable in scope. `exact`: every target gives these bits."""

    name: str
    d: Dtype
    shape: Shape
    exact: bool


class Expr(NamedTuple):
    """An expression and what it was made of."""

    text: str
    d: Dtype
    shape: Shape
    exact: bool
    used: tuple[str, ...]


class NothingError(Exception):
    """There is no operand of the wanted class."""


def index_text(shape: Shape) -> str:
    """Offsets of a contiguous tensor."""
    if not shape:
        return "0"
    parts = []
    for axis, size in enumerate(shape):
        sides = ", ".join(":" if i == axis else "None" for i in range(len(shape)))
        at = f"tl.arange(0, {size})" + (f"[{sides}]" if len(shape) > 1 else "")
        stride = prod(shape[axis + 1 :])
        parts.append(f"{at} * {stride}" if stride > 1 else at)
    return " + ".join(parts)


class Maker:
    """One kernel in the making."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.seed = seed
        self.counts: Counter[str] = Counter()
        self.lines: list[str] = []
        self.helpers: list[str] = []
        self.vars: list[Var] = []
        self.scope = names()
        self.number = 0
        self.depth = 0
        self.programs = self.random.choice([1, 1, 2, 3])
        self.arguments: list[Argument] = []
        self.constants: dict[str, Any] = {}
        self.placeholder("n", DTYPES["i32"], ())
        self.placeholder("pid", DTYPES["i32"], ())

    # --- names ------------------------------------------------------------------------------------

    def fresh(self, prefix: str = "v") -> str:
        self.number += 1
        return f"{prefix}{self.number}"

    def placeholder(self, name: str, d: Dtype, shape: Shape) -> None:
        self.scope[name] = Tracked(d, np.ones(shape, d.held))

    def declare(self, name: str, d: Dtype, shape: Shape, *, exact: bool) -> Var:
        var = Var(name, d, shape, exact)
        self.placeholder(name, d, shape)
        self.vars.append(var)
        self.count("dtype", d.name)
        return var

    def count(self, kind: str, name: str, times: int = 1) -> None:
        self.counts[f"{kind} {name}"] += times

    def line(self, text: str) -> None:
        self.lines.append("    " * (self.depth + 1) + text)

    def helper(self, name: str) -> None:
        """Put a helper's text before the kernel."""
        if name not in self.helpers:
            self.helpers.append(name)
            exec(HELPERS[name], self.scope)

    # --- expressions ------------------------------------------------------------------------------

    def evaluate(self, text: str) -> Any:
        with np.errstate(all="ignore"):
            return eval(text, self.scope)  # noqa: S307 - made here

    def try_expr(self, text: str, exact: bool, used: tuple[str, ...]) -> Expr | None:
        """The expression, or None where the language refuses it."""
        try:
            found = self.evaluate(text)
        except (RefusedError, UndecidedError, BadKernelError, ValueError):
            return None
        if not isinstance(found, Tracked) or prod(found.shape) > 1024:
            return None
        return Expr(text, found.d, found.shape, exact, used)

    def literal(self, kind: str) -> str:
        r = self.random
        if (kind in "nF" and r.random() < 0.5) or kind in "fsd":
            return r.choice(["0.5", "2.0", "0.1", "-1.5", "1.0", "3.25", "-0.25"])
        return r.choice(["1", "2", "3", "7", "100", "5", "64"])

    def atom(self, kind: str, shape: Shape, *, exact: bool = False) -> Expr:
        """A variable of the class that broadcasts to the shape."""
        fitting = []
        for var in self.vars:
            if exact and not var.exact:
                continue
            if has_class(var.d, kind) and self.fits(var.shape, shape):
                fitting.append(var)
        if fitting:
            # Later variables and those of the whole shape come more often.
            whole = [v for v in fitting if v.shape == shape] or fitting
            pool = whole if self.random.random() < 0.8 else fitting
            var = pool[max(self.random.randrange(len(pool)), self.random.randrange(len(pool)))]
            return Expr(var.name, var.d, var.shape, var.exact, ())
        other = [v for v in self.vars if self.fits(v.shape, shape) and not exact]
        other = [v for v in other if v.d.name not in ("f8e4m3", "f8e5m2", "i1")]
        if not other:
            raise NothingError
        var = self.random.choice(other)
        wanted = {"n": "f32", "F": "f16", "f": "f32", "s": "f32", "d": "f64", "i": "i16",
                  "I": "u32", "j": "i32", "l": "i64", "u": "u64", "x": "bf16"}  # fmt: skip
        if kind == "b":
            return Expr(f"({var.name} > 1)", DTYPES["i1"], var.shape, var.exact, (">",))
        if kind == "e":
            name = self.random.choice(["f8e4m3", "f8e5m2"])
            text = f"{var.name}.to(f32).to({name})"
            return Expr(text, DTYPES[name], var.shape, False, ("cast", "cast"))
        d = DTYPES[wanted[kind]]
        sure = var.exact and not (var.d.is_float and d.is_int)
        return Expr(f"{var.name}.to({d})", d, var.shape, sure, ("cast",))

    @staticmethod
    def fits(shape: Shape, wanted: Shape) -> bool:
        try:
            return np.broadcast_shapes(shape, wanted) == wanted
        except ValueError:
            return False

    def operand(self, kind: str, shape: Shape, depth: int) -> Expr:
        if depth > 0 and self.random.random() < 0.5:
            for _ in range(4):
                found = self.elementwise(shape, depth - 1)
                if found is not None and has_class(found.d, kind):
                    return found
        return self.atom(kind, shape)

    def elementwise(self, shape: Shape, depth: int = 2) -> Expr | None:
        """A random elementwise operation on operands that broadcast to the shape."""
        r = self.random
        helper = None
        form: Form
        if r.random() < 0.1:
            form, helper = r.choice(CALLS)
            self.helper(helper)
        else:
            form = r.choice(TOGETHER)
        try:
            operands = [self.operand(kind, shape, depth) for kind in form.holes]
        except NothingError:
            return None
        texts = [x.text for x in operands]
        if len(texts) > 1 and form.text.startswith(("(", "tl.m")) and r.random() < 0.2:
            at = r.randrange(len(texts))
            if form.holes[at] not in "xbe" and form.name != "where":
                texts[at] = self.literal(form.holes[at])
        exact = form.exact and all(x.exact for x in operands)
        used = (form.name, *(name for x in operands for name in x.used))
        return self.try_expr(form.text.format(*texts), exact, used)

    def expression(self, shape: Shape) -> Expr:
        """An expression that has exactly this shape."""
        for _ in range(60):
            found = self.elementwise(shape, self.random.choice([0, 1, 1, 2]))
            if found is not None and found.shape == shape:
                return found
        raise NothingError

    def index(self, shape: Shape, size: int) -> str:
        """i32 numbers from 0 to size - 1 that every target agrees about."""
        for _ in range(20):
            var = self.atom("i", shape, exact=True)
            if var.shape == shape:
                return f"({var.text}.to(i32) & {size - 1})"
        raise NothingError

    def scalar(self) -> str:
        """An exact i32 scalar."""
        r = self.random
        names_ = [v.name for v in self.vars if v.exact and not v.shape and v.d.name == "i32"]
        return r.choice(["n", "n", "pid", *names_])

    def condition(self) -> str:
        """A scalar condition that every target decides alike."""
        r = self.random
        a, b = self.scalar(), self.scalar()
        return r.choice([
            f"{a} % {r.randint(2, 4)} == {r.randint(0, 1)}", f"{a} > {r.randint(0, 5)}",
            f"{a} > 1 and {b} < 7", f"{a} < 2 or {b} == 4", f"not {a} > {r.randint(1, 6)}",
            f"0 < {a} < {r.randint(3, 9)}", f"{a} != {b} + 1", f"({a} & 1) == 0",
        ])  # fmt: skip

    def accept(self, found: Expr) -> None:
        """Count what an expression that stands in the kernel is made of."""
        for name in found.used:
            self.count("op", name)
        self.count("dtype", found.d.name)


def argument(maker: Maker, dtype: str, size: int, flavor: str, prefix: str) -> str:
    name = f"{prefix}{len(maker.arguments)}_ptr"
    maker.arguments.append(Argument(name, dtype, size, flavor))
    maker.scope[name] = Pointer(Memory(DTYPES[dtype], np.ones(1 << 14)), np.int64(0))
    return name


def make(seed: int) -> Case:
    """The random kernel of a seed."""
    from statements import begin, finish, statement

    maker = Maker(seed)
    begin(maker)
    wanted = maker.random.randint(3, 10)
    tries = 0
    while wanted and tries < 60:
        tries += 1
        mark = (len(maker.lines), len(maker.vars), Counter(maker.counts), len(maker.arguments))
        try:
            statement(maker)
            wanted -= 1
        except NothingError:
            del maker.lines[mark[0] :], maker.vars[mark[1] :]
            maker.counts, maker.depth = mark[2], 0
            del maker.arguments[mark[3] :]
    finish(maker)
    parameters = [a.name for a in maker.arguments] + list(maker.constants)
    text = "".join(HELPERS[name] for name in maker.helpers)
    text += f"def k({', '.join(parameters)}):\n" + "\n".join(maker.lines) + "\n"
    warps = maker.random.choice([1, 4, 4, 8])
    return Case(seed, text, maker.arguments, maker.constants, maker.programs, warps,
                dict(maker.counts))  # fmt: skip
