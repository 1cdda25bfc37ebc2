"""What PTX and ptxas say of a kernel: how wide its accesses are, registers, spills, warnings."""

from __future__ import annotations

import re
from collections import Counter
from typing import NamedTuple

_ACCESS = re.compile(r"^\s*(?:@!?%p\d+\s+)?(ld|st)\.(?:[\w:]+\.)*?global[\w.:]*")
_VECTOR = re.compile(r"\.v(\d)(?=\.)")
_ELEMENT = re.compile(r"\.[bfus](\d+)\b")
_COPY = re.compile(
    r"\bcp\.async\.c[ag]\.shared\.global\s+\[[^\]]*\],\s*\[[^\]]*\],\s*(0x[0-9a-f]+|\d+)"
)
_BULK = re.compile(r"\bcp\.async\.bulk\.tensor\.(\d)d\.(shared|global)")
_MMA = re.compile(r"^\s*(?:@!?%p\d+\s+)?(wgmma\.mma_async|tcgen05\.mma|mma)\.([\w.:]*)")
_SHAPE = re.compile(r"(?<![a-z0-9])m\d+n\d+k\d+")


class Accesses(NamedTuple):
    """How often each width in bytes occurs in the text; loops are not unrolled in it.

    `copies` go from global to shared memory by the thread (`cp.async`), `bulk` are tiles that the
    hardware moves (TMA), `matrix` instructions of the tensor cores.
    """

    loads: dict[int, int]
    stores: dict[int, int]
    copies: dict[int, int]
    bulk: int
    matrix: dict[str, int]


def accesses(ptx: str) -> Accesses:
    """The accesses of global memory in PTX."""
    found: dict[str, Counter[int]] = {"ld": Counter(), "st": Counter(), "cp": Counter()}
    matrix: Counter[str] = Counter()
    bulk = 0
    for line in ptx.splitlines():
        access = _ACCESS.match(line)
        if access:
            element = _ELEMENT.search(access[0])
            vector = _VECTOR.search(access[0])
            width = (int(vector[1]) if vector else 1) * (int(element[1]) // 8 if element else 0)
            found[access[1]][width] += 1
            continue
        copy = _COPY.search(line)
        if copy:
            found["cp"][int(copy[1], 0)] += 1
        bulk += len(_BULK.findall(line))
        product = _MMA.match(line)
        if product:
            shape = _SHAPE.search(product[2])
            matrix[product[1] + (f" {shape[0]}" if shape else "")] += 1
    loads, stores, copies = (dict(sorted(found[kind].items())) for kind in ("ld", "st", "cp"))
    return Accesses(loads, stores, copies, bulk, dict(matrix))


class Assembly(NamedTuple):
    """What ptxas says, in bytes where it is not registers; `warnings` are its own words."""

    registers: int = 0
    stack: int = 0
    spill_stores: int = 0
    spill_loads: int = 0
    static_shared: int = 0
    constant: int = 0
    barriers: int = 0
    warnings: tuple[str, ...] = ()


def read_log(log: str) -> Assembly:
    """The facts in what `ptxas -v` prints."""

    def number(pattern: str) -> int:
        found = re.search(pattern, log)
        return int(found[1]) if found else 0

    constants = sum(int(size) for size in re.findall(r"(\d+) bytes cmem\[\d+\]", log))
    warnings = [
        line.partition(":")[2].strip() or line.strip()
        for line in log.splitlines()
        if "warning" in line.lower() or "Performance Loss" in line
    ]
    return Assembly(
        number(r"Used (\d+) registers"),
        number(r"(\d+) bytes stack frame"),
        number(r"(\d+) bytes spill stores"),
        number(r"(\d+) bytes spill loads"),
        number(r"(\d+) bytes smem"),
        constants,
        number(r"used (\d+) barriers"),
        tuple(warnings),
    )
