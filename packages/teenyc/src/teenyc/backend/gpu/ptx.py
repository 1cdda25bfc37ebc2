"""Reading PTX text, and finding the tools that read it further (`assemble` runs one)."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

from teenyc.backend.gpu import libtriton

_VERSION = re.compile(r"^\.version (\d+)\.(\d+)$", re.MULTILINE)
_TARGET = re.compile(r"^\.target (\w+)", re.MULTILINE)
_ENTRY = re.compile(r"^\.visible \.entry ([A-Za-z_]\w*)\(", re.MULTILINE)
_THREADS = re.compile(r"^\.reqntid (\d+)", re.MULTILINE)
_FILE = re.compile(r'^\s*\.file\s+\d+ "([^"]*)"(?: "([^"]*)")?', re.MULTILINE)


class PtxHeader(NamedTuple):
    """What a PTX module says of itself.

    `version` 84 is PTX 8.4; `target` is `sm_90a`; `entries` are the kernels, `threads` those of one
    block (None when it does not say), `files` the names that positions refer to.
    """

    version: int
    target: str
    entries: tuple[str, ...]
    threads: int | None
    files: tuple[str, ...]


def parse_ptx(text: str) -> PtxHeader | None:
    """What the header and the entry point say, or None when `text` is no PTX module."""
    version, target = _VERSION.search(text), _TARGET.search(text)
    if version is None or target is None:
        return None
    threads = _THREADS.search(text)
    return PtxHeader(
        int(version[1]) * 10 + int(version[2]),
        target[1],
        tuple(_ENTRY.findall(text)),
        int(threads[1]) if threads else None,
        tuple("/".join(filter(None, names)) for names in _FILE.findall(text)),
    )


# An access whose cache operator excludes its eviction priority, and positions before it.
_EXCLUDING = re.compile(r"\b(?:ld|st)\.global\.(?:[\w:]+\.)*?(?:c[agsv]|w[bt])\.[\w:.]*L1::evict")
_ASM = ("// begin inline asm", "// end inline asm")
_LOC = re.compile(r"\s*\.loc\s+\d+ (\d+) (\d+)")
_INLINED = re.compile(r"inlined_at \d+ (\d+) (\d+)")


def find_excluding(text: str) -> tuple[int, int] | None:
    """Line and column of the first access that ptxas refuses for asking two things of the cache.

    (0, 0) where the text does not say. Where the access was inlined it is the outermost call.
    """
    found = _EXCLUDING.search(text)
    if found is None:
        return None
    place, in_asm, asm_lines = (0, 0), False, 0
    for line in text[: found.start()].splitlines():
        if line.strip() in _ASM:
            in_asm, asm_lines = line.strip() == _ASM[0], 0
        elif (match := _LOC.match(line)) is not None:
            # Accesses are inline assembly, whose lines count as if they were the kernel's: only the
            # first is right.
            asm_lines += in_asm
            if asm_lines < 2:
                calls = _INLINED.findall(line)
                where = calls[-1] if calls else match.groups()
                place = int(where[0]), int(where[1])
    return place


_PLACES = re.compile(r"(?:\.loc\s+|inlined_at\s+)(\d+) (\d+) (\d+)")


def place_of(text: str, number: int, file: str) -> tuple[int, int]:
    """Line and column in `file` that line `number` of PTX was made from; (0, 0) if none is known.

    Where the code was inlined it is the outermost call.
    """
    numbers = set(re.findall(rf'\.file\s+(\d+) "(?:[^"]*/)?{re.escape(file)}"', text))
    for line in reversed(text.splitlines()[:number]):
        if _LOC.match(line):
            own = [row for row in _PLACES.findall(line) if row[0] in numbers and int(row[1])]
            if own:
                return int(own[-1][1]), int(own[-1][2])
    return 0, 0


_TOOLS = ("ptxas", "ptxas-blackwell", "nvdisasm", "cuobjdump")


def find_tools() -> list[tuple[str, Path]]:
    """The CUDA tools at hand, by name: those that the Triton wheel carries, then those on PATH.

    The wheel's `ptxas` is of CUDA 12; `ptxas-blackwell` knows the newest PTX versions.
    """
    import shutil

    folder = libtriton.find_folder()
    own = (
        [] if folder is None else [(n, folder / "backends" / "nvidia" / "bin" / n) for n in _TOOLS]
    )
    found = [(name, path) for name, path in own if path.is_file()]
    return found + [(name, Path(path)) for name in _TOOLS if (path := shutil.which(name))]


def find_ptxas(version: int = 0) -> Path | None:
    """A ptxas for PTX `version`: the one on PATH, else one that the Triton wheel carries."""
    import shutil

    found = shutil.which("ptxas")
    if found:
        return Path(found)
    folder = libtriton.find_folder()
    if folder is None:
        return None
    # The wheel's `ptxas` is of CUDA 12; `ptxas-blackwell` knows the newest PTX versions.
    names = ("ptxas-blackwell", "ptxas") if version > 87 else ("ptxas", "ptxas-blackwell")
    paths = (folder / "backends" / "nvidia" / "bin" / name for name in names)
    return next((path for path in paths if path.is_file()), None)
