"""Checks of operations on arrays of more than 2^31 elements, against themselves on small ones.

A small case is stretched along one axis. Where what lies along it is independent, the inputs repeat
again and again, and so does the result; where it is not (a reduction, a softmax), the small case
is spread over a background that changes nothing: some of it first, some about the place that 2^31
elements come to, the rest last. A small side that is a prime shares no factor with 2^32, so a place
computed in 32 bits would show other elements. PyTorch makes the arrays, on the device it is given.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import gcd
from typing import TYPE_CHECKING, Any, NamedTuple

from teeny_kernels import testing
from teeny_kernels.spec import Case

if TYPE_CHECKING:
    from collections.abc import Sequence

    from teeny_kernels.spec import KernelSpec

CHUNK = 1 << 27  # elements compared at a time
ROUNDING = {"f16": 2.0**-8, "bf16": 2.0**-5, "f32": 2.0**-14}
UNKNOWN = object()


class Stretched(NamedTuple):
    """A small case, and how it becomes a large one.

    Attributes:
        case: the small one.
        axis: of the first array, along which it is stretched. An array follows along the first axis
            it has of as many elements.
        along: the axis of each array (None: stays small), where that is not so.
        background: what else the arrays hold, for operations in which all along the axis is one;
            None repeats the arrays instead.
        rest: what the result is where the arrays are background.
        mean: whether the result is a mean along the axis.
        whole: whether gradients are of the whole axis, as those of a batch norm are.
        places: the arrays that hold places along the axis.
        found: the results that do.
        dtype: of the arrays.
        options: those of the large case, by how many times as long it is.
    """

    case: Case
    axis: int = 0
    along: tuple[int | None, ...] | None = None
    background: float | None = None
    rest: Any = UNKNOWN
    mean: bool = False
    whole: bool = False
    places: tuple[int, ...] = ()
    found: tuple[int, ...] = ()
    dtype: str = "f16"
    options: Callable[[int], Mapping[str, Any]] | None = None

    @property
    def again(self) -> bool:
        """Whether the small case lies over its own repetitions, for gradients of it alone."""
        return not self.mean and not self.whole


class Spread:
    """Where the elements of a small axis lie in a large one: first, about `middle`, and last."""

    def __init__(self, small: int, times: int, pieces: Sequence[tuple[int, int, int]]) -> None:
        self.small = small
        self.large = small * times
        self.times = times
        self.pieces = pieces

    @staticmethod
    def about(small: int, times: int, middle: int) -> Spread:
        """The spread of `small` elements, some of them about the place `middle`."""
        unit = gcd(small, 6)  # other axes may be a half or a third as long
        first = small // 3 // unit * unit
        inside = small - 2 * first
        start = max(first, min(middle - inside // 2, small * (times - 1))) // unit * unit
        last = small * times - first
        pieces = ((0, 0, first), (first, start, inside), (first + inside, last, first))
        return Spread(small, times, pieces)

    def scaled(self, small: int) -> Spread:
        """The same of an axis of another length, that is as many times as long."""
        pieces = [tuple(own * small // self.small for own in piece) for piece in self.pieces]
        return Spread(small, self.times, pieces)  # type: ignore[arg-type]

    def place(self, array: Any) -> Any:
        """Where the places of the small axis lie now."""
        moved = array.clone()
        for small, large, count in self.pieces:
            moved[(array >= small) & (array < small + count)] += large - small
        return moved

    def repeat(self, array: Any, axis: int) -> Any:
        """`array` again and again along `axis`."""
        seen = array.unsqueeze(axis)
        shape = (*seen.shape[:axis], self.times, *seen.shape[axis + 1 :])
        return seen.expand(shape).flatten(axis, axis + 1)

    def over(self, large: Any, array: Any, axis: int) -> Any:
        """`large`, with the elements of `array` at their places."""
        for small, at, count in self.pieces:
            large.narrow(axis, at, count).copy_(array.narrow(axis, small, count))
        return large

    def wide(
        self, torch: Any, array: Any, axis: int | None, background: float | None, again: bool
    ) -> Any:
        """`array` stretched along `axis`: over a background, or repeated (`again`: over itself)."""
        if axis is None:
            return array
        if background is None:
            repeated = self.repeat(array, axis)
            return self.over(repeated, array, axis) if again else repeated
        shape = (*array.shape[:axis], self.large, *array.shape[axis + 1 :])
        filled = torch.full(shape, background, dtype=array.dtype, device=array.device)
        return self.over(filled, array, axis)


def check_stretched(
    spec: KernelSpec, how: Stretched, torch: Any, device: str, reach: int = 2**31
) -> list[str]:
    """What is wrong with the results and gradients of `how` at more than `reach` elements."""
    case = how.case

    def put(array: Any) -> Any:
        return testing.as_tensor(torch, array).to(device)

    small = [put(array) for array in testing.inputs(spec, case, how.dtype)]
    outputs = testing.tupled(spec.run(*small, **case.options))
    axes = how.along
    if axes is None:
        axes = tuple(_axis_of(array.shape, small[0].shape[how.axis]) for array in small)
    grown = [(a, axis) for a, axis in zip(small, axes, strict=True) if axis is not None]
    first, axis = grown[0]
    side = first.shape[axis]
    most = max(array.numel() for array in (*(a for a, _ in grown), *outputs))
    times = reach // most + 2
    middle = reach * side // most if axis == 0 else side * times // 2
    spread = Spread.about(side, times, middle)
    spreads = [
        spread if axis is None else spread.scaled(array.shape[axis])
        for array, axis in zip(small, axes, strict=True)
    ]
    large = [
        own.wide(torch, array, axis, how.background, how.again)
        for own, array, axis in zip(spreads, small, axes, strict=True)
    ]
    for at in how.places:
        large[at] = spread.place(small[at])
    options = dict(case.options if how.options is None else how.options(times))
    results = testing.tupled(spec.run(*large, **options))
    wrong: list[str] = []
    for at, (found, wanted) in enumerate(zip(results, outputs, strict=True)):
        exact = spread.place(wanted) if at in how.found else wanted
        rest = None if how.background is None else how.rest
        fault = differs(torch, spread, found, exact, rest, how)
        if fault:
            wrong.append(f"output {at} of {testing.told(case)}, {times} times as long: {fault}")
    if spec.backward is None or spec.backward_reference is None:
        return wrong
    return wrong + _gradients(spec, how, torch, spread, (small, outputs), (large, results), options)


def _gradients(
    spec: KernelSpec,
    how: Stretched,
    torch: Any,
    spread: Spread,
    little: tuple[Sequence[Any], Sequence[Any]],
    long: tuple[Sequence[Any], Sequence[Any]],
    options: dict[str, Any],
) -> list[str]:
    """Gradients: of the places of the small case alone, unless the axis is one."""
    assert spec.backward is not None
    (small, outputs), (large, results) = little, long
    generator = torch.Generator(device="cpu").manual_seed(7)
    incoming = [
        torch.randn(own.shape, generator=generator).to(own.device, testing_dtype(torch, how.dtype))
        for own in outputs
    ]
    wanted = spec.backward(incoming, small, outputs, dict(how.case.options))
    zero = None if how.whole else 0.0
    upstream = [
        spread.scaled(g.shape[axis]).wide(torch, g, axis, zero, how.again)
        if axis is not None
        else g
        for g, axis in (
            (g, changed(own.shape, result.shape))
            for g, own, result in zip(incoming, outputs, results, strict=True)
        )
    ]
    found = spec.backward(upstream, large, results, options)
    wrong: list[str] = []
    for at, (own, exact) in enumerate(zip(found, wanted, strict=True)):
        if own is None:
            continue
        axis = changed(exact.shape, own.shape)
        scaled = exact
        if how.whole and axis is None:
            scaled = exact * spread.times
        rest: Any = None if how.whole or how.mean else 0.0
        if how.background is not None:
            rest = UNKNOWN
        ours = own * spread.times if how.mean and axis is not None else own
        fault = differs(torch, spread, ours, scaled, rest, how)
        if fault:
            wrong.append(f"gradient {at} of {testing.told(how.case)}: {fault}")
    return wrong


def testing_dtype(torch: Any, dtype: str) -> Any:
    """PyTorch's name of a dtype."""
    return {"f16": torch.float16, "bf16": torch.bfloat16, "f32": torch.float32}[dtype]


