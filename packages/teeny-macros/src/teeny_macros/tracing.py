"""Launches inside functions that `torch.compile` traces: they are run, never traced.

PyTorch's tracer follows calls into Python code with tensors that have no memory; here they would
be read. Marked functions end a traced stretch, run as written, and a new stretch begins behind
them. Nothing of PyTorch is imported.
"""

from __future__ import annotations

import sys
from functools import update_wrapper
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

P = ParamSpec("P")
T = TypeVar("T")


def untraced(function: Callable[P, T]) -> Callable[P, T]:
    """`function`, which no tracer looks into, nor into what it calls."""
    inner: list[Callable[P, T]] = []

    def call(*args: P.args, **kwargs: P.kwargs) -> T:
        if "torch._dynamo" not in sys.modules:
            return function(*args, **kwargs)
        if not inner:
            disable: Any = sys.modules["torch"].compiler.disable
            disable(call, recursive=False)  # or every call of this would be looked at anew
            inner.append(disable(function))
        return inner[0](*args, **kwargs)

    update_wrapper(call, function)
    # What `torch.compiler.disable` sets: the tracer does not follow a call of this.
    call._torchdynamo_disable = True  # type: ignore[attr-defined] # noqa: SLF001
    return call
