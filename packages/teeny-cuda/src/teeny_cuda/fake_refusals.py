"""What a real driver refused, and how that is recorded: `python -m teeny_cuda.fake_refusals`.

`fake_refusals.json` holds the answers of one driver to every trial; the fake driver has to give the
same ones.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from teeny_cuda import fake_refused_launches, fake_refused_memory
from teeny_cuda.driver import bindings
from teeny_cuda.fake_probe import KERNELS, TRIALS, Probe

RECORDED = Path(__file__).with_suffix(".json")
_MODULES = (fake_refused_launches, fake_refused_memory)  # they add the trials
_WORKERS = 8
_SECONDS = 60


def answer(api: Any, name: str) -> list[int]:
    """The results of one trial."""
    found = TRIALS[name]
    probe = Probe(api)
    if found.started:
        probe.start()
    try:
        numbers = found.run(probe)
    finally:
        while not int(api.cuCtxGetCurrent()[0]) and int(api.cuCtxGetCurrent()[1]):
            api.cuCtxPopCurrent()
    return [numbers] if isinstance(numbers, int) else list(numbers)


def recorded() -> dict[str, Any]:
    """The answers of the driver that was recorded."""
    found: dict[str, Any] = json.loads(RECORDED.read_text(encoding="utf-8"))
    return found


def _apart(name: str) -> list[int] | str:
    """The results of a trial in a process of its own, or how the process ended."""
    done = subprocess.run(
        [sys.executable, "-m", "teeny_cuda.fake_refusals", "--one", name],
        capture_output=True,
        text=True,
        check=False,
        timeout=_SECONDS,
    )
    if done.returncode < 0:
        return f"signal {-done.returncode}"
    try:
        numbers: list[int] = json.loads(done.stdout.strip().splitlines()[-1])
    except (ValueError, IndexError):
        return f"error: {done.stderr.strip()[-300:]}"
    return numbers


def _limits(api: Any) -> dict[str, Any]:
    """What the driver says of itself, its first GPU and the trials' kernels."""
    probe = Probe(api).start()
    names = [member for member in api.CUdevice_attribute if not member.name.endswith("_MAX")]
    device = {}
    for member in names:
        if not probe.attempt("cuDeviceGetAttribute", member, probe.device):
            device[member.name.removeprefix("CU_DEVICE_ATTRIBUTE_")] = int(probe.value)
    functions: dict[str, dict[str, int]] = {}
    for kernel in KERNELS:
        function = probe.function(kernel)
        row = functions[kernel] = {}
        for member in api.CUfunction_attribute:
            if not member.name.endswith("_MAX") and not probe.attempt(
                "cuFuncGetAttribute", member, function
            ):
                row[member.name.removeprefix("CU_FUNC_ATTRIBUTE_")] = int(probe.value)
    version = int(probe.must("cuDriverGetVersion"))
    name = bytes(probe.must("cuDeviceGetName", 256, probe.device)).partition(b"\0")[0].decode()
    priorities = [int(number) for number in probe.must("cuCtxGetStreamPriorityRange")]
    probe.must("cuCtxPopCurrent")
    return {
        "schema": 1,
        "driver": version,
        "gpu": name,
        "priorities": priorities,
        "device": device,
        "functions": functions,
    }


def record() -> dict[str, Any]:
    """All answers of the driver of this machine."""
    from concurrent.futures import ThreadPoolExecutor

    api = bindings()
    with ThreadPoolExecutor(_WORKERS) as pool:
        apart = {name: pool.submit(_apart, name) for name, row in TRIALS.items() if row.alone}
        answers: dict[str, Any] = {name: future.result() for name, future in apart.items()}
    found = _limits(api)
    for name, row in TRIALS.items():
        if not row.alone:
            try:
                answers[name] = answer(api, name)
            except Exception as error:  # noqa: BLE001 - recorded, so that the others are too
                answers[name] = f"error: {type(error).__name__}: {error}"
    return {**found, "answers": {name: answers[name] for name in TRIALS}}


def main(arguments: list[str]) -> None:
    """`--one NAME` prints the results of a trial, `--out FILE` records all."""
    option, value = arguments
    if option == "--one":
        sys.stdout.write(json.dumps(answer(bindings(), value)) + "\n")
        return
    Path(value).write_text(json.dumps(record(), indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
