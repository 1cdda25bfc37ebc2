"""One config of one call: its instance, and the launches of its trials."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from teeny_macros.launch import evaluate_grid

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from teeny_compiler.tuning.config import Config
    from teeny_compiler.tuning.heuristics import HeuristicKernel
    from teeny_macros.artifact import Artifact
    from teeny_macros.instance import KernelInstance
    from teeny_macros.options import LaunchOptions
    from teeny_macros.protocol import Device

_POINTER = "pointer"


class Call(NamedTuple):
    """The launch that is tuned for; `options` are the launch's own."""

    kernel: HeuristicKernel[...]
    grid: Any
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]
    options: LaunchOptions
    stream: Any = None
    device: Any = None


class Candidate(NamedTuple):
    """A config, bound to the arguments of a call.

    `names` and `args` are the run-time arguments in order.
    """

    config: Config
    instance: KernelInstance[...]
    device: Device
    grid: tuple[int, int, int]
    names: tuple[str, ...]
    args: tuple[Any, ...]

    @property
    def identity(self) -> str:
        """What its results are found by: hints follow the arguments and do not count."""
        return self.instance.with_hints().id

    @property
    def dtypes(self) -> dict[str, str]:
        """The dtypes of the pointers by name."""
        types = self.instance.specialization.types
        return {name: type_.dtype for name, type_ in types if type_.kind == _POINTER}

    def written(self, also: Collection[str]) -> frozenset[str]:
        """The names of the arrays that it may write."""
        return (self.instance.written_parameters() | frozenset(also)) & frozenset(self.dtypes)

    def load(self, artifact: Artifact) -> Any:
        """Load what was compiled for it: without a cubin a driver compiles here."""
        if artifact.source_map is None:
            artifact.source_map = self.instance.source_map
        return self.device.load(artifact)

    def launcher(self, program: Any, args: list[Any]) -> Callable[[], None]:
        """Launches a loaded program with `args` in the place of the call's own."""
        device, grid = self.device, self.grid

        def run() -> None:
            device.launch(program, grid, args)

        return run


def bind(call: Call, config: Config) -> Candidate:
    """The call with the values of `config`. Raises what the launch would."""
    kernel = call.kernel.kernel
    site = kernel.site()
    options = call.options.changed(config.options)
    kwargs = call.kernel.complete(call.args, {**call.kwargs, **config.values})
    values = site.signature.bind(call.args, kwargs)
    key, place = site.read(values, options, call.device)
    prepared = site.prepared.get(key)
    if prepared is None:
        made = site.prepare(key, values, place, options, call.device)
        prepared = site.prepared.setdefault(key, made)
    program = prepared.program
    return Candidate(
        config,
        program.instance,
        program.device,
        evaluate_grid(site.name, call.grid, prepared.meta),
        tuple(site.parameters[at].name for at in prepared.run),
        tuple(values[at] for at in prepared.run),
    )
