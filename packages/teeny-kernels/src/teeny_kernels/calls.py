"""Calls that are alike are planned once: what is left of a later one is to allocate and launch.

A plan is a function of the arrays of a call, found by all that decides how they are launched but
not by where they lie. Tensors of torch have plans; other arrays are looked at in every call.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_MOST = 512
# `torch.Tensor` and `torch.nn.Parameter`, once torch is there: subclasses may mean anything.
KINDS: set[type] = set()
_strided: list[Any] = []


class Plans:
    """The plans of one operation."""

    __slots__ = ("_known",)

    def __init__(self) -> None:
        self._known: dict[Any, Callable[..., Any]] = {}

    def find(self, key: Any) -> Callable[..., Any] | None:
        """The plan of calls with this key; None where there is none."""
        return None if key is None else self._known.get(key)

    def keep(self, key: Any, plan: Callable[..., Any]) -> None:
        """Use a plan for calls with this key from here on."""
        if key is None:
            return
        if len(self._known) >= _MOST:
            self._known.clear()
        self._known[key] = plan

    def clear(self) -> None:
        """Forget all plans."""
        self._known.clear()


def key_of(arrays: Sequence[Any], *rest: Any) -> Any:
    """What calls that are alike have in common; None for one that has to be looked at.

    `arrays` are tensors or None, `rest` numbers, texts, tuples of numbers: 1, 1.0 and True differ.
    """
    found: list[Any] = []
    for array in arrays:
        if array is None:
            found.append(None)
            continue
        kind: type[Any] = type(array)  # pyright: ignore[reportUnknownVariableType]
        if kind not in KINDS and not _is_plain(kind):
            return None
        if array.layout is not _strided[0] or array.is_neg():
            return None
        found += (array.shape, array.stride(), array.dtype, array.device)
    for part in rest:
        kind = type(part)  # pyright: ignore[reportUnknownVariableType]
        if kind not in _PLAIN:
            several = cast("tuple[object, ...]", part)
            kinds = [*map(type, several)] if isinstance(part, tuple) else [kind]
            if not _PLAIN.issuperset(kinds):
                return None
            found += kinds
        found += (kind, part)
    return tuple(found)


_PLAIN = frozenset((int, float, bool, str, type(None)))


def _is_plain(kind: type) -> bool:
    """Whether arrays of a type have plans; learnt when torch has come."""
    torch = sys.modules.get("torch")
    if KINDS or torch is None or kind is not torch.Tensor:
        return False
    KINDS.update((torch.Tensor, torch.nn.Parameter))
    _strided.append(torch.strided)
    return True


def aligned(*tensors: Any) -> tuple[bool | None, ...]:
    """Whether each begins at a multiple of 16 bytes; None for None."""
    return tuple(None if own is None else own.data_ptr() % 16 == 0 for own in tensors)


def bare(tensor: Any) -> Any:
    """A tensor as launches take it: no parameter, no part of a graph."""
    return tensor.detach() if tensor.requires_grad else tensor


def result_of(like: Any, out: Any, shape: tuple[int, ...], dtype: Any = None) -> Any:
    """Where a plan writes: `out`, or a new tensor beside `like`."""
    if out is not None:
        return out
    return like.new_empty(shape) if dtype is None else like.new_empty(shape, dtype=dtype)
