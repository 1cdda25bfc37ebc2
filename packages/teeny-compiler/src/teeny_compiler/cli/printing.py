"""How `teeny expand`, `show`, `cost` and `diff` look: colored in a terminal, plain in a pipe."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

import typer
from rich.console import Console
from rich.syntax import Syntax
from rich.text import Text

from teeny_compiler.cli.entries import show_size
from teeny_macros.render import wants_color

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from teeny_compiler.reading.compare import Difference
    from teeny_compiler.reading.cost import Cost
    from teeny_compiler.reading.show import Row
    from teeny_macros.instance import KernelInstance

_LEXERS = {"mlir": "llvm", "ttgir": "llvm", "llvm-ir": "llvm", "ptx": "ptx", "asm": "gas"}
_THEME = "ansi_dark"
_LABEL = 16


def _console() -> Console | None:
    """A console for a terminal that may be colored; None where plain text is wanted."""
    return Console(soft_wrap=True) if wants_color(sys.stdout) else None


# --- expand ---------------------------------------------------------------------------------------


def print_expanded(kernel: Any, instance: KernelInstance[...] | None, *, as_json: bool) -> None:
    """The kernel's parameters and text and, of an instance, the modules of its unit."""
    parameters = [
        {
            "name": parameter.name,
            "kind": parameter.kind,
            "dtype": parameter.dtype,
            "optional": parameter.is_optional,
        }
        for parameter in kernel.parameters
    ]
    modules = _modules(kernel, instance)
    if as_json:
        data: dict[str, Any] = {"kernel": kernel.name, "parameters": parameters}
        data["modules"] = [{"name": name, "text": text} for name, text in modules]
        if instance is not None:
            asked = instance.specialization
            data["id"] = instance.id
            data["types"] = {name: type_.text for name, type_ in asked.types}
            data["constants"] = {name: repr(value) for name, value in asked.constants}
            data["options"] = instance.options._asdict()
        typer.echo(json.dumps(data, indent=1))
        return
    lines = [f"# kernel {kernel.name}"]
    lines += [f"#   {_parameter(row)}" for row in parameters]
    if instance is not None:
        lines.append(f"# id {instance.id}")
    for name, text in modules:
        lines += [f"\n# module {name}", text.rstrip("\n")]
    text = "\n".join(lines)
    console = _console()
    if console is None:
        typer.echo(text)
    else:
        console.print(Syntax(text, "python", theme=_THEME, background_color="default"))


def _modules(kernel: Any, instance: KernelInstance[...] | None) -> list[tuple[str, str]]:
    if instance is None:
        return [("kernel", kernel.kernel_source)]
    unit = instance.unit(None, "")
    return [(module.name, module.text) for module in unit.modules]


def _parameter(row: Mapping[str, Any]) -> str:
    what = {"pointer": "pointer to ", "const": "compile-time ", "untyped": ""}.get(row["kind"], "")
    dtype = row["dtype"] or ("value" if row["kind"] == "const" else "what the launch gives")
    return f"{row['name']}: {what}{dtype}" + (", or None" if row["optional"] else "")


# --- show and diff --------------------------------------------------------------------------------


def print_stage(stage: str, rows: Sequence[Row]) -> None:
    """The lines of a stage; those of the source stand out."""
    console = _console()
    if console is None:
        typer.echo("\n".join(row.text for row in rows))
        return
    syntax = Syntax("", _LEXERS.get(stage, "text"), theme=_THEME, background_color="default")
    for row in rows:
        if row.is_source:
            console.print(Text(row.text, style="bold cyan"))
        else:
            shown = syntax.highlight(row.text)
            shown.rstrip()
            console.print(shown)


def print_difference(found: Difference) -> None:
    """A unified diff, and below it what the metadata say differently."""
    console = _console()
    styles = {"+": "green", "-": "red", "@": "cyan"}
    for line in found.lines:
        if console is None:
            typer.echo(line)
        else:
            console.print(Text(line, style=styles.get(line[:1], "")))
    for name, (left, right) in found.facts.items():
        typer.echo(f"{name}: {left} -> {right}")
    if found.is_empty:
        typer.echo("teeny: no difference", err=True)
    else:
        typer.echo(f"teeny: {found.removed} lines go, {found.added} come", err=True)


