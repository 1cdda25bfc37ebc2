"""Bundles of the library: what its operations launch is found by planning, and runs sealed."""

from __future__ import annotations

import platform
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import teeny_kernels as tk
from teeny_compiler import build_bundle
from teeny_kernels.codes import KernelError
from teeny_kernels.registry import specs
from teeny_macros import bundle, devices


@pytest.mark.parametrize("name", list(specs()))
def test_every_operation_can_be_planned(name: str) -> None:
    found = tk.bundle_instances(name, specs()[name].dtypes[0])
    kernels = {one.kernel.name for one in found}
    assert kernels
    launched = {kernel.name for kernel in specs()[name].kernels}
    assert kernels & launched, f"none of {sorted(launched)} is launched"


def test_options_choose_operations_dtypes_and_gradients() -> None:
    both = tk.bundle_instances(["relu", "tanh"], ["f16", "f32"])
    assert {dict(one.specialization.types)["x_ptr"].dtype for one in both} == {"f16", "f32"}
    forward = tk.bundle_instances("relu", gradients=False)
    assert len({one.kernel.name for one in forward}) == 1
    assert len({one.kernel.name for one in tk.bundle_instances("relu")}) == 2


def test_products_are_planned_for_their_gpu() -> None:
    def blocks(target: str) -> set[Any]:
        found = tk.bundle_instances("matmul", "f16", gradients=False, target=target)
        return {(one.kernel.name, one.specialization.constants, one.options) for one in found}

    assert blocks("sm_90") != blocks("sm_80") != blocks("cpu")
    assert blocks("cpu") == blocks("aarch64")


@pytest.mark.parametrize("wrong", [{"operations": "reluu"}, {"dtypes": ["f16", "i3"]}])
def test_a_name_that_is_none_is_refused_with_those_that_are(wrong: dict[str, Any]) -> None:
    with pytest.raises(KernelError) as caught:
        tk.bundle_instances(**wrong)
    assert caught.value.code == "E1204"
    assert "`relu`" in str(caught.value) or "`f32`" in str(caught.value)


def test_rows_of_every_length_find_their_kernel_in_a_sealed_bundle(tmp_path: Path) -> None:
    instances = tk.bundle_instances("softmax", "f32", gradients=False)
    path = tmp_path / "softmax.teeny"
    level = "aarch64" if platform.machine() in ("aarch64", "arm64") else "x86-64"
    build_bundle(instances, path, targets=[level], sealed=True, hints="none", progress=False)
    bundled = bundle.load(path)
    try:
        for columns in (1, 2, 17, 100, 513, 1024, 5000, 40000):
            x = np.random.default_rng(0).standard_normal((2, columns), np.float32)
            np.testing.assert_allclose(tk.softmax(x).sum(-1), 1.0, rtol=1e-5)
        assert bundled.hits > 0
        assert bundled.misses == 0
    finally:
        bundle.unload(bundled)


@pytest.mark.gpu
def test_a_gpu_finds_its_rows_in_a_sealed_bundle(tmp_path: Path) -> None:
    device = devices.device("cuda:0")
    arch = device.target.arch
    instances = tk.bundle_instances("softmax", "f16", gradients=False, target=arch)
    path = tmp_path / "softmax.teeny"
    build_bundle(instances, path, targets=[arch], sealed=True, hints="none", progress=False)
    bundled = bundle.load(path)
    try:
        for columns in (1, 17, 513, 5000):
            x = np.random.default_rng(0).standard_normal((2, columns)).astype(np.float16)
            placed = device.buffer(x.shape, "f16")
            placed.copy_from(x)
            y = np.asarray(tk.softmax(placed).to_host()).reshape(x.shape)
            np.testing.assert_allclose(y.astype(np.float32).sum(-1), 1.0, rtol=1e-2)
        assert bundled.hits > 0
        assert bundled.misses == 0
    finally:
        bundle.unload(bundled)
