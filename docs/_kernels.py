"""The page of the kernel library, from the specs of its operations."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from teeny_kernels.registry import specs
from teeny_kernels.spec import FLOATS, KernelSpec

PAGE = "kernel-library.md"
SPEEDS = Path(__file__).parent / "data" / "kernel_speeds.json"

_HEAD = """\
Operations of `teeny_kernels` take NumPy arrays on the CPU, and torch, CuPy and JAX arrays and this
project's buffers on a GPU; results come in the kind of the inputs. Names, defaults and meanings are
PyTorch's where it has the operation. The backward of an operation is a function of its own. Inputs
are never changed, any strides will do, and wrong arguments are refused with a code before anything
is launched.

Arrays may have any number of elements, and their elements may lie as far apart as memory allows. A
single side of what is padded, pooled, convolved, sampled or upsampled is below 2^31, as is the
number of rows that a softmax, a norm or `cross_entropy` goes through: beyond that, `E1010` or
`E1060`, the limit of the device, says so.

```py
import numpy as np
import teeny_kernels as tk

x = np.linspace(-2, 2, 12, dtype=np.float32).reshape(3, 4)
y = tk.softmax(x, axis=-1)
print(y.sum(axis=-1))
```

```text
[1. 1. 1.]
```

An axis is called `axis`, and `dim` as PyTorch calls it does as well, as does `keepdim` for
`keepdims`. A wrong option is named, with what it takes:

```py
from teeny_kernels.codes import KernelError

try:
    tk.topk(x, k=1.5, dim=0)
except KernelError as error:
    print(error)
```

```text
error[E1204]: topk: `k` cannot be `1.5`
  = help: give an integer of 64 bits
  = help: teenyc --explain E1204
```

An axis is called `axis`, and `dim` as PyTorch calls it does as well, as does `keepdim` for
`keepdims`. A wrong option is named, with what it takes:

```py
from teeny_kernels.codes import KernelError

try:
    tk.topk(x, k=1.5, dim=0)
except KernelError as error:
    print(error)
```

```text
error[E1204]: topk: `k` cannot be `1.5`
  = help: give an integer of 64 bits
  = help: teenyc --explain E1204
```

## What is checked

Every operation below goes through the same tests, over all its cases and dtypes: shapes from zero
and one element to odd and large ones, special values, ties, large means.

| check | on | against |
|---|---|---|
| result and gradients | CPU target, GPU | a NumPy reference in f64, with a bound in roundings |
| result and gradients | CPU target | PyTorch's own function in f64 |
| gradients | CPU target, f64 | central differences of the operation itself |
| other strides | CPU target | the bits that contiguous arrays give |
| more than 2^31 elements | GPU | the same operation on few of them |
| elements more than 2^31 apart | CPU target, GPU | the bits that contiguous arrays give |
| a second run | CPU target, GPU | the same bits |
| inputs | CPU target, GPU | unchanged |
| every access | CPU target, f32 | lies in the arrays given (bounds checks) |
| the tests | CPU target | hundreds of kernels made a little wrong are caught (`nox -s mutate`) |

## In PyTorch's graph

The functions of `teeny_kernels` know no graph: their results carry no gradient back, and nothing
says so. Those of `teeny_kernels.autograd` are the same with gradients through PyTorch's autograd,
on tensors of the CPU or a GPU:

```text
from teeny_kernels import autograd as tka

hidden = tka.layer_norm(x, (768,), weight, bias)
loss = tka.cross_entropy(hidden @ vocabulary, target)
loss.backward()                                        # runs layer_norm_backward and the like
```

