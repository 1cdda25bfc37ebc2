"""Norms of arrays (N, C, *spatial): batch norm, group norm and instance norm.

    y = (x - mean) / sqrt(var + eps) weight_c + bias_c

with the statistics of a channel over N and the spatial axes (batch norm, Ioffe, Szegedy 2015), of
a group of channels of one sample (group norm, Wu, He 2018) or of a channel of one sample (instance
norm, Ulyanov et al. 2016). Kernels in channel_kernels.py and whole_kernels.py. Computed in f32 (f64
for f64).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any, TypeVar

import numpy as np

from teeny_kernels.arrays import operand
from teeny_kernels.codes import E1202, E1204
from teeny_kernels.norm import channel_run as run
from teeny_kernels.norm.channel_kernels import (
    channel_gradients,
    known_norm,
    running_update,
    set_norm_backward,
    set_norm_forward,
)
from teeny_kernels.norm.whole_kernels import whole_norm_backward
from teeny_kernels.spec import Case, Cost, KernelSpec, Tolerance
from teeny_kernels.testing import fill

A = TypeVar("A")
KERNELS = (set_norm_forward, set_norm_backward, whole_norm_backward, channel_gradients)


def batch_norm(
    x: A,
    running_mean: A | None,
    running_var: A | None,
    weight: A | None = None,
    bias: A | None = None,
    training: bool = False,
    momentum: float = 0.1,
    eps: float = 1e-5,
    *,
    out: A | None = None,
) -> A:
    """`x` (N, C, ...) with each channel shifted and scaled; the other arrays have C elements.

    With `training` the statistics are those of `x`, and `running_mean` and `running_var`, where
    given, move toward them in place by the share `momentum` (the variance by its unbiased value).
    Without it they are the statistics.

    Raises:
        KernelError: E1202 when a shape does not fit or a channel has one value in training, E1203,
            E1206, E1207; E1204 without statistics.
    """
    source = operand("x", x)
    if not training:
        _require_statistics("batch_norm", running_mean, running_var)
        found: A = run.known(
            "batch_norm", source, running_mean, running_var, weight, bias, eps, out
        )
        return found
    if source.ndim > 1 and source.shape[0] * prod(source.shape[2:]) == 1 and source.size:
        what = f"`x` {source.shape} has one value for each channel, whose variance is unknown"
        raise E1202.error(operation="batch_norm", what=what).help("give more samples")
    found, mean, var, sets = run.forward("batch_norm", x, None, weight, bias, eps, out)
    if source.size:
        count = sets.segments * sets.side
        unbiased = count / (count - 1)
        for name, running, own, scale in (
            ("running_mean", running_mean, mean, 1.0),
            ("running_var", running_var, var, unbiased),
        ):
            if running is not None:
                run.move_running("batch_norm", source, name, running, own, momentum, scale)
    return found


def batch_norm_backward(
    grad: A,
    x: A,
    running_mean: A | None,
    running_var: A | None,
    weight: A | None = None,
    training: bool = False,
    eps: float = 1e-5,
) -> tuple[A, A | None, A]:
    """The gradients by x, by weight (None without one) and by bias.

    With `training` they go through the statistics of `x`, without it the running ones are constant.
    """
    statistics = None
    if not training:
        _require_statistics("batch_norm_backward", running_mean, running_var)
        statistics = (running_mean, running_var)
    return run.backward("batch_norm_backward", grad, x, None, weight, eps, statistics)


def group_norm(
    x: A,
    num_groups: int,
    weight: A | None = None,
    bias: A | None = None,
    eps: float = 1e-5,
    *,
    out: A | None = None,
) -> A:
    """`x` (N, C, ...) with each of `num_groups` groups of channels of a sample normalized.

    Raises:
        KernelError: E1202, E1203, E1206, E1207; E1204 when the groups do not divide the channels.
    """
    _require_groups("group_norm", num_groups)
    found: A = run.forward("group_norm", x, num_groups, weight, bias, eps, out)[0]
    return found


def group_norm_backward(
    grad: A, x: A, num_groups: int, weight: A | None = None, eps: float = 1e-5
) -> tuple[A, A | None, A]:
    """The gradients by x, by weight (None without one) and by bias."""
    _require_groups("group_norm_backward", num_groups)
    return run.backward("group_norm_backward", grad, x, num_groups, weight, eps)


def instance_norm(
    x: A,
    weight: A | None = None,
    bias: A | None = None,
    eps: float = 1e-5,
    *,
    out: A | None = None,
) -> A:
    """`x` (N, C, ...) with each channel of a sample normalized, by its own statistics.

    Raises:
        KernelError: E1202, E1203, E1206, E1207.
    """
    found: A = run.forward("instance_norm", x, 0, weight, bias, eps, out)[0]
    return found


def instance_norm_backward(
    grad: A, x: A, weight: A | None = None, eps: float = 1e-5
) -> tuple[A, A | None, A]:
    """The gradients by x, by weight (None without one) and by bias."""
    return run.backward("instance_norm_backward", grad, x, 0, weight, eps)


def _require_statistics(operation: str, mean: Any, var: Any) -> None:
    for name, value in (("running_mean", mean), ("running_var", var)):
        if value is None:
            raise E1204.error(operation=operation, name=name, found="None").help(
                "give the statistics, or `training=True`"
            )


def _require_groups(operation: str, groups: int) -> None:
    if groups < 1:
        raise E1204.error(operation=operation, name="num_groups", found=f"{groups}").help(
            "give 1 or more"
        )


def _normal(x: Any, name: str, options: Mapping[str, Any], given: Sequence[Any]) -> tuple[Any, ...]:
    """X normalized, 1 / deviation and the mean, each of the shape of `x`, and a mean over sets."""
    groups, side = options.get("num_groups", x.shape[1]), prod(x.shape[2:])
    axes: tuple[int, ...] = (2,)
    sizes = (x.shape[0], groups, x.shape[1] // groups * side)
    if name == "batch_norm":
        axes, sizes = (0, 2), (*x.shape[:2], side)

    def mean(values: Any) -> Any:
        if not values.size:
            return values
        own = values.reshape(sizes).astype(np.longdouble)
        found = own.mean(axis=axes, keepdims=True).astype(np.float64)
        return np.broadcast_to(found, sizes).reshape(x.shape)

    if name == "batch_norm" and not options.get("training"):
        center, var = (_by_channel(own, x) for own in given)
    else:
        center = mean(x)
        var = mean((x - center) ** 2)
    rstd = 1 / np.sqrt(var + options.get("eps", 1e-5)) * np.ones(x.shape)
    return (x - center) * rstd, rstd, center, mean


def _by_channel(values: Any, x: Any) -> Any:
    return values.reshape(1, -1, *[1] * (x.ndim - 2))


def _reference(name: str) -> Any:
    def reference(x: Any, w: Any, b: Any, *given: Any, **options: Any) -> Any:
        return _normal(x, name, options, given)[0] * _by_channel(w, x) + _by_channel(b, x)

    return reference


def _gradients(name: str) -> Any:
    def gradients(
        grads: Sequence[Any], arrays: Sequence[Any], options: Mapping[str, Any]
    ) -> Sequence[Any]:
        (grad,), (x, w, _, *given) = grads, arrays
        normal, rstd, _, mean = _normal(x, name, options, given)
        dx = grad * _by_channel(w, x)
        if name != "batch_norm" or options.get("training"):
            dx = dx - mean(dx) - normal * mean(dx * normal)
        others = (0, *range(2, x.ndim))
        return dx * rstd, (grad * normal).sum(axis=others), grad.sum(axis=others)

    return gradients


def _shift(x: Any, rstd: Any, center: Any, mean: Any) -> Any:
    # The mean is rounded in units of the elements.
    return (np.abs(center) + mean(np.abs(x))) * rstd


def _magnitude(name: str) -> Any:
    def magnitude(x: Any, w: Any, b: Any, *given: Any, **options: Any) -> Any:
        normal, rstd, center, mean = _normal(x, name, options, given)
        shift = _shift(x, rstd, center, mean)
        size = np.abs(normal) + np.abs(x) * rstd + shift * (1 + np.abs(normal))
        return size * np.abs(_by_channel(w, x)) + np.abs(_by_channel(b, x))

    return magnitude


def _gradient_magnitude(name: str) -> Any:
    def magnitude(
        grads: Sequence[Any], arrays: Sequence[Any], options: Mapping[str, Any], _rounding: float
    ) -> Sequence[Any]:
        (grad,), (x, w, _, *given) = grads, arrays
        normal, rstd, center, mean = _normal(x, name, options, given)
        shift = _shift(x, rstd, center, mean) + np.abs(x) * rstd
        size, scaled = np.abs(normal) + shift, np.abs(grad * _by_channel(w, x))
        dx = (scaled + mean(scaled) + (size + 1) * mean(scaled * size)) * rstd * (1 + shift)
        others = (0, *range(2, x.ndim))
        dw = (np.abs(grad) * size * (1 + shift)).sum(axis=others)
        return dx, dw, np.abs(grad).sum(axis=others)

    return magnitude


def _make(name: str) -> Any:
    def make(rng: np.random.Generator, case: Case) -> list[Any]:
        shape = case.shapes[0]
        made = [fill(rng, shape, case.values), *(fill(rng, shape[1:2], "normal") for _ in "wb")]
        if name == "batch_norm":
            made += [fill(rng, shape[1:2], "normal"), fill(rng, shape[1:2], "positive")]
        return made

    return make


def _batch(x: Any, w: Any, b: Any, mean: Any, var: Any, **options: Any) -> Any:
    if options.get("training"):
        mean = var = None  # the harness wants its arrays unchanged
    return batch_norm(x, mean, var, w, b, **options)


def _batch_gradients(
    grads: Sequence[Any], arrays: Sequence[Any], _outputs: Any, options: Mapping[str, Any]
) -> Sequence[Any]:
    x, w, _, mean, var = arrays
    return batch_norm_backward(grads[0], x, mean, var, w, **options)


SHAPES: tuple[tuple[int, ...], ...] = (
    (4, 1), (3, 5), (2, 4, 3), (2, 4, 17), (3, 8, 4, 5), (2, 6, 3, 4, 5), (5, 4, 33, 7),
    (2, 2, 2500), (0, 4, 3), (64, 12, 2),
)  # fmt: skip


def _cases(*options: Mapping[str, Any], least: int = 2) -> tuple[Case, ...]:
    shapes = [shape for shape in SHAPES if prod(shape[2:]) >= least or 0 in shape]
    first = options[0]
    cases = [Case((shape,), first) for shape in shapes]
    for own in options:
        cases += [Case(((3, 4, 50),), own, values) for values in ("wide", "shifted", "ties")]
    cases += [Case(((2, 4, 100),), own) for own in options]
    return tuple(cases)


def _spec(name: str, function: Any, formula: str, source: str, **rest: Any) -> KernelSpec:
    return KernelSpec(
        name=name,
        family="norm",
        function=function,
        kernels=rest.pop("kernels", KERNELS),
        differentiable=(0, 1, 2),
        gradients=("x", "weight", "bias"),
        formula=formula,
        source=source,
        reference=_reference(name),
        backward_reference=_gradients(name),
        make=_make(name),
        magnitude=_magnitude(name),
        backward_magnitude=_gradient_magnitude(name),
        tolerance=Tolerance(6, "mean and variance by sums of blocks, a square root, two products"),
        backward_tolerance=Tolerance(12, "sums over sets and over channels"),
        torch_name=f"torch.nn.functional.{name}",
        cost=lambda case, itemsize: Cost(
            2 * itemsize * prod(case.shapes[0]), 8 * prod(case.shapes[0])
        ),
        **rest,
    )


def _torch_instance(t: Any, x: Any, w: Any, b: Any, eps: float = 1e-5) -> Any:
    if not x.numel():  # which PyTorch's instance_norm does not take
        return t.nn.functional.group_norm(x, x.shape[1], w, b, eps)
    return t.nn.functional.instance_norm(x, None, None, w, b, eps=eps)


SPECS = (
    _spec(
        "batch_norm",
        batch_norm,
        "(x - mean_c) / sqrt(var_c + eps) w_c + b_c",
        "Ioffe, Szegedy 2015",
        kernels=(*KERNELS, known_norm, running_update),
        call=_batch,
        backward=_batch_gradients,
        torch=lambda t, x, w, b, mean, var, **options: t.nn.functional.batch_norm(
            x, mean, var, w, b, **options
        ),
        cases=_cases({"training": True}, {"training": False}, {"training": True, "eps": 1e-3},
                     least=1),
        benchmarks=(Case(((64, 256, 56, 56),), {"training": True}),),
    ),
    _spec(
        "group_norm",
        group_norm,
        "(x - mean_ng) / sqrt(var_ng + eps) w_c + b_c",
        "Wu, He 2018",
        call=lambda x, w, b, num_groups, eps=1e-5: group_norm(x, num_groups, w, b, eps),
        backward=lambda grads, arrays, outputs, options: group_norm_backward(
            grads[0], arrays[0], options["num_groups"], arrays[1], options.get("eps", 1e-5)
        ),
        torch=lambda t, x, w, b, num_groups, eps=1e-5: t.nn.functional.group_norm(
            x, num_groups, w, b, eps
        ),
        cases=_cases({"num_groups": 2}, {"num_groups": 4, "eps": 1e-3}, {"num_groups": 1}),
        benchmarks=(Case(((64, 256, 56, 56),), {"num_groups": 32}),),
    ),
    _spec(
        "instance_norm",
        instance_norm,
        "(x - mean_nc) / sqrt(var_nc + eps) w_c + b_c",
        "Ulyanov, Vedaldi, Lempitsky 2016",
        call=instance_norm,
        backward=lambda grads, arrays, outputs, options: instance_norm_backward(
            grads[0], arrays[0], arrays[1], **options
        ),
        torch=_torch_instance,
        cases=_cases({}, {"eps": 1e-3}),
        benchmarks=(Case(((64, 256, 56, 56),)),),
    ),
)  # fmt: skip
