"""LLVM IR of the thread pool: the loop over chunks of programs, and how workers sleep and wake.

Text only; `pool.py` compiles and calls it. A launch is described by a `Record`, its progress lies
in the header of the calling thread's scratch memory, the arena follows the header. No call takes
longer than `SLICE_NS` and a chunk, so that the caller can look for signals in between.
"""

from __future__ import annotations

from typing import NamedTuple

# What a call answers.
DONE, FAILED, PAUSED, TAKEN, CALL = 0, 1, 2, 3, 4
# How a launch begins: alone, alone until it proves long, or with workers at once.
ALONE, GROWING, TOGETHER = 0, 1, 2

HEADER_BYTES = 256
POOL_BYTES = 512
SLICE_NS = 50_000_000
# A launch that began alone calls workers when it has run so long.
GROW_NS = 30_000
_ERROR_WORDS = 8

SYMBOLS = ("teeny_launch", "teeny_step", "teeny_stop")
SLEEPING = ("teeny_pool_init", "teeny_worker", "teeny_close")
HELPING = ("teeny_help",)


class Record(NamedTuple):
    """What a launch is, as words of 8 bytes in this order.

    `args` has `slots` words; word `error_slot` is replaced by the address of each thread's own
    error record. `workers` threads are called to help with `total` programs, `chunk` at a time.
    Worker number i has `stride` bytes of scratch memory from `scratch` + i * `stride` on; a worker
    whose number is not below `room` has none, and leaves at once. A chunk is run in pieces, of
    `piece` programs at first, then of as many as take some 0.5 ms.
    """

    function: int
    args: int
    slots: int
    error_slot: int
    total: int
    chunk: int
    mode: int
    pool: int
    scratch: int
    stride: int
    workers: int
    room: int
    piece: int


# Words of the header: 0-7 the error record, then these at byte offsets. `_LEFT` and `_LEFT_END` are
# the rest of a chunk in which its caller paused.
_NEXT, _RECORD, _STATE, _FAILED, STOP_AT, _SHARED, _START, _LEFT, _LEFT_END, _PENDING = (
    64, 128, 136, 144, 152, 160, 168, 176, 184, 192,
)  # fmt: skip
# A piece that takes less than the first of these (ns) is followed by one twice as long, one that
# takes more than the second by half of it: so a launch whose programs take longer than estimated
# can still be stopped.
_SHORT_NS, _LONG_NS = 250_000, 1_000_000
# Bytes of the pool. `_CALLS` is how many workers of a launch are still to be woken, by those awake.
_BUSY, _JOB, _SHUT, _WORK, _CALLS, _DONE = 0, 64, 128, 192, 256, 320
# A thread wakes so many others (a wake is a system call of 1 to 2 us, and as long again passes
# until the other runs), and so often a caller looks for the last workers before it sleeps.
_FAN, _LOOKS = 2, 200


def pool_text(system: str, machine: str) -> str:
    """The module for `linux`, where workers sleep in POSIX semaphores, `darwin` or `win32`.

    `machine` is `x86-64`, `aarch64` or another.

    Without semaphores Python wakes the workers: a launch answers CALL, each worker then runs
    `teeny_help`.
    """
    clock = _WINDOWS_CLOCK if system == "win32" else _posix_clock(6 if system == "darwin" else 1)
    if system == "linux":
        pause = _PAUSES.get(machine, "define internal void @pause() nounwind { ret void }")
        waiting = (pause, _SEMAPHORES, _WAITING, _WORKER)
    else:
        waiting = (_COUNTERS,)
    return "\n".join((_DECLARES, clock, _WAKE, *waiting, _CHUNKS, _LAUNCH))


# What a thread does between two looks at memory that another one writes.
_PAUSES = {
    "x86-64": """
declare void @llvm.x86.sse2.pause()
define internal void @pause() nounwind {
  call void @llvm.x86.sse2.pause()
  ret void
}
""",
    "aarch64": """
declare void @llvm.aarch64.hint(i32)
define internal void @pause() nounwind {
  call void @llvm.aarch64.hint(i32 1)
  ret void
}
""",
}


