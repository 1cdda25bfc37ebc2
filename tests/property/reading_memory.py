"""Memory in the NumPy reading: pointers, loads and stores, block pointers, atomics."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from reading import LANGUAGE, cast, language
from tracked import I1, Array, Dtype, RefusedError, Tracked, full, value


class BadKernelError(Exception):
    """The generator wrote a kernel that leaves its arrays, or whose result depends on luck."""


class Memory:
    """One array of a launch."""

    def __init__(self, d: Dtype, v: Array) -> None:
        self.d = d
        self.v = np.array(v, d.held)
        self.e = np.zeros(self.v.shape)


class Pointer:
    """A pointer, or a tensor of them: places in one array."""

    def __init__(self, memory: Memory, at: Array) -> None:
        self.memory = memory
        self.at = np.asarray(at, np.int64)

    @property
    def shape(self) -> tuple[int, ...]:
        return self.at.shape

    def __add__(self, offset: Any) -> Pointer:
        moved = value(offset)
        if not moved.d.is_int or moved.e is not None:
            raise BadKernelError("an offset that targets need not agree about")
        return Pointer(self.memory, self.at + moved.v.astype(np.int64))

    __radd__ = __add__

    def __sub__(self, offset: Any) -> Pointer:
        return self + -value(offset)

    def __getitem__(self, index: Any) -> Pointer:
        return Pointer(self.memory, self.at[index])


def _live(pointer: Pointer, mask: Any) -> Array:
    if mask is None:
        return np.ones(pointer.shape, bool)
    chosen = cast(value(mask), I1)
    if chosen.e is not None:
        raise BadKernelError("a mask that targets need not agree about")
    return np.broadcast_to(chosen.v, pointer.shape)


def _inside(pointer: Pointer, live: Array) -> Array:
    at = np.where(live, pointer.at, 0)
    if (at < 0).any() or (at >= pointer.memory.v.size).any():
        raise BadKernelError("an access outside")
    return at


def _spread(pointer: Pointer, mask: Any, *others: Any) -> Pointer:
    """The pointer in the shape of all that takes part."""
    shapes = [x.shape for x in (pointer, mask, *others) if hasattr(x, "shape")]
    return Pointer(pointer.memory, np.broadcast_to(pointer.at, np.broadcast_shapes(*shapes)))


@language
def load(pointer: Any, mask: Any = None, other: Any = None, **hints: Any) -> Tracked:
    """Where nothing is read, and no `other` is given, anything may come."""
    if isinstance(pointer, BlockPointer):
        return pointer.load(**hints)
    if mask is not None and not pointer.shape and value(mask).shape:
        raise RefusedError("a tensor as mask of one place")
    d = pointer.memory.d
    live = _live(pointer, mask)
    at = _inside(pointer, live)
    rest = full(0, d) if other is None else cast(other, d) if isinstance(other, Tracked) else None
    rest = full(other, d) if rest is None else rest
    off = np.where(live, pointer.memory.e[at], np.inf if other is None else rest.off)
    return Tracked(d, np.where(live, pointer.memory.v[at], rest.v).astype(d.held), off)


@language
def store(pointer: Any, value_: Any, mask: Any = None, **hints: Any) -> None:
    if isinstance(pointer, BlockPointer):
        pointer.store(value_, **hints)
        return
    stored = cast(value(value_), pointer.memory.d)
    stored = stored.moved(lambda a: np.broadcast_to(a, pointer.shape))
    live = _live(pointer, mask)
    at = _inside(pointer, live)[live]
    if np.unique(at).size != at.size:
        raise BadKernelError("two elements in one place")
    pointer.memory.v[at] = stored.v[live]
    pointer.memory.e[at] = stored.off[live]


# --- blocks ---------------------------------------------------------------------------------------


class BlockPointer:
    """A block of an array with strides; only the block's place moves."""

    def __init__(self, base: Pointer, shape: Any, strides: Any, offsets: Any, block: Any) -> None:
        self.base = base
        self.sides, self.strides = (
            [int(_plain(x)) for x in shape],
            [int(_plain(x)) for x in strides],
        )
        self.offsets, self.block = [int(_plain(x)) for x in offsets], tuple(block)

    def _places(self, boundary_check: tuple[int, ...]) -> tuple[Pointer, Array]:
        at = np.zeros(self.block, np.int64) + self.base.at
        inside = np.ones(self.block, bool)
        for axis, size in enumerate(self.block):
            index = self.offsets[axis] + np.arange(size)
            index = index.reshape([-1 if i == axis else 1 for i in range(len(self.block))])
            at = at + index * self.strides[axis]
            if axis in boundary_check:
                inside &= (index >= 0) & (index < self.sides[axis])
        return Pointer(self.base.memory, at), inside

    def load(self, boundary_check: tuple[int, ...] = (), padding_option: str = "") -> Tracked:
        pointer, inside = self._places(boundary_check)
        if not boundary_check:
            return load(pointer)
        rest = {"": None, "zero": 0, "nan": float("nan")}[padding_option]
        return load(pointer, Tracked(I1, inside), rest)

    def store(self, given: Any, boundary_check: tuple[int, ...] = ()) -> None:
        pointer, inside = self._places(boundary_check)
        store(pointer, given, Tracked(I1, inside))


