"""LLVM IR of the short launch: checks and packs a tuple of arguments, then runs the pool's code.

Text only; `shortcut.py` compiles and calls it. It is called with the GIL held, which it gives away
while programs run, and knows of NumPy's arrays what NumPy's C interface fixes.
"""

from __future__ import annotations

from teeny_cpu.native import FAILED, PAUSED, Record

SYMBOL = "teeny_call"
# What a call answers besides the pool's codes: an argument does not fit, a handler has raised.
OTHER, RAISED = 64, 65

# Kinds of arguments.
ARRAY, INT, FLOAT, BOOL, SAME, SAME_INT = range(6)
FIELDS = ("kind", "slot", "value", "low", "high", "bits", "size", "extent")
# Bits of an argument: it must (or must not) be a multiple of 16, or 1; ints outside of i32; an f64;
# ints are taken for floats.
DIVISIBLE, INDIVISIBLE, ONE, NOT_ONE, WIDE, DOUBLE, ANY_NUMBER = (1 << i for i in range(7))

# The Python functions and types that the code is given, in the order of its table.
FUNCTIONS = (
    "PyTuple_GetItem",
    "PyLong_AsLongLongAndOverflow",
    "PyFloat_AsDouble",
    "PyEval_SaveThread",
    "PyEval_RestoreThread",
    "PyErr_CheckSignals",
)
TABLE = (*FUNCTIONS, "launch", "step", "stop", "ndarray", "int", "float", "bool", "True")

_RECORD_WORDS = len(Record._fields)
# Behind the record: how many arguments and extents, and where arguments, words and table are.
PLAN = ("arguments", "extents", "argument_table", "words", "table")

# Fields of a NumPy array behind the head of an object.
DATA, NDIM, DIMS, DESCR, FLAGS = 0, 8, 16, 40, 48
C_ORDER, ALIGNED, WRITABLE = 0x1, 0x100, 0x400


def call_text(type_offset: int, head: int) -> str:
    """The module. Objects keep their type at `type_offset`, and their head has `head` bytes."""
    fields = _fields()
    return "\n".join(
        (
            "declare ptr @memcpy(ptr, ptr, i64)",
            f"define i32 @{SYMBOL}(ptr %plan, ptr %args, ptr %job) nounwind {{",
            _ENTRY,
            fields,
            f"  %typep = getelementptr i8, ptr %item, i64 {type_offset}",
            _KINDS,
            _array(head),
            _NUMBERS,
            _OVERLAP,
            _RUN,
            "}",
        )
    )


def _word(name: str, at: int, base: str = "plan", type_: str = "ptr") -> str:
    return (
        f"  %{name}.at = getelementptr i64, ptr %{base}, i64 {at}\n"
        f"  %{name} = load {type_}, ptr %{name}.at\n"
    )


_ENTRY = (
    "entry:\n"
    + _word("count", _RECORD_WORDS + PLAN.index("arguments"), type_="i64")
    + _word("arrays", _RECORD_WORDS + PLAN.index("extents"), type_="i64")
    + _word("argument_table", _RECORD_WORDS + PLAN.index("argument_table"))
    + _word("template", _RECORD_WORDS + PLAN.index("words"))
    + _word("table", _RECORD_WORDS + PLAN.index("table"))
    + "".join(_word(name, at, "table") for at, name in enumerate(TABLE))
    + _word("slots", Record._fields.index("slots"), type_="i64")
    + f"""  %words = alloca i64, i64 %slots, align 64
  %bytes = mul i64 %slots, 8
  %c0 = call ptr @memcpy(ptr %words, ptr %template, i64 %bytes)
  %record = alloca [{_RECORD_WORDS} x i64], align 64
  %c1 = call ptr @memcpy(ptr %record, ptr %plan, i64 {8 * _RECORD_WORDS})
  %argsp = getelementptr i64, ptr %record, i64 {Record._fields.index("args")}
  store ptr %words, ptr %argsp
  %pairs = mul i64 %arrays, 2
  %room = add i64 %pairs, 1
  %extents = alloca i64, i64 %room, align 16
  %over = alloca i32, align 4
  br label %next
next:
  %i = phi i64 [0, %entry], [%i.n, %done]
  %more = icmp slt i64 %i, %count
  br i1 %more, label %argument, label %packed
argument:
  %about = getelementptr [{len(FIELDS)} x i64], ptr %argument_table, i64 %i
  %item = call ptr %PyTuple_GetItem(ptr %args, i64 %i)"""
)


def _fields() -> str:
    return "".join(_word(name, at, "about", "i64") for at, name in enumerate(FIELDS)) + (
        "  %word = getelementptr i64, ptr %words, i64 %slot"
    )


