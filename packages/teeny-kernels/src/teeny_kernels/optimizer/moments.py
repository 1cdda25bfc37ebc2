"""Steps by the first two moments of the gradient: adam, adamw, adamax, nadam and radam.

    m <- b1 m + (1 - b1) g;   v <- b2 v + (1 - b2) g^2     (adamax: v <- max(b2 v, |g| + eps))
    p <- p - lr m' / (sqrt(v') + eps),   m' = m / (1 - b1^t),   v' = v / (1 - b2^t)

With `amsgrad`, the largest v so far takes its place in the step (Reddi, Kale, Kumar 2018). Names,
defaults and meanings of torch.optim. Parameter and state are changed in place; the state is zeros
before step 1.
"""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from teeny_kernels.codes import E1204
from teeny_kernels.optimizer.rules import KERNELS
from teeny_kernels.optimizer.run import require_step, step_in_place
from teeny_kernels.optimizer.specs import step_cases, step_spec

if TYPE_CHECKING:
    from teeny_kernels.options import Betas, NotNegative
    from teeny_macros import Kernel

A = TypeVar("A")


def adam_step(
    param: A,
    grad: A,
    exp_avg: A,
    exp_avg_sq: A,
    max_exp_avg_sq: A | None = None,
    *,
    step: int,
    lr: NotNegative = 1e-3,
    betas: Betas = (0.9, 0.999),
    eps: NotNegative = 1e-8,
    weight_decay: NotNegative = 0.0,
    amsgrad: bool = False,
    maximize: bool = False,
) -> None:
    """One step of Adam with bias correction; changes `param`, `exp_avg` and `exp_avg_sq`.

    `step` counts from 1; `weight_decay` times the parameter is added to the gradient.

    With `amsgrad`, `max_exp_avg_sq` is changed too.

    Raises:
        KernelError: E1201-E1203, E1206; E1204 for `amsgrad` without its array.
    """
    kernel, states = _moments("adam_step", exp_avg, exp_avg_sq, max_exp_avg_sq, amsgrad)
    numbers = _adam_numbers("adam_step", step, lr, betas, eps)
    step_in_place(
        "adam_step",
        kernel,
        param,
        grad,
        states,
        numbers,
        decay=weight_decay,
        maximize=maximize,
    )


def adamw_step(
    param: A,
    grad: A,
    exp_avg: A,
    exp_avg_sq: A,
    max_exp_avg_sq: A | None = None,
    *,
    step: int,
    lr: NotNegative = 1e-3,
    betas: Betas = (0.9, 0.999),
    eps: NotNegative = 1e-8,
    weight_decay: NotNegative = 1e-2,
    amsgrad: bool = False,
    maximize: bool = False,
) -> None:
    """One step of AdamW: Adam that shrinks the parameter by 1 - lr weight_decay; in place.

    `step` counts from 1.

    With `amsgrad`, `max_exp_avg_sq` is changed too.

    Raises:
        KernelError: E1201-E1203, E1206; E1204 for `amsgrad` without its array.
    """
    kernel, states = _moments("adamw_step", exp_avg, exp_avg_sq, max_exp_avg_sq, amsgrad)
    numbers = _adam_numbers("adamw_step", step, lr, betas, eps)
    step_in_place(
        "adamw_step",
        kernel,
        param,
        grad,
        states,
        numbers,
        shrink=1 - lr * weight_decay,
        maximize=maximize,
    )


def _moments(
    operation: str, exp_avg: Any, exp_avg_sq: Any, largest: Any, amsgrad: bool
) -> tuple[Kernel[...], dict[str, Any]]:
    states = {"exp_avg": exp_avg, "exp_avg_sq": exp_avg_sq}
    if not amsgrad:
        return KERNELS["adam"], states
    if largest is None:
        raise E1204.error(operation=operation, name="max_exp_avg_sq", found="None").help(
            "with amsgrad give an array of the shape of `param`, zeros at first"
        )
    return KERNELS["adam_amsgrad"], {**states, "max_exp_avg_sq": largest}


