"""Arrays that kernels cannot read as they lie are refused, with what to do."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import teeny_kernels as tk
from teeny_kernels.codes import KernelError


def refused(array: Any) -> KernelError:
    with pytest.raises(KernelError) as caught:
        tk.neg(array)
    return caught.value


def test_a_field_of_records_between_the_places_of_its_dtype_is_refused() -> None:
    records = np.zeros(3, [("weight", "f8"), ("label", "f4")])
    error = refused(records["weight"])
    assert error.code == "E1209"
    assert "strides of (12,) bytes for f64" in str(error)
    records = np.zeros(3, [("weight", "f4"), ("bias", "f4")])
    records["weight"] = [1, 2, 3]
    assert tk.neg(records["weight"]).tolist() == [-1, -2, -3]


def test_a_mask_is_not_dropped() -> None:
    masked = np.ma.masked_array(np.arange(4.0), mask=[False, True, False, False])
    error = refused(masked)
    assert error.code == "E1209"
    assert ".filled(value)" in str(error)


def test_torch_tensors_that_are_no_plain_memory_are_refused() -> None:
    torch = pytest.importorskip("torch")
    negated = torch.tensor([1 + 2j]).conj().imag
    for tensor, do in (
        (negated, ".resolve_neg()"),
        (torch.eye(3).to_sparse(), ".to_dense()"),
        (torch.empty(3, device="meta"), "on the CPU or a GPU"),
    ):
        error = refused(tensor)
        assert error.code == "E1209"
        assert do in str(error)
    assert tk.neg(negated.resolve_neg()).tolist() == [2]


X = np.arange(24, dtype=np.float32).reshape(1, 2, 3, 4)
anything: Any = tk  # what a caller without types writes


@pytest.mark.parametrize(
    "call",
    [
        lambda: anything.softmax(X, 1.0),
        lambda: anything.softmax(X, None),
        lambda: anything.reduce_sum(X, 1.5),
        lambda: anything.cumsum(X, "1"),
        lambda: anything.layer_norm(X, 4.0),
        lambda: anything.max_pool2d(X, 2.0),
        lambda: anything.conv2d(X, X, stride=1.5),
        lambda: anything.upsample_nearest2d(X, 1.5),
        lambda: anything.add(np.ones(2, np.int8), 300),
    ],
)
def test_options_that_are_no_integers_are_refused_with_a_code(call: Any) -> None:
    with pytest.raises(KernelError) as caught:
        call()
    assert caught.value.code == "E1204"


def test_integers_of_numpy_are_options() -> None:
    two: Any = np.int64(2)
    assert np.array_equal(anything.reduce_sum(X, two), X.sum(2))
    assert np.array_equal(anything.max_pool2d(X, two), anything.max_pool2d(X, 2))
    assert np.array_equal(anything.upsample_nearest2d(X, two), X.repeat(2, 2).repeat(2, 3))


@pytest.mark.parametrize("sides", [(2, 3), (2, 3, 4), (3, 2, 3, 2, 3), (2, 3, 2, 3, 2, 3)])
def test_arrays_of_up_to_six_axes_are_read_where_they_lie(sides: tuple[int, ...]) -> None:
    x = np.arange(np.prod(sides), dtype=np.float32).reshape(sides).transpose()
    assert np.array_equal(tk.neg(x), -x)
