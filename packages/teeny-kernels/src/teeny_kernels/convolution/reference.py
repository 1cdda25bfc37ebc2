"""What convolutions must be, in NumPy: for each tap a strided part of the padded array, and cases.

Written without the kernels and their geometry.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from math import prod
from typing import Any

import numpy as np

from teeny_kernels.spec import Case, Cost
from teeny_kernels.testing import turned


def _settled(
    w: Any,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
    output_padding: Any = 0,
) -> tuple[list[Any], list[Any], list[tuple[int, int]]]:
    """Stride, dilation, and what is padded before and after, of each axis."""
    axes = w.ndim - 2

    def each(own: Any) -> list[Any]:
        return [own] * axes if isinstance(own, int) else list(own) * (axes if len(own) == 1 else 1)

    gaps = each(dilation)
    if padding == "same":
        whole = [g * (k - 1) for g, k in zip(gaps, w.shape[2:], strict=True)]
        around = [(own // 2, own - own // 2) for own in whole]
    else:
        around = [(own, own) for own in each(0 if padding == "valid" else padding)]
    return each(stride), gaps, around


def _parts(w: Any, padded: Any, steps: list[Any], gaps: list[Any], outs: Any) -> Any:
    """Each tap with the part of the padded array that it multiplies."""
    for tap in np.ndindex(*w.shape[2:]):
        cut = tuple(
            slice(t * g, t * g + (o - 1) * s + 1, s)
            for t, g, s, o in zip(tap, gaps, steps, outs, strict=True)
        )
        yield tap, padded[(slice(None), slice(None), *cut)]


def _outs(w: Any, padded: Any, steps: list[Any], gaps: list[Any]) -> list[int]:
    return [
        (side - g * (k - 1) - 1) // s + 1
        for side, k, s, g in zip(padded.shape[2:], w.shape[2:], steps, gaps, strict=True)
    ]


def conv_reference(x: Any, w: Any, b: Any = None, **options: Any) -> Any:
    """The convolution in f64."""
    axes = w.ndim - 2
    if x.ndim == axes + 1:
        return conv_reference(x[None], w, b, **options)[0]
    steps, gaps, around = _settled(w, **options)
    groups = options.get("groups", 1)
    padded: Any = np.pad(x, [(0, 0), (0, 0), *around])
    outs = _outs(w, padded, steps, gaps)
    total = np.zeros((x.shape[0], groups, w.shape[0] // groups, *outs))
    split = w.reshape(groups, w.shape[0] // groups, *w.shape[1:])
    for tap, part in _parts(w, padded, steps, gaps, outs):
        own = part.reshape(x.shape[0], groups, w.shape[1], *outs)
        total += np.einsum("ngc...,goc->ngo...", own, split[(..., *tap)])
    total = total.reshape(x.shape[0], w.shape[0], *outs)
    return total if b is None else total + b.reshape(-1, *[1] * axes)


def conv_gradients(grad: Any, x: Any, w: Any, **options: Any) -> tuple[Any, Any, Any]:
    """The gradients by x, w and a bias, in f64."""
    axes = w.ndim - 2
    if x.ndim == axes + 1:
        first, *rest = conv_gradients(grad[None], x[None], w, **options)
        return first[0], rest[0], rest[1]
    steps, gaps, around = _settled(w, **options)
    groups = options.get("groups", 1)
    padded: Any = np.pad(x, [(0, 0), (0, 0), *around])
    outs = grad.shape[2:]
    spread: Any = np.zeros(padded.shape)
    dw: Any = np.zeros((groups, w.shape[0] // groups, *w.shape[1:]))
    split = w.reshape(dw.shape)
    own_grad = grad.reshape(x.shape[0], groups, w.shape[0] // groups, *outs)
    into = _parts(w, spread, steps, gaps, outs)
    for (tap, part), (_, goal) in zip(_parts(w, padded, steps, gaps, outs), into, strict=True):
        own = part.reshape(x.shape[0], groups, w.shape[1], *outs)
        summed = [at.reshape(*at.shape[:3], prod(outs)) for at in (own_grad, own)]
        dw[(..., *tap)] = np.einsum("ngop,ngcp->goc", *summed)
        each = np.einsum("ngo...,goc->ngc...", own_grad, split[(..., *tap)])
        goal[...] += each.reshape(goal.shape)
    inner = tuple(
        slice(before, before + side) for (before, _), side in zip(around, x.shape[2:], strict=True)
    )
    found: Any = spread[(slice(None), slice(None), *inner)]
    return found, dw.reshape(w.shape), grad.sum(axis=(0, *range(2, grad.ndim)))


def transpose_reference(x: Any, w: Any, b: Any = None, **options: Any) -> Any:
    """The transposed convolution in f64: each element of x spread by the window."""
    axes = w.ndim - 2
    if x.ndim == axes + 1:
        return transpose_reference(x[None], w, b, **options)[0]
    shape = _transposed_shape(x, w, options)
    rest = {name: own for name, own in options.items() if name != "output_padding"}
    found = conv_gradients(x, np.zeros(shape), w, **rest)[0]
    return found if b is None else found + b.reshape(-1, *[1] * axes)


def transpose_gradients(grad: Any, x: Any, w: Any, **options: Any) -> tuple[Any, Any, Any]:
    """The gradients by x, w and a bias of a transposed convolution, in f64."""
    if x.ndim == w.ndim - 1:
        dx, dw, db = transpose_gradients(grad[None], x[None], w, **options)
        return dx[0], dw, db
    rest = {name: own for name, own in options.items() if name != "output_padding"}
    dw = conv_gradients(x, grad, w, **rest)[1]
    # With an output padding of a stride or more the window fits in more often than x has elements.
    kept = tuple(slice(side) for side in x.shape[2:])
    dx = conv_reference(grad, w, **rest)[(slice(None), slice(None), *kept)]
    return dx, dw, grad.sum(axis=(0, *range(2, grad.ndim)))


def _transposed_shape(x: Any, w: Any, options: Mapping[str, Any]) -> tuple[int, ...]:
    steps, gaps, around = _settled(w, **options)
    extra = options.get("output_padding", 0)
    extras = [extra] * len(steps) if isinstance(extra, int) else list(extra)
    sides = [
        (side - 1) * s - a - b + g * (k - 1) + e + 1
        for side, s, g, (a, b), k, e in zip(
            x.shape[2:], steps, gaps, around, w.shape[2:], extras, strict=True
        )
    ]
    return (x.shape[0], options.get("groups", 1) * w.shape[1], *sides)


def gradients_of(function: Any, *, sizes: bool = False) -> Any:
    """The backward reference of a spec, or the sizes of its terms, by a function above."""

    def gradients(
        grads: Sequence[Any],
        arrays: Sequence[Any],
        options: Mapping[str, Any],
        _rounding: float = 1.0,
    ) -> Sequence[Any]:
        given = [grads[0], *arrays[:2]]
        if sizes:
            given = [np.abs(own) for own in given]
        found: Sequence[Any] = function(*given, **options)[: len(arrays)]
        return found

    return gradients


def gradient_calls(backward: Any) -> Any:
    """The backward of a spec by our function: a bias has a gradient where there is one.

    NumPy's arrays come with other strides, which the kernels of gradients have to read.
    """

    def gradients(
        grads: Sequence[Any], arrays: Sequence[Any], _outputs: Any, options: Mapping[str, Any]
    ) -> Sequence[Any]:
        given = [grads[0], *arrays[:2]]
        if isinstance(grads[0], np.ndarray):
            given = [turned(own) for own in given]
        found: Sequence[Any] = backward(*given, **options)[: len(arrays)]
        return found

    return gradients


def size_of(function: Any) -> Any:
    """The size of the terms of each result, by a function above."""

    def magnitude(*arrays: Any, **options: Any) -> Any:
        return function(*map(np.abs, arrays), **options)

    return magnitude


def known_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """The options that say what a result is, without those of how it is computed."""
    how = ("algorithm", "allow_tf32")
    return {name: value for name, value in options.items() if name not in how}


def torch_function(name: str) -> Any:
    """PyTorch's function, without its warning that an even window may cost a copy."""

    def call(torch: Any, *arrays: Any, **options: Any) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            return getattr(torch.nn.functional, name)(*arrays, **known_options(options))

    return call


def cost(case: Case, itemsize: int) -> Cost:
    """Arrays read and written once; a product and a sum for each tap, channel and result."""
    x, w = case.shapes[:2]
    axes = len(w) - 2
    own = known_options(case.options)
    steps, gaps, around = _settled(np.empty(w), **own)
    outs = [
        (side + a + b - g * (k - 1) - 1) // s + 1
        for side, k, s, g, (a, b) in zip(x[-axes:], w[2:], steps, gaps, around, strict=True)
    ]
    written = prod(x[: len(x) - axes - 1]) * w[0] * prod(outs)
    return Cost(itemsize * (prod(x) + prod(w) + written), 2 * written * prod(w[1:]))


def transpose_cost(case: Case, itemsize: int) -> Cost:
    """As `cost`: a product and a sum for each tap, channel and element of x."""
    x, w = case.shapes[:2]
    whole = np.empty(x if len(x) == len(w) else (1, *x))
    written = prod(_transposed_shape(whole, np.empty(w), known_options(case.options)))
    return Cost(itemsize * (prod(x) + prod(w) + written), 2 * prod(x) * prod(w[1:]))
