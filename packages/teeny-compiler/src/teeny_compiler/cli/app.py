"""The commands of `teeny`, and those that other packages register in the group `teeny.commands`.

What a script may want goes to standard output, everything else to standard error.
"""

from __future__ import annotations

import json
import sys
from importlib.metadata import entry_points
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from teeny_compiler import CompileOptions, __version__, compile_kernel, doctor
from teeny_compiler.cli import bundle, cache, check, kernels, reading, teaching, toolchains
from teeny_compiler.codes import E0914, E0980
from teeny_compiler.options import CUBIN, LOADED, UNIT_STAGE, parse_ptx_version

GROUP = "teeny.commands"
_VECTOR_ADD = "examples/vector_add.py:vector_add -t sm_90 -D D=f32 -D BLOCK_SIZE=1024"
_STYLES = {"works": "green", "absent": "yellow", "broken": "red"}
_Json = Annotated[bool, typer.Option("--json", help="Print JSON for scripts.")]


def make_app() -> Any:
    """The command with all its subcommands, as click sees it."""
    app = typer.Typer(
        no_args_is_help=True,
        help="Compile kernels, look at what came out, and check the installation.",
        epilog=teaching.examples(
            "teeny doctor",
            f"teeny compile {_VECTOR_ADD}",
            "teeny cache ls",
            "teeny --install-completion",
        ),
        rich_markup_mode=teaching.markup(),
        pretty_exceptions_enable=False,
    )
    app.callback()(_options)
    app.command(
        "compile",
        epilog=teaching.examples(
            f"teeny compile {_VECTOR_ADD}",
            f"teeny compile {_VECTOR_ADD} --emit mlir,ttgir,ptx --json",
            "teeny compile my_package.kernels:softmax -t cpu -D D=f32 -D BLOCK=1024",
        ),
    )(compile_)
    app.command("check", short_help="Check kernels and launches, importing nothing.")(check.check)
    reading.add_commands(app)
    app.command("doctor", short_help="Check the installation and say how to mend it.")(doctor_)
    app.add_typer(
        toolchains.make_group(), name="toolchain", short_help="Install teenyc apart, and choose."
    )
    app.add_typer(cache.make_group(), name="cache")
    app.add_typer(
        bundle.make_group(), name="bundle", short_help="Compile kernels ahead into one file."
    )
    for point in entry_points(group=GROUP):
        _add_plugin(app, point)
    return typer.main.get_command(app)


def _add_plugin(app: typer.Typer, point: Any) -> None:
    """Add a registered command: a `typer.Typer` becomes a group, a function a command."""
    try:
        found = point.load()
    except Exception as error:  # noqa: BLE001 - a broken plugin must not take the others along
        typer.echo(f"teeny: the command `{point.name}` cannot be loaded: {error}", err=True)
        return
    if isinstance(found, typer.Typer):
        app.add_typer(found, name=point.name)
    else:
        app.command(point.name)(found)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"teeny {__version__}")
        raise typer.Exit


def _options(
    *,
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version."
        ),
    ] = False,
) -> None:
    """Options before any command."""


def compile_(
    kernel: Annotated[str, typer.Argument(metavar="MODULE_OR_FILE:KERNEL")],
    target: Annotated[
        str,
        typer.Option(
            "--target",
            "-t",
            help="A GPU architecture (sm_90), cpu or interpret.",
            autocompletion=teaching.targets,
        ),
    ],
    define: Annotated[
        list[str] | None,
        typer.Option(
            "--define",
            "-D",
            metavar="NAME=VALUE",
            help="A compile-time value, type variable or launch option: BLOCK_SIZE=1024, D=f32.",
        ),
    ] = None,
    emit: Annotated[
        str, typer.Option(help="Stages to keep and name: mlir,ttgir,llvm-ir,ptx,cubin.")
    ] = "",
    fp_fusion: Annotated[bool, typer.Option(help="Join multiplications and additions.")] = True,
    ptx_version: Annotated[str, typer.Option(help="PTX version, for example 8.4.")] = "",
    force: Annotated[bool, typer.Option("--force", help="Compile even if it is cached.")] = False,
    as_json: _Json = False,
) -> None:
    """Compile a kernel and print where its files lie. The module is imported, which runs it."""
    stages = tuple(part.strip() for part in emit.split(",") if part.strip())
    goal = kernels.parse_target(target)
    found = kernels.find_kernel(kernel)
    bindings = kernels.parse_bindings(define or [])
    instance = kernels.instance_of(found, bindings)
    if ptx_version and goal.kind != "cuda":
        raise typer.BadParameter(f"`{goal}` has no PTX", param_hint="--ptx-version")
    options = CompileOptions(
        fp_fusion, _read_ptx_version(ptx_version), tuple(s for s in stages if s != UNIT_STAGE)
    )
    made = compile_kernel(instance, goal, options=options, force=force)
    shown = stages or (LOADED[goal.kind],)
    if CUBIN in shown and CUBIN not in made.stages:
        raise E0980.error(tool="ptxas").help(
            "it comes with `pip install 'teenyc[cuda]'` (Linux); TEENYC_PTXAS names another"
        )
    if as_json:
        data = {
            "path": str(made.path),
            "stages": {stage: str(path) for stage, path in made.stages.items()},
            "metadata": made.metadata.to_json(),
        }
        typer.echo(json.dumps(data, indent=1))
    else:
        for stage in shown:
            typer.echo(made.stages[stage])


def doctor_(as_json: _Json = False) -> None:
    """Check every part of the installation and say how to mend what does not work."""
    findings = doctor.examine()
    if as_json:
        typer.echo(json.dumps([finding._asdict() for finding in findings], indent=1))
    elif sys.stdout.isatty():
        _print_table(findings)
    else:
        for row in findings:
            typer.echo(f"{row.part}: {row.state}: {row.found}")
            if row.mend and row.state != "works":
                typer.echo(f"  mend: {row.mend}")
    if not doctor.is_healthy(findings):
        raise typer.Exit(1)


def _read_ptx_version(text: str) -> int | None:
    version = parse_ptx_version(text) if text else None
    if text and version is None:
        raise E0914.error(name="--ptx-version", value=text, wanted="a PTX version").help(
            "write it as in `.version`, for example 8.4"
        )
    return version


def _print_table(findings: list[doctor.Finding]) -> None:
    table = Table("part", "state", "found", "how to mend it", highlight=False)
    for row in findings:
        mend = row.mend if row.state != "works" else ""
        # As `Text`: `teenyc[cuda]` is no markup.
        state = Text(row.state, style=_STYLES[row.state])
        table.add_row(Text(row.part), state, Text(row.found), Text(mend))
    Console().print(table)
