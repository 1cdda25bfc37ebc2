"""What a run of teenyc is asked: the command line, read by a small parser, and `Options`.

argparse is not used: its import alone takes a tenth of a warm compile. Options are immutable and
print back as the arguments they came from (for reproducers).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from teeny_macros.artifact import STAGES
from teeny_macros.target import CPU_ARCHS, CUDA_TRIPLE, Target
from teenyc import env
from teenyc.backend.gpu.versions import format_ptx_version, parse_ptx_version

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

ERROR_FORMATS = ("human", "json", "github", "concise")
# `cpu` is the machine that compiles; the names of CPUs stand for themselves.
TARGETS = (CUDA_TRIPLE, "cpu", *(name for name in CPU_ARCHS if name != "host"), "interpret")
PRINTABLE = ("targets", "passes", "tools", "assemblers")
_SWITCHES = {"on": True, "off": False}
_DEFAULT_EMIT = {"cuda": "ptx", "cpu": "obj", "interpret": "mlir"}

USAGE = """\
usage: teenyc UNIT [options]     compile one unit (`-` reads it from standard input)
       teenyc --worker           compile units as they come, JSON lines on standard input and output

  --target TARGET        nvptx64-nvidia-cuda (default), cpu (this machine), x86-64-v3, x86-64-v4,
                         aarch64, ... (see `--print targets`) or interpret
  -C target-cpu=ARCH     architecture, for example sm_90; for cpu also x86-64-v3, ...
  -C fp-fusion=on|off    join multiplications and additions (default: as the unit says)
  -C ptx-version=8.4     PTX version, not below what the kernel needs
  -C cubin=on            machine code beside the PTX, where a ptxas is at hand (default: off)
  -C bounds-checks=on    on a CPU, an access outside of the arrays given is an error (default: off)
  -C locations=on        mlir and ttgir say which line each operation comes from (default: off)
  -C assertions=on       keep `device_assert` in code for a GPU (default: off)
  -C overflow-checks=on  report integers of 32 bits that overflow on the way to an address
                         (default: off)
  --emit KIND,...        mlir, ttgir, llvm-ir, ptx; for a CPU mlir, clusters, llvm-ir, asm, obj
                         (default: ptx, obj, or mlir for interpret)
  -o FOLDER              where the files go (default: here)
  --check                stop after the checks, write nothing
  --strict               with --check: warn where a value is cast and the text does not say so
  --bounds               with --check: prove that accesses stay inside of the declared extents
  --error-format FORMAT  human, json, github or concise
  --print-after PASS     print the IR after a pass (`all` for each) on standard error
  --time-passes          print what each stage took on standard error
  --explain CODE         explain an error code
  --print WHAT           targets, passes, the CUDA tools at hand, or with -C target-cpu=ARCH the
                         assemblers for it, best first, with their options
  --version [--verbose]  print the version [and those of the back ends]
