"""The library's operations with gradients through PyTorch's autograd.

`teeny_kernels.autograd.layer_norm(x, (768,), weight, bias)` takes torch tensors on the CPU or a GPU
and gives what `teeny_kernels.layer_norm` does, as part of the graph: `loss.backward()` runs
`layer_norm_backward`. A tensor that requires a gradient where there is none, as a loss by its
target, is refused (E1204). The functions of `teeny_kernels` themselves know no graph. Gradients of
gradients are refused by PyTorch, tracers leave these calls alone (see `teeny_macros.tracing`).
"""

from __future__ import annotations

import inspect
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

from teeny_kernels._index import HOMES
from teeny_kernels.codes import E1204
from teeny_kernels.options import rename

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

# Operations of, or with, any number of arrays have no function here: PyTorch has its own for those.
_OF_LISTS = {
    "cat", "channel_cat", "channel_chunk", "chunk", "elementwise_mean", "elementwise_sum",
}  # fmt: skip


class _Operation:
    """An operation and its backward, by the names of their parameters."""

    def __init__(self, name: str) -> None:
        import teeny_kernels
        from teeny_kernels.registry import specs

        self.name = name
        self.forward: Callable[..., Any] = getattr(teeny_kernels, name)
        self.backward: Callable[..., Any] = getattr(teeny_kernels, f"{name}_backward")
        self.signature = inspect.signature(self.forward)
        names = [*self.signature.parameters]
        spec = specs().get(name)
        if spec is None:  # a name of PyTorch's for an operation of one array
            self.gradients: tuple[str, ...] = (names[0],)
        else:
            self.gradients = spec.gradients or tuple(names[at] for at in spec.differentiable)
        results: list[str] = []
        incoming: list[str] = []
        self.taken: list[str] = []
        for parameter in inspect.signature(self.backward).parameters.values():
            if parameter.name == "grad" or parameter.name.endswith("_grad"):
                incoming.append(parameter.name)
            elif parameter.name in names and parameter.name != "out":
                self.taken.append(parameter.name)
            elif parameter.default is parameter.empty:  # it takes a result of the forward
                results.append(parameter.name)
        self.results = tuple(results)
        # The gradients of the first results that it takes; what comes behind them has none.
        self.incoming = tuple(incoming)

    def check(self, tensors: Mapping[str, Any]) -> None:
        """Raise E1204 for a tensor that waits for a gradient which the backward does not give."""
        for name, tensor in tensors.items():
            if tensor.requires_grad and name not in self.gradients:
                raise E1204.error(
                    operation=self.name, name=name, found="a tensor that requires a gradient"
                ).help(
                    f"gradients are by {', '.join(f'`{own}`' for own in self.gradients)}; give "
                    f"`{name}.detach()`, or use PyTorch's own operation"
                )

    def run(self, given: Mapping[str, Any]) -> tuple[Any, ...]:
        """The results of the forward, one or several."""
        return _tupled(self.forward(**given))

    def run_backward(
        self, gradients: tuple[Any, ...], given: Mapping[str, Any], results: tuple[Any, ...]
    ) -> dict[str, Any]:
        """The gradients by the names of the parameters that they belong to."""
        arguments = {name: given[name] for name in self.taken if name in given}
        arguments.update(zip(self.incoming, gradients, strict=False))
        # The last results, where it does not take all.
        first = len(results) - len(self.results)
        arguments.update(zip(self.results, results[first:], strict=False))
        found = _tupled(self.backward(**arguments))
        return dict(zip(self.gradients, found, strict=False))


def _tupled(found: Any) -> tuple[Any, ...]:
    if not isinstance(found, tuple):
        return (found,)
    return found  # pyright: ignore[reportUnknownVariableType]


def _forward(
    ctx: Any, operation: _Operation, names: tuple[str, ...], rest: Any, *tensors: Any
) -> Any:
    found = operation.run({**rest, **dict(zip(names, tensors, strict=True))})
    ctx.save_for_backward(*tensors, *found)
    ctx.operation, ctx.names, ctx.rest = operation, names, rest
    # What comes beside the first result (places, log-sum-exps) carries no gradient.
    ctx.mark_non_differentiable(*found[len(operation.incoming) :])
    first, *others = found
    return found if others else first


def _backward(ctx: Any, *gradients: Any) -> Any:
    saved, count = ctx.saved_tensors, len(ctx.names)
    given = {**ctx.rest, **dict(zip(ctx.names, saved[:count], strict=True))}
    found = ctx.operation.run_backward(gradients, given, saved[count:])
    pairs = zip(ctx.names, ctx.needs_input_grad[3:], strict=True)
    return None, None, None, *(found.get(name) if need else None for name, need in pairs)


@cache
def _function() -> Any:
    """The class that PyTorch calls; made when first needed, as PyTorch is no requirement."""
    autograd: Any = import_module("torch.autograd")
    once = autograd.function.once_differentiable
    own = {"forward": staticmethod(_forward), "backward": staticmethod(once(_backward))}
    return type("Operation", (autograd.Function,), own)


def _differentiable(name: str) -> Callable[..., Any]:
    from teeny_macros.tracing import untraced

    torch: Any = import_module("torch")
    operation = _Operation(name)

    def call(*args: Any, **kwargs: Any) -> Any:
        if "axis" in operation.signature.parameters:
            rename(name, kwargs, [*operation.signature.parameters][: len(args)])
        try:
            given = operation.signature.bind(*args, **kwargs).arguments
        except TypeError:
            operation.forward(*args, **kwargs)  # Python's own words, which name the operation
            raise
        tensors = {own: x for own, x in given.items() if isinstance(x, torch.Tensor)}
        if torch.is_grad_enabled():
            operation.check(tensors)
        rest = {own: x for own, x in given.items() if own not in tensors}
        return _function().apply(operation, tuple(tensors), rest, *tensors.values())

    call.__name__ = call.__qualname__ = name
    call.__doc__ = operation.forward.__doc__
    parameters = [p for own, p in operation.signature.parameters.items() if own != "out"]
    call.__signature__ = operation.signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    return untraced(call)


def __getattr__(name: str) -> Callable[..., Any]:
    if name in _OF_LISTS or name not in HOMES or f"{name}_backward" not in HOMES:
        if name in HOMES:
            raise AttributeError(f"{name!r} is outside of the graph: use `teeny_kernels.{name}`")
        from teeny_kernels.foreign_names import unknown

        raise unknown(__name__, name)
    found = _differentiable(name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    own = [name for name in HOMES if f"{name}_backward" in HOMES and name not in _OF_LISTS]
    return sorted({*globals(), *own})
