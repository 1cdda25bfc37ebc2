"""Building a bundle: compile every instance for every target, and write one file.

Nothing of the machine goes into it: no time, path, user, or version of Python.
"""

from __future__ import annotations

import json
import os
from typing import IO, TYPE_CHECKING, Any, NamedTuple

from teeny_compiler import log
from teeny_compiler.bundling.choice import Wanted, each_instance, parse_targets, variants
from teeny_compiler.bundling.output import writing
from teeny_compiler.codes import E0970, E0973, E0980
from teeny_compiler.options import LOADED, CompileOptions
from teeny_macros import bundle_file
from teeny_macros.artifact import SUFFIXES
from teeny_macros.bundle import base_id, text_digest
from teeny_macros.bundle_file import CodeRow, Index, InstanceRow, KernelRow
from teeny_macros.bundled import constant_text, parameter_json
from teeny_macros.diagnostics import TeenyError
from teeny_macros.unit import LANGUAGE

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from teeny_compiler.bundling.choice import Instance
    from teeny_compiler.progress import Report
    from teeny_macros.artifact import Artifact
    from teeny_macros.kernel import Kernel
    from teeny_macros.target import Target

_SHOWN = 8


class Built(NamedTuple):
    """A bundle that was written: its digest, and how much it holds."""

    path: str
    digest: str
    kernels: int
    instances: int
    size: int


class _Compiled(NamedTuple):
    wanted: Wanted
    artifacts: tuple[Artifact, ...]


def build_bundle(
    instances: Iterable[Instance | Kernel[...]],
    path: str | os.PathLike[str],
    *,
    targets: Sequence[str] = ("cpu",),
    sealed: bool = False,
    hints: str = "usual",
    cubin: bool = False,
    name: str = "",
    progress: Report | bool = True,
) -> Built:
    """Compile instances for every target into the bundle at `path`.

    A kernel with nothing to fix may stand for its only instance.

    `targets` are GPU architectures and CPU levels (`sm_90`, `x86-64-v3`; `cpu` is x86-64, x86-64-v3
    and aarch64). In a `sealed` bundle what is missing is an error at the launch, never compiled.
    `hints="none"` leaves out the faster variants for aligned arguments. `cubin` keeps machine code
    beside PTX, made by Triton's ptxas: nothing is compiled where it is loaded. `name` is by default
    the file's.

    Raises:
        ToolchainError: E0970 without any instance or target, E0972 for a target of one machine
            alone, E0973 when something cannot be compiled, E0980 without a ptxas for the cubins.
            LaunchError: E1040.
    """
    goals = parse_targets(targets)
    stem = os.path.basename(os.fspath(path)).removesuffix(bundle_file.SUFFIX)
    listed = each_instance(stem, list(instances))
    wanted = [Wanted(one, goals) for each in listed for one in variants(each, hints)]
    return write_bundle(
        wanted, path, name=name or stem, sealed=sealed, cubin=cubin, progress=progress
    )


def write_bundle(
    wanted: Sequence[Wanted],
    path: str | os.PathLike[str],
    *,
    name: str,
    sealed: bool = False,
    stages: Sequence[str] = (),
    cubin: bool = False,
    options: CompileOptions | None = None,
    workers: int | None = None,
    progress: Report | bool = True,
) -> Built:
    """Compile what is wanted and write the bundle. An old file is replaced when all went well.

    `stages` names stages to keep besides the code (`mlir`). `cubin` keeps machine code beside PTX.

    Raises:
        ToolchainError: E0935 where the file cannot be written, E0970 when nothing is wanted, E0973
            when something cannot be compiled, E0980 without a ptxas for the cubins.
    """
    if not wanted or not any(row.targets for row in wanted):
        raise E0970.error(module=name).help("name a target: `--target sm_90,cpu`")
    with writing(path):
        pass  # what can be known before is not said after minutes of compiling
    asked = (options or CompileOptions())._replace(cubin=cubin)
    compiled = _compile(wanted, stages, asked, workers, progress)
    members: dict[str, bytes] = {}
    kernels: dict[tuple[str, str], tuple[Instance, dict[str, InstanceRow]]] = {}
    versions: dict[str, str] = {}
    for row in compiled:
        instance = row.wanted.instance
        codes: dict[str, CodeRow] = {}
        for artifact in row.artifacts:
            codes[str(artifact.target)] = _code(artifact, members, stages, cubin=cubin)
            versions.update(artifact.metadata.versions)
        made = _instance_row(instance, codes)
        # Two kernels may share their names in one module, as closures do: the text tells them.
        _, rows = kernels.setdefault((text_digest(instance), instance.name), (instance, {}))
        before = rows.get(made.id)
        rows[made.id] = made if before is None else made._replace(code={**before.code, **codes})
    rows_of = {
        key: _kernel_row(instance, _distinct(list(rows.values())))
        for key, (instance, rows) in kernels.items()
    }
    ordered = sorted(rows_of.values(), key=lambda row: (row.name, row.qualified, row.text))
    used = bundle_file.files_of(ordered)
    members = {member: data for member, data in members.items() if member in used}
    index = Index(name, sealed, LANGUAGE, _dsl(), versions, tuple(ordered), {})
    digest = _write(path, index, members)
    return Built(
        os.fspath(path),
        digest,
        len(ordered),
        sum(len(row.instances) for row in ordered),
        os.path.getsize(path),
    )


