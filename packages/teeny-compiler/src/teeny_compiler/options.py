"""`CompileOptions`: what a caller may ask of one compilation besides the target."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from teeny_compiler import env
from teeny_compiler.codes import E0914, E0915
from teeny_macros.artifact import STAGES, SUFFIXES

if TYPE_CHECKING:
    from teeny_macros.target import Target

# target kind -> (what is always kept, the stage that a device loads, what may be asked for besides)
_KEPT = {"cuda": ("mlir", "ptx"), "cpu": ("mlir", "llvm-ir", "obj"), "interpret": ("mlir",)}
_ON_REQUEST = {"cuda": ("ttgir", "llvm-ir", "cubin"), "cpu": ("clusters", "asm"), "interpret": ()}
# What a bundle may keep beside the code.
BUNDLED = {kind: (*_KEPT[kind], *_ON_REQUEST[kind]) for kind in _KEPT}
_SWITCHES = {"on": True, "off": False}
# teenyc leaves the unit beside the MLIR: it is what the interpreter reads.
UNIT_STAGE = "unit"
METADATA_SUFFIX = ".metadata"
CUBIN = "cubin"  # kept where a ptxas makes it, so never one of `emit`
MACHINE = "sass"  # made from what is compiled; never kept
LOADED = {"cuda": "ptx", "cpu": "obj", "interpret": UNIT_STAGE}


class CompileOptions(NamedTuple):
    """Options of one compilation.

    `fp_fusion` joins a multiplication and an addition into one operation (off as well where the
    kernel's launch options say so). `ptx_version` 84 is PTX 8.4; None is `TEENYC_PTX_VERSION`, else
    the oldest that carries the kernel. `emit` names stages to keep besides those that are always
    kept: `ttgir`, `llvm-ir`, for a CPU `clusters`, `asm`. `bounds_checks`, for a CPU: an access
    outside of the arrays given is an error instead of a crash; None is `TEENYC_BOUNDS_CHECKS`.
    `assertions`, for a GPU: `device_assert` is kept (elsewhere it always is); `overflow_checks`: a
    32-bit integer that overflows on the way to an address is a failed assertion. None is
    `TEENYC_ASSERTIONS`, `TEENYC_OVERFLOW_CHECKS`. `locations`: the texts of `mlir` and `ttgir` say
    which line each operation comes from. `cubin`, for a GPU: machine code for exactly the target's
    architecture beside the PTX, where the toolchain has a ptxas; None is `TEENYC_CUBIN`.
    """

    fp_fusion: bool = True
    ptx_version: int | None = None
    emit: tuple[str, ...] = ()
    bounds_checks: bool | None = None
    assertions: bool | None = None
    overflow_checks: bool | None = None
    locations: bool = False
    cubin: bool | None = None


def resolve(options: CompileOptions | None, target: Target, *, fp_fusion: bool) -> CompileOptions:
    """The options with every default filled in and `emit` complete, in the order of the stages.

    Raises E0914 (a variable that cannot be read) or E0915 (a stage that the target does not have).
    """
    asked = options or CompileOptions()
    possible = _KEPT[target.kind] + _ON_REQUEST[target.kind]
    for stage in asked.emit:
        if stage not in possible:
            error = E0915.error(stage=stage, target=target)
            if stage == MACHINE and target.kind == "cuda":
                error.help("`teeny show KERNEL --stage sass` makes it with ptxas")
            raise error.help(f"one of {', '.join(own for own in STAGES if own in possible)}")
    wanted = {*_KEPT[target.kind], *asked.emit} - {CUBIN}
    version = asked.ptx_version
    if target.kind != "cuda":
        version = None
    elif version is None:
        version = _ptx_version_from_environment()
    checks = asked.bounds_checks
    if target.kind != "cpu":
        checks = None
    elif checks is None:
        checks = _switch_from_environment(env.TEENYC_BOUNDS_CHECKS)
    assertions = asked.assertions
    if target.kind != "cuda":
        assertions = None
    elif assertions is None:
        assertions = _switch_from_environment(env.TEENYC_ASSERTIONS)
    cubin = True if CUBIN in asked.emit else asked.cubin
    if target.kind != "cuda":
        cubin = None
    elif cubin is None:
        cubin = _switch_from_environment(env.TEENYC_CUBIN)
    overflows = asked.overflow_checks
    if overflows is None:
        overflows = _switch_from_environment(env.TEENYC_OVERFLOW_CHECKS)
    return CompileOptions(
        asked.fp_fusion and fp_fusion,
        version,
        tuple(stage for stage in STAGES if stage in wanted),
        checks,
        assertions,
        overflows,
        asked.locations,
        cubin,
    )


def parse_ptx_version(text: str) -> int | None:
    """`8.4` as 84; None for another spelling. Whether that version exists is for teenyc to say."""
    major, dot, minor = text.partition(".")
    if dot and major.isdecimal() and minor.isdecimal() and len(minor) == 1:
        return int(major) * 10 + int(minor)
    return None


def arguments(options: CompileOptions, target: Target) -> list[str]:
    """The arguments of teenyc that ask for resolved options."""
    found = ["--target", target.triple]
    if target.arch:
        found += ["-C", f"target-cpu={target.arch}"]
    found += ["-C", f"fp-fusion={'on' if options.fp_fusion else 'off'}"]
    if options.ptx_version is not None:
        found += ["-C", f"ptx-version={options.ptx_version // 10}.{options.ptx_version % 10}"]
    if options.bounds_checks:
        found += ["-C", "bounds-checks=on"]
    if options.assertions:
        found += ["-C", "assertions=on"]
    if options.overflow_checks:
        found += ["-C", "overflow-checks=on"]
    if options.locations:
        found += ["-C", "locations=on"]
    if options.cubin:
        found += ["-C", "cubin=on"]
    return [*found, "--emit", ",".join(options.emit)]


_BY_SUFFIX = {suffix.removeprefix("."): stage for stage, suffix in SUFFIXES.items()}
_BY_SUFFIX["unit"] = UNIT_STAGE


def stage_files(files: tuple[str, ...]) -> dict[str, str]:
    """File names by stage name."""
    return {
        _BY_SUFFIX[suffix]: name
        for name in files
        if (suffix := name.rpartition(".")[2]) in _BY_SUFFIX
    }


def _switch_from_environment(variable: env.Variable) -> bool:
    text = env.read(variable) or variable.default
    if text not in _SWITCHES:
        raise E0914.error(name=variable.name, value=text, wanted=" or ".join(_SWITCHES)).help(
            f"unset it for the default, {variable.default}"
        )
    return _SWITCHES[text]


def _ptx_version_from_environment() -> int | None:
    text = env.read(env.TEENYC_PTX_VERSION)
    if text is None:
        return None
    version = parse_ptx_version(text)
    if version is None:
        raise E0914.error(
            name=env.TEENYC_PTX_VERSION.name, value=text, wanted="a PTX version"
        ).help("write it as in `.version`, for example 8.4, or unset it")
    return version