_WINDOWS_CLOCK = """
declare i64 @GetTickCount64()
define internal i64 @ticks() nounwind {
  %t = call i64 @GetTickCount64()
  %n = mul i64 %t, 1000000
  ret i64 %n
}
"""


def _posix_clock(clock: int) -> str:
    return f"""
declare i32 @clock_gettime(i32, ptr)
define internal i64 @now(i32 %clock) noinline nounwind {{
  %t = alloca [2 x i64], align 8
  %r = call i32 @clock_gettime(i32 %clock, ptr %t)
  %s = load i64, ptr %t
  %np = getelementptr i8, ptr %t, i64 8
  %n = load i64, ptr %np
  %a = mul i64 %s, 1000000000
  %b = add i64 %a, %n
  ret i64 %b
}}
define internal i64 @ticks() nounwind {{
  %r = call i64 @now(i32 {clock})
  ret i64 %r
}}
"""


_DECLARES = """
declare ptr @memcpy(ptr, ptr, i64)
declare i64 @llvm.umax.i64(i64, i64)
declare i64 @llvm.umin.i64(i64, i64)
"""

# Take chunks until none is left, one fails or somebody says stop. The caller (%own) also watches
# the clock: it calls workers when the launch proves long, and answers true when its slice is over.
_CHUNKS = f"""
define internal i1 @chunks(ptr %job, ptr %scratch, i1 %own) nounwind {{
entry:
  %recp = getelementptr i8, ptr %job, i64 {_RECORD}
  %rec = load ptr, ptr %recp
  %fn = load ptr, ptr %rec
  %p1 = getelementptr i8, ptr %rec, i64 8
  %args = load ptr, ptr %p1
  %p2 = getelementptr i8, ptr %rec, i64 16
  %slots = load i64, ptr %p2
  %p3 = getelementptr i8, ptr %rec, i64 24
  %error = load i64, ptr %p3
  %p4 = getelementptr i8, ptr %rec, i64 32
  %total = load i64, ptr %p4
  %p5 = getelementptr i8, ptr %rec, i64 40
  %chunk = load i64, ptr %p5
  %p6 = getelementptr i8, ptr %rec, i64 48
  %mode = load i64, ptr %p6
  %mine = alloca i64, i64 %slots, align 64
  %bytes = mul i64 %slots, 8
  %c0 = call ptr @memcpy(ptr %mine, ptr %args, i64 %bytes)
  %errorp = getelementptr i64, ptr %mine, i64 %error
  store ptr %scratch, ptr %errorp
  %arena = getelementptr i8, ptr %scratch, i64 {HEADER_BYTES}
  %nextp = getelementptr i8, ptr %job, i64 {_NEXT}
  %stopp = getelementptr i8, ptr %job, i64 {STOP_AT}
  %startp = getelementptr i8, ptr %job, i64 {_START}
  %leftp = getelementptr i8, ptr %job, i64 {_LEFT}
  %left.endp = getelementptr i8, ptr %job, i64 {_LEFT_END}
  %p12 = getelementptr i8, ptr %rec, i64 96
  %first.piece = load i64, ptr %p12
  br i1 %own, label %resume, label %loop
resume:
  %rest = load i64, ptr %leftp
  %rest.end = load i64, ptr %left.endp
  store i64 0, ptr %left.endp
  %has.rest = icmp slt i64 %rest, %rest.end
  br i1 %has.rest, label %pieces, label %loop
loop:
  %deadline = phi i64 [0, %entry], [0, %resume], [%deadline.p, %more], [%until, %counted]
  %piece.l = phi i64 [%first.piece, %entry], [%first.piece, %resume],
                     [%piece, %more], [%piece.n, %counted]
  %last.l = phi i64 [0, %entry], [0, %resume], [%last, %more], [%time, %counted]
  %stop = load atomic i64, ptr %stopp acquire, align 8
  %stopped = icmp ne i64 %stop, 0
  br i1 %stopped, label %none, label %take
take:
  %begin = atomicrmw add ptr %nextp, i64 %chunk monotonic
  %some = icmp slt i64 %begin, %total
  br i1 %some, label %clip, label %none
clip:
  %wide = add i64 %begin, %chunk
  %inside = icmp slt i64 %wide, %total
  %end = select i1 %inside, i64 %wide, i64 %total
  br label %pieces
pieces:
  %deadline.p = phi i64 [0, %resume], [%deadline, %clip], [%until, %onward]
  %piece = phi i64 [%first.piece, %resume], [%piece.l, %clip], [%piece.n, %onward]
  %last = phi i64 [0, %resume], [%last.l, %clip], [%time, %onward]
  %from = phi i64 [%rest, %resume], [%begin, %clip], [%upto, %onward]
  %to = phi i64 [%rest.end, %resume], [%end, %clip], [%to, %onward]
  %far = add i64 %from, %piece
  %partly = icmp slt i64 %far, %to
  %upto = select i1 %partly, i64 %far, i64 %to
  %status = call i32 %fn(ptr %mine, i64 %from, i64 %upto, ptr %arena)
  %good = icmp eq i32 %status, 0
  br i1 %good, label %more, label %fail
more:
  %watch = icmp slt i64 %upto, %total
  br i1 %watch, label %clock, label %loop
clock:
  %time = call i64 @ticks()
  %timed = icmp ne i64 %last, 0
  %took = sub i64 %time, %last
  %short = icmp slt i64 %took, {_SHORT_NS}
  %twice = shl i64 %piece, 1
  %grown.piece = select i1 %short, i64 %twice, i64 %piece
  %long.piece = icmp sgt i64 %took, {_LONG_NS}
  %half = lshr i64 %piece, 1
  %half.any = call i64 @llvm.umax.i64(i64 %half, i64 1)
  %fitted = select i1 %long.piece, i64 %half.any, i64 %grown.piece
  %bounded = call i64 @llvm.umin.i64(i64 %fitted, i64 %chunk)
  %piece.n = select i1 %timed, i64 %bounded, i64 %piece
  %first = icmp eq i64 %deadline.p, 0
  %later = add i64 %time, {SLICE_NS}
  %until = select i1 %first, i64 %later, i64 %deadline.p
  br i1 %own, label %caller, label %counted
caller:
  %start0 = load i64, ptr %startp
  %fresh = icmp eq i64 %start0, 0
  %start = select i1 %fresh, i64 %time, i64 %start0
  store i64 %start, ptr %startp
  %ran = sub i64 %time, %start
  %long = icmp sgt i64 %ran, {GROW_NS}
  %growing = icmp eq i64 %mode, {GROWING}
  %grow = and i1 %long, %growing
  br i1 %grow, label %wake, label %grown
wake:
  call void @grow(ptr %job, ptr %rec)
  br label %grown
grown:
  %over = icmp sgt i64 %time, %until
  br i1 %over, label %pause, label %counted
counted:
  %unfinished = icmp slt i64 %upto, %to
  br i1 %unfinished, label %check, label %loop
check:
  %stop.c = load atomic i64, ptr %stopp acquire, align 8
  %stopped.c = icmp ne i64 %stop.c, 0
  br i1 %stopped.c, label %none, label %onward
onward:
  br label %pieces
fail:
  %failedp = getelementptr i8, ptr %job, i64 {_FAILED}
  %pair = cmpxchg ptr %failedp, i64 0, i64 1 acq_rel monotonic
  %won = extractvalue {{ i64, i1 }} %pair, 1
  store atomic i64 1, ptr %stopp release, align 8
  %other = icmp ne ptr %job, %scratch
  %tell = and i1 %won, %other
  br i1 %tell, label %copy, label %none
copy:
  %c1 = call ptr @memcpy(ptr %job, ptr %scratch, i64 {8 * _ERROR_WORDS})
  br label %none
none:
  ret i1 false
pause:
  store i64 %upto, ptr %leftp
  store i64 %to, ptr %left.endp
  ret i1 true
}}
"""

