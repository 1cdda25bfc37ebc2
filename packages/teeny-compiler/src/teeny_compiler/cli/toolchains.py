"""`teeny toolchain`: install teenyc apart from your packages, choose one, remove one."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any

import typer

from teeny_compiler import install as installing
from teeny_compiler import toolchain, versions
from teeny_compiler.cli import teaching

if TYPE_CHECKING:
    from teeny_compiler.toolchain import Toolchain

Json = Annotated[bool, typer.Option("--json", help="Print JSON for scripts.")]
_EPILOG = """Which teenyc is used: TEENYC_PATH; else TEENYC_TOOLCHAIN or the default chosen here;
else the only one among this environment's and the toolchains. `teeny toolchain which` says why.
"""


def make_group() -> typer.Typer:
    """The commands of `teeny toolchain`."""
    group = typer.Typer(
        no_args_is_help=True,
        help="Install teenyc apart from your packages, and choose among installs.",
        epilog=_EPILOG,
    )
    group.command(
        "install",
        short_help="Make a toolchain: teenyc in an environment of its own.",
        epilog=teaching.examples(
            "teeny toolchain install",
            "teeny toolchain install 0.1.0 --name teenyc-old",
            "pip download 'teenyc[cuda]' -d wheels; teeny toolchain install --from wheels",
        ),
    )(install)
    group.command("list")(list_)
    group.command("which", short_help="Print the teenyc that is used, and why.")(which)
    group.command("default", short_help="Choose the toolchain of every later run.")(default)
    group.command("remove")(remove)
    return group


def install(
    version: Annotated[str, typer.Argument(metavar="[VERSION]")] = "",
    name: Annotated[str, typer.Option(help="Its name; `teenyc-VERSION` without it.")] = "",
    source: Annotated[
        str,
        typer.Option(
            "--from", metavar="FOLDER", help="Take all wheels from here, none from pip's index."
        ),
    ] = "",
    cuda: Annotated[
        bool, typer.Option(help="With Triton, which compiles for GPUs (hundreds of MB).")
    ] = True,
    default: Annotated[
        bool, typer.Option(help="Make it the default when none is chosen yet.")
    ] = True,
    as_json: Json = False,
) -> None:
    """Make a toolchain: an environment of its own with teenyc, filled by pip from its index.

    Without VERSION it is the latest. An install that is interrupted leaves nothing.
    """
    wanted = installing.Wanted(version, name, source, cuda)
    made = installing.install(wanted, quiet=as_json)
    chosen = default and toolchain.default_name() is None
    if chosen:
        toolchain.set_default(made.name)
    if as_json:
        typer.echo(json.dumps({**_row(made), "default": chosen}, indent=1))
        return
    typer.echo(made.path)
    said = "it is the default now" if chosen else f"use it: `teeny toolchain default {made.name}`"
    typer.echo(f"teeny: installed {made.name}; {said}", err=True)


def list_(as_json: Json = False) -> None:
    """List the named toolchains; the default is marked with a star."""
    default = toolchain.default_name()
    chains = toolchain.list_toolchains()
    if as_json:
        rows = [{**_row(chain), "default": chain.name == default} for chain in chains]
        typer.echo(json.dumps(rows, indent=1))
        return
    for chain in chains:
        held = ", ".join(f"{name} {version}" for name, version in versions.versions_of(chain))
        mark = "*" if chain.name == default else " "
        typer.echo(f"{mark} {chain.name}  {held}  {chain.path}")
    if not chains:
        typer.echo("teeny: none yet; `teeny toolchain install` makes one", err=True)


def which(as_json: Json = False) -> None:
    """Print the teenyc that is used here and, on standard error, why it is that one."""
    chain = toolchain.find_teenyc()
    if as_json:
        typer.echo(json.dumps({**_row(chain), "origin": chain.origin}, indent=1))
        return
    typer.echo(chain.path)
    typer.echo(f"teeny: chosen by {chain.origin}", err=True)


def default(
    name: Annotated[
        str, typer.Argument(metavar="[NAME]", autocompletion=teaching.toolchain_names)
    ] = "",
    as_json: Json = False,
) -> None:
    """Choose the toolchain that every later run uses; without NAME, print which one is chosen."""
    chosen = name or toolchain.default_name()
    if not chosen:
        typer.echo("null" if as_json else "teeny: none is chosen", err=not as_json)
        return
    chain = toolchain.set_default(name) if name else toolchain.named(chosen)
    typer.echo(json.dumps(_row(chain), indent=1) if as_json else chain.path)


def remove(
    name: Annotated[str, typer.Argument(metavar="NAME", autocompletion=teaching.toolchain_names)],
    as_json: Json = False,
) -> None:
    """Remove a toolchain. Compiled kernels stay in the cache and still run."""
    was_default = installing.remove(name)
    if as_json:
        typer.echo(json.dumps({"name": name, "was_default": was_default}))
        return
    more = "; it was the default, and no other is chosen" if was_default else ""
    typer.echo(f"teeny: removed {name}{more}", err=True)


def _row(chain: Toolchain) -> dict[str, Any]:
    return {
        "name": chain.name,
        "path": chain.path,
        "versions": dict(versions.versions_of(chain)),
    }
