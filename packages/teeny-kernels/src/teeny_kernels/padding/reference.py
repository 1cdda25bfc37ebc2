"""What pads must be: NumPy's own `pad`, its transposed map, the cases, and a `KernelSpec` of each.

The gradient is found without the kernels: a pad of the numbers 0, 1, 2, ... says which element of
the input each element of the output shows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from teeny_kernels.spec import Case, Cost, KernelSpec, Tolerance

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from teeny_macros import Kernel

NUMPY_MODES = {
    "constant": "constant",
    "reflect": "reflect",
    "replicate": "edge",
    "circular": "wrap",
}
FORMULAS = {
    "constant": "x[o - before] inside, value outside",
    "reflect": "x[|p|], x[2 (n - 1) - p] beyond the last; p = o - before",
    "replicate": "x[min(max(o - before, 0), n - 1)]",
    "circular": "x[(o - before) mod n]",
}


def padded(x: np.ndarray, pad: Sequence[int], mode: str, value: float) -> np.ndarray:
    """`x` padded by NumPy; negative pads cut, after the others were added."""
    pairs = [(pad[2 * at], pad[2 * at + 1]) for at in reversed(range(len(pad) // 2))]
    pairs = [(0, 0)] * (x.ndim - len(pairs)) + pairs
    grown = [(max(before, 0), max(after, 0)) for before, after in pairs]
    extra: dict[str, Any] = {"constant_values": value} if mode == "constant" else {}
    numpy_pad: Any = np.pad
    full: Any = numpy_pad(x, grown, mode=NUMPY_MODES[mode], **extra)
    cut = tuple(
        slice(max(-before, 0), side - max(-after, 0))
        for side, (before, after) in zip(full.shape, pairs, strict=True)
    )
    return np.asarray(full[cut])


def gathered(grad: np.ndarray, x: np.ndarray, pad: Sequence[int], mode: str) -> np.ndarray:
    """The gradient by `x`: for each element, the sum of what it was copied to."""
    places = padded(np.arange(x.size).reshape(x.shape), pad, mode, -1)
    total = np.zeros(x.size)
    shown = places >= 0
    np.add.at(total, places[shown], grad[shown])
    return total.reshape(x.shape)


# torch pads by reflection, replication and around only arrays of one or two more axes.
CASES = (
    Case(((1, 1, 3, 3),), {"pad": (1, 1, 1, 1)}),
    Case(((1, 1, 1),), {"pad": (0, 0)}),
    Case(((1, 2, 1, 3),), {"pad": (2, 1, 0, 0)}),
    Case(((0, 2, 5),), {"pad": (1, 2)}),
    Case(((2, 3, 17),), {"pad": (3, 0)}),
    Case(((2, 3, 1031),), {"pad": (0, 5)}, "shifted"),
    Case(((3, 33),), {"pad": (16, 31)}, "ties"),
    Case(((2, 3, 7, 5),), {"pad": (1, 2, 3, 4)}),
    Case(((4, 3, 31, 29),), {"pad": (2, 2, 2, 2)}, "special"),
    Case(((3, 5, 4),), {"pad": (3, 3, 4, 0)}),
    Case(((2, 2, 4, 5, 6),), {"pad": (1, 2, 3, 0, 2, 3)}),
    Case(((1, 3, 3, 2, 7),), {"pad": (6, 5, 1, 0, 0, 2)}, "special"),
)
CUT = Case(((2, 3, 6, 9),), {"pad": (3, -2, -1, 4)})
OF_MODE = {
    "constant": (
        CUT,
        Case(((2, 5),), {"pad": (1, 1), "value": 0.3}),
        Case(((2, 3, 4, 5),), {"pad": (7, 9, 8, 10), "value": -float("inf")}, "special"),
        Case(((3, 0),), {"pad": (1, 1), "value": 2.0}),
        Case(((4, 6),), {"pad": (-6, 0)}),
    ),
    "reflect": (CUT,),
    "replicate": (
        CUT,
        Case(((2, 1, 1),), {"pad": (5, 3)}),
        Case(((2, 3, 2, 3),), {"pad": (5, 4, 7, 6)}),
    ),
    "circular": (
        Case(((2, 1, 1),), {"pad": (1, 1)}),
        Case(((2, 3, 2, 3),), {"pad": (3, 3, 2, 2)}),
    ),
}


def spec_of(
    name: str,
    mode: str,
    forward: Callable[..., Any],
    backward: Callable[..., Any],
    kernels: tuple[Kernel[...], ...],
) -> KernelSpec:
    """The spec of a pad."""

    def reference(x: np.ndarray, pad: Sequence[int], value: float = 0.0) -> np.ndarray:
        return padded(x, pad, mode, value)

    def gradients(
        grads: Sequence[Any], arrays: Sequence[Any], outputs: Any, options: Mapping[str, Any]
    ) -> Sequence[Any]:
        return (backward(grads[0], **options),)

    def gradient(
        grads: Sequence[Any], arrays: Sequence[Any], options: Mapping[str, Any]
    ) -> Sequence[Any]:
        return (gathered(grads[0], arrays[0], options["pad"], mode),)

    def size(
        grads: Sequence[Any], arrays: Sequence[Any], options: Mapping[str, Any], rounding: float
    ) -> Sequence[Any]:
        return (gathered(np.abs(grads[0]), arrays[0], options["pad"], mode),)

    def torch_pad(torch: Any, x: Any, pad: Sequence[int], value: float = 0.0) -> Any:
        return torch.nn.functional.pad(x, tuple(pad), mode, value)

    def cost(case: Case, itemsize: int) -> Cost:
        pads = case.options["pad"]
        sides = case.shapes[0]
        grown = list(sides)
        for at in range(len(pads) // 2):
            grown[-1 - at] += pads[2 * at] + pads[2 * at + 1]
        return Cost(itemsize * int(np.prod(sides) + np.prod(grown)), 0)

    return KernelSpec(
        name=name,
        family="pad",
        function=forward,
        backward=gradients,
        kernels=kernels,
        formula=FORMULAS[mode],
        source=f"torch.nn.functional.pad, mode {mode}",
        reference=reference,
        backward_reference=gradient,
        backward_magnitude=size,
        torch_name="torch.nn.functional.pad",
        torch=torch_pad,
        cases=CASES + OF_MODE[mode],
        tolerance=Tolerance(0, "elements are copied"),
        backward_tolerance=Tolerance(12, "a sum of up to as many terms as show one element"),
        cost=cost,
        benchmarks=tuple(Case(((32, 64, n, n),), {"pad": (1, 1, 1, 1)}) for n in (56, 112, 224)),
    )
