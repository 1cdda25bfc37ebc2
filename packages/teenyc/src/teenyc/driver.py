"""The stage table: unit -> front end -> IR passes -> MLIR text -> back end -> texts and metadata.

Nothing is written here but a failed back end's reproducer; cli.py and worker.py write and report.
"""

from __future__ import annotations

import time
from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

from teeny_macros import unit as units
from teeny_macros.artifact import Metadata, Param
from teeny_macros.codes import I0000
from teeny_macros.diagnostics import Diagnostic, TeenyError
from teeny_macros.source import Span
from teenyc import __version__
from teenyc.backend.gpu import flatten, libtriton, specialize, versions
from teenyc.backend.gpu.hardware import require_hardware
from teenyc.backend.gpu.shared import check_shared, require_shared
from teenyc.codes import E0199, E0701, E0709, E0710, E0715, E0719
from teenyc.types import DescriptorType

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from teeny_macros.target import Target
    from teeny_macros.unit import Unit
    from teenyc.backend.cpu.compile import Native
    from teenyc.backend.gpu.child import Child, Outcome
    from teenyc.ir.core import Module, Operation
    from teenyc.options import Options

_STAGES = {
    "cuda": ("mlir", "ttgir", "llvm-ir", "ptx"),
    "cpu": ("mlir", "clusters", "llvm-ir", "asm", "obj"),
    "interpret": ("mlir",),
}


class Result(NamedTuple):
    """What compiling one unit gave: the wanted texts by stage, and the seconds each step took.

    `log` is what the back end printed although it succeeded; `data` is the object for a CPU;
    `facts` are what checks found out that is no fault; `cubin` is machine code for a GPU.
    """

    unit: Unit
    texts: dict[str, str]
    metadata: Metadata
    timings: tuple[tuple[str, float], ...]
    log: str = ""
    data: bytes = b""
    warnings: tuple[Diagnostic, ...] = ()
    facts: dict[str, Any] = {}  # noqa: RUF012 - never changed
    cubin: bytes = b""


class Timer:
    """Collects how long each step takes, in seconds."""

    def __init__(self) -> None:
        self.rows: list[tuple[str, float]] = []

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        """Time the body of the `with`."""
        start = time.perf_counter()
        try:
            yield
        finally:
            self.rows.append((name, time.perf_counter() - start))


class Triton(NamedTuple):
    """The installed Triton: its version and the row of the version table."""

    version: str
    release: versions.Release


def find_triton() -> Triton:
    """The installed Triton, not loaded. Raises E0701 (absent) or E0702 (not supported)."""
    folder = libtriton.find_folder()
    if folder is None:
        raise (
            E0701.error()
            .help("install it: `pip install 'teenyc[cuda]'` (Linux)")
            .help("`--check` and `--target interpret` work without it")
        )
    version = libtriton.find_version(folder)
    return Triton(version, versions.release_of(version))


def require_supported(options: Options) -> None:
    """Raise E0199 for an output that the target does not have."""
    kinds = _STAGES[options.target.kind]
    for kind in options.emit:
        if kind not in kinds:
            raise E0199.error(what=f"`--emit {kind}` for target `{options.target}`").help(
                f"one of {', '.join(kinds)}"
            )


def needs_back_end(options: Options) -> bool:
    """Whether these options end in libtriton."""
    return options.target.kind == "cuda" and not options.check and options.emit != ("mlir",)


class DslTexts:
    """DSL texts by digest: a worker gets each text once, later units carry only its digest."""

    def __init__(self) -> None:
        self._texts: dict[str, str] = {}

    def complete(self, unit: Unit) -> Unit:
        """`unit` with its DSL text. Raises E0709 (not known) or E0710 (text and digest differ)."""
        digest = unit.dsl_digest
        if unit.dsl_text is None:
            text = self._texts.get(digest)
            if text is None:
                raise E0709.error(digest=digest).help("send the unit with the DSL's text")
            return unit._replace(dsl_text=text)
        if self._texts.get(digest) != unit.dsl_text:
            from hashlib import sha256

            if sha256(unit.dsl_text.encode()).hexdigest() != digest:
                raise E0710.error().help("the unit was damaged or edited: capture the kernel again")
            self._texts[digest] = unit.dsl_text
        return unit


