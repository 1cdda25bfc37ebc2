"""`teeny bundle`: make bundles, look into them, and write what other programs need to use them."""

from __future__ import annotations

import json
import os
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from teeny_compiler.bundling.choice import (
    HINTS,
    Wanted,
    every_instance,
    instances_in,
    listed_by,
    parse_targets,
    variants,
)
from teeny_compiler.bundling.manifest import Finders, Manifest, read_manifest, wanted_by
from teeny_compiler.bundling.output import write_bytes, write_text
from teeny_compiler.cli import entries, kernels, teaching
from teeny_compiler.codes import E0915, E0970
from teeny_compiler.options import BUNDLED
from teeny_macros.artifact import STAGES
from teeny_macros.bundle import Bundle, described_row
from teeny_macros.bundle_file import SUFFIX

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from teeny_macros.bundle_file import InstanceRow, KernelRow
    from teeny_macros.target import Target

Json = Annotated[bool, typer.Option("--json", help="Print JSON for scripts.")]
File = Annotated[str, typer.Argument(metavar="FILE")]
Output = Annotated[str, typer.Option("--output", "-o", help="Where to write it; - to print it.")]
_DIGITS = 12


def make_group() -> typer.Typer:
    """The commands of `teeny bundle`."""
    group = typer.Typer(
        no_args_is_help=True,
        help="Compile kernels ahead into one file, which runs where there is no compiler.",
        epilog=teaching.examples(
            "teeny bundle build examples/vector_add.py:vector_add -D D=f32 -D BLOCK_SIZE=1024 "
            "-t sm_90,cpu -o out.teeny",
            "teeny bundle show out.teeny",
            "teeny bundle verify out.teeny --json",
            "teeny bundle header out.teeny -o kernels.h",
        ),
    )
    group.command(
        "build",
        epilog=teaching.examples(
            "teeny bundle build my_package.kernels -t sm_90,cpu -o out.teeny",
            "teeny bundle build kernels.py:softmax -D D=f32 -D D=f16 -D BLOCK=1024 -t sm_90 "
            "-o out.teeny",
        ),
    )(build)
    group.command("ls", short_help="List the kernels: instances, targets, size.")(ls)
    group.command("show", short_help="Show what a bundle is, and its instances.")(show)
    group.command("verify", short_help="Check every member against its digest.")(verify)
    group.command("extract", short_help="Write code and metadata as files.")(extract)
    group.command("stub", short_help="Write a typed stub (.pyi) of the kernels.")(stub)
    group.command("header", short_help="Write a C header with the launch ABI.")(header)
    return group


def build(
    what: Annotated[
        list[str],
        typer.Argument(
            metavar="WHAT...",
            help="Modules or files (all that they offer), MODULE_OR_FILE:KERNEL, a function that "
            "returns instances (MODULE_OR_FILE:FUNCTION), or a manifest (.toml).",
        ),
    ],
    output: Annotated[str, typer.Option("--output", "-o", help="The bundle: out.teeny.")],
    target: Annotated[
        list[str] | None,
        typer.Option(
            "--target",
            "-t",
            help="GPU architectures and CPU levels, with commas: sm_80,sm_90,x86-64-v3,aarch64; "
            "cpu is x86-64, x86-64-v3 and aarch64.",
        ),
    ] = None,
    define: Annotated[
        list[str] | None,
        typer.Option(
            "--define",
            "-D",
            metavar="NAME=VALUE",
            help="For MODULE:KERNEL, as of `teeny compile`, or an argument of MODULE:FUNCTION. "
            "A name given again is one more choice.",
        ),
    ] = None,
    sealed: Annotated[
        bool, typer.Option("--sealed", help="What it lacks is an error, never compiled.")
    ] = False,
    hints: Annotated[
        str, typer.Option(help="usual: also faster variants for aligned arguments; or none.")
    ] = HINTS[0],
    cubin: Annotated[
        bool, typer.Option("--cubin", help="Keep machine code beside the PTX (runs ptxas).")
    ] = False,
    stage: Annotated[str, typer.Option(help="Stages to keep as well: mlir,ttgir,llvm-ir.")] = "",
    name: Annotated[str, typer.Option(help="The name of the bundle; else the file's.")] = "",
    as_json: Json = False,
) -> None:
    """Compile instances of kernels into one file. The modules are imported, which runs them.

    A module lists what to bundle: bundle_instances = [vector_add.instantiate(D=f32, BLOCK=1024)].
    """
    if hints not in HINTS:
        raise typer.BadParameter(f"{hints!r} is none of {', '.join(HINTS)}", param_hint="--hints")
    targets = parse_targets(target or ())
    stages = tuple(part.strip() for part in stage.split(",") if part.strip())
    wanted, manifest = _wanted(what, targets, define or [], hints)
    _require_stages(stages, {one for row in wanted for one in row.targets})
    from teeny_compiler.bundling.build import write_bundle

    stem = os.path.basename(output).removesuffix(SUFFIX)
    made = write_bundle(
        wanted,
        output,
        name=name or (manifest.name if manifest else stem),
        sealed=sealed or bool(manifest and manifest.sealed),
        stages=stages,
        cubin=cubin,
    )
    if as_json:
        typer.echo(json.dumps(made._asdict(), indent=1))
        return
    typer.echo(made.path)
    typer.echo(
        f"teeny: {_count(made.instances, 'instance')} of {_count(made.kernels, 'kernel')}, "
        f"{entries.show_size(made.size)}, sha256 {made.digest[:_DIGITS]}",
        err=True,
    )


