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
from teeny_kernels.codes import E1204
from teeny_kernels.registry import specs
from teeny_kernels.spec import FLOATS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from teeny_kernels.spec import Case, KernelSpec

TARGETS = ("sm_90", "cpu")
# Inputs that an operation makes itself are made to learn their shapes, unless they are large.
_MOST_MADE = 1 << 22
_OWN = "own"  # stands for the dtype of the run
# Lengths of rows: a row kernel has a block for each power of two.
_LENGTHS = tuple(1 << bits for bits in range(16))


def bundle_instances(
    operations: str | Sequence[str] = (),
    dtypes: str | Sequence[str] = (),
    *,
    gradients: bool = True,
    target: str = "",
) -> list[Any]:
    """Instances of the kernels of `operations` (all of them) in `dtypes` (all that each has).

    They are those that the shapes of the library's own tests and benchmarks lead to, and rows of
    other lengths up to 32768. Elementwise operations have no others; of the rest other shapes may
    need more, which `teeny_compiler.every_launch` finds for the shapes of a program. Some choose
    block sizes for the GPU; `target` is an architecture or a level of CPUs, by default `sm_90` and
    CPUs.

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
            # Shapes of tests are odd on purpose: what they happen to be divisible by is left out.
            launched = _launched(spec, case, own, target, gradients=gradients)
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
    """The first benchmark with rows of other lengths, where its inputs are (rows, columns)."""
    case = spec.benchmarks[0] if spec.benchmarks else None
    if case is None or spec.make is not None or len(case.shapes[0]) != 2:
        return []
    columns = case.shapes[0][1]

    def changed(value: Any, length: int) -> Any:
        if isinstance(value, tuple):
            return tuple(changed(part, length) for part in value)
        return length if value == columns and type(value) is int else value

    return [
        case._replace(
            shapes=changed(case.shapes, length),
            options={name: changed(value, length) for name, value in case.options.items()},
        )
        for length in _LENGTHS
    ]


def _launched(
    spec: KernelSpec, case: Case, dtypes: Sequence[str], target: str, *, gradients: bool
) -> list[Any]:
    """What a case launches in each dtype, forward and backward."""
    made = _made(spec, case)

    def workload(device: Any) -> None:
        for dtype in dtypes:
            arrays = [device.buffer(shape, dtype if own == _OWN else own) for shape, own in made]
            results = spec.run(*arrays, **case.options)
            outputs = tuple(results) if isinstance(results, tuple | list) else (results,)
            if gradients and spec.backward is not None and case.values != "integers":
                incoming = [device.buffer(own.shape, dtype) for own in outputs]
                spec.backward(incoming, arrays, outputs, dict(case.options))

    return every_launch(workload, target) if made else []


def _made(spec: KernelSpec, case: Case) -> list[tuple[tuple[int, ...], str]]:
    """The shape and dtype of each input of a case."""
    if spec.make is None:
        kind = "i32" if case.values == "integers" else _OWN
        return [(shape, kind) for shape in case.shapes]
    if sum(map(prod, case.shapes)) > _MOST_MADE:
        return []
    arrays = [np.asarray(value) for value in spec.make(np.random.default_rng(0), case)]
    return [
        (array.shape, _OWN if array.dtype.kind == "f" else FOREIGN[array.dtype.name])
        for array in arrays
    ]
