"""`Config`: one choice of compile-time values and launch options; spaces of them, and pruning."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from teeny_compiler.codes import E0940
from teeny_macros.binding import constant_key
from teeny_macros.options import LaunchOptions

if TYPE_CHECKING:
    from teeny_macros.kernel import Kernel
    from teeny_macros.signature import Parameter

_CONST = "const"


class Config:
    """Compile-time values by name, and launch options; an option left out is the kernel's own."""

    __slots__ = ("options", "values")

    def __init__(
        self,
        values: Mapping[str, Any] | None = None,
        *,
        num_warps: int | None = None,
        num_stages: int | None = None,
        num_ctas: int | None = None,
        maxnreg: int | None = None,
        enable_fp_fusion: bool | None = None,
    ) -> None:
        given = {
            "num_warps": num_warps,
            "num_stages": num_stages,
            "num_ctas": num_ctas,
            "maxnreg": maxnreg,
            "enable_fp_fusion": enable_fp_fusion,
        }
        self.values: dict[str, Any] = dict(values or {})
        self.options: dict[str, Any] = {
            name: value for name, value in given.items() if value is not None
        }

    def _key(self) -> Any:
        values = tuple(sorted((name, constant_key(value)) for name, value in self.values.items()))
        return values, tuple(sorted(self.options.items()))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Config) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def __str__(self) -> str:
        parts = [f"{name}={value!r}" for name, value in (self.values | self.options).items()]
        return ", ".join(parts) or "the kernel's own options"

    def __repr__(self) -> str:
        return f"Config({self})"


class Prune(NamedTuple):
    """Which configs are tried.

    `early` gets the configs and the arguments by name and returns the configs to keep; `model`
    gets the arguments with a config's values and options and returns its expected time; of those
    the `top_k` shortest are tried (a share of them when it is below 1.0 and a float).
    """

    early: Callable[[Sequence[Config], Mapping[str, Any]], Iterable[Config]] | None = None
    model: Callable[..., float] | None = None
    top_k: float = 10


Pruning = (
    Prune
    | Mapping[str, Any]
    | Callable[[Sequence[Config], Mapping[str, Any]], Iterable[Config]]
    | None
)
Space = Sequence[Config] | Mapping[str, Iterable[Any]]


def prune_of(kernel: str, given: Pruning) -> Prune:
    """The pruning in one form; also Triton's dictionary. Raises E0940 for an unknown entry."""
    if given is None or isinstance(given, Prune):
        return given or Prune()
    if callable(given):
        return Prune(given)
    names = {"early_config_prune": "early", "perf_model": "model", "top_k": "top_k"}
    for name in given:
        if name not in names:
            raise E0940.error(kernel=kernel, reason=f"pruning knows no `{name}`").help(
                f"it has {', '.join(f'`{known}`' for known in names)}"
            )
    return Prune(**{names[name]: value for name, value in given.items()})


def pruned(
    prune: Prune, kernel: str, configs: Sequence[Config], args: Mapping[str, Any]
) -> list[Config]:
    """The configs that are tried, in their order. Raises E0940 when none is left."""
    kept = list(configs)
    if prune.early is not None:
        kept = list(prune.early(kept, args))
        if not kept:
            raise E0940.error(kernel=kernel, reason="its pruning keeps no config").help(
                "return at least one config, whatever the arguments are"
            )
    if prune.model is not None:
        count = prune.top_k
        if not isinstance(count, int) and count <= 1.0:
            count = max(1, int(len(kept) * count))
        model = prune.model
        expected = {
            at: float(model(**{**args, **config.values, **config.options}))
            for at, config in enumerate(kept)
        }
        best = sorted(expected, key=lambda at: expected[at])[: max(1, int(count))]
        kept = [kept[at] for at in sorted(best)]
    return kept


def configs_of(kernel: Kernel[...], space: Space) -> tuple[Config, ...]:
    """The configs of a space, each once: a list of them, or lists of values by name.

    Raises:
        ToolchainError: E0940 for an empty space, or a name that is no compile-time parameter.
        LaunchError: E1023 for a launch option that cannot be.
    """
    configs = _product(space) if isinstance(space, Mapping) else list(space)
    if not configs:
        raise E0940.error(kernel=kernel.name, reason="there is no config").help(
            'give at least one: `configs=[Config({"BLOCK_SIZE": 128})]`'
        )
    kinds = {parameter.name: parameter for parameter in kernel.parameters}
    for config in configs:
        for name in config.values:
            check_constant(kernel.name, kinds, name)
        kernel.launch_options.changed(config.options)
    return tuple(dict.fromkeys(configs))


def check_constant(kernel: str, kinds: Mapping[str, Parameter], name: str) -> None:
    """Raise E0940 unless `name` is a compile-time parameter."""
    known = kinds.get(name)
    if known is None or known.kind != _CONST:
        what = "no parameter" if known is None else "no compile-time parameter"
        constants = ", ".join(f"`{p.name}`" for p in kinds.values() if p.kind == _CONST)
        raise E0940.error(kernel=kernel, reason=f"`{name}` is {what}").help(
            f"it has {constants or 'none'}; launch options are written `num_warps=8`"
        )


def _product(space: Mapping[str, Iterable[Any]]) -> list[Config]:
    from itertools import product

    names = list(space)
    found: list[Config] = []
    for row in product(*(list(space[name]) for name in names)):
        given = dict(zip(names, row, strict=True))
        options = {name: given.pop(name) for name in names if name in LaunchOptions._fields}
        found.append(Config(given, **options))
    return found