`torch.compile` runs both as written: it traces up to the call, and begins anew behind it. Kernels
of your own, launched by `kernel[grid](...)`, are treated the same.
"""


def kernel_library(note: str) -> str:
    """The text of the page; `note` says that it is generated."""
    lines = ["# The kernel library\n", note, _HEAD, "## Operations\n"]
    families: dict[str, list[KernelSpec]] = {}
    for spec in specs().values():
        families.setdefault(spec.family, []).append(spec)
    for family, members in families.items():
        lines += [
            f"### {family.capitalize()}\n",
            "| operation | formula | PyTorch | gradients | dtypes | error of a result |",
            "|---|---|---|---|---|---|",
        ]
        lines += [_row(spec) for spec in sorted(members, key=lambda own: own.name)]
        lines.append("")
    lines += _checks()
    lines += _speeds()
    lines += ["## Functions\n"]
    for spec in sorted(specs().values(), key=lambda own: own.name):
        lines += _function(spec.function)
    return "\n".join(lines)


def _checks() -> list[str]:
    """Which operation goes through which check on which target."""
    heads = (
        "operation", "cases x dtypes", "result: CPU, GPU", "gradients: CPU, GPU",
        "differences: CPU", "PyTorch: CPU", "strides: CPU", "second run: CPU, GPU", "accesses: CPU",
    )  # fmt: skip
    lines = ["## Checks by operation\n", "| " + " | ".join(heads) + " |", "|---" * len(heads) + "|"]
    for spec in sorted(specs().values(), key=lambda own: own.name):
        gradient = "yes" if spec.backward and spec.backward_reference else "–"
        cells = (
            f"`{spec.name}`", f"{len(spec.cases)} x {len(spec.dtypes)}", "yes", gradient,
            "yes" if spec.backward else "–", "yes" if spec.torch else "–", "yes",
            "yes" if spec.exact is True else f"{spec.exact}", "yes",
        )  # fmt: skip
        lines.append("| " + " | ".join(cells) + " |")
    return [*lines, ""]


def _speeds() -> list[str]:
    """What `benchmarks/bench_kernels.py` measured, from the file that it wrote."""
    if not SPEEDS.is_file():
        return []
    found = json.loads(SPEEDS.read_text(encoding="utf-8"))
    lines = [
        "## Speed\n",
        f"On an {found['gpu']}, beside PyTorch {found['torch']}, by `benchmarks/bench_kernels.py`:",
        "medians of CUDA graphs, the L2 cache flushed before each. A copy of 512 MiB moves",
        f"{found['copy'] / 1e12:.2f} TB/s there. `of the best` is our time over the least of the",
        "peers' measured in the same run: PyTorch eager (autograd for gradients, which no graph",
        "captures), mostly `torch.compile` too, Liger's kernels where it has the operation, twins",
        "in Triton of rows, attention and products; for optimizers PyTorch's `foreach` and",
        "`fused`. Below 1 is quicker. What was made faster later was measured again beside eager",
        "and autograd; its other peers are of before. PyTorch's gradient of a sum is a view of",
        "what it is given, ours an array: those are not compared.\n",
        *_slower(found["rows"]),
        "| operation | dtype | inputs | µs | TB/s or TFLOP/s | of the copy | of the best |",
        "|---|---|---|---|---|---|---|",
    ]
    for row in sorted(found["rows"], key=lambda own: (own["name"], own["part"] != "forward")):
        name = _named(row)
        speed = share = ""
        if row["part"] == "forward" and row["flops"] > 100 * row["bytes"]:
            speed = f"{row['flops'] / row['ours'] / 1e6:.0f} TFLOP/s"
        elif row["part"] == "forward" and row["bytes"]:
            rate = row["bytes"] / row["ours"] * 1e6
            speed, share = f"{rate / 1e12:.2f} TB/s", f"{rate / found['copy']:.2f}"
        ratio = f"{_ratio(row):.2f}" if _ratio(row) else ""
        cells = (f"`{name}`", row["dtype"], row["case"], f"{row['ours']:.1f}", speed, share, ratio)
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return [*lines, ""]


def _named(row: dict[str, Any]) -> str:
    return str(row["name"]) + ("" if row["part"] == "forward" else "_backward")


def _ratio(row: dict[str, Any]) -> float:
    """Our time over the quickest peer's; 0 where none does the same."""
    views = row["name"] == "reduce_sum" and row["part"] == "backward"
    return 0.0 if views else row["ratio"]


def _slower(rows: list[dict[str, Any]]) -> list[str]:
    """What is slower than a peer by more than 2 %, the slowest first."""
    late = sorted((own for own in rows if _ratio(own) > 1.02), key=lambda own: -own["ratio"])
    listed = ", ".join(f"`{_named(own)}` {own['dtype']} {own['ratio']:.2f}" for own in late)
    return [f"Slower than a peer by more than 2 %: {listed or 'nothing'}.\n"]


def _row(spec: KernelSpec) -> str:
    dtypes = "floats" if spec.dtypes == FLOATS else ", ".join(f"`{own}`" for own in spec.dtypes)
    gradients = "yes" if spec.backward is not None else "none"
    torch = f"`{spec.torch_name.removeprefix('torch.')}`" if spec.torch_name else ""
    error = f"{spec.tolerance.ulps:g} ulp: {spec.tolerance.reason}"
    cells = [f"`{spec.name}`", f"`{spec.formula}`", torch, gradients, dtypes, error]
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _function(function: Callable[..., Any]) -> list[str]:
    signature = inspect.signature(function)
    parameters = [
        own.replace(annotation=inspect.Parameter.empty) for own in signature.parameters.values()
    ]
    plain = signature.replace(parameters=parameters, return_annotation=inspect.Signature.empty)
    text = inspect.getdoc(function) or ""
    return [f"`{function.__name__}{plain}`\n", f": {text.splitlines()[0]}\n"]