def _wanted(
    what: Sequence[str], targets: Sequence[Target], define: Sequence[str], hints: str
) -> tuple[list[Wanted], Manifest | None]:
    find_kernel = partial(kernels.find_kernel, tuned=True)
    find = Finders(kernels.load_module, find_kernel, kernels.parse_value)
    found: list[Wanted] = []
    manifest: Manifest | None = None
    for given in what:
        if given.endswith(".toml"):
            manifest = read_manifest(given)
            found += wanted_by(manifest, targets or manifest.targets, find)
            continue
        if not kernels.names_kernel(given):
            if define:
                raise typer.BadParameter(
                    f"`{given}` is a module, which says itself what it offers; -D goes with one "
                    f"kernel of it: `{given}:KERNEL`",
                    param_hint="-D",
                )
            listed = instances_in(kernels.load_module(given), targets)
        elif (function := kernels.find_function(given)) is not None:
            arguments = kernels.parse_arguments(define)
            listed = list(listed_by(given, function, arguments, targets))
        else:
            kernel = kernels.find_kernel(given, tuned=True)
            choices: dict[str, list[Any]] = {}
            for key, value in map(kernels.parse_binding, define):
                choices.setdefault(key, []).append(value)
            fixed = hasattr(kernel, "with_hints")
            chosen = [kernel] if fixed else every_instance(kernel, **choices)
            listed = [Wanted(one, tuple(targets)) for one in chosen]
        found += [
            Wanted(one, row.targets) for row in listed for one in variants(row.instance, hints)
        ]
    if not all(row.targets for row in found):
        raise E0970.error(module=", ".join(what)).help("name a target: `--target sm_90,cpu`")
    return found, manifest


def _require_stages(stages: Sequence[str], targets: Iterable[Target]) -> None:
    """Raise E0915 for a stage that none of the targets has."""
    goals = sorted(targets)
    possible = {stage for goal in goals for stage in BUNDLED[goal.kind]}
    for stage in stages:
        if stage not in possible:
            names = ", ".join(known for known in STAGES if known in possible)
            raise E0915.error(stage=stage, target=goals[0]).help(f"one of {names}")


# --- looking --------------------------------------------------------------------------------------


def ls(file: File, as_json: Json = False) -> None:
    """List the kernels of a bundle: instances, targets, size of their code."""
    bundle = Bundle(file)
    if as_json:
        rows = [
            {
                "kernel": row.name,
                "module": row.module,
                "instances": len(row.instances),
                "targets": _targets(row),
                "bytes": _bytes(bundle, row),
            }
            for row in bundle.kernels
        ]
        typer.echo(json.dumps(rows, indent=1))
        return
    for row in bundle.kernels:
        typer.echo(
            f"{row.name}  {_count(len(row.instances), 'instance')}  {', '.join(_targets(row))}  "
            f"{entries.show_size(_bytes(bundle, row))}  {row.module}"
        )


def show(
    file: File,
    kernel: Annotated[str, typer.Argument(metavar="[KERNEL]")] = "",
    as_json: Json = False,
) -> None:
    """Show what a bundle is, and every instance of its kernels, or of one."""
    bundle = Bundle(file)
    rows = [bundle.row(kernel)] if kernel else list(bundle.kernels)
    if as_json:
        data = {
            "path": bundle.path,
            "name": bundle.name,
            "digest": bundle.digest,
            "sealed": bundle.sealed,
            "dsl": bundle.dsl,
            "versions": bundle.versions,
            "kernels": [row.to_json() for row in rows],
        }
        typer.echo(json.dumps(data, indent=1))
        return
    typer.echo(f"name: {bundle.name}{', sealed' if bundle.sealed else ''}")
    typer.echo(f"digest: {bundle.digest}")
    typer.echo("made by: " + ", ".join(f"{k} {v}" for k, v in sorted(bundle.versions.items())))
    for row in rows:
        typer.echo("\n" + "  ".join(part for part in (_title(row), row.doc) if part))
        for instance in row.instances:
            typer.echo(f"  {instance.id[:_DIGITS]}  {described_row(instance)}")
            hints = _hints(instance)
            if hints:
                typer.echo(f"    {hints}")
            for target, code in instance.code.items():
                size = entries.show_size(bundle.members[code.file][0])
                stages = "".join(f", {stage}" for stage in code.stages)
                typer.echo(f"    {target}: {_facts(code.metadata)}, {size}{stages}")


