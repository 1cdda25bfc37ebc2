"""Prints from Python and from kernels in turns; run by test_cuda_printing.py in its own process.

`fake` takes the fake driver, whose kernel prints as the driver does: into C's buffer, late.
"""

from __future__ import annotations

import ctypes
import sys
import tempfile
from pathlib import Path
from typing import Any

import teeny_triton as tl
from teeny_cuda import Device
from teeny_macros import kernel
from teeny_triton import Ptr, i32

FAKE_PTX = """.version 8.0
.target sm_90
.extern .func (.param .b32 result) vprintf (.param .b64 format, .param .b64 args);
.visible .entry say_entry_point(.param .b64 out, .param .b32 number, .param .b64 a, .param .b64 b)
{
\tret;
}
"""


@kernel
def say(out_ptr: Ptr[i32], number: i32 | int) -> None:
    tl.device_print("kernel", number)
    tl.store(out_ptr, number)


def turns(device: Any, launch: Any, out: Any) -> None:
    """Every kind of wait, with a line of Python before and after it."""
    stream, event = device.stream(), device.event()
    waits = (
        ("device", None, device.synchronize),
        ("stream", stream, stream.synchronize),
        ("event", None, lambda: (event.record(), event.synchronize())),
        ("to_host", None, out.to_host),
        ("copy_from", None, lambda: out.copy_from([0])),
    )
    for number, (name, on, wait) in enumerate(waits, 21):
        print(f"python {number} before {name}")
        launch(number, on)
        wait()
        print(f"python {number} after {name}")
    launch(99, None)  # nobody waits for this one


def on_the_fake() -> None:
    """With the fake driver."""
    from teeny_cuda.testing import fake_driver, write_artifact

    libc = ctypes.CDLL(None)
    with fake_driver() as fake, tempfile.TemporaryDirectory() as folder:

        def body(run: Any) -> None:
            number = int.from_bytes(run.params[1], "little")
            libc.printf(b"kernel %d\n", ctypes.c_int(number))

        fake.kernels["say_entry_point"] = body
        device = Device(0)
        params = [("out", "pointer", "i32"), ("number", "scalar", "i32")]
        program = device.load(write_artifact(Path(folder), FAKE_PTX, "say", params))
        out = device.buffer(1, "i32")
        turns(device, lambda n, on: device.launch(program, 1, [out, n], stream=on), out)


def on_the_gpu() -> None:
    """With the GPU."""
    device = Device(0)
    out = device.buffer(1, "i32")
    turns(device, lambda n, on: say.on(1, stream=on)(out, n), out)


if __name__ == "__main__":
    on_the_fake() if "fake" in sys.argv else on_the_gpu()
