"""Times of examples under Triton's own interpreter, printed as JSON.

A process of its own, because `TRITON_INTERPRET=1` must be set before Triton is imported.
"""

from __future__ import annotations

import itertools
import json
import os
import time
from functools import partial
from pathlib import Path
from typing import Any

os.environ["TRITON_INTERPRET"] = "1"

import torch
from triton.runtime import interpreter
from triton_peer import load

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"


def allow_new_numpy() -> None:
    """Let Triton 3.6 count loops: NumPy from 2.4 on makes no number of an array of one."""
    patch = interpreter._patch_lang_tensor  # noqa: SLF001

    def patched(tensor: Any, scope: Any) -> None:
        patch(tensor, scope)
        scope.set_attr(tensor, "__index__", lambda self: int(self.handle.data.item()))

    interpreter._patch_lang_tensor = patched  # noqa: SLF001


def seconds(launch: Any) -> float:
    """The shortest of the launches of two seconds, of two at least."""
    best, end = float("inf"), time.perf_counter() + 2
    for at in itertools.count():
        if at >= 2 and time.perf_counter() > end:
            break
        start = time.perf_counter()
        launch()
        best = min(best, time.perf_counter() - start)
    return best


def main() -> None:
    """Measure what `cpu_costs.interpreter` measures of ours, on the same sizes."""
    torch.set_num_threads(1)
    allow_new_numpy()
    n = 1 << 16
    x, y, out = torch.randn(n), torch.randn(n), torch.empty(n)
    add = load(EXAMPLES / "vector_add.py").vector_add
    found = {"add": seconds(lambda: add[(n // 1024,)](x, y, out, n, BLOCK_SIZE=1024))}
    assert torch.equal(out, x + y)
    rows = torch.randn(64, 1024)
    result = torch.empty(64, 1024)
    softmax = load(EXAMPLES / "softmax.py").softmax_rows
    found["softmax"] = seconds(lambda: softmax[(64,)](result, rows, 1024, BLOCK_SIZE=1024))
    assert torch.allclose(result, torch.softmax(rows, 1), atol=1e-5)
    a, b, c = torch.randn(256, 256), torch.randn(256, 256), torch.empty(256, 256)
    matmul = load(EXAMPLES / "matmul.py").matmul
    for name, side in (("matmul", 64), ("matmul 32", 32)):
        blocks = {"BLOCK_M": side, "BLOCK_N": side, "BLOCK_K": 32, "GROUP": 8}
        launch = partial(matmul[((256 // side) ** 2,)], a, b, c, 256, 256, 256, **blocks)
        found[name] = seconds(launch)
        assert torch.allclose(c, a @ b, atol=1e-3)
    print(json.dumps(found))


if __name__ == "__main__":
    main()
