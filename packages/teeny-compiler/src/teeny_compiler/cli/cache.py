"""`teeny cache`: what is in the cache, why a kernel is not, and taking things out of it."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from teeny_compiler import log
from teeny_compiler.bundling.choice import variants
from teeny_compiler.cache import Cache, default_cache_dir, key, layers, limits, remote, survey
from teeny_compiler.cli import entries, kernels, teaching
from teeny_compiler.codes import E0920
from teeny_compiler.compiler import Compiler
from teeny_compiler.options import CompileOptions
from teeny_compiler.tuning import store

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

Json = Annotated[bool, typer.Option("--json", help="Print JSON for scripts.")]
_KEY_DIGITS = 12


def make_group() -> typer.Typer:
    """The commands of `teeny cache`."""
    group = typer.Typer(
        no_args_is_help=True,
        help="Look into the cache, and clean it.",
        epilog=teaching.examples(
            "teeny cache ls",
            "teeny cache why-miss kernels.py:softmax -t sm_90 -D D=f32 -D BLOCK=1024",
            "teeny cache gc --max-size 2GiB --max-age 30d",
            "teeny cache verify --json",
        ),
    )
    group.command("path", short_help="Print the directory of the cache.")(path)
    group.command("ls", short_help="List the entries, the one used last at the end.")(ls)
    group.command("show", short_help="Show what an entry was made from, and its files.")(show)
    group.command("why-miss", short_help="Say why a kernel is not cached.")(why_miss)
    group.command("verify", short_help="Check every file against its digest.")(verify)
    group.command("gc", short_help="Remove entries beyond a size or an age.")(gc)
    group.command("clear")(clear)
    group.command("tunings", short_help="List what tuners measured.")(tunings)
    return group


def path(as_json: Json = False) -> None:
    """Print the directory of the cache; with --json its layers, remote and limits as well."""
    root = default_cache_dir()
    if not as_json:
        typer.echo(root)
        return
    shared, bounds = remote.configured(), limits.configured()
    data = {
        "path": str(root),
        "layers": [layer.path for layer in layers.open_layers()],
        "remote": None if shared is None else {"url": shared.url, "write": shared.can_write},
        "max_bytes": bounds.size,
        "max_age_seconds": bounds.age,
    }
    typer.echo(json.dumps(data, indent=1))


def ls(as_json: Json = False) -> None:
    """List the entries, the one used last at the end: key, size, hits, last use, compile time."""
    records = survey.survey(_cache())
    if as_json:
        typer.echo(json.dumps([_to_json(record) for record in records], indent=1))
        return
    now = time.time()
    for record in records:
        used = entries.show_age(now - record.last_used)
        hits = f"{record.hits:>4} " + ("hit " if record.hits == 1 else "hits")
        typer.echo(
            f"{record.key[:_KEY_DIGITS]}  {entries.show_size(record.size):>10}  "
            f"{hits}  {used:>4} ago  {record.seconds * 1e3:>6.0f} ms  "
            f"{record.target}  {record.kernel}"
        )
    total = entries.show_size(sum(record.size for record in records))
    typer.echo(f"teeny: {_count(len(records))}, {total}", err=True)


def show(
    name: Annotated[
        str, typer.Argument(metavar="KEY_OR_KERNEL", autocompletion=teaching.cache_keys)
    ],
    as_json: Json = False,
) -> None:
    """Show one entry: what it was made from, its files, and how it was used.

    The first digits of a key are enough, or the name of a kernel that has one entry alone.
    """
    cache = _cache()
    record = survey.read_record(cache, entries.find_entry(cache, name))
    if record is None:
        raise typer.Exit(1)  # somebody removed it just now
    if as_json:
        typer.echo(json.dumps(_to_json(record), indent=1))
        return
    typer.echo(f"key: {record.key}")
    typer.echo(f"folder: {cache.folder(record.key)}")
    for field, value in _flat(record.inputs):
        typer.echo(f"{field}: {value}")
    typer.echo(f"compiled in: {record.seconds * 1e3:.0f} ms, {_date(record.created)}")
    typer.echo(f"hits: {record.hits}, last used {_date(record.last_used)}")
    for file, size in record.files.items():
        typer.echo(f"file: {file}, {entries.show_size(size)}")


def why_miss(
    kernel: Annotated[str, typer.Argument(metavar="MODULE_OR_FILE:KERNEL")],
    target: Annotated[str, typer.Option("--target", "-t", help="As of `teeny compile`.")],
    define: Annotated[
        list[str] | None,
        typer.Option("--define", "-D", metavar="NAME=VALUE", help="As of `teeny compile`."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Say what differs between a kernel and the most similar entry. The module is imported.

    Launches know of aligned pointers and the like; an entry with such knowledge counts as cached.
    """
    bindings = kernels.parse_bindings(define or [])
    instance = kernels.instance_of(kernels.find_kernel(kernel), bindings)
    goal = kernels.parse_target(target)
    cache = _cache()
    asked = variants(instance) if hasattr(instance, "with_hints") else [instance]
    inputs = [(one, Compiler(cache).inputs(one, goal, CompileOptions())) for one in asked]
    hits = [(key.key_of(row), one) for one, row in inputs if cache.read(key.key_of(row))]
    if hits:
        if as_json:
            typer.echo(json.dumps({"key": hits[0][0], "hit": True, "differences": []}, indent=1))
        for name, one in hits if not as_json else ():
            typer.echo(f"it is cached: {name[:_KEY_DIGITS]}{_knowing(one)}")
        return
    records = survey.survey(cache)
    near = _nearest([(row, _text(one)) for one, row in inputs], cache, records)
    if as_json:
        rows = [{"input": name, "wanted": now, "found": then} for name, now, then in near.inputs]
        data = {"key": key.key_of(inputs[0][1]), "hit": False, "differences": rows}
        typer.echo(json.dumps({**data, "nearest": near.key, "text": near.lines}, indent=1))
    elif not near.key:
        typer.echo(f"`{instance.name}` was never compiled into this cache")
    else:
        _tell(near)


