"""The table of update rules: the mathematics of one element, and the kernels made of it.

A rule gets the parameter `p`, its gradient `g`, the state and the numbers `h` that its caller in
this package computes once for a step. Formulas and sources stand with the public functions.
"""

from __future__ import annotations

from typing import Any

import teeny_triton as tl
from teeny_kernels.numerics import R
from teeny_kernels.optimizer.templates import update
from teeny_macros import device
from teeny_triton import PropagateNan, Tensor, f32

Numbers = Any  # a tuple of f32 (f64 for f64)


@device
def sign_of(x: Tensor[f32, R]) -> Tensor[f32, R]:
    """-1, 0 or 1; 0 for NaN, as in PyTorch."""
    return tl.where(x > 0.0, 1.0, tl.where(x < 0.0, -1.0, 0.0)).to(x.dtype)


@device
def descent_rule(p: Tensor[f32, R], g: Tensor[f32, R], h: Numbers) -> Tensor[f32, R]:
    return p - g * h[0]


@device
def momentum_rule(
    p: Tensor[f32, R], g: Tensor[f32, R], a: Tensor[f32, R], h: Numbers
) -> tuple[Tensor[f32, R], Tensor[f32, R]]:
    a = a * h[1] + g * h[2]
    return p - a * h[0], a


@device
def nesterov_rule(
    p: Tensor[f32, R], g: Tensor[f32, R], a: Tensor[f32, R], h: Numbers
) -> tuple[Tensor[f32, R], Tensor[f32, R]]:
    a = a * h[1] + g * h[2]
    return p - (g + a * h[1]) * h[0], a


@device
def lion_rule(
    p: Tensor[f32, R], g: Tensor[f32, R], a: Tensor[f32, R], h: Numbers
) -> tuple[Tensor[f32, R], Tensor[f32, R]]:
    ahead = a * h[1] + g * h[2]
    return p - sign_of(ahead) * h[0], a + (g - a) * h[3]


@device
def asgd_rule(
    p: Tensor[f32, R], g: Tensor[f32, R], a: Tensor[f32, R], h: Numbers
) -> tuple[Tensor[f32, R], Tensor[f32, R]]:
    p = p - g * h[0]
    return p, tl.where(h[1] == 1.0, p, a + (p - a) * h[1])


@device
def rprop_rule(
    p: Tensor[f32, R], g: Tensor[f32, R], prev: Tensor[f32, R], size: Tensor[f32, R], h: Numbers
) -> tuple[Tensor[f32, R], Tensor[f32, R], Tensor[f32, R]]:
    # The sign of the product, which itself may underflow.
    agreed = sign_of(g) * sign_of(prev)
    size = size * tl.where(agreed > 0.0, h[1], tl.where(agreed < 0.0, h[0], 1.0))
    size = tl.where(size < h[2], h[2], tl.where(size > h[3], h[3], size))
    g = tl.where(agreed < 0.0, 0.0, g)
    return p - sign_of(g) * size, g, size


@device
def adam_rule(
    p: Tensor[f32, R], g: Tensor[f32, R], m: Tensor[f32, R], v: Tensor[f32, R], h: Numbers
) -> tuple[Tensor[f32, R], Tensor[f32, R], Tensor[f32, R]]:
    m = m + (g - m) * h[1]
    v = v * h[2] + g * g * h[3]
    return p - m / (tl.sqrt_rn(v) * h[4] + h[5]) * h[0], m, v


@device
def adam_amsgrad_rule(
    p: Tensor[f32, R],
    g: Tensor[f32, R],
    m: Tensor[f32, R],
    v: Tensor[f32, R],
    top: Tensor[f32, R],
    h: Numbers,
) -> tuple[Tensor[f32, R], Tensor[f32, R], Tensor[f32, R], Tensor[f32, R]]:
    m = m + (g - m) * h[1]
    v = v * h[2] + g * g * h[3]
    top = tl.maximum(top, v, propagate_nan=PropagateNan.ALL)
    return p - m / (tl.sqrt_rn(top) * h[4] + h[5]) * h[0], m, v, top


@device
def radam_rule(
    p: Tensor[f32, R], g: Tensor[f32, R], m: Tensor[f32, R], v: Tensor[f32, R], h: Numbers
) -> tuple[Tensor[f32, R], Tensor[f32, R], Tensor[f32, R]]:
    m = m + (g - m) * h[1]
    v = v * h[2] + g * g * h[3]
    return p - m / (tl.sqrt_rn(v) + h[4]) * h[0], m, v


@device
def radam_early_rule(
    p: Tensor[f32, R], g: Tensor[f32, R], m: Tensor[f32, R], v: Tensor[f32, R], h: Numbers
) -> tuple[Tensor[f32, R], Tensor[f32, R], Tensor[f32, R]]:
    m = m + (g - m) * h[1]
    v = v * h[2] + g * g * h[3]
    return p - m * h[0], m, v