"""

# option -> (field, whether it takes a value)
_OPTIONS = {
    "--target": ("target", True),
    "-C": ("codegen", True),
    "--codegen": ("codegen", True),
    "--emit": ("emit", True),
    "-o": ("output", True),
    "--out-dir": ("output", True),
    "--check": ("check", False),
    "--strict": ("strict", False),
    "--bounds": ("bounds", False),
    "--error-format": ("error_format", True),
    "--print-after": ("print_after", True),
    "--time-passes": ("time_passes", False),
    "--explain": ("explain", True),
    "--print": ("print", True),
    "--version": ("version", False),
    "-V": ("version", False),
    "--verbose": ("verbose", False),
    "-v": ("verbose", False),
    "--worker": ("worker", False),
    "--help": ("help", False),
    "-h": ("help", False),
}
_CODEGEN = (
    "target-cpu",
    "fp-fusion",
    "ptx-version",
    "bounds-checks",
    "assertions",
    "locations",
    "overflow-checks",
    "cubin",
)
_REPEATABLE = {"codegen", "emit", "print_after"}


class UsageError(Exception):
    """The command line makes no sense; the text says why."""


class Options(NamedTuple):
    """What decides the result of compiling one unit.

    `emit` names the stages to keep; `fp_fusion` None means as the unit's entry point says;
    `ptx_version` 84 is PTX 8.4, None the oldest that carries the kernel. `cubin`: machine code
    beside the PTX, where a ptxas is at hand.
    """

    target: Target
    emit: tuple[str, ...]
    fp_fusion: bool | None = None
    ptx_version: int | None = None
    check: bool = False
    print_after: tuple[str, ...] = ()
    bounds_checks: bool = False
    assertions: bool = False
    locations: bool = False
    overflow_checks: bool = False
    strict: bool = False
    bounds: bool = False
    cubin: bool = False

    def to_arguments(self) -> list[str]:
        """The arguments of `teenyc` that give these options."""
        found = ["--target", self.target.triple]
        if self.target.arch:
            found += ["-C", f"target-cpu={self.target.arch}"]
        if self.fp_fusion is not None:
            found += ["-C", f"fp-fusion={'on' if self.fp_fusion else 'off'}"]
        if self.ptx_version is not None:
            found += ["-C", f"ptx-version={format_ptx_version(self.ptx_version)}"]
        if self.bounds_checks:
            found += ["-C", "bounds-checks=on"]
        if self.assertions:
            found += ["-C", "assertions=on"]
        if self.locations:
            found += ["-C", "locations=on"]
        if self.overflow_checks:
            found += ["-C", "overflow-checks=on"]
        if self.cubin:
            found += ["-C", "cubin=on"]
        return [*found, "--emit", ",".join(self.emit)]


class Command(NamedTuple):
    """A command line taken apart, each value still text; see `compile_options`."""

    unit: str | None = None
    target: str = CUDA_TRIPLE
    codegen: tuple[str, ...] = ()
    emit: tuple[str, ...] = ()
    output: str = "."
    check: bool = False
    strict: bool = False
    bounds: bool = False
    error_format: str = "human"
    print_after: tuple[str, ...] = ()
    time_passes: bool = False
    explain: str | None = None
    print: str | None = None
    version: bool = False
    verbose: bool = False
    worker: bool = False
    help: bool = False


def parse_command(arguments: Sequence[str]) -> Command:
    """Take a command line apart. Raises UsageError."""
    fields: dict[str, object] = {}
    for name, value in _split(arguments):
        if name in _REPEATABLE:
            earlier = fields.get(name, ())
            assert isinstance(earlier, tuple)
            fields[name] = (*earlier, value)
        elif name == "unit" and "unit" in fields:
            raise UsageError("one unit at a time, please")
        else:
            fields[name] = value
    command = Command(**fields)  # type: ignore[arg-type]
    _require_one_of("--error-format", command.error_format, ERROR_FORMATS)
    _require_one_of("--target", command.target, TARGETS)
    if command.print is not None:
        _require_one_of("--print", command.print, PRINTABLE)
    return command


def compile_options(command: Command) -> Options:
    """The options that a compiling command line asks for.

    Raises UsageError, E1040 (architecture) or E0707 (PTX version).
    """
    codegen = _codegen(command.codegen)
    cpu = codegen.get("target-cpu")
    if command.target == "interpret":
        target = Target.interpret()
    elif command.target != CUDA_TRIPLE:
        target = Target.cpu(cpu or ("host" if command.target == "cpu" else command.target))
    elif cpu:
        target = Target.cuda(cpu)
    else:
        raise UsageError("say which GPU architecture: `-C target-cpu=sm_90`")
    kinds = [kind for given in command.emit for kind in given.split(",")]
    for kind in kinds:
        _require_one_of("--emit", kind, STAGES)
    requested = codegen.get("ptx-version") or env.read(env.TEENYC_PTX_VERSION)
    fusion = codegen.get("fp-fusion")
    if fusion is not None:
        _require_one_of("-C fp-fusion", fusion, tuple(_SWITCHES))
    switches: dict[str, bool] = {}
    for name in ("bounds-checks", "assertions", "overflow-checks", "locations", "cubin"):
        given_switch = codegen.get(name, "off")
        _require_one_of(f"-C {name}", given_switch, tuple(_SWITCHES))
        switches[name] = _SWITCHES[given_switch]
    for name in ("strict", "bounds"):
        if getattr(command, name) and not command.check:
            raise UsageError(f"`--{name}` belongs to `--check`")
    return Options(
        target=target,
        emit=tuple(kind for kind in STAGES if kind in kinds) or (_DEFAULT_EMIT[target.kind],),
        fp_fusion=None if fusion is None else _SWITCHES[fusion],
        ptx_version=parse_ptx_version(requested) if requested and target.kind == "cuda" else None,
        check=command.check,
        print_after=command.print_after,
        bounds_checks=switches["bounds-checks"] and target.kind == "cpu",
        assertions=switches["assertions"],
        locations=switches["locations"],
        overflow_checks=switches["overflow-checks"],
        strict=command.strict,
        bounds=command.bounds,
        cubin=switches["cubin"] and target.kind == "cuda",
    )


def _split(arguments: Sequence[str]) -> Iterator[tuple[str, str | bool]]:
    rest = iter(arguments)
    for argument in rest:
        name, equals, value = argument.partition("=")
        if argument == "-" or not argument.startswith("-"):
            yield "unit", argument
        elif name in _OPTIONS and name.startswith("--") and equals:
            field, takes_value = _OPTIONS[name]
            if not takes_value:
                raise UsageError(f"`{name}` takes no value")
            yield field, value
        elif argument in _OPTIONS:
            field, takes_value = _OPTIONS[argument]
            following = next(rest, None) if takes_value else True
            if following is None:
                raise UsageError(f"`{argument}` needs a value")
            yield field, following
        elif argument.startswith(("-C", "-o")) and len(argument) > 2:
            yield _OPTIONS[argument[:2]][0], argument[2:]
        else:
            raise UsageError(f"unknown option `{argument}`")


def _codegen(given: Sequence[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for pair in given:
        key, equals, value = pair.partition("=")
        _require_one_of("-C", key, _CODEGEN)
        if not equals or not value:
            raise UsageError(f"`-C {key}` needs a value")
        found[key] = value
    return found


def _require_one_of(option: str, value: str, allowed: Sequence[str]) -> None:
    if value not in allowed:
        raise UsageError(f"`{option}` takes {', '.join(allowed)}; got `{value}`")
