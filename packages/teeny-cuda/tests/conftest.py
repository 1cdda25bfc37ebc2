"""The kernels of these tests: as PTX for the GPU, and in Python for the fake driver."""

from __future__ import annotations

import ctypes
import os
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import pytest

from teeny_cuda import Device
from teeny_cuda.provider import PROVIDER
from teeny_cuda.testing import fake_fixture, gpu, write_artifact
from teeny_macros import devices
from teeny_macros.kernel import Kernel

if TYPE_CHECKING:
    from teeny_cuda.fake_driver import FakeDriver
    from teeny_macros.artifact import Artifact

__all__ = ["fake_fixture", "gpu"]

# JAX would take most of the GPU's memory at its first use.
os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")

PTX = Path(__file__).parent / "ptx"
_F32 = ("pointer", "f32")
PARAMS: dict[str, list[tuple[str, str, str]]] = {
    "vector_add": [
        ("x_ptr", *_F32),
        ("y_ptr", *_F32),
        ("out_ptr", *_F32),
        ("n", "scalar", "i32"),
    ],
    "store_scalars": [
        ("out_ptr", "pointer", "u8"),
        *(
            (f"as_{dtype}", "scalar", dtype)
            for dtype in ("i1", "i8", "i16", "u32", "i64", "f16", "bf16", "f32", "f64")
        ),
    ],
    "reverse_shared": [("out_ptr", "pointer", "i32"), ("offset", "scalar", "u32")],
    "use_scratch": [("out_ptr", "pointer", "i64")],
    "cluster_rank": [("out_ptr", "pointer", "i32")],
    "spin": [("out_ptr", *_F32), ("nanoseconds", "scalar", "i64")],
    "broken": [("out_ptr", *_F32)],
    "plain_block": [("out_ptr", *_F32)],
}
_METADATA = {
    "store_scalars": {"threads_per_block": 1},
    "reverse_shared": {"shared_bytes": 100_000},
    "use_scratch": {
        "threads_per_block": 1,
        "global_scratch_bytes": 256,
        "global_scratch_align": 128,
    },
    "cluster_rank": {"threads_per_block": 1, "num_ctas": 2},
    "spin": {"threads_per_block": 1},
}


class MakeArtifact(Protocol):
    def __call__(self, kernel: str, **metadata: Any) -> Artifact: ...


@pytest.fixture
def artifact_of(tmp_path: Path) -> MakeArtifact:
    """The artefact of a kernel in `ptx/`; keywords change its metadata."""

    def make(kernel: str, **metadata: Any) -> Artifact:
        ptx = (PTX / f"{kernel}.ptx").read_text(encoding="utf-8")
        changed = {**_METADATA.get(kernel, {}), **metadata}
        return write_artifact(tmp_path, ptx, kernel, PARAMS[kernel], **changed)

    return make


@pytest.fixture
def device(fake: FakeDriver) -> Device:
    """GPU 0 of the fake driver, which knows what the kernels of these tests do."""
    fake.kernels.update(
        vector_add_entry_point=_vector_add,
        store_scalars_entry_point=_store_scalars,
        use_scratch_entry_point=_use_scratch,
        spin_entry_point=_spin,
    )
    return Device(0)


def _number(data: bytes) -> int:
    return int.from_bytes(data, "little")


def _vector_add(run: Any) -> None:
    x, y, out = map(_number, run.params[:3])
    n = int.from_bytes(run.params[3], "little", signed=True)
    count = min(n, run.grid[0] * 128)
    if count > 0:
        left, right = (np.frombuffer(run.view(p, 4 * count), np.float32) for p in (x, y))
        np.frombuffer(run.view(out, 4 * count), np.float32)[:] = left + right


def _store_scalars(run: Any) -> None:
    out = _number(run.params[0])
    for slot, data in enumerate(run.params[1:10]):
        run.view(out + 8 * slot, len(data))[:] = data


def _use_scratch(run: Any) -> None:
    out, scratch, profile = map(_number, run.params)
    for block in range(run.grid[0]):
        run.view(scratch + 256 * block + 248, 8)[:] = (7 * block).to_bytes(8, "little")
        run.view(out + 8 * block, 8)[:] = (7 * block + profile).to_bytes(8, "little")


def _spin(run: Any) -> None:
    run.view(_number(run.params[0]), 4)[:] = np.float32(1).tobytes()


# --- an array library that speaks C ---------------------------------------------------------------

_FILL = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.c_void_p)
_STREAM = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_void_p)