# States of a job: 0 idle, 1 chunks are taken, 2 waiting for workers.
_LAUNCH = f"""
define i32 @teeny_launch(ptr %rec, ptr %job) nounwind {{
entry:
  %statep = getelementptr i8, ptr %job, i64 {_STATE}
  %state = load i64, ptr %statep
  %idle = icmp eq i64 %state, 0
  br i1 %idle, label %begin, label %taken
begin:
  %nextp = getelementptr i8, ptr %job, i64 {_NEXT}
  store atomic i64 0, ptr %nextp release, align 8
  %recp = getelementptr i8, ptr %job, i64 {_RECORD}
  store ptr %rec, ptr %recp
  %failedp = getelementptr i8, ptr %job, i64 {_FAILED}
  store i64 0, ptr %failedp
  %stopp = getelementptr i8, ptr %job, i64 {STOP_AT}
  store i64 0, ptr %stopp
  %sharedp = getelementptr i8, ptr %job, i64 {_SHARED}
  store i64 0, ptr %sharedp
  %startp = getelementptr i8, ptr %job, i64 {_START}
  store i64 0, ptr %startp
  %left.endp = getelementptr i8, ptr %job, i64 {_LEFT_END}
  store i64 0, ptr %left.endp
  %leftp = getelementptr i8, ptr %job, i64 {_LEFT}
  store i64 0, ptr %leftp
  store i64 1, ptr %statep
  %modep = getelementptr i8, ptr %rec, i64 48
  %mode = load i64, ptr %modep
  %together = icmp eq i64 %mode, {TOGETHER}
  br i1 %together, label %wake, label %go
wake:
  call void @wake(ptr %job, ptr %rec)
  %shared = load i64, ptr %sharedp
  %woken = icmp ne i64 %shared, 0
  %ask = call i1 @must_be_called()
  %callers = and i1 %woken, %ask
  br i1 %callers, label %call, label %go
call:
  ret i32 {CALL}
go:
  %r = call i32 @teeny_step(ptr %job)
  ret i32 %r
taken:
  ret i32 {TAKEN}
}}
define i32 @teeny_step(ptr %job) nounwind {{
entry:
  %statep = getelementptr i8, ptr %job, i64 {_STATE}
  %state = load i64, ptr %statep
  switch i64 %state, label %idle [i64 1, label %take
                                  i64 2, label %wait]
idle:
  ret i32 {DONE}
take:
  %over = call i1 @chunks(ptr %job, ptr %job, i1 true)
  br i1 %over, label %paused, label %all
all:
  %sharedp = getelementptr i8, ptr %job, i64 {_SHARED}
  %shared = load i64, ptr %sharedp
  %alone = icmp eq i64 %shared, 0
  br i1 %alone, label %finish, label %together
together:
  store i64 2, ptr %statep
  %last = call i1 @reclaim(ptr %job)
  br i1 %last, label %free, label %wait
wait:
  %met = call i1 @wait_for_workers(ptr %job)
  br i1 %met, label %free, label %paused
free:
  call void @free_pool(ptr %job)
  br label %finish
finish:
  store i64 0, ptr %statep
  %failedp = getelementptr i8, ptr %job, i64 {_FAILED}
  %failed = load atomic i64, ptr %failedp acquire, align 8
  %r = trunc i64 %failed to i32
  ret i32 %r
paused:
  ret i32 {PAUSED}
}}
define void @teeny_stop(ptr %job) nounwind {{
entry:
  %stopp = getelementptr i8, ptr %job, i64 {STOP_AT}
  store atomic i64 1, ptr %stopp release, align 8
  br label %again
again:
  %r = call i32 @teeny_step(ptr %job)
  %wait = icmp eq i32 %r, {PAUSED}
  br i1 %wait, label %again, label %out
out:
  ret void
}}
"""