def verify(file: File, as_json: Json = False) -> None:
    """Check every member against its digest; a damaged bundle ends with status 1."""
    bundle = Bundle(file)
    faults = bundle.faults()
    if as_json:
        data = {"digest": bundle.digest, "members": len(bundle.members), "faults": faults}
        typer.echo(json.dumps(data, indent=1))
    else:
        for fault in faults:
            typer.echo(fault)
        members, found = _count(len(bundle.members), "member"), _count(len(faults), "fault")
        typer.echo(f"teeny: {members}, {found}", err=True)
    if faults:
        raise typer.Exit(1)


def extract(
    file: File,
    output: Annotated[str, typer.Option("--output", "-o", help="The folder.")] = ".",
    kernel: Annotated[str, typer.Option(help="Only this kernel.")] = "",
    target: Annotated[str, typer.Option("--target", "-t", help="Only these targets.")] = "",
) -> None:
    """Write code and metadata as files: KERNEL/TARGET/ID.ptx. Prints their paths."""
    bundle = Bundle(file)
    only = {str(one) for one in parse_targets([target])} if target else None
    for row in [bundle.row(kernel)] if kernel else bundle.kernels:
        for instance in row.instances:
            for name, code in instance.code.items():
                if only is not None and name not in only:
                    continue
                folder = Path(output, row.name, name.partition(":")[2])
                stem = instance.id[:_DIGITS]
                for member in (code.file, *code.stages.values()):
                    path = folder / f"{stem}{Path(member).suffix}"
                    write_bytes(path, bundle.read(member))
                    typer.echo(path)
                metadata = json.dumps(dict(code.metadata), indent=1, sort_keys=True)
                write_text(folder / f"{stem}.metadata", metadata + "\n")


def stub(
    file: File,
    output: Output = "-",
    module: Annotated[
        bool, typer.Option("--module", help="Write the module itself too, as a .py beside it.")
    ] = False,
) -> None:
    """Write a typed stub (.pyi): the kernels as type checkers and editors see them."""
    from teeny_compiler.bundling.stub import loader_text, stub_text

    bundle = Bundle(file)
    _put(output, stub_text(bundle))
    if module and output != "-":
        _put(os.path.splitext(output)[0] + ".py", loader_text(bundle))


def header(file: File, output: Output = "-") -> None:
    """Write a C header with the launch ABI: parameters, scratch and shared memory, grid rules."""
    from teeny_compiler.bundling.header import header_text

    _put(output, header_text(Bundle(file)))


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" + ("" if number == 1 else "s")


def _put(output: str, text: str) -> None:
    if output == "-":
        sys.stdout.write(text)
    else:
        write_text(output, text)
        typer.echo(output)


def _title(row: KernelRow) -> str:
    """The kernel's name and where it was defined, once where they say the same."""
    known = row.qualified.rpartition(":")[2].rpartition(".")[2]
    return row.qualified if known == row.name else f"{row.name}  ({row.qualified})"


def _targets(row: KernelRow) -> list[str]:
    return sorted({target for instance in row.instances for target in instance.code})


def _bytes(bundle: Bundle, row: KernelRow) -> int:
    files = {code.file for instance in row.instances for code in instance.code.values()}
    return sum(bundle.members[name][0] for name in files)


def _hints(instance: InstanceRow) -> str:
    parts = []
    if instance.divisible_by_16:
        parts.append(f"multiples of 16: {', '.join(instance.divisible_by_16)}")
    if instance.equal_to_1:
        parts.append(f"1: {', '.join(instance.equal_to_1)}")
    return "; ".join(parts)


def _facts(metadata: Any) -> str:
    if metadata["ptx_version"]:
        version = metadata["ptx_version"]
        return (
            f"{metadata['num_warps']} warps, {metadata['shared_bytes']} bytes shared, "
            f"PTX {version // 10}.{version % 10}"
        )
    return metadata["features"].replace(",", " ") or "no features needed"
