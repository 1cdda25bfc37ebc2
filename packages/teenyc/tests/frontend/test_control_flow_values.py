"""Control flow gives Python's results: kernels run in the interpreter and, unchanged, in Python."""

from __future__ import annotations

import textwrap
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from teenyc.interp import load

if TYPE_CHECKING:
    from collections.abc import Callable

    from teeny_macros.unit import Unit

    MakeUnit = Callable[[str], Unit]

HEAD = "import teeny_triton as tl\nfrom teeny_triton import Const, Ptr, f32, i32\n"
SIZE = 32


class Pointer:
    """A pointer in Python: a list and a place in it."""

    def __init__(self, memory: list[Any], at: int = 0) -> None:
        self.memory = memory
        self.at = at

    def __add__(self, offset: int) -> Pointer:
        return Pointer(self.memory, self.at + offset)


def in_python(text: str, memory: list[Any], n: int) -> list[Any]:
    """Run the last function of `text` as Python; the kernels here use scalars alone."""

    def store(pointer: Pointer, value: Any, mask: bool = True) -> None:
        if mask:
            pointer.memory[pointer.at] = value

    tl = SimpleNamespace(
        load=lambda pointer: pointer.memory[pointer.at],
        store=store,
        program_id=lambda axis: 0,
        range=lambda *args, **options: range(*args),
        static_range=range,
        cdiv=lambda x, y: (x + y - 1) // y,
    )
    names: dict[str, Any] = {"tl": tl, "Const": {int: int}, "Ptr": {None: None}, "i32": None}
    names["Ptr"] = {None: None}
    body = text.replace("Ptr[i32]", "i32").replace("Const[int]", "i32")
    exec(compile(body.replace(HEAD, ""), "kernel", "exec"), names)
    names["k"](Pointer(memory), n)
    return memory


def in_interpreter(unit: Unit, memory: list[int], n: int) -> list[int]:
    """Run the unit's kernel over one program."""
    array = np.array(memory, dtype=np.int32)
    load(unit.render()).launch((1, 1, 1), [array, n])
    return [int(value) for value in array]


def agree(unit_of: MakeUnit, body: str, n: int, helpers: str = "") -> list[int]:
    """The memory after the kernel, which is the same in both."""
    text = f"{HEAD}{helpers}def k(x_ptr: Ptr[i32], n: i32):\n{textwrap.indent(body, '    ')}"
    start = [(7 * i + 3) % 19 for i in range(SIZE)]
    found = in_interpreter(unit_of(text), list(start), n)
    assert found == in_python(text, list(start), n), text
    return found


CASES = {
    "a reversed range whose variable is assigned": """
total = 0
for i in range(15, -1, -1):
    i = 15 - i
    total += tl.load(x_ptr + i) * i
tl.store(x_ptr, total)
""",
    "a range that jumps over its end": """
count = 0
for i in range(10, n, -3):
    count = count * 11 + i
tl.store(x_ptr, count & 1023)
""",
    "a shadowed loop variable": """
total = 0
for i in range(0, 8, 2):
    i = i + 100
    total += i
tl.store(x_ptr, total)
""",
    "an empty inner range": """
count = 0
for i in range(0, 4):
    for j in range(5, n):
        count += 1
tl.store(x_ptr, count)
""",
    "a while loop from literals": """
r = 17
count = 0
while r > 1:
    r = (r + 1) // 2
    count += 1
tl.store(x_ptr, count)
""",
    "swapped variables": """
a = 1
b = n
for _ in range(5):
    a, b = b, a + b
tl.store(x_ptr, a)
tl.store(x_ptr + 1, b)
""",
    "or of three": """
use = (n != 1) or (tl.load(x_ptr) != 3) or (tl.load(x_ptr + 1) != 10)
tl.store(x_ptr, 1 if use else -1)
""",
    "and that guards": """
if n < 30 and tl.load(x_ptr + n) > 3:
    tl.store(x_ptr, 77)
if n > 3 or tl.load(x_ptr + n + 4) > 9:
    tl.store(x_ptr + 1, 78)
""",
    "early returns": """
if n == 3:
    return
tl.store(x_ptr, 5)
if n > 4:
    tl.store(x_ptr + 1, 6)
    if n > 5:
        return
    tl.store(x_ptr + 2, 7)
elif n == 1:
    return
tl.store(x_ptr + 3, 8)
""",
    "break and continue of an unrolled loop": """
total = 0
for i in tl.static_range(6):
    if i == 1:
        continue
    if n == 3:
        if i == 4:
            break
    total = total * 3 + i
tl.store(x_ptr, total)
""",
    "chained comparisons": """
a = 1 if 0 < n < 5 else 0
b = 1 if not 2 < n <= 4 < 9 else 0
tl.store(x_ptr, a * 2 + b)
""",
    "a variable that only sometimes changes": """
best = 0
at = 0
for i in range(n):
    x = tl.load(x_ptr + i)
    if x > best:
        best = x
        at = i
tl.store(x_ptr, best * 100 + at)
""",
}


