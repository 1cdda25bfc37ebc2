"""Arrays in the machine code of short launches: their addresses, what a kernel declares of them.

Descriptors are arrays with a tile: here is what is read of one, and how the driver encodes it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from teeny_cuda.emit_checks import Checks
from teeny_cuda.emit_parts import (
    ENCODE,
    LOOK,
    MAP_ARRAY,
    MAP_BLOCK,
    MAP_BOX,
    MAP_BYTES,
    MAP_FILL,
    MAP_KIND,
    MAP_PADDING,
    MAP_PROMOTION,
    MAP_STEPS,
    MAP_SWIZZLE,
    MISS,
    MOST_AXES,
    OK,
    PLACE,
)

if TYPE_CHECKING:
    from teeny_cuda.places import Places

_RANK = 5  # the most axes of a descriptor
# Forms whose sides and strides a Python function tells.
LOOKED = frozenset(("tensor", "cupy", "asked"))
# DLTensor of dlpack.h: device at 8, axes at 16, dtype at 20, sides, strides and offset.
_NDIM, _SHAPE, _STRIDES, _OFFSET = 16, 24, 32, 40


class Relied(NamedTuple):
    """What is checked of the layout of an array; see `Reliance` of teeny_macros.hot."""

    contiguous: bool
    alignment: int
    separate: bool
    sized: bool
    strides: tuple[tuple[int, int], ...] | None
    itemsize: int


class Argument(NamedTuple):
    """How one argument of a call is checked, and which slot of the kernel takes it.

    `form` is `buffer`, `dlpack`, `tensor`, `cupy`, `asked` (a Python function gives the address),
    `same`,
    `sameint`, `bool`, `float`, `number`, an integer dtype, or `map` and `tiles`: a descriptor that
    the driver encodes, or one whose address is passed and whether it is padded with NaN. `slot` is
    -1 for what only has to be the same. `aligned`, `divisible` and `one` must hold or must not;
    None leaves it open. A descriptor has `rank` axes of `itemsize` bytes and is `array`.
    """

    form: str
    slot: int = -1
    dtype: str = ""
    aligned: bool | None = None
    divisible: bool | None = None
    one: bool | None = None
    relied: Relied | None = None
    rank: int = 0
    itemsize: int = 0
    array: Argument | None = None

    @property
    def sides(self) -> int:
        """The slot of a descriptor's first side; its strides follow the sides."""
        return self.slot + (1 if self.form == "map" else 2)

    @property
    def slots(self) -> set[int]:
        """The slots that are filled from the argument."""
        return {self.slot, *range(self.sides, self.sides + 2 * self.rank)} - {-1}


class Laid(NamedTuple):
    """An array whose layout was looked at: its address and bytes, sides and strides as values."""

    argument: Argument
    address: str
    nbytes: str
    sides: list[str]
    strides: list[str]


