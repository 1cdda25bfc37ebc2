"""Calls of update kernels: the arrays checked, strided ones updated through a contiguous copy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from teeny_kernels.arrays import ITEMSIZES, operand, same_place
from teeny_kernels.codes import E1202, E1204
from teeny_kernels.elementwise.run import flat_block
from teeny_kernels.layout import contiguous, copy, require_dtype
from teeny_kernels.optimizer.templates import MOST_STATES, NUMBERS
from teeny_kernels.spec import FLOATS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from teeny_macros import Kernel


def step_in_place(
    operation: str,
    kernel: Kernel[...],
    param: Any,
    grad: Any,
    states: Mapping[str, Any],
    numbers: Sequence[float],
    *,
    decay: float = 0.0,
    shrink: float = 1.0,
    maximize: bool = False,
) -> None:
    """Update `param` and `states` by the rule of `kernel`.

    The states are of the shape of `param` and of one float dtype, that of `param` or another.

    Raises:
        KernelError: E1201-E1203 and E1206; E1204 for arrays that cannot be changed.
    """
    given = [
        (name, operand(name, value))
        for name, value in (("param", param), ("grad", grad), *states.items())
    ]
    same_place(operation, given)
    first = given[0][1]
    require_dtype(operation, "param", first, kernel.dtypes)
    require_dtype(operation, "grad", given[1][1], (first.dtype,))
    for name, own in given:
        if own.shape != first.shape:
            what = f"`{name}` {own.shape}, `param` {first.shape}"
            raise E1202.error(operation=operation, what=what).help("give arrays of one shape")
        if name != "grad" and own.library == "jax":
            raise E1204.error(operation=operation, name=name, found="a JAX array").help(
                "JAX arrays do not change; pass a buffer of the device, or another library's array"
            )
    for name, own in given[2:]:
        require_dtype(operation, name, own, FLOATS if own is given[2][1] else (given[2][1].dtype,))
    n = first.size
    if not n:
        return
    ready = [contiguous(operation, own) for _, own in given]
    block, warps = flat_block(max(ITEMSIZES[own.dtype] for own in ready))
    kernel.options(num_warps=warps)[-(-n // block)](
        *(own.array for own in ready),
        *(None,) * (MOST_STATES - len(states)),
        n,
        -1.0 if maximize else 1.0,
        float(decay),
        float(shrink),
        *(float(value) for value in numbers),
        *(0.0 for _ in range(NUMBERS - len(numbers))),
        DECAY=decay != 0,
        BLOCK_SIZE=block,
    )
    for (name, own), updated in zip(given, ready, strict=True):
        if updated is not own and name != "grad":
            copy(operation, own, updated)


def require_step(operation: str, step: int) -> None:
    """Raise E1204 unless `step` counts from 1."""
    if step < 1:
        raise E1204.error(operation=operation, name="step", found=f"{step!r}").help(
            "the first step is 1"
        )