def _adam_numbers(
    operation: str, step: int, lr: float, betas: Betas, eps: float
) -> tuple[float, ...]:
    require_step(operation, step)
    rate, root = lr / (1 - betas[0] ** step), 1 / sqrt(1 - betas[1] ** step)
    return rate, 1 - betas[0], betas[1], 1 - betas[1], root, eps


def adamax_step(
    param: A,
    grad: A,
    exp_avg: A,
    exp_inf: A,
    *,
    step: int,
    lr: NotNegative = 2e-3,
    betas: Betas = (0.9, 0.999),
    eps: NotNegative = 1e-8,
    weight_decay: NotNegative = 0.0,
    maximize: bool = False,
) -> None:
    """One step of Adamax, Adam by the largest gradient; changes `param` and the state.

    `step` counts from 1.

    Raises:
        KernelError: E1201-E1204, E1206.
    """
    require_step("adamax_step", step)
    step_in_place(
        "adamax_step",
        KERNELS["adamax"],
        param,
        grad,
        {"exp_avg": exp_avg, "exp_inf": exp_inf},
        (lr / (1 - betas[0] ** step), 1 - betas[0], betas[1], eps),
        decay=weight_decay,
        maximize=maximize,
    )


def nadam_step(
    param: A,
    grad: A,
    exp_avg: A,
    exp_avg_sq: A,
    *,
    step: int,
    lr: NotNegative = 2e-3,
    betas: Betas = (0.9, 0.999),
    eps: NotNegative = 1e-8,
    weight_decay: NotNegative = 0.0,
    momentum_decay: NotNegative = 4e-3,
    decoupled_weight_decay: bool = False,
    maximize: bool = False,
) -> None:
    """One step of NAdam, Adam with Nesterov's momentum; changes `param` and the state.

    `step` counts from 1; the momentum of step t is betas[0] (1 - 0.96^(t momentum_decay) / 2).

    Raises:
        KernelError: E1201-E1204, E1206.
    """
    require_step("nadam_step", step)
    product, mu, ahead = _momenta(step, betas[0], momentum_decay)
    numbers = (
        lr * (1 - mu) / (1 - product),
        1 - betas[0],
        betas[1],
        1 - betas[1],
        1 / sqrt(1 - betas[1] ** step),
        eps,
        lr * ahead / (1 - product * ahead),
    )
    step_in_place(
        "nadam_step",
        KERNELS["nadam"],
        param,
        grad,
        {"exp_avg": exp_avg, "exp_avg_sq": exp_avg_sq},
        numbers,
        decay=0.0 if decoupled_weight_decay else weight_decay,
        shrink=1 - lr * weight_decay if decoupled_weight_decay else 1.0,
        maximize=maximize,
    )


# The product of the momenta of NAdam up to a step, for the last step asked for.
_products: dict[tuple[float, float], tuple[int, float]] = {}


def _momenta(step: int, beta: float, decay: float) -> tuple[float, float, float]:
    """The product of the momenta up to `step`, that of `step`, and that of the next."""

    def mu(t: int) -> float:
        return beta * (1 - 0.5 * 0.96 ** (t * decay))

    done, product = _products.get((beta, decay), (0, 1.0))
    if done > step:
        done, product = 0, 1.0
    for t in range(done + 1, step + 1):
        product *= mu(t)
        if product < 1e-300:  # it counts beside 1
            break
    _products[beta, decay] = step, product
    return product, mu(step), mu(step + 1)


