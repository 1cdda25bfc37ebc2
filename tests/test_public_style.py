"""Kernels in the style of public Triton code, in the interpreter and on a GPU.

Under `-m gpu` each file also runs under Triton itself, with nothing but its imports and decorators
exchanged, as a second oracle beside NumPy.
"""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

if TYPE_CHECKING:
    from types import ModuleType

FOLDER = Path(__file__).parent / "public_style"
FILES = sorted(path.stem for path in FOLDER.glob("*.py"))
NUMPY = {
    "f16": np.float16,
    "f32": np.float32,
    "i8": np.int8,
    "i32": np.int32,
    "u8": np.uint8,
}


def load(name: str, text: str | None = None, folder: Path = FOLDER) -> ModuleType:
    """The file `name` as a module; with `text`, from a copy that holds it."""
    path = FOLDER / f"{name}.py"
    if text is not None:
        path = folder / f"triton_{name}.py"
        path.write_text(text, encoding="utf-8")
    spec = importlib.util.spec_from_file_location(path.stem if text else f"public_{name}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def under_triton(text: str) -> str:
    """Exchange the imports and decorators, and nothing else."""
    text = re.sub(r"from teeny_macros import .*", "import triton", text)
    text = text.replace("import teeny_triton as tl", "import triton.language as tl")
    text = re.sub(r"^@(kernel|device)$", "@triton.jit", text, flags=re.MULTILINE)
    # On the host `tl.cdiv` is `triton.cdiv`: the functions that launch begin with `run_`.
    return re.sub(
        r"(?ms)^def run_.*?^(?=def |@)", lambda m: m[0].replace("tl.cdiv", "triton.cdiv"), text
    )


class Teeny:
    """Arrays of one of our devices."""

    def __init__(self, device: Any) -> None:
        self.device = device

    def array(self, values: Any) -> Any:
        """A copy of `values` on the device."""
        names = {"float16": "f16", "float32": "f32", "uint8": "u8"}
        names |= {"int8": "i8", "int32": "i32", "int64": "i64"}
        buffer = self.device.buffer(values.shape, names[values.dtype.name])
        buffer.copy_from(values)
        return buffer

    def empty(self, shape: tuple[int, ...], dtype: str) -> Any:
        """Fresh memory."""
        return self.device.buffer(shape, dtype)

    def host(self, array: Any) -> Any:
        """A NumPy copy."""
        self.device.synchronize()
        return array.to_host()


class Torch:
    """Arrays of PyTorch on the first GPU."""

    def __init__(self) -> None:
        import torch
        import triton

        # Triton keeps the descriptors that kernels make in memory which it has to be given.
        triton.set_allocator(
            lambda size, _align, _stream: torch.empty(size, dtype=torch.int8, device="cuda")
        )

    def array(self, values: Any) -> Any:
        """A copy of `values` on the device."""
        import torch

        return torch.from_numpy(np.ascontiguousarray(values)).cuda()

    def empty(self, shape: tuple[int, ...], dtype: str) -> Any:
        """Fresh memory."""
        return self.array(np.zeros(shape, NUMPY[dtype]))

    def host(self, array: Any) -> Any:
        """A NumPy copy."""
        return array.cpu().numpy()


def named_cases() -> list[tuple[str, int, str]]:
    """(file, position, name) of every case."""
    found = []
    for file in FILES:
        cases = load(file).cases(np.random.default_rng(7))
        found += [(file, i, case[0]) for i, case in enumerate(cases)]
    return found


CASES = named_cases()
IDS = [f"{file}-{name}" for file, _, name in CASES]


def check(module: ModuleType, position: int, dev: Any) -> list[Any]:
    """Run one case and compare it with NumPy: relative to the largest value of each result."""
    name, run, reference, inputs, tolerance = module.cases(np.random.default_rng(7))[position]
    found = [np.asarray(out, np.float64) for out in run(dev, *inputs)]
    for out, right in zip(found, reference(*inputs), strict=True):
        scale = max(1.0, float(np.abs(right).max()))
        np.testing.assert_allclose(out, right, rtol=0, atol=tolerance * scale, err_msg=name)
    return found


@pytest.mark.parametrize(("file", "position", "name"), CASES, ids=IDS)
def test_kernel_is_right_in_the_interpreter(
    file: str, position: int, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    import teeny_macros.devices

    monkeypatch.setenv("TEENY_DEVICE", "interpret")
    assert name
    check(load(file), position, Teeny(teeny_macros.devices.device("interpret")))


@pytest.mark.gpu
@pytest.mark.parametrize(("file", "position", "name"), CASES, ids=IDS)
def test_kernel_agrees_with_triton_on_the_gpu(
    file: str, position: int, name: str, tmp_path: Path
) -> None:
    import teeny_cuda

    text = (FOLDER / f"{file}.py").read_text(encoding="utf-8")
    theirs = check(load(file, under_triton(text), tmp_path), position, Torch())
    ours = check(load(file), position, Teeny(teeny_cuda.Device(0)))
    for a, b in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-3, atol=1e-3, err_msg=name)


# The kinds that the language is measured by, each by the case that stands for it.
KINDS = {
    *("add", "fused_softmax", "matmul", "dropout", "layer_norm", "attention", "attention_dq"),
    *("grouped_matmul", "persistent_descriptor", "block_scaled_matmul", "rms_norm", "rope"),
    *("swiglu", "cross_entropy", "topk", "histogram", "int8_matmul", "fp8_matmul", "quantize"),
    *("segmented_scan", "embedding"),
}


def test_there_are_enough_kernels_and_every_kind() -> None:
    text = "".join((FOLDER / f"{file}.py").read_text(encoding="utf-8") for file in FILES)
    assert text.count("@kernel\n") >= 32
    assert {name for _, _, name in CASES} >= KINDS


ACCEPT = """
import importlib.util, sys, triton
for path in sys.argv[1:]:
    spec = importlib.util.spec_from_file_location("exchanged", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    found = [f for f in vars(module).values() if isinstance(f, triton.runtime.JITFunction)]
    print(*sorted(function.parse().body[0].name for function in found))
"""


def test_triton_accepts_each_file_with_its_imports_and_decorators_exchanged(tmp_path: Path) -> None:
    if importlib.util.find_spec("triton") is None:  # not imported: other tests fork this process
        pytest.skip("triton is not installed")
    paths, wanted = [], []
    for file in FILES:
        text = under_triton((FOLDER / f"{file}.py").read_text(encoding="utf-8"))
        assert "teeny" not in text
        wanted.append(sorted(re.findall(r"^@triton\.jit\ndef (\w+)", text, re.MULTILINE)))
        paths.append(tmp_path / f"{file}.py")
        paths[-1].write_text(text, encoding="utf-8")
    # In a process of its own: Triton starts threads, and other tests fork.
    command = [sys.executable, "-c", ACCEPT, *map(str, paths)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    assert [line.split() for line in done.stdout.splitlines()] == wanted
