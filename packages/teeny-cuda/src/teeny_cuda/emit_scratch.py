"""Scratch memory in the machine code of short launches: that of the stream, or some of its own.

A launch that takes its own gives it back behind it, and tells what it would have had; see
scratch.py.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from teeny_cuda.emit_arrays import Arrays
from teeny_cuda.emit_parts import (
    ALLOCATE,
    FREE,
    IS_CAPTURING,
    PIECE,
    PIECES,
    PROFILE,
    PROFILE_ALIGN,
    SCRATCH,
    SCRATCH_ALIGN,
    STREAM_NUMBER,
    TELL,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from teeny_cuda.places import Places

SCRATCH_CELLS = (
    "%scratch.cell = alloca i64, align 8",
    "%scratch.own = alloca i64, align 8",  # the address of what this launch took; 0 for none
    "%stream.number = alloca i64, align 8",
    "%stream.captured = alloca i64, align 8",
    "%told = alloca [4 x ptr], align 8",
)
_MOST_BLOCKS = 2**32


class Scratch(Arrays):
    """Lines that supply scratch memory, and encode what is described."""

    def __init__(self, places: Places) -> None:
        super().__init__(places)
        self.has_scratch = self.shares = False
        self.slots = 0
        self._own = self._all = self._stream = ""  # bytes of the kernel, of all; the stream

    @property
    def has_preparation(self) -> bool:  # type: ignore[override]
        """Whether there are maps to encode, or scratch memory."""
        return bool(self.maps) or self.has_scratch

    def measure_scratch(self, sizes: Sequence[str], stream: str) -> None:
        """How many bytes the launch takes; grids that would take more than there can be miss."""
        if not self.has_scratch:
            return
        x, y, z = (self.let(f"zext i32 {size} to i64") for size in sizes)
        blocks = self.let(f"mul i64 {self.let(f'mul i64 {x}, {y}')}, {z}")
        self.require(f"icmp ult i64 {blocks}, {_MOST_BLOCKS}")
        self._own = self.let(f"mul i64 {blocks}, {self.word(SCRATCH)}")
        profile = self.let(f"mul i64 {blocks}, {self.word(PROFILE)}")
        room = self.let(f"add i64 {self.word(SCRATCH_ALIGN)}, {self.word(PROFILE_ALIGN)}")
        both = self.let(f"add i64 {self._own}, {profile}")
        self._all = self.let(f"add i64 {both}, {room}")
        self._stream = stream

    def prepare(self, refused: str) -> None:
        """Encode the maps and take the scratch memory."""
        self.encode(refused)
        if not self.has_scratch:
            return
        own, ready = self.fresh("own."), self.fresh("memory.")
        self.say("store i64 0, ptr %scratch.own, align 8")
        if self.shares:
            self._take_shared(own)
            self.say(f"br label %{ready}")
            self.label(own)
        status = self.let(
            f"call i32 {self.word(ALLOCATE, 'ptr')}(ptr %scratch.cell, i64 {self._all}, "
            f"ptr {self._stream})"
        )
        self.require(f"icmp eq i32 {status}, 0", refused)
        taken = self.let("load i64, ptr %scratch.cell, align 8")
        self.say(f"store i64 {taken}, ptr %scratch.own, align 8", f"br label %{ready}")
        self.label(ready)
        self._place()

    def _take_shared(self, otherwise: str) -> None:
        """Use the stream's memory if there is enough, and no capture; else go to `otherwise`."""
        self.say("store i64 1, ptr %stream.captured, align 8")  # until it is known
        for word, cell in ((STREAM_NUMBER, "%stream.number"), (IS_CAPTURING, "%stream.captured")):
            status = self.let(f"call i32 {self.word(word, 'ptr')}(ptr {self._stream}, ptr {cell})")
            self.require(f"icmp eq i32 {status}, 0", otherwise)
        captured = self.let("load i64, ptr %stream.captured, align 8")
        self.require(f"icmp eq i64 {captured}, 0", otherwise)
        number = self.let("load i64, ptr %stream.number, align 8")
        place = self.let(f"and i64 {number}, {PIECES - 1}")
        row = self.let(f"getelementptr i64, ptr %rec, i64 {place}")
        # One load finds all three numbers, which another thread may just be replacing.
        piece = self.load(row, 8 * PIECE, "ptr")
        self.require(f"icmp ne ptr {piece}, null", otherwise)
        self.require(f"icmp eq i64 {self.load(piece, 0)}, {number}", otherwise)
        self.require(f"icmp uge i64 {self.load(piece, 16)}, {self._all}", otherwise)
        self.say(f"store i64 {self.load(piece, 8)}, ptr %scratch.cell, align 8")

    def _place(self) -> None:
        """The kernel's memory and that of profiling, each at a multiple of a power of two."""
        end = self.let("load i64, ptr %scratch.cell, align 8")
        for at, (size, align) in enumerate(((SCRATCH, SCRATCH_ALIGN), (PROFILE, PROFILE_ALIGN))):
            mask = self.let(f"sub i64 {self.word(align)}, 1")
            over = self.let(f"add i64 {end}, {mask}")
            place = self.let(f"and i64 {over}, {self.let(f'xor i64 {mask}, -1')}")
            needed = self.let(f"icmp ne i64 {self.word(size)}, 0")  # else it is null
            self.fill_slot(self.slots + at, self.let(f"select i1 {needed}, i64 {place}, i64 0"))
            end = self.let(f"add i64 {place}, {self._own}")

    def clean(self, status: str) -> str:
        """Give back what the launch took for itself, behind it in its stream."""
        if not self.has_scratch:
            return status
        look, free, join = (self.fresh(f"{name}.") for name in ("taken", "free", "freed"))
        self.say(f"br label %{look}")
        self.label(look)
        taken = self.load("%scratch.own", 0, "ptr")
        none = self.let(f"icmp eq ptr {taken}, null")
        self.say(f"br i1 {none}, label %{join}, label %{free}")
        self.label(free)
        freed = self.let(f"call i32 {self.word(FREE, 'ptr')}(ptr {taken}, ptr {self._stream})")
        self.say(f"br label %{join}")
        self.label(join)
        last = self.let(f"phi i32 [ 0, %{look} ], [ {freed}, %{free} ]")
        fine = self.let(f"icmp eq i32 {status}, 0")
        return self.let(f"select i1 {fine}, i32 {last}, i32 {status}")

    def tell(self) -> None:
        """Behind a good launch that took its own outside of a capture: what it would have had."""
        if not self.shares:
            return
        own, told = self.fresh("own."), self.fresh("told.")
        taken = self.let(f"icmp ne i64 {self.load('%scratch.own', 0)}, 0")
        plain = self.let(f"icmp eq i64 {self.load('%stream.captured', 0)}, 0")
        self.say(f"br i1 {self.let(f'and i1 {taken}, {plain}')}, label %{own}, label %{told}")
        self.label(own)
        stream = self.let(f"ptrtoint ptr {self._stream} to i64")
        values = (self.load("%stream.number", 0), self._all, stream)
        boxed = [
            self.let(f"call ptr @PyLong_FromUnsignedLongLong(i64 {value})") for value in values
        ]
        for at, value in enumerate(boxed, 1):
            self.store("ptr", value, "%told", 8 * at)
        given = self.let("getelementptr ptr, ptr %told, i64 1")
        count = -(2**63) + len(boxed)  # the word before the arguments may be used
        answer = self.let(
            f"call ptr @PyObject_Vectorcall(ptr {self.word(TELL, 'ptr')}, ptr {given}, "
            f"i64 {count}, ptr null)"
        )
        self.say(*(f"call void @Py_DecRef(ptr {value})" for value in (*boxed, answer)))
        # The launch was good, whatever this met.
        self.say("call void @PyErr_Clear()", f"br label %{told}")
        self.label(told)
