"""Steps along the gradient or its sign: sgd, asgd, rprop and lion.

    sgd:   b <- momentum b + (1 - dampening) g;   p <- p - lr b        (Nesterov: g + momentum b)
    asgd:  p <- (1 - lambd eta) p - eta g;        ax <- ax + mu (p - ax)
    rprop: s <- clamp(s eta+-, least, most);      p <- p - sign(g) s
    lion:  p <- (1 - lr wd) p - lr sign(b1 m + (1 - b1) g);   m <- b2 m + (1 - b2) g

Names, defaults and meanings of torch.optim. Parameter and state are changed in place.
"""

from __future__ import annotations

from math import exp, log1p
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from teeny_kernels.codes import E1204
from teeny_kernels.optimizer.rules import KERNELS
from teeny_kernels.optimizer.run import require_step, step_in_place
from teeny_kernels.optimizer.specs import step_cases, step_spec
from teeny_kernels.options import require

if TYPE_CHECKING:
    from teeny_kernels.options import Betas, NotNegative

A = TypeVar("A")


def sgd_step(
    param: A,
    grad: A,
    momentum_buffer: A | None = None,
    *,
    step: int = 1,
    lr: NotNegative = 1e-3,
    momentum: NotNegative = 0.0,
    dampening: float = 0.0,
    weight_decay: NotNegative = 0.0,
    nesterov: bool = False,
    maximize: bool = False,
) -> None:
    """One step of gradient descent, with momentum when it is not 0; changes `param` and the buffer.

    `momentum_buffer` is of the shape of `param`, zeros before step 1; `step` counts from 1 and
    leaves the dampening out of the first.

    Raises:
        KernelError: E1201-E1203, E1206; E1204 for momentum without a buffer, and for Nesterov's
            without momentum or with dampening.
    """
    require_step("sgd_step", step)
    if nesterov and (momentum <= 0 or dampening != 0):
        raise E1204.error(operation="sgd_step", name="nesterov", found="True").help(
            "it takes a momentum and no dampening"
        )
    kernel, states, numbers = KERNELS["sgd"], {}, [lr]
    if momentum != 0:
        if momentum_buffer is None:
            raise E1204.error(operation="sgd_step", name="momentum_buffer", found="None").help(
                "with momentum give an array of the shape of `param`, zeros at first"
            )
        kernel = KERNELS["sgd_nesterov" if nesterov else "sgd_momentum"]
        states = {"momentum_buffer": momentum_buffer}
        numbers += [momentum, 1.0 if step == 1 else 1.0 - dampening]
    step_in_place(
        "sgd_step", kernel, param, grad, states, numbers, decay=weight_decay, maximize=maximize
    )


def asgd_step(
    param: A,
    grad: A,
    ax: A,
    *,
    step: int,
    lr: NotNegative = 1e-2,
    lambd: NotNegative = 1e-4,
    alpha: NotNegative = 0.75,
    t0: float = 1e6,
    weight_decay: NotNegative = 0.0,
    maximize: bool = False,
) -> None:
    """One step of averaged descent; changes `param` and `ax`, the average of the parameters.

    `step` counts from 1. The rate of step t is lr / (1 + lambd lr (t - 1))^alpha; the average
    follows the parameter up to step `t0` + 2.

    Raises:
        KernelError: E1201-E1204, E1206.
    """
    require_step("asgd_step", step)
    eta, mu = _asgd_numbers(step, lr, lambd, alpha, t0)
    # The gradient with weight_decay is that at the parameter before it shrinks.
    step_in_place(
        "asgd_step",
        KERNELS["asgd"],
        param,
        grad,
        {"ax": ax},
        (eta, mu),
        decay=weight_decay,
        shrink=1 - lambd * eta,
        maximize=maximize,
    )


def _asgd_numbers(
    step: int, lr: float, lambd: float, alpha: float, t0: float
) -> tuple[float, float]:
    # A power that is too large for a float is no error this way.
    return lr * exp(-alpha * log1p(lambd * lr * (step - 1))), 1 / max(1.0, step - 1 - t0)


def rprop_step(
    param: A,
    grad: A,
    prev: A,
    step_size: A,
    *,
    etas: tuple[float, float] = (0.5, 1.2),
    step_sizes: tuple[float, float] = (1e-6, 50.0),
    maximize: bool = False,
) -> None:
    """One step of resilient backpropagation; changes `param`, `prev` and `step_size`.

    Before the first step `prev` is zeros and `step_size` the learning rate. Where the gradient
    turned, the size shrinks by `etas[0]` and the parameter waits; where it did not, it grows by
    `etas[1]`, within `step_sizes`.

    Raises:
        KernelError: E1201-E1204, E1206.
    """
    turned, same = etas
    fits = 0 < turned < 1 < same
    require("rprop_step", "etas", etas, fits, "a factor between 0 and 1, and one above 1")
    fits = 0 <= step_sizes[0] <= step_sizes[1]
    require("rprop_step", "step_sizes", step_sizes, fits, "the smallest size, then the largest")
    states = {"prev": prev, "step_size": step_size}
    step_in_place(
        "rprop_step", KERNELS["rprop"], param, grad, states, (*etas, *step_sizes), maximize=maximize
    )


def lion_step(
    param: A,
    grad: A,
    exp_avg: A,
    *,
    lr: NotNegative = 1e-4,
    betas: Betas = (0.9, 0.99),
    weight_decay: NotNegative = 0.0,
    maximize: bool = False,
) -> None:
    """One step of Lion, along the sign of an average; changes `param` and `exp_avg`.

    `exp_avg` is zeros before the first step; the weight decay is decoupled.

    Raises:
        KernelError: E1201-E1204, E1206.
    """
    step_in_place(
        "lion_step",
        KERNELS["lion"],
        param,
        grad,
        {"exp_avg": exp_avg},
        (lr, betas[0], 1 - betas[0], 1 - betas[1]),
        shrink=1 - lr * weight_decay,
        maximize=maximize,
    )