@pytest.mark.parametrize("n", [0, 1, 3, 5, 7])
@pytest.mark.parametrize("case", CASES)
def test_a_kernel_gives_what_python_gives(case: str, n: int, unit_of: MakeUnit) -> None:
    agree(unit_of, CASES[case].strip("\n") + "\n", n)


def test_values_of_known_cases(unit_of: MakeUnit) -> None:
    shadowed = agree(unit_of, CASES["a shadowed loop variable"].strip("\n") + "\n", 0)
    halved = agree(unit_of, CASES["a while loop from literals"].strip("\n") + "\n", 0)
    assert (shadowed[0], halved[0]) == (412, 5)


# --- random programs -----------------------------------------------------------------------------

NAMES = st.sampled_from(["a", "b", "c"])
ATOMS = st.one_of(NAMES, st.sampled_from(["n", "0", "1", "2", "7"]))


@st.composite
def expressions(draw: st.DrawFn) -> str:
    """An expression whose value stays small."""
    left, right = draw(ATOMS), draw(ATOMS)
    form = draw(
        st.sampled_from(
            [
                "{l}",
                "({l} + {r})",
                "({l} * 3 - {r})",
                "({l} ^ {r})",
                "pick({l}, {r})",
                "twice({l})[1]",
                "({l} if {l} < {r} else {r})",
                "tl.load(x_ptr + ({l} & 7))",
            ]
        )
    )
    return form.format(l=left, r=right) + " & 63"


@st.composite
def conditions(draw: st.DrawFn) -> str:
    """A condition of scalars."""
    parts = [
        f"{draw(ATOMS)} {draw(st.sampled_from(['<', '==', '!=', '>=']))} {draw(ATOMS)}"
        for _ in range(draw(st.integers(1, 2)))
    ]
    return draw(st.sampled_from(["", "not "])) + draw(st.sampled_from([" and ", " or "])).join(
        parts
    )


@st.composite
def blocks(draw: st.DrawFn, depth: int = 0, *, in_loop: bool = False) -> list[str]:
    """The lines of a block."""
    lines: list[str] = []
    kinds = ["assign", "assign", "swap", "store"]
    kinds += ["if", "for", "while", "static"] if depth < 2 else []
    kinds += [] if in_loop else ["return"]
    for _ in range(draw(st.integers(1, 3))):
        kind = draw(st.sampled_from(kinds))
        if kind == "assign":
            lines.append(f"{draw(NAMES)} = {draw(expressions())}")
        elif kind == "swap":
            lines.append("a, b = b, a")
        elif kind == "store":
            lines.append(f"tl.store(x_ptr + 8 + ({draw(NAMES)} & 7), {draw(NAMES)})")
        elif kind == "return":
            lines += [f"if {draw(conditions())}:", "    return"]
        elif kind == "if":
            lines.append(f"if {draw(conditions())}:")
            lines += _indented(draw(blocks(depth + 1, in_loop=in_loop)))
            if draw(st.booleans()):
                lines.append("else:")
                lines += _indented(draw(blocks(depth + 1, in_loop=in_loop)))
        else:
            lines += _loop(draw, kind, depth, in_loop=in_loop)
    return lines


def _loop(draw: st.DrawFn, kind: str, depth: int, *, in_loop: bool) -> list[str]:
    head = f"for i{depth} in range({draw(NAMES)} & 3):"
    if kind == "while":
        head = f"while fuel{depth} > 0 and ({draw(NAMES)} & 31) > 5:"
    elif kind == "static":
        head = f"for i{depth} in tl.static_range({draw(st.integers(0, 2))}):"
    body = _indented(draw(blocks(depth + 1, in_loop=in_loop or kind != "static")))
    if kind == "while":
        return [f"fuel{depth} = 4", head, *body, f"    fuel{depth} -= 1"]
    return [head, *body]


def _indented(lines: list[str]) -> list[str]:
    return [f"    {line}" for line in lines]


HELPERS = """\
def pick(x, y):
    if x > y:
        return x - y
    if x == 3:
        return 5
    return x + y
def twice(x, by=2):
    return x, x * by
"""


@settings(
    max_examples=120,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(lines=blocks(), n=st.integers(0, 9), first=st.sampled_from(["3", "n", "tl.load(x_ptr)"]))
def test_a_random_program_gives_what_python_gives(
    lines: list[str], n: int, first: str, unit_of: MakeUnit
) -> None:
    begin = [f"a = {first}", "b = 1", "c = n"]
    end = [f"tl.store(x_ptr + {i}, {name})" for i, name in enumerate("abc")]
    agree(unit_of, "\n".join([*begin, *lines, *end]) + "\n", n, HELPERS)