def compile_text(
    text: str,
    options: Options,
    *,
    child: Child | None = None,
    dsl: DslTexts | None = None,
    folder: str = ".",
    after: Callable[[str, Module], None] | None = None,
) -> Result:
    """Compile one unit. `child` is a started back-end process; `after` sees the IR after each pass.

    Raises TeenyError: each fault of the unit with its place in the body, or I0000 for our own bugs.
    """
    timer = Timer()
    require_supported(options)
    with timer.step("read"):
        unit = (dsl or DslTexts()).complete(units.parse(text))
    try:
        return _compile(unit, options, timer, child=child, folder=folder, after=after)
    except TeenyError as error:
        for diagnostic in error.diagnostics:
            _add_sources(diagnostic, unit)
        raise


def _compile(
    unit: Unit,
    options: Options,
    timer: Timer,
    *,
    child: Child | None,
    folder: str,
    after: Callable[[str, Module], None] | None,
) -> Result:
    triton = find_triton() if needs_back_end(options) else None
    keep = options.assertions or options.target.kind != "cuda"
    warnings: list[Diagnostic] = []
    module = _lower(unit, timer, after, options, warnings, assertions=keep)
    if options.target.kind == "cuda":
        require_hardware(module, options.target.arch)
        warnings += specialize.drop_unsafe(module, options.target.arch)
        warnings += flatten.make_safe(module)
        if options.check:
            warnings += _check_shared(module, options)
    facts = _examine(module, unit, timer, warnings) if options.bounds else {}
    texts: dict[str, str] = {}
    outcome: Outcome | None = None
    ptx_version, cubin = 0, b""
    if triton is not None:
        with timer.step("guards"), _our_bug("the guards", lambda: ("the passes", module)):
            _guard(module, triton)
        job, outcome = _compile_gpu(module, options, triton, timer, child)
        if outcome.facts is None and (refused := _drop_refused(module)):
            job, outcome = _compile_gpu(module, options, triton, timer, None)
            warnings += refused if outcome.facts is not None else []
        if outcome.facts is None:
            from teenyc.backend.gpu.failure import describe_failure

            raise describe_failure(
                outcome, unit, options, mlir=job.mlir, versions=_versions(triton), folder=folder
            )
        ptx_version = job.ptx_version
        texts.update((stage.name, stage.text) for stage in outcome.stages if stage.text is not None)
        _check_ptx(texts.get("ptx"), unit, ptx_version)
        if options.cubin and "ptx" in texts:
            with timer.step("ptxas"):
                cubin = _assemble(texts["ptx"], unit, options, job, triton, folder, warnings)
    if "mlir" in options.emit and not options.check:
        with timer.step("print"):
            texts["mlir"] = _print(module, triton, locations=options.locations)
    metadata = _metadata(
        unit, module, options, triton=triton, outcome=outcome, ptx_version=ptx_version
    )
    if needs_native(options):
        native = _compile_native(module, options, timer)
        texts.update(native.texts)
        metadata = metadata._replace(
            arena_bytes=native.arena_bytes, work=native.work, features=native.features
        )
        data = native.data if "obj" in options.emit else b""
        return Result(unit, texts, metadata, tuple(timer.rows), data=data, warnings=tuple(warnings))
    log = outcome.stderr if outcome else ""
    return Result(
        unit,
        texts,
        metadata,
        tuple(timer.rows),
        log,
        warnings=tuple(warnings),
        facts=facts,
        cubin=cubin,
    )


def _assemble(
    ptx: str,
    unit: Unit,
    options: Options,
    job: libtriton.Job,
    triton: Triton,
    folder: str,
    warnings: list[Diagnostic],
) -> bytes:
    """Machine code of the PTX; empty where no tool reads it. Raises E0718."""
    from teenyc.backend.gpu import assemble

    made = assemble.assemble(ptx, unit, options.target.arch, triton.release, fusion=job.fp_fusion)
    if made.failed:
        warning = E0719.warn(kernel=unit.kernel, reason=made.failed)
        warning.helps.append("the driver compiles the PTX; compile again to have machine code")
        warnings.append(warning)
    if not made.refused:
        return made.data
    from teenyc.backend.gpu.child import Outcome as Refusal
    from teenyc.backend.gpu.failure import with_reproducer

    refusal = Refusal((), None, made.refused, "refused", "ptxas", "ptxas refuses the PTX")
    error = assemble.describe_refusal(ptx, made.refused, unit)
    raise with_reproducer(error, unit, options, refusal, _versions(triton), folder)


