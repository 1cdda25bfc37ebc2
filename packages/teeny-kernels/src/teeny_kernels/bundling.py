"""What a bundle of the library holds: the kernels that its operations launch, found by planning.

`teeny bundle build teeny_kernels` asks for `bundle_instances`; a program that needs few operations
names those, or plans its own launches with `teeny_compiler.every_launch`.
"""

from __future__ import annotations

from functools import cache
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from teeny_compiler import every_launch
from teeny_kernels.arrays import FOREIGN
from teeny_kernels.codes import E1204, KernelError
from teeny_kernels.registry import specs
from teeny_kernels.spec import FLOATS
from teeny_kernels.testing import tupled
from teeny_macros.diagnostics import ToolchainError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from teeny_kernels.spec import Case, KernelSpec

TARGETS = ("sm_90", "cpu")
# Inputs that an operation makes itself are made to learn their shapes, unless they are large.
_MOST_MADE = 1 << 22
_OWN = "own"  # stands for the dtype of the run
# Lengths of rows: a row kernel has a block for each power of two.
_LENGTHS = tuple(1 << bits for bits in range(16))
# Rows are read by 8, 4, 2 or 1 elements, whichever divides their length (see rows.unit_of).
_DIVIDED = tuple(n - own for n in _LENGTHS for own in (1, 2, 4) if n - own > n // 2)
_ROWS = (1, 64, 8192)


def bundle_instances(
    operations: str | Sequence[str] = (),
    dtypes: str | Sequence[str] = (),
    *,
    gradients: bool = True,
    target: str = "",
) -> list[Any]:
    """Instances of the kernels of `operations` (all of them) in `dtypes` (all that each has).

    They are those that the shapes of the library's own tests and benchmarks lead to, and rows of
    other lengths up to 32768. Elementwise operations of equal shapes have no others; other shapes
    may need more, which `teeny_compiler.every_launch` finds for the shapes of a program. Some
    choose block sizes for the GPU; `target` is an architecture or a level of CPUs, by default
    `sm_90` and CPUs.

    Raises:
        KernelError: E1204 for a name that is no operation or dtype.
    """
    known = specs()
    names = _checked("operations", operations, tuple(known))
    wanted = _checked("dtypes", dtypes, FLOATS)
    # All levels of CPUs are alike here.
    goals = (target if target.startswith("sm_") else "cpu",) if target else TARGETS
    found: dict[Any, None] = {}
    for goal in goals:
        found.update(dict.fromkeys(_instances(names, wanted, gradients, goal)))
    return list(found)


@cache
def _instances(
    names: tuple[str, ...], wanted: tuple[str, ...], gradients: bool, target: str
) -> tuple[Any, ...]:
    known = specs()
    found: dict[Any, None] = {}
    for spec in (known[name] for name in names):
        own = [dtype for dtype in spec.dtypes if dtype in wanted]
        for case in (*spec.cases, *_lengths(spec)):
            try:
                launched = _launched(spec, case, own, target, gradients=gradients)
            except KernelError:  # its options do not fit rows of that length
                if case in spec.cases:
                    raise
                continue
            # Shapes of tests are odd on purpose: what they happen to be divisible by is left out.
            found.update(dict.fromkeys(one.with_hints() for one in launched))
        for case in spec.benchmarks:
            found.update(dict.fromkeys(_launched(spec, case, own, target, gradients=gradients)))
    return tuple(found)


def _checked(option: str, given: str | Sequence[str], known: tuple[str, ...]) -> tuple[str, ...]:
    names = (given,) if isinstance(given, str) else tuple(given)
    for name in names:
        if name not in known:
            from difflib import get_close_matches

            near = get_close_matches(name, known, 5, 0.4) or known[:5]
            raise E1204.error(operation="bundle_instances", name=option, found=f"`{name}`").help(
                f"for example {', '.join(f'`{one}`' for one in near)}"
            )
    return names or known


def _lengths(spec: KernelSpec) -> list[Case]:
    """The first benchmark with other rows and columns, where it has just these."""
    case = spec.benchmarks[0] if spec.benchmarks else None
    if case is None or len(case.shapes[0]) != 2:
        return []
    sides = case.shapes[0]

    def changed(value: Any, rows: int, columns: int) -> Any:
        if isinstance(value, tuple):
            parts: tuple[Any, ...] = value  # pyright: ignore[reportUnknownVariableType]
            return tuple(changed(part, rows, columns) for part in parts)
        if type(value) is not int or value not in sides:
            return value
        return columns if value == sides[1] else rows

    return [
        case._replace(
            shapes=changed(case.shapes, rows, columns),
            options={name: changed(value, rows, columns) for name, value in case.options.items()},
        )
        for rows in _ROWS
        for columns in (*_LENGTHS, *(_DIVIDED if rows == _ROWS[1] else ()))
    ]


def _launched(
    spec: KernelSpec, case: Case, dtypes: Sequence[str], target: str, *, gradients: bool
) -> list[Any]:
    """What a case launches in each dtype, forward and backward."""
    made = _made(spec, case)

    def workload(device: Any) -> None:
        for dtype in dtypes:
            arrays = [device.buffer(shape, dtype if own == _OWN else own) for shape, own in made]
            try:
                results = spec.run(*arrays, **case.options)
            except ToolchainError as error:
                if error.code != "E0974":
                    raise
                continue  # how the spec calls it looks at the results, behind the last launch
            outputs = tupled(results)
            if gradients and spec.backward is not None and case.values != "integers":
                incoming = [device.buffer(own.shape, dtype) for own in outputs]
                spec.backward(incoming, arrays, outputs, dict(case.options))

    return every_launch(workload, target) if made else []


def _made(spec: KernelSpec, case: Case) -> list[tuple[tuple[int, ...], str]]:
    """The shape and dtype of each input of a case."""
    if spec.make is None:
        kind = "i32" if case.values == "integers" else _OWN
        return [(shape, kind) for shape in case.shapes]
    if case in spec.cases or sum(map(prod, case.shapes)) <= _MOST_MADE // 64:
        return _seen(spec, case)
    # Too much to make: a small case of the same kind tells the dtypes.
    for small in spec.cases:
        if len(small.shapes) == len(case.shapes) and _kind(small) == _kind(case):
            made = _seen(spec, small)
            if [shape for shape, _ in made] == list(small.shapes):
                return [(shape, dtype) for shape, (_, dtype) in zip(case.shapes, made, strict=True)]
    return []


def _kind(case: Case) -> tuple[Any, ...]:
    """What besides shapes may decide about the dtypes of inputs."""
    texts = {name: value for name, value in case.options.items() if isinstance(value, str)}
    return case.values, sorted(texts.items())


def _seen(spec: KernelSpec, case: Case) -> list[tuple[tuple[int, ...], str]]:
    """The shapes and dtypes of inputs, made to look at them."""
    assert spec.make is not None
    arrays = [np.asarray(value) for value in spec.make(np.random.default_rng(0), case)]
    return [(array.shape, _dtype(array)) for array in arrays]


def _dtype(array: Any) -> str:
    """The dtype of an input: that of the run for floats of more than 8 bits."""
    is_float = array.dtype.kind == "f" and array.itemsize > 1
    return _OWN if is_float else FOREIGN[array.dtype.name]
