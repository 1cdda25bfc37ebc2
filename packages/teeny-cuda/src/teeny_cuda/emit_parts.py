"""What all functions of short launches share: words of records, Python's C functions, fixed code.

LLVM text only; emit.py writes the functions of the patterns around it.
"""

from __future__ import annotations

# Words of an entry's record. The arguments of the call follow from ARGUMENTS on, four words each.
CODE, ALIVE, CONTEXT, FUNCTION, STREAM, THREADS, SHARED, CONFIG = range(8)
NAMES, FAILED, GRID, LIMIT_X, LIMIT_Y, LIMIT_Z, STREAM_OF, PLACE, VALUES = range(8, 17)
LAUNCH, LAUNCH_EX, CURRENT, PUSH, POP = range(17, 22)
# Where the number of open captures stands and launches are noted; the record's number there, and
# how many of its arguments are noted (read for prepared launches only).
CTAS, CAPTURES, NOTES, SERIAL, NOTED = range(22, 27)
# Scratch memory: bytes of a program's blocks and their alignment, for the kernel and for profiling.
ALLOCATE, FREE, SCRATCH, SCRATCH_ALIGN, PROFILE, PROFILE_ALIGN = range(27, 33)
ENCODE = 33
# What tells a stream's number and whether it is captured, what is told which memory a launch would
# have had, and the memory (number, address, bytes) by the last bits of the stream's number.
STREAM_NUMBER, IS_CAPTURING, TELL, PIECE, PIECES = 34, 35, 36, 37, 8
ARGUMENTS, ARGUMENT_WORDS = PIECE + PIECES, 4
LOOK = 3  # the word of an argument that tells an array's sides and strides
# Words of a descriptor, behind those of all arguments: what its array is (as an argument's words),
# how it is padded, the sides of its tile, and what the driver encodes it with.
MAP_ARRAY, MAP_PADDING, MAP_BLOCK, MAP_BOX, MAP_STEPS, MAP_KIND, MAP_SWIZZLE = 0, 3, 4, 5, 6, 7, 8
MAP_PROMOTION, MAP_FILL, MAP_WORDS = 9, 10, 11
MAP_BYTES = 128
MOST_AXES = 8  # of a buffer that is looked at
# Words of a context's notes: how many launches there were, then the latest ones in rows that are
# used in turn. A row: number of the launch, of its record, x and y of the grid, z, and arguments.
NOTES_ROWS, ROW_BITS = 64, 7  # a row has 2**7 bytes
ROW_SERIAL, ROW_GRID, ROW_GRID_Z, ROW_ARGUMENTS = range(1, 5)
NOTED_MOST = 2**ROW_BITS // 8 - ROW_ARGUMENTS
# Words of a call site: the chain, what to call when no entry fits, and the grid (three i32).
SITE_CHAIN, SITE_SLOW, SITE_GRID, SITE_GRID_Z, SITE_DYNAMIC = range(5)
# Words of a chain: the captured names to look up again, and its entries.
CHAIN_GUARDS, CHAIN_GUARD_TABLE, CHAIN_ENTRIES, CHAIN_TABLE = range(4)
GUARD_WORDS = 4  # is a cell, place, name, value
# Words of a prepared launch.
PREPARED_PARAMS, PREPARED_GRID, PREPARED_GRID_Z = ARGUMENTS, ARGUMENTS + 1, ARGUMENTS + 2
PREPARED_WORDS = ARGUMENTS + 3
CONFIG_BYTES = 56  # sizeof(CUlaunchConfig)

OK, MISS, ERROR = 0, 1, 2
REFUSED = -2  # no result of the driver: what had to come before the launch could not be had

# Functions of Python's stable ABI and of `cpython/` headers that never changed their signatures.
FUNCTIONS = {
    "PyCell_Get": "ptr (ptr)",
    "PyDict_GetItemWithError": "ptr (ptr, ptr)",
    "PyErr_Clear": "void ()",
    "PyErr_Occurred": "ptr ()",
    "PyEval_RestoreThread": "void (ptr)",
    "PyEval_SaveThread": "ptr ()",
    "PyFloat_AsDouble": "double (ptr)",
    "PyLong_AsDouble": "double (ptr)",
    "PyLong_AsLongLongAndOverflow": "i64 (ptr, ptr)",
    "PyLong_AsUnsignedLongLongMask": "i64 (ptr)",
    "PyList_GetItem": "ptr (ptr, i64)",
    "PyList_Size": "i64 (ptr)",
    "PyLong_FromLong": "ptr (i64)",
    "PyLong_FromUnsignedLongLong": "ptr (i64)",
    "PyObject_CallNoArgs": "ptr (ptr)",
    "PyObject_CallOneArg": "ptr (ptr, ptr)",
    "PyObject_GetAttr": "ptr (ptr, ptr)",
    "PyObject_Vectorcall": "ptr (ptr, ptr, i64, ptr)",
    "PyObject_VectorcallMethod": "ptr (ptr, ptr, i64, ptr)",
    "PyTuple_GetItem": "ptr (ptr, i64)",
    "PyTuple_Size": "i64 (ptr)",
    "Py_DecRef": "void (ptr)",
    "Py_IncRef": "void (ptr)",
}
# Python objects that the code names; record.py gives their addresses.
OBJECTS = (
    "py_none", "py_true", "py_false", "py_int", "py_float", "py_tuple", "py_list",
    "name_dtype", "name_get_device", "name_data_ptr",
    "name_data", "name_ptr", "name_device_id",
    "name_base", "name_shape", "name_strides", "name_block_shape", "name_padding",
)  # fmt: skip

