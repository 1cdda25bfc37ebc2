"""conv2d, batch norm by known statistics and SiLU in one kernel, for inference.

    y = (conv2d(x, weight) + bias - mean_o) / sqrt(var_o + eps) norm_weight_o + norm_bias_o
    out = y sigmoid(y)

Three kernels, from plain to fast: a direct sum for each result (kernels.py), tiles of channels
and positions (tiled_kernel.py), an implicit product of matrices (kernels.py). Nothing between is
rounded to a narrow dtype. Sources: Ioffe, Szegedy 2015; Elfwing, Uchibe, Doya 2018.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from teeny_kernels.arrays import operand, same_place
from teeny_kernels.codes import E1204
from teeny_kernels.convolution import run
from teeny_kernels.convolution.geometry import convolution
from teeny_kernels.convolution.kernels import convolve, convolve_direct
from teeny_kernels.convolution.reference import conv_reference, cost, known_options
from teeny_kernels.convolution.tiled_kernel import convolve_tiled
from teeny_kernels.layout import require_dtype
from teeny_kernels.spec import FLOATS, Case, KernelSpec, Tolerance
from teeny_kernels.testing import fill

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from teeny_kernels.arrays import Operand
    from teeny_kernels.convolution.geometry import Padding, Sides

A = TypeVar("A")


def conv2d_batch_norm_silu(
    x: A,
    weight: A,
    running_mean: A,
    running_var: A,
    norm_weight: A | None = None,
    norm_bias: A | None = None,
    bias: A | None = None,
    stride: Sides = 1,
    padding: Padding = 0,
    dilation: Sides = 1,
    groups: int = 1,
    eps: float = 1e-5,
    *,
    algorithm: str = "auto",
    allow_tf32: bool = False,
    out: A | None = None,
) -> A:
    """SiLU of the batch norm of `conv2d`: `x` (N, C, H, W) or (C, H, W), statistics by channel.

    `running_mean` and `running_var` may be of another float dtype. `algorithm` is "direct",
    "tiled", "gemm", or "auto", which chooses; results differ by roundings.

    Raises:
        KernelError: E1202 when shapes do not fit, E1203, E1204 for options, E1206, E1207.
    """
    operation = "conv2d_batch_norm_silu"
    if algorithm not in run.ALGORITHMS:
        raise E1204.error(operation=operation, name="algorithm", found=f"{algorithm!r}").help(
            f"it is one of {', '.join(run.ALGORITHMS)}"
        )
    given = {"norm_weight": norm_weight, "norm_bias": norm_bias, "bias": bias}
    source, w, *rest = run.arrays(operation, x, weight, **given)
    how = convolution(operation, 2, source, w, stride, padding, dilation, groups)
    channels = w.shape[0]
    ready = iter(rest)
    found: list[Operand | None] = [
        None if own is None else run.by_channel(operation, name, next(ready), channels)
        for name, own in given.items()
    ]
    mean, var = (
        _statistics(operation, source, name, own, channels)
        for name, own in (("running_mean", running_mean), ("running_var", running_var))
    )
    if mean.dtype != var.dtype:
        require_dtype(operation, "running_var", var, (mean.dtype,))
    result: A = run.convolved(
        operation,
        how,
        source,
        w,
        found[2],
        allow_tf32=allow_tf32,
        out=out,
        norm=run.Norm(mean, var, found[0], found[1], eps),
        algorithm=algorithm,
    )
    return result


def _statistics(operation: str, x: Operand, name: str, value: Any, channels: int) -> Operand:
    own = operand(name, value)
    same_place(operation, [("x", x), (name, own)])
    require_dtype(operation, name, own, FLOATS)
    return run.by_channel(operation, name, own, channels)


def _normal(arrays: Sequence[Any], options: Mapping[str, Any], *, size: bool) -> Any:
    """What SiLU takes, or the size of its terms."""
    x, w, mean, var, gamma, beta, b = arrays
    own = {name: value for name, value in known_options(options).items() if name != "eps"}
    rstd = 1 / np.sqrt(var + options.get("eps", 1e-5))
    if size:
        x, w, mean, gamma, beta, b = (np.abs(each) for each in (x, w, -mean, gamma, beta, b))
        mean = -mean
    mean, rstd, gamma, beta = (each[:, None, None] for each in (mean, rstd, gamma, beta))
    return (conv_reference(x, w, b, **own) - mean) * rstd * gamma + beta


def _reference(*arrays: Any, **options: Any) -> Any:
    y = _normal(arrays, options, size=False)
    return y / (1 + np.exp(-y))


def _magnitude(*arrays: Any, **options: Any) -> Any:
    # The slope of SiLU is at most 1.1.
    return 1.1 * _normal(arrays, options, size=True)


def _torch(
    t: Any, x: Any, w: Any, mean: Any, var: Any, gamma: Any, beta: Any, b: Any, **options: Any
) -> Any:
    eps = options.pop("eps", 1e-5)
    y = t.nn.functional.conv2d(x, w, b, **known_options(options))
    whole = y if y.ndim == 4 else y[None]
    normal = t.nn.functional.batch_norm(whole, mean, var, gamma, beta, eps=eps)
    return t.nn.functional.silu(normal if y.ndim == 4 else normal[0])


def _make(rng: np.random.Generator, case: Case) -> Sequence[Any]:
    x, w = case.shapes
    made = [fill(rng, x, case.values), fill(rng, w, "normal"), fill(rng, w[:1], "normal")]
    made.append(fill(rng, w[:1], "positive"))
    return [*made, *(fill(rng, w[:1], "normal") for _ in range(3))]


_ROWS: tuple[tuple[Any, ...], ...] = (
    ((1, 1, 1, 1), (1, 1, 1, 1), {}),
    ((0, 2, 5, 5), (3, 2, 3, 3), {}),
    ((2, 3, 9, 7), (19, 3, 3, 2), {"stride": (2, 1), "padding": (1, 0), "eps": 1e-3}),
    ((3, 11, 8), (5, 3, 2, 3), {"dilation": (2, 1), "padding": (0, 2)}),
    ((1, 70, 6, 5), (66, 35, 2, 3), {"groups": 2, "stride": (1, 2), "padding": (1, 1)}),
    ((2, 6, 10, 9), (6, 1, 3, 3), {"groups": 6, "padding": "same"}),
    ((2, 4, 12, 10), (5, 4, 3, 3), {"padding": 1}, "special"),
)
_CASES = tuple(
    Case((x, w), {**options, "algorithm": algorithm}, *values)
    for x, w, options, *values in _ROWS
    for algorithm in run.ALGORITHMS[1:]
)

SPEC = KernelSpec(
    name="conv2d_batch_norm_silu",
    family="convolution",
    function=conv2d_batch_norm_silu,
    kernels=(convolve_direct, convolve_tiled, convolve),
    formula="y sigmoid(y), y = (conv2d(x, w, bias) - mean_o) / sqrt(var_o + eps) g_o + b_o",
    source="Ioffe, Szegedy 2015; Elfwing, Uchibe, Doya 2018",
    reference=_reference,
    torch_name="torch.nn.functional.silu(batch_norm(conv2d))",
    torch=_torch,
    cases=_CASES,
    make=_make,
    tolerance=Tolerance(
        6, "the sum of a convolution, a square root, a quotient, two products, a sigmoid"
    ),
    magnitude=_magnitude,
    cost=cost,
    benchmarks=tuple(
        Case(
            ((32, 64, 56, 56), (64, 64, 3, 3)),
            {"padding": 1, "algorithm": algorithm, "allow_tf32": True},
        )
        for algorithm in ("tiled", "gemm")
    ),
)
