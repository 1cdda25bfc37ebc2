"""PyTorch's optimizers as peers of the library's steps: the step alone, its state made before.

`foreach` is PyTorch's default on a GPU, `fused` its kernel for a whole step where it has one. They
keep their step count on the GPU where they can, as a CUDA graph asks.
"""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_FORMS = ("foreach", "fused")


def steps(
    torch_name: str, inputs: list[Any], options: Mapping[str, Any]
) -> dict[str, Callable[[], object]]:
    """`foreach` and `fused` steps of `torch.optim.NAME` for the first two arrays."""
    kind = getattr(torch.optim, torch_name.rpartition(".")[2], None)
    if kind is None:
        return {}
    taken = inspect.signature(kind.__init__).parameters
    given = {name: value for name, value in options.items() if name in taken}
    found: dict[str, Callable[[], object]] = {}
    for form in _FORMS if "foreach" in taken else ("eager",):
        if form not in taken and form != "eager":
            continue
        chosen = given | ({form: True} if form in taken else {})
        if "capturable" in taken and form != "fused":
            chosen["capturable"] = True
        own = torch.nn.Parameter(inputs[0].clone())
        own.grad = inputs[1].clone()
        optimizer = kind([own], **chosen)
        optimizer.step()  # makes the state
        found[form] = optimizer.step
    return found