_KINDS = f"""  %type = load ptr, ptr %typep
  %itemi = ptrtoint ptr %item to i64
  switch i64 %kind, label %other [
    i64 {ARRAY}, label %array
    i64 {INT}, label %integer
    i64 {FLOAT}, label %number
    i64 {BOOL}, label %truth
    i64 {SAME}, label %same
    i64 {SAME_INT}, label %integer ]
same:
  %is = icmp eq i64 %itemi, %value
  br i1 %is, label %done, label %other
truth:
  %isbool = icmp eq ptr %type, %bool
  br i1 %isbool, label %bit, label %other
bit:
  %true = icmp eq ptr %item, %True
  %one = zext i1 %true to i64
  store i64 %one, ptr %word
  br label %done"""


def _array(head: int) -> str:
    """An array: its type, dtype and flags, then its place and bytes."""
    at = {name: head + offset for name, offset in (
        ("data", DATA), ("ndim", NDIM), ("dims", DIMS), ("descr", DESCR), ("flags", FLAGS)
    )}  # fmt: skip
    return f"""array:
  %isarray = icmp eq ptr %type, %ndarray
  br i1 %isarray, label %dtype, label %other
dtype:
  %descrp = getelementptr i8, ptr %item, i64 {at["descr"]}
  %descr = load i64, ptr %descrp
  %flagsp = getelementptr i8, ptr %item, i64 {at["flags"]}
  %flags = load i32, ptr %flagsp
  %wanted = trunc i64 %low to i32
  %kept = and i32 %flags, %wanted
  %plain = icmp eq i32 %kept, %wanted
  %like = icmp eq i64 %descr, %value
  %fits = and i1 %plain, %like
  br i1 %fits, label %place, label %other
place:
  %datap = getelementptr i8, ptr %item, i64 {at["data"]}
  %data = load i64, ptr %datap
  %ndimp = getelementptr i8, ptr %item, i64 {at["ndim"]}
  %ndim = load i32, ptr %ndimp
  %ndims = sext i32 %ndim to i64
  %dimsp = getelementptr i8, ptr %item, i64 {at["dims"]}
  %dims = load ptr, ptr %dimsp
  br label %side
side:
  %d = phi i64 [0, %place], [%d.n, %sized]
  %nbytes = phi i64 [%size, %place], [%nbytes.n, %sized]
  %inside = icmp slt i64 %d, %ndims
  br i1 %inside, label %sized, label %measured
sized:
  %dimp = getelementptr i64, ptr %dims, i64 %d
  %dim = load i64, ptr %dimp
  %nbytes.n = mul i64 %nbytes, %dim
  %d.n = add i64 %d, 1
  br label %side
measured:
  store i64 %data, ptr %word
  %e2 = mul i64 %extent, 2
  %fromp = getelementptr i64, ptr %extents, i64 %e2
  store i64 %data, ptr %fromp
  %bytesp = getelementptr i8, ptr %fromp, i64 8
  store i64 %nbytes, ptr %bytesp
  br label %hints"""


# Integers are compared with their limits and hints, floats rounded to their parameter's type.
_NUMBERS = f"""integer:
  %isint = icmp eq ptr %type, %int
  br i1 %isint, label %whole, label %other
whole:
  store i32 0, ptr %over
  %number.i = call i64 %PyLong_AsLongLongAndOverflow(ptr %item, ptr %over)
  %over.i = load i32, ptr %over
  %small = icmp eq i32 %over.i, 0
  %above = icmp sge i64 %number.i, %low
  %below = icmp sle i64 %number.i, %high
  %o1 = and i1 %small, %above
  %o2 = and i1 %o1, %below
  br i1 %o2, label %held, label %other
held:
  %const = icmp eq i64 %kind, {SAME_INT}
  br i1 %const, label %done, label %width
width:
  %narrow.32 = trunc i64 %number.i to i32
  %again = sext i32 %narrow.32 to i64
  %isnarrow = icmp eq i64 %again, %number.i
  %wide.b = and i64 %bits, {WIDE}
  %wide = icmp ne i64 %wide.b, 0
  %toosmall = and i1 %wide, %isnarrow
  br i1 %toosmall, label %other, label %ones
ones:
  store i64 %number.i, ptr %word
  %isone = icmp eq i64 %number.i, 1
  %bad.one = select i1 %isone, i64 {NOT_ONE}, i64 {ONE}
  %b1 = and i64 %bits, %bad.one
  %bad1 = icmp ne i64 %b1, 0
  br i1 %bad1, label %other, label %hints
hints:
  %x = phi i64 [%data, %measured], [%number.i, %ones]
  %low4 = and i64 %x, 15
  %is16 = icmp eq i64 %low4, 0
  %bad.16 = select i1 %is16, i64 {INDIVISIBLE}, i64 {DIVISIBLE}
  %b2 = and i64 %bits, %bad.16
  %bad2 = icmp ne i64 %b2, 0
  br i1 %bad2, label %other, label %done
number:
  %isfloat = icmp eq ptr %type, %float
  br i1 %isfloat, label %real, label %maybe
maybe:
  %any.b = and i64 %bits, {ANY_NUMBER}
  %any = icmp ne i64 %any.b, 0
  %isint2 = icmp eq ptr %type, %int
  %asint = and i1 %any, %isint2
  br i1 %asint, label %convert, label %other
convert:
  store i32 0, ptr %over
  %number.f = call i64 %PyLong_AsLongLongAndOverflow(ptr %item, ptr %over)
  %over.f = load i32, ptr %over
  %fits.f = icmp eq i32 %over.f, 0
  %converted = sitofp i64 %number.f to double
  br i1 %fits.f, label %rounded, label %other
real:
  %given = call double %PyFloat_AsDouble(ptr %item)
  br label %rounded
rounded:
  %f = phi double [%given, %real], [%converted, %convert]
  %double.b = and i64 %bits, {DOUBLE}
  %double = icmp ne i64 %double.b, 0
  br i1 %double, label %f64, label %f32
f64:
  store double %f, ptr %word
  br label %done
f32:
  %r = fptrunc double %f to float
  %r.bits = bitcast float %r to i32
  %r.size = and i32 %r.bits, 2147483647
  %r.inf = icmp eq i32 %r.size, 2139095040
  %f.bits = bitcast double %f to i64
  %f.size = and i64 %f.bits, 9223372036854775807
  %f.finite = icmp ult i64 %f.size, 9218868437227405312
  %r.lost = and i1 %r.inf, %f.finite
  br i1 %r.lost, label %other, label %single
single:
  %r.wide = zext i32 %r.bits to i64
  store i64 %r.wide, ptr %word
  br label %done
done:
  %i.n = add i64 %i, 1
  br label %next
other:
  ret i32 {OTHER}"""

