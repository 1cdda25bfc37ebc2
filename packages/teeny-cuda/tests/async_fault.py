"""A fault that nobody waits for at its launch; run by test_cuda_launch.py in its own process.

`hot` launches often before it, so that machine code launches; prints what the error says.
"""

from __future__ import annotations

import sys
from typing import Any

import teeny_triton as tl
from teeny_cuda import Device
from teeny_macros import kernel
from teeny_macros.diagnostics import LaunchError
from teeny_triton import Const, Ptr, f32, i64


@kernel
def write_far(out_ptr: Ptr[f32], distance: i64 | int, BLOCK: Const[int] = 32) -> None:
    tl.store(out_ptr + tl.arange(0, BLOCK) + distance, 1.0)


def main() -> None:
    """Fault, and print the notes."""
    device = Device(0)
    out: Any = device.buffer(64, "f32")
    for _ in range(40 if "hot" in sys.argv else 1):
        write_far[3](out, 7)
    device.synchronize()
    try:
        write_far[5](out, 2**40 + 7)
        write_far[2](out, 7)  # may find the fault already
        device.synchronize()
    except LaunchError as error:
        print(error.code)
        print(*error.diagnostics[0].notes, sep="\n")


if __name__ == "__main__":
    main()