def _exchange_type(base: type) -> tuple[type, dict[str, Any]]:
    """A subclass with the protocol, and the state that steers its answers."""
    state: dict[str, Any] = {
        "asked": 0,
        "stream": 0,
        "device": 2,
        "dtype": 2 | 32 << 8 | 1 << 16,
        "fails": False,
        "strides": True,
    }

    def fill(value: Any, out: int) -> int:
        state["asked"] += 1
        if state["fails"]:
            return -1
        rank = len(value.shape)
        # The library's own memory, which lives as long as the tensor.
        value.kept = [(ctypes.c_int64 * rank)(*own) for own in (value.shape, value.stride())]
        words = (ctypes.c_uint64 * 6).from_address(out)
        words[0] = value.data_ptr() - 64
        words[1] = state["device"]
        words[2] = rank | state["dtype"] << 32
        words[3], words[4] = map(ctypes.addressof, value.kept)
        words[4] *= state["strides"]
        words[5] = 64
        return 0

    def current(kind: int, ordinal: int, out: int) -> int:
        assert (kind, ordinal) == (2, 0)
        ctypes.c_void_p.from_address(out).value = state["stream"]
        return 0

    functions = (_FILL(fill), _STREAM(current))
    table = (ctypes.c_void_p * 7)()
    ctypes.c_uint32.from_buffer(table).value = 1
    table[5] = ctypes.cast(functions[0], ctypes.c_void_p)
    table[6] = ctypes.cast(functions[1], ctypes.c_void_p)
    new = ctypes.pythonapi.PyCapsule_New
    new.restype = ctypes.py_object
    new.argtypes = (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
    capsule = new(ctypes.addressof(table), b"dlpack_exchange_api", None)
    state["kept"] = (functions, table)
    kind = type("Exchanged", (base,), {"__dlpack_c_exchange_api__": capsule, "state": state})
    return kind, state


@pytest.fixture
def exchange_type() -> Any:
    """Makes a subclass with the DLPack exchange protocol, and the state of its answers."""
    return _exchange_type


class Tensor:
    """What a short launch asks of a tensor of torch."""

    is_cuda = True
    device = SimpleNamespace(index=0, type="cuda")

    def __init__(self, buffer: Any, dtype: Any) -> None:
        self.buffer = buffer
        self.dtype = dtype
        self.shape = buffer.shape

    def data_ptr(self) -> int:
        return int(self.buffer.pointer)

    def get_device(self) -> int:
        return 0

    def element_size(self) -> int:
        return int(self.buffer.itemsize)

    def numel(self) -> int:
        return int(self.buffer.size)

    def is_contiguous(self) -> bool:
        return bool(self.buffer.is_contiguous)

    def stride(self) -> tuple[int, ...]:
        return tuple(self.buffer.strides)


class _DType(SimpleNamespace):
    def __str__(self) -> str:
        return f"torch.{self.name}"


# As torch has them: one object each.
DTYPES = {name: _DType(name=name) for name in ("float16", "float32", "int32")}


@pytest.fixture
def tensor_type() -> Any:
    """The class of such tensors, and their dtypes by names."""
    return Tensor, DTYPES


@pytest.fixture
def torch_stream(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The last of these handles is torch's current stream."""
    handles = [0]
    torch = SimpleNamespace(
        cuda=SimpleNamespace(
            current_stream=lambda ordinal: SimpleNamespace(cuda_stream=handles[-1])
        )
    )
    monkeypatch.setitem(sys.modules, "torch", torch)
    return handles


# --- launches through kernels --------------------------------------------------------------------
class Compiler:
    """Stands where the compiler stands: an artefact that takes the instance's arguments."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.instances: list[Any] = []
        self.metadata: dict[str, Any] = {}
        self.maps = True  # descriptors are the hardware's

    def __call__(self, instance: Any, target: Any, **options: Any) -> Any:
        self.instances.append(instance)
        params: list[tuple[str, str, str]] = []
        rows: list[str] = []
        maps: list[Any] = []
        for name, type_ in instance.specialization.types:
            if type_.kind == "descriptor":
                maps.append((type_.block, 64))
                rows += [*self._describe(params, name, type_)]
            else:
                params.append((name, type_.kind, type_.dtype))
                is_pointer = type_.kind == "pointer"
                rows.append(
                    ".b64" if is_pointer else f".b{max(8, int(type_.dtype.lstrip('biuf')))}"
                )
        rows += [".b64", ".b64"]
        listing = ", ".join(
            f".param {row.replace('[', f' p{at}[') if '[' in row else f'{row} p{at}'}"
            for at, row in enumerate(rows)
        )
        ptx = (
            f".version 8.0\n.target sm_90\n.visible .entry {instance.entry_point_name}({listing})\n"
            "{\n\tret;\n}\n"
        )
        folder = self.folder / str(len(self.instances))
        folder.mkdir()
        described: dict[str, Any] = {"descriptors": tuple(maps)} if maps and self.maps else {}
        return write_artifact(folder, ptx, instance.name, params, **{**described, **self.metadata})

    def _describe(self, params: list[tuple[str, str, str]], name: str, type_: Any) -> list[str]:
        """The parameters of a descriptor, and their rows in PTX."""
        axes = range(len(type_.block))
        if self.maps:
            params.append((name, "descriptor", f"{type_.dtype}[{','.join(map(str, type_.block))}]"))
            rows = [".align 64 .b8[128]"]
        else:
            params += [(name, "pointer", type_.dtype), (f"{name}.nan", "scalar", "i1")]
            rows = [".b64", ".b8"]
        params += [(f"{name}.shape.{axis}", "scalar", "i32") for axis in axes]
        params += [(f"{name}.stride.{axis}", "scalar", "i64") for axis in axes]
        return [*rows, *(".b32" for _ in axes), *(".b64" for _ in axes)]


@pytest.fixture
def launchers(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Machine code of launches is kept with these tests' files."""
    monkeypatch.setenv("TEENY_LAUNCHER_CACHE", str(tmp_path_factory.getbasetemp() / "launchers"))
    monkeypatch.delenv("TEENY_LAUNCH_BLOCKING", raising=False)


@pytest.fixture
def compiler(
    tmp_path: Path,
    device: Device,
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
) -> Compiler:
    """Stands where the compiler stands; the kernels of the test's module begin anew."""
    made = Compiler(tmp_path)
    monkeypatch.setitem(devices._compilers, "default", made)
    monkeypatch.setitem(devices._providers, "cuda", PROVIDER)
    for used in vars(request.module).values():
        if isinstance(used, Kernel):
            used._shared.site = None
            used._shared.instances.clear()
            used._over.clear()
    return made


class Slow:
    """Counts the launches that take the slow path."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        from teeny_macros.launch import LaunchSite

        self.count = 0
        launch = LaunchSite.launch

        def counted(site: Any, *args: Any) -> Any:
            self.count += 1
            return launch(site, *args)

        monkeypatch.setattr(LaunchSite, "launch", counted)


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> Slow:
    return Slow(monkeypatch)
