"""Checks of an operation against its references: what tests, benchmarks and pages share.

Every function returns the faults it found as texts, so that one run tells all of them. Inputs are
rounded to the dtype first, then given to the references in f64.
"""

from __future__ import annotations

import zlib
from importlib import import_module
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from teeny_kernels.arrays import numpy_dtype
from teeny_kernels.spec import EPSILON, FLUSHED, TINY, Tolerance

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from teeny_kernels.spec import Case, KernelSpec

# Dtypes that NumPy knows from ml_dtypes alone, and their names here.
_NOT_OF_NUMPY = {"bfloat16": "bf16", "float8_e4m3fn": "f8e4m3", "float8_e5m2": "f8e5m2"}

_SPECIAL = (
    np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0, 1e-40, -1e-40, 88.0, -104.0, 3.0, -3.0, 0.5,
)  # fmt: skip


def fill(rng: np.random.Generator, shape: Sequence[int], values: str) -> NDArray[Any]:
    """An array of `shape`, filled as `values` says (see `Case`)."""
    normal = rng.standard_normal(shape)
    if values == "special":
        flat = normal.reshape(-1)
        at = rng.permutation(flat.size)[: max(1, flat.size // 2) if flat.size else 0]
        for position, place in enumerate(at):
            flat[place] = _SPECIAL[position % len(_SPECIAL)]
        return flat.reshape(shape)
    made: dict[str, Callable[[], Any]] = {
        "normal": lambda: normal,
        "wide": lambda: normal * 10.0,
        "ties": lambda: np.round(normal),
        "shifted": lambda: normal + 1000.0,
        "positive": lambda: np.abs(normal) + 0.1,
        "above one": lambda: np.abs(normal) + 1.1,
        "unit": lambda: np.tanh(normal) * 0.99,
        "probability": lambda: 0.01 + 0.98 / (1.0 + np.exp(-normal)),
        "sign": lambda: np.where(normal < 0, -1.0, 1.0),
        "integers": lambda: rng.integers(-9, 10, shape, dtype=np.int32),
    }
    return np.asarray(made[values](), np.int32 if values == "integers" else np.float64)


def as_dtype(array: NDArray[Any], dtype: str) -> NDArray[Any]:
    """A f64 array in a float dtype of the language; integers, bools and fp8 stay what they are."""
    if array.dtype.kind != "f" or array.itemsize == 1:
        return array
    with np.errstate(over="ignore"):
        return np.asarray(array.astype(numpy_dtype(dtype)))


def as_f64(array: Any) -> NDArray[Any]:
    """An array in f64; integers and bools stay what they are."""
    found = np.asarray(array)
    return found if found.dtype.kind in "iub" else found.astype(np.float64)


def seeded(*parts: object) -> np.random.Generator:
    """A generator that is the same for the same parts in every process."""
    return np.random.default_rng(zlib.crc32(repr(parts).encode()))


def inputs(spec: KernelSpec, case: Case, dtype: str) -> list[NDArray[Any]]:
    """The input arrays of a case in `dtype`."""
    rng = seeded(spec.name, case.shapes, sorted(case.options.items(), key=str), case.values, dtype)
    if spec.make is not None:
        return [as_dtype(np.asarray(made), dtype) for made in spec.make(rng, case)]
    return [as_dtype(fill(rng, shape, case.values), dtype) for shape in case.shapes]


def tupled(found: Any) -> tuple[Any, ...]:
    """One result or several, as a tuple."""
    return tuple(cast("Sequence[Any]", found)) if isinstance(found, tuple | list) else (found,)


def faults(
    found: Any,
    wanted: Any,
    dtype: str,
    tolerance: Tolerance,
    magnitude: Any = None,
    *,
    largest: float = 0.0,
    rounded_terms: bool = False,
) -> str:
    """What is wrong with `found`, an array of `dtype`; empty when it is within the tolerance.

    `largest` is the largest factor that a stored result may have been multiplied by.
    """
    ours, exact = as_f64(found), as_f64(wanted)
    if ours.shape != exact.shape:
        return f"shape {ours.shape}, not {exact.shape}"
    if ours.dtype.kind != "f" or exact.dtype.kind != "f":
        wrong = ours != exact
        return f"{int(wrong.sum())} of {wrong.size} elements differ" if wrong.any() else ""
    limits = {"f16": 65504.0, "bf16": 3.3895313892515355e38, "f32": float(np.finfo("f4").max)}
    with np.errstate(all="ignore"):
        compute = EPSILON[dtype if rounded_terms else _compute(dtype)]
        size = np.abs(exact if magnitude is None else as_f64(magnitude))
        size = np.where(np.isfinite(size), size, 0.0)
        bound = EPSILON[dtype] * np.abs(exact) * 0.5 + tolerance.ulps * compute * size
        bound = bound + (1 + largest) * max(TINY[dtype], FLUSHED[_compute(dtype)])
        limit = limits.get(dtype, np.inf)
        beyond = np.abs(exact) + bound > limit  # may round to infinity
        good = (
            (np.isnan(ours) & np.isnan(exact))
            | (ours == exact)
            | (np.abs(ours - exact) <= bound)
            | (beyond & np.isinf(ours) & (np.sign(ours) == np.sign(exact)))
        )
    if good.all():
        return ""
    at = tuple(int(i) for i in np.argwhere(~good)[0])
    return (
        f"{int((~good).sum())} of {good.size} elements off, first at {list(at)}: "
        f"{ours[at]!r}, not {exact[at]!r} (bound {np.broadcast_to(bound, exact.shape)[at]:.3g})"
    )


def _compute(dtype: str) -> str:
    return "f64" if dtype == "f64" else "f32"


def _rounding(dtype: str) -> float:
    return EPSILON[dtype] / EPSILON[_compute(dtype)]


def check_forward(
    spec: KernelSpec, case: Case, dtype: str, place: Callable[[Any], Any] = lambda x: x
) -> list[str]:
    """The forward against the NumPy reference; inputs unchanged; a second run bit-equal."""
    arrays = inputs(spec, case, dtype)
    placed = [place(array) for array in arrays]
    found = [host(own) for own in tupled(spec.run(*placed, **case.options))]
    plain = [as_f64(array) for array in arrays]
    with np.errstate(all="ignore"):
        wanted = tupled(spec.reference(*plain, **case.options))
        sizes = tupled(spec.magnitude(*plain, **case.options)) if spec.magnitude else ()
    wrong: list[str] = []
    for at, (own, exact) in enumerate(zip(found, wanted, strict=True)):
        size = sizes[at] if at < len(sizes) else None
        kind = dtype_of(own, dtype)
        fault = faults(own, exact, kind, spec.tolerance, size, rounded_terms=spec.rounded_terms)
        if fault:
            wrong.append(f"output {at} {told(case)} {dtype}: {fault}")
    for array, own in zip(arrays, placed, strict=True):
        if not same_bits(array, host(own)):
            wrong.append(f"{told(case)} {dtype}: an input was changed")
    if spec.exact is True:
        again = [host(own) for own in tupled(spec.run(*placed, **case.options))]
        if not all(map(same_bits, found, again)):
            wrong.append(f"{told(case)} {dtype}: a second run gave other bits")
    return wrong


def gradients_of(
    spec: KernelSpec, case: Case, dtype: str, place: Callable[[Any], Any]
) -> tuple[list[Any], list[Any], list[Any]]:
    """The incoming gradients, the inputs, and our own gradients, of a case; all on the host."""
    assert spec.backward is not None
    arrays = inputs(spec, case, dtype)
    placed = [place(array) for array in arrays]
    outputs = tupled(spec.run(*placed, **case.options))
    rng = seeded("gradient", spec.name, case.shapes, dtype)
    incoming = [
        as_dtype(np.asarray(rng.standard_normal(tuple(own.shape))), dtype) for own in outputs
    ]
    found = spec.backward([place(g) for g in incoming], placed, outputs, dict(case.options))
    return incoming, arrays, [host(own) for own in found]


def differentiable(spec: KernelSpec, arrays: Sequence[Any]) -> list[int]:
    """The places of the inputs of a case that have gradients; some cases have fewer arrays."""
    return [place for place in spec.differentiable if place < len(arrays)]


def check_backward(
    spec: KernelSpec, case: Case, dtype: str, place: Callable[[Any], Any] = lambda x: x
) -> list[str]:
    """The gradients against the NumPy reference of the spec."""
    if spec.backward is None or spec.backward_reference is None or case.values == "integers":
        return []
    incoming, arrays, found = gradients_of(spec, case, dtype, place)
    plain = [as_f64(array) for array in arrays]
    upstream = [as_f64(g) for g in incoming]
    with np.errstate(all="ignore"):
        wanted = spec.backward_reference(upstream, plain, dict(case.options))
        sizes: Sequence[Any] = ()
        if spec.backward_magnitude:
            sizes = spec.backward_magnitude(upstream, plain, dict(case.options), _rounding(dtype))
    largest = max((float(np.abs(g).max(initial=0.0)) for g in upstream), default=0.0)
    tolerance = spec.backward_tolerance or spec.tolerance
    wrong: list[str] = []
    for at, (own, exact) in enumerate(zip(found, wanted, strict=True)):
        size = sizes[at] if at < len(sizes) else None
        kind = dtype_of(own, dtype)
        fault = faults(
            own, exact, kind, tolerance, size, largest=largest, rounded_terms=spec.rounded_terms
        )
        if fault:
            wrong.append(f"gradient {at} {told(case)} {dtype}: {fault}")
    return wrong


def check_numerically(spec: KernelSpec, case: Case) -> list[str]:
    """The gradients in f64 against central differences of our own forward, along a direction.

    Not where values tie or are no numbers: there a gradient is a choice.
    """
    if spec.backward is None or case.values in {"special", "ties", "integers"}:
        return []
    incoming, arrays, found = gradients_of(spec, case, "f64", lambda x: x)
    rng = seeded("direction", spec.name, case.shapes)
    wrong: list[str] = []
    for place, own in zip(differentiable(spec, arrays), found, strict=True):
        shape: tuple[int, ...] = arrays[place].shape
        direction = rng.standard_normal(shape)

        def along(t: float, place: int = place, direction: Any = direction) -> float:
            moved = list(arrays)
            moved[place] = np.array(arrays[place] + t * direction, order="C")
            results = tupled(spec.run(*moved, **case.options))
            pairs = list(zip(incoming, results, strict=True))[: spec.differentiable_outputs]
            return float(sum(np.sum(g * r) for g, r in pairs))

        value = float(np.sum(own * direction))
        scale = 1.0 + float(np.sum(np.abs(own * direction)))
        # An element that crosses a corner or a jump in the longer step does not in the shorter.
        for step in (1e-6, 1e-7):
            wanted = (along(step) - along(-step)) / (2 * step)
            if abs(value - wanted) <= 2e-6 * scale:
                break
        else:
            wrong.append(f"input {place} {told(case)}: {value!r} along a direction, not {wanted!r}")
    return wrong


def check_torch(spec: KernelSpec, case: Case, dtype: str, torch: Any) -> list[str]:
    """Forward and gradients on the CPU against PyTorch's own function in f64."""
    if spec.torch is None:
        return []
    arrays = inputs(spec, case, dtype)
    found = tupled(spec.run(*arrays, **case.options))
    plain = [as_f64(array) for array in arrays]
    tensors = [torch.from_numpy(np.array(array, order="C")) for array in plain]
    forward, backward = spec.tolerance, spec.backward_tolerance or spec.tolerance
    if spec.torch_error and dtype == "f64":
        own_error = spec.torch_error / EPSILON["f64"]
        forward = Tolerance(forward.ulps + own_error, "PyTorch's own error")
        backward = Tolerance(backward.ulps + own_error, "PyTorch's own error")
    gradients = spec.backward is not None and case.values != "integers"
    for at in differentiable(spec, arrays) if gradients else ():
        tensors[at].requires_grad_()
    wanted = tupled(spec.torch(torch, *tensors, **case.options))
    with np.errstate(all="ignore"):
        sizes = tupled(spec.magnitude(*plain, **case.options)) if spec.magnitude else ()
    wrong: list[str] = []
    for at, (own, exact) in enumerate(zip(found, wanted, strict=False)):
        size = sizes[at] if at < len(sizes) else None
        kind, known = dtype_of(own, dtype), exact.detach().numpy()
        fault = faults(own, known, kind, forward, size, rounded_terms=spec.rounded_terms)
        if fault:
            wrong.append(f"output {at} {told(case)} {dtype} (torch): {fault}")
    if not gradients or not wanted[0].requires_grad:
        return wrong
    incoming, _, ours = gradients_of(spec, case, dtype, lambda x: x)
    seeds = [torch.from_numpy(as_f64(g)) for g in incoming]
    pairs = [(own, g) for own, g in zip(wanted, seeds, strict=False) if own.requires_grad]
    torch.autograd.backward([own for own, _ in pairs], [g for _, g in pairs])
    upstream, sizes = [as_f64(g) for g in incoming], ()
    if spec.backward_magnitude:
        with np.errstate(all="ignore"):
            found_sizes = spec.backward_magnitude(
                upstream, plain, dict(case.options), _rounding(dtype)
            )
            sizes = tuple(found_sizes)
    largest = max((float(np.abs(g).max(initial=0.0)) for g in upstream), default=0.0)
    for at, (place, own) in enumerate(zip(differentiable(spec, arrays), ours, strict=True)):
        size = sizes[at] if at < len(sizes) else None
        exact = tensors[place].grad
        exact = np.zeros(arrays[place].shape) if exact is None else exact.numpy()
        # At NaN and infinity PyTorch's gradient differs between its vector loop and the rest of it.
        if exact.shape == own.shape == arrays[place].shape:
            exact = np.where(np.isfinite(plain[place]), exact, as_f64(own))
        kind = dtype_of(own, dtype)
        fault = faults(
            own, exact, kind, backward, size, largest=largest, rounded_terms=spec.rounded_terms
        )
        if fault:
            wrong.append(f"gradient {at} {told(case)} {dtype} (torch): {fault}")
    return wrong


def check_strided(spec: KernelSpec, case: Case, dtype: str = "f32") -> list[str]:
    """Inputs of other strides give the bits that contiguous ones give."""
    arrays = inputs(spec, case, dtype)
    plain = [host(own) for own in tupled(spec.run(*arrays, **case.options))]
    wrong: list[str] = []
    for how in (spread, turned):
        moved = [how(array) for array in arrays]
        found = [host(own) for own in tupled(spec.run(*moved, **case.options))]
        if not all(map(same_bits, plain, found)):
            wrong.append(f"{told(case)} {dtype}: other bits for inputs that are {how.__name__}")
    return wrong


def spread(array: NDArray[Any]) -> NDArray[Any]:
    """The same elements with gaps between them."""
    wide = np.zeros((*array.shape, 2), array.dtype)
    wide[..., 0] = array
    return wide[..., 0]


def turned(array: NDArray[Any]) -> NDArray[Any]:
    """The same elements with the first axis lying closest, backwards."""
    return np.asfortranarray(array[::-1])[::-1] if array.ndim else array


def far(array: NDArray[Any], axis: int) -> NDArray[Any]:
    """The same elements, those along `axis` more than 2^31 elements apart from first to last.

    The memory between them is never touched, so that it costs nothing but addresses.
    """
    import mmap

    step = far_step(array, axis) * array.itemsize
    private: Any = {}
    flags: Any = getattr(mmap, "MAP_NORESERVE", None)
    if flags is not None:
        private["flags"] = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | flags
    memory = mmap.mmap(-1, step * (array.shape[axis] - 1) + array.nbytes, **private)
    strides = list(array.strides)
    strides[axis] = step
    seen: NDArray[Any] = np.ndarray(array.shape, array.dtype, memory, strides=tuple(strides))
    seen[...] = array
    return seen


def far_step(array: NDArray[Any], axis: int) -> int:
    """A stride of `axis`, in elements, for which it reaches beyond 2^31 elements."""
    return (2**31 // (array.shape[axis] - 1) + array.size) // 8 * 8 + 8


def axis_apart(array: NDArray[Any], last: bool) -> int | None:
    """The first, or last, axis along which an array can be spread over few pages."""
    axes = [at for at, side in enumerate(array.shape) if 2 <= side <= 64]
    return axes[-1 if last else 0] if axes else None


def check_far(
    spec: KernelSpec, case: Case, dtype: str, place: Callable[[Any, int | None], Any]
) -> list[str]:
    """Results and gradients of a case whose first (or last) axes reach beyond 2^31 elements.

    `place(array, axis)` puts an array where the operation runs, and spreads it along `axis`. The
    results are bit-equal to those of arrays that lie close.
    """
    arrays = [np.ascontiguousarray(array) for array in inputs(spec, case, dtype)]

    def found(put: Callable[[Any], Any]) -> list[NDArray[Any]]:
        placed = [put(own) for own in arrays]
        outputs = tupled(spec.run(*placed, **case.options))
        gradients: Sequence[Any] = ()
        if spec.backward is not None and spec.backward_reference is not None:
            rng = seeded("far", spec.name, case.shapes)
            grads = [np.asarray(rng.standard_normal(tuple(own.shape))) for own in outputs]
            upstream = [put(as_dtype(own, dtype)) for own in grads]
            gradients = spec.backward(upstream, placed, outputs, dict(case.options))
        return [host(own) for own in (*outputs, *gradients) if own is not None]

    close = found(lambda own: place(own, None))
    wrong: list[str] = []
    for last in (False, True):
        apart = found(lambda own, last=last: place(own, axis_apart(own, last)))  # type: ignore[misc]
        if len(close) != len(apart) or not all(map(same_bits, close, apart)):
            which = "last" if last else "first"
            wrong.append(f"{told(case)} {dtype}: other bits where the {which} axes reach far")
    return wrong


def host(array: Any) -> NDArray[Any]:
    """An array of any library as a NumPy array."""
    if isinstance(array, np.ndarray):
        return cast("NDArray[Any]", array)
    if hasattr(array, "to_host"):
        return np.asarray(array.to_host())
    if hasattr(array, "data_ptr"):
        torch: Any = import_module("torch")
        tensor = array.detach().cpu()
        own = _NOT_OF_NUMPY.get(str(tensor.dtype).rpartition(".")[2])
        if own is None:
            return np.asarray(tensor.numpy())
        bits = tensor.contiguous().view(torch.int16 if own == "bf16" else torch.int8).numpy()
        return np.asarray(bits.view(numpy_dtype(own)))
    return np.asarray(array)


def as_tensor(torch: Any, array: NDArray[Any]) -> Any:
    """A copy of a NumPy array as a torch tensor on the CPU."""
    plain = np.array(array, order="C")
    if array.dtype.name not in _NOT_OF_NUMPY:
        return torch.from_numpy(plain)
    bits = torch.from_numpy(plain.view(np.int16 if plain.itemsize == 2 else np.int8))
    return bits.view(getattr(torch, array.dtype.name))


def dtype_of(array: NDArray[Any], default: str) -> str:
    """The name in the language of a float array's dtype; `default` for other arrays."""
    names = {"float16": "f16", "bfloat16": "bf16", "float32": "f32", "float64": "f64"}
    return names.get(array.dtype.name, default)


def same_bits(one: NDArray[Any], other: NDArray[Any]) -> bool:
    """Whether two arrays hold the same bits."""
    return one.dtype == other.dtype and one.tobytes() == other.tobytes()


def told(case: Case) -> str:
    """A case in a line."""
    options = "".join(f" {name}={value!r}" for name, value in case.options.items())
    return f"{' '.join(str(list(shape)) for shape in case.shapes)} {case.values}{options}"
