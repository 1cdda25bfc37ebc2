"""`KernelSpec`: all that is known of one operation, in one place.

Tests, benchmarks and the generated pages read specs and nothing else; registry.py finds them. A
spec says what an operation is; how to test or time one is not its business.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from teeny_macros import Kernel

FLOATS = ("f32", "f16", "bf16", "f64")

# Spacing of the dtypes next to one.
EPSILON = {"f64": 2.0**-52, "f32": 2.0**-23, "f16": 2.0**-10, "bf16": 2.0**-7}
TINY = {"f64": 2.0**-1074, "f32": 2.0**-149, "f16": 2.0**-24, "bf16": 2.0**-133}
# Terms below the normal range of the dtype of the computation may be flushed to zero, as GPUs do in
# exp; such a term is multiplied by a factor of up to 128 here.
FLUSHED = {"f64": 2.0 ** (-1022 + 7), "f32": 2.0 ** (-126 + 7)}


class Case(NamedTuple):
    """One set of inputs: the shape of each array, options, and which values the arrays hold.

    `values` is the name of a filling: `normal`, `special` (with NaN, infinities, signed zeros,
    subnormals), `ties` (few distinct values), `shifted` (a large mean), `positive`, `above one`,
    `unit` (within (-1, 1)), `probability` (within (0, 1)), `sign` (1 and -1), `integers` (i32 for
    every dtype).
    """

    shapes: tuple[tuple[int, ...], ...]
    options: Mapping[str, Any] = {}
    values: str = "normal"


class Cost(NamedTuple):
    """The least that an operation does: bytes read and written once, floating-point operations."""

    bytes: int
    flops: int


@dataclass(frozen=True, slots=True)
class Tolerance:
    """How far a result may lie from the reference in f64, and why.

    The bound of an element is `eps * |reference| / 2 + ulps * eps_compute * magnitude`, and what
    may be lost below the normal range: the rounding of the output, and the errors of the
    computation in f32 (f64 for f64). `magnitude` is |reference| unless the spec says something else
    of the inputs, for results in which terms cancel.
    """

    ulps: float
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelSpec:
    """One operation.

    Attributes:
        name: what the function is called, `teeny_kernels.<name>`.
        family: the group that pages list it in.
        function: the operation on arrays: `function(*arrays, **options)`.
        call: `function` for arguments that are not `(*arrays, **options)` in this order.
        kernels: from plain to fast.
        formula: as text, with the shapes of what it names.
        source: where the formula stands.
        torch_name: what PyTorch calls it; empty when it has nothing of the kind.
        torch: `torch(module, *tensors, **options)`, PyTorch's own result, or None.
        reference: `reference(*arrays, **options)` in NumPy's f64, written without the kernels.
        backward: `backward(gradients, inputs, outputs, options)`: one gradient for each input of
            `differentiable`, by the operation's backward functions; None when it has no gradient.
        backward_reference: the same in NumPy's f64.
        differentiable: the places of the inputs that have gradients.
        gradients: the parameters of `function` that the results of its backward function belong to,
            in order; empty where they are those at `differentiable`.
        outputs: how many arrays the function returns.
        differentiable_outputs: of how many of them, from the first, gradients come; None for all.
        cases: shapes, options and values to test; at least twelve.
        dtypes: of the arrays.
        make: `make(rng, case)`: the inputs in f64 (or integers), where shapes and fillings do not
            say.
        tolerance: of the forward result; `backward_tolerance` of the gradients.
        magnitude: `magnitude(*arrays, **options)`: the size of the terms of each output element.
        backward_magnitude: `(gradients, inputs, options, rounding)`: the same of each gradient.
            `rounding` is how much coarser the dtype is than the computation, for terms made of a
            result that was stored.
        cost: of a case with elements of `itemsize` bytes.
        benchmarks: cases to time.
        in_place: the operation as it is timed, on the arrays of a case in their order, where
            `call` copies what the function changes.
        peers: more implementations to time: a name, and `peer(module, *tensors, **options)`.
        torch_error: the relative error of PyTorch's own results in f64, where they are known to
            have one; the NumPy reference is the measure there.
        rounded_terms: whether terms are rounded to the dtype on the way, as factors of a product of
            matrices are; bounds then count in its spacing.
        exact: whether results are equal bit by bit for equal inputs; a text says why not.
    """

    name: str
    family: str
    function: Callable[..., Any]
    kernels: tuple[Kernel[...], ...]
    formula: str
    source: str
    reference: Callable[..., Any]
    cases: tuple[Case, ...]
    tolerance: Tolerance
    torch_name: str = ""
    torch: Callable[..., Any] | None = None
    backward: Callable[..., Sequence[Any]] | None = None
    backward_reference: Callable[..., Sequence[Any]] | None = None
    backward_tolerance: Tolerance | None = None
    differentiable: tuple[int, ...] = (0,)
    gradients: tuple[str, ...] = ()
    outputs: int = 1
    differentiable_outputs: int | None = None
    dtypes: tuple[str, ...] = FLOATS
    make: Callable[..., Sequence[Any]] | None = None
    magnitude: Callable[..., Any] | None = None
    backward_magnitude: Callable[..., Sequence[Any]] | None = None
    cost: Callable[[Case, int], Cost] | None = None
    benchmarks: tuple[Case, ...] = ()
    peers: Mapping[str, Callable[..., Any]] = field(default_factory=dict[str, Any])
    exact: bool | str = True
    torch_error: float = 0.0
    rounded_terms: bool = False
    call: Callable[..., Any] | None = None
    in_place: Callable[..., Any] | None = None

    def run(self, *arrays: Any, **options: Any) -> Any:
        """The operation on the arrays of a case."""
        return (self.call or self.function)(*arrays, **options)