def verify(as_json: Json = False) -> None:
    """Check every file of every entry against its digest; damaged ones end with status 1."""
    cache = _cache()
    names = cache.list_keys()
    faults = {name: fault for name in names if (fault := cache.fault(name))}
    if as_json:
        typer.echo(json.dumps({"entries": len(names), "damaged": faults}, indent=1))
    else:
        for name, fault in faults.items():
            typer.echo(f"{name[:_KEY_DIGITS]}: {fault}")
        typer.echo(f"teeny: {_count(len(names))}, {len(faults)} damaged", err=True)
    if faults:
        typer.echo("teeny: they are compiled again when they are needed", err=True)
        raise typer.Exit(1)


def gc(
    max_size: Annotated[str, typer.Option(help="What may stay: 500M, 2GiB.")] = "",
    max_age: Annotated[str, typer.Option(help="Unused for longer goes: 12h, 30d.")] = "",
    as_json: Json = False,
) -> None:
    """Remove entries beyond a size or age, those that were used least recently first."""
    if not max_size and not max_age:
        raise typer.BadParameter("give `--max-size`, `--max-age` or both")
    cache = _cache()
    size = entries.parse_size(max_size) if max_size else None
    age = entries.parse_age(max_age) if max_age else None
    _remove(cache, survey.beyond(survey.survey(cache), time.time(), size, age), as_json=as_json)