def radam_step(
    param: A,
    grad: A,
    exp_avg: A,
    exp_avg_sq: A,
    *,
    step: int,
    lr: NotNegative = 1e-3,
    betas: Betas = (0.9, 0.999),
    eps: NotNegative = 1e-8,
    weight_decay: NotNegative = 0.0,
    decoupled_weight_decay: bool = False,
    maximize: bool = False,
) -> None:
    """One step of RAdam; changes `param`, `exp_avg` and `exp_avg_sq`.

    `step` counts from 1. While the variance of the adaptive rate is not tractable (the length of
    the average is at most 5, so in the first 5 steps with the default betas), the step is lr m'.

    Raises:
        KernelError: E1201-E1204, E1206.
    """
    require_step("radam_step", step)
    longest = 2 / (1 - betas[1]) - 1
    bias = 1 - betas[1] ** step
    length = longest - 2 * step * betas[1] ** step / bias
    rate, kernel = lr / (1 - betas[0] ** step), KERNELS["radam_early"]
    if length > 5.0:
        kernel = KERNELS["radam"]
        above = (length - 4) * (length - 2) * longest
        rate *= sqrt(bias * above / ((longest - 4) * (longest - 2) * length))
    step_in_place(
        "radam_step",
        kernel,
        param,
        grad,
        {"exp_avg": exp_avg, "exp_avg_sq": exp_avg_sq},
        (rate, 1 - betas[0], betas[1], 1 - betas[1], eps),
        decay=0.0 if decoupled_weight_decay else weight_decay,
        shrink=1 - lr * weight_decay if decoupled_weight_decay else 1.0,
        maximize=maximize,
    )


def _averaged(p: Any, g: Any, m: Any, v: Any, options: dict[str, Any]) -> tuple[Any, ...]:
    """Parameter and gradient after the decay, and the two averages."""
    decay = options.get("weight_decay", 0.0)
    g = -g if options.get("maximize") else g
    if options.get("decoupled_weight_decay"):
        p = p * (1 - options["lr"] * decay)
    elif decay:
        g = g + decay * p
    b1, b2 = options["betas"]
    return p, g, m + (1 - b1) * (g - m), b2 * v + (1 - b2) * g**2


def _with(options: dict[str, Any], **defaults: Any) -> dict[str, Any]:
    return {"betas": (0.9, 0.999), "eps": 1e-8, **defaults, **options}


def _adam(p: Any, g: Any, m: Any, v: Any, *largest: Any, **given: Any) -> tuple[Any, ...]:
    own = _with(given, lr=1e-3)
    p, g, m, v = _averaged(p, g, m, v, own)
    (b1, b2), t = own["betas"], own["step"]
    kept = [np.maximum(top, v) for top in largest]
    first, second = m / (1 - b1**t), (kept[0] if kept else v) / (1 - b2**t)
    return p - own["lr"] * first / (np.sqrt(second) + own["eps"]), m, v, *kept


def _adamw(p: Any, g: Any, m: Any, v: Any, *largest: Any, **given: Any) -> tuple[Any, ...]:
    own = _with(given, lr=1e-3, weight_decay=1e-2)
    return _adam(p, g, m, v, *largest, **own, decoupled_weight_decay=True)


def _adamax(p: Any, g: Any, m: Any, u: Any, **given: Any) -> tuple[Any, ...]:
    own = _with(given, lr=2e-3)
    p, g, m, _ = _averaged(p, g, m, u, own)
    (b1, b2), t = own["betas"], own["step"]
    u = np.maximum(b2 * u, np.abs(g) + own["eps"])
    return p - own["lr"] / (1 - b1**t) * m / u, m, u


def _nadam(p: Any, g: Any, m: Any, v: Any, **given: Any) -> tuple[Any, ...]:
    own = _with(given, lr=2e-3, momentum_decay=4e-3)
    p, g, m, v = _averaged(p, g, m, v, own)
    (b1, b2), t = own["betas"], int(own["step"])
    mu = b1 * (1 - 0.5 * 0.96 ** (np.arange(1, t + 2) * own["momentum_decay"]))
    below = np.sqrt(v / (1 - b2**t)) + own["eps"]
    here = own["lr"] * (1 - mu[t - 1]) / (1 - mu[:t].prod()) * g / below
    return p - here - own["lr"] * mu[t] / (1 - mu.prod()) * m / below, m, v