def _guard(module: Module, triton: Triton) -> None:
    """Change what LLVM or this libtriton would make something else of."""
    from teenyc.backend.gpu.undefined import define

    define(module)
    if not triton.release.long_gathers:
        from teenyc.backend.gpu.gathers import flatten_gathers

        flatten_gathers(module)


def _drop_refused(module: Module) -> list[Diagnostic]:
    """Take from all loops what asks for speed only; a warning for each."""
    return specialize.drop_refused(module) + flatten.drop_refused(module)


def _compile_gpu(
    module: Module, options: Options, triton: Triton, timer: Timer, child: Child | None
) -> tuple[libtriton.Job, Outcome]:
    """One run of the back end, successful or not, and what it was asked."""
    with timer.step("print"):
        located = _print(module, triton, locations=True)
    ptx_version = versions.choose_ptx_version(
        options.target.arch, triton.release, located, options.ptx_version
    )
    job = _job(module, located, options, ptx_version)
    with timer.step("back end"):
        outcome = _run_back_end(job, child)
    timer.rows.extend((f"  {stage.name}", stage.seconds) for stage in outcome.stages)
    return job, outcome


def needs_native(options: Options) -> bool:
    """Whether these options end in the CPU back end."""
    return options.target.kind == "cpu" and not options.check and options.emit != ("mlir",)


def _compile_native(module: Module, options: Options, timer: Timer) -> Native:
    """The object for a CPU; the module is changed on the way."""
    with timer.step("load back end"), _our_bug("loading the CPU back end", None):
        from teenyc.backend.cpu.compile import compile_module
        from teenyc.backend.cpu.llvm import binding

        binding()
    with timer.step("back end"), _our_bug("the CPU back end", lambda: ("the passes", module)):
        return compile_module(
            module,
            options.target.arch or "host",
            options.emit,
            fusion=_fp_fusion(module, options),
            checks=options.bounds_checks,
        )


def _lower(
    unit: Unit,
    timer: Timer,
    after: Callable[[str, Module], None] | None,
    options: Options,
    warnings: list[Diagnostic],
    *,
    assertions: bool,
) -> Module:
    with timer.step("load front end"), _our_bug("loading the front end", None):
        from teenyc import frontend, passes

        import_module("teenyc.frontend.lowering")  # else its first use would be timed as lowering
    with timer.step("front end"), _our_bug("the front end", None):
        module = frontend.lower_unit(unit, warnings if options.strict else None, options.target)
    if after is not None:
        after("front end", module)
    done = "the front end"

    def seen(name: str, module: Module) -> None:
        nonlocal done
        done = f"pass `{name}`"
        if after is not None:
            after(name, module)

    with timer.step("passes"), _our_bug("the passes", lambda: (done, module)):
        if not assertions:
            passes.drop_assertions(module)
        if options.overflow_checks:
            from teenyc.passes.overflow import check_overflows

            check_overflows(module)
        _lower_foreign(module, options.target)
        passes.run(module, after=seen)
    return module


def _lower_foreign(module: Module, target: Target) -> None:
    """Take from targets what they do not have: descriptors, or some of what they do.

    Those that a kernel makes libtriton takes from older GPUs.
    """
    everywhere = target.kind == "cpu"
    if target.kind == "cuda":
        number = versions.arch_number(target.arch)
        has_hardware = number >= versions.FIRST_TMA_ARCH
        everywhere = any(
            number not in versions.ROW_ARCHS.get(op.name, (number,))
            or (not has_hardware and _compares_unsigned(op))
            or _cuts_16_bytes(op)
            for op in module.walk()
        )
        if has_hardware and not everywhere:
            return
    from teenyc.passes.descriptors import lower_descriptors, lower_parameters

    if everywhere:
        lower_descriptors(module)
    else:
        lower_parameters(module)
    if target.kind == "cpu":
        from teenyc.passes.scaled import lower_scaled

        lower_scaled(module)


