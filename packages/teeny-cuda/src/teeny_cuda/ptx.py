"""PTX on its way into the driver: its version against the driver's, and what it says of a block."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from teeny_cuda.codes import E1055
from teeny_macros.source import Span

if TYPE_CHECKING:
    from teeny_macros.artifact import Metadata

# The CUDA release that first read a PTX version (PTX ISA, "Release Notes"), as drivers number it.
_RELEASES = (
    (80, 12000), (81, 12010), (82, 12020), (83, 12030), (84, 12040), (85, 12050), (86, 12070),
    (87, 12080), (88, 12090), (90, 13000), (91, 13010), (92, 13020), (93, 13030), (94, 13040),
)  # fmt: skip
# What newer compilers print for copies of the TMA into the block's own shared memory, and the form
# of PTX 8.0 that gives the same machine code in a block without a cluster.
_NEW_COPY = ".shared::cta.global.mbarrier"
_OLD_COPY = ".shared::cluster.global.mbarrier"
_LEAST_FOR_COPIES = 80
_COPY = re.compile(r"(cp\.async\.bulk\.tensor\.\w+)" + re.escape(_NEW_COPY))
_VERSION = re.compile(r"^\.version\s+(\d+)\.(\d+)", re.MULTILINE)


def cuda_of_ptx(version: int) -> str:
    """The CUDA release that came with a PTX version, `12.4`; empty when it is not known."""
    for number, release in _RELEASES:
        if number == version:
            return f"{release // 1000}.{release % 1000 // 10}"
    return ""


def ptx_of_driver(driver: int) -> int:
    """The newest PTX version that a driver reads; 0 when it is not known."""
    return max((number for number, release in _RELEASES if release <= driver), default=0)


def for_driver(text: str, metadata: Metadata, driver: int) -> str:
    """The text in a version that the driver reads, if only its TMA copies are newer; else as it is.

    A kernel with TMA for sm_90 needs PTX 8.6 for one spelling alone, which drivers of CUDA 12.4 do
    not know.
    """
    found = _VERSION.search(text)
    newest = ptx_of_driver(driver)
    if found is None or newest < _LEAST_FOR_COPIES or metadata.num_ctas > 1:
        return text
    version = 10 * int(found[1]) + int(found[2])
    if version <= newest or not _COPY.search(text):
        return text
    lowered = f".version {newest // 10}.{newest % 10}"
    text = text[: found.start()] + lowered + text[found.end() :]
    return _COPY.sub(rf"\g<1>{_OLD_COPY}", text)


def source_of(text: str, log: str) -> Span | None:
    """Where the first line of PTX that a log of the driver's compiler names was made from."""
    named = re.search(r"\bline (\d+)", log)
    if named is None:
        return None
    lines = text.splitlines()[: int(named[1])]
    files = dict(re.findall(r'^\s*\.file\s+(\d+)\s+"([^"]+)"', text, re.MULTILINE))
    for line in reversed(lines):
        found = re.match(r"\s*\.loc\s+(\d+)\s+(\d+)\s+(\d+)", line)
        if found is not None and found[1] in files and int(found[2]) > 0:
            return Span.point(files[found[1]], int(found[2]), max(1, int(found[3])))
    return None


def require_threads(metadata: Metadata, text: str) -> None:
    """Raise E1055 when the code wants other blocks than its metadata says."""
    for name, wanted in re.findall(r"\.entry\s+(\w+)[^{]*?\.reqntid\s+(\d+)", text):
        if name == metadata.entry_point and int(wanted) != metadata.threads_per_block:
            raise E1055.error(
                kernel=metadata.kernel,
                reason=f"it is made for {wanted} threads a block, and its metadata says "
                f"{metadata.threads_per_block}",
            ).help("compile the kernel again: `teeny cache clear`")