# A grid as an int, a tuple of ints, or whatever the record's Python function makes three ints of.
GRID_OF = f"""
define internal i32 @axis(ptr %value, i64 %limit, ptr %out, i64 %offset) {{
entry:
  %overflow = alloca i32, align 4
  %type.at = getelementptr i8, ptr %value, i64 TYPE_OFFSET
  %type = load ptr, ptr %type.at, align 8
  %is.int = icmp eq ptr %type, @py_int
  br i1 %is.int, label %int, label %miss
int:
  %n = call i64 @PyLong_AsLongLongAndOverflow(ptr %value, ptr %overflow)
  %over = icmp ugt i64 %n, %limit
  br i1 %over, label %miss, label %fits
fits:
  %small = trunc i64 %n to i32
  %at = getelementptr i8, ptr %out, i64 %offset
  store i32 %small, ptr %at, align 4
  %zero = icmp eq i64 %n, 0
  %status = select i1 %zero, i32 3, i32 {OK}
  ret i32 %status
miss:
  ret i32 {MISS}
}}
define internal i32 @grid_of(ptr %rec, ptr %value, ptr %out) {{
entry:
  %y.at = getelementptr i8, ptr %out, i64 4
  store i32 1, ptr %y.at, align 4
  %z.at = getelementptr i8, ptr %out, i64 8
  store i32 1, ptr %z.at, align 4
  %limit.at = getelementptr i8, ptr %rec, i64 {8 * LIMIT_X}
  %limit.0 = load i64, ptr %limit.at, align 8
  %type.at = getelementptr i8, ptr %value, i64 TYPE_OFFSET
  %type = load ptr, ptr %type.at, align 8
  %is.int = icmp eq ptr %type, @py_int
  br i1 %is.int, label %int, label %more
int:
  %only = call i32 @axis(ptr %value, i64 %limit.0, ptr %out, i64 0)
  ret i32 %only
more:
  %is.tuple = icmp eq ptr %type, @py_tuple
  br i1 %is.tuple, label %loop.start, label %ask
ask:
  %grid.at = getelementptr i8, ptr %rec, i64 {8 * GRID}
  %function = load ptr, ptr %grid.at, align 8
  %answer = call ptr @PyObject_CallOneArg(ptr %function, ptr %value)
  %raised = icmp eq ptr %answer, null
  br i1 %raised, label %error, label %loop.start
error:
  ret i32 {ERROR}
loop.start:
  %tuple = phi ptr [ %value, %more ], [ %answer, %ask ]
  %owned = phi i1 [ false, %more ], [ true, %ask ]
  %size = call i64 @PyTuple_Size(ptr %tuple)
  %size.less = sub i64 %size, 1
  %bad.size = icmp ugt i64 %size.less, 2
  br i1 %bad.size, label %leave, label %loop
loop:
  %i = phi i64 [ 0, %loop.start ], [ %next, %step ]
  %worst = phi i32 [ {OK}, %loop.start ], [ %status, %step ]
  %item = call ptr @PyTuple_GetItem(ptr %tuple, i64 %i)
  %limit.place = getelementptr i64, ptr %limit.at, i64 %i
  %limit = load i64, ptr %limit.place, align 8
  %offset = mul i64 %i, 4
  %now = call i32 @axis(ptr %item, i64 %limit, ptr %out, i64 %offset)
  %missed = icmp eq i32 %now, {MISS}
  br i1 %missed, label %leave, label %step
step:
  %is.empty = icmp eq i32 %now, 3
  %status = select i1 %is.empty, i32 3, i32 %worst
  %next = add i64 %i, 1
  %again = icmp ult i64 %next, %size
  br i1 %again, label %loop, label %leave
leave:
  %result = phi i32 [ {MISS}, %loop.start ], [ {MISS}, %loop ], [ %status, %step ]
  br i1 %owned, label %drop, label %end
drop:
  call void @Py_DecRef(ptr %tuple)
  br label %end
end:
  ret i32 %result
}}
"""

