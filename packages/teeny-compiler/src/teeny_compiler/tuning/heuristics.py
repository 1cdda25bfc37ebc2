"""`@heuristics`: compile-time values that follow from the arguments of a launch."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Generic, ParamSpec, cast

from teeny_compiler.codes import E0940
from teeny_compiler.tuning.config import check_constant
from teeny_macros.diagnostics import TeenyError
from teeny_macros.namespace import MISSING

if TYPE_CHECKING:
    import inspect

    from teeny_macros.kernel import Grid, Kernel
    from teeny_macros.launch import LaunchSite
    from teeny_macros.options import LaunchOptions

P = ParamSpec("P")
Rules = Mapping[str, Callable[[Mapping[str, Any]], Any]]
_LAUNCH_NAMES = ("stream", "device")


def require_kernel(given: object, decorator: str) -> None:
    """Raise E0940 unless `given` is a kernel: decorators may stand in the wrong order."""
    from teeny_macros.kernel import Kernel

    if not isinstance(given, Kernel):
        name = getattr(given, "__name__", type(given).__name__)
        raise E0940.error(kernel=name, reason="it is no kernel").help(
            f"write `@{decorator}` above `@kernel`, which makes a kernel of the function first"
        )


class HeuristicKernel(Generic[P]):
    """A kernel whose launches fill in what rules say. Launched as the kernel is."""

    def __init__(self, kernel: Kernel[P], rules: Rules) -> None:
        self.kernel = kernel
        self.rules = dict(rules)
        self.__name__ = kernel.name
        self.__doc__ = kernel.__doc__
        kinds = {parameter.name: parameter for parameter in kernel.parameters}
        for name in self.rules:
            check_constant(kernel.name, kinds, name)

    @property
    def name(self) -> str:
        """The name of the kernel."""
        return self.kernel.name

    @property
    def signature(self) -> inspect.Signature:
        """Python's signature of the kernel."""
        return self.kernel.signature

    def __getitem__(self, grid: Grid, /) -> Callable[P, None]:
        """A launcher over `grid`, as the kernel's own."""
        return self.on(grid)

    def on(self, grid: Grid, *, stream: Any = None, device: Any = None) -> Callable[P, None]:
        """A launcher over `grid`, on a stream and on a device (`"cuda:1"` or an object)."""

        def launch(*args: Any, **kwargs: Any) -> None:
            where = {"stream": stream, "device": device}
            where.update((name, kwargs.pop(name)) for name in _LAUNCH_NAMES if name in kwargs)
            try:
                self._launch(grid, args, kwargs, **where)
            except TeenyError as error:
                self.kernel.site().locate(error)
                raise

        return cast("Callable[P, None]", launch)

    def with_rules(self, rules: Rules) -> HeuristicKernel[P]:
        """The same kernel with further rules."""
        return HeuristicKernel(self.kernel, {**self.rules, **rules})

    def complete(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> dict[str, Any]:
        """The keyword arguments, with what the rules say of those that were not given."""
        if not self.rules:
            return dict(kwargs)
        site, options = self.kernel.site(), self.kernel.launch_options._fields
        named = {name: value for name, value in kwargs.items() if name not in options}
        values = arguments_of(site, args, named)
        found = dict(kwargs)
        for name, rule in self.rules.items():
            if name not in kwargs and site.signature.index.get(name, -1) >= len(args):
                found[name] = values[name] = rule(values)
        return found

    def _launch(
        self, grid: Any, args: tuple[Any, ...], kwargs: dict[str, Any], stream: Any, device: Any
    ) -> None:
        self.start(
            grid, args, self.complete(args, kwargs), self.kernel.launch_options, stream, device
        )

    def start(
        self,
        grid: Any,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        options: LaunchOptions,
        stream: Any,
        device: Any,
    ) -> None:
        """Launch the kernel with everything given."""
        self.kernel.site().launcher(grid, options, stream, device)(*args, **kwargs)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self.kernel!r}>"


def arguments_of(
    site: LaunchSite, args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> dict[str, Any]:
    """The arguments of a call by name, defaults included, without those that are missing.

    Raises:
        LaunchError: E1004 to E1006.
    """
    values = site.signature.fill(args, dict(kwargs), site.signature.defaults)
    names = [parameter.name for parameter in site.parameters]
    pairs = zip(names, values, strict=True)
    return {name: value for name, value in pairs if value is not MISSING}


def heuristics(
    rules: Rules,
) -> Callable[[Kernel[P] | HeuristicKernel[P]], HeuristicKernel[P]]:
    """Compile-time values by name, each as a function of the arguments by name.

    Stands above `@kernel`, above or below `@autotune`; then the functions see the chosen config.
    A value that a launch gives takes precedence.

    Raises:
        ToolchainError: E0940 for a name that is no compile-time parameter.
    """

    def decorate(kernel: Kernel[P] | HeuristicKernel[P]) -> HeuristicKernel[P]:
        if isinstance(kernel, HeuristicKernel):
            return kernel.with_rules(rules)
        require_kernel(kernel, "heuristics")
        return HeuristicKernel(kernel, rules)

    return decorate
