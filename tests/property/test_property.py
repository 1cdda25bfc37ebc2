"""A few hundred random kernels; `run.py` runs as many as one likes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import libdevice_cases
import pytest
import targets
from cases import Argument, Case
from coverage_list import LEFT_OUT, WRITTEN, operations
from generator import make
from mutations import check_mutant, mutant
from shrink import shrink
from singles import COUNT, single
from targets import check

HOST = ["interp", "cpu"]
CHUNK = 15
RIGHT = targets.RUNNERS["interp"]


@pytest.mark.parametrize("chunk", range(10))
def test_random_kernels_leave_what_their_numpy_reading_leaves(chunk: int) -> None:
    for seed in range(chunk * CHUNK, (chunk + 1) * CHUNK):
        assert check(make(seed), HOST).failures == (), make(seed).text


@pytest.mark.parametrize("part", range(4))
def test_single_operations_are_exact_or_within_their_ulp(part: int) -> None:
    for number in range(part, COUNT, 24):
        assert check(single(number), HOST).failures == (), single(number).text


@pytest.mark.parametrize("chunk", range(3))
def test_a_kernel_with_faults_compiles_or_gets_coded_errors_in_it(chunk: int) -> None:
    for seed in range(chunk * 40, (chunk + 1) * 40):
        assert check_mutant(mutant(seed)).failures == (), mutant(seed).text


@pytest.mark.gpu
@pytest.mark.parametrize("chunk", range(4))
def test_random_kernels_leave_the_same_on_a_gpu(chunk: int) -> None:
    for seed in range(chunk * CHUNK, (chunk + 1) * CHUNK):
        assert check(make(seed), ["cuda"]).failures == (), make(seed).text


@pytest.mark.gpu
@pytest.mark.parametrize("part", range(4))
def test_single_operations_are_within_their_ulp_on_a_gpu(part: int) -> None:
    for number in range(part, COUNT, 24):
        assert check(single(number), ["cuda"]).failures == (), single(number).text


@pytest.mark.parametrize("part", range(3))
def test_functions_of_libdevice_are_those_of_the_interpreter(part: int) -> None:
    for number in range(part, libdevice_cases.COUNT, 12):
        case = libdevice_cases.LibdeviceCase(number)
        assert check(case, ["cpu"]).failures == (), case.text


@pytest.mark.gpu
@pytest.mark.parametrize("part", range(4))
def test_functions_of_libdevice_are_those_of_the_interpreter_on_a_gpu(part: int) -> None:
    found = {}
    for number in range(part, libdevice_cases.COUNT, 4):
        case = libdevice_cases.LibdeviceCase(number)
        for failure in check(case, ["cuda"]).failures:
            found[f"{case.name} {libdevice_cases.forms()[number][1].operands}"] = failure.text
    assert found == {}


def test_a_wrong_number_is_found_and_its_kernel_made_small(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def wrong(case: Case, arrays: list[Any]) -> None:
        RIGHT(case, arrays)
        if "tl.maximum(" in case.text:
            arrays[-1].reshape(-1)[0] ^= 1

    text = (
        "def k(n, a_ptr, w_ptr):\n    o = tl.arange(0, 16)\n    x = tl.load(a_ptr + o)\n"
        "    if n > 2:\n        x = x + 1\n    y = (x * 3)\n    z = tl.maximum(y, x)\n"
        "    q = tl.sum(y)\n    tl.store(w_ptr + o, z)\n"
    )
    arguments = [Argument("n", "i32", number=3), Argument("a_ptr", "i32", 16, "wild")]
    case = Case(5, text, [*arguments, Argument("w_ptr", "i32", 16)], {})
    assert check(case, ["interp"]).failures == ()
    monkeypatch.setitem(targets.RUNNERS, "interp", wrong)
    (failure,) = check(case, ["interp"]).failures
    assert (failure.kind, failure.target) == ("differs", "interp")
    assert "w_ptr[0]" in failure.text
    small = shrink(case, failure)
    assert len(small.text.splitlines()) < 7
    assert "tl.maximum(" in small.text
    small.write(tmp_path / "small.py", failure.text)
    found = subprocess.run(
        [sys.executable, tmp_path / "small.py"], capture_output=True, check=False
    )
    assert found.returncode == 0, found.stderr.decode()  # the fault was planted in this process


def test_every_function_of_the_language_is_drawn_or_left_out_for_a_reason() -> None:
    from teeny_triton._surface import MODULES

    known = operations() | set(WRITTEN) | set(LEFT_OUT)
    libdevice = ("libdevice", "libdevice_bits", "libdevice_convert", "libdevice_rounding")
    kinds = (*libdevice, "dtypes", "types", "enums", "target")
    missing = {name for name, module in MODULES.items() if module not in kinds} - known
    assert missing == set()
