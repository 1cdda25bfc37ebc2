"""Convolutions by shifted matrices: the same results, on the CPU target and on a GPU."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import teeny_kernels as tk
from teeny_kernels.convolution import shifted

# Sides of x, channels in and out, groups, window, stride, padding, dilation.
CASES = [
    ((9, 11), 32, 48, 1, (3, 3), 1, 1, 1),
    ((9, 11), 64, 16, 1, (1, 1), 1, 0, 1),
    ((12, 7), 64, 64, 2, (3, 2), 2, 1, 1),
    ((13, 14), 32, 160, 1, (5, 3), (2, 3), (2, 0), (1, 2)),
    ((10, 9), 64, 96, 1, (2, 2), 2, 0, 3),
    ((10, 9), 32, 32, 1, (2, 3), 2, 1, 1),
    ((67,), 96, 96, 3, (3,), 1, 1, 1),
    ((40,), 64, 32, 1, (4,), 2, 1, 1),
    ((5, 6, 7), 32, 32, 1, (3, 3, 3), 1, 1, 1),
    ((6, 5, 8), 32, 64, 1, (2, 3, 2), (2, 1, 2), (0, 1, 1), 1),
]


def _arrays(case: Any, dtype: Any) -> tuple[Any, Any, Any, dict[str, Any]]:
    sides, channels, outs, groups, window, stride, padding, dilation = case
    rng = np.random.default_rng(1)
    x = rng.standard_normal((3, channels, *sides)).astype(dtype)
    weight = rng.standard_normal((outs, channels // groups, *window)).astype(dtype)
    bias = rng.standard_normal(outs).astype(dtype)
    options = {"stride": stride, "padding": padding, "dilation": dilation, "groups": groups}
    return x, weight, bias, options


def _opened(monkeypatch: pytest.MonkeyPatch, *, everywhere: bool = True) -> list[bool]:
    """Take this way for everything; whether it was taken."""
    if everywhere:
        monkeypatch.setattr(shifted, "reads_tiles", lambda _x: True)
    monkeypatch.setattr(shifted, "LEAST_WORK", 0)
    monkeypatch.setattr(shifted, "MOST_WASTE", 1e9)
    taken: list[bool] = []
    launch = shifted.launch

    def noted(*args: Any, **options: Any) -> None:
        taken.append(options["transposed"])
        launch(*args, **options)

    monkeypatch.setattr(shifted, "launch", noted)
    return taken


def _close(found: Any, wanted: Any, dtype: Any) -> None:
    wide = np.asarray(wanted, np.float64)
    error = np.abs(np.asarray(found, np.float64) - wide)
    assert error.max() <= np.finfo(dtype).eps * 2 * (np.abs(wide).max() + 1)


@pytest.mark.parametrize("case", CASES)
def test_shifted_matrices_give_the_convolution_and_its_gradient(
    monkeypatch: pytest.MonkeyPatch, case: Any
) -> None:
    x, weight, bias, options = _arrays(case, np.float16)
    name = f"conv{len(case[0])}d"
    forward, backward = getattr(tk, name), getattr(tk, f"{name}_backward")
    exact = [own.astype(np.float64) for own in (x, weight, bias)]
    wanted = forward(*exact, **options)
    grad = np.random.default_rng(2).standard_normal(wanted.shape).astype(np.float16)
    wanted_dx = backward(grad.astype(np.float64), *exact[:2], **options)[0]
    taken = _opened(monkeypatch)
    _close(forward(x, weight, bias, **options), wanted, np.float16)
    assert taken == [False]
    found_dx = backward(grad, x, weight, **options)[0]
    if case[2] // case[3] % 32 == 0 and case[1] // case[3] >= 16:
        assert taken == [False, True]
    _close(found_dx, wanted_dx, np.float16)


def test_channels_last_sources_are_laid_without_turning(monkeypatch: pytest.MonkeyPatch) -> None:
    x, weight, bias, options = _arrays(CASES[0], np.float16)
    wanted = tk.conv2d(x, weight, bias, **options)
    _opened(monkeypatch)
    last = np.ascontiguousarray(np.moveaxis(x, 1, -1))
    found = tk.conv2d(np.moveaxis(last, -1, 1), weight, bias, **options)
    _close(found, wanted, np.float16)


def test_a_transposed_convolution_takes_this_way_too(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(3)
    x = rng.standard_normal((2, 64, 6, 7)).astype(np.float16)
    weight = rng.standard_normal((64, 32, 4, 4)).astype(np.float16)
    exact: Any = [own.astype(np.float64) for own in (x, weight)]
    options: Any = {"stride": 2, "padding": 1}
    wanted = tk.conv_transpose2d(*exact, **options)
    taken = _opened(monkeypatch)
    _close(tk.conv_transpose2d(x, weight, **options), wanted, np.float16)
    assert taken == [True]


# Sides of x, channels in and out, groups, window, and options.
TURNED = [
    ((9,), 32, 16, 1, (5,), {"stride": 2, "padding": 3, "output_padding": 1}),
    ((11,), 64, 48, 2, (3,), {"stride": 4, "padding": 2}),
    ((7,), 32, 32, 1, (1,), {"stride": 2}),
    ((8,), 32, 32, 1, (8,), {"stride": 4, "padding": 4}),
    ((9,), 32, 16, 1, (3,), {"stride": 3, "padding": 1}),
    ((9,), 32, 16, 1, (3,), {"stride": 2, "padding": 1, "dilation": 3}),
    ((5, 8), 64, 160, 1, (3, 3), {"stride": 2, "padding": 1, "output_padding": 1}),
    ((5, 8), 64, 32, 2, (2, 4), {"stride": (2, 4), "padding": (0, 2)}),
    ((3, 4, 5), 32, 32, 1, (3, 4, 2), {"stride": 2, "padding": 1}),
]


@pytest.mark.parametrize("case", TURNED)
def test_classes_of_the_last_axis_are_columns_of_one_product(
    monkeypatch: pytest.MonkeyPatch, case: Any
) -> None:
    sides, channels, outs, groups, window, options = case
    rng = np.random.default_rng(5)
    x = rng.standard_normal((2, channels, *sides)).astype(np.float16)
    weight = rng.standard_normal((channels, outs // groups, *window)).astype(np.float16)
    bias = rng.standard_normal(outs).astype(np.float16)
    function = getattr(tk, f"conv_transpose{len(sides)}d")
    exact = [own.astype(np.float64) for own in (x, weight, bias)]
    wanted = function(*exact, groups=groups, **options)
    taken = _opened(monkeypatch)
    _close(function(x, weight, bias, groups=groups, **options), wanted, np.float16)
    assert taken == [True]


@pytest.mark.gpu
@pytest.mark.parametrize("dtype", ["f16", "bf16", "f32"])
@pytest.mark.parametrize("case", TURNED)
def test_classes_of_the_last_axis_on_the_gpu(
    monkeypatch: pytest.MonkeyPatch, case: Any, dtype: str
) -> None:
    torch = pytest.importorskip("torch")
    kind = {"f16": torch.float16, "bf16": torch.bfloat16, "f32": torch.float32}[dtype]
    sides, channels, outs, groups, window, options = case
    shapes = (2, channels, *sides), (channels, outs // groups, *window), (outs,)
    given = [torch.randn(shape, device="cuda").to(kind) for shape in shapes]
    name = f"conv_transpose{len(sides)}d"
    wanted = getattr(torch.nn.functional, name)(
        *(own.double() for own in given), groups=groups, **options
    )
    taken = _opened(monkeypatch, everywhere=False)
    found = getattr(tk, name)(*given, groups=groups, **options, allow_tf32=True)
    assert taken == [True]
    rounding = {"f16": 2**-10, "bf16": 2**-7, "f32": 2**-9}[dtype]
    size = wanted.abs().max().item() + 1
    assert (found.double() - wanted).abs().max().item() <= 2 * rounding * size


def test_the_whole_of_a_small_waste_is_bounded() -> None:
    """Rows past the end of an axis are computed in vain: not for images of few places."""
    from teeny_kernels.arrays import operand
    from teeny_kernels.convolution.geometry import convolution

    x, weight, _, _ = _arrays(((2, 2), 64, 64, 1, (5, 5), 1, 2, 1), np.float16)
    how = convolution("conv2d", 2, operand("x", x), operand("w", weight), 1, 2, 1, 1)
    laid = shifted.laid_out(how, transposed=False)
    assert laid.widths == (1, 6, 8)
    assert not shifted.pays(how, operand("x", x), transposed=False, allow_tf32=True)


@pytest.mark.gpu
@pytest.mark.parametrize("dtype", ["f16", "bf16", "f32"])
@pytest.mark.parametrize("case", CASES)
def test_shifted_matrices_on_the_gpu(
    monkeypatch: pytest.MonkeyPatch, case: Any, dtype: str
) -> None:
    torch = pytest.importorskip("torch")
    kinds = {"f16": torch.float16, "bf16": torch.bfloat16, "f32": torch.float32}
    x, weight, bias, options = _arrays(case, np.float32)
    name = f"conv{len(case[0])}d"
    given = [torch.from_numpy(own).cuda().to(kinds[dtype]) for own in (x, weight, bias)]
    exact = [own.double() for own in given]
    wanted = getattr(torch.nn.functional, name)(*exact, **options)
    grad = torch.randn_like(wanted).to(kinds[dtype])
    leaf = exact[0].clone().requires_grad_()
    result = getattr(torch.nn.functional, name)(leaf, *exact[1:], **options)
    (wanted_dx,) = torch.autograd.grad(result, leaf, grad.double())
    taken = _opened(monkeypatch, everywhere=False)
    found = getattr(tk, name)(*given, **options, allow_tf32=True)
    (found_dx, *_) = getattr(tk, f"{name}_backward")(grad, *given[:2], **options, allow_tf32=True)
    assert taken[0] is False
    rounding = {"f16": 2**-10, "bf16": 2**-7, "f32": 2**-9}[dtype]
    for ours, theirs in ((found, wanted), (found_dx, wanted_dx)):
        size = theirs.abs().max().item() + 1
        assert (ours.double() - theirs).abs().max().item() <= 2 * rounding * size
