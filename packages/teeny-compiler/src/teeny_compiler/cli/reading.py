"""`teeny expand`, `show`, `cost` and `diff`: a kernel's stages for reading."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Annotated, Any

import typer

from teeny_compiler.cli import kernels, printing, teaching
from teeny_compiler.reading.stages import SHOWN
from teeny_macros.resolve import INTEGERS

if TYPE_CHECKING:
    from teeny_macros.instance import KernelInstance

    Instance = KernelInstance[...]

Kernel = Annotated[str, typer.Argument(metavar="MODULE_OR_FILE:KERNEL")]
Target = Annotated[
    str, typer.Option("--target", "-t", help="A GPU architecture (sm_90), cpu, cpu:x86-64-v3.")
]
Define = Annotated[
    list[str] | None,
    typer.Option(
        "--define", "-D", metavar="NAME=VALUE", help="As of `teeny compile`: BLOCK=1024, D=f32."
    ),
]
Argument = Annotated[
    list[str] | None,
    typer.Option(
        "--arg", metavar="NAME=INT", help="An integer of the launch: what is known of it is used."
    ),
]
Unaligned = Annotated[
    bool, typer.Option("--unaligned", help="Assume nothing of pointers; else 16 bytes.")
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON for scripts.")]
_GPU_STAGES = ", ".join(SHOWN["cuda"])
StageName = Annotated[
    str,
    typer.Option(
        "--stage",
        "-s",
        help=f"{_GPU_STAGES}; for a CPU clusters, asm too.",
        show_default="ptx, of a CPU asm",
    ),
]
# What is shown where no stage is named.
_USUAL = {"cuda": "ptx", "cpu": "asm", "interpret": "mlir"}


_AXES = 3


def add_commands(app: typer.Typer) -> None:
    """Add the commands to `teeny`."""
    of_vector_add = "examples/vector_add.py:vector_add -D D=f32 -D BLOCK_SIZE=1024"
    app.command(
        "expand",
        short_help="Show what @kernel makes of a function.",
        epilog=teaching.examples(
            "teeny expand examples/vector_add.py:vector_add", f"teeny expand {of_vector_add}"
        ),
    )(expand)
    app.command(
        "show",
        short_help="Show a stage of a kernel, with the lines it comes from.",
        epilog=teaching.examples(
            f"teeny show {of_vector_add}",
            f"teeny show {of_vector_add} --arg n_elements=98432 -s sass",
            f"teeny show {of_vector_add} -t cpu -s asm --no-source",
        ),
    )(show)
    app.command(
        "cost",
        short_help="Tell what a kernel will cost: registers, occupancy, time.",
        epilog=teaching.examples(
            f"teeny cost {of_vector_add} --arg n_elements=98432 --grid 97",
            f"teeny cost {of_vector_add} -t sm_80,sm_90 --json",
        ),
    )(cost)
    app.command(
        "diff",
        short_help="Compare a stage of kernels, git revisions or options.",
        epilog=teaching.examples(
            f"teeny diff {of_vector_add} --left num_warps=4 --right num_warps=8",
            f"teeny diff {of_vector_add} --ref HEAD~1 --exit-code",
        ),
    )(diff)


def expand(kernel: Kernel, define: Define = None, as_json: Json = False) -> None:
    """Show what @kernel makes of a function: normalized text, helpers, values, the entry point.

    Without -D the kernel alone; with its types and values fixed, the whole unit that teenyc gets.
    """
    found = kernels.find_kernel(kernel)
    bindings = kernels.parse_bindings(define or [])
    instance = kernels.instance_of(found, bindings) if bindings or not _is_open(found) else None
    printing.print_expanded(found, instance, as_json=as_json)


def show(
    kernel: Kernel,
    target: Target = "sm_90",
    stage: StageName = "",
    define: Define = None,
    arg: Argument = None,
    unaligned: Unaligned = False,
    source: Annotated[bool, typer.Option(help="Put the lines of the source between.")] = True,
    as_json: Json = False,
) -> None:
    """Show a stage of a kernel, each part under the line of the source that it comes from.

    Pointers count as aligned, as they are in most launches. `sass` runs ptxas and nvdisasm.
    """
    from teeny_compiler.reading.show import interleaved, to_json
    from teeny_compiler.reading.stages import stage_of

    goal = kernels.parse_target(target)
    stage = stage or _USUAL[goal.kind]
    instance = _specialized(kernel, define, arg, unaligned=unaligned)
    found = stage_of(instance, goal, stage)
    if as_json:
        typer.echo(json.dumps(to_json(found), indent=1))
        return
    rows = [row for row in interleaved(found) if source or not row.is_source]
    printing.print_stage(stage, rows)


def cost(
    kernel: Kernel,
    target: Annotated[
        str, typer.Option("--target", "-t", help="One or more, with commas: sm_80,sm_90.")
    ] = "sm_90",
    define: Define = None,
    arg: Argument = None,
    grid: Annotated[
        str, typer.Option(help="The grid of the launch, 1024 or 64,64, for times of all of it.")
    ] = "",
    unaligned: Unaligned = False,
    as_json: Json = False,
) -> None:
    """Tell what a kernel will cost: registers, spills, occupancy, accesses, work, roofline.

    No GPU is needed: ptxas says how many registers, tables say what a card has.
    """
    from teeny_compiler.reading.cost import cost_of

    programs = _programs(grid)
    goals = [kernels.parse_target(one.strip()) for one in target.split(",")]
    if any(goal.kind == "interpret" for goal in goals):
        raise typer.BadParameter(
            "the interpreter makes no code whose cost could be told", param_hint="--target"
        )
    instance = _specialized(kernel, define, arg, unaligned=unaligned)
    known = dict(map(_integer, arg or []))
    rows = [cost_of(instance, goal, arguments=known, programs=programs) for goal in goals]
    if as_json:
        typer.echo(json.dumps([row.to_json() for row in rows], indent=1))
        return
    for row in rows:
        printing.print_cost(row)


def diff(
    left: Annotated[str, typer.Argument(metavar="MODULE_OR_FILE:KERNEL")],
    right: Annotated[
        str, typer.Argument(metavar="[OTHER:KERNEL]", help="Another kernel; else the same.")
    ] = "",
    target: Target = "sm_90",
    stage: StageName = "",
    define: Define = None,
    arg: Argument = None,
    ref: Annotated[
        str, typer.Option(help="Left is the kernel of this git revision: HEAD~1, or A..B for both.")
    ] = "",
    before: Annotated[
        list[str] | None, typer.Option("--left", metavar="NAME=VALUE", help="-D for the left only.")
    ] = None,
    after: Annotated[
        list[str] | None,
        typer.Option("--right", metavar="NAME=VALUE", help="-D for the right only."),
    ] = None,
    exit_code: Annotated[bool, typer.Option("--exit-code", help="1 if they differ.")] = False,
    as_json: Json = False,
) -> None:
    """Compare a stage of two kernels, of two git revisions, or of two sets of options.

    For example `teeny diff k.py:scale -D BLOCK=64 --left num_warps=4 --right num_warps=8`, or
    `teeny diff k.py:scale -D BLOCK=64 --ref HEAD~1`.
    """
    from teeny_compiler.reading import revisions
    from teeny_compiler.reading.compare import compare

    stage = stage or _USUAL[kernels.parse_target(target).kind]
    common = ["--target", target, "--stage", stage, *_repeat("-D", define), *_repeat("--arg", arg)]
    old, _, new = ref.partition("..")
    sides = (
        revisions.Side(left, old, (*common, *_repeat("-D", before))),
        revisions.Side(right or left, new, (*common, *_repeat("-D", after))),
    )
    first, second = revisions.stages_of(sides)
    found = compare(first, second, (sides[0].title, sides[1].title))
    if as_json:
        data = {**found._asdict(), "left": sides[0].title, "right": sides[1].title}
        typer.echo(json.dumps({**data, "same": found.is_empty}, indent=1))
    else:
        printing.print_difference(found)
    if exit_code and not found.is_empty:
        raise typer.Exit(1)


# --- what the arguments name ----------------------------------------------------------------------


def _is_open(kernel: Any) -> bool:
    """Whether something is left to fix before there is an instance."""
    return hasattr(kernel, "instantiate") and any(
        parameter.kind == "untyped"
        or parameter.variable is not None
        or (parameter.kind == "const" and not parameter.has_default)
        for parameter in kernel.parameters
    )


def _specialized(
    kernel: str, define: list[str] | None, arg: list[str] | None, *, unaligned: bool
) -> Instance:
    """The instance that a launch with such arguments asks for."""
    bindings = kernels.parse_bindings(define or [])
    instance: Instance = kernels.instance_of(kernels.find_kernel(kernel), bindings)
    asked = instance.specialization
    if asked.divisible_by_16 or asked.equal_to_1:
        return instance
    types = dict(asked.types)
    divisible = [name for name, type_ in types.items() if type_.kind == "pointer" and not unaligned]
    ones: list[str] = []
    integers = [n for n, one in types.items() if one.kind == "scalar" and one.dtype in INTEGERS]
    for name, value in map(_integer, arg or []):
        if name not in integers:
            known = ", ".join(f"`{one}`" for one in integers) or "none"
            raise typer.BadParameter(
                f"`{name}` is no integer of the launch, which has {known}", param_hint="--arg"
            )
        low, high = INTEGERS[types[name].dtype]
        if not low <= value <= high:
            raise typer.BadParameter(
                f"`{name}` is an {types[name].dtype}, which cannot be {value}", param_hint="--arg"
            )
        if value == 1:
            ones.append(name)
        elif value % 16 == 0:
            divisible.append(name)
    return instance.with_hints(divisible, ones)


def _integer(given: str) -> tuple[str, int]:
    name, equals, text = given.partition("=")
    try:
        return name.strip(), int(text, 0)
    except ValueError:
        what = f"{given!r} is not NAME=INT" if not equals else f"{text!r} is no integer"
        raise typer.BadParameter(what, param_hint="--arg") from None


def _programs(grid: str) -> int:
    """How many programs a grid has, 0 when none is given."""
    if not grid:
        return 0
    try:
        sides = [int(side, 0) for side in grid.split(",")]
    except ValueError:
        sides = []
    if not 1 <= len(sides) <= _AXES or min(sides) < 1:
        raise typer.BadParameter(
            f"{grid!r} is no grid: one to three numbers of programs, `1024` or `64,64`",
            param_hint="--grid",
        )
    return math.prod(sides)


def _repeat(option: str, values: list[str] | None) -> list[str]:
    return [word for value in values or [] for word in (option, value)]
