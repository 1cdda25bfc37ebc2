"""Launches of products of matrices: from operands and an epilogue to the kernel that is chosen."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from teeny_kernels.arrays import (
    ITEMSIZES,
    Operand,
    arch_of,
    empty,
    is_aligned,
    processors_of,
    row_major,
)
from teeny_kernels.calls import aligned, bare, result_of
from teeny_kernels.layout import broadcast_shape
from teeny_kernels.products.choose import Config, Problem, choose
from teeny_kernels.products.kernels import matmul_kernel, matmul_on_cpu
from teeny_kernels.products.persistent import matmul_persistent
from teeny_kernels.products.stream import matmul_join, matmul_shares, matmul_shares_described
from teeny_kernels.products.views import (
    along_k,
    batched,
    describer,
    lies_along,
    takes_descriptors,
)


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
KERNELS = (
    matmul_on_cpu,
    matmul_kernel,
    matmul_shares,
    matmul_shares_described,
    matmul_join,
    matmul_persistent,
)
# Dtypes whose products may be less precise and faster.
_RELAXED = ("f32", "f8e4m3", "f8e5m2")
# Products of 8-bit floats that are summed in fewer bits before the sum is added in f32.
_IMPRECISE = 128
# Elements of a tile that one program joins.
JOINED = 256
# Parts of which it has the loads on their way at the same time.
AT_ONCE = 8


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


# Launches of a product: from the result, both operands and the arrays of the epilogue, which are
# as those that it was made for in everything but where they lie.
Run = Callable[[Operand, Any, Any, tuple[Any, ...]], None]
_runs: dict[Any, Run] = {}
_MOST_RUNS = 512
_NUMBERS = (int, float)


def product(
    out: Operand,
    x: Operand,
    y: Operand,
    epilogue: Epilogue = PLAIN,
    *,
    relaxed: bool = False,
    config: Config | None = None,
) -> Run | None:
    """Write the product of (..., m, k) and (..., k, n), leading axes broadcast, into `out`.

    Returns what does the same for other arrays that are like these; None where that has to be
    found anew.
    `out` is contiguous. With `relaxed`, f32 is rounded to tf32 and sums of 8-bit floats are kept in
    fewer bits, where a GPU is faster so. `config` is chosen when it is not given.
    """
    extras = (epilogue.rows, epilogue.columns, epilogue.bias, epilogue.residual)
    arrays = tuple(None if own is None else own.array for own in extras)
    key = _key(out, x, y, epilogue, relaxed, config)
    run = None if key is None else _runs.get(key)
    if run is not None:
        run(out, x.array, y.array, arrays)
        return run
    a, b = _matrices(x, y)
    if not a.shape[0] * a.shape[1] * b.shape[2]:
        return None
    relaxed = relaxed and x.dtype in _RELAXED
    if config is None:
        a, b, config = _laid(out, a, b, epilogue, relaxed=relaxed)
    precision = "tf32" if relaxed and x.dtype == "f32" else "ieee"
    is_precise = x.dtype in ("f8e4m3", "f8e5m2") and not relaxed
    imprecise = min(_IMPRECISE, config.k) if is_precise else None
    launch = _Launch(out, a, b, epilogue, config, precision, imprecise)
    if config.kind == "persistent":
        run = _persistent(launch)
    elif config.kind in ("shares", "persistent shares") and a.shape[2] > config.k:
        run = _shares(launch)
    else:
        run = _tiles(launch)
    run(out, a.array, b.array, arrays)
    # Copies have to be made each time.
    if key is not None and a.array is x.array and b.array is y.array:
        if len(_runs) >= _MOST_RUNS:
            _runs.clear()
        _runs[key] = run
        return run
    return None


def plan_of(run: Run, target: Operand) -> Callable[..., Any]:
    """A plan: from both factors, `out` or None, and the arrays of the epilogue; see calls.py.

    It gives the result, or None where that begins elsewhere than `target` did.
    """
    like, shape, begins = target._replace(array=None), target.shape, aligned(target.array)

    def plan(x: Any, y: Any, out: Any, *extras: Any) -> Any:
        out = result_of(x, out, shape)
        if aligned(out) != begins:
            return None
        arrays = tuple(None if own is None else bare(own) for own in extras)
        run(like._replace(array=out), bare(x), bare(y), arrays)
        return out

    return plan


def _key(
    out: Operand, x: Operand, y: Operand, epilogue: Epilogue, relaxed: bool, config: Config | None
) -> Any:
    """All that decides how a product is launched: of arrays, what they are but not where.

    None where something may change without being another object.
    """
    aligned = out.device == "cpu" or (
        is_aligned(out.array), is_aligned(x.array), is_aligned(y.array),
    )  # fmt: skip
    key = (out[1:], x[1:], y[1:], aligned, relaxed, config)
    if epilogue is PLAIN:
        return key
    if type(epilogue.alpha) not in _NUMBERS or type(epilogue.beta) not in _NUMBERS:
        return None
    extras = (epilogue.rows, epilogue.columns, epilogue.bias, epilogue.residual)
    return (*key, epilogue[4:], *(None if own is None else own.size == 1 for own in extras))


def chosen(
    out: Operand, x: Operand, y: Operand, epilogue: Epilogue = PLAIN, *, relaxed: bool = False
) -> Config:
    """The configuration that `product` chooses for the same arguments."""
    relaxed = relaxed and x.dtype in _RELAXED
    return _laid(out, *_matrices(x, y), epilogue, relaxed=relaxed)[2]


def _laid(
    out: Operand, x: Operand, y: Operand, epilogue: Epilogue, *, relaxed: bool
) -> tuple[Operand, Operand, Config]:
    """The operands as tensor cores take them, copied where they have to be, and what is chosen."""
    x, y = along_k(arch_of(out.device), x, y, relaxed=relaxed)
    return x, y, choose(_problem(out, x, y, epilogue, relaxed=relaxed))


def _matrices(x: Operand, y: Operand) -> tuple[Operand, Operand]:
    batch = broadcast_shape("matmul", x.shape[:-2], y.shape[:-2])
    return _as_one(batched(x, batch), batched(y, batch))


def _as_one(x: Operand, y: Operand) -> tuple[Operand, Operand]:
    """Many matrices times the same one are one with all their rows."""
    count, m, k = x.shape
    row = x.strides[1] if m != 1 else x.strides[0]
    if count == 1 or y.strides[0] != 0 or (m != 1 and x.strides[0] != m * row):
        return x, y
    rows = x._replace(shape=(1, count * m, k), strides=(0, row, x.strides[2]))
    return rows, y._replace(shape=(1, *y.shape[1:]))


def _tiles(own: _Launch) -> Run:
    config = own.config
    count, m, k, n = *own.x.shape, own.y.shape[-1]
    grid = count * -(-m // config.m) * -(-n // config.n)
    own_kernel = matmul_on_cpu if own.out.device == "cpu" else matmul_kernel
    tuned: Any = own_kernel.options(**config.options)
    sizes = (m, n, k, *own.x.strides, *own.y.strides, *own.numbers)
    constants: dict[str, Any] = {
        "PRECISION": own.precision,
        "IMPRECISE": own.imprecise,
        "EVEN_K": k % config.k == 0,
        "BLOCK_M": config.m,
        "BLOCK_N": config.n,
        "BLOCK_K": config.k,
        "GROUP_M": config.group,
        **own.constants,
    }

    def run(out: Operand, x: Any, y: Any, extras: tuple[Any, ...]) -> None:
        tuned[grid](out.array, x, y, *extras, *sizes, **constants)

    return run


def _shares(own: _Launch) -> Run:
    config = own.config
    count, m, k, n = *own.x.shape, own.y.shape[-1]
    tiles = count * -(-m // config.m) * -(-n // config.n)
    steps = -(-k // config.k)
    share = -(-tiles * steps // max(1, config.programs))
    programs = -(-tiles * steps // share)
    kind = {"f64": "f64", "i8": "i32"}.get(own.x.dtype, "f32")
    shape = {"BLOCK_M": config.m, "BLOCK_N": config.n, "GROUP_M": config.group, **own.constants}
    each: dict[str, Any] = {
        "PRECISION": own.precision, "IMPRECISE": own.imprecise, "BLOCK_K": config.k, **shape,
    }  # fmt: skip
    numbers = own.numbers
    tuned: Any
    if config.kind == "persistent shares":
        layout, x_tiles, y_tiles = _tiles_of(own)
        tuned = matmul_shares_described.options(**config.options)
        sizes: tuple[Any, ...] = (m, n, k, tiles, share, *numbers)
        each.update(layout)
    else:
        x_tiles = y_tiles = _itself
        tuned = matmul_shares.options(**config.options)
        sizes = (m, n, k, tiles, share, *own.x.strides, *own.y.strides, *numbers)
        each["EVEN_K"] = k % config.k == 0
    is_cut = any(at * steps // share != (at * steps + steps - 1) // share for at in range(tiles))
    rows = max(1, min(config.m, JOINED // config.n))
    join: Any = matmul_join[tiles * (config.m // rows)]

    def run(out: Operand, x: Any, y: Any, extras: tuple[Any, ...]) -> None:
        parts = empty(out, (2 * programs * config.m * config.n,), kind).array
        tuned[programs](out.array, parts, x_tiles(x), y_tiles(y), *extras, *sizes, **each)
        if is_cut:
            join(
                out.array,
                parts,
                *extras,
                m,
                n,
                steps,
                share,
                *numbers,
                **shape,
                ROWS=rows,
                AT_ONCE=AT_ONCE,
            )

    return run


def _itself(array: Any) -> Any:
    return array


def _tiles_of(own: _Launch) -> tuple[dict[str, bool], Callable[..., Any], Callable[..., Any]]:
    """How the operands lie, and what makes their descriptors."""
    config = own.config
    x_turned, y_turned = lies_along(own.x) == 0, lies_along(own.y) == 0
    layout = {"BATCHED": own.x.shape[0] > 1, "X_TURNED": x_turned, "Y_TURNED": y_turned}
    x = describer(own.x, config.m, config.k, turned=x_turned)
    return layout, x, describer(own.y, config.k, config.n, turned=y_turned)


def _persistent(own: _Launch) -> Run:
    config = own.config
    count, m, k, n = *own.x.shape, own.y.shape[-1]
    tiles = count * -(-m // config.m) * -(-n // config.n)
    whole = own.out._replace(shape=(count, m, n), strides=row_major((count, m, n)))
    layout, x_tiles, y_tiles = _tiles_of(own)
    out_tiles = describer(whole, config.m, config.n // config.split)
    programs = min(tiles, config.programs or processors_of(own.out.device))
    tuned: Any = matmul_persistent.options(**config.options)
    sizes = (m, n, k, tiles, *own.numbers)
    constants: dict[str, Any] = {
        "PRECISION": own.precision, "IMPRECISE": own.imprecise, "BLOCK_M": config.m,
        "BLOCK_N": config.n, "BLOCK_K": config.k, "GROUP_M": config.group,
        "SPLIT": config.split, "ONCE": programs == tiles, **own.constants, **layout,
    }  # fmt: skip

    def run(out: Operand, x: Any, y: Any, extras: tuple[Any, ...]) -> None:
        described = out_tiles(out.array), x_tiles(x), y_tiles(y)
        tuned[programs](*described, *extras, *sizes, **constants)

    return run


def _problem(out: Operand, x: Operand, y: Operand, epilogue: Epilogue, *, relaxed: bool) -> Problem:
    count, m, k, n = *x.shape, y.shape[-1]
    arch, processors, fits = "", 1, False
    if out.device != "cpu":
        arch, processors = arch_of(out.device), processors_of(out.device)
        whole = out._replace(shape=(count, m, n), strides=row_major((count, m, n)))
        fits = x.dtype == y.dtype and takes_descriptors(x, y, whole)
    return Problem(
        m,
        n,
        k,
        count,
        x.dtype,
        y.dtype,
        x_turned=lies_along(x) == 0,
        y_turned=lies_along(y) == 0,
        described=fits,
        plain=epilogue == PLAIN,
        relaxed=relaxed,
        arch=arch,
        processors=processors,
        out_bytes=ITEMSIZES[out.dtype],
        residual=epilogue.residual is not None,
    )
