"""Host arrays: which are recognized, and what is told of them."""

from __future__ import annotations

import subprocess
import sys
from types import SimpleNamespace
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from teeny_cpu import Device, Interpreter
from teeny_cpu.arrays import find_view
from teeny_cpu.dtypes import DTYPES, host_dtype
from teeny_cpu.provider import PROVIDER
from teeny_macros.diagnostics import LaunchError
from teeny_macros.protocol import ArrayInfo, DeviceProvider


def _pointer(array: Any) -> int:
    return int(array.__array_interface__["data"][0])


@pytest.mark.parametrize("dtype", sorted(DTYPES))
def test_numpy_arrays_are_described_by_their_dtype(dtype: str) -> None:
    array = np.zeros((2, 3), host_dtype(DTYPES[dtype]))
    found = PROVIDER.describe(array)
    assert found == ArrayInfo(_pointer(array), dtype, array.nbytes, "cpu")


@pytest.mark.parametrize("array", [np.zeros(3, ">f4"), np.zeros(3, "c8"), np.zeros(3, object)])
def test_an_array_of_another_dtype_cannot_say_one(array: Any) -> None:
    found = PROVIDER.describe(array)
    assert found is not None
    assert found.dtype == ""


def test_readonly_and_strided_arrays_say_so() -> None:
    base = np.arange(24, dtype=np.int16).reshape(4, 6)
    turned = PROVIDER.describe(base.T)
    assert turned == ArrayInfo(_pointer(base), "i16", 48, "cpu", contiguous=False)
    part = PROVIDER.describe(base[:2, :3])
    assert part == ArrayInfo(_pointer(base), "i16", 18, "cpu", contiguous=False)
    base.flags.writeable = False
    assert PROVIDER.describe(base) == ArrayInfo(_pointer(base), "i16", 48, "cpu", readonly=True)
    spread = np.broadcast_to(np.zeros(1, np.float32), (5,))
    found = PROVIDER.describe(spread)
    assert found is not None
    assert (found.nbytes, found.readonly, found.contiguous) == (4, True, False)


@pytest.mark.parametrize("value", [3, 2.5, "x", None, [1.0], object(), np.float32(1), np.True_])
def test_what_is_no_array_is_none_of_ours(value: Any) -> None:
    assert PROVIDER.describe(value) is None


def test_typed_arrays_have_the_dtype_they_were_given() -> None:
    bits = np.zeros(4, np.uint16)
    typed = SimpleNamespace(array=bits, dtype="bf16")
    assert PROVIDER.describe(typed) == ArrayInfo(_pointer(bits), "bf16", 8, "cpu")


def test_a_buffer_is_described() -> None:
    buffer = Device().buffer((2, 3), "f8e4m3")
    assert PROVIDER.describe(buffer) == ArrayInfo(buffer.pointer, "f8e4m3", 6, "cpu")


def test_objects_with_an_array_interface_are_seen_through() -> None:
    array = np.arange(6, dtype=np.float64)
    other = SimpleNamespace(__array_interface__=array.__array_interface__)
    assert PROVIDER.describe(other) == ArrayInfo(_pointer(array), "f64", 48, "cpu")
    with pytest.raises(LaunchError) as caught:
        PROVIDER.describe(SimpleNamespace(__array_interface__={"shape": (3,)}))
    assert caught.value.code == "E1117"


class _DLPack:
    def __init__(self, array: Any, kind: int = 1) -> None:
        self.array_ = array
        self.kind = kind

    def __dlpack__(self, **options: Any) -> Any:
        return self.array_.__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.kind, 0


def test_dlpack_arrays_on_the_host_are_seen_through() -> None:
    array = np.arange(6, dtype=np.int32)
    found = find_view(_DLPack(array))
    assert found is not None
    assert (_pointer(found.array), found.dtype) == (_pointer(array), "i32")
    assert find_view(_DLPack(array, kind=2)) is None


def test_a_dlpack_producer_that_fails_is_named() -> None:
    class Failing(_DLPack):
        def __dlpack__(self, **options: Any) -> Any:
            raise BufferError("it needs a gradient")

    with pytest.raises(LaunchError) as caught:
        find_view(Failing(None))
    assert caught.value.code == "E1117"
    assert "`Failing`" in str(caught.value)
    assert "it needs a gradient" in str(caught.value)


class _Tensor:
    """A CPU tensor with torch's attributes, over a NumPy array."""

    is_cuda = False

    def __init__(self, array: Any, dtype: str, place: str = "cpu") -> None:
        self.array_ = array
        self.dtype = dtype
        self.device = SimpleNamespace(type=place)

    def data_ptr(self) -> int:
        return _pointer(self.array_)

    def detach(self) -> _Tensor:
        return self

    def view(self, dtype: Any) -> _Tensor:
        return _Tensor(self.array_.view(dtype), "torch.int")

    def numpy(self) -> Any:
        if self.dtype == "torch.bfloat16":
            raise TypeError("Got unsupported ScalarType BFloat16")
        return self.array_


def test_torch_tensors_on_the_host_are_seen_through(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(
        sys.modules,
        "torch",
        SimpleNamespace(int16=np.int16, uint8=np.uint8),
    )
    array = np.zeros(4, np.float32)
    assert PROVIDER.describe(_Tensor(array, "torch.float32")) == ArrayInfo(
        _pointer(array), "f32", 16, "cpu"
    )
    for kind, name in ((ml_dtypes.bfloat16, "bfloat16"), (ml_dtypes.float8_e5m2, "float8_e5m2")):
        array = np.zeros(4, kind)
        found = PROVIDER.describe(_Tensor(array, f"torch.{name}"))
        assert found is not None
        assert found.pointer == _pointer(array)
        assert DTYPES[found.dtype].foreign == name
    assert PROVIDER.describe(_Tensor(array, "torch.float32", "cuda")) is None


def test_a_tensor_that_numpy_cannot_see_is_refused_with_the_reason() -> None:
    class Sparse(_Tensor):
        def numpy(self) -> Any:
            raise TypeError("can't convert Sparse layout tensor to numpy")

    with pytest.raises(LaunchError, match="Sparse layout") as caught:
        PROVIDER.describe(Sparse(np.zeros(4, np.float32), "torch.float32"))
    assert caught.value.code == "E1117"


def test_devices_are_found_by_name() -> None:
    assert PROVIDER.device("cpu") == Device()
    assert PROVIDER.device("interpret") == Interpreter()
    assert PROVIDER.device("cpu") is PROVIDER.device("cpu")
    for name in ("cpu:1", "host", "cuda:0", ""):
        with pytest.raises(LaunchError) as caught:
            PROVIDER.device(name)
        assert caught.value.code == "E1102"


def test_the_provider_follows_the_protocol() -> None:
    provider: DeviceProvider = PROVIDER
    assert provider.kind == "cpu"


def test_importing_the_package_loads_no_array_library() -> None:
    script = """
import sys, teeny_cpu.provider
assert teeny_cpu.provider.PROVIDER.describe([1]) is None
print(sorted({"numpy", "llvmlite", "ml_dtypes", "torch", "teenyc"} & set(sys.modules)))
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.strip() == "[]"
