"""Convolutions: refused arguments, places beyond 32 bits, layouts, and values at the edges."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import teeny_kernels as tk
from teeny_kernels import testing
from teeny_kernels.codes import KernelError
from teeny_kernels.convolution import run

RNG = np.random.default_rng(11)
FUNCTIONS = [getattr(tk, f"conv{kind}{axes}d") for kind in ("", "_transpose") for axes in (1, 2, 3)]
CONVOLUTIONS = FUNCTIONS[:3]
TRANSPOSED = FUNCTIONS[3:]


def normal(*shape: int, dtype: Any = np.float32) -> Any:
    return RNG.standard_normal(shape).astype(dtype)


def axes_of(function: Any) -> int:
    return int(function.__name__[-2])


def code_of(function: Any, *arguments: Any, **options: Any) -> str:
    with pytest.raises(KernelError) as caught:
        function(*arguments, **options)
    assert "help:" in str(caught.value)
    return caught.value.code


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize(
    "options",
    [
        {"stride": 0},
        {"padding": -1},
        {"dilation": 0},
        {"groups": 0},
        {"groups": -2},
        {"groups": 3},
        {"stride": (1, 1, 1, 1)},
        {"padding": (0,) * 5},
    ],
)
def test_options_that_make_no_sense_are_refused(function: Any, options: Any) -> None:
    axes = axes_of(function)
    x, w = normal(2, 4, *(5,) * axes), normal(4, 4, *(3,) * axes)
    assert code_of(function, x, w, **options) == "E1204"


@pytest.mark.parametrize("function", CONVOLUTIONS)
@pytest.mark.parametrize("options", [{"padding": "full"}, {"padding": "same", "stride": 2}])
def test_names_of_paddings_are_those_of_pytorch(function: Any, options: Any) -> None:
    axes = axes_of(function)
    x, w = normal(2, 4, *(5,) * axes), normal(4, 4, *(3,) * axes)
    assert code_of(function, x, w, **options) == "E1204"


@pytest.mark.parametrize("function", TRANSPOSED)
@pytest.mark.parametrize("extra", [-1, 2, (1,) * 4])
def test_an_output_padding_of_the_stride_or_more_is_refused(function: Any, extra: Any) -> None:
    axes = axes_of(function)
    x, w = normal(2, 4, *(5,) * axes), normal(4, 4, *(3,) * axes)
    assert code_of(function, x, w, stride=2, output_padding=extra) == "E1204"


@pytest.mark.parametrize("function", FUNCTIONS)
def test_arrays_that_do_not_fit_are_refused(function: Any) -> None:
    axes = axes_of(function)
    sides = (5,) * axes
    x, w = normal(2, 4, *sides), normal(4, 4, *(3,) * axes)
    for wrong in (normal(*sides), normal(1, 2, 4, *sides), normal(2, 3, *sides)):
        assert code_of(function, wrong, w) == "E1202"
    for wrong in (normal(4, *(3,) * axes), normal(4, 4, *(0,) * axes), normal(4, 4, 3, *w.shape)):
        assert code_of(function, x, wrong) == "E1202"
    for wrong in (normal(3), normal(4, 1), normal(1)):
        assert code_of(function, x, w, wrong) == "E1202"
    assert code_of(function, x, w.astype(np.float64)) == "E1203"
    assert code_of(function, x, w, normal(4, dtype=np.float64)) == "E1203"
    assert code_of(function, x.astype(np.int32), w.astype(np.int32)) == "E1203"
    assert code_of(function, x, w, out=normal(2, 4, *(2,) * axes)) == "E1207"
    backward = getattr(tk, f"{function.__name__}_backward")
    assert code_of(backward, normal(2, 4, *(2,) * axes), x, w) == "E1202"
    assert code_of(backward, normal(2, 4, *sides), x, w, groups=3) == "E1204"


@pytest.mark.parametrize("function", CONVOLUTIONS)
def test_a_window_larger_than_the_padded_array_is_refused(function: Any) -> None:
    axes = axes_of(function)
    w = normal(4, 4, *(3,) * axes)
    for side, options in ((2, {}), (4, {"dilation": 2}), (2, {"padding": "valid", "stride": 3})):
        assert code_of(function, normal(2, 4, *(side,) * axes), w, **options) == "E1202"
    assert code_of(function, normal(2, 4, *(0,) * axes), w, padding=1) == "E1202"


@pytest.mark.parametrize("function", TRANSPOSED)
def test_an_empty_result_is_refused(function: Any) -> None:
    axes = axes_of(function)
    w = normal(4, 4, *(3,) * axes)
    assert code_of(function, normal(2, 4, *(1,) * axes), w, padding=2) == "E1202"


def test_the_example_of_one_axis_is_counted_by_hand() -> None:
    x, w = np.arange(1, 6, dtype=np.float32)[None, None], np.array([[[1, 10]]], np.float32)
    assert tk.conv1d(x, w, np.array([0.5], np.float32)).tolist() == [[[21.5, 32.5, 43.5, 54.5]]]
    assert tk.conv1d(x, w, padding="same").tolist() == [[[21, 32, 43, 54, 5]]]
    assert tk.conv1d(x, w, stride=2, padding=1).tolist() == [[[10, 32, 54]]]
    assert tk.conv_transpose1d(x[..., :2], w, stride=3).tolist() == [[[1, 10, 0, 2, 20]]]


def test_a_result_goes_where_out_says() -> None:
    x, w = normal(2, 3, 8), normal(4, 3, 3)
    wide = np.zeros((2, 4, 6, 2), np.float32)
    found = tk.conv1d(x, w, out=wide[..., 0])
    assert np.shares_memory(found, wide)
    assert testing.same_bits(np.ascontiguousarray(wide[..., 0]), tk.conv1d(x, w))
    assert not wide[..., 1].any()


@pytest.mark.parametrize("channels", [(3, 5), (40, 33)])
def test_channels_last_gives_the_bits_of_channels_first(channels: Any) -> None:
    inner, outer = channels
    x, w = normal(2, inner, 7, 6), normal(outer, inner, 3, 3)
    last: Any = [
        np.ascontiguousarray(own.transpose(0, 2, 3, 1)).transpose(0, 3, 1, 2) for own in (x, w)
    ]
    found = tk.conv2d(last[0], last[1], padding=1)
    assert testing.same_bits(found, tk.conv2d(x, w, padding=1))
    grad = normal(*found.shape)
    wanted = tk.conv2d_backward(grad, x, w, padding=1)
    for own, exact in zip(
        tk.conv2d_backward(grad, last[0], last[1], padding=1), wanted, strict=True
    ):
        assert testing.same_bits(own, exact)


@pytest.mark.parametrize("groups", [1, 2])
@pytest.mark.parametrize("backward", [False, True])
def test_a_copy_with_channels_side_by_side_changes_no_bit(
    monkeypatch: pytest.MonkeyPatch, groups: int, backward: bool
) -> None:
    x, w = normal(2, 64 * groups, 6, 13), normal(96 * groups, 64, 2, 3)
    options: Any = {"padding": (1, 2), "stride": (2, 1), "groups": groups}
    found = tk.conv2d(x, w, **options)
    grad = normal(*found.shape)

    def results() -> list[Any]:
        if not backward:
            return [tk.conv2d(x, w, **options), tk.conv2d(x[0], w, **options)]
        turned = tk.conv_transpose2d_backward(x, grad, w, **options)
        return [*tk.conv2d_backward(grad, x, w, **options), *turned]

    monkeypatch.setattr(run, "worth_laying", lambda how, x, channels: False)
    wanted, copied = results(), []
    laid = vars(run)["lay_channels_last"]

    class Counted:
        def __getitem__(self, grid: Any) -> Any:
            copied.append(grid)
            return laid[grid]

    monkeypatch.setattr(run, "lay_channels_last", Counted())
    monkeypatch.setattr(run, "worth_laying", lambda how, x, channels: channels % 32 == 0)
    for own, exact in zip(results(), wanted, strict=True):
        assert testing.same_bits(own, exact)
    assert len(copied) == (4 if backward else 2)


@pytest.mark.parametrize(
    ("w", "groups", "x"), [((5, 3, 3), 1, 3), ((33, 40, 3), 1, 40), ((4, 1, 3), 4, 4)]
)
def test_places_of_64_bits_give_the_bits_of_those_of_32(w: Any, groups: int, x: int) -> None:
    half = np.float16
    source, weight = normal(2, x, 50, dtype=half), normal(*w, dtype=half)
    options: Any = {"padding": 1, "stride": 2, "groups": groups}
    found = tk.conv1d(source, weight, **options)
    far = apart(source)
    assert testing.same_bits(tk.conv1d(far, weight, **options), found)
    grad = normal(*found.shape, dtype=half)
    wanted = tk.conv1d_backward(grad, source, weight, **options)
    for one, other in ((far, grad), (source, apart(grad))):
        for own, exact in zip(
            tk.conv1d_backward(other, one, weight, **options), wanted, strict=True
        ):
            assert testing.same_bits(own, exact)


def apart(array: Any) -> Any:
    """The two samples of an array, more than 2^31 elements apart; between them memory unused."""
    size = array[0].size
    whole = np.zeros(2**31 + 8 + size, array.dtype)
    found = np.lib.stride_tricks.as_strided(
        whole, array.shape, ((2**31 + 8) * array.itemsize, *array.strides[1:])
    )
    found[...] = array
    return found


def test_without_channels_a_result_is_the_bias() -> None:
    x, w, b = normal(2, 0, 6), normal(3, 0, 2), normal(3)
    assert np.array_equal(tk.conv1d(x, w, b), np.broadcast_to(b[:, None], (2, 3, 5)))
    dx, dw, db = tk.conv1d_backward(np.ones((2, 3, 5), np.float32), x, w)
    assert dx.shape == x.shape
    assert dw.shape == w.shape
    assert db.tolist() == [10, 10, 10]


def test_an_empty_batch_has_gradients_of_zero() -> None:
    w = normal(4, 3, 3)
    dx, dw, db = tk.conv1d_backward(normal(0, 4, 6), normal(0, 3, 8), w)
    assert dx.shape == (0, 3, 8)
    assert not dw.any()
    assert not db.any()


def test_a_weight_that_is_no_number_reaches_its_own_channel_only() -> None:
    for groups, inner in ((1, 4), (4, 1)):
        x, w = normal(2, 4, 9), normal(4, inner, 3)
        w[2, 0, 1] = np.nan
        found = np.isnan(tk.conv1d(x, w, padding=1, groups=groups))
        assert found[:, 2].all()
        assert found.sum() == found[:, 2].size


def test_an_element_that_is_no_number_reaches_the_windows_it_lies_in() -> None:
    x, w = normal(1, 2, 12), normal(3, 2, 3)
    x[0, 1, 5] = np.nan
    found = np.isnan(tk.conv1d(x, w, dilation=2, padding=2))
    assert np.argwhere(found[0, 0]).ravel().tolist() == [3, 5, 7]
    grad = normal(1, 3, 12)
    dx, dw, db = tk.conv1d_backward(grad, x, w, dilation=2, padding=2)
    assert np.isfinite(dx).all()
    assert np.isfinite(db).all()
    assert np.isfinite(dw[:, 0]).all()
    assert np.isnan(dw[:, 1]).all()


def test_a_sum_over_many_places_is_cut_into_shares_that_never_change() -> None:
    x, w = normal(3, 5, 4000), normal(4, 5, 3)
    grad = normal(3, 4, 3998)
    first = tk.conv1d_backward(grad, x, w)
    again = tk.conv1d_backward(grad, x, w)
    assert all(testing.same_bits(a, b) for a, b in zip(first, again, strict=True))
    wanted = np.stack(
        [np.einsum("nop,ncp->oc", grad.astype("f8"), x[:, :, k : k + 3998]) for k in range(3)],
        axis=-1,
    )
    assert np.abs(first[1] - wanted).max() < 2e-3


def test_places_divide_as_products_say_up_to_their_bound() -> None:
    """Windows of one element, so that each place counts once: a wrong one would be missed."""
    for shape, groups in (((1, 1, 1021, 1026), 1), ((1, 2, 7, 149000), 2), ((2, 1, 1048, 1050), 1)):
        x = np.ones(shape, np.float64)
        x[..., -1] = 3.0
        w = np.ones((groups, 1, 1, 1), np.float64)
        grad = np.arange(x.size, dtype=np.float64).reshape(shape)
        found = tk.conv2d_backward(grad, x, w, groups=groups)[1].ravel()
        wanted = (grad * x).sum(axis=(0, 2, 3))
        np.testing.assert_allclose(found, wanted, rtol=1e-14)


def test_tf32_is_taken_where_it_is_allowed_and_known() -> None:
    x, w = normal(2, 33, 9), normal(17, 33, 3)
    grad = normal(2, 17, 7)
    for allowed in (False, True):
        found = tk.conv1d(x, w, allow_tf32=allowed)
        assert np.allclose(found, tk.conv1d(x.astype("f8"), w.astype("f8")), atol=0.05)
    found = tk.conv1d_backward(grad, x, w, allow_tf32=True)
    for own, exact in zip(found, tk.conv1d_backward(grad, x, w), strict=True):
        assert np.allclose(own, exact, atol=0.05)
    turned = tk.conv_transpose1d(grad, w, allow_tf32=True)
    assert np.allclose(turned, found[0], atol=1e-4)


def fused_arguments(inner: int = 5, outer: int = 7) -> list[Any]:
    """X, weight, mean, variance, scale, shift and bias."""
    own = [normal(outer) for _ in range(4)]
    x, w = normal(2, inner, 9, 8), normal(outer, inner, 3, 3)
    return [x, w, own[0], np.abs(normal(outer)) + 0.1, *own[1:]]


@pytest.mark.parametrize("algorithm", run.ALGORITHMS)
def test_what_follows_a_convolution_is_batch_norm_and_silu(algorithm: str) -> None:
    x, w, mean, var, scale, shift, bias = fused_arguments()
    plain = tk.conv2d(x, w, bias, padding=1)
    wanted = tk.silu(tk.batch_norm(plain, mean, var, scale, shift))
    found = tk.conv2d_batch_norm_silu(
        x, w, mean, var, scale, shift, bias, padding=1, algorithm=algorithm
    )
    assert np.allclose(found, wanted, rtol=1e-5, atol=1e-5)
    wide = tk.conv2d_batch_norm_silu(
        x, w, mean.astype("f8"), var.astype("f8"), padding=1, algorithm=algorithm
    )
    wanted = tk.silu(tk.batch_norm(tk.conv2d(x, w, padding=1), mean, var))
    assert np.allclose(wide, wanted, rtol=1e-5, atol=1e-5)


def test_arguments_of_the_fused_convolution_are_checked() -> None:
    function = tk.conv2d_batch_norm_silu
    x, w, mean, var, scale, shift, bias = fused_arguments()
    assert code_of(function, x, w, mean, var, algorithm="fast") == "E1204"
    assert code_of(function, x, w, mean, var, groups=2) == "E1204"
    assert code_of(function, x, w, mean[1:], var) == "E1202"
    assert code_of(function, x, w, mean, var[:, None]) == "E1202"
    assert code_of(function, x, w, mean, var, scale[1:]) == "E1202"
    assert code_of(function, x, w, mean, var, scale, shift[1:]) == "E1202"
    assert code_of(function, x, w, mean, var, scale, shift, bias[1:]) == "E1202"
    assert code_of(function, x, w, mean.astype("f8"), var) == "E1203"
    assert code_of(function, x, w, mean.astype("i4"), var) == "E1203"
    assert code_of(function, x, w, mean, var, scale.astype("f8")) == "E1203"


@pytest.mark.gpu
@pytest.mark.large
@pytest.mark.parametrize("groups", [1, 2])
def test_more_than_two_to_the_31_elements_are_convolved(groups: int) -> None:
    import torch

    rows, columns = 70000 // groups, 31000
    x = torch.zeros((1, groups, rows, columns), dtype=torch.float16, device="cuda")
    assert x.numel() > 2**31
    x[..., -8:, :] = torch.randn((groups, 8, columns), device="cuda").half()
    w = torch.randn((groups, 1, 3, 3), device="cuda").half()
    found = tk.conv2d(x, w, padding=1, groups=groups)
    cut = x[..., -8:, :].float()
    wanted = torch.nn.functional.conv2d(cut, w.float(), padding=1, groups=groups)
    assert torch.allclose(found[..., -7:, :].float(), wanted[..., -7:, :], rtol=2e-3, atol=2e-3)
    assert not found[..., :-9, :].any()