class Arrays(Checks):
    """Lines that read arrays and descriptors."""

    def __init__(self, places: Places) -> None:
        super().__init__(places)
        self.laid: list[Laid] = []
        self.maps: list[tuple[int, Argument]] = []  # with the words of each
        self.held = self.described = 0
        self.reads_sizes = self.reads_layouts = False

    # --- addresses --------------------------------------------------------------------------------
    def array(self, base: int, argument: Argument, value: str) -> None:
        """An array whose words begin at `base`."""
        self.require_type(value, self.word(base, "ptr"))
        if argument.form == "buffer":
            self._buffer(base, argument, value)
        elif argument.form == "dlpack":
            self._exchange(base, argument, value)
        else:
            if argument.form == "tensor":
                address = self._tensor(base, value)
            elif argument.form == "cupy":
                address = self._cupy(base, value)
            else:
                answer = self.let(
                    f"call ptr @PyObject_CallOneArg(ptr {self.word(base + 1, 'ptr')}, ptr {value})"
                )
                self.require(f"icmp ne ptr {answer}, null", "miss.clear")
                address = self.integer_of(answer)  # None is no int: a miss
            self.put(argument, address)
            if argument.relied is not None:
                self._look(base, argument, value, address)

    def _buffer(self, base: int, argument: Argument, value: str) -> None:
        kind = self.load(value, self.places.kind, "ptr")
        self.require(f"icmp eq ptr {kind}, {self.word(base + 1, 'ptr')}")
        # A buffer of a kind has an address: an int of 64 bits.
        place = self.load(value, self.places.address, "ptr")
        address = self.let(f"call i64 @PyLong_AsUnsignedLongLongMask(ptr {place})")
        self.put(argument, address)
        if argument.relied is None:
            return
        self._lay_of(argument, address, self.load(value, self.places.layout, "ptr"))

    def _exchange(self, base: int, argument: Argument, value: str) -> None:
        """A tensor whose library fills a DLTensor."""
        status = self.let(f"call i32 {self.word(base + 1, 'ptr')}(ptr {value}, ptr %tensor)")
        self.require(f"icmp eq i32 {status}, 0", "miss.clear")
        self.require(f"icmp eq i64 {self.load('%tensor', 8)}, {self.word(PLACE)}")
        dtype = self.let(f"trunc i64 {self.word(base + 2)} to i32")
        self.require(f"icmp eq i32 {self.load('%tensor', 20, 'i32')}, {dtype}")
        address = self.let(f"add i64 {self.load('%tensor', 0)}, {self.load('%tensor', _OFFSET)}")
        self.put(argument, address)
        if argument.relied is not None:
            count = self.let(f"sext i32 {self.load('%tensor', _NDIM, 'i32')} to i64")
            shape = self.load("%tensor", _SHAPE, "ptr")
            strides = self.load("%tensor", _STRIDES, "ptr")
            self.require(f"icmp ne ptr {strides}, null")
            self._lay(argument, address, count, shape, strides)

    def _tensor(self, base: int, value: str) -> str:
        """The address of a tensor that is asked by its methods, as torch's are."""
        dtype = self.attribute(value, "@name_dtype")
        self.require(f"icmp eq ptr {dtype}, {self.word(base + 1, 'ptr')}")
        ordinal = self.integer_of(self.method(value, "@name_get_device"))
        self.require(f"icmp eq i64 {ordinal}, {self.word(base + 2)}")
        return self.integer_of(self.method(value, "@name_data_ptr"))

    def _cupy(self, base: int, value: str) -> str:
        """The address of an array of CuPy, which its `data` has."""
        dtype = self.attribute(value, "@name_dtype")
        self.require(f"icmp eq ptr {dtype}, {self.word(base + 1, 'ptr')}")
        data = self.attribute_kept(value, "@name_data")
        found = [
            self.let(f"call ptr @PyObject_GetAttr(ptr {data}, ptr {name})")
            for name in ("@name_device_id", "@name_ptr")
        ]
        self.say(f"call void @Py_DecRef(ptr {data})")
        both = [self.let(f"icmp ne ptr {own}, null") for own in found]
        fine, lost = self.fresh("both."), self.fresh("lost.")
        self.say(f"br i1 {self.let(f'and i1 {both[0]}, {both[1]}')}, label %{fine}, label %{lost}")
        self.label(lost)
        self.say(*(f"call void @Py_DecRef(ptr {own})" for own in found), "br label %miss.clear")
        self.label(fine)
        ordinal, address = (
            self.let(f"call i64 @PyLong_AsUnsignedLongLongMask(ptr {own})") for own in found
        )
        self.say(*(f"call void @Py_DecRef(ptr {own})" for own in found))
        # A pointer of -1 is an error, too, and no array's.
        self.require(f"icmp ne i64 {address}, -1", "miss.clear")
        self.require(f"icmp eq i64 {ordinal}, {self.word(base + 2)}", "miss.clear")
        return address

    def put(self, argument: Argument, value: str, kind: str = "i64") -> None:
        """Fill the slot of an argument."""
        if argument.aligned is not None:
            rest = self.let(f"and i64 {value}, 15")
            self.require(f"icmp {'eq' if argument.aligned else 'ne'} i64 {rest}, 0")
        self.fill_slot(argument.slot, value, kind)

    def fill_slot(self, slot: int, value: str, kind: str = "i64") -> None:
        """Write a value into a slot."""
        place = self.let(f"getelementptr i64, ptr %slots, i64 {slot}")
        self.say(f"store {kind} {value}, ptr {place}, align 8")

    def sizes(self, sequence: str, count: str | int, out: str) -> None:
        """Write `count` ints of a tuple or list of as many to `out`."""
        self.reads_sizes = True
        status = self.let(f"call i32 @sizes(ptr {sequence}, i64 {count}, ptr {out})")
        self.require(f"icmp eq i32 {status}, {OK}")

    # --- what a kernel declares -------------------------------------------------------------------
    def _look(self, base: int, argument: Argument, value: str, address: str) -> None:
        """Let a Python function tell sides and strides."""
        layout = self.let(
            f"call ptr @PyObject_CallOneArg(ptr {self.word(base + LOOK, 'ptr')}, ptr {value})"
        )
        self.require(f"icmp ne ptr {layout}, null", "miss.clear")
        # It has been read when it goes.
        self.store("ptr", layout, "%held", 8 * self.held)
        self.held += 1
        self._lay_of(argument, address, layout)

    def _lay_of(self, argument: Argument, address: str, layout: str) -> None:
        """Look at a tuple that begins with the sides and the strides."""
        shape, strides = (self.load(layout, self.places.items + 8 * at, "ptr") for at in range(2))
        count = self.load(shape, self.places.length)
        self.require(f"icmp ule i64 {count}, {MOST_AXES}")
        self.sizes(shape, count, "%laid.sides")
        self.sizes(strides, count, "%laid.strides")
        self._lay(argument, address, count, "%laid.sides", "%laid.strides")

    def _lay(self, argument: Argument, address: str, count: str, shape: str, strides: str) -> None:
        """Look at sides and strides; empty arrays, which no declaration is about, are a miss."""
        relied = argument.relied
        assert relied is not None
        self.reads_layouts = True
        status = self.let(
            f"call i32 @layout(ptr {shape}, ptr {strides}, i64 {count}, ptr %laid.out)"
        )
        self.require(f"icmp eq i32 {status}, {OK}")
        nbytes = self.let(f"mul i64 {self.load('%laid.out', 0)}, {relied.itemsize}")
        if relied.contiguous:
            self.require(f"icmp ne i64 {self.load('%laid.out', 8)}, 0")
        if relied.alignment > 1:
            rest = self.let(f"and i64 {address}, {relied.alignment - 1}")
            self.require(f"icmp eq i64 {rest}, 0")
        axes = range(0)
        if relied.strides is not None:
            axes = range(len(relied.strides))
            self.require(f"icmp eq i64 {count}, {len(axes)}")
        found = [[self.load(own, 8 * axis) for axis in axes] for own in (shape, strides)]
        self.laid.append(Laid(argument, address, nbytes, *found))

    def declarations(self) -> None:
        """Once all slots are filled: strides as the kernel says, and memory of its own."""
        for laid in self.laid:
            relied = laid.argument.relied
            pairs = relied.strides if relied is not None and relied.strides is not None else ()
            for side, stride, (slot, number) in zip(laid.sides, laid.strides, pairs, strict=True):
                wanted = self.load("%slots", 8 * slot) if slot >= 0 else str(number)
                single = self.let(f"icmp eq i64 {side}, 1")
                equal = self.let(f"icmp eq i64 {stride}, {wanted}")
                self.require(f"or i1 {single}, {equal}")
        for at, one in enumerate(self.laid):
            for two in self.laid[:at]:
                pair = (one.argument.relied, two.argument.relied)
                if any(relied is not None and relied.separate for relied in pair):
                    self._require_apart(one, two)

    def _require_apart(self, one: Laid, two: Laid) -> None:
        first, second = (
            self.let(f"icmp ule i64 {self.let(f'add i64 {a.address}, {a.nbytes}')}, {b.address}")
            for a, b in ((one, two), (two, one))
        )
        self.require(f"or i1 {first}, {second}")

    # --- descriptors ------------------------------------------------------------------------------
    def descriptor(self, base: int, extra: int, argument: Argument, value: str) -> None:
        """A descriptor whose type is at `base`, with its other words from `extra` on."""
        inner, rank = argument.array, argument.rank
        assert inner is not None
        self.described += 1
        self.require_type(value, self.word(base, "ptr"))
        array = self.attribute_kept(value, "@name_base")
        # Other code may run before the launch and change the descriptor: the array stays ours.
        self.store("ptr", array, "%held", 8 * self.held)
        self.held += 1
        padding = self.attribute(value, "@name_padding")
        self.require(f"icmp eq ptr {padding}, {self.word(extra + MAP_PADDING, 'ptr')}")
        known = self.word(extra + MAP_BLOCK, "ptr")
        for side, axis in self._attribute_sizes(value, "@name_block_shape", rank):
            self.require(f"icmp eq i64 {side}, {self.load(known, 8 * axis)}")
        for stride, axis in self._attribute_sizes(value, "@name_strides", rank):
            if axis == rank - 1:
                self.require(f"icmp eq i64 {stride}, 1")
            else:
                self.require(f"icmp sgt i64 {stride}, 0")
                nbytes = self.let(f"mul i64 {stride}, {argument.itemsize}")
                self.require(f"icmp eq i64 {self.let(f'and i64 {nbytes}, 15')}, 0")
            self.fill_slot(argument.sides + rank + axis, stride)
        for side, axis in self._attribute_sizes(value, "@name_shape", rank):
            self.require(f"icmp ult i64 {side}, {2**31}")
            self.fill_slot(argument.sides + axis, side)
        self.array(extra + MAP_ARRAY, inner, array)
        if argument.form == "map":
            self.maps.append((extra, argument))

    def _attribute_sizes(self, value: str, name: str, rank: int) -> list[tuple[str, int]]:
        """The sizes that an attribute has, each with its axis."""
        found = self.attribute_kept(value, name)
        self.reads_sizes = True
        status = self.let(f"call i32 @sizes(ptr {found}, i64 {rank}, ptr %sizes)")
        self.say(f"call void @Py_DecRef(ptr {found})")
        self.require(f"icmp eq i32 {status}, {OK}")
        return [(self.load("%sizes", 8 * axis), axis) for axis in range(rank)]

    def encode(self, refused: str) -> None:
        """Let the driver encode the maps from what stands in the slots; go to `refused` if not."""
        for at, (extra, argument) in enumerate(self.maps):
            rank, sides = argument.rank, argument.sides
            for axis in range(rank):  # the driver counts axes from the innermost one
                side = self.load("%slots", 8 * (sides + rank - 1 - axis))
                self.store("i64", side, "%map.sides", 8 * axis)
            for axis in range(rank - 1):
                stride = self.load("%slots", 8 * (sides + 2 * rank - 2 - axis))
                nbytes = self.let(f"mul i64 {stride}, {argument.itemsize}")
                self.store("i64", nbytes, "%map.strides", 8 * axis)
            kind, swizzle, promotion, fill = (
                self.let(f"trunc i64 {self.word(extra + word)} to i32")
                for word in (MAP_KIND, MAP_SWIZZLE, MAP_PROMOTION, MAP_FILL)
            )
            box, steps = (self.word(extra + word, "ptr") for word in (MAP_BOX, MAP_STEPS))
            address = self.load("%slots", 8 * argument.slot, "ptr")
            status = self.let(
                f"call i32 {self.word(ENCODE, 'ptr')}(ptr {self.map_at(at)}, i32 {kind}, "
                f"i32 {rank}, ptr {address}, ptr %map.sides, ptr %map.strides, ptr {box}, "
                f"ptr {steps}, i32 0, i32 {swizzle}, i32 {promotion}, i32 {fill})"
            )
            self.require(f"icmp eq i32 {status}, 0", refused)

    def map_at(self, number: int) -> str:
        """The address of a tensor map."""
        return self.let(f"getelementptr i8, ptr %maps, i64 {MAP_BYTES * number}")

    def array_functions(self) -> str:
        """The functions that the lines above call."""
        found = SIZES.replace("TYPE_OFFSET", str(self.places.type)) if self.reads_sizes else ""
        return found + (LAYOUT if self.reads_layouts else "")


