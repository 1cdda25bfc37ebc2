"""`teeny check`: kernels and launches of a tree, checked without a GPU and without importing it."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from teeny_compiler.check import check_paths, report, settings
from teeny_compiler.cli import kernels
from teeny_macros.diagnostics import TeenyError

_USAGE = 2
_HELP = """\
Check kernels and launches, without a GPU and without importing a module.

Each PATH is a file or a folder. Kernels are found by their decorators, names are followed through
imports, and each kernel is compiled as far as the IR for the types and values that its launches
give it. What is launched nowhere is checked with plausible ones, and errors say which.

\b
teeny check src                    errors, with the lines they are about
teeny check --bounds src           also prove that loads and stores stay inside of their arrays
teeny check --strict src           implicit casts as warnings
teeny check --format github src    annotations of a pull request

Status: 0 without errors, 1 with errors, 2 when it could not check. A comment
`# teeny: ignore[E0401]` on the line of a fault accepts it. Defaults stand in `pyproject.toml`:

\b
[tool.teeny.check]
paths = ["src"]
target = "sm_90"
strict = true
"""


def check(
    paths: Annotated[
        list[str] | None, typer.Argument(metavar="PATH...", help="Files and folders to check.")
    ] = None,
    target: Annotated[
        str, typer.Option("--target", "-t", help="A GPU architecture (sm_90) or cpu.")
    ] = "",
    form: Annotated[
        str, typer.Option("--format", "-f", help="human, concise, json or github.")
    ] = "",
    strict: Annotated[bool, typer.Option("--strict", help="Warn of implicit casts.")] = False,
    bounds: Annotated[
        bool, typer.Option("--bounds", help="Prove that accesses stay inside of their arrays.")
    ] = False,
    exclude: Annotated[
        list[str] | None,
        typer.Option("--exclude", metavar="PATTERN", help="Paths that are left out."),
    ] = None,
    importing: Annotated[
        bool,
        typer.Option("--import", help="Import the modules, for kernels made at run time."),
    ] = False,
) -> None:
    """See `_HELP`, which is what `--help` prints."""
    try:
        given = settings.read_settings()
        chosen = form or given.format
        if chosen not in report.FORMATS:
            raise typer.BadParameter(
                f"`--format` takes {', '.join(report.FORMATS)}; got `{chosen}`"
            )
        where = paths or list(given.paths)
        if not where:
            raise typer.BadParameter("say what to check: `teeny check src`")
        found = check_paths(
            where,
            kernels.parse_target(target or given.target),
            strict=strict or given.strict,
            bounds=bounds or given.bounds,
            exclude=(*(exclude or ()), *given.exclude),
            importing=importing,
        )
    except TeenyError as error:
        from teeny_macros.render import render, wants_color

        for diagnostic in error.diagnostics:
            typer.echo(render(diagnostic, color=wants_color(sys.stderr)), err=True)
        raise typer.Exit(_USAGE) from None
    from teeny_macros.render import wants_color

    for line in report.lines(found, chosen, color=wants_color(sys.stdout)):
        typer.echo(line)
    typer.echo(f"teeny: {report.last_line(found)}", err=True)
    if report.counts(found)["errors"]:
        raise typer.Exit(1)


check.__doc__ = _HELP