def _plain(x: Any) -> Any:
    return x.v if isinstance(x, Tracked) else x


@language
def make_block_ptr(
    base: Pointer, shape: Any, strides: Any, offsets: Any, block_shape: Any, order: Any
) -> BlockPointer:
    return BlockPointer(base, shape, strides, offsets, block_shape)


@language
def advance(base: BlockPointer, offsets: Any) -> BlockPointer:
    moved = [a + int(_plain(b)) for a, b in zip(base.offsets, offsets, strict=True)]
    return BlockPointer(base.base, base.sides, base.strides, moved, base.block)


class Descriptor:
    """A described array: tiles are read and written at offsets; outside of it is 0."""

    def __init__(self, base: Pointer, shape: Any, strides: Any, block: Any) -> None:
        self.parts = (base, shape, strides, block)

    def _block(self, offsets: Any) -> BlockPointer:
        base, shape, strides, block = self.parts
        return BlockPointer(base, shape, strides, offsets, block)

    def load(self, offsets: Any) -> Tracked:
        return self._block(offsets).load(tuple(range(len(offsets))), "zero")

    def store(self, offsets: Any, given: Any) -> None:
        self._block(offsets).store(given, tuple(range(len(offsets))))


@language
def make_tensor_descriptor(base: Pointer, shape: Any, strides: Any, block_shape: Any) -> Descriptor:
    return Descriptor(base, shape, strides, block_shape)


@language
def load_tensor_descriptor(desc: Descriptor, offsets: Any) -> Tracked:
    return desc.load(offsets)


@language
def store_tensor_descriptor(desc: Descriptor, offsets: Any, given: Any) -> None:
    desc.store(offsets, given)


# --- atomics --------------------------------------------------------------------------------------


def _atomic(name: str, f: Callable[[Array, Array], Array]) -> None:
    """One element after the other; the result is what was there before each."""

    def apply(pointer: Pointer, val: Any, mask: Any = None, **order: Any) -> Tracked:
        pointer = _spread(pointer, mask, val)
        d = pointer.memory.d
        given = cast(value(val), d).moved(lambda a: np.broadcast_to(a, pointer.shape))
        live = _live(pointer, mask)
        at = _inside(pointer, live)
        shared = np.unique(at[live]).size != int(live.sum())
        if given.e is not None or (shared and (name == "xchg" or d.is_float)):
            raise BadKernelError("an atomic whose result depends on the order")
        old = np.zeros(pointer.shape, d.held)
        for i in zip(*np.nonzero(live), strict=True) if pointer.shape else [()] * int(live):
            old[i] = pointer.memory.v[at[i]]
            pointer.memory.v[at[i]] = f(pointer.memory.v[at[i]], given.v[i])
        return Tracked(d, old, np.where(live & ~np.bool_(shared), 0.0, np.inf))

    LANGUAGE[f"atomic_{name}"] = apply


_ATOMICS: dict[str, Callable[[Array, Array], Array]] = {
    "add": np.add, "max": np.maximum, "min": np.minimum, "and": np.bitwise_and,
    "or": np.bitwise_or, "xor": np.bitwise_xor, "xchg": lambda old, new: new,
}  # fmt: skip
for _name, _f in _ATOMICS.items():
    _atomic(_name, _f)


@language
def atomic_cas(pointer: Pointer, cmp: Any, val: Any, **order: Any) -> Tracked:
    d = pointer.memory.d
    pointer = _spread(pointer, None, cmp, val)
    wanted, given = (cast(value(x), d) for x in (cmp, val))
    at = _inside(pointer, np.ones(pointer.shape, bool))
    if np.unique(at).size != at.size or wanted.e is not None or given.e is not None:
        raise BadKernelError("an exchange whose result depends on the order")
    old = pointer.memory.v[at]
    pointer.memory.v[at] = np.where(old == wanted.v, given.v, old)
    return Tracked(d, old)


@language
def atomic_load(pointer: Pointer, mask: Any = None, **order: Any) -> Tracked:
    return load(pointer, mask)


@language
def atomic_store(pointer: Pointer, val: Any, mask: Any = None, **order: Any) -> None:
    store(pointer, val, mask)


def offsets_of(x: Tracked) -> Array:
    """Exact integers as int64."""
    if x.e is not None or not x.d.is_int:
        raise BadKernelError("an index that targets need not agree about")
    return x.v.astype(np.int64)
