"""Runs examples from a bundle where nothing can compile: `python run_bundle.py FILE DEVICE`.

Prints how many cases ran, how many programs came from the bundle, and how many did not. The
compiler's packages must be absent, or are made so with `--hide`.
"""

from __future__ import annotations

import sys
import time
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

COMPILERS = ("teenyc", "teeny_compiler", "triton")
EXAMPLES = Path(__file__).parents[1] / "examples"
EPS = {"f16": 2.0**-10, "f32": 2.0**-23}
TINY = {"f16": 2.0**-24, "f32": 2.0**-126}


def cases(np: Any) -> list[tuple[str, str, tuple[Any, ...]]]:
    """The example, its dtype, and its inputs."""
    rng = np.random.default_rng(0)
    kinds = {"f16": np.float16, "f32": np.float32}

    def random(dtype: str, *shape: int) -> Any:
        return rng.standard_normal(shape).astype(kinds[dtype])

    found: list[tuple[str, str, tuple[Any, ...]]] = []
    for dtype in ("f16", "f32"):
        vectors = [random(dtype, 2, n) for n in (1, 16, 1023, 1024, 1025, 2**20 + 3)]
        found += [("vector_add", dtype, (x, y)) for x, y in vectors]
        tables = [random(dtype, 33, columns) for columns in (1, 127, 128, 1009, 4096)]
        found += [("softmax", dtype, (table,)) for table in tables]
    for columns in (127, 128, 1009):
        x, weight, bias = (
            random("f32", *shape) for shape in ((33, columns), (columns,), (columns,))
        )
        found.append(("layer_norm", "f32", (x, weight, bias)))
    for m, k, n in ((65, 251, 63), (512, 512, 512)):
        found.append(("matmul", "f16", (random("f16", m, k), random("f16", k, n))))
    return found


def main() -> None:
    """Run every case, compare it with its reference, and print the counts."""
    path, device_name, *options = sys.argv[1:]
    if "--hide" in options:
        for name in COMPILERS:
            sys.modules[name] = None  # type: ignore[assignment]
    else:
        assert [name for name in COMPILERS if find_spec(name)] == [], "a compiler is installed"
    import numpy as np

    from teeny_macros import bundle

    sys.path.insert(0, str(EXAMPLES))
    found = bundle.load(path)
    kind = device_name.partition(":")[0]
    device = import_module(f"teeny_{kind}.provider").PROVIDER.device(device_name)
    start = time.perf_counter()
    ran = 0
    for name, dtype, inputs in cases(np):
        example = import_module(name)
        out = example.run(device, *inputs, dtype)
        expected = example.reference(*inputs).astype(out.dtype).astype(np.float64)
        error = np.abs(out.astype(np.float64) - expected)
        bound = example.tolerance(*inputs, EPS[dtype], TINY[dtype])
        assert (error <= bound).all(), (name, dtype, [x.shape for x in inputs], error.max())
        ran += 1
    seconds = time.perf_counter() - start
    assert not {name for name in COMPILERS if sys.modules.get(name)}
    print(
        f"{ran} cases, {found.hits} hits, {found.misses} misses, {seconds:.2f} s on {device_name}"
    )


if __name__ == "__main__":
    main()
