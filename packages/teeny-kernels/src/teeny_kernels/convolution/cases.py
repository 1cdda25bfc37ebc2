"""The cases of convolutions: sides, options and values that kernels get wrong; those to time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from teeny_kernels.spec import Case, Tolerance
from teeny_kernels.testing import fill

if TYPE_CHECKING:
    import numpy as np

SUM_OF_PRODUCTS = Tolerance(
    4, "roundings of a sum in f32 walk at random: a standard deviation is about half an ulp"
)


def make(rng: np.random.Generator, case: Case) -> list[Any]:
    """Inputs of a case; weights and biases are always finite.

    An infinite weight meets the zeros around x and around a gradient, and there the padding of a
    tile is no other than that of the array.
    """
    first, *rest = case.shapes
    return [fill(rng, first, case.values), *(fill(rng, shape, "normal") for shape in rest)]


def _cases(*rows: tuple[Any, ...], axis: int = 0) -> tuple[Case, ...]:
    """Rows of x, weight, options and, unless they are normal, values; two of three have a bias.

    `axis` is that of the weight which counts channels of a group of the result.
    """
    found: list[Case] = []
    for at, (x, w, options, *values) in enumerate(rows):
        channels = w[axis] * (options.get("groups", 1) if axis else 1)
        shapes = (x, w) if at % 3 == 2 else (x, w, (channels,))
        found.append(Case(shapes, options, *values))
    return tuple(found)


CONV_CASES = {
    1: _cases(
        ((1, 1, 1), (1, 1, 1), {}),
        ((0, 3, 8), (4, 3, 3), {}),
        ((2, 3, 17), (5, 3, 3), {"padding": 1}),
        ((3, 20), (2, 3, 4), {"stride": 3}),
        ((2, 8, 31), (10, 4, 5), {"stride": 2, "padding": 2, "dilation": 2, "groups": 2}),
        ((3, 6, 40), (6, 1, 3), {"padding": 1, "groups": 6}),
        ((2, 33, 19), (17, 33, 3), {"padding": "same", "dilation": 3}),
        ((2, 3, 30), (4, 3, 2), {"stride": 5}),
        ((1, 2, 5), (3, 2, 3), {"padding": 7}),
        ((2, 4, 4), (3, 4, 4), {"padding": "valid"}),
        ((2, 5, 300), (7, 5, 9), {"stride": 4, "padding": 3, "dilation": 6}),
        ((2, 3, 40), (5, 3, 4), {"padding": "same"}, "special"),
        ((2, 3, 25), (4, 3, 3), {"padding": 2}, "wide"),
        ((4, 16, 150), (70, 16, 3), {"padding": 1}, "ties"),
        ((2, 6, 700), (6, 1, 2), {"groups": 6, "stride": 2}, "special"),
    ),
    2: _cases(
        ((1, 1, 1, 1), (1, 1, 1, 1), {}),
        ((0, 2, 5, 5), (3, 2, 3, 3), {}),
        ((2, 3, 9, 7), (4, 3, 3, 2), {"stride": (2, 1), "padding": (1, 0)}),
        ((3, 11, 8), (5, 3, 2, 3), {"dilation": (2, 1), "padding": (0, 2)}),
        ((1, 70, 6, 5), (66, 35, 2, 3), {"groups": 2, "stride": (1, 2), "padding": (1, 1)}),
        ((2, 6, 10, 9), (6, 1, 3, 3), {"groups": 6, "padding": 1, "stride": (2, 1)}),
        ((2, 4, 8, 11), (8, 1, 3, 2), {"groups": 4, "dilation": (1, 2)}),
        ((2, 6, 7, 8), (9, 2, 2, 3), {"groups": 3, "stride": (1, 3), "padding": (0, 2)}),
        ((2, 3, 13, 12), (4, 3, 2, 2), {"stride": (5, 3)}),
        ((1, 2, 3, 4), (3, 2, 2, 3), {"padding": (4, 5)}),
        ((2, 3, 19, 23), (4, 3, 3, 4), {"stride": (4, 6), "dilation": (6, 4), "padding": (3, 5)}),
        ((2, 5, 8, 9), (3, 5, 4, 3), {"padding": "same", "dilation": (1, 2)}),
        ((2, 3, 12, 10), (5, 3, 3, 3), {"padding": 1}, "special"),
        ((3, 17, 20, 18), (33, 17, 3, 3), {"padding": 1, "dilation": (1, 2)}),
        ((2, 70, 5, 6), (70, 70, 1, 1), {}, "ties"),
        ((2, 4, 4, 5), (3, 4, 4, 5), {"padding": "valid"}, "wide"),
        ((2, 96, 9, 8), (96, 32, 3, 2), {"groups": 3, "stride": (1, 2), "padding": (1, 1)}),
    ),
    3: _cases(
        ((1, 1, 1, 1, 1), (1, 1, 1, 1, 1), {}),
        ((0, 2, 3, 4, 5), (3, 2, 2, 2, 2), {}),
        ((2, 3, 5, 6, 7), (4, 3, 3, 2, 3), {"stride": (1, 2, 3), "padding": (1, 0, 2)}),
        ((2, 4, 5, 6), (3, 2, 2, 2, 3), {"padding": (1, 1, 0), "dilation": (1, 2, 1)}),
        ((1, 4, 5, 4, 6), (6, 2, 2, 3, 2), {"groups": 2, "stride": (2, 1, 2)}),
        ((2, 3, 4, 5, 6), (3, 1, 3, 3, 3), {"groups": 3, "padding": 1, "dilation": (1, 1, 2)}),
        ((1, 34, 4, 5, 3), (33, 34, 2, 3, 2), {"stride": (2, 1, 2), "padding": (0, 1, 1)}),
        ((1, 2, 7, 8, 9), (3, 2, 2, 1, 2), {"stride": (3, 4, 5)}),
        ((1, 2, 2, 3, 2), (2, 2, 1, 2, 2), {"padding": (2, 3, 4)}),
        (
            (1, 2, 9, 11, 10),
            (3, 2, 3, 2, 3),
            {"stride": (4, 2, 6), "dilation": (2, 4, 3), "padding": (2, 3, 1)},
        ),
        ((1, 3, 4, 5, 6), (2, 3, 2, 3, 4), {"padding": "same"}),
        ((2, 2, 4, 5, 6), (3, 2, 2, 2, 2), {"padding": (1, 0, 1)}, "special"),
        ((1, 66, 3, 4, 5), (70, 33, 3, 2, 1), {"groups": 2, "padding": (1, 1, 0)}, "ties"),
        ((2, 3, 8, 9, 7), (4, 3, 2, 3, 3), {"padding": (0, 1, 1)}, "wide"),
        ((1, 32, 5, 6, 7), (32, 32, 3, 2, 2), {"padding": (2, 0, 1), "dilation": (1, 2, 1)}),
    ),
}  # fmt: skip

TRANSPOSE_CASES = {
    1: _cases(
        ((1, 1, 1), (1, 1, 1), {}),
        ((0, 3, 8), (3, 4, 3), {}),
        ((2, 3, 17), (3, 5, 3), {"padding": 1}),
        ((3, 10), (3, 2, 4), {"stride": 3, "output_padding": 2}),
        ((2, 8, 15), (8, 5, 5), {"stride": 2, "padding": 3, "dilation": 2, "groups": 2}),
        ((3, 6, 20), (6, 1, 3), {"padding": 1, "groups": 6, "stride": 2}),
        ((2, 33, 19), (33, 17, 3), {"dilation": 3}),
        ((2, 3, 9), (3, 4, 2), {"stride": 5}),
        ((2, 3, 9), (3, 4, 2), {"output_padding": 3, "dilation": 4}),
        ((2, 5, 40), (5, 7, 9), {"stride": 4, "padding": 3, "dilation": 6}),
        ((2, 3, 20), (3, 5, 4), {"stride": 2}, "special"),
        ((2, 3, 25), (3, 4, 3), {"padding": 2}, "wide"),
        ((4, 16, 75), (16, 70, 3), {"stride": 2}, "ties"),
        axis=1,
    ),
    2: _cases(
        ((1, 1, 1, 1), (1, 1, 1, 1), {}),
        ((0, 2, 5, 5), (2, 3, 3, 3), {}),
        ((2, 3, 5, 7), (3, 4, 3, 2), {"stride": (2, 1), "padding": (1, 0)}),
        ((3, 6, 4), (3, 5, 2, 3), {"stride": (1, 3), "output_padding": (0, 2)}),
        ((1, 70, 4, 3), (70, 33, 2, 3), {"groups": 2, "stride": (1, 2), "padding": (1, 1)}),
        ((2, 6, 5, 6), (6, 1, 3, 3), {"groups": 6, "padding": 1, "stride": (2, 1)}),
        ((2, 4, 5, 6), (4, 2, 3, 2), {"groups": 4, "dilation": (1, 2)}),
        ((2, 6, 4, 5), (6, 3, 2, 3), {"groups": 3, "stride": (1, 3), "padding": (0, 2)}),
        ((2, 3, 4, 3), (3, 4, 2, 2), {"stride": (5, 3), "output_padding": (4, 1)}),
        ((2, 3, 5, 6), (3, 4, 3, 4), {"stride": (4, 6), "dilation": (6, 4), "padding": (3, 5)}),
        ((2, 3, 6, 5), (3, 5, 3, 3), {"stride": 2, "padding": 1}, "special"),
        ((2, 17, 9, 8), (17, 33, 3, 3), {"stride": 2, "padding": 1, "output_padding": 1}),
        ((2, 70, 5, 6), (70, 70, 1, 1), {}, "ties"),
        ((2, 96, 6, 7), (96, 32, 3, 2), {"groups": 3, "stride": (1, 2), "padding": (1, 1)}),
        axis=1,
    ),
    3: _cases(
        ((1, 1, 1, 1, 1), (1, 1, 1, 1, 1), {}),
        ((0, 2, 3, 4, 5), (2, 3, 2, 2, 2), {}),
        ((2, 3, 3, 4, 3), (3, 4, 3, 2, 3), {"stride": (1, 2, 3), "padding": (1, 0, 2)}),
        ((2, 3, 4, 2), (2, 3, 2, 2, 3), {"stride": 2, "output_padding": (1, 0, 1)}),
        ((1, 4, 3, 2, 3), (4, 3, 2, 3, 2), {"groups": 2, "stride": (2, 1, 2)}),
        ((2, 3, 3, 4, 2), (3, 1, 3, 3, 3), {"groups": 3, "padding": 1, "dilation": (1, 1, 2)}),
        ((1, 34, 2, 3, 2), (34, 33, 2, 3, 2), {"stride": (2, 1, 2), "padding": (0, 1, 1)}),
        ((1, 2, 2, 3, 2), (2, 3, 2, 1, 2), {"stride": (3, 4, 5)}),
        (
            (1, 2, 3, 4, 3),
            (2, 3, 3, 2, 3),
            {"stride": (4, 2, 6), "dilation": (2, 4, 3), "padding": (2, 3, 1)},
        ),
        ((2, 2, 3, 2, 3), (2, 3, 2, 2, 2), {"padding": (1, 0, 1), "stride": 2}, "special"),
        ((1, 66, 3, 4, 2), (66, 35, 3, 2, 1), {"groups": 2, "padding": (1, 1, 0)}, "ties"),
        ((2, 3, 4, 3, 5), (3, 4, 2, 3, 3), {"padding": (0, 1, 1)}, "wide"),
        axis=1,
    ),
}  # fmt: skip

# PyTorch lets f32 be tf32 in convolutions unless told otherwise.
TF32 = {"allow_tf32": True}
CONV_BENCHMARKS: dict[int, tuple[Case, ...]] = {
    1: (Case(((16, 256, 4096), (256, 256, 3), (256,)), {"padding": 1, **TF32}),),
    2: (
        Case(((32, 64, 56, 56), (64, 64, 3, 3), (64,)), {"padding": 1, **TF32}),
        Case(((32, 256, 14, 14), (256, 256, 3, 3), (256,)), {"padding": 1, **TF32}),
        Case(((32, 256, 56, 56), (64, 256, 1, 1), (64,)), TF32),
        Case(((32, 3, 224, 224), (64, 3, 7, 7), (64,)), {"stride": 2, "padding": 3, **TF32}),
        Case(((32, 128, 56, 56), (128, 1, 3, 3), (128,)), {"padding": 1, "groups": 128}),
    ),
    3: (Case(((4, 32, 16, 56, 56), (64, 32, 3, 3, 3), (64,)), {"padding": 1, **TF32}),),
}
TRANSPOSE_BENCHMARKS: dict[int, tuple[Case, ...]] = {
    1: (Case(((16, 256, 2048), (256, 128, 4), (128,)), {"stride": 2, "padding": 1, **TF32}),),
    2: (Case(((32, 256, 28, 28), (256, 128, 4, 4), (128,)), {"stride": 2, "padding": 1, **TF32}),),
    3: (Case(((4, 64, 8, 28, 28), (64, 32, 4, 4, 4), (32,)), {"stride": 2, "padding": 1, **TF32}),),
}
