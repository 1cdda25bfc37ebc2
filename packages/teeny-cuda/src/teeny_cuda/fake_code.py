"""Modules of the fake driver.

Enough of PTX is read to know entry points, their parameters and what the driver would refuse.
"""

from __future__ import annotations

import math
import re

_INVALID_IMAGE = 200
_INVALID_PTX = 218
_NO_BINARY = 209
_UNSUPPORTED_VERSION = 222

_ENTRY = re.compile(r"\.entry\s+(\w+)\s*\((.*?)\)\s*(.*?)\{(.*?)\n\}", re.DOTALL)
_PARAM = re.compile(
    r"\.param\s+(?:\.align\s+\d+\s+)?\.([a-z]+)(\d+)[^,\[]*?(?:\[(\d+)\])?\s*(?:,|$)"
)
_OPCODES = frozenset((
    "add", "and", "atom", "bar", "bfe", "bra", "cp", "cvt", "cvta", "div", "ex2", "fence", "fma",
    "ld", "mad", "max", "membar", "min", "mov", "mul", "nanosleep", "neg", "or", "rem", "ret",
    "rsqrt", "selp", "setp", "shl", "shr", "sqrt", "st", "sub", "trap", "wgmma", "xor",
))  # fmt: skip
_LATEST_PTX = {12: 84, 13: 90}
# From which version on PTX knows an architecture (PTX ISA, "Target Directives").
_FIRST_CLUSTERS = 90
_FIRST_PTX = {90: 78, 100: 86, 120: 87}
PLAIN_SHARED = 49152


class RejectedError(Exception):
    """The code is refused: `number` is the result, the text is what the compiler logs."""

    def __init__(self, number: int, log: str) -> None:
        super().__init__(log)
        self.number = number


class Function:
    """An entry point with the sizes of its parameters in bytes and its attributes."""

    def __init__(self, module: Module, name: str, params: str, directives: str, body: str) -> None:
        self.module = module
        self.name = name
        self.param_sizes = [
            int(bits) // 8 * int(count or 1) for _, bits, count in _PARAM.findall(params)
        ]
        self.required_block = _sizes("reqntid", directives)
        self.required_cluster = _sizes("reqnctapercluster", directives)
        most = _sizes("maxntid", directives)
        registers = re.findall(r"\.reg\s+\.\w+\s+%\w+<(\d+)>", body)
        shared = sum(map(int, re.findall(r"\.shared\s+\.align\s+\d+\s+\.b8\s+\w+\[(\d+)\]", body)))
        self.attributes = {
            # As an H200 answers: `.reqntid` does not lower it, only the registers do.
            "MAX_THREADS_PER_BLOCK": math.prod(most) if most else 1024,
            "SHARED_SIZE_BYTES": shared,
            "MAX_DYNAMIC_SHARED_SIZE_BYTES": PLAIN_SHARED - shared,
            "NUM_REGS": min(255, 8 + sum(map(int, registers))),
            "PTX_VERSION": module.target,
            "BINARY_VERSION": module.target,
        }


def _sizes(directive: str, text: str) -> tuple[int, ...]:
    """The numbers of a directive, three of them; empty when it is not there."""
    found = re.search(rf"\.{directive}\s+(\d+)(?:\s*,\s*(\d+))?(?:\s*,\s*(\d+))?", text)
    return tuple(int(size or 1) for size in found.groups()) if found else ()


class Module:
    """What a PTX text holds."""

    def __init__(self, text: str, version: int, target: int) -> None:
        self.text = text
        self.version = version
        self.target = target
        self.functions = {match[0]: Function(self, *match) for match in _ENTRY.findall(text)}


def parse_ptx(text: str, capability: int, driver: int) -> Module:
    """The module of a PTX text on a GPU of `capability`.

    RejectedError as the driver's compiler gives it.
    """
    version = re.search(r"^\.version\s+(\d+)\.(\d+)", text, re.MULTILINE)
    target = re.search(r"^\.target\s+sm_(\d+)(a?)", text, re.MULTILINE)
    if version is None:
        raise RejectedError(_INVALID_IMAGE, "")
    if target is None:
        raise RejectedError(_INVALID_PTX, "ptxas fatal   : Missing .target directive")
    number = 10 * int(version[1]) + int(version[2])
    if number > _LATEST_PTX.get(driver // 1000, 0):
        raise RejectedError(
            _UNSUPPORTED_VERSION,
            "ptxas application ptx input, line 1; fatal   : "
            f"Unsupported .version {version[1]}.{version[2]}",
        )
    wanted = int(target[1])
    if number < _FIRST_PTX.get(wanted, 0):
        raise RejectedError(
            _INVALID_PTX, f"ptxas fatal   : SM version sm_{wanted} is not known to this PTX version"
        )
    if wanted < _FIRST_CLUSTERS and ".reqnctapercluster" in text:
        raise RejectedError(
            _INVALID_PTX, "ptxas error   : '.reqnctapercluster' requires .target sm_90 or higher"
        )
    if wanted > capability or (target[2] and wanted != capability):
        raise RejectedError(_NO_BINARY, "")
    for line, content in enumerate(text.splitlines(), 1):
        opcode = re.match(r"\s+(?:@!?%p\d+\s+)?([a-z]\w*)[.\s;]", content)
        if opcode and opcode[1] not in _OPCODES:
            raise RejectedError(
                _INVALID_PTX,
                f"ptxas application ptx input, line {line}; error   : "
                f"Not a name of any known instruction: '{opcode[1]}'",
            )
    return Module(text, number, wanted)
