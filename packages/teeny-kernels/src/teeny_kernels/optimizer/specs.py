"""Makes the `KernelSpec` of an optimizer step: copies for the harness, fillings, PyTorch's step.

The functions change their arrays; tests want them unchanged, so `call` steps copies and returns
these: the parameter, then the state.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from teeny_kernels.arrays import empty, finish, operand
from teeny_kernels.layout import copy
from teeny_kernels.optimizer.rules import KERNELS
from teeny_kernels.spec import Case, Cost, KernelSpec, Tolerance
from teeny_kernels.testing import fill

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

# State that is never negative.
POSITIVE = frozenset({
    "exp_avg_sq", "max_exp_avg_sq", "exp_inf", "square_avg", "acc_delta", "state_sum", "step_size",
})  # fmt: skip
SHAPES: tuple[tuple[int, ...], ...] = (
    (), (0,), (1,), (17,), (1000,), (1024,), (3, 0, 5), (33, 77), (2, 3, 4, 5), (1, 1, 4097),
)  # fmt: skip


def step_cases(
    *options: Mapping[str, Any], first: Mapping[str, Any] | None = None
) -> tuple[Case, ...]:
    """Every shape with the options `first`; each of `options` with a few fillings."""
    first = first or {}
    cases = [Case((shape,), first) for shape in SHAPES]
    cases += [Case(((257,),), first, values) for values in ("special", "ties", "wide")]
    cases += [Case(((3, 85),), own, values) for own in options for values in ("normal", "special")]
    return tuple(cases)


def step_spec(
    function: Callable[..., None],
    *,
    kernels: Sequence[str],
    states: Callable[..., tuple[str, ...]],
    formula: str,
    source: str,
    reference: Callable[..., Any],
    cases: tuple[Case, ...],
    torch_name: str = "",
    torch_state: Callable[..., Mapping[str, float]] = lambda **_: {},
    torch_names: Mapping[str, str] | None = None,
    ulps: float = 8,
    reason: str = "a few correctly rounded steps, a root and a quotient; sums may cancel",
) -> KernelSpec:
    """The spec of `function(param, grad, **states, **options)`.

    `states(**options)` are the names of the state in the order of the results; `torch_state` what
    PyTorch's optimizer keeps besides, `torch_names` what it calls a state otherwise.
    """

    def stepped(param: Any, grad: Any, *given: Any, **options: Any) -> tuple[Any, ...]:
        fresh = [copied(own) for own in (param, *given)]
        named = dict(zip(states(**options), fresh[1:], strict=True))
        function(fresh[0], grad, **named, **options)
        return tuple(fresh)

    def in_place(param: Any, grad: Any, *given: Any, **options: Any) -> None:
        function(param, grad, **dict(zip(states(**options), given, strict=True)), **options)

    def make(rng: np.random.Generator, case: Case) -> list[Any]:
        names = states(**case.options)
        made = [fill(rng, case.shapes[0], case.values) for _ in range(2 + len(names))]
        by_name = dict(zip(names, made[2:], strict=True))
        for name in POSITIVE & set(names):
            by_name[name] = np.abs(by_name[name])
        if "grad_avg" in by_name:  # no variance is negative
            by_name["square_avg"] = 1.5 * by_name["grad_avg"] ** 2 + 0.1
        return [*made[:2], *(by_name[name] for name in names)]

    def magnitude(p: Any, g: Any, *given: Any, **options: Any) -> tuple[Any, ...]:
        # Signs by which the terms add up, and beside it what really comes out.
        names = states(**options)
        turned = [
            np.abs(own) if name in POSITIVE or name == "ax" else -np.abs(own)
            for name, own in zip(names, given, strict=True)
        ]
        options.pop("maximize", None)
        together = reference(np.abs(p), -np.abs(g), *turned, **options)
        real = reference(p, g, *given, **options)
        return tuple(np.abs(a) + np.abs(b) for a, b in zip(together, real, strict=True))

    return KernelSpec(
        name=function.__name__,
        family="optimizer",
        function=function,
        call=stepped,
        in_place=in_place,
        kernels=tuple(KERNELS[name] for name in kernels),
        formula=formula,
        source=source,
        reference=reference,
        cases=cases,
        make=make,
        outputs=1 + len(states(**cases[0].options)),
        tolerance=Tolerance(ulps, reason),
        magnitude=magnitude,
        torch_name=torch_name and f"torch.optim.{torch_name}",
        torch=_by_torch(torch_name, states, torch_names or {}, torch_state) if torch_name else None,
        cost=lambda case, itemsize: Cost(
            (3 + 2 * len(states(**case.options))) * itemsize * prod(case.shapes[0]),
            15 * prod(case.shapes[0]),
        ),
        benchmarks=(Case(((1 << 26,),), cases[0].options),),
    )


def copied(array: Any) -> Any:
    """A copy of an array, of its library."""
    own = operand("array", array)
    made = empty(own, own.shape)
    copy("copy", made, own)
    return finish(made)


def _by_torch(
    kind: str,
    states: Callable[..., tuple[str, ...]],
    foreign: Mapping[str, str],
    torch_state: Callable[..., Mapping[str, float]],
) -> Callable[..., Any]:
    def by_torch(t: Any, param: Any, grad: Any, *given: Any, **options: Any) -> tuple[Any, ...]:
        own = t.nn.Parameter(param.clone())
        own.grad = grad.clone()
        names = [foreign.get(name, name) for name in states(**options)]
        rest = {name: value for name, value in options.items() if name != "step"}
        optimizer = getattr(t.optim, kind)([own], **rest)
        kept = torch_state(**options).items()
        numbers = {name: t.tensor(value, dtype=t.float64) for name, value in kept}
        fresh = {name: value.clone() for name, value in zip(names, given, strict=True)}
        before = t.tensor(options.get("step", 1) - 1.0)
        optimizer.state[own] = {"step": before, **numbers, **fresh}
        optimizer.step()
        return (own.detach(), *(optimizer.state[own][name] for name in names))

    return by_torch
