"""Launches of products of matrices: from operands and an epilogue to the kernel that is chosen."""

from __future__ import annotations

from itertools import pairwise
from math import prod
from typing import TYPE_CHECKING, Any, NamedTuple

import teeny_triton as tl
from teeny_kernels.arrays import ITEMSIZES, Operand, empty, row_major
from teeny_kernels.layout import broadcast_shape, contiguous, expanded, reshaped
from teeny_kernels.products.choose import Config, Problem, choose
from teeny_kernels.products.kernels import matmul_kernel
from teeny_kernels.products.persistent import matmul_persistent
from teeny_kernels.products.stream import matmul_join, matmul_shares
from teeny_macros import devices

if TYPE_CHECKING:
    from collections.abc import Sequence


class Epilogue(NamedTuple):
    """What becomes of the sums: activation(alpha s t sums + bias) + beta residual.

    `rows` and `columns` are the factors s and t: f32 arrays of one number, or of one for each row
    or column. `residual` is contiguous and of the shape of the result. With `gradient` the result
    is the residual times the slope of the activation.
    """

    rows: Operand | None = None
    columns: Operand | None = None
    bias: Operand | None = None
    residual: Operand | None = None
    alpha: float = 1.0
    beta: float = 1.0
    activation: str | None = None
    gradient: bool = False

    @property
    def is_scaled(self) -> bool:
        """Whether anything is done to sums of integers that has to be done in f32."""
        return self != Epilogue()


PLAIN = Epilogue()
KERNELS = (matmul_kernel, matmul_shares, matmul_join, matmul_persistent)
# Products of 8-bit floats that are summed in fewer bits before the sum is added in f32.
_IMPRECISE = 128


class _Launch(NamedTuple):
    """A product with all that every kernel of it takes."""

    out: Operand
    x: Operand
    y: Operand
    epilogue: Epilogue
    config: Config
    precision: str
    imprecise: int | None = None

    @property
    def extras(self) -> tuple[Any, ...]:
        """The arrays of the epilogue."""
        own = self.epilogue
        arrays = (own.rows, own.columns, own.bias, own.residual)
        return tuple(None if array is None else array.array for array in arrays)

    @property
    def numbers(self) -> tuple[Any, ...]:
        """The strides of the factors, then the numbers of the epilogue."""
        own = self.epilogue
        steps = (0 if array is None or array.size == 1 else 1 for array in (own.rows, own.columns))
        return (*steps, float(own.alpha), float(own.beta))

    @property
    def constants(self) -> dict[str, Any]:
        """The compile-time values of the epilogue."""
        own = self.epilogue
        return {
            "SCALED": own.is_scaled,
            "ACTIVATION": own.activation,
            "GRADIENT": own.gradient,
        }


def product(
    out: Operand,
    x: Operand,
    y: Operand,
    epilogue: Epilogue = PLAIN,
    *,
    relaxed: bool = False,
    config: Config | None = None,
) -> None:
    """Write the product of (..., m, k) and (..., k, n), leading axes broadcast, into `out`.

    `out` is contiguous. With `relaxed`, f32 is rounded to tf32 and sums of 8-bit floats are kept in
    fewer bits, where a GPU is faster so. `config` is chosen when it is not given.
    """
    batch = broadcast_shape("matmul", x.shape[:-2], y.shape[:-2])
    (m, k), n, count = x.shape[-2:], y.shape[-1], prod(batch)
    if not count * m * n:
        return
    a, b = (_batched(own, batch) for own in (x, y))
    is_short = x.dtype in ("f8e4m3", "f8e5m2")
    relaxed = relaxed and (is_short or x.dtype == "f32")
    if config is None:
        config = choose(_problem(out, a, b, epilogue, relaxed=relaxed))
    precision = "tf32" if relaxed and x.dtype == "f32" else "ieee"
    imprecise = _IMPRECISE if is_short and not relaxed else None
    launch = _Launch(out, a, b, epilogue, config, precision, imprecise)
    if config.kind == "persistent":
        _persistent(launch)
    elif config.kind == "shares" and k > config.k:
        _shares(launch)
    else:
        _tiles(launch)