@device
def nadam_rule(
    p: Tensor[f32, R], g: Tensor[f32, R], m: Tensor[f32, R], v: Tensor[f32, R], h: Numbers
) -> tuple[Tensor[f32, R], Tensor[f32, R], Tensor[f32, R]]:
    m = m + (g - m) * h[1]
    v = v * h[2] + g * g * h[3]
    below = tl.sqrt_rn(v) * h[4] + h[5]
    return p - (g * h[0] + m * h[6]) / below, m, v


@device
def adamax_rule(
    p: Tensor[f32, R], g: Tensor[f32, R], m: Tensor[f32, R], u: Tensor[f32, R], h: Numbers
) -> tuple[Tensor[f32, R], Tensor[f32, R], Tensor[f32, R]]:
    m = m + (g - m) * h[1]
    kept: Tensor[f32, R] = u * h[2]
    least: Tensor[f32, R] = tl.abs(g) + h[3]
    u = tl.maximum(kept, least, propagate_nan=PropagateNan.ALL)
    return p - m / u * h[0], m, u


@device
def rmsprop_rule(
    p: Tensor[f32, R], g: Tensor[f32, R], v: Tensor[f32, R], h: Numbers
) -> tuple[Tensor[f32, R], Tensor[f32, R]]:
    v = v * h[1] + g * g * h[2]
    return p - g / (tl.sqrt_rn(v) + h[3]) * h[0], v


@device
def rmsprop_momentum_rule(
    p: Tensor[f32, R], g: Tensor[f32, R], v: Tensor[f32, R], a: Tensor[f32, R], h: Numbers
) -> tuple[Tensor[f32, R], Tensor[f32, R], Tensor[f32, R]]:
    v = v * h[1] + g * g * h[2]
    a = a * h[4] + g / (tl.sqrt_rn(v) + h[3])
    return p - a * h[0], v, a


@device
def rmsprop_centered_rule(
    p: Tensor[f32, R], g: Tensor[f32, R], v: Tensor[f32, R], mean: Tensor[f32, R], h: Numbers
) -> tuple[Tensor[f32, R], Tensor[f32, R], Tensor[f32, R]]:
    v = v * h[1] + g * g * h[2]
    mean = mean + (g - mean) * h[2]
    return p - g / (tl.sqrt_rn(v - mean * mean) + h[3]) * h[0], v, mean


@device
def rmsprop_both_rule(
    p: Tensor[f32, R],
    g: Tensor[f32, R],
    v: Tensor[f32, R],
    mean: Tensor[f32, R],
    a: Tensor[f32, R],
    h: Numbers,
) -> tuple[Tensor[f32, R], Tensor[f32, R], Tensor[f32, R], Tensor[f32, R]]:
    v = v * h[1] + g * g * h[2]
    mean = mean + (g - mean) * h[2]
    a = a * h[4] + g / (tl.sqrt_rn(v - mean * mean) + h[3])
    return p - a * h[0], v, mean, a


@device
def adagrad_rule(
    p: Tensor[f32, R], g: Tensor[f32, R], total: Tensor[f32, R], h: Numbers
) -> tuple[Tensor[f32, R], Tensor[f32, R]]:
    total = total + g * g
    return p - g / (tl.sqrt_rn(total) + h[1]) * h[0], total


@device
def adadelta_rule(
    p: Tensor[f32, R], g: Tensor[f32, R], v: Tensor[f32, R], moved: Tensor[f32, R], h: Numbers
) -> tuple[Tensor[f32, R], Tensor[f32, R], Tensor[f32, R]]:
    v = v * h[1] + g * g * h[2]
    above: Tensor[f32, R] = moved + h[3]
    below: Tensor[f32, R] = v + h[3]
    delta = tl.sqrt_rn(above) / tl.sqrt_rn(below) * g
    return p - delta * h[0], v, moved * h[1] + delta * delta * h[2]


# By name: the rule and how many arrays of state it has.
KERNELS = {
    name: update(f"{name}_step", rule, states=states)
    for name, rule, states in (
        ("sgd", descent_rule, 0),
        ("sgd_momentum", momentum_rule, 1),
        ("sgd_nesterov", nesterov_rule, 1),
        ("lion", lion_rule, 1),
        ("asgd", asgd_rule, 1),
        ("rprop", rprop_rule, 2),
        ("adam", adam_rule, 2),
        ("adam_amsgrad", adam_amsgrad_rule, 3),
        ("radam", radam_rule, 2),
        ("radam_early", radam_early_rule, 2),
        ("nadam", nadam_rule, 2),
        ("adamax", adamax_rule, 2),
        ("rmsprop", rmsprop_rule, 1),
        ("rmsprop_momentum", rmsprop_momentum_rule, 2),
        ("rmsprop_centered", rmsprop_centered_rule, 2),
        ("rmsprop_both", rmsprop_both_rule, 3),
        ("adagrad", adagrad_rule, 1),
        ("adadelta", adadelta_rule, 2),
    )
}