def _axis_of(shape: Sequence[int], side: int) -> int | None:
    return next((at for at, own in enumerate(shape) if own == side), None)


def changed(small: Sequence[int], large: Sequence[int]) -> int | None:
    """The axis in which two shapes differ."""
    return next((at for at, (a, b) in enumerate(zip(small, large, strict=True)) if a != b), None)


def differs(torch: Any, spread: Spread, found: Any, small: Any, rest: Any, how: Stretched) -> str:
    """How `found` differs from `small`, stretched; empty where it does not.

    Beside the places of the small one it repeats (`rest` None), is `rest`, or is `UNKNOWN`.
    """
    axis = changed(small.shape, found.shape)
    if axis is None:
        return _apart(torch, found, small, small, how.dtype)
    own = spread.scaled(small.shape[axis])
    if found.shape[axis] != own.large:
        return f"shape {tuple(found.shape)}"
    if rest is not UNKNOWN:
        return _apart(torch, found, own.wide(torch, small, axis, rest, how.again), small, how.dtype)
    faults = (
        _apart(torch, found.narrow(axis, at, n), small.narrow(axis, start, n), small, how.dtype)
        for start, at, n in own.pieces
    )
    return next((fault for fault in faults if fault), "")


def _apart(torch: Any, found: Any, wanted: Any, small: Any, dtype: str) -> str:
    if found.dtype != wanted.dtype:
        return f"dtype {found.dtype}, not {wanted.dtype}"
    if not small.dtype.is_floating_point:
        bound = 0.0
    else:
        finite = small.float()[small.isfinite()]
        size = float(finite.abs().max()) if finite.numel() else 0.0
        bound = ROUNDING[dtype] * size
    one, other = found.reshape(-1), wanted.reshape(-1)
    for start in range(0, one.numel(), CHUNK):
        ours, exact = one[start : start + CHUNK], other[start : start + CHUNK]
        if torch.equal(ours, exact):
            continue
        ours, exact = ours.double(), exact.double()
        off = ~((ours - exact).abs() <= bound) & (ours != exact)
        off &= ~(ours.isnan() & exact.isnan())
        if off.any():
            first = int(off.nonzero()[0])
            return (
                f"{int(off.sum())} of {off.numel()} elements from {start} on, first at "
                f"{start + first}: {float(ours[first])!r}, not {float(exact[first])!r}"
            )
    return ""
