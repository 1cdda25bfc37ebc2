"""`compile_kernel`: make the key; on a hit return the entry, on a miss run teenyc and keep it.

This is the path of every warm start: nothing here may import more than a hit needs.
"""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from teeny_compiler import log, toolchain, versions
from teeny_compiler.cache import Cache, default_cache_dir, key, layers, usage
from teeny_compiler.codes import E0901, E0922
from teeny_compiler.options import (
    CUBIN,
    LOADED,
    METADATA_SUFFIX,
    CompileOptions,
    resolve,
    stage_files,
)
from teeny_macros.artifact import Artifact, Metadata
from teeny_macros.diagnostics import TeenyError, ToolchainError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from teeny_compiler.cache import Entry
    from teeny_compiler.runner import Job, Output
    from teeny_compiler.toolchain import Toolchain
    from teeny_macros.source import SourceMap
    from teeny_macros.target import Target
    from teeny_macros.unit import Unit

    Run = Callable[[Toolchain, Job, str], Output]

_TOOLCHAINS = ".toolchains"
_UNWRITABLE_OUTPUT = "E0708"
_FUSION = "enable_fp_fusion"
_ATTEMPTS = 2


class Instance(Protocol):
    """What is asked of a kernel instance (`teeny_macros.KernelInstance` has it)."""

    @property
    def id(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def source_map(self) -> SourceMap | None: ...
    def unit(self, dsl_text: str | None, dsl_digest: str) -> Unit: ...


class Instantiable(Protocol):
    """A kernel (`teeny_macros.Kernel`); one with nothing to fix is its own only instance."""

    def instantiate(self, **binds: Any) -> Instance: ...


def compile_kernel(
    instance: Instance | Instantiable,
    target: Target,
    *,
    options: CompileOptions | None = None,
    force: bool = False,
) -> Artifact:
    """Compile `instance` for `target`, or take it from the cache; `force` compiles in any case.

    A kernel without type variables and compile-time parameters may be given as it is.

    The artifact is path-like: the `.ptx` (CUDA), object (CPU) or unit (interpreter) that a device
    loads, with its metadata and the files of the other stages beside it.

    Raises:
        CompileError: the kernel is refused, with places in the user's file; E0703 to E0705 when the
        back end fails. ToolchainError: E0901 to E0905 (no usable teenyc), E0910 to E0914 (teenyc
        fails), E0922 (no space at all).
    """
    return Compiler().compile(instance, target, options=options, force=force)


class Compiler:
    """A cache and a toolchain; without arguments, those that the environment names now.

    What versions a toolchain has is asked once. `run` compiles a job in a folder with a toolchain:
    in a warm worker, instead of a new process.
    """

    def __init__(
        self,
        cache: Cache | None = None,
        teenyc: Toolchain | None = None,
        *,
        run: Run | None = None,
    ) -> None:
        self.cache = cache if cache is not None else Cache(default_cache_dir())
        self.cache.make()
        self._layers = layers.open_layers()
        self._teenyc = teenyc
        self._run_job = run
        self._memory = os.path.join(self.cache.root, _TOOLCHAINS)
        self._used: dict[str, versions.Versions] = {}

    def compile(
        self,
        instance: Instance | Instantiable,
        target: Target,
        *,
        options: CompileOptions | None = None,
        force: bool = False,
    ) -> Artifact:
        """As `compile_kernel`."""
        instance = _instance_of(instance)
        asked = resolve(options, target, fp_fusion=_fusion_of(instance))
        try:
            found = self._teenyc or toolchain.find_teenyc()
        except ToolchainError as error:
            hit = None if force else self._read_without_teenyc(instance, target, asked, error)
            if hit is None:
                raise
            return hit
        inputs = self._inputs(found, instance, target, asked)
        name = key.key_of(inputs)
        hit = None if force else self._read(name, instance, target)
        return hit or self._compile(found, inputs, name, instance, target, asked, force=force)

    def find(
        self,
        instance: Instance | Instantiable,
        target: Target,
        *,
        options: CompileOptions | None = None,
    ) -> Artifact | None:
        """The cached artifact, or None; nothing is compiled. Raises as `compile`."""
        instance = _instance_of(instance)
        asked = resolve(options, target, fp_fusion=_fusion_of(instance))
        try:
            found = self._teenyc or toolchain.find_teenyc()
        except ToolchainError as error:
            hit = self._read_without_teenyc(instance, target, asked, error)
            if hit is None:
                raise
            return hit
        return self._read(
            key.key_of(self._inputs(found, instance, target, asked)), instance, target
        )

    def inputs(
        self,
        instance: Instance | Instantiable,
        target: Target,
        options: CompileOptions | None = None,
    ) -> key.Inputs:
        """What the key of this compilation is made of; nothing is compiled. Raises as `compile`."""
        instance = _instance_of(instance)
        asked = resolve(options, target, fp_fusion=_fusion_of(instance))
        return self._inputs(self._teenyc or toolchain.find_teenyc(), instance, target, asked)

    def _inputs(
        self, found: Toolchain, instance: Instance, target: Target, asked: CompileOptions
    ) -> key.Inputs:
        from teeny_triton import triton_lang

        used = self._used.get(found.path)
        if used is None:
            used = self._used[found.path] = versions.versions_of(found, self._memory)
        dsl = triton_lang.TRITON_SHA
        return key.inputs_of(instance.name, instance.id, dsl, target, asked, used)

    # --- hits ------------------------------------------------------------------------------------

    def _read(self, name: str, instance: Instance, target: Target) -> Artifact | None:
        for layer in self._layers:
            entry = layer.source.read(name)
            found = None if entry is None else self._artifact(entry, instance, target)
            if found is not None:
                log.debug(f"{instance.name} for {target} is in the layer {layer.path}")
                return found
        entry = self.cache.read(name)
        found = None if entry is None else self._artifact(entry, instance, target)
        if entry is not None and found is not None:
            usage.note(self.cache.root, name)
            log.debug(f"{instance.name} for {target} is cached: {entry.where}")
        return found

    def _artifact(self, entry: Entry, instance: Instance, target: Target) -> Artifact | None:
        """The artifact of an entry that was found whole; None for metadata of another version."""
        made = _read_artifact(entry, instance, target)
        if made is not None:
            own = entry.where.startswith(os.path.join(self.cache.root, ""))
            made.side_folder = made.path.parent if own else self._side_folder(entry.manifest["key"])
        return made

    def _side_folder(self, name: str) -> Path:
        """Where a device may keep what it makes of a layer's entry."""
        import contextlib

        found = Path(self.cache.root, layers.CUBINS, name)
        with contextlib.suppress(OSError):
            found.mkdir(parents=True, exist_ok=True)
        return found

    def _read_without_teenyc(
        self, instance: Instance, target: Target, asked: CompileOptions, error: ToolchainError
    ) -> Artifact | None:
        """A cached kernel needs no compiler: look under the versions that were used last."""
        from teeny_triton import triton_lang

        if error.code != E0901.code:
            return None
        roots = (self.cache.root, *(layer.path for layer in self._layers))
        tried: set[str] = set()
        for root in roots:
            used = versions.recall_last(os.path.join(root, _TOOLCHAINS))
            if used is None:
                continue
            dsl = triton_lang.TRITON_SHA
            name = key.key_of(key.inputs_of(instance.name, instance.id, dsl, target, asked, used))
            hit = None if name in tried else self._read(name, instance, target)
            if hit is not None:
                return hit
            tried.add(name)
        return None

    # --- misses ----------------------------------------------------------------------------------

    def _compile(
        self,
        found: Toolchain,
        inputs: key.Inputs,
        name: str,
        instance: Instance,
        target: Target,
        asked: CompileOptions,
        *,
        force: bool,
    ) -> Artifact:
        from teeny_compiler.cache import limits, remote
        from teeny_compiler.runner import timeout_seconds

        bounds, shared = limits.configured(), remote.configured()
        made: Artifact | None = None
        with self.cache.lock(name, timeout_seconds() + 30):
            # Whoever held the lock may have compiled it.
            hit = None if force else self._read(name, instance, target)
            if hit is not None:
                return hit
            entry = None if shared is None or force else shared.fetch(name, self.cache)
            if entry is not None:
                made = self._artifact(entry, instance, target)
                shared = None
            for _ in range(_ATTEMPTS):
                if made is not None:
                    break
                # Whoever cleans up temporary folders may take the files that were just written.
                entry = self._make(found, inputs, name, instance, target, asked, force=force)
                made = self._artifact(entry, instance, target)
        if entry is None or made is None:
            raise E0922.error(reason=f"{name} vanished as soon as it was written")
        versions.remember_last(inputs["versions"], self._memory)
        if shared is not None:
            shared.push(name, entry)
        limits.keep(self.cache, _size_of(entry), bounds)
        return made

    def _make(
        self,
        found: Toolchain,
        inputs: key.Inputs,
        name: str,
        instance: Instance,
        target: Target,
        asked: CompileOptions,
        *,
        force: bool,
    ) -> Entry:
        """Run teenyc and keep what it writes."""
        from teeny_compiler.runner import Job
        from teeny_triton import triton_lang

        unit = instance.unit(triton_lang.TRITON, triton_lang.TRITON_SHA)
        job = Job(instance.name, unit.render(), unit.file, target, asked, instance.source_map)
        output = self._run(found, job, name)
        entry = self.cache.publish(
            name, inputs, output.folder, output.seconds, replace=force, text=unit.body
        )
        if entry.where != output.folder:
            _remove(os.path.dirname(output.folder))
        for warning in output.warnings:
            log.warn(warning)
        milliseconds = output.seconds * 1e3
        loaded = stage_files(entry.files).get(LOADED[target.kind], "")
        path = entry.folder / loaded
        log.info(f"compiled {instance.name} for {target} in {milliseconds:.0f} ms: {path}")
        return entry

    def _run(self, found: Toolchain, job: Job, name: str) -> Output:
        """Run teenyc in the first folder that can be written."""
        from teeny_compiler.failure import FailedRun, keep_work
        from teeny_compiler.runner import run_teenyc

        reason = ""
        for make in self.cache.folders_to_work_in():
            work = ""
            try:
                work = make()
                return (self._run_job or run_teenyc)(found, job, work)
            except FailedRun as failed:
                raise keep_work(
                    failed.error, work, self.cache.root, job, name
                ) from failed.__cause__
            except OSError as error:
                reason = str(error)
            except TeenyError as error:
                if error.code != _UNWRITABLE_OUTPUT:
                    _remove(work)
                    raise
                reason = error.diagnostics[0].message
            except BaseException:
                _remove(work)
                raise
            _remove(work)
            log.debug(f"cannot compile in {work or self.cache.root}: {reason}")
        raise E0922.error(reason=reason).help(
            "set TEENYC_CACHE_DIR or TMPDIR to a directory that can be written and has space"
        )


def _size_of(entry: Entry) -> int:
    return sum(int(facts["size"]) for facts in entry.manifest["files"].values())


def _read_artifact(entry: Entry, instance: Instance, target: Target) -> Artifact | None:
    import json

    stages = stage_files(entry.files)
    try:
        name = next(name for name in entry.files if name.endswith(METADATA_SUFFIX))
        metadata = Metadata.from_json(json.loads(entry.read(name)))
        loaded = stages[LOADED[target.kind]]
        content = entry.read(loaded)
        cubin = entry.read(stages[CUBIN]) if CUBIN in stages else None
    except (OSError, StopIteration, ValueError, KeyError, TypeError, TeenyError) as error:
        log.debug(f"{entry.folder} counts as absent: {error!r}")
        return None
    return Artifact(
        Path(entry.where, loaded),
        metadata,
        target,
        stages=partial(_paths, entry.where, stages),
        source_map=instance.source_map,
        content=content,
        cubin=cubin,
    )


def _paths(folder: str, names: Mapping[str, str]) -> dict[str, Path]:
    return {stage: Path(folder, name) for stage, name in names.items()}


def _instance_of(given: Instance | Instantiable) -> Instance:
    instantiate = getattr(given, "instantiate", None)
    return given if instantiate is None else instantiate()  # type: ignore[return-value]


def _fusion_of(instance: Instance) -> bool:
    """What the kernel's launch options say; on where they say nothing."""
    options = getattr(instance, "options", None)
    if isinstance(options, dict):
        return bool(options.get(_FUSION, True))
    return bool(getattr(options, _FUSION, True))


def _remove(work: str) -> None:
    if work:
        import shutil

        shutil.rmtree(work, ignore_errors=True)
