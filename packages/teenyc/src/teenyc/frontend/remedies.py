"""The next step of faults that were raised without one, and of names that come from elsewhere.

A message without a next step is no help; most are given where the fault is found, the rest here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from teeny_macros.diagnostics import Diagnostic

_CONST = "make it a literal or a `Const` parameter"
_BY_CODE = {
    "E0101": "correct it there; Python itself reads the text no further",
    "E0102": "leave it out: a kernel is assignments, calls, branches and loops",
    "E0103": "leave it out: a kernel is assignments, calls, branches and loops",
    "E0104": "assign to a name, or to a tuple of names",
    "E0106": "operators take numbers, scalars and tensors",
    "E0107": "give parts of the expression names of their own",
    "E0108": "loop with `range` or `tl.range`, which run on the device",
    "E0109": "compute it on the host, and pass it as a `Const` parameter",
    "E0110": "use what it stands for: call a function, take a part of a module",
    "E0199": "leave it out, or write it with the operations that there are",
    "E0201": "define or import it in the file of the kernel, or pass it as an argument",
    "E0202": "the page of operations lists functions and methods",
    "E0203": "a kernel calls operations, and helpers marked with `@device`",
    "E0208": "compute it on the host, or write it with operations of the language",
    "E0207": "leave one of the two out",
    "E0210": _CONST,
    "E0212": "write as many names as there are values",
    "E0213": "capture the kernel again with `@kernel`",
    "E0214": "capture the kernel again with `@kernel`",
}

# Names of CUDA, of NumPy and of PyTorch, and what a kernel has in their place.
_THREADS = "there are no threads here: a program has `tl.program_id(0)` and `tl.arange(0, BLOCK)`"
_LIBRARY = "its functions do not run in a kernel: the language has its own, such as `tl.exp`"
NAMES = {
    **dict.fromkeys(("threadIdx", "blockIdx", "blockDim", "gridDim", "warpSize"), _THREADS),
    **dict.fromkeys(("np", "numpy", "math", "torch", "jnp", "cp", "cupy"), _LIBRARY),
    "triton": "import the language instead: `import teeny_triton as tl`",
    "logical_and": "use `&`, with each side in parentheses",
    "logical_or": "use `|`, with each side in parentheses",
    "syncthreads": "use `tl.debug_barrier()`; a kernel rarely needs one",
}
_POINTER = "reading and writing are functions: `tl.load(pointer)`, `tl.store(pointer, value)`"
ATTRIBUTES = {
    "mean": "divide the sum: `tl.sum(x, axis) / n`",
    "var": "take the mean of the squares: `tl.sum((x - mean) * (x - mean), axis) / n`",
    "std": "take the root of the variance: `tl.sqrt(variance)`",
    "relu": "use `tl.maximum(x, 0)`",
    "prod": "use `tl.reduce` with a function that multiplies",
    "any": "use `tl.reduce_or(x, axis)`",
    "all": "use `tl.min(x.to(i32), axis)`",
    "size": "use `x.numel`",
    "ndim": "use `len(x.shape)`",
    "astype": "use `x.to(dtype)`",
    "float": "use `x.to(f32)`",
    "int": "use `x.to(i32)`",
    "half": "use `x.to(f16)`",
    "clip": "use `tl.clamp(x, min, max)`",
    "clamp_": "use `tl.clamp(x, min, max)`",
    "matmul": "use `tl.dot(x, y)`",
    "power": "multiply, or use `tl.exp2(y * tl.log2(x))`",
    "concatenate": "use `tl.cat(x, y)`, or `tl.join(x, y)` along a new side",
    "stack": "use `tl.join(x, y)`",
    "append": "a tensor keeps its shape: `tl.join(x, y)` makes a new one",
    "copy": "nothing shares memory here: `x` is a value",
    "load": _POINTER,
    "format": "write an f-string: `f'{N}'`",
}


def complete(diagnostics: Iterable[Diagnostic]) -> None:
    """Give every fault that has no next step the one of its code."""
    for diagnostic in diagnostics:
        remedy = _BY_CODE.get(diagnostic.code)
        if not diagnostic.helps and remedy is not None:
            diagnostic.helps.append(remedy)
