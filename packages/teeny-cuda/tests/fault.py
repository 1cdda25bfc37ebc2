"""A kernel that writes through a null pointer, with and without waiting for the launch.

Prints the codes. Run by test_cuda_launch.py in a process of its own.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from teeny_cuda import Device
from teeny_cuda.testing import write_artifact
from teeny_macros.diagnostics import LaunchError

PTX = Path(__file__).parent / "ptx" / "spin.ptx"
PARAMS = [("out_ptr", "pointer", "f32"), ("nanoseconds", "scalar", "i64")]


def main() -> None:
    """Fault, and print what is said."""
    os.environ["TEENY_LAUNCH_BLOCKING"] = "1"
    device = Device(0)
    kept = device.buffer(4, "f32")
    with tempfile.TemporaryDirectory() as folder:
        artifact = write_artifact(
            Path(folder), PTX.read_text(encoding="utf-8"), "spin", PARAMS, threads_per_block=1
        )
        program = device.load(artifact)
        try:
            device.launch(program, 1, [None, 1000])
        except LaunchError as error:
            text = str(error)
            print(error.code, "launch of `spin` over 1 x 1 x 1" in text, "out_ptr = None" in text)
    try:
        kept.to_host()
    except LaunchError as error:
        print(error.code)


if __name__ == "__main__":
    main()
