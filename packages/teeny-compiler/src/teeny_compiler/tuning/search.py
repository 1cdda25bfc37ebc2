"""The search: bind, compile side by side, check, time, choose. What is known is left out."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from teeny_compiler import log, workers
from teeny_compiler.codes import E0940, E0941
from teeny_compiler.progress import follow
from teeny_compiler.tuning import store
from teeny_compiler.tuning.candidate import bind
from teeny_compiler.tuning.config import Prune, pruned
from teeny_compiler.tuning.heuristics import arguments_of
from teeny_compiler.tuning.result import Tuning, choose
from teeny_compiler.tuning.store import FAILED, LEFT, MEASURED, SLOW, WRONG, Row, Scope, Store
from teeny_compiler.tuning.trial import Trials
from teeny_macros import devices
from teeny_macros.diagnostics import CompileError, LaunchError, TeenyError

if TYPE_CHECKING:
    from concurrent.futures import Future

    from teeny_compiler.progress import Report
    from teeny_compiler.tuning.candidate import Call, Candidate
    from teeny_compiler.tuning.config import Config
    from teeny_compiler.tuning.measure import Timer, Timing
    from teeny_macros.artifact import Artifact
    from teeny_macros.target import Target

Reference = Callable[[Mapping[str, Any]], Mapping[str, Any]] | Literal["first"] | None
_PATIENCE = 600.0  # seconds to wait for another process that tunes the same
_ROUND = 5  # samples of each finalist, in turns
_FINALISTS = 4
_LOADERS = 4  # threads


class Settings(NamedTuple):
    """How a kernel is tuned; see `autotune`."""

    prune: Prune = Prune()
    reset_to_zero: tuple[str, ...] = ()
    restore_value: tuple[str, ...] = ()
    reference: Reference = "first"
    tolerance: float | None = None
    budget: float | None = None
    workers: int | None = None
    progress: Report | bool = True


def search(
    call: Call,
    configs: Sequence[Config],
    settings: Settings,
    key: tuple[tuple[str, str], ...],
    *,
    force: bool = False,
) -> Tuning:
    """The fastest config for a call, from stored results where there are some.

    Raises:
        ToolchainError: E0941 when no config can be used; what is wrong with the call itself.
    """
    start = time.monotonic()
    name = call.kernel.name
    if settings.prune != Prune():
        arguments = arguments_of(call.kernel.kernel.site(), call.args, call.kwargs)
        configs = pruned(settings.prune, name, configs, arguments)
    candidates, errors = _bound(call, configs)
    if not candidates:
        raise _unusable(name, errors)
    scope = Scope(name, store.device_model(next(iter(candidates.values())).device), key)
    results = Store()
    known = {} if force else results.read(scope)
    left = [config for config, found in candidates.items() if found.identity not in known]
    count = 0
    if left:
        with results.lock(scope, _PATIENCE):
            if not force:  # whoever held the lock may have measured them
                known = results.read(scope)
                left = [c for c in left if candidates[c].identity not in known]
            deadline = None if settings.budget is None else start + settings.budget
            run = _Search(settings, candidates, deadline)
            rows = run.measure(left)
            errors.update(run.errors)
            count = run.count
            kept = {candidates[c].identity: row for c, row in rows.items() if c not in run.passing}
            results.add(scope, kept)
            known = {**known, **{candidates[c].identity: row for c, row in rows.items()}}
    found = {config: known[candidates[config].identity] for config in candidates}
    found.update({c: _failure(c, error) for c, error in errors.items() if c not in found})
    best = choose({config: found[config] for config in configs})
    if best is None:
        raise _unusable(name, errors, found)
    tuning = Tuning(scope, best, {c: found[c] for c in configs}, count, time.monotonic() - start)
    if left:
        log.info(tuning.summary())
        log.debug(str(tuning))
    return tuning


def _bound(
    call: Call, configs: Sequence[Config]
) -> tuple[dict[Config, Candidate], dict[Config, TeenyError]]:
    candidates: dict[Config, Candidate] = {}
    errors: dict[Config, TeenyError] = {}
    for config in configs:
        try:
            candidates[config] = bind(call, config)
        except TeenyError as error:
            errors[config] = error
    return candidates, errors


def _failure(config: Config, error: TeenyError) -> Row:
    note = f"{error.code}: {error.diagnostics[0].message}"
    return Row(FAILED, str(config), note=note)


def _unusable(
    kernel: str, errors: Mapping[Config, TeenyError], rows: Mapping[Config, Row] | None = None
) -> TeenyError:
    """One cause is its own error; several are listed."""
    known = rows or {}
    causes = {error.code for error in errors.values()}
    if len(causes) == 1 and len(errors) >= len(known):
        return next(iter(errors.values()))
    notes = {str(c): f"{row.state}: {row.note}" for c, row in known.items()}
    notes.update({str(c): f"{e.code}: {e.diagnostics[0].message}" for c, e in errors.items()})
    error = E0941.error(kernel=kernel, count=len(notes))
    for config, note in notes.items():
        error.note(f"{config}: {note}")
    return error.help("add a config that fits, or `tune(..., force=True)` to try them again")


class _Search:
    """One round of measuring. `errors` are of configs that failed, `passing` are not kept."""

    def __init__(
        self, settings: Settings, candidates: Mapping[Config, Candidate], deadline: float | None
    ) -> None:
        self.settings = settings
        self.candidates = candidates
        self.deadline = deadline
        self.errors: dict[Config, TeenyError] = {}
        self.passing: set[Config] = set()
        self.count = 0
        self._timings: dict[Config, Timing] = {}
        self._timers: dict[Config, Timer] = {}
        # By the artifact, while its program is being loaded.
        self._loading: dict[int, tuple[Artifact, Future[Any]]] = {}

    def measure(self, configs: Sequence[Config]) -> dict[Config, Row]:
        """A row for each config."""
        rows: dict[Config, Row] = {}
        if not configs:
            return rows
        first = self.candidates[configs[0]]
        trials = Trials(first, self.settings)
        self._expect_first(trials, configs)
        with follow(f"tuning {first.instance.name}", len(configs), self.settings.progress) as step:
            for some in self._portions(configs):
                artifacts = {} if self._is_late(rows) else self._compile(some)
                for config in some:
                    rows[config] = self._try(trials, config, artifacts.get(config), rows)
                    step(f"{config}: {rows[config].state}")
        self._compare_finalists(rows)
        return rows

    def _portions(self, configs: Sequence[Config]) -> list[Sequence[Config]]:
        """All at once; with a budget as many as are compiled at the same time."""
        size = len(configs)
        if self.deadline is not None:
            size = self.settings.workers or workers.core_count()
        return [configs[at : at + size] for at in range(0, len(configs), size)]

    def _is_late(self, rows: Mapping[Config, Row]) -> bool:
        """Whether the budget is used up; one config is measured in any case."""
        if self.deadline is None or time.monotonic() < self.deadline:
            return False
        return any(row.state == MEASURED for row in rows.values())

    def _compile(self, configs: Sequence[Config]) -> dict[Config, Artifact | TeenyError]:
        """Compile side by side; a GPU's driver works on each as soon as it is there."""
        from concurrent.futures import ThreadPoolExecutor

        found = self._bundled(configs)
        rest = [config for config in configs if config not in found]
        pairs = [(self.candidates[c].instance, self.candidates[c].device.target) for c in rest]
        by_identity = {self.candidates[c].instance.id: self.candidates[c] for c in rest}
        with ThreadPoolExecutor(_LOADERS, thread_name_prefix="teeny-load") as loaders:

            def load(identity: str, target: Target, artifact: Artifact) -> None:
                if target.kind == "cuda":
                    candidate = by_identity[identity]
                    future = loaders.submit(candidate.load, artifact)
                    self._loading[id(artifact)] = artifact, future

            made = workers.compile_each(
                pairs,
                workers=self.settings.workers,
                progress=self.settings.progress is True,
                done=load,
            )
        both = {**found, **dict(zip(rest, made, strict=True))}
        return {config: both[config] for config in configs}

    def _bundled(self, configs: Sequence[Config]) -> dict[Config, Artifact | TeenyError]:
        """What bundles have, or refuse because they are sealed."""
        found: dict[Config, Artifact | TeenyError] = {}
        for config in configs:
            candidate = self.candidates[config]
            try:
                artifact = devices.bundled(candidate.instance, candidate.device)
            except TeenyError as error:
                found[config] = error
                continue
            if artifact is not None:
                found[config] = artifact
        return found

    def _loaded(self, candidate: Candidate, made: Artifact | TeenyError) -> Any:
        """The program of a config. Raises what compiling or loading it did."""
        if isinstance(made, TeenyError):
            raise made
        loading = self._loading.pop(id(made), None)
        return candidate.load(made) if loading is None else loading[1].result()

    def _expect_first(self, trials: Trials, configs: Sequence[Config]) -> None:
        """Where configs were added, the first of all still says what is right."""
        if self.settings.reference != "first":
            return
        leader = next(iter(self.candidates))
        if leader in configs:
            return
        made = self._compile([leader])[leader]
        if not isinstance(made, TeenyError):
            candidate = self.candidates[leader]
            try:
                trials.expect(candidate, self._loaded(candidate, made))
            except LaunchError as error:
                log.debug(f"{leader} gives nothing to compare with: {error.code}")

    def _try(
        self,
        trials: Trials,
        config: Config,
        made: Artifact | TeenyError | None,
        rows: Mapping[Config, Row],
    ) -> Row:
        candidate, text = self.candidates[config], str(config)
        if made is None or self._is_late(rows):
            return Row(LEFT, text, note="the time budget was used up")
        try:
            wrong, timer = trials.check(candidate, self._loaded(candidate, made))
            if wrong:
                return Row(WRONG, text, note=wrong)
            self.count += 1
            timing = timer.measure(min((t.ms for t in self._timings.values()), default=None))
        except TeenyError as error:
            self.errors[config] = error
            if not isinstance(error, CompileError | LaunchError):
                self.passing.add(config)  # a dead worker says nothing about the kernel
            trials.require_device(error)
            return _failure(config, error)
        self._timings[config], self._timers[config] = timing, timer
        state = SLOW if timing.is_cut_short else MEASURED
        return Row(state, text, timing.ms, timing.noise)

    def _compare_finalists(self, rows: dict[Config, Row]) -> None:
        """Measure those that noise cannot tell apart again, in turns, as clocks drift."""
        near = [c for c, row in rows.items() if row.state == MEASURED]
        if not near:
            return
        best = min((rows[c] for c in near), key=lambda row: row.ms)
        reach = best.ms + best.noise
        near = [c for c in near if rows[c].ms - rows[c].noise <= reach]
        near = sorted(near, key=lambda c: rows[c].ms)[:_FINALISTS]
        if len(near) < 2 or self._is_late(rows):
            return
        for _ in range(_ROUND):
            for config in near:
                timing = self._timings[config]
                more = timing.samples + self._timers[config].more(1)
                self._timings[config] = timing._replace(samples=more)
        for config in near:
            timing = self._timings[config]
            rows[config] = rows[config]._replace(ms=timing.ms, noise=timing.noise)


def check_settings(kernel: str, settings: Settings, pointers: Mapping[str, Any]) -> None:
    """Raise E0940 for names that are no arrays of the kernel, or are both reset and restored."""
    both = sorted(set(settings.reset_to_zero) & set(settings.restore_value))
    if both:
        reason = f"`{both[0]}` is in `reset_to_zero` and in `restore_value`"
        raise E0940.error(kernel=kernel, reason=reason).help(
            "a trial begins with zeros or with the caller's values: name it once"
        )
    for name in (*settings.reset_to_zero, *settings.restore_value):
        if name not in pointers:
            raise E0940.error(kernel=kernel, reason=f"`{name}` is none of its arrays").help(
                f"it has {', '.join(f'`{known}`' for known in pointers)}"
            )
