"""Random kernels leave the interpreter's bits, with and without bounds checks.

They have loops, branches, stores between loads, arrays that overlap, reductions, scans, products.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

PARAMS = "x_ptr: Ptr[f32], y_ptr: Ptr[f32], out_ptr: Ptr[f32], n: i32"
SIZE = 9000
SPAN = 3500


class Maker:
    """Writes one random kernel over tiles of m rows and n columns, and rows of n elements."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        pick = self.random.choice
        self.columns = pick([8, 16, 32, 64])
        self.rows = pick([4, 16]) if self.columns not in (16, 32) else pick([4, 16, self.columns])
        self.tiles, self.lines = ["x", "y"], ["u"]
        self.text = [
            f"r = tl.arange(0, {self.rows})",
            f"c = tl.arange(0, {self.columns})",
            f"o = r[:, None] * {self.columns} + c[None, :]",
            f"f = tl.arange(0, {self.columns})",
            "x = tl.load(x_ptr + o)",
            "y = tl.load(y_ptr + o, mask=c[None, :] < n, other=0.25)",
            "u = tl.load(x_ptr + f)",
        ]
        self.count = 0
        for _ in range(self.random.randint(3, 9)):
            self.statement(0, 0)
        last = f"{pick(self.tiles)} + {self.tiles[-1]}"
        self.text.append(f"tl.store(out_ptr + o + {self.rows * self.columns + 20}, {last})")

    @property
    def body(self) -> str:
        """The kernel's lines."""
        return "\n".join(self.text)

    def tile(self) -> str:
        """An expression of a tile."""
        r, m, n = self.random, self.rows, self.columns
        a, b, u = r.choice(self.tiles), r.choice(self.tiles), r.choice(self.lines)
        forms = [
            f"{a} + {b}", f"{a} - {b} * 0.5", f"tl.maximum({a}, {b})",
            f"tl.where({a} < {b}, {a}, 1.0)", f"{a} + {u}[None, :]",
            f"{a} - tl.sum({b}, axis=0)[None, :]", f"{a} - tl.max({b}, axis=1)[:, None]",
            f"tl.load(x_ptr + o + {r.randint(0, 9)})",
            f"tl.load(out_ptr + o + {r.randint(0, 9)}, mask=o % 3 != {r.randint(0, 2)}, other=2.0)",
            "tl.load(out_ptr + o, mask=o < n * 9, other=2.0)",
            f"{a}.to(f16).to(f32) * {b}", f"({a} * {b}.to(bf16)).to(f32)",
            f"{a} * tl.sum({b}) * 0.001", f"tl.cumsum({a}, axis={r.randint(0, 1)}) * 0.1",
            f"{a} + tl.load(x_ptr + r)[:, None]", f"tl.load(x_ptr + ((o * 7 + n) % {m * n}))",
            f"{a} / (tl.abs({b}) + 1.0)", f"tl.sqrt(tl.abs({a}))",
            f"((({a} * 100.0).to(i32) // 7) % 5).to(f32) + {b}",
            f"{a} + tl.argmax({b}, axis=1)[:, None].to(f32)",
            f"tl.split(tl.join({a}, {b}))[{r.randint(0, 1)}]",
            f"tl.reshape(tl.reshape({a}, ({m * n},)) + 1.0, ({m}, {n}))",
            f"tl.gather({a}, (o // {n} * 3 + 1) % {m}, 0)",
        ]  # fmt: skip
        if m == n:
            forms += [f"tl.trans({a})", f"{a} + tl.trans({b})"]
            forms += [f"tl.dot({a}, {b}, input_precision='ieee') * 0.1"] if n >= 16 else []
        return r.choice(forms)

    def line(self) -> str:
        """An expression of a row."""
        r, n = self.random, self.columns
        a, b, t = r.choice(self.lines), r.choice(self.lines), r.choice(self.tiles)
        forms = [
            f"{a} + {b}", f"{a} * 0.5", f"tl.sum({t}, axis=0)", f"tl.min({t}, axis=0) + {a}",
            f"tl.load(x_ptr + {n - 1} - f)", f"{a} - tl.sum({b})",
            "tl.load(out_ptr + f + n % 5)", f"{a} * tl.load(x_ptr + n % 7)",
            f"tl.cumsum({a}, axis=0, reverse=True)",
        ]  # fmt: skip
        return r.choice(forms)

    def assign(self, indent: str) -> None:
        """A new value for an old name."""
        r = self.random
        if r.random() < 0.7:
            self.text.append(f"{indent}{r.choice(self.tiles)} = {self.tile()}")
        else:
            self.text.append(f"{indent}{r.choice(self.lines)} = {self.line()}")

    def statement(self, depth: int, loops: int) -> None:
        """One statement."""
        r, indent, kind = self.random, "    " * depth, self.random.random()
        self.count += 1
        if kind < 0.45:
            name = f"v{self.count}"
            self.text.append(f"{indent}{name} = {self.tile()}")
            self.tiles += [name] if depth == 0 else []
        elif kind < 0.6:
            name = f"v{self.count}"
            self.text.append(f"{indent}{name} = {self.line()}")
            self.lines += [name] if depth == 0 else []
        elif kind < 0.72:
            mask = r.choice(["", ", mask=o < n * 7"])
            at = f"out_ptr + o + {r.randint(0, 5)}" if r.random() < 0.8 else "out_ptr + o"
            self.text.append(f"{indent}tl.store({at}, {r.choice(self.tiles)}{mask})")
        elif kind < 0.76:
            what = f"out_ptr + f + {r.randint(0, 5)}, {r.choice(self.lines)}"
            self.text.append(f"{indent}tl.store({what})")
        elif kind < 0.78:
            what = f"out_ptr + n % 11, tl.sum({r.choice(self.lines)})"
            self.text.append(f"{indent}tl.store({what})")
        elif kind < 0.8:
            self.text.append(f"{indent}tl.atomic_add(out_ptr + f % 5, {r.choice(self.lines)})")
        elif loops < 2:
            self.structure(depth, loops)

    def structure(self, depth: int, loops: int) -> None:
        """A loop or a conditional."""
        r, indent = self.random, "    " * depth
        kind = r.random()
        if kind < 0.5:
            self.text.append(f"{indent}for i{loops} in range(0, n % {r.randint(2, 5)}):")
            self.block(depth + 1, loops + 1)
        elif kind < 0.6:
            self.text += [f"{indent}j{loops} = 0", f"{indent}while j{loops} < n % 3:"]
            self.block(depth + 1, loops + 1)
            self.text.append(f"{indent}    j{loops} += 1")
        else:
            self.text.append(f"{indent}if n % {r.randint(2, 4)} == {r.randint(0, 1)}:")
            self.block(depth + 1, loops + 1)
            if r.random() < 0.5:
                self.text.append(f"{indent}else:")
                self.block(depth + 1, loops + 1)

    def block(self, depth: int, loops: int) -> None:
        """The lines of a loop or a branch."""
        for _ in range(self.random.randint(1, 3)):
            if self.random.random() < 0.7:
                self.assign("    " * depth)
            else:
                self.statement(depth, loops)
        self.assign("    " * depth)


