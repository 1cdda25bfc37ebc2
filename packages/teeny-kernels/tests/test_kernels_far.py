"""Every operation on few elements that lie more than 2^31 apart: views of sparse memory."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import teeny_kernels as tk
from teeny_kernels import testing
from teeny_kernels.codes import KernelError
from teeny_kernels.registry import specs

if TYPE_CHECKING:
    from teeny_kernels.spec import Case, KernelSpec

SPECS = specs()


def far_case(spec: KernelSpec) -> Case:
    """The case of the most axes, and of few elements, that has an axis to spread."""

    def fits(case: Case) -> bool:
        arrays = testing.inputs(spec, case, spec.dtypes[0])
        return (
            all(array.size for array in arrays)
            and sum(array.size for array in arrays) <= 12_000
            and testing.axis_apart(arrays[0], False) is not None
        )

    return max(filter(fits, spec.cases), key=lambda case: [len(own) for own in case.shapes])


def on_the_host(array: Any, axis: int | None) -> Any:
    return array if axis is None else testing.far(array, axis)


def on_a_gpu(array: Any, axis: int | None) -> Any:
    import torch

    tensor = testing.as_tensor(torch, array).cuda()
    if axis is None:
        return tensor
    step = testing.far_step(array, axis)
    strides = [step if at == axis else own for at, own in enumerate(tensor.stride())]
    memory = torch.empty(step * array.shape[axis], dtype=tensor.dtype, device="cuda")
    return memory.as_strided(tensor.shape, strides).copy_(tensor)


@pytest.mark.parametrize("name", SPECS)
def test_elements_that_lie_far_apart_are_found(name: str) -> None:
    spec = SPECS[name]
    dtype = "f16" if "f16" in spec.dtypes else spec.dtypes[0]
    wrong = testing.check_far(spec, far_case(spec), dtype, on_the_host)
    assert not wrong, "\n".join(wrong)


@pytest.mark.gpu
@pytest.mark.large
@pytest.mark.timeout(300)
@pytest.mark.parametrize("name", SPECS)
def test_elements_that_lie_far_apart_are_found_on_a_gpu(name: str, turn: Any) -> None:
    spec = SPECS[name]
    dtype = "f16" if "f16" in spec.dtypes else spec.dtypes[0]
    case = far_case(spec)
    # Compiles, without its turn.
    assert not testing.check_far(spec, case, dtype, lambda array, _: on_a_gpu(array, None))
    with turn():
        wrong = testing.check_far(spec, case, dtype, on_a_gpu)
    assert not wrong, "\n".join(wrong)


# Where operations ask whether places need 64 bits.
ASKED = {
    "teeny_kernels.activation.softmax.is_wide": ("softmax", "log_softmax"),
    "teeny_kernels.loss.class_run.is_wide": ("cross_entropy", "linear_cross_entropy"),
    "teeny_kernels.norm.channel_run.is_wide": ("batch_norm", "group_norm", "instance_norm"),
    "teeny_kernels.pooling.whole.is_wide": ("global_avg_pool", "global_max_pool"),
    "teeny_kernels.pooling.geometry.Windows.wide": ("avg_pool", "max_pool", "lp_pool"),
    "teeny_kernels.padding.pad._wide": ("constant_pad", "reflection_pad", "circular_pad"),
    "teeny_kernels.tensor.upsample.is_wide": ("upsample_nearest2d",),
    "teeny_kernels.convolution.run._wide": ("conv1d", "conv2d", "conv_transpose2d"),
}


@pytest.mark.parametrize(
    ("asked", "name"), [(asked, name) for asked, names in ASKED.items() for name in names]
)
def test_places_of_64_bits_give_the_same(
    asked: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = SPECS[name]
    case = max(spec.cases, key=lambda own: prod(own.shapes[0]) * (prod(own.shapes[0]) < 60_000))
    wide = property(lambda _: True) if asked.endswith(".wide") else lambda *_: True
    monkeypatch.setattr(asked, wide)
    wrong = testing.check_forward(spec, case, "f32") + testing.check_backward(spec, case, "f32")
    assert not wrong, "\n".join(wrong)


def test_rows_that_a_program_cannot_count_are_refused() -> None:
    row = np.broadcast_to(np.float32(0), (2**31,))
    with pytest.raises(KernelError) as caught:
        tk.sample(row, seed=1)
    assert caught.value.code == "E1202"
    rows = np.broadcast_to(np.float32(0), (2**31, 1))
    with pytest.raises(KernelError) as caught:
        tk.layer_norm_backward(rows, rows, 1)
    assert caught.value.code == "E1202"
