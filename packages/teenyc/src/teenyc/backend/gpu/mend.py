"""LLVM IR and PTX rewritten where an older code generator or assembler is known to be wrong.

The texts are what the optimizer and the code generator left, so that nothing changes a rewritten
instruction back. Each rewriting keeps the meaning: it is right, and harmless, with releases that
are sound.
"""

from __future__ import annotations

import re

# NVPTX gives 1, not -1, for true as a signed bit (libtriton 3.6 and 3.7; LLVM mended it later).
_BIT_TO_BF16 = re.compile(
    r"= sitofp (i1|<(\d+) x i1>) (\S+?) to (bfloat|<\d+ x bfloat>)(?=,|\s|$)", re.MULTILINE
)
_MINUS_ONE, _ZERO = "bfloat 0xRBF80", "bfloat 0xR0000"


def mend(text: str) -> str:
    """The LLVM IR `text` without instructions that code generators get wrong."""
    return _BIT_TO_BF16.sub(_selected, text) if "bfloat" in text else text


def _selected(found: re.Match[str]) -> str:
    condition, lanes, value, result = found.groups()
    if lanes is None:
        return f"= select {condition} {value}, {_MINUS_ONE}, {_ZERO}"
    both = [", ".join([one] * int(lanes)) for one in (_MINUS_ONE, _ZERO)]
    return f"= select {condition} {value}, {result} <{both[0]}>, {result} <{both[1]}>"


# ptxas 12.8, which comes with libtriton 3.6 and 3.7, can take the lower word of the address for the
# upper one, and either from a stale register, where it adds both words of a descriptor of shared
# memory: the address, in 14 bits, and a constant with strides and swizzle. Later libtritons add the
# lower words alone.
_DESCRIPTOR = re.compile(r"^\tadd\.s64 \t(%rd\d+), (%rd\d+), (-?\d{15,});$", re.MULTILINE)
_WIDENED = re.compile(r"^\tcvt\.u64\.u32 \t(%rd\d+), (%r\d+);$", re.MULTILINE)
_ADDRESS = re.compile(r"^\tbfe\.u32 \t(%r\d+), %r\d+, 4, 14;$", re.MULTILINE)
_WORD = 1 << 32
_HIGHEST_ADDRESS = (1 << 14) - 1


# Where sums of a product are kept twice, libtriton adds what tensor cores are still working at:
# ptxas waits for it by itself, but then after every single instruction.
_PRODUCT = re.compile(r"\twgmma\.mma_async\S* \{([^}]*)\}")
_ADDED = re.compile(r"\tadd\.f32 \t%r\d+, (%r\d+), (%r\d+);")
_COMMIT = "\twgmma.commit_group.sync.aligned;"
_WAITED = f"{_COMMIT}\n\twgmma.wait_group.sync.aligned 0;"
_FENCE = "\twgmma.fence.sync.aligned;"
_IN_FLIGHT_ENDS = (_COMMIT, "\twgmma.wait_group", "$L__BB")


def mend_ptx(text: str) -> str:
    """The PTX `text` without additions that ptxas gets wrong or is slow with."""
    if "wgmma" not in text:
        return text
    return _with_awaited_sums(_with_descriptors_in_words(text))


def _with_descriptors_in_words(text: str) -> str:
    if not _DESCRIPTOR.search(text):
        return text
    addresses = set(_ADDRESS.findall(text))
    words = {wide: word for wide, word in _WIDENED.findall(text) if word in addresses}

    def added_in_words(found: re.Match[str]) -> str:
        wide, address, constant = found.groups()
        high, low = divmod(int(constant) % _WORD**2, _WORD)
        if address not in words or low + _HIGHEST_ADDRESS >= _WORD:
            return found[0]
        return (
            f"\t{{\n\t.reg .b32 \t%low, %high;\n\tadd.s32 \t%low, {words[address]}, {low};\n"
            f"\tmov.b32 \t%high, {high};\n\tmov.b64 \t{wide}, {{%low, %high}};\n\t}}"
        )

    return _DESCRIPTOR.sub(added_in_words, text)


def _with_awaited_sums(text: str) -> str:
    """Waits before the first addition of what is being summed, a fence before it is summed anew."""
    lines: list[str] = []
    in_flight: set[str] = set()
    is_awaited = needs_fence = False
    for line in text.split("\n"):
        if product := _PRODUCT.match(line):
            in_flight.update(product[1].split(","))
            if needs_fence:
                is_framed = lines[-1].strip() == "// begin inline asm"
                lines.insert(len(lines) - is_framed, _FENCE)
            is_awaited = needs_fence = False
        elif line.startswith(_IN_FLIGHT_ENDS):
            in_flight.clear()
            if is_awaited and line.startswith(_COMMIT):
                continue  # a group of nothing
        elif in_flight and (added := _ADDED.match(line)) and in_flight.intersection(added.groups()):
            lines.append(_WAITED)
            in_flight.clear()
            is_awaited = needs_fence = True
        if line.startswith("$L__BB"):
            is_awaited = needs_fence = False
        needs_fence = needs_fence and not line.startswith(_FENCE)
        lines.append(line)
    return "\n".join(lines)