# Claim the pool for a job, unless another launch has it, and call workers. Each worker called is
# one of `pending`; the caller is one more.
_WAKE = f"""
define internal void @wake(ptr %job, ptr %rec) nounwind {{
entry:
  %sharedp = getelementptr i8, ptr %job, i64 {_SHARED}
  %shared = load i64, ptr %sharedp
  %pp = getelementptr i8, ptr %rec, i64 56
  %pool = load ptr, ptr %pp
  %wp = getelementptr i8, ptr %rec, i64 80
  %workers = load i64, ptr %wp
  %nobody = icmp slt i64 %workers, 1
  %already = icmp ne i64 %shared, 0
  %no = or i1 %nobody, %already
  br i1 %no, label %out, label %claim
claim:
  %pair = cmpxchg ptr %pool, i64 0, i64 1 acquire monotonic
  %mine = extractvalue {{ i64, i1 }} %pair, 1
  br i1 %mine, label %call, label %out
call:
  store i64 1, ptr %sharedp
  %jobp = getelementptr i8, ptr %pool, i64 {_JOB}
  store ptr %job, ptr %jobp
  %pendingp = getelementptr i8, ptr %job, i64 {_PENDING}
  %all = add i64 %workers, 1
  store atomic i64 %all, ptr %pendingp release, align 8
  call void @post(ptr %pool, i64 %workers)
  br label %out
out:
  ret void
}}
define internal ptr @pool_of(ptr %job) nounwind {{
  %recp = getelementptr i8, ptr %job, i64 {_RECORD}
  %rec = load ptr, ptr %recp
  %pp = getelementptr i8, ptr %rec, i64 56
  %pool = load ptr, ptr %pp
  ret ptr %pool
}}
define internal void @free_pool(ptr %job) nounwind {{
  %pool = call ptr @pool_of(ptr %job)
  store atomic i64 0, ptr %pool release, align 8
  ret void
}}
"""