def run_seed(
    seed: int, interpreted: Callable[..., None], compiled: Callable[..., Any],
    same: Callable[[Any, Any], None],
) -> None:  # fmt: skip
    """One random kernel, in the interpreter and on the CPU."""
    body, r = Maker(seed).body, random.Random(-seed)
    n, shift = r.randint(0, 64), r.choice([0, 3, 700, 5000])
    grid = (r.choice([1, 1, 2]), 1, 1)
    base = np.random.default_rng(seed).standard_normal(SIZE).astype(np.float32)

    def args() -> list[Any]:
        data = base.copy()
        return [data[:SPAN], base[5000 : 5000 + SPAN].copy(), data[shift : shift + SPAN], n]

    wanted, found = args(), args()
    interpreted(PARAMS, body, wanted, grid)
    made = compiled(PARAMS, body, arch=r.choice(["host", "x86-64-v3"]), checks=r.random() < 0.2)
    status, _ = made.launch(found, grid, apart=shift == 5000)
    assert status == 0
    for left, right in zip(found, wanted, strict=True):
        if isinstance(left, np.ndarray):
            same(left, right)


@pytest.mark.parametrize("seed", range(40))
def test_random_kernels_give_the_interpreters_bits(
    seed: int, interpreted: Any, compiled: Any, same_bits: Any, runs_here: Any
) -> None:
    if not runs_here("x86-64-v3"):
        pytest.skip("this machine has not all of x86-64-v3")
    run_seed(seed, interpreted, compiled, same_bits)