def array_cells(arguments: tuple[Argument, ...]) -> list[str]:
    """The memory that the lines above use."""
    descriptors = [argument for argument in arguments if argument.array is not None]
    looked = [own for own in arguments if own.relied is not None and own.form in LOOKED]
    held_most = len(descriptors) + len(looked)
    cells: list[str] = []
    if any(argument.relied is not None for argument in arguments):
        cells += [
            f"%laid.sides = alloca [{MOST_AXES} x i64], align 8",
            f"%laid.strides = alloca [{MOST_AXES} x i64], align 8",
            "%laid.out = alloca [2 x i64], align 8",
        ]
    if descriptors:
        cells += [
            f"%sizes = alloca [{_RANK} x i64], align 8",
            f"%map.sides = alloca [{_RANK} x i64], align 8",
            f"%map.strides = alloca [{_RANK} x i64], align 8",
            f"%maps = alloca [{MAP_BYTES * len(descriptors)} x i8], align 64",
        ]
    if held_most:
        cells.append(f"%held = alloca [{held_most} x ptr], align 8")
    for at in range(held_most):
        cells += [
            f"%held.{at} = getelementptr ptr, ptr %held, i64 {at}",
            f"store ptr null, ptr %held.{at}, align 8",
        ]
    return cells


# So many ints, of 64 bits, of a tuple or list of as many.
SIZES = f"""
define internal i32 @sizes(ptr %sequence, i64 %count, ptr %out) {{
entry:
  %overflow = alloca i32, align 4
  %type.at = getelementptr i8, ptr %sequence, i64 TYPE_OFFSET
  %type = load ptr, ptr %type.at, align 8
  %is.tuple = icmp eq ptr %type, @py_tuple
  br i1 %is.tuple, label %tuple, label %other
tuple:
  %tuple.size = call i64 @PyTuple_Size(ptr %sequence)
  br label %sized
other:
  %is.list = icmp eq ptr %type, @py_list
  br i1 %is.list, label %list, label %miss
list:
  %list.size = call i64 @PyList_Size(ptr %sequence)
  br label %sized
sized:
  %size = phi i64 [ %tuple.size, %tuple ], [ %list.size, %list ]
  %fits = icmp eq i64 %size, %count
  br i1 %fits, label %loop, label %miss
loop:
  %i = phi i64 [ 0, %sized ], [ %next, %store ]
  %left = icmp ult i64 %i, %count
  br i1 %left, label %look, label %good
look:
  br i1 %is.tuple, label %of.tuple, label %of.list
of.tuple:
  %tuple.item = call ptr @PyTuple_GetItem(ptr %sequence, i64 %i)
  br label %item.known
of.list:
  %list.item = call ptr @PyList_GetItem(ptr %sequence, i64 %i)
  br label %item.known
item.known:
  %item = phi ptr [ %tuple.item, %of.tuple ], [ %list.item, %of.list ]
  %item.type.at = getelementptr i8, ptr %item, i64 TYPE_OFFSET
  %item.type = load ptr, ptr %item.type.at, align 8
  %is.int = icmp eq ptr %item.type, @py_int
  br i1 %is.int, label %int, label %miss
int:
  %number = call i64 @PyLong_AsLongLongAndOverflow(ptr %item, ptr %overflow)
  %over = load i32, ptr %overflow, align 4
  %is.small = icmp eq i32 %over, 0
  br i1 %is.small, label %store, label %miss
store:
  %place = getelementptr i64, ptr %out, i64 %i
  store i64 %number, ptr %place, align 8
  %next = add i64 %i, 1
  br label %loop
good:
  ret i32 {OK}
miss:
  ret i32 {MISS}
}}
"""