# Workers are woken as a tree: the caller wakes two, each worker two more. So the caller is at
# work at once. Calls that nobody has taken when it runs out of chunks are taken back, so that a
# slow wake costs nothing: a launch ends when its chunks have.
_SEMAPHORES = f"""
declare i32 @sem_init(ptr, i32, i32)
declare i32 @sem_wait(ptr)
declare i32 @sem_trywait(ptr)
declare i32 @sem_timedwait(ptr, ptr)
declare i32 @sem_post(ptr)
declare i64 @llvm.smax.i64(i64, i64)
declare i64 @llvm.smin.i64(i64, i64)
define internal i1 @must_be_called() nounwind {{
  ret i1 false
}}
define internal void @grow(ptr %job, ptr %rec) nounwind {{
  call void @wake(ptr %job, ptr %rec)
  ret void
}}
define internal void @post(ptr %pool, i64 %workers) nounwind {{
  %callsp = getelementptr i8, ptr %pool, i64 {_CALLS}
  store atomic i64 %workers, ptr %callsp release, align 8
  %n = call i64 @calls(ptr %pool)
  call void @post_calls(ptr %pool, i64 %n)
  ret void
}}
define internal i64 @calls(ptr %pool) nounwind {{
  %callsp = getelementptr i8, ptr %pool, i64 {_CALLS}
  %before = atomicrmw sub ptr %callsp, i64 {_FAN} acq_rel
  %some = call i64 @llvm.smax.i64(i64 %before, i64 0)
  %n = call i64 @llvm.smin.i64(i64 %some, i64 {_FAN})
  ret i64 %n
}}
define internal void @post_calls(ptr %pool, i64 %n) nounwind {{
entry:
  %workp = getelementptr i8, ptr %pool, i64 {_WORK}
  %any = icmp sgt i64 %n, 0
  br i1 %any, label %post, label %out
post:
  %i = phi i64 [0, %entry], [%i1, %post]
  %r = call i32 @sem_post(ptr %workp)
  %i1 = add i64 %i, 1
  %again = icmp slt i64 %i1, %n
  br i1 %again, label %post, label %out
out:
  ret void
}}
"""