# The function that Python calls: look at what the kernel captured, then at each entry.
DISPATCH = f"""
define ptr @dispatch(ptr %self, ptr %args, i64 %nargs, ptr %kwnames) {{
entry:
  %site.at = getelementptr i8, ptr %self, i64 MEMORY_OFFSET
  %site = load ptr, ptr %site.at, align 8
  %chain = load ptr, ptr %site, align 8
  %slow.at = getelementptr i8, ptr %site, i64 {8 * SITE_SLOW}
  %slow = load ptr, ptr %slow.at, align 8
  %count = load i64, ptr %chain, align 8
  %guards.at = getelementptr i8, ptr %chain, i64 {8 * CHAIN_GUARD_TABLE}
  %guards = load ptr, ptr %guards.at, align 8
  br label %guard
guard:
  %g = phi i64 [ 0, %entry ], [ %g.next, %guard.good ]
  %guards.left = icmp ult i64 %g, %count
  br i1 %guards.left, label %look, label %start
look:
  %row = mul i64 %g, {8 * GUARD_WORDS}
  %guard.row = getelementptr i8, ptr %guards, i64 %row
  %is.cell = load i64, ptr %guard.row, align 8
  %place.at = getelementptr i8, ptr %guard.row, i64 8
  %place = load ptr, ptr %place.at, align 8
  %name.at = getelementptr i8, ptr %guard.row, i64 16
  %name = load ptr, ptr %name.at, align 8
  %value.at = getelementptr i8, ptr %guard.row, i64 24
  %value = load ptr, ptr %value.at, align 8
  %dict = icmp eq i64 %is.cell, 0
  br i1 %dict, label %in.dict, label %in.cell
in.dict:
  %found.dict = call ptr @PyDict_GetItemWithError(ptr %place, ptr %name)
  br label %compare
in.cell:
  %found.cell = call ptr @PyCell_Get(ptr %place)
  call void @Py_DecRef(ptr %found.cell)
  br label %compare
compare:
  %found = phi ptr [ %found.dict, %in.dict ], [ %found.cell, %in.cell ]
  %holds = icmp eq ptr %found, %value
  br i1 %holds, label %guard.good, label %give.up, !prof !1
guard.good:
  %g.next = add i64 %g, 1
  br label %guard
start:
  %positional = and i64 %nargs, 9223372036854775807
  %dynamic.at = getelementptr i8, ptr %site, i64 {8 * SITE_DYNAMIC}
  %dynamic = load i64, ptr %dynamic.at, align 8
  %is.dynamic = icmp ne i64 %dynamic, 0
  br i1 %is.dynamic, label %shift, label %enter
shift:
  %none.given = icmp eq i64 %positional, 0
  br i1 %none.given, label %give.up, label %take
take:
  %first = load ptr, ptr %args, align 8
  %rest = getelementptr ptr, ptr %args, i64 1
  %fewer = sub i64 %positional, 1
  br label %enter
enter:
  %grid = phi ptr [ null, %start ], [ %first, %take ]
  %given = phi ptr [ %args, %start ], [ %rest, %take ]
  %number = phi i64 [ %positional, %start ], [ %fewer, %take ]
  %entries.at = getelementptr i8, ptr %chain, i64 {8 * CHAIN_ENTRIES}
  %entries = load i64, ptr %entries.at, align 8
  br label %next
next:
  %e = phi i64 [ 0, %enter ], [ %e.next, %missed ]
  %left = icmp ult i64 %e, %entries
  br i1 %left, label %try, label %give.up
try:
  %table = getelementptr i8, ptr %chain, i64 {8 * CHAIN_TABLE}
  %entry.at = getelementptr ptr, ptr %table, i64 %e
  %record = load ptr, ptr %entry.at, align 8
  %code = load ptr, ptr %record, align 8
  %status = call i32 %code(ptr %record, ptr %given, i64 %number, ptr %kwnames, ptr %grid, ptr %site)
  switch i32 %status, label %missed [ i32 {OK}, label %good i32 {ERROR}, label %bad ]
missed:
  %e.next = add i64 %e, 1
  br label %next
good:
  call void @Py_IncRef(ptr @py_none)
  ret ptr @py_none
bad:
  ret ptr null
give.up:
  %answer = call ptr @PyObject_Vectorcall(ptr %slow, ptr %args, i64 %nargs, ptr %kwnames)
  ret ptr %answer
}}
"""