# Whether any two arrays share a byte; then bit 0 of the flags stays 0.
_OVERLAP = """packed:
  %behind = sub i64 %slots, 3
  %flagp = getelementptr i64, ptr %words, i64 %behind
  %extp = getelementptr i8, ptr %flagp, i64 8
  store ptr %extents, ptr %extp
  br label %left
left:
  %p = phi i64 [0, %packed], [%p.n, %left.next]
  %p.more = icmp slt i64 %p, %arrays
  br i1 %p.more, label %left.in, label %apart
left.in:
  %p2 = mul i64 %p, 2
  %p.at = getelementptr i64, ptr %extents, i64 %p2
  %p.begin = load i64, ptr %p.at
  %p.sizep = getelementptr i8, ptr %p.at, i64 8
  %p.size = load i64, ptr %p.sizep
  %p.end = add i64 %p.begin, %p.size
  %p.n = add i64 %p, 1
  br label %right
right:
  %q = phi i64 [%p.n, %left.in], [%q.n, %right.next]
  %q.more = icmp slt i64 %q, %arrays
  br i1 %q.more, label %right.in, label %left.next
right.in:
  %q2 = mul i64 %q, 2
  %q.at = getelementptr i64, ptr %extents, i64 %q2
  %q.begin = load i64, ptr %q.at
  %q.sizep = getelementptr i8, ptr %q.at, i64 8
  %q.size = load i64, ptr %q.sizep
  %q.end = add i64 %q.begin, %q.size
  %t1 = icmp slt i64 %p.begin, %q.end
  %t2 = icmp slt i64 %q.begin, %p.end
  %t3 = icmp ne i64 %p.size, 0
  %t4 = icmp ne i64 %q.size, 0
  %t5 = and i1 %t1, %t2
  %t6 = and i1 %t3, %t4
  %shared = and i1 %t5, %t6
  br i1 %shared, label %go, label %right.next
right.next:
  %q.n = add i64 %q, 1
  br label %right
left.next:
  br label %left
apart:
  store i64 1, ptr %flagp
  br label %go"""

# The pool pauses so that signals are seen; their handlers run here.
_RUN = f"""go:
  %thread = call ptr %PyEval_SaveThread()
  %r0 = call i32 %launch(ptr %record, ptr %job)
  br label %look
look:
  %status = phi i32 [%r0, %go], [%r1, %step.on]
  %state = phi ptr [%thread, %go], [%thread2, %step.on]
  call void %PyEval_RestoreThread(ptr %state)
  %pause = icmp eq i32 %status, {PAUSED}
  br i1 %pause, label %signals, label %out
signals:
  %raised = call i32 %PyErr_CheckSignals()
  %calm = icmp eq i32 %raised, 0
  %thread2 = call ptr %PyEval_SaveThread()
  br i1 %calm, label %step.on, label %halt
step.on:
  %r1 = call i32 %step(ptr %job)
  br label %look
halt:
  call void %stop(ptr %job)
  call void %PyEval_RestoreThread(ptr %thread2)
  ret i32 {RAISED}
out:
  ret i32 %status"""

assert FAILED < PAUSED < OTHER