# The caller and a worker count down what is pending; who comes last frees the caller.
_WAITING = f"""
define internal i1 @reclaim(ptr %job) nounwind {{
entry:
  %pool = call ptr @pool_of(ptr %job)
  %workp = getelementptr i8, ptr %pool, i64 {_WORK}
  %callsp = getelementptr i8, ptr %pool, i64 {_CALLS}
  %pendingp = getelementptr i8, ptr %job, i64 {_PENDING}
  %unsaid = atomicrmw xchg ptr %callsp, i64 0 acq_rel
  %some = call i64 @llvm.smax.i64(i64 %unsaid, i64 0)
  %own = add i64 %some, 1
  br label %try
try:
  %n = phi i64 [%own, %entry], [%n1, %try]
  %r = call i32 @sem_trywait(ptr %workp)
  %got = icmp eq i32 %r, 0
  %n1 = add i64 %n, 1
  br i1 %got, label %try, label %out
out:
  %before = atomicrmw sub ptr %pendingp, i64 %n acq_rel
  %last = icmp eq i64 %before, %n
  ret i1 %last
}}
define internal i1 @wait_for_workers(ptr %job) nounwind {{
entry:
  %t = alloca [2 x i64], align 8
  %pool = call ptr @pool_of(ptr %job)
  %workp = getelementptr i8, ptr %pool, i64 {_WORK}
  %donep = getelementptr i8, ptr %pool, i64 {_DONE}
  %pendingp = getelementptr i8, ptr %job, i64 {_PENDING}
  br label %look
look:
  %i = phi i64 [0, %entry], [%i1, %wait]
  %d = call i32 @sem_trywait(ptr %donep)
  %done = icmp eq i32 %d, 0
  br i1 %done, label %met, label %late
late:
  ; A worker may have posted a call since the others were taken back.
  %w = call i32 @sem_trywait(ptr %workp)
  %got = icmp eq i32 %w, 0
  br i1 %got, label %take, label %wait
take:
  %before = atomicrmw sub ptr %pendingp, i64 1 acq_rel
  %last = icmp eq i64 %before, 1
  br i1 %last, label %met, label %wait
wait:
  call void @pause()
  %i1 = add i64 %i, 1
  %again = icmp slt i64 %i1, {_LOOKS}
  br i1 %again, label %look, label %sleep
sleep:
  %now = call i64 @now(i32 0)
  %until = add i64 %now, {SLICE_NS}
  %s = sdiv i64 %until, 1000000000
  %n = srem i64 %until, 1000000000
  store i64 %s, ptr %t
  %np = getelementptr i8, ptr %t, i64 8
  store i64 %n, ptr %np
  %r = call i32 @sem_timedwait(ptr %donep, ptr %t)
  %told = icmp eq i32 %r, 0
  ret i1 %told
met:
  ret i1 true
}}
"""

# Without semaphores the number of workers still at it is looked at, and a step that finds some is
# over at once: Python waits.
_COUNTERS = f"""
define internal i1 @must_be_called() nounwind {{
  ret i1 true
}}
define internal void @grow(ptr %job, ptr %rec) nounwind {{
  ret void
}}
define internal void @post(ptr %pool, i64 %workers) nounwind {{
  ret void
}}
define internal i1 @reclaim(ptr %job) nounwind {{
  %pendingp = getelementptr i8, ptr %job, i64 {_PENDING}
  %before = atomicrmw sub ptr %pendingp, i64 1 acq_rel
  %last = icmp eq i64 %before, 1
  ret i1 %last
}}
define internal i1 @wait_for_workers(ptr %job) nounwind {{
  %pendingp = getelementptr i8, ptr %job, i64 {_PENDING}
  %n = load atomic i64, ptr %pendingp acquire, align 8
  %none = icmp eq i64 %n, 0
  ret i1 %none
}}
define void @teeny_help(ptr %job, ptr %scratch) nounwind {{
  %over = call i1 @chunks(ptr %job, ptr %scratch, i1 false)
  %pendingp = getelementptr i8, ptr %job, i64 {_PENDING}
  %before = atomicrmw sub ptr %pendingp, i64 1 acq_rel
  ret void
}}
"""

