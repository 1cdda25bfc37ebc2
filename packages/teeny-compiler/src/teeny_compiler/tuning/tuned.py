"""`@autotune` and `tune`: kernels that find their configs when they are launched, or before."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ParamSpec

from teeny_compiler.codes import E0940, E0942
from teeny_compiler.tuning.candidate import Call, bind
from teeny_compiler.tuning.config import Config, Pruning, Space, configs_of, prune_of
from teeny_compiler.tuning.heuristics import HeuristicKernel, Rules, require_kernel
from teeny_compiler.tuning.search import Reference, Settings, check_settings, search
from teeny_macros.diagnostics import TeenyError
from teeny_macros.namespace import MISSING
from teeny_macros.options import LaunchOptions

if TYPE_CHECKING:
    from teeny_compiler.progress import Report
    from teeny_compiler.tuning.result import Tuning
    from teeny_macros.kernel import Grid, Kernel
    from teeny_macros.launch import LaunchSite

P = ParamSpec("P")
Key = Sequence[str] | Callable[[Mapping[str, Any]], Any]
_NAMES = frozenset(LaunchOptions._fields)


class TunedKernel(HeuristicKernel[P]):
    """A kernel with configs. Its first launch for a key, dtypes and device tunes it."""

    def __init__(
        self,
        kernel: Kernel[P],
        rules: Rules,
        configs: Sequence[Config],
        key: Key,
        settings: Settings,
    ) -> None:
        super().__init__(kernel, rules)
        self.configs = tuple(configs)
        self.settings = settings
        self.key = key if callable(key) else (key,) if isinstance(key, str) else tuple(key)
        self.tunings: list[Tuning] = []
        self._lock = threading.RLock()
        self._choices: dict[Any, Config] = {}
        self._site: LaunchSite | None = None
        self._tuned = frozenset(name for config in self.configs for name in config.values)
        self._options = frozenset(name for config in self.configs for name in config.options)
        names = [parameter.name for parameter in kernel.parameters]
        for name in () if callable(self.key) else self.key:
            if name not in names:
                raise E0940.error(
                    kernel=kernel.name, reason=f"its key `{name}` is no parameter"
                ).help(f"it has {', '.join(f'`{own}`' for own in names)}")
        self._key_at = () if callable(self.key) else tuple(map(names.index, self.key))
        arrays = {p.name: p for p in kernel.parameters if p.kind in ("pointer", "untyped")}
        check_settings(kernel.name, settings, arrays)

    def with_rules(self, rules: Rules) -> TunedKernel[P]:
        """The same tuned kernel with further rules."""
        both = {**self.rules, **rules}
        return TunedKernel(self.kernel, both, self.configs, self.key, self.settings)

    def tune(
        self,
        grid: Grid,
        *args: Any,
        stream: Any = None,
        device: Any = None,
        force: bool = False,
        **kwargs: Any,
    ) -> Tuning:
        """Find the config for a launch without launching; `force` measures all of them anew."""
        call = Call(self, grid, args, kwargs, self.kernel.launch_options, stream, device)
        try:
            return self._search(call, force=force)
        except TeenyError as error:
            self.kernel.site().locate(error)
            raise

    def _search(self, call: Call, *, force: bool) -> Tuning:
        values = self._values(call)
        with self._lock:
            identity = self._identity(values, call)
            key = self._key_of(_named(self._site_now(), values))
            found = search(call, self.configs, self.settings, key, force=force)
            self.tunings.append(found)
            self._choices[identity] = found.best
        return found

    def _launch(
        self, grid: Any, args: tuple[Any, ...], kwargs: dict[str, Any], stream: Any, device: Any
    ) -> None:
        options, rest = self.kernel.launch_options, kwargs
        if not _NAMES.isdisjoint(kwargs):
            given = {name: kwargs[name] for name in kwargs if name in _NAMES}
            rest = {name: value for name, value in kwargs.items() if name not in given}
            self._reject(self._options.intersection(given))
            options = options.changed(given)
        call = Call(self, grid, args, rest, options, stream, device)
        identity = self._identity(self._values(call), call)
        config = self._choices.get(identity)
        if config is None:
            with self._lock:
                config = self._choices.get(identity) or self._choose(call)
        final = self.complete(args, {**rest, **config.values})
        self.start(grid, args, final, options.changed(config.options), stream, device)

    def _choose(self, call: Call) -> Config:
        first = bind(call, self.configs[0])
        if 0 in first.grid:
            return self.configs[0]  # nothing runs, so there is nothing to measure
        plan = getattr(first.device, "plan", None)
        if plan is not None:  # any of them may be the fastest where it will run
            for config in self.configs:
                found = bind(call, config)
                found.device.launch(plan(found.instance), found.grid, found.args)
            return self.configs[0]
        return self._search(call, force=False).best

    def _site_now(self) -> LaunchSite:
        site = self.kernel.site()
        if site is not self._site:  # a captured name changed its meaning
            self._site = site
            self._choices.clear()
        return site

    def _values(self, call: Call) -> list[Any]:
        """One value for each parameter, MISSING without one.

        Raises:
            ToolchainError: E0942 for a value that is the tuner's.
        """
        site = self._site_now()
        given = call.kwargs
        if not self._tuned.isdisjoint(given):
            self._reject(self._tuned.intersection(given))
        count = len(call.args)
        for name in self._tuned:
            if site.signature.index.get(name, count) < count:
                self._reject((name,))
        return site.signature.fill(call.args, dict(given), site.signature.defaults)

    def _reject(self, names: Iterable[str]) -> None:
        for name in sorted(names):
            raise E0942.error(kernel=self.name, name=name).help(
                f"leave it out, or launch the kernel itself: `{self.name}.kernel[grid](...)`"
            )

    def _identity(self, values: list[Any], call: Call) -> Any:
        """What a choice is remembered for: the key, dtypes, compile-time values, device."""
        site = self._site_now()
        filled = [None if value is MISSING else value for value in values]
        parts, place = site.read(filled, call.options, call.device)
        dtypes = tuple(
            part if action == 0 or part is None else part[0]
            for action, part in zip(site.actions, parts[3:], strict=True)
        )
        device = getattr(call.device, "name", call.device)
        if callable(self.key):
            return self._key_of(_named(site, values)), dtypes, place, call.options, device
        key = tuple(
            (type(value), value) if isinstance(value, int | str) else _text(value)
            for value in (values[at] for at in self._key_at)
        )
        return key, dtypes, place, call.options, device

    def _key_of(self, values: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
        if callable(self.key):
            return (("key", repr(self.key(values))),)
        return tuple((name, _text(values.get(name))) for name in self.key)


def _named(site: LaunchSite, values: list[Any]) -> dict[str, Any]:
    names = [parameter.name for parameter in site.parameters]
    pairs = zip(names, values, strict=True)
    return {name: value for name, value in pairs if value is not MISSING}


def _text(value: Any) -> str:
    """A value of a key as text; of an array its shape, as its dtype counts anyway."""
    shape = getattr(value, "shape", None)
    if shape is not None and not isinstance(value, (int, float)):
        return repr(tuple(shape))
    return repr(value)


def autotune(
    *,
    configs: Space,
    key: Key = (),
    prune_configs_by: Pruning = None,
    reset_to_zero: Sequence[str] = (),
    restore_value: Sequence[str] = (),
    reference: Reference = "first",
    tolerance: float | None = None,
    budget: float | None = None,
    workers: int | None = None,
    progress: Report | bool = True,
) -> Callable[[Kernel[P] | HeuristicKernel[P]], TunedKernel[P]]:
    """Let a kernel find the fastest of `configs`, once for each value of `key`, dtypes and device.

    Stands above `@kernel`. Give the tuned parameters a default, `BLOCK: Const[int] = tl.auto()`.

    Trials run on private copies: a launch changes the caller's arrays once, whether it tunes or
    not. A trial begins with the caller's values, those of `reset_to_zero` with zeros. Arrays of
    `restore_value` and `reset_to_zero` are put back before every timed run as well; name those on
    whose contents the kernel's time depends.

    `key` names parameters, or is a function of the arguments by name. `reference` is `"first"`
    (every config gives what the first gives), a function from the arguments by name, arrays as
    NumPy arrays, to the right contents of arrays by name, or None. `tolerance` is relative.
    `budget` is in seconds. `prune_configs_by` is a `Prune`, a function of configs and arguments, or
    Triton's dictionary.

    Raises:
        ToolchainError: E0940. Launches raise E0941 and E0942 besides what the kernel's raise.
    """
    settings = _settings(
        reset_to_zero, restore_value, reference, tolerance, budget, workers, progress
    )

    def decorate(given: Kernel[P] | HeuristicKernel[P]) -> TunedKernel[P]:
        rules = given.rules if isinstance(given, HeuristicKernel) else {}
        kernel = given.kernel if isinstance(given, HeuristicKernel) else given
        require_kernel(kernel, "autotune")
        prune = prune_of(kernel.name, prune_configs_by)
        found = configs_of(kernel, configs)
        return TunedKernel(kernel, rules, found, key, settings._replace(prune=prune))

    return decorate


def tune(
    kernel: Kernel[...] | HeuristicKernel[...],
    args: Sequence[Any] | Mapping[str, Any],
    space: Space,
    *,
    grid: Grid,
    key: Key = (),
    prune_configs_by: Pruning = None,
    reset_to_zero: Sequence[str] = (),
    restore_value: Sequence[str] = (),
    reference: Reference = "first",
    tolerance: float | None = None,
    budget: float | None = None,
    workers: int | None = None,
    progress: Report | bool = True,
    device: Any = None,
    force: bool = False,
) -> Tuning:
    """Find the fastest config of a kernel for these arguments, without launching it.

    `args` are in order or by name; `space` is a list of configs, or lists of values by name
    (`{"BLOCK": [64, 128], "num_warps": [4, 8]}`). The rest is as for `autotune`; `force` measures
    again what is stored. Raises as `autotune`.
    """
    decorate: Any = autotune(
        configs=space,
        key=key,
        prune_configs_by=prune_configs_by,
        reset_to_zero=reset_to_zero,
        restore_value=restore_value,
        reference=reference,
        tolerance=tolerance,
        budget=budget,
        workers=workers,
        progress=progress,
    )
    tuned: TunedKernel[...] = decorate(kernel)
    named = dict(args) if isinstance(args, Mapping) else {}
    ordered = () if isinstance(args, Mapping) else tuple(args)
    return tuned.tune(grid, *ordered, device=device, force=force, **named)


def _settings(
    reset_to_zero: Sequence[str],
    restore_value: Sequence[str],
    reference: Reference,
    tolerance: float | None,
    budget: float | None,
    workers: int | None,
    progress: Report | bool,
) -> Settings:
    return Settings(
        reset_to_zero=_names(reset_to_zero),
        restore_value=_names(restore_value),
        reference=reference,
        tolerance=tolerance,
        budget=budget,
        workers=workers,
        progress=progress,
    )


def _names(given: Sequence[str]) -> tuple[str, ...]:
    return (given,) if isinstance(given, str) else tuple(given)
