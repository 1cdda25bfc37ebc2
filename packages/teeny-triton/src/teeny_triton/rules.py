"""The decorators of the DSL text. They mark a function as kernel-only and carry its typing rules.

The rules are strings for the stub generator, which reads them from the text; nothing looks at them
here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from teeny_triton.codes import E0011

if TYPE_CHECKING:
    from collections.abc import Callable

    Decorator = Callable[[Callable[..., object]], "DslFunction"]


class DslFunction:
    """A function of the kernel language, seen from the host: a name, a signature and a docstring.

    Raises:
        CaptureError: E0011 when it is called outside a kernel.
    """

    def __init__(self, function: Callable[..., object]) -> None:
        self.__module__ = "teeny_triton"
        self.__name__ = function.__name__
        self.__qualname__ = function.__name__
        self.__doc__ = function.__doc__
        self.__wrapped__ = function

    def __call__(self, *_args: object, **_kwargs: object) -> Any:
        name = self.__name__
        raise E0011.error(name=name).help(
            f"call `{name}` from a function that `@kernel` or `@device` captures"
        )

    def __repr__(self) -> str:
        return f"<kernel function teeny_triton.{self.__name__}>"


class HostFunction(DslFunction):
    """A function of the kernel language whose body means the same on the host."""

    def __call__(self, *args: object, **kwargs: object) -> Any:
        return self.__wrapped__(*args, **kwargs)


def _mark(function: Callable[..., object]) -> DslFunction:
    return function if isinstance(function, DslFunction) else DslFunction(function)


def rule(*, k: tuple[int, ...] = (), returns: str = "None", **parameters: str) -> Decorator:
    """One overload: a type for each parameter and the result; `k` repeats it for several ranks."""
    del k, returns, parameters
    return _mark


def elementwise(bound: str) -> Decorator:
    """A function of one argument, tensor or scalar, whose elements are within `bound`."""
    del bound
    return _mark


def binary(function: Callable[..., object]) -> DslFunction:
    """A function of two numbers of one dtype, tensors or scalars, and its flags."""
    return _mark(function)


def reduction(result: str = "", **small: str) -> Decorator:
    """A reduction over an axis; `small` names the result's dtype for groups of narrow dtypes.

    `result` is the dtype that every element type gives.
    """
    del result, small
    return _mark


def indices(**wider: str) -> Decorator:
    """A reduction that gives (value, index) with `return_indices=True`; `wider` as in reduction."""
    del wider
    return _mark


def on_host(function: Callable[..., object]) -> HostFunction:
    """The body is also plain Python: the function may be called outside a kernel."""
    return HostFunction(_mark(function).__wrapped__)
