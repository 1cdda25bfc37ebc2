"""What adaptive pools must be, in NumPy, window by window, and the specs made of it.

Written without the kernels: windows are counted out along each axis.
"""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from teeny_kernels.spec import Case, Cost, KernelSpec, Tolerance

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from teeny_macros import Kernel

_SIDES = {1: ((17,), 5), 2: ((9, 7), (4, 3)), 3: ((6, 5, 7), (2, 3, 4))}
_LARGE = {1: (32, 64, 4096), 2: (32, 512, 28, 28), 3: (8, 64, 16, 28, 28)}


def _outs(x: np.ndarray, output_size: Any, axes: int) -> list[int]:
    """The sides of the result."""
    sizes: Any = output_size if hasattr(output_size, "__len__") else (output_size,) * axes
    return [side if own is None else own for own, side in zip(sizes, x.shape[-axes:], strict=True)]


def _windows(x: np.ndarray, output_size: Any, axes: int) -> Iterator[tuple[Any, Any]]:
    """The place of each element of the result, and the part of x that it is made of."""
    outs = _outs(x, output_size, axes)
    for at in product(*map(range, outs)):
        part = tuple(
            slice(int(np.floor(o * side / n)), int(np.ceil((o + 1) * side / n)))
            for o, n, side in zip(at, outs, x.shape[-axes:], strict=True)
        )
        yield (..., *at), (..., *part)


def _result(x: np.ndarray, output_size: Any, axes: int) -> Any:
    outs = _outs(x, output_size, axes)
    found: Any = np.zeros((*x.shape[:-axes], *outs))
    return found


def _place(part: np.ndarray, axes: int) -> np.ndarray:
    """Where the maximum of each part lies in it, laid out flat: the first, or the last NaN."""
    flat = part.reshape(*part.shape[:-axes], int(np.prod(part.shape[-axes:])))
    nan = np.isnan(flat)
    has_nan = np.asarray(nan.any(axis=-1))
    last: np.ndarray = flat.shape[-1] - 1 - nan[..., ::-1].argmax(axis=-1)
    first: np.ndarray = np.where(nan, -np.inf, flat).argmax(axis=-1)
    return np.where(has_nan, last, first)


def _average(x: np.ndarray, output_size: Any, axes: int) -> np.ndarray:
    found: np.ndarray = _result(x, output_size, axes)
    for at, part in _windows(x, output_size, axes):
        found[at] = x[part].mean(axis=tuple(range(-axes, 0)))
    return found


def _largest(x: np.ndarray, output_size: Any, axes: int) -> np.ndarray:
    found: np.ndarray = _result(x, output_size, axes)
    for at, part in _windows(x, output_size, axes):
        found[at] = x[part].max(axis=tuple(range(-axes, 0)))
    return found


def _average_gradient(grad: np.ndarray, x: np.ndarray, output_size: Any, axes: int) -> np.ndarray:
    total = np.zeros(x.shape)
    for at, part in _windows(x, output_size, axes):
        count = int(np.prod(total[part].shape[-axes:]))
        total[part] += grad[at][(..., *(None,) * axes)] / count
    return total


def _largest_gradient(grad: np.ndarray, x: np.ndarray, output_size: Any, axes: int) -> np.ndarray:
    total = np.zeros(x.shape)
    for at, part in _windows(x, output_size, axes):
        shape = x[part].shape
        chosen = _place(x[part], axes)[..., None] == np.arange(int(np.prod(shape[-axes:])))
        total[part] += np.where(chosen, grad[at][..., None], 0.0).reshape(shape)
    return total


def _cases(axes: int) -> tuple[Case, ...]:
    sides, outs = _SIDES[axes]
    odd = tuple(side + 2 for side in sides)
    kept: Any = (*(None,) * (axes - 1), 2) if axes > 1 else 3

    def case(lead: tuple[int, ...], own: Any, size: Any, values: str = "normal") -> Case:
        return Case(((*lead, *own),), {"output_size": size}, values)

    return (
        case((1, 1), (1,) * axes, 1),
        case((0, 2), sides, 2),
        case((2, 3), sides, outs),
        case((2, 3), odd, outs, "special"),
        case((2, 3), odd, 3, "ties"),
        case((3,), odd, outs),
        case((2, 3), sides, 1),
        case((2, 3), odd, 1, "special"),
        case((2, 2), sides, 2, "shifted"),
        case((1, 2), sides, tuple(2 * side + 1 for side in sides)),  # more windows than elements
        case((2, 2), odd, kept, "wide"),
        case((2, 2), sides, tuple(sides), "special"),
        case((1, 2), (1,) * (axes - 1) + (401,), (1,) * (axes - 1) + (37,)),
    )


def _cost(case: Case, itemsize: int) -> Cost:
    read = int(np.prod(case.shapes[0]))
    axes = len(case.shapes[0]) - 2
    written = int(np.prod(case.shapes[0][:2])) * case.options["output_size"] ** axes
    return Cost(itemsize * (read + written), read)


def adaptive_spec(
    axes: int, function: Callable[..., Any], backward: Any, kernels: tuple[Kernel[...], ...]
) -> KernelSpec:
    """The spec of an adaptive pool of the last `axes` axes, by its name."""
    name = function.__name__
    average = "avg" in name
    forward, gradient = (_average, _average_gradient) if average else (_largest, _largest_gradient)

    def reference(x: np.ndarray, output_size: Any) -> np.ndarray:
        return forward(x, output_size, axes)

    def magnitude(x: np.ndarray, output_size: Any) -> np.ndarray:
        return forward(np.where(np.isfinite(x), np.abs(x), 0.0), output_size, axes)

    def gradients(
        grads: Sequence[Any], arrays: Sequence[Any], options: Mapping[str, Any]
    ) -> Sequence[Any]:
        return (gradient(grads[0], arrays[0], options["output_size"], axes),)

    def backward_of(
        grads: Sequence[Any], arrays: Sequence[Any], _outputs: Any, _options: Mapping[str, Any]
    ) -> Sequence[Any]:
        return (backward(grads[0], arrays[0]),)

    def pytorch(torch: Any, x: Any, output_size: Any) -> Any:
        return getattr(torch.nn.functional, name)(x, output_size)

    def sizes(
        grads: Sequence[Any], arrays: Sequence[Any], options: Mapping[str, Any], _: float
    ) -> Sequence[Any]:
        return gradients([np.abs(grads[0])], arrays, options)

    return KernelSpec(
        name=name,
        family="pooling",
        function=function,
        backward=backward_of,
        kernels=kernels,
        formula=f"{'mean' if average else 'max'} of windows from floor(o side / out) to "
        "ceil((o + 1) side / out)",
        source=f"torch.nn.functional.{name}",
        reference=reference,
        backward_reference=gradients,
        backward_magnitude=sizes,
        torch_name=f"torch.nn.functional.{name}",
        torch=pytorch,
        cases=_cases(axes),
        tolerance=Tolerance(8, "a sum of the elements of a window, one after the other, a quotient")
        if average
        else Tolerance(0, "an element is copied"),
        backward_tolerance=Tolerance(8, "a sum of one term for each window"),
        magnitude=magnitude if average else None,
        cost=_cost,
        benchmarks=tuple(Case((_LARGE[axes],), {"output_size": size}) for size in (1, 7)),
    )