def _compile(
    wanted: Sequence[Wanted],
    stages: Sequence[str],
    options: CompileOptions,
    workers: int | None,
    progress: Report | bool,
) -> list[_Compiled]:
    from teeny_compiler.workers import compile_kernels

    asked = options._replace(bounds_checks=False, assertions=False, overflow_checks=False)
    results: dict[tuple[str, Target], Artifact | TeenyError] = {}
    for kind in ("cuda", "cpu"):
        pairs = [
            (row.instance, target)
            for row in wanted
            for target in row.targets
            if target.kind == kind
        ]
        pairs = list(
            {(instance.id, target): (instance, target) for instance, target in pairs}.values()
        )
        extra = tuple(
            stage for stage in stages if stage != LOADED[kind] and stage in _POSSIBLE[kind]
        )
        with log.hushed():
            found = compile_kernels(
                pairs, workers=workers, options=asked._replace(emit=extra), progress=progress
            )
        for (instance, target), result in zip(pairs, found, strict=True):
            results[instance.id, target] = result
    _require_all(results, {row.instance.id: row.instance for row in wanted})
    return [
        _Compiled(row, tuple(_artifact(results[row.instance.id, target]) for target in row.targets))
        for row in wanted
    ]


_POSSIBLE = {
    "cuda": frozenset(("mlir", "ttgir", "llvm-ir")),
    "cpu": frozenset(("mlir", "llvm-ir", "clusters", "asm")),
}


def _artifact(result: Artifact | TeenyError) -> Artifact:
    assert not isinstance(result, TeenyError)
    return result


def _require_all(
    results: dict[tuple[str, Target], Artifact | TeenyError], instances: dict[str, Instance]
) -> None:
    """Raise E0973 with the first faults, unless everything was compiled."""
    failed = [(key, result) for key, result in results.items() if isinstance(result, TeenyError)]
    if not failed:
        return
    error = E0973.error(failed=len(failed), count=len(results))
    for (identity, target), fault in failed[:_SHOWN]:
        first = fault.diagnostics[0]
        error.note(f"{instances[identity]!r} for {target}: {first.code}: {first.message}")
    if len(failed) > _SHOWN:
        error.note(f"and {len(failed) - _SHOWN} more")
    raise error.help(
        "compile one by itself to see the place: `teeny compile MODULE:KERNEL -t TARGET -D ...`"
    ) from failed[0][1]


# --- rows -----------------------------------------------------------------------------------------


def _code(
    artifact: Artifact, members: dict[str, bytes], stages: Sequence[str], *, cubin: bool
) -> CodeRow:
    def keep(data: bytes, suffix: str) -> str:
        member = f"code/{bundle_file.digest_of(data)[:32]}{suffix}"
        members[member] = data
        return member

    kept = {
        stage: keep(artifact.stages[stage].read_bytes(), SUFFIXES[stage])
        for stage in stages
        if stage in artifact.stages and stage != LOADED[artifact.target.kind]
    }
    if cubin and artifact.target.kind == "cuda":
        if artifact.cubin is None:
            raise E0980.error(tool="ptxas").help(
                "it comes with `pip install 'teenyc[cuda]'` (Linux); TEENYC_PTXAS names another"
            )
        kept["cubin"] = keep(artifact.cubin, SUFFIXES["cubin"])
    file = keep(artifact.read_bytes(), artifact.path.suffix)
    return CodeRow(file, json.loads(json.dumps(artifact.metadata.to_json())), kept)


def _instance_row(instance: Instance, code: dict[str, CodeRow]) -> InstanceRow:
    asked = instance.specialization
    return InstanceRow(
        instance.id,
        base_id(instance),
        tuple((name, type_.text) for name, type_ in asked.types),
        tuple((name, constant_text(value)) for name, value in asked.constants),
        tuple(instance.options._asdict().items()),
        asked.divisible_by_16,
        asked.equal_to_1,
        dict(sorted(code.items())),
    )


def _kernel_row(instance: Instance, rows: Iterable[InstanceRow]) -> KernelRow:
    module, qualname = instance.reference
    kernel: Any = instance.kernel
    declared = kernel.declared
    return KernelRow(
        instance.name,
        module,
        qualname,
        text_digest(instance),
        tuple(map(parameter_json, instance.parameters)),
        tuple(sorted(instance.written_parameters())),
        kernel.launch_options._asdict(),
        (kernel.__doc__ or "").strip().partition("\n")[0],
        tuple(rows),
        {} if declared is None else declared.to_json(),
    )


def _distinct(rows: list[InstanceRow]) -> list[InstanceRow]:
    """The rows in order, without those whose hints changed nothing."""
    plain = {row.base: row for row in rows if not row.hints}
    found: list[InstanceRow] = []
    for row in sorted(rows, key=lambda row: (row.types, row.constants, repr(row.options), row.id)):
        base = plain.get(row.base)
        if base is not None and base is not row and dict(base.code) == dict(row.code):
            continue
        found.append(row)
    return found


def _dsl() -> str:
    from teeny_triton import triton_lang

    return triton_lang.TRITON_SHA


def _write(path: str | os.PathLike[str], index: Index, members: dict[str, bytes]) -> str:
    """Write the file aside and put it in place."""
    import tempfile

    file: IO[bytes]
    with (
        writing(path) as where,
        tempfile.NamedTemporaryFile(
            "w+b", dir=os.path.dirname(os.path.abspath(where)), delete=False
        ) as file,
    ):
        try:
            digest = bundle_file.write(file, index, members)
            file.close()
            os.chmod(file.name, 0o644)
            os.replace(file.name, where)
        except BaseException:
            os.unlink(file.name)
            raise
    return digest
