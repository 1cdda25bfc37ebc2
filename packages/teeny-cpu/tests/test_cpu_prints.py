"""What compiled programs print is what the interpreter prints."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import teeny_triton as tl
from teeny_macros import kernel
from teeny_triton import Const, Ptr, f32, i32


@kernel
def talk(x_ptr: Ptr[f32], n: i32 | int, BLOCK: Const[int]) -> None:
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=-1.5)
    tl.device_print("begin")
    tl.device_print("x", x)
    tl.device_print("both", i, x > 0.0)
    tl.device_print("n", n)
    total = tl.sum(x, axis=0)
    tl.device_print("total", total)
    tl.device_print("hex", i - 2, hex=True)
    tl.device_print("low", i.to(tl.uint8) - 3)
    tl.device_print("halves", x.to(tl.float16), x.to(tl.float64))
    for k in range(2):
        tl.device_print("turn", k)
        if n > 2:
            tl.device_print("moved", x + k)
    tl.device_print("table", tl.trans(tl.reshape(x, (2, BLOCK // 2))))
    tl.store(x_ptr + i, x, mask=i < n)


@kernel
def name(BLOCK: Const[int]) -> None:
    i = tl.arange(0, BLOCK)
    tl.device_print("at", i + tl.program_id(0))
    tl.device_print("program", tl.program_id(0), tl.program_id(1))


def printed(device: str, capfd: Any, launch: Any) -> str:
    capfd.readouterr()
    launch(device)
    out: str = capfd.readouterr().out
    return out


def test_a_program_prints_what_the_interpreter_prints(capsys: Any) -> None:
    x = np.array([0.5, -2.25, 1e10, np.nan, 3, 0, 0, 9], np.float32)

    def launch(device: str) -> None:
        talk.on(1, device=device)(x, 6, BLOCK=8)

    wanted = printed("interpret", capsys, launch)
    assert wanted.count("\n") > 80
    assert printed("cpu", capsys, launch) == wanted


@pytest.mark.parametrize("programs", [(3, 2), (40, 1)])
def test_each_program_prints_in_order(programs: tuple[int, int], capsys: Any) -> None:
    def launch(device: str) -> None:
        name.on(programs, device=device)(BLOCK=4)

    wanted = printed("interpret", capsys, launch)
    found = printed("cpu", capsys, launch)

    def by_program(text: str) -> dict[str, list[str]]:
        lines: dict[str, list[str]] = {}
        for line in text.splitlines():
            lines.setdefault(line.partition(")")[0], []).append(line)
        return lines

    assert by_program(found) == by_program(wanted)
