"""Steps scaled by past squared gradients: rmsprop, adagrad and adadelta.

    rmsprop:  v <- alpha v + (1 - alpha) g^2;   p <- p - lr g / (sqrt(v - mean^2) + eps)
    adagrad:  v <- v + g^2;                     p <- p - lr g / (sqrt(v) + eps)
    adadelta: d = sqrt(u + eps) / sqrt(v + eps) g;  p <- p - lr d;  u <- rho u + (1 - rho) d^2

Names, defaults and meanings of torch.optim. Parameter and state are changed in place.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from teeny_kernels.codes import E1204
from teeny_kernels.optimizer.rules import KERNELS
from teeny_kernels.optimizer.run import require_step, step_in_place
from teeny_kernels.optimizer.specs import step_cases, step_spec

if TYPE_CHECKING:
    from teeny_kernels.options import NotNegative, Probability

A = TypeVar("A")


def rmsprop_step(
    param: A,
    grad: A,
    square_avg: A,
    momentum_buffer: A | None = None,
    grad_avg: A | None = None,
    *,
    lr: NotNegative = 1e-2,
    alpha: NotNegative = 0.99,
    eps: NotNegative = 1e-8,
    weight_decay: NotNegative = 0.0,
    momentum: NotNegative = 0.0,
    centered: bool = False,
    maximize: bool = False,
) -> None:
    """One step of RMSprop; changes `param` and the state, which is zeros before the first step.

    `momentum_buffer` is needed with `momentum`, `grad_avg` when it is `centered`.

    Raises:
        KernelError: E1201-E1203, E1206; E1204 where the options need state that is missing.
    """
    states: dict[str, Any] = {"square_avg": square_avg}
    for option, name, array, wanted in (
        ("centered", "grad_avg", grad_avg, centered),
        ("momentum", "momentum_buffer", momentum_buffer, momentum != 0),
    ):
        if wanted and array is None:
            raise E1204.error(operation="rmsprop_step", name=name, found="None").help(
                f"`{option}` needs it: an array of the shape of `param`, zeros at first"
            )
        if wanted:
            states[name] = array
    kinds = {(False, False): "", (False, True): "_momentum", (True, False): "_centered"}
    kernel = KERNELS["rmsprop" + kinds.get((centered, momentum != 0), "_both")]
    numbers = (lr, alpha, 1 - alpha, eps, momentum)
    step_in_place(
        "rmsprop_step", kernel, param, grad, states, numbers, decay=weight_decay, maximize=maximize
    )


def adagrad_step(
    param: A,
    grad: A,
    state_sum: A,
    *,
    step: int,
    lr: NotNegative = 1e-2,
    lr_decay: NotNegative = 0.0,
    weight_decay: NotNegative = 0.0,
    eps: NotNegative = 1e-10,
    maximize: bool = False,
) -> None:
    """One step of Adagrad; changes `param` and `state_sum`, the sum of squared gradients.

    `step` counts from 1; step t has the rate lr / (1 + (t - 1) lr_decay).

    Raises:
        KernelError: E1201-E1204, E1206.
    """
    require_step("adagrad_step", step)
    rate = lr / (1 + (step - 1) * lr_decay)
    step_in_place(
        "adagrad_step",
        KERNELS["adagrad"],
        param,
        grad,
        {"state_sum": state_sum},
        (rate, eps),
        decay=weight_decay,
        maximize=maximize,
    )


def adadelta_step(
    param: A,
    grad: A,
    square_avg: A,
    acc_delta: A,
    *,
    lr: NotNegative = 1.0,
    rho: Probability = 0.9,
    eps: NotNegative = 1e-6,
    weight_decay: NotNegative = 0.0,
    maximize: bool = False,
) -> None:
    """One step of Adadelta; changes `param` and the state, which is zeros before the first step.

    Raises:
        KernelError: E1201-E1204, E1206.
    """
    step_in_place(
        "adadelta_step",
        KERNELS["adadelta"],
        param,
        grad,
        {"square_avg": square_avg, "acc_delta": acc_delta},
        (lr, rho, 1 - rho, eps),
        decay=weight_decay,
        maximize=maximize,
    )


def _gradient(p: Any, g: Any, decay: float, maximize: bool) -> Any:
    g = -g if maximize else g
    return g + decay * p if decay else g


def _rmsprop_states(momentum: float = 0.0, centered: bool = False, **_: Any) -> tuple[str, ...]:
    names = ("square_avg",)
    names += ("grad_avg",) if centered else ()
    return (*names, "momentum_buffer") if momentum else names


def _rmsprop(
    p: Any,
    g: Any,
    v: Any,
    *given: Any,
    lr: float = 1e-2,
    alpha: float = 0.99,
    eps: float = 1e-8,
    weight_decay: float = 0.0,
    momentum: float = 0.0,
    centered: bool = False,
    maximize: bool = False,
) -> tuple[Any, ...]:
    g = _gradient(p, g, weight_decay, maximize)
    v = alpha * v + (1 - alpha) * g**2
    found, below = [v], v
    if centered:
        mean = given[0] + (1 - alpha) * (g - given[0])
        below = v - mean**2
        found.append(mean)
    moved = g / (np.sqrt(below) + eps)
    if momentum:
        moved = momentum * given[-1] + moved
        found.append(moved)
    return (p - lr * moved, *found)


def _adagrad(
    p: Any,
    g: Any,
    total: Any,
    step: int,
    lr: float = 1e-2,
    lr_decay: float = 0.0,
    weight_decay: float = 0.0,
    eps: float = 1e-10,
    maximize: bool = False,
) -> tuple[Any, ...]:
    g = _gradient(p, g, weight_decay, maximize)
    total = total + g**2
    return p - lr / (1 + (step - 1) * lr_decay) * g / (np.sqrt(total) + eps), total


def _adadelta(
    p: Any,
    g: Any,
    v: Any,
    u: Any,
    lr: float = 1.0,
    rho: float = 0.9,
    eps: float = 1e-6,
    weight_decay: float = 0.0,
    maximize: bool = False,
) -> tuple[Any, ...]:
    g = _gradient(p, g, weight_decay, maximize)
    v = rho * v + (1 - rho) * g**2
    delta = np.sqrt(u + eps) / np.sqrt(v + eps) * g
    return p - lr * delta, v, rho * u + (1 - rho) * delta**2


SPECS = (
    step_spec(
        rmsprop_step,
        kernels=("rmsprop", "rmsprop_momentum", "rmsprop_centered", "rmsprop_both"),
        states=_rmsprop_states,
        formula="v = alpha v + (1 - alpha) g^2;  p = p - lr g / (sqrt(v - mean^2) + eps)",
        source="Hinton 2012, lecture 6e; centered: Graves 2013",
        reference=_rmsprop,
        torch_name="RMSprop",
        cases=step_cases(
            {"momentum": 0.9, "lr": 0.1},
            {"centered": True, "alpha": 0.9},
            {"centered": True, "momentum": 0.8, "weight_decay": 0.01},
            {"eps": 1e-3, "maximize": True},
        ),
        ulps=32,
        reason="a root and a quotient; centered, v - mean^2 cancels to a third of v",
    ),
    step_spec(
        adagrad_step,
        kernels=("adagrad",),
        states=lambda **_: ("state_sum",),
        formula="s = s + g^2;  p = p - lr / (1 + (t - 1) lr_decay) g / (sqrt(s) + eps)",
        source="Duchi, Hazan, Singer 2011",
        reference=_adagrad,
        torch_name="Adagrad",
        torch_names={"state_sum": "sum"},
        cases=step_cases(
            {"step": 7, "lr": 0.1, "lr_decay": 0.1},
            {"step": 2, "weight_decay": 0.01, "eps": 1e-3},
            {"step": 1, "maximize": True},
            first={"step": 1},
        ),
    ),
    step_spec(
        adadelta_step,
        kernels=("adadelta",),
        states=lambda **_: ("square_avg", "acc_delta"),
        formula="v = rho v + (1 - rho) g^2;  d = sqrt((u + eps) / (v + eps)) g;  p = p - lr d",
        source="Zeiler 2012",
        reference=_adadelta,
        torch_name="Adadelta",
        cases=step_cases(
            {"rho": 0.7, "lr": 0.5}, {"weight_decay": 0.01, "eps": 1e-3}, {"maximize": True}
        ),
        ulps=16,
    ),
)
