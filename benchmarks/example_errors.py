"""The largest error of every example in every dtype, and of its bound.

`--device cpu|cuda|interpret` chooses where. Runs the cases of the tests (`tests/example_cases.py`)
and prints, for each example and dtype, the largest absolute error beside the size of the result
there, and the largest share of the bound used.
"""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "examples")]


def pick_device(name: str) -> Any:
    """The device called `name`."""
    from teeny_macros import devices

    os.environ["TEENY_DEVICE"] = name
    return devices.device(name)


def main() -> None:
    """Run and print."""
    cases = importlib.import_module("example_cases")

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="cpu", choices=("cpu", "cuda", "interpret"))
    device = pick_device(parser.parse_args().device)
    worst: dict[tuple[str, str], tuple[float, float, float]] = defaultdict(lambda: (0.0, 0.0, 0.0))
    for case in cases.all_cases():
        module = importlib.import_module(case.example)
        arrays = cases.inputs(case)
        out = np.asarray(module.run(device, *arrays, case.dtype)).astype(np.float64)
        if out.size == 0:
            continue
        right = module.reference(*arrays).astype(cases.NUMPY[case.out]).astype(np.float64)
        bound = module.tolerance(*arrays, cases.EPS[case.out], cases.TINY[case.out])
        with np.errstate(invalid="ignore"):
            error = np.where(out == right, 0.0, np.abs(out - right))
        at = np.unravel_index(int(error.argmax()), error.shape)
        share = float(np.max(np.where(error == 0, 0.0, error / np.maximum(bound, 1e-320))))
        key = (case.example, case.dtype)
        old = worst[key]
        largest = (float(error[at]), float(abs(right[at])))
        worst[key] = (*(largest if largest[0] > old[0] else old[:2]), max(share, old[2]))
    print("example      dtype largest error  of a value of its bound")
    for (example, dtype), (error_, value, share) in worst.items():
        print(f"{example:<12} {dtype:<5} {error_:>13.3g} {value:>11.3g} {share:>12.3f}")


if __name__ == "__main__":
    main()
