"""The machine code of short launches as LLVM text: what it reads, what it checks, when it gives up.

One function serves all kernels whose calls look alike; everything that differs between two of them
stands in a *record*, an array of 8-byte words that `record.py` fills. Nothing here knows llvmlite.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, NamedTuple

from teeny_cuda.emit_arrays import LOOKED, Argument, array_cells
from teeny_cuda.emit_checks import WEIGHTS
from teeny_cuda.emit_parts import (
    ALIVE,
    ARGUMENT_WORDS,
    ARGUMENTS,
    CAPTURES,
    DISPATCH,
    ERROR,
    GRID_OF,
    MAP_WORDS,
    MISS,
    NAMES,
    OK,
    PLACE,
    PREPARED_GRID,
    PREPARED_GRID_Z,
    PREPARED_PARAMS,
    SITE_GRID,
    STREAM,
    STREAM_OF,
    VALUES,
)
from teeny_cuda.emit_scratch import SCRATCH_CELLS, Scratch
from teeny_cuda.emit_text import LAUNCH_CELLS, Text

if TYPE_CHECKING:
    from teeny_cuda.places import Places

_ARRAYS = frozenset(("buffer", "dlpack", *LOOKED))
_INTEGER_BITS = {"i8": 8, "i16": 16, "i32": 32, "i64": 64, "u8": 8, "u16": 16, "u32": 32, "u64": 64}
_LARGEST_F32 = "0x47EFFFFFE0000000"
_INFINITY = "0x7FF0000000000000"


class Half(NamedTuple):
    """A 16-bit float (IEEE 754 binary16, and bf16 as the upper half of binary32).

    Bits of its fraction, the exponents' bias, the least exponent of a normal number, and the first
    number that rounds beyond the largest.
    """

    fraction: int
    bias: int
    least: int
    beyond: float


_HALVES = {
    "f16": Half(10, 15, -14, 65520.0),
    "bf16": Half(7, 127, -126, (2 - 2**-8) * 2.0**127),
}


def _double_bits(number: float) -> int:
    return int.from_bytes(struct.pack("<d", number), "little")


class Pattern(NamedTuple):
    """What calls that share a function have in common.

    `stream` is `fixed`, `exchange` (the C function of an array library) or `call` (a Python
    callable). `extended` launches through `cuLaunchKernelEx`; `scratch` takes memory for each
    launch from the device's pool, in the order of its stream; with `shares` it takes that of its
    stream where there is some.
    """

    positional: int
    named: int
    arguments: tuple[Argument, ...]
    slots: int
    stream: str = "fixed"
    extended: bool = False
    scratch: bool = False
    shares: bool = False


def entry_text(pattern: Pattern, places: Places) -> str:
    """The module with the function `entry` of a pattern."""
    return _Entry(pattern, places).module()


def common_text(places: Places) -> str:
    """The module with `dispatch` (calls a chain's entries) and `prepared` (runs one launch)."""
    text = Text(places)
    text.lines += DISPATCH.replace("MEMORY_OFFSET", str(places.memory)).splitlines()
    prepared = Text(places)
    prepared.open("define ptr @prepared(ptr %rec.object, ptr %unused) {")
    prepared.say(*LAUNCH_CELLS)
    prepared.say(
        f"%rec.at = getelementptr i8, ptr %rec.object, i64 {places.memory}",
        "%rec = load ptr, ptr %rec.at, align 8",
    )
    alive = prepared.let(f"icmp ne i64 {prepared.word(ALIVE)}, 0")
    prepared.say(f"br i1 {alive}, label %alive, label %dead")
    prepared.label("alive")
    captures = prepared.load(prepared.word(CAPTURES, "ptr"), 0)
    free = prepared.let(f"icmp eq i64 {captures}, 0")
    prepared.say(f"br i1 {free}, label %free, label %capturing")
    prepared.label("free")
    grid, z = prepared.word(PREPARED_GRID), prepared.word(PREPARED_GRID_Z)
    x = prepared.let(f"trunc i64 {grid} to i32")
    y = prepared.let(f"trunc i64 {prepared.let(f'lshr i64 {grid}, 32')} to i32")
    z = prepared.let(f"trunc i64 {z} to i32")
    params, stream = prepared.word(PREPARED_PARAMS, "ptr"), prepared.word(STREAM, "ptr")
    status = prepared.launch((x, y, z), stream, params, extended=None, slots=None)
    good = prepared.let(f"icmp eq i32 {status}, 0")
    prepared.say(f"br i1 {good}, label %good, label %failed")
    prepared.label("good")
    prepared.say("call void @Py_IncRef(ptr @py_none)", "ret ptr @py_none")
    prepared.label("dead")
    prepared.say("br label %failed")
    prepared.label("capturing")
    prepared.say("br label %failed")
    prepared.label("failed")
    # 0 says that the launch may not run any more, -1 that Python has to run it.
    number = prepared.let(
        f"phi i32 [ {status}, %{prepared.before_good} ], [ 0, %dead ], [ -1, %capturing ]"
    )
    answer = prepared.report(number)
    prepared.say(f"ret ptr {answer}", "}")
    return text.header() + "\n".join(text.lines + prepared.lines) + "\n" + WEIGHTS


def _cost(numbered: tuple[int, Argument]) -> int:
    argument = numbered[1]
    if argument.form in ("same", "sameint"):
        return 0
    return 3 if argument.array is not None else 2 if argument.form in _ARRAYS else 1


class _Entry(Scratch):
    """The function of one pattern: all checks, then the launch."""

    def __init__(self, pattern: Pattern, places: Places) -> None:
        super().__init__(places)
        self.pattern = pattern
        self.has_scratch, self.shares = pattern.scratch, pattern.shares
        self.slots = pattern.slots

    def module(self) -> str:
        pattern = self.pattern
        self.open(
            "define i32 @entry(ptr %rec, ptr %args, i64 %nargs, ptr %kwnames, ptr %grid.object, "
            "ptr %site) {"
        )
        self.say(
            f"%slots = alloca [{pattern.slots + 2} x i64], align 8",
            f"%table = alloca [{pattern.slots + 2} x ptr], align 8",
            "%overflow = alloca i32, align 4",
            "%self = alloca [2 x ptr], align 8",
            "%grid = alloca [3 x i32], align 4",
            "%tensor = alloca [48 x i8], align 8",
            "%stream.cell = alloca ptr, align 8",
            *(SCRATCH_CELLS if pattern.scratch else ()),
            *LAUNCH_CELLS,
            *array_cells(pattern.arguments),
        )
        self.require(f"icmp ne i64 {self.word(ALIVE)}, 0")
        # While a graph is captured the slow path decides what belongs to it.
        self.require(f"icmp eq i64 {self.load(self.word(CAPTURES, 'ptr'), 0)}, 0")
        self.require(f"icmp eq i64 %nargs, {pattern.positional}")
        self.names()
        taken: set[int] = set()
        # What is cheap first: calls that belong to other entries are found out soon.
        for at, argument in sorted(enumerate(pattern.arguments), key=_cost):
            place = self.let(f"getelementptr ptr, ptr %args, i64 {at}")
            value = self.let(f"load ptr, ptr {place}, align 8")
            self.argument(at, argument, value)
            taken |= argument.slots
        self.fill(taken)
        self.declarations()
        self.grid()
        stream = self.stream()
        sizes = [self.load("%grid", 4 * axis, "i32") for axis in range(3)]
        self.measure_scratch(sizes, stream)
        status = self.launch(
            (sizes[0], sizes[1], sizes[2]),
            stream,
            "%table",
            extended=pattern.extended,
            slots=pattern.slots,
        )
        good = self.let(f"icmp eq i32 {status}, 0")
        self.say(f"br i1 {good}, label %done, label %failed, !prof !1")
        self.label("done")
        self.tell()
        self.say("br label %good")
        self.label("good")
        self.leave(OK)
        self.label("failed")
        answer = self.report(status)
        raised = self.let(f"icmp eq ptr {answer}, null")
        self.say(f"br i1 {raised}, label %error, label %good")
        self.label("miss.clear")
        self.say("call void @PyErr_Clear()", "br label %miss")
        self.label("miss")
        self.leave(MISS)
        self.label("error")
        self.leave(ERROR)
        self.say("}")
        functions = GRID_OF.replace("TYPE_OFFSET", str(self.places.type)) + self.array_functions()
        return self.header() + "\n".join(self.lines) + "\n" + functions + WEIGHTS

    def leave(self, status: int) -> None:
        """Return; the arrays of descriptors were kept until here."""
        for at in range(self.held):
            kept = self.let(f"load ptr, ptr %held.{at}, align 8")
            self.say(f"call void @Py_DecRef(ptr {kept})")  # null where it was not read yet
        self.say(f"ret i32 {status}")

    def names(self) -> None:
        """The keyword names are the record's: the same tuple, or one with the same strings."""
        count = self.pattern.named
        if not count:
            self.require("icmp eq ptr %kwnames, null")
            return
        known = self.word(NAMES, "ptr")
        other, same = self.fresh("other."), self.fresh("same.")
        self.say(
            f"br i1 {self.let(f'icmp eq ptr %kwnames, {known}')}, label %{same}, label %{other}"
        )
        self.label(other)
        self.require("icmp ne ptr %kwnames, null")
        self.require(f"icmp eq i64 {self.load('%kwnames', self.places.length)}, {count}")
        for at in range(count):
            item = self.places.items + 8 * at
            one, two = self.load("%kwnames", item, "ptr"), self.load(known, item, "ptr")
            self.require(f"icmp eq ptr {one}, {two}")
        self.say(f"br label %{same}")
        self.label(same)

    def argument(self, at: int, argument: Argument, value: str) -> None:
        """Check one argument and put what the kernel takes of it into its slot."""
        base = ARGUMENTS + ARGUMENT_WORDS * at
        form = argument.form
        if form in _ARRAYS:
            self.array(base, argument, value)
        elif argument.array is not None:
            extra = ARGUMENTS + ARGUMENT_WORDS * len(self.pattern.arguments)
            self.descriptor(base, extra + MAP_WORDS * self.described, argument, value)
        elif form == "same":
            self.require(f"icmp eq ptr {value}, {self.word(base, 'ptr')}")
        elif form == "sameint":
            known, look = self.fresh("known."), self.fresh("look.")
            same = self.let(f"icmp eq ptr {value}, {self.word(base, 'ptr')}")
            self.say(f"br i1 {same}, label %{known}, label %{look}")
            self.label(look)
            number = self.python_int(value)
            self.require(f"icmp eq i64 {number}, {self.word(base + 1)}")
            self.say(f"br label %{known}")
            self.label(known)
        elif form == "bool":
            yes = self.let(f"icmp eq ptr {value}, @py_true")
            no = self.let(f"icmp eq ptr {value}, @py_false")
            self.require(f"or i1 {yes}, {no}")
            self.put(argument, self.let(f"zext i1 {yes} to i64"))
        elif form in ("float", "number"):
            self.floating(argument, value)
        else:
            self.integer(argument, value)

    def integer(self, argument: Argument, value: str) -> None:
        number = self.python_int(value)
        bits = _INTEGER_BITS[argument.form]
        if argument.form == "u64":
            self.require(f"icmp sge i64 {number}, 0")
        elif bits < 64:
            narrow = self.let(f"trunc i64 {number} to i{bits}")
            extend = "sext" if argument.form[0] == "i" else "zext"
            again = self.let(f"{extend} i{bits} {narrow} to i64")
            self.require(f"icmp eq i64 {again}, {number}")
        if argument.dtype == "wide":  # an int without an annotation is an i64 only beyond i32
            narrow = self.let(f"trunc i64 {number} to i32")
            again = self.let(f"sext i32 {narrow} to i64")
            self.require(f"icmp ne i64 {again}, {number}")
        if argument.one is not None:
            self.require(f"icmp {'eq' if argument.one else 'ne'} i64 {number}, 1")
        if argument.divisible is not None:
            rest = self.let(f"and i64 {number}, 15")
            self.require(f"icmp {'eq' if argument.divisible else 'ne'} i64 {rest}, 0")
        self.put(argument, number)

    def floating(self, argument: Argument, value: str) -> None:
        """A Python float, and for the form `number` also an int."""
        if argument.form == "float":
            self.require_type(value, "@py_float")
            number = self.let(f"call double @PyFloat_AsDouble(ptr {value})")
        else:
            kind = self.load(value, self.places.type, "ptr")
            plain, whole, join = (self.fresh(f"{n}.") for n in ("plain", "whole", "join"))
            is_float = self.let(f"icmp eq ptr {kind}, @py_float")
            self.say(f"br i1 {is_float}, label %{plain}, label %{whole}")
            self.label(plain)
            one = self.let(f"call double @PyFloat_AsDouble(ptr {value})")
            self.say(f"br label %{join}")
            self.label(whole)
            # Integers up to 2**53 convert exactly; others are left to the slow path's rounding.
            exact = self.python_int(value)
            shifted = self.let(f"add i64 {exact}, 9007199254740992")
            self.require(f"icmp ule i64 {shifted}, 18014398509481984")
            two = self.let(f"sitofp i64 {exact} to double")
            last = self.fresh("last.")
            self.say(f"br label %{last}")
            self.label(last)
            self.say(f"br label %{join}")
            self.label(join)
            number = self.let(f"phi double [ {one}, %{plain} ], [ {two}, %{last} ]")
        if argument.dtype == "f64":
            self.put(argument, number, "double")
            return
        if argument.dtype in _HALVES:
            self.put(argument, self.half(_HALVES[argument.dtype], number))
            return
        size = self.let(f"call double @llvm.fabs.f64(double {number})")
        small = self.let(f"fcmp ule double {size}, {_LARGEST_F32}")
        infinite = self.let(f"fcmp oeq double {size}, {_INFINITY}")
        self.require(f"or i1 {small}, {infinite}")
        self.put(argument, self.let(f"fptrunc double {number} to float"), "float")

    def half(self, form: Half, number: str) -> str:
        """The bits of the nearest number of a 16-bit format, ties to even, as an i64.

        Rounded once, in integers and doubles, so that flags of the processor do not matter.
        """
        bits = self.let(f"bitcast double {number} to i64")
        sign = self.let(f"and i64 {self.let(f'lshr i64 {bits}, 48')}, 32768")
        size = self.let(f"and i64 {bits}, {2**63 - 1}")
        infinite = self.let(f"icmp eq i64 {size}, {0x7FF << 52}")
        small = self.let(f"icmp ult i64 {size}, {_double_bits(form.beyond)}")
        self.require(f"or i1 {small}, {infinite}")  # NaN and what is too large: the slow path
        # Adding 1.5 * 2**(52 + s) to a number below 2**(51 + s) rounds it to multiples of 2**s.
        exponent = self.let(f"lshr i64 {size}, 52")
        least = 1023 + form.least
        low = self.let(f"icmp ult i64 {exponent}, {least}")
        scale = self.let(f"select i1 {low}, i64 {least}, i64 {exponent}")
        high = self.let(f"add i64 {scale}, {52 - form.fraction}")
        magic = self.let(f"or i64 {self.let(f'shl i64 {high}, 52')}, {1 << 51}")
        adder = self.let(f"bitcast i64 {magic} to double")
        plain = self.let(f"bitcast i64 {size} to double")
        up = self.let(f"fadd double {plain}, {adder}")
        whole = self.let(f"bitcast double {self.let(f'fsub double {up}, {adder}')} to i64")
        # Normal numbers have their exponent moved; below, it is the number of the smallest steps.
        moved = self.let(f"sub i64 {whole}, {(1023 - form.bias) << 52}")
        normal = self.let(f"lshr i64 {moved}, {52 - form.fraction}")
        steps = self.let(f"sub i64 {self.let(f'bitcast double {up} to i64')}, {magic}")
        is_normal = self.let(f"icmp uge i64 {whole}, {least << 52}")
        finite = self.let(f"select i1 {is_normal}, i64 {normal}, i64 {steps}")
        top = (2 * form.bias + 1) << form.fraction
        value = self.let(f"select i1 {infinite}, i64 {top}, i64 {finite}")
        return self.let(f"or i64 {value}, {sign}")

    def grid(self) -> None:
        """The grid of the call site, or of the object that was given."""
        fixed, given, ready = (self.fresh(f"{name}.") for name in ("fixed", "given", "sized"))
        empty = self.fresh("empty.")
        none = self.let("icmp eq ptr %grid.object, null")
        self.say(f"br i1 {none}, label %{fixed}, label %{given}")
        self.label(fixed)
        for axis in range(3):
            size = self.load("%site", 8 * SITE_GRID + 4 * axis, "i32")
            self.store("i32", size, "%grid", 4 * axis)
        self.say(f"br label %{ready}")
        self.label(given)
        status = self.let("call i32 @grid_of(ptr %rec, ptr %grid.object, ptr %grid)")
        self.say(
            f"switch i32 {status}, label %{ready} "
            f"[ i32 {MISS}, label %miss i32 {ERROR}, label %error i32 3, label %{empty} ]"
        )
        self.label(empty)
        self.leave(OK)
        self.label(ready)

    def fill(self, taken: set[int]) -> None:
        """What the call does not give, and the addresses of all slots."""
        values = ""
        maps = {argument.slot: at for at, (_, argument) in enumerate(self.maps)}
        for slot in range(self.pattern.slots + 2):
            place = self.let(f"getelementptr i64, ptr %slots, i64 {slot}")
            if slot not in taken:
                values = values or self.word(VALUES, "ptr")
                self.say(f"store i64 {self.load(values, 8 * slot)}, ptr {place}, align 8")
            entry = self.let(f"getelementptr ptr, ptr %table, i64 {slot}")
            at = maps.get(slot, -1)
            place = place if at < 0 else self.map_at(at)
            self.say(f"store ptr {place}, ptr {entry}, align 8")

    def stream(self) -> str:
        if self.pattern.stream == "fixed":
            return self.word(STREAM, "ptr")
        source = self.word(STREAM_OF, "ptr")
        if self.pattern.stream == "exchange":
            place = self.word(PLACE)
            kind = self.let(f"trunc i64 {place} to i32")
            ordinal = self.let(f"trunc i64 {self.let(f'lshr i64 {place}, 32')} to i32")
            status = self.let(f"call i32 {source}(i32 {kind}, i32 {ordinal}, ptr %stream.cell)")
            self.require(f"icmp eq i32 {status}, 0", "miss.clear")
            return self.let("load ptr, ptr %stream.cell, align 8")
        answer = self.let(f"call ptr @PyObject_CallNoArgs(ptr {source})")
        self.require(f"icmp ne ptr {answer}, null", "miss.clear")
        return self.let(f"inttoptr i64 {self.integer_of(answer)} to ptr")