def _radam(p: Any, g: Any, m: Any, v: Any, **given: Any) -> tuple[Any, ...]:
    own = _with(given, lr=1e-3)
    p, g, m, v = _averaged(p, g, m, v, own)
    (b1, b2), t = own["betas"], own["step"]
    most = 2 / (1 - b2) - 1
    rho = most - 2 * t * b2**t / (1 - b2**t)
    moved = own["lr"] * m / (1 - b1**t)
    if rho > 5:
        rect = np.sqrt((rho - 4) * (rho - 2) * most / ((most - 4) * (most - 2) * rho))
        moved = moved * rect * np.sqrt(1 - b2**t) / (np.sqrt(v) + own["eps"])
    return p - moved, m, v


def _product(
    step: int, betas: Betas = (0.9, 0.999), momentum_decay: float = 4e-3, **_: Any
) -> dict[str, float]:
    mu = betas[0] * (1 - 0.5 * 0.96 ** (np.arange(1, step) * momentum_decay))
    return {"mu_product": float(mu.prod())}


_COMMON: dict[str, Any] = {"states": lambda **_: ("exp_avg", "exp_avg_sq")}
_MAYBE_LARGEST: dict[str, Any] = {
    "states": lambda amsgrad=False, **_: (
        ("exp_avg", "exp_avg_sq", "max_exp_avg_sq") if amsgrad else ("exp_avg", "exp_avg_sq")
    )
}
_FIRST: dict[str, Any] = {"step": 1}
_OPTIONS: tuple[dict[str, Any], ...] = (
    {"step": 10, "lr": 0.1, "betas": (0.8, 0.95)},
    {"step": 100, "weight_decay": 0.01, "eps": 1e-3},
    {"step": 3, "maximize": True},
)
_AMSGRAD: tuple[dict[str, Any], ...] = ({"step": 5, "lr": 0.1, "amsgrad": True},)
_DECOUPLED = {"step": 7, "lr": 0.1, "weight_decay": 0.1, "decoupled_weight_decay": True}

SPECS = (
    step_spec(
        adam_step,
        kernels=("adam", "adam_amsgrad"),
        formula="p = p - lr m / (1 - b1^t) / (sqrt(v / (1 - b2^t)) + eps)",
        source="Kingma, Ba 2015",
        reference=_adam,
        torch_name="Adam",
        cases=step_cases(*_OPTIONS, *_AMSGRAD, first=_FIRST),
        **_MAYBE_LARGEST,
    ),
    step_spec(
        adamw_step,
        kernels=("adam", "adam_amsgrad"),
        formula="p = (1 - lr wd) p - lr m / (1 - b1^t) / (sqrt(v / (1 - b2^t)) + eps)",
        source="Loshchilov, Hutter 2019",
        reference=_adamw,
        torch_name="AdamW",
        cases=step_cases(*_OPTIONS, *_AMSGRAD, first=_FIRST),
        **_MAYBE_LARGEST,
    ),
    step_spec(
        adamax_step,
        kernels=("adamax",),
        states=lambda **_: ("exp_avg", "exp_inf"),
        formula="u = max(b2 u, |g| + eps);  p = p - lr / (1 - b1^t) m / u",
        source="Kingma, Ba 2015, section 7.1",
        reference=_adamax,
        torch_name="Adamax",
        cases=step_cases(*_OPTIONS, first=_FIRST),
    ),
    step_spec(
        nadam_step,
        kernels=("nadam",),
        formula="p = p - lr ((1 - mu) g / (1 - prod mu) + mu' m / (1 - mu' prod mu)) / (...)",
        source="Dozat 2016",
        reference=_nadam,
        torch_name="NAdam",
        torch_state=_product,
        cases=step_cases(*_OPTIONS, _DECOUPLED, {"step": 4, "momentum_decay": 0.1}, first=_FIRST),
        **_COMMON,
    ),
    step_spec(
        radam_step,
        kernels=("radam", "radam_early"),
        formula="p = p - lr m' r sqrt(1 - b2^t) / (sqrt(v) + eps), or p - lr m' in early steps",
        source="Liu et al. 2020",
        reference=_radam,
        torch_name="RAdam",
        cases=step_cases(*_OPTIONS, _DECOUPLED, {"step": 6}, first=_FIRST),
        **_COMMON,
    ),
)