# --- cost -----------------------------------------------------------------------------------------


def print_cost(cost: Cost) -> None:
    """One target's cost as lines of name and value."""
    metadata = cost.artifact.metadata
    console = _console()
    title = f"{metadata.kernel} for {cost.artifact.target}"
    if console is None:
        typer.echo(title)
    else:
        console.print(Text(title, style="bold"))
    for name, value in _cost_rows(cost):
        typer.echo(f"  {name:{_LABEL}}{value}")
    for note in cost.notes:
        if console is None:
            typer.echo(f"  {'note':{_LABEL}}{note}")
        else:
            console.print(Text(f"  {'note':{_LABEL}}{note}", style="yellow"))


def _cost_rows(cost: Cost) -> Iterable[tuple[str, str]]:
    metadata, counts = cost.artifact.metadata, cost.counts
    assembly, fit, found = cost.assembly, cost.occupancy, cost.accesses
    if assembly is None or fit is None or found is None:
        yield "CPU features", metadata.features.replace(",", " ") or "none needed"
        yield "scratch", f"{show_size(metadata.arena_bytes)} a thread"
        yield "one program", f"about {_time(metadata.work * 1e-9)}, if each loop has 16 turns"
    else:
        clusters = f", clusters of {metadata.num_ctas}" if metadata.num_ctas > 1 else ""
        yield "threads", f"{metadata.threads_per_block} a block{clusters}"
        spilled = "no spills"
        if assembly.spill_stores or assembly.spill_loads:
            spilled = f"{assembly.spill_stores} bytes spilled, {assembly.spill_loads} read back"
        yield "registers", f"{assembly.registers} a thread, {spilled}"
        shared = metadata.shared_bytes + assembly.static_shared
        yield "shared memory", f"{shared} bytes a block"
        blocks = f"{fit.blocks} block{'' if fit.blocks == 1 else 's'}, {fit.warps} warps"
        share = f"on a multiprocessor ({fit.share:.0%}), limited by {fit.limited_by}"
        yield "occupancy", f"{blocks} {share}"
        for name, widths in (
            ("loads", found.loads), ("stores", found.stores), ("copies", found.copies),
        ):  # fmt: skip
            if widths:
                shown = ", ".join(f"{number} of {width} bytes" for width, number in widths.items())
                yield name, f"{shown} a thread"
        if found.bulk:
            yield "tiles", f"{found.bulk} moved by the hardware"
        if found.matrix:
            yield "tensor cores", ", ".join(f"{n} {name}" for name, n in found.matrix.items())
    yield "reads", f"{show_size(counts.read)} a program"
    yield "writes", f"{show_size(counts.written)} a program"
    dots = "".join(f", {_number(work)} in dots of {kind}" for kind, work in counts.dots)
    yield "operations", f"{_number(counts.vector)} on floats{dots} a program"
    if counts.bytes:
        yield "intensity", f"{counts.flops / counts.bytes:.2f} operations a byte"
    line = cost.roofline
    if line is not None:
        whole = f"all {line.programs} programs" if line.programs else "one program alone"
        parts = f"memory {_time(line.memory)} without caches, arithmetic {_time(line.arithmetic)}"
        yield "roofline", f"{_time(line.seconds)} for {whole} on {line.card}: {parts}"
    if assembly is not None:
        for warning in assembly.warnings:
            yield "ptxas", warning


def _number(value: int) -> str:
    for unit, size in (("G", 10**9), ("M", 10**6), ("K", 10**3)):
        if value >= 10 * size:
            return f"{value / size:.1f} {unit}"
    return str(value)


def _time(seconds: float) -> str:
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.2f} {unit}"
    return f"{seconds / 1e-9:.2f} ns"