def clear(
    with_tunings: Annotated[
        bool, typer.Option("--tunings", help="Forget what tuners measured, too.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Remove every entry. Kernels are compiled again when they are needed."""
    cache = _cache()
    if with_tunings:
        count = store.Store(cache).forget()
        typer.echo(f"teeny: forgot the times of {count} configs", err=True)
    _remove(cache, survey.survey(cache), as_json=as_json)


def tunings(
    kernel: Annotated[str, typer.Argument(metavar="[KERNEL]")] = "", as_json: Json = False
) -> None:
    """List what tuners measured: kernel, device, key, the fastest config and its time."""
    rows = store.Store(_cache()).records([kernel] if kernel else None)
    if as_json:
        typer.echo(json.dumps(rows, indent=1))
        return
    for row in rows:
        found = store.best_of(row)
        key_text = ", ".join(f"{name}={value}" for name, value in row["key"])
        best = "no config works" if found is None else f"{found.ms:.4g} ms  {found.config}"
        typer.echo(f"{row['kernel']}  {row['device']}  {key_text or '-'}  {best}")
    configs = sum(len(row["rows"]) for row in rows)
    count = f"{configs} {'config' if configs == 1 else 'configs'}"
    keys = f"{len(rows)} {'key' if len(rows) == 1 else 'keys'}"
    typer.echo(f"teeny: {count} measured for {keys}", err=True)


def _cache() -> Cache:
    root = default_cache_dir()
    if root.exists() and not root.is_dir():
        found = E0920.warn(path=root, reason="it is not a directory")
        found.helps.append("name a directory of your own: `export TEENYC_CACHE_DIR=...`")
        log.warn(found)
    return Cache(root)


def _remove(cache: Cache, records: Iterable[survey.Record], *, as_json: bool) -> None:
    gone: list[survey.Record] = []
    kept: list[survey.Record] = []
    for record in records:
        (gone if cache.remove(record.key) else kept).append(record)
    freed = sum(record.size for record in gone)
    if as_json:
        typer.echo(json.dumps({"removed": [record.key for record in gone], "bytes": freed}))
    else:
        typer.echo(f"teeny: removed {_count(len(gone))}, {entries.show_size(freed)}", err=True)
    if kept:
        typer.echo(f"teeny: {_count(len(kept))} cannot be removed from {cache.root}", err=True)
        raise typer.Exit(1)


class _Near(NamedTuple):
    """An entry, the inputs in which it differs, and the lines that differ in its text."""

    key: str = ""
    inputs: tuple[tuple[str, Any, Any], ...] = ()
    lines: tuple[str, ...] = ()


def _nearest(
    wanted: Iterable[tuple[Any, str]], cache: Cache, records: Sequence[survey.Record]
) -> _Near:
    """The entry of the same kernel that differs least, the newest of those."""
    found: list[_Near] = []
    for inputs, text in wanted:
        for record in reversed(records):
            if record.kernel == inputs["kernel"]:
                rows = tuple(survey.differences(inputs, record))
                lines = _changed(survey.text_of(cache, record.key), text)
                found.append(_Near(record.key, rows, lines))
    return min(found, key=lambda near: (len(near.inputs), len(near.lines)), default=_Near())


def _changed(before: str, now: str) -> tuple[str, ...]:
    """The lines of two texts that differ, as `diff` marks them; none where one is not known."""
    from difflib import unified_diff

    if not before or not now:
        return ()
    lines = list(unified_diff(before.splitlines(), now.splitlines(), lineterm="", n=0))[2:]
    return tuple(line for line in lines if not line.startswith("@@"))


def _tell(near: _Near) -> None:
    for name, now, then in near.inputs:
        if name != "id" or not near.lines:
            typer.echo(f"{name}: wanted {now}, and the most similar entry has {then}")
    if near.lines:
        typer.echo(f"the text is not that of {near.key[:_KEY_DIGITS]}, the most similar entry:")
    for line in near.lines:
        typer.echo(f"  {line}")


def _text(instance: Any) -> str:
    return str(instance.unit(None, "").body)


def _knowing(instance: Any) -> str:
    """What an instance knows of its arguments."""
    asked = getattr(instance, "specialization", None)
    names = () if asked is None else asked.divisible_by_16
    return f", for multiples of 16 in {', '.join(names)}" if names else ""


def _to_json(record: survey.Record) -> dict[str, Any]:
    return {**record._asdict(), "inputs": dict(record.inputs), "files": dict(record.files)}


def _flat(inputs: Any) -> list[tuple[str, Any]]:
    rows: list[tuple[str, Any]] = []
    for name, value in inputs.items():
        if isinstance(value, dict):
            rows += [(f"{name}.{inner}", one) for inner, one in value.items()]
        else:
            rows.append((name, value))
    return rows


def _date(seconds: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(seconds))


def _count(number: int) -> str:
    return "1 entry" if number == 1 else f"{number} entries"
