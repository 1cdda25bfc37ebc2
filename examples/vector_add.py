"""Vector addition, end to end: the first kernel to read.

Run `python examples/vector_add.py`. With an NVIDIA GPU it compiles to PTX and runs there; without
one the same kernel is compiled for the CPU. Either way it prints what it did.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

import teeny_triton as tl
from teeny_macros import Target, TeenyError, kernel
from teeny_triton import Axis, Const, Num, Ptr, f32, i32

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from teeny_macros.protocol import Device

D = TypeVar("D", bound=Num)

BLOCK_SIZE = 1024


@kernel(extents={"x_ptr": "n_elements", "y_ptr": "n_elements", "out_ptr": "n_elements"})
def vector_add(
    x_ptr: Ptr[D],
    y_ptr: Ptr[D],
    out_ptr: Ptr[D],
    n_elements: i32 | int,
    BLOCK_SIZE: Const[int],
) -> None:
    # Each program adds one block of BLOCK_SIZE elements.
    pid = tl.program_id(Axis.X)
    offsets = pid * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    # The last block may reach past the end: the mask keeps it inside.
    mask = offsets < n_elements
    x = tl.load(x_ptr + offsets, mask=mask)
    y = tl.load(y_ptr + offsets, mask=mask)
    tl.store(out_ptr + offsets, x + y, mask=mask)


def run(device: Device, x: NDArray[Any], y: NDArray[Any], dtype: str) -> NDArray[Any]:
    """`x + y` of shape (n,) on `device`, through its buffers."""
    n = x.size
    x_dev, y_dev, out = (device.buffer(n, dtype) for _ in range(3))
    x_dev.copy_from(x)
    y_dev.copy_from(y)
    vector_add[tl.cdiv(n, BLOCK_SIZE)](x_dev, y_dev, out, n, BLOCK_SIZE=BLOCK_SIZE)
    device.synchronize()
    result: NDArray[Any] = out.to_host()
    return result


def reference(x: NDArray[Any], y: NDArray[Any]) -> NDArray[np.float64]:
    """The sum in f64."""
    return x.astype(np.float64) + y.astype(np.float64)


def tolerance(x: NDArray[Any], y: NDArray[Any], eps: float, tiny: float) -> NDArray[np.float64]:
    """Zero: one addition is correctly rounded, and f64 holds enough bits to round twice alike."""
    del y, eps, tiny
    return np.zeros(x.shape)


def pick_device() -> Device:
    """The first GPU, else the CPU."""
    try:
        import teeny_cuda

        return teeny_cuda.Device(0)
    except (ImportError, TeenyError):
        import teeny_cpu

        return teeny_cpu.Device()


def show_compiled() -> None:
    """Compile for an H100/H200 (no GPU needed); show where the PTX lies and how the MLIR begins."""
    from teeny_compiler import compile_kernel

    instance = vector_add.instantiate(D=f32, BLOCK_SIZE=BLOCK_SIZE)
    try:
        artifact = compile_kernel(instance, Target.cuda("sm_90"))
    except TeenyError as error:
        print(f"not compiled to PTX here:\n{error}")
        return
    print(f"PTX for sm_90: {artifact.path}")
    mlir = artifact.stages["mlir"].read_text(encoding="utf-8").splitlines()
    print("MLIR, first lines:", *mlir[:8], sep="\n  ")


def main() -> None:
    """Show the compiled kernel, run it, compare with NumPy."""
    show_compiled()
    device = pick_device()
    print(f"running on: {device.name}")
    rng = np.random.default_rng(0)
    x, y = rng.random((2, 100_003), dtype=np.float32)
    out = run(device, x, y, "f32")
    print(f"out[:4] = {out[:4]}, NumPy says {(x + y)[:4]}")
    print("largest difference:", float(np.abs(out - (x + y)).max()))


if __name__ == "__main__":
    main()