def _cuts_16_bytes(op: Operation) -> bool:
    """A store through a descriptor whose last side is known not to fill its last 16 bytes.

    The hardware would write zeros into the rest of them, which may be another array's.
    """
    if op.name not in ("tt.descriptor_store", "tt.descriptor_scatter"):
        return False
    type_, made = op.operands[0].type, op.operands[0].op
    assert isinstance(type_, DescriptorType)
    if made is None or made.name != "tt.make_tensor_descriptor":
        return False
    side = made.operands[len(type_.shape)].op
    if side is None or side.name != "arith.constant":
        return False
    from teenyc.ops.arrays import itemsize

    return bool(side.attrs["value"] * itemsize(type_.element) % 16)


def _compares_unsigned(op: Operation) -> bool:
    """Atomic minima and maxima that libtriton has no pointers for: those of unsigned integers."""
    if op.name != "tt.descriptor_reduce" or op.attrs["kind"] not in ("min", "max"):
        return False
    type_ = op.operands[0].type
    assert isinstance(type_, DescriptorType)
    return type_.element.name.startswith("i") and not type_.is_signed


def _check_shared(module: Module, options: Options) -> list[Diagnostic]:
    """Warnings of too much shared memory; where Triton is installed, the figure is exact.

    Raises E0716.
    """
    found = check_shared(module, options.target.arch)
    if not found:
        return []
    try:
        triton = find_triton()
    except TeenyError:
        return found
    located = _print(module, triton, locations=True)
    version = versions.choose_ptx_version(options.target.arch, triton.release, located, None)
    outcome = _run_back_end(_job(module, located, options._replace(emit=("ptx",)), version), None)
    if outcome.facts is None:
        return found
    require_shared(outcome.facts.shared_bytes, options.target.arch, found[0].span)
    return []


def _examine(
    module: Module, unit: Unit, timer: Timer, warnings: list[Diagnostic]
) -> dict[str, Any]:
    """Decide the bounds of all accesses. Raises the faults, with the rows of all as `facts`."""
    from teenyc import passes
    from teenyc.bounds.report import Refuted, examine
    from teenyc.passes.descriptors import lower_descriptors

    with timer.step("bounds"), _our_bug("deciding bounds", lambda: ("the passes", module)):
        lower_descriptors(module)
        passes.run(module)
        faults, facts = examine(module, unit.file)
        if faults:
            refuted = Refuted(*warnings, *faults)
            refuted.facts = facts
            raise refuted
    return facts


@contextmanager
def _our_bug(where: str, state: Callable[[], tuple[str, Module]] | None) -> Iterator[None]:
    """Turn an exception that is no diagnostic into I0000 with the pass and the IR around it."""
    try:
        yield
    except TeenyError:
        raise
    except Exception as error:
        import traceback

        found = I0000.error(where=where, what=f"{type(error).__name__}: {error}")
        found.note("".join(traceback.format_exception(error)[-6:]).rstrip())
        if state is not None:
            done, module = state()
            found.note(f"the IR after {done}:\n{_printed_anyhow(module)}")
        raise found.help("this is a bug of teenyc: please report it with the unit") from error


def _printed_anyhow(module: Module) -> str:
    try:
        from teenyc.ir.printer import print_module

        return print_module(module)
    except Exception as error:  # noqa: BLE001 - the module may be as broken as can be
        return f"(cannot be printed: {error})"


def _print(module: Module, triton: Triton | None, *, locations: bool) -> str:
    from teenyc.ir.printer import Dialect, print_module

    release = triton.release if triton else versions.NEWEST
    dialect = Dialect(
        cache_policy_attribute=release.cache_policy_attribute,
        bare_descriptor_type=release.bare_descriptor_type,
        has_negf=release.has_negf,
        atomic_access=release.atomic_access,
    )
    with _our_bug("printing the module", None):
        return print_module(module, dialect=dialect, locations=locations)