def _sign(x: Any) -> Any:
    return np.where(np.isnan(x), 0.0, np.sign(x))


def _gradient(p: Any, g: Any, decay: float, maximize: bool) -> Any:
    g = -g if maximize else g
    return g + decay * p if decay else g


def _sgd(
    p: Any,
    g: Any,
    *given: Any,
    step: int = 1,
    lr: float = 1e-3,
    momentum: float = 0.0,
    dampening: float = 0.0,
    weight_decay: float = 0.0,
    nesterov: bool = False,
    maximize: bool = False,
) -> tuple[Any, ...]:
    g = _gradient(p, g, weight_decay, maximize)
    if not momentum:
        return (p - lr * g,)
    buffer = momentum * given[0] + (1 if step == 1 else 1 - dampening) * g
    return p - lr * (g + momentum * buffer if nesterov else buffer), buffer


def _asgd(
    p: Any,
    g: Any,
    ax: Any,
    step: int,
    lr: float = 1e-2,
    lambd: float = 1e-4,
    alpha: float = 0.75,
    t0: float = 1e6,
    weight_decay: float = 0.0,
    maximize: bool = False,
) -> tuple[Any, ...]:
    g = _gradient(p, g, weight_decay, maximize)
    eta = lr if step == 1 else lr / (1 + lambd * lr * (step - 1)) ** alpha
    p = p * (1 - lambd * eta) - eta * g
    mu = 1 / max(1, step - 1 - t0)
    return p, (p if mu == 1 else ax + mu * (p - ax))


def _rprop(
    p: Any,
    g: Any,
    prev: Any,
    size: Any,
    etas: tuple[float, float] = (0.5, 1.2),
    step_sizes: tuple[float, float] = (1e-6, 50.0),
    maximize: bool = False,
) -> tuple[Any, ...]:
    g = -g if maximize else g
    turned, agreed = _sign(g) * _sign(prev) < 0, _sign(g) * _sign(prev) > 0
    size = np.clip(size * np.select([turned, agreed], etas, 1.0), *step_sizes)
    g = np.where(turned, 0.0, g)
    return p - _sign(g) * size, g, size


def _lion(
    p: Any,
    g: Any,
    m: Any,
    lr: float = 1e-4,
    betas: tuple[float, float] = (0.9, 0.99),
    weight_decay: float = 0.0,
    maximize: bool = False,
) -> tuple[Any, ...]:
    g = -g if maximize else g
    moved = lr * _sign(betas[0] * m + (1 - betas[0]) * g)
    return p * (1 - lr * weight_decay) - moved, m + (1 - betas[1]) * (g - m)


def _asgd_state(step: int, lr: float = 1e-2, lambd: float = 1e-4, alpha: float = 0.75,
                t0: float = 1e6, **_: Any) -> dict[str, float]:  # fmt: skip
    eta, mu = _asgd_numbers(step, lr, lambd, alpha, t0)
    return {"eta": eta, "mu": mu}


SPECS = (
    step_spec(
        sgd_step,
        kernels=("sgd", "sgd_momentum", "sgd_nesterov"),
        states=lambda momentum=0.0, **_: ("momentum_buffer",) if momentum else (),
        formula="b = momentum b + (1 - dampening) g;  p = p - lr b, or p - lr (g + momentum b)",
        source="Sutskever et al. 2013",
        reference=_sgd,
        torch_name="SGD",
        cases=step_cases(
            {"lr": 0.1, "weight_decay": 0.01},
            {"lr": 0.1, "momentum": 0.9, "step": 2},
            {"momentum": 0.9, "dampening": 0.3, "step": 3, "maximize": True},
            {"momentum": 0.8, "nesterov": True, "weight_decay": 0.02, "step": 4},
        ),
    ),
    step_spec(
        asgd_step,
        kernels=("asgd",),
        states=lambda **_: ("ax",),
        formula="p = (1 - lambd eta) p - eta g;  ax = ax + mu (p - ax)",
        source="Polyak, Juditsky 1992",
        reference=_asgd,
        torch_name="ASGD",
        torch_state=_asgd_state,
        cases=step_cases(
            {"step": 9, "t0": 2.0, "lr": 0.1},
            {"step": 30, "t0": 1.0, "lambd": 0.01, "alpha": 0.6, "weight_decay": 0.01},
            {"step": 2, "maximize": True},
            first={"step": 1},
        ),
    ),
    step_spec(
        rprop_step,
        kernels=("rprop",),
        states=lambda **_: ("prev", "step_size"),
        formula="s = clamp(s eta, least, most);  p = p - sign(g) s where the sign did not turn",
        source="Riedmiller, Braun 1993",
        reference=_rprop,
        torch_name="Rprop",
        cases=step_cases(
            {"etas": (0.4, 1.5)}, {"step_sizes": (0.5, 0.9)}, {"maximize": True}
        ),
    ),
    step_spec(
        lion_step,
        kernels=("lion",),
        states=lambda **_: ("exp_avg",),
        formula="p = (1 - lr wd) p - lr sign(b1 m + (1 - b1) g);  m = b2 m + (1 - b2) g",
        source="Chen et al. 2023, Symbolic discovery of optimization algorithms",
        reference=_lion,
        cases=step_cases(
            {"lr": 0.1, "weight_decay": 0.1}, {"betas": (0.8, 0.9)}, {"maximize": True}
        ),
    ),
)  # fmt: skip
