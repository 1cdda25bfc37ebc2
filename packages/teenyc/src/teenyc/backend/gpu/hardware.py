"""What exists only from some architecture on, and the error of a kernel for an older one.

The rows are what libtriton 3.6 to 3.9 compile for each architecture; tests/backend checks them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from teeny_macros.source import Span
from teenyc.backend.gpu.versions import ARCH_FLOOR, FIRST_TMA_ARCH, arch_number
from teenyc.codes import E0713
from teenyc.ir.core import Module, Operation


class Hardware(NamedTuple):
    """Something that architectures have from `first` on; `uses` says whether an operation is it.

    `host` is what the CPU target makes of it: an error code, or a word.
    """

    what: str
    first: str
    uses: Callable[[Operation], bool]
    instead: str
    host: str = "yes"


def _elements(op: Operation) -> set[str]:
    """The element types of the operands and results."""
    types = (str(value.type) for value in (*op.operands, *op.results))
    return {text.removesuffix(">").rpartition("x")[2] for text in types}


HARDWARE = (
    Hardware(
        "f8e4m3 arithmetic",
        "sm_89",
        lambda op: (
            op.name in ("tt.fp_to_fp", "tt.dot", "tt.dot_scaled") and "f8E4M3FN" in _elements(op)
        ),
        "use f8e5m2, or keep the bytes as u8 and convert them yourself",
    ),
    Hardware(
        "conversion to f8e5m2",
        "sm_80",
        lambda op: (
            op.name == "tt.fp_to_fp" and str(op.results[0].type).rstrip(">").endswith("f8E5M2")
        ),
        "keep f16, of which f8e5m2 is the upper byte",
    ),
    Hardware(
        "waiting for the grid before (`gdc_wait`, `gdc_launch_dependents`)",
        "sm_90",
        lambda op: op.name == "nvidia.grid_dependency",
        "leave it out: kernels of a stream run one after another there",
        "does nothing",
    ),
    Hardware(
        "the smaller or greater f16 or bf16 through a descriptor (`atomic_min`, `atomic_max`)",
        "sm_90",
        lambda op: (
            op.name == "tt.descriptor_reduce"
            and op.attrs["kind"] in ("min", "max")
            and not _elements(op).isdisjoint(("f16", "bf16"))
        ),
        "use f32, which pointers have: `tl.atomic_min`",
        "E0511",
    ),
    Hardware(
        "`dot` of i8",
        "sm_80",
        lambda op: op.name == "tt.dot" and "i8" in _elements(op),
        "cast the operands: `x.to(f16)`",
    ),
)


class Limit(NamedTuple):
    """Something that is no operation of one architecture: where it is, and what happens elsewhere.

    What begins with E is the code of the error, with W of the warning.
    """

    what: str
    gpus: str
    other_gpus: str
    cpu: str
    interpreter: str


LIMITS = (
    Limit("`inline_asm_elementwise`", "all", "", "E0803", "E0509"),
    Limit("clusters of blocks (`num_ctas`)", "sm_90", "E0713", "does nothing", "does nothing"),
    Limit("`launch_pdl`", "sm_90", "E1079 at the launch", "does nothing", "does nothing"),
    Limit("tensor descriptors in hardware", "sm_90", "pointers", "pointers", "yes"),
    Limit("`gather` of a descriptor in hardware", "sm_100", "pointers", "pointers", "yes"),
    Limit("`scatter` of a descriptor in hardware", "sm_100, sm_103", "pointers", "pointers", "yes"),
    Limit(
        "`tl.range(warp_specialize=True)`",
        "sm_100, sm_103",
        "W0714",
        "does nothing",
        "does nothing",
    ),
    Limit(
        "`cache_modifier` and `eviction_policy` of one access",
        "E0715",
        "E0715",
        "do nothing",
        "do nothing",
    ),
    Limit("`device_assert`", "with `-C assertions=on`", "", "yes", "yes"),
)


def require_hardware(module: Module, arch: str) -> None:
    """Raise E0713 at the first operation that `arch` does not have, or for a cluster."""
    ctas = module.attributes["num_ctas"]
    if ctas > 1 and arch_number(arch) < FIRST_TMA_ARCH:
        what = f"a cluster of blocks (`num_ctas={ctas}`)"
        raise (
            E0713.error(what=what, first=f"sm_{FIRST_TMA_ARCH}", arch=arch)
            .help("use `num_ctas=1`")
            .help(f"or compile for one of {_later(FIRST_TMA_ARCH)}")
        )
    rows = [row for row in HARDWARE if arch_number(arch) < arch_number(row.first)]
    if not rows:
        return
    for op in module.walk():
        for row in rows:
            if row.uses(op):
                place = op.loc
                while place.caller is not None and place.file.startswith("teeny_triton"):
                    place = place.caller
                span = Span.point(place.file, place.line, place.column) if place.file else None
                raise (
                    E0713.at(span, "here", what=row.what, first=row.first, arch=arch)
                    .help(row.instead)
                    .help(f"or compile for one of {_later(arch_number(row.first))}")
                )


def _later(number: int) -> str:
    """The architectures from a number on."""
    return ", ".join(known for known in ARCH_FLOOR if arch_number(known) >= number)