def _job(module: Module, mlir: str, options: Options, ptx_version: int) -> libtriton.Job:
    attributes = module.attributes
    return libtriton.Job(
        mlir=mlir,
        arch=versions.arch_number(options.target.arch),
        ptx_version=ptx_version,
        fp_fusion=_fp_fusion(module, options),
        num_warps=attributes["num_warps"],
        num_stages=attributes["num_stages"],
        num_ctas=attributes["num_ctas"],
        maxnreg=attributes["maxnreg"],
        emit=tuple(kind for kind in options.emit if kind != "mlir"),
        locations=options.locations,
    )


def _fp_fusion(module: Module, options: Options) -> bool:
    if options.fp_fusion is not None:
        return options.fp_fusion
    return bool(module.attributes["enable_fp_fusion"])


def _run_back_end(job: libtriton.Job, child: Child | None) -> Outcome:
    from teenyc.backend.gpu.child import Child as Process

    if child is None:
        return Process.start().run(job)
    outcome = child.run(job)
    if outcome.failure == "died" and outcome.stage == "mlir":
        # It was started ahead and may have been ended while it waited: not this job's fault.
        return Process.start().run(job)
    return outcome


def _check_ptx(text: str | None, unit: Unit, ptx_version: int) -> None:
    """The PTX is what the metadata will say of it."""
    if text is None:
        return
    from teenyc.backend.gpu.ptx import find_excluding, parse_ptx

    header = parse_ptx(text)
    if header is None or header.entries != (unit.entry_point,) or header.version != ptx_version:
        raise I0000.error(
            where="the GPU back end", what=f"its PTX is not what was asked for: {header}"
        )
    excluding = find_excluding(text)
    if excluding is not None:
        line, column = excluding
        span = Span.point(unit.file, line, column) if line else None
        raise E0715.at(span, "here").help("leave one of them out")


def _versions(triton: Triton | None) -> tuple[tuple[str, str], ...]:
    rows = [("language", str(units.LANGUAGE)), ("teenyc", __version__)]
    return (*rows, ("triton", triton.version)) if triton else tuple(rows)


def _metadata(
    unit: Unit,
    module: Module,
    options: Options,
    *,
    triton: Triton | None,
    outcome: Outcome | None,
    ptx_version: int,
) -> Metadata:
    from teenyc.passes.written import written_parameters

    facts = outcome.facts if outcome else None
    num_warps = facts.num_warps if facts else module.attributes["num_warps"]
    metadata = Metadata(
        kernel=unit.kernel,
        entry_point=unit.entry_point,
        target=str(options.target),
        params=tuple(Param(*row) for row in module.params),
        num_warps=num_warps,
        threads_per_block=32 * num_warps,
        num_ctas=module.attributes["num_ctas"],
        ptx_version=ptx_version,
        fp_fusion=_fp_fusion(module, options),
        overflow_checks=options.overflow_checks,
        written=written_parameters(module),
        launch_pdl=bool(module.attributes.get("launch_pdl")),
        launch_cooperative_grid=bool(module.attributes.get("launch_cooperative_grid")),
        versions=_versions(triton),
    )
    if facts is None:
        return metadata
    return metadata._replace(
        descriptors=tuple((tuple(box), swizzle) for box, swizzle in facts.descriptors),
        shared_bytes=facts.shared_bytes,
        global_scratch_bytes=facts.global_scratch_bytes,
        global_scratch_align=facts.global_scratch_align,
        profile_scratch_bytes=facts.profile_scratch_bytes,
        profile_scratch_align=facts.profile_scratch_align,
        tensor_memory=facts.tensor_memory,
    )


def _add_sources(diagnostic: Diagnostic, unit: Unit) -> None:
    """Give each label the line it points at, so that it can be rendered without the unit."""
    texts = {unit.file: unit.body, f"{units.DSL_MODULE}.py": unit.dsl_text or ""}
    for label in diagnostic.labels:
        lines = texts.get(label.span.file, "").splitlines()
        if label.source is None and 0 < label.span.line <= len(lines):
            label.source = lines[label.span.line - 1]
