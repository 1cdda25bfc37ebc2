"""`every_launch`: instances of launches that never happen, over arrays that hold nothing."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from teeny_compiler import every_launch
from teeny_macros.diagnostics import LaunchError, ToolchainError

SOURCE = '''
"""Kernels to plan launches of."""

from typing import TypeVar

import teeny_triton as tl
from teeny_compiler import Config, autotune
from teeny_macros import kernel
from teeny_triton import Const, Float, Ptr, i32

D = TypeVar("D", bound=Float)


@kernel
def scale(x_ptr: Ptr[D], n: i32 | int, stride: i32 | int, BLOCK: Const[int]) -> None:
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i * stride, mask=i < n)
    tl.store(x_ptr + i * stride, x + x, mask=i < n)


@autotune(configs=[Config({"BLOCK": 64}, num_warps=1), Config({"BLOCK": 128})], key=["n"])
@kernel
def tuned(x_ptr: Ptr[D], n: i32 | int, BLOCK: Const[int] = tl.auto()) -> None:
    i = tl.arange(0, BLOCK)
    tl.store(x_ptr + i, 0.0, mask=i < n)
'''


@pytest.fixture
def kernels(tmp_path: Path) -> Any:
    name = "kernels_to_plan"
    path = tmp_path / f"{name}.py"
    path.write_text(SOURCE, encoding="utf-8")
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    found: ModuleType = importlib.util.module_from_spec(spec)
    sys.modules[name] = found
    spec.loader.exec_module(found)
    return found


def hints(instance: Any) -> tuple[Any, Any]:
    return instance.specialization.divisible_by_16, instance.specialization.equal_to_1


def test_launches_give_their_instances_as_launched_and_without_hints(kernels: Any) -> None:
    def workload(device: Any) -> None:
        kernels.scale[1](device.buffer(100, "f16"), 100, 1, BLOCK=128)
        kernels.scale.options(num_warps=1)[4](device.buffer((4, 4), "f32"), 16, 7, BLOCK=16)

    found = every_launch(workload)
    assert [hints(one) for one in found] == [
        ((), ()), (("x_ptr",), ("stride",)), ((), ()), (("x_ptr", "n"), ()),
    ]  # fmt: skip
    assert [dict(one.specialization.types)["x_ptr"].dtype for one in found] == [
        "f16", "f16", "f32", "f32",
    ]  # fmt: skip
    assert [one.options.num_warps for one in found] == [4, 4, 1, 1]


def test_a_launch_is_noted_again_by_the_next_plan_and_an_empty_grid_never(kernels: Any) -> None:
    def workload(device: Any) -> None:
        kernels.scale[1](device.buffer(8, "f32"), 8, 2, BLOCK=8)
        kernels.scale[0](device.buffer(8, "f64"), 8, 2, BLOCK=8)

    first = every_launch(workload)
    assert [one.name for one in first] == ["scale", "scale"]
    assert every_launch(workload) == first


def test_many_equal_launches_are_one(kernels: Any) -> None:
    def workload(device: Any) -> None:
        x = device.buffer(8, "f32")
        for _ in range(100):
            kernels.scale[1](x, 8, 2, BLOCK=8)

    assert len(every_launch(workload)) == 2


def test_a_tuned_kernel_gives_each_config_whenever_it_is_planned(kernels: Any) -> None:
    def workload(device: Any) -> None:
        kernels.tuned[1](device.buffer(64, "f32"), 63)

    for _ in range(2):
        plain = [one for one in every_launch(workload) if hints(one) == ((), ())]
        assert [(dict(one.specialization.constants)["BLOCK"], one.options.num_warps)
                for one in plain] == [(64, 1), (128, 4)]  # fmt: skip


def test_a_workload_may_choose_by_target(kernels: Any) -> None:
    def workload(device: Any) -> None:
        many = device.properties.get("multiprocessor_count", 0) > 110
        kernels.scale[1](device.buffer(8, "f32"), 7, 2, BLOCK=16 if many else 8)

    blocks = {}
    for target in ("sm_80", "sm_90", "x86-64", "cpu"):
        (found, _) = every_launch(workload, target)
        blocks[target] = dict(found.specialization.constants)["BLOCK"]
    assert blocks == {"sm_80": 8, "sm_90": 16, "x86-64": 8, "cpu": 8}
    with pytest.raises(LaunchError) as caught:
        every_launch(workload, "sm_1")
    assert caught.value.code == "E1040"


@pytest.mark.parametrize("read", [lambda x: x.to_host(), lambda x: __import__("numpy").asarray(x)])
def test_a_planned_array_has_no_contents(read: Callable[[Any], object]) -> None:
    pytest.importorskip("numpy")
    with pytest.raises(ToolchainError) as caught:
        every_launch(lambda device: read(device.buffer(4, "f32")))
    assert caught.value.code == "E0974"


def test_a_planned_launch_is_checked_like_any_other(kernels: Any) -> None:
    with pytest.raises(LaunchError) as caught:
        every_launch(lambda device: kernels.scale[1](device.buffer(4, "i32"), 4, 1, BLOCK=4))
    assert caught.value.code == "E1009"


def test_dtypes_of_the_language_are_taken_as_well(kernels: Any) -> None:
    from teeny_triton import bf16, i1

    def workload(device: Any) -> None:
        x = device.buffer((3, 5), bf16)
        assert (x.shape, x.dtype, x.nbytes) == ((3, 5), "bf16", 30)
        assert device.buffer(3, i1).nbytes == 3

    assert every_launch(workload) == []


def test_planning_leaves_real_launches_alone(kernels: Any) -> None:
    np = pytest.importorskip("numpy")
    pytest.importorskip("teeny_cpu")
    pytest.importorskip("teenyc")
    x = np.ones(8, np.float32)
    every_launch(lambda device: kernels.scale[1](device.buffer(8, "f32"), 8, 1, BLOCK=8))
    kernels.scale[1](x, 8, 1, BLOCK=8)
    assert x.tolist() == [2.0] * 8
