"""From a module of the IR to an object, with the texts and facts that the driver hands on."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from teenyc.backend.cpu import features as cpus
from teenyc.backend.cpu import llvm
from teenyc.backend.cpu.lower import lower_module
from teenyc.backend.cpu.symbols import check_symbols

if TYPE_CHECKING:
    from teenyc.ir.core import Module


class Native(NamedTuple):
    """What compiling for a CPU gives: the object, `texts` by stage, what a launcher must know."""

    data: bytes
    texts: dict[str, str]
    arena_bytes: int
    work: int
    features: str


def compile_module(
    module: Module,
    arch: str,
    emit: tuple[str, ...],
    *,
    fusion: bool,
    checks: bool = False,
) -> Native:
    """Compile `module`, which is changed on the way. Raises E0801 to E0803, E1040."""
    features = cpus.resolve(arch)
    lowered = lower_module(module, features, fusion=fusion, checks=checks)
    compiled = llvm.compile_text(
        lowered.text, features, want_ir="llvm-ir" in emit, want_asm="asm" in emit
    )
    check_symbols(compiled.data)
    made = {"llvm-ir": compiled.ir, "asm": compiled.asm, "clusters": lowered.clusters}
    texts = {stage: text for stage, text in made.items() if stage in emit}
    return Native(compiled.data, texts, lowered.arena_bytes, lowered.work, features.needs)