# The elements from the first to the last, and whether they lie row-major without gaps.
LAYOUT = f"""
define internal i32 @layout(ptr %sides, ptr %strides, i64 %count, ptr %out) {{
entry:
  br label %loop
loop:
  %i = phi i64 [ %count, %entry ], [ %at, %step ]
  %extent = phi i64 [ 1, %entry ], [ %farther, %step ]
  %expected = phi i64 [ 1, %entry ], [ %product, %step ]
  %whole = phi i1 [ true, %entry ], [ %still, %step ]
  %left = icmp sgt i64 %i, 0
  br i1 %left, label %look, label %good
look:
  %at = sub i64 %i, 1
  %side.at = getelementptr i64, ptr %sides, i64 %at
  %side = load i64, ptr %side.at, align 8
  %stride.at = getelementptr i64, ptr %strides, i64 %at
  %stride = load i64, ptr %stride.at, align 8
  %some = icmp sgt i64 %side, 0
  %forward = icmp sge i64 %stride, 0
  %fine = and i1 %some, %forward
  br i1 %fine, label %step, label %miss
step:
  %steps = sub i64 %side, 1
  %way = mul i64 %steps, %stride
  %farther = add i64 %extent, %way
  %product = mul i64 %expected, %side
  %single = icmp eq i64 %side, 1
  %equal = icmp eq i64 %stride, %expected
  %either = or i1 %single, %equal
  %still = and i1 %whole, %either
  br label %loop
good:
  store i64 %extent, ptr %out, align 8
  %flag.at = getelementptr i64, ptr %out, i64 1
  %flag = zext i1 %whole to i64
  store i64 %flag, ptr %flag.at, align 8
  ret i32 {OK}
miss:
  ret i32 {MISS}
}}
"""