_WORKER = f"""
define void @teeny_pool_init(ptr %pool) nounwind {{
  %workp = getelementptr i8, ptr %pool, i64 {_WORK}
  %donep = getelementptr i8, ptr %pool, i64 {_DONE}
  %r0 = call i32 @sem_init(ptr %workp, i32 0, i32 0)
  %r1 = call i32 @sem_init(ptr %donep, i32 0, i32 0)
  ret void
}}
define zeroext i1 @teeny_close(ptr %pool, i64 %workers) nounwind {{
entry:
  ; A worker that leaves must not take the call of a launch with it: the pool has none from here on.
  %pair = cmpxchg ptr %pool, i64 0, i64 1 acquire monotonic
  %mine = extractvalue {{ i64, i1 }} %pair, 1
  br i1 %mine, label %shut, label %busy
busy:
  ret i1 false
shut:
  %shutp = getelementptr i8, ptr %pool, i64 {_SHUT}
  store atomic i64 1, ptr %shutp release, align 8
  %workp = getelementptr i8, ptr %pool, i64 {_WORK}
  br label %post
post:
  %i = phi i64 [0, %shut], [%i1, %post]
  %r = call i32 @sem_post(ptr %workp)
  %i1 = add i64 %i, 1
  %again = icmp slt i64 %i1, %workers
  br i1 %again, label %post, label %out
out:
  ret i1 true
}}
define internal i1 @is_over(ptr %job, ptr %rec) nounwind {{
  %nextp = getelementptr i8, ptr %job, i64 {_NEXT}
  %next = load atomic i64, ptr %nextp monotonic, align 8
  %p4 = getelementptr i8, ptr %rec, i64 32
  %total = load i64, ptr %p4
  %none = icmp sge i64 %next, %total
  %stopp = getelementptr i8, ptr %job, i64 {STOP_AT}
  %stop = load atomic i64, ptr %stopp acquire, align 8
  %stopped = icmp ne i64 %stop, 0
  %over = or i1 %none, %stopped
  ret i1 %over
}}
define void @teeny_worker(ptr %pool, i64 %number) nounwind {{
entry:
  %workp = getelementptr i8, ptr %pool, i64 {_WORK}
  %donep = getelementptr i8, ptr %pool, i64 {_DONE}
  %shutp = getelementptr i8, ptr %pool, i64 {_SHUT}
  %jobp = getelementptr i8, ptr %pool, i64 {_JOB}
  br label %sleep
sleep:
  %r = call i32 @sem_wait(ptr %workp)
  %woken = icmp eq i32 %r, 0
  br i1 %woken, label %look, label %sleep
look:
  %shut = load atomic i64, ptr %shutp acquire, align 8
  %closing = icmp ne i64 %shut, 0
  br i1 %closing, label %out, label %work
work:
  %job = load ptr, ptr %jobp
  %recp = getelementptr i8, ptr %job, i64 {_RECORD}
  %rec = load ptr, ptr %recp
  %calls = call i64 @calls(ptr %pool)
  %idle = call i1 @is_over(ptr %job, ptr %rec)
  %passed = select i1 %idle, i64 0, i64 %calls
  call void @post_calls(ptr %pool, i64 %passed)
  %kept = sub i64 %calls, %passed
  %mine = add i64 %kept, 1
  br i1 %idle, label %leave, label %ready
ready:
  %basep = getelementptr i8, ptr %rec, i64 64
  %base = load ptr, ptr %basep
  %stridep = getelementptr i8, ptr %rec, i64 72
  %stride = load i64, ptr %stridep
  %roomp = getelementptr i8, ptr %rec, i64 88
  %room = load i64, ptr %roomp
  %fits = icmp slt i64 %number, %room
  br i1 %fits, label %help, label %leave
help:
  %offset = mul i64 %stride, %number
  %scratch = getelementptr i8, ptr %base, i64 %offset
  %over = call i1 @chunks(ptr %job, ptr %scratch, i1 false)
  br label %leave
leave:
  %pendingp = getelementptr i8, ptr %job, i64 {_PENDING}
  %before = atomicrmw sub ptr %pendingp, i64 %mine acq_rel
  %last = icmp eq i64 %before, %mine
  br i1 %last, label %tell, label %sleep
tell:
  %d = call i32 @sem_post(ptr %donep)
  br label %sleep
out:
  ret void
}}
"""