def _tiles(own: _Launch) -> None:
    config = own.config
    count, m, k, n = *own.x.shape, own.y.shape[-1]
    grid = count * -(-m // config.m) * -(-n // config.n)
    launch: Any = matmul_kernel.options(num_warps=config.warps, num_stages=config.stages)[grid]
    launch(
        own.out.array,
        own.x.array,
        own.y.array,
        *own.extras,
        m,
        n,
        k,
        *own.x.strides,
        *own.y.strides,
        *own.numbers,
        PRECISION=own.precision,
        IMPRECISE=own.imprecise,
        EVEN_K=k % config.k == 0,
        BLOCK_M=config.m,
        BLOCK_N=config.n,
        BLOCK_K=config.k,
        GROUP_M=config.group,
        **own.constants,
    )


def _shares(own: _Launch) -> None:
    config = own.config
    count, m, k, n = *own.x.shape, own.y.shape[-1]
    tiles = count * -(-m // config.m) * -(-n // config.n)
    steps = -(-k // config.k)
    share = -(-tiles * steps // max(1, config.programs))
    programs = -(-tiles * steps // share)
    kind = {"f64": "f64", "i8": "i32"}.get(own.x.dtype, "f32")
    parts = empty(own.out, (2 * programs * config.m * config.n,), kind)
    shape = {"BLOCK_M": config.m, "BLOCK_N": config.n, "GROUP_M": config.group, **own.constants}
    launch: Any = matmul_shares.options(num_warps=config.warps, num_stages=config.stages)[programs]
    launch(
        own.out.array,
        parts.array,
        own.x.array,
        own.y.array,
        *own.extras,
        m,
        n,
        k,
        tiles,
        share,
        *own.x.strides,
        *own.y.strides,
        *own.numbers,
        PRECISION=own.precision,
        IMPRECISE=own.imprecise,
        EVEN_K=k % config.k == 0,
        BLOCK_K=config.k,
        **shape,
    )
    if any(at * steps // share != (at * steps + steps - 1) // share for at in range(tiles)):
        join: Any = matmul_join[tiles]
        join(own.out.array, parts.array, *own.extras, m, n, steps, share, *own.numbers, **shape)


def _persistent(own: _Launch) -> None:
    config = own.config
    count, m, k, n = *own.x.shape, own.y.shape[-1]
    x_turned, y_turned = _lies_along(own.x) == 0, _lies_along(own.y) == 0
    tiles = count * -(-m // config.m) * -(-n // config.n)
    out = own.out._replace(shape=(count, m, n), strides=row_major((count, m, n)))
    programs = min(tiles, config.programs or _processors(own.out))
    tuned = matmul_persistent.options(num_warps=config.warps, num_stages=config.stages)
    launch: Any = tuned[programs]
    launch(
        _described(out, config.m, config.n // config.split),
        _described(own.x, config.m, config.k, turned=x_turned),
        _described(own.y, config.k, config.n, turned=y_turned),
        *own.extras,
        m,
        n,
        k,
        tiles,
        *own.numbers,
        PRECISION=own.precision,
        IMPRECISE=own.imprecise,
        BATCHED=count > 1,
        X_TURNED=x_turned,
        Y_TURNED=y_turned,
        BLOCK_M=config.m,
        BLOCK_N=config.n,
        BLOCK_K=config.k,
        GROUP_M=config.group,
        SPLIT=config.split,
        **own.constants,
    )


def _described(x: Operand, rows: int, columns: int, *, turned: bool = False) -> Any:
    """The descriptor of the matrices, of their transposes if they are `turned`."""
    sides, block = x.shape[1:], (rows, columns)
    if turned:
        sides, block = sides[::-1], block[::-1]
    strides = (_row_step(x), 1)
    if x.shape[0] > 1:
        sides, block, strides = (x.shape[0], *sides), (1, *block), (x.strides[0], *strides)
    return tl.tensor_descriptor(x.array, block, shape=sides, strides=strides)


def _lies_along(x: Operand) -> int:
    """The axis of the matrix whose elements lie side by side: 1, or 0 when it is turned."""
    return 0 if x.strides[1] == 1 and x.strides[2] != 1 and x.shape[1] != 1 else 1


def _row_step(x: Operand) -> int:
    """From one row to the next; of a single row, any that descriptors take."""
    along = _lies_along(x)
    step, side, wide = x.strides[2 - along], x.shape[2 - along], x.shape[1 + along]
    return step if side != 1 else -(-wide // 16) * 16


def _can_be_described(x: Operand) -> bool:
    """Whether a descriptor takes it: aligned, its elements side by side, its steps forward."""
    along = _lies_along(x)
    if 0 in x.shape or (x.strides[1 + along] != 1 and x.shape[1 + along] != 1):
        return False
    steps = [_row_step(x), *(x.strides[:1] if x.shape[0] > 1 else ())]
    info = devices.describe(x.array)
    aligned = all(step > 0 and step * ITEMSIZES[x.dtype] % 16 == 0 for step in steps)
    return aligned and info is not None and info.pointer % 16 == 0


def _problem(out: Operand, x: Operand, y: Operand, epilogue: Epilogue, *, relaxed: bool) -> Problem:
    count, m, k, n = *x.shape, y.shape[-1]
    arch, processors, described = "", 1, False
    if out.device != "cpu":
        arch, processors = devices.device(out.device).target.arch, _processors(out)
        whole = out._replace(shape=(count, m, n), strides=row_major((count, m, n)))
        described = (
            int(arch.removeprefix("sm_")) >= 90
            and x.dtype == y.dtype
            and all(map(_can_be_described, (x, y, whole)))
        )
    return Problem(
        m,
        n,
        k,
        count,
        x.dtype,
        y.dtype,
        x_turned=_lies_along(x) == 0,
        y_turned=_lies_along(y) == 0,
        described=described,
        plain=epilogue == PLAIN,
        relaxed=relaxed,
        arch=arch,
        processors=processors,
    )


def _processors(x: Operand) -> int:
    if x.device == "cpu":
        return 1
    device: Any = devices.device(x.device)
    return int(device.properties["multiprocessor_count"])


def _batched(x: Operand, batch: Sequence[int]) -> Operand:
    """`x` with one leading axis: a view where the leading axes join, else a copy."""
    full = expanded(x, (*batch, *x.shape[-2:]))
    count = prod(batch)
    lengths = [(side, step) for side, step in zip(batch, full.strides, strict=False) if side != 1]
    joined = all(step == below * length for (_, step), (length, below) in pairwise(lengths))
    if not joined:
        return reshaped(contiguous("matmul", full), (count, *x.shape[-2:]))
    step = lengths[-1][1] if lengths else 0
    return x._replace(shape=(count, *x.shape[-2:]), strides=(step, *full.strides[-2:]))
