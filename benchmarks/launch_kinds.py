"""Launches that take more than arrays and numbers, for bench_launch.py.

Descriptors, scratch memory, declarations, and operations of the kernel library, beside Triton's and
torch's own. All with torch tensors.
"""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    Call = Callable[[], object]

OURS = """
from typing import Any
import teeny_triton as tl
from teeny_macros import kernel
from teeny_triton import Const, Ptr, TensorDescriptor, bf16, f32, i32

@kernel
def plain(x_ptr: Ptr[f32], y_ptr: Ptr[f32], out_ptr: Ptr[f32], n: i32, BLOCK: Const[int]) -> None:
    at = tl.arange(0, BLOCK)
    tl.store(out_ptr + at, tl.load(x_ptr + at, at < n) + tl.load(y_ptr + at, at < n), at < n)

@kernel(contiguous=("x_ptr", "y_ptr", "out_ptr"), separate=("out_ptr",), alignment={"x_ptr": 16},
        strides={"y_ptr": (1,)})
def declared(
    x_ptr: Ptr[f32], y_ptr: Ptr[f32], out_ptr: Ptr[f32], n: i32, BLOCK: Const[int]
) -> None:
    at = tl.arange(0, BLOCK)
    tl.store(out_ptr + at, tl.load(x_ptr + at, at < n) + tl.load(y_ptr + at, at < n), at < n)

@kernel
def described(
    x: TensorDescriptor[bf16, Any], y: TensorDescriptor[bf16, Any],
    out: TensorDescriptor[bf16, Any], row: i32 | int,
) -> None:
    out.store([row, 0], x.load([row, 0]) + y.load([row, 0]))

@kernel
def scratch(out_ptr: Ptr[f32], x_ptr: Ptr[f32], n_rows: i32 | int) -> None:
    x = tl.make_tensor_descriptor(x_ptr, [n_rows, 32], [32, 1], [8, 32])
    out = tl.make_tensor_descriptor(out_ptr, [n_rows, 32], [32, 1], [8, 32])
    out.store([0, 0], x.load([0, 0]) + 1.0)
"""
TRITON = """
import triton
import triton.language as tl

@triton.jit
def described(x, y, out, row):
    out.store([row, 0], x.load([row, 0]) + y.load([row, 0]))
"""
SIDE = 4096


def kind_subjects(folder: Path, device: str) -> dict[str, Call]:
    """Everything that can be launched here, by its label."""
    import torch

    found: dict[str, Call] = {}
    makers = (_ours, _triton, _library, _torch)
    for make in makers:
        try:
            found.update(make(folder, torch, device))
        except Exception as error:  # noqa: BLE001 - what cannot run here is named
            print(f"{make.__name__}: {type(error).__name__}: {str(error)[:200]}")
    return found


def _load(text: str, folder: Path, name: str) -> Any:
    path = folder / f"{name}.py"
    path.write_text(text, encoding="utf-8")
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def _ours(folder: Path, torch: Any, device: str) -> dict[str, Call]:
    import teeny_triton as tl

    own = _load(OURS, folder, "our_kinds")
    x, y, out = (torch.zeros(1024, device=device) for _ in range(3))
    rows, result = (torch.zeros((64, 32), device=device) for _ in range(2))
    a, b, c = (torch.zeros((256, 128), dtype=torch.bfloat16, device=device) for _ in range(3))
    block = (64, 64)
    made = [tl.tensor_descriptor(array, block) for array in (a, b, c)]

    def fresh() -> None:
        own.described[1](
            tl.tensor_descriptor(a, block), tl.tensor_descriptor(b, block),
            tl.tensor_descriptor(c, block), 64,
        )  # fmt: skip

    return {
        "plain kernel, 3 arrays": lambda: own.plain[1](x, y, out, 1000, BLOCK=1024),
        "declared kernel, 3 arrays": lambda: own.declared[1](x, y, out, 1000, BLOCK=1024),
        "scratch kernel, 2 arrays": lambda: own.scratch[1](result, rows, 64),
        "3 descriptors made before": lambda: own.described[1](*made, 64),
        "3 descriptors made each time": fresh,
    }


def _triton(folder: Path, torch: Any, device: str) -> dict[str, Call]:
    from triton.tools.tensor_descriptor import TensorDescriptor

    peer = _load(TRITON, folder, "triton_kinds").described
    a, b, c = (torch.zeros((256, 128), dtype=torch.bfloat16, device=device) for _ in range(3))
    block = [64, 64]
    made = [TensorDescriptor.from_tensor(array, block) for array in (a, b, c)]

    def fresh() -> None:
        peer[(1,)](*(TensorDescriptor.from_tensor(array, block) for array in (a, b, c)), 64)

    return {
        "Triton, 3 descriptors made before": lambda: peer[(1,)](*made, 64),
        "Triton, 3 descriptors made each time": fresh,
    }


def _library(_folder: Path, torch: Any, device: str) -> dict[str, Call]:
    import teeny_kernels as tk

    x, y = (torch.zeros((SIDE, SIDE), dtype=torch.bfloat16, device=device) for _ in range(2))
    q, k, v = _heads(torch, device)
    rows, out = (torch.zeros((1024, 1024), device=device) for _ in range(2))
    weight, bias = torch.ones(1024, device=device), torch.zeros(1024, device=device)
    return {
        "tk.matmul 4096 bf16": lambda: tk.matmul(x, y),
        "tk.flash_attention": lambda: tk.flash_attention(q, k, v),
        "tk.softmax": lambda: tk.softmax(rows),
        "tk.layer_norm": lambda: tk.layer_norm(rows, (1024,), weight, bias),
        "tk.gelu": lambda: tk.gelu(rows),
        "tk.add into out": lambda: tk.add(rows, rows, out=out),
    }


def _torch(_folder: Path, torch: Any, device: str) -> dict[str, Call]:
    functional = torch.nn.functional
    x, y = (torch.zeros((SIDE, SIDE), dtype=torch.bfloat16, device=device) for _ in range(2))
    q, k, v = _heads(torch, device)
    rows, out = (torch.zeros((1024, 1024), device=device) for _ in range(2))
    weight, bias = torch.ones(1024, device=device), torch.zeros(1024, device=device)
    return {
        "torch.matmul 4096 bf16": lambda: torch.matmul(x, y),
        "torch sdpa": lambda: functional.scaled_dot_product_attention(q, k, v),
        "torch.softmax": lambda: torch.softmax(rows, 1),
        "torch layer_norm": lambda: functional.layer_norm(rows, (1024,), weight, bias),
        "torch gelu": lambda: functional.gelu(rows),
        "torch.add into out": lambda: torch.add(rows, rows, out=out),
    }


def _heads(torch: Any, device: str) -> list[Any]:
    """Heads of 4096 rows, enough work that tiles are moved by descriptors."""
    shape = (1, 32, SIDE, 128)
    return [torch.zeros(shape, dtype=torch.bfloat16, device=device) for _ in range(3)]
