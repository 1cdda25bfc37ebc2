"""Lines of LLVM text: values numbered as they come, words of the record, the call of the driver."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from teeny_cuda.emit_parts import (
    CONFIG,
    CONFIG_BYTES,
    CONTEXT,
    CTAS,
    CURRENT,
    FAILED,
    FUNCTION,
    FUNCTIONS,
    LAUNCH,
    LAUNCH_EX,
    NOTED,
    NOTED_MOST,
    NOTES,
    NOTES_ROWS,
    OBJECTS,
    POP,
    PUSH,
    REFUSED,
    ROW_ARGUMENTS,
    ROW_BITS,
    ROW_GRID,
    ROW_GRID_Z,
    ROW_SERIAL,
    SERIAL,
    SHARED,
    THREADS,
)

if TYPE_CHECKING:
    from teeny_cuda.places import Places

LAUNCH_CELLS = (
    "%current.cell = alloca ptr, align 8",
    f"%config = alloca [{CONFIG_BYTES} x i8], align 8",
)


class Text:
    """Lines of a module with numbered values."""

    def __init__(self, places: Places) -> None:
        self.places = places
        self.lines: list[str] = []
        self.count = 0
        self.before_good = ""

    def header(self) -> str:
        lines = []
        for name, signature in FUNCTIONS.items():
            result, _, params = signature.partition(" ")
            lines.append(f"declare {result} @{name}{params}")
        lines += [f"@{name} = external global i8" for name in OBJECTS]
        return "\n".join([*lines, "declare double @llvm.fabs.f64(double)", ""])

    def open(self, line: str) -> None:
        self.lines += [line, "entry:"]

    def say(self, *lines: str, before: Sequence[str] = ()) -> None:
        self.lines += [f"  {line}" for line in (*before, *lines)]

    def label(self, name: str) -> None:
        self.lines.append(f"{name}:")

    def fresh(self, prefix: str = "v") -> str:
        self.count += 1
        return f"{prefix}{self.count}"

    def let(self, value: str) -> str:
        name = "%" + self.fresh()
        self.say(f"{name} = {value}")
        return name

    def load(self, base: str, offset: int, kind: str = "i64") -> str:
        at = self.let(f"getelementptr i8, ptr {base}, i64 {offset}")
        return self.let(f"load {kind}, ptr {at}, align {4 if kind == 'i32' else 8}")

    def word(self, number: int, kind: str = "i64") -> str:
        return self.load("%rec", 8 * number, kind)

    def report(self, number: str) -> str:
        """Call the record's `failed` with a result of the driver; its answer (null: it raised)."""
        wide = self.let(f"sext i32 {number} to i64")
        boxed = self.let(f"call ptr @PyLong_FromLong(i64 {wide})")
        answer = self.let(
            f"call ptr @PyObject_CallOneArg(ptr {self.word(FAILED, 'ptr')}, ptr {boxed})"
        )
        self.say(f"call void @Py_DecRef(ptr {boxed})")
        return answer

    # What a launch needs that can be had only with the context current: `prepare` goes to `refused`
    # where it cannot, `clean` follows the launch and gives its result.
    has_preparation = False

    def prepare(self, refused: str) -> None:
        """Before the launch."""

    def clean(self, status: str) -> str:
        """After the launch."""
        return status

    def launch(
        self,
        grid: tuple[str, str, str],
        stream: str,
        params: str,
        *,
        extended: bool | None,
        slots: int | None,
    ) -> str:
        """Launch without the GIL, with the record's context current; the driver's result.

        `params` is a table of addresses, of `slots` arguments. None asks the record. Without what
        has to be prepared it goes to `miss`.
        """
        x, y, z = grid
        wanted = self.word(CONTEXT, "ptr")
        state = self.let("call ptr @PyEval_SaveThread()")
        cell = "%current.cell"
        first = self.let(f"call i32 {self.word(CURRENT, 'ptr')}(ptr {cell})")
        current = self.let(f"load ptr, ptr {cell}, align 8")
        is_current = self.let(f"icmp eq ptr {current}, {wanted}")
        quiet = self.let(f"icmp eq i32 {first}, 0")
        push, ready, pop, done, stop, refused, called, sent = (
            self.fresh(f"{name}.")
            for name in ("push", "ready", "pop", "done", "stop", "refused", "called", "sent")
        )
        checked, asked = self.fresh("checked."), self.fresh("asked.")
        self.say(f"br i1 {quiet}, label %{checked}, label %{asked}")
        self.label(asked)
        self.say(f"br label %{stop}")
        self.label(checked)
        self.say(f"br i1 {is_current}, label %{ready}, label %{push}, !prof !1")
        self.label(push)
        pushed = self.let(f"call i32 {self.word(PUSH, 'ptr')}(ptr {wanted})")
        self.say(f"br i1 {self.let(f'icmp eq i32 {pushed}, 0')}, label %{ready}, label %{stop}")
        self.label(ready)
        self.prepare(refused)
        status = self.clean(self._driver_call(x, y, z, stream, params, extended))
        if self.has_preparation:
            self.say(f"br label %{sent}")
            self.label(sent)
            self.say(f"br label %{called}")
            self.label(refused)
            self.say(f"br label %{called}")
            self.label(called)
            status = self.let(f"phi i32 [ {status}, %{sent} ], [ {REFUSED}, %{refused} ]")
        self.say(f"br i1 {is_current}, label %{done}, label %{pop}, !prof !1")
        self.label(pop)
        self.let(f"call i32 {self.word(POP, 'ptr')}(ptr {cell})")
        self.say(f"br label %{done}")
        self.label(done)
        self.say(f"br label %{stop}")
        self.label(stop)
        result = self.let(
            f"phi i32 [ {first}, %{asked} ], [ {pushed}, %{push} ], [ {status}, %{done} ]"
        )
        self.say(f"call void @PyEval_RestoreThread(ptr {state})")
        if self.has_preparation:
            go = self.fresh("go.")
            had = self.let(f"icmp ne i32 {result}, {REFUSED}")
            self.say(f"br i1 {had}, label %{go}, label %miss, !prof !1")
            self.label(go)
        self.before_good = self.note(grid, params, slots) or stop
        return result

    def note(self, grid: tuple[str, str, str], params: str, slots: int | None) -> str:
        """Give the launch a number and write down what it was, with the GIL held.

        The block that it ends in, if it is not the one it began in.
        """
        x, y, z = (self.let(f"zext i32 {size} to i64") for size in grid)
        notes = self.word(NOTES, "ptr")
        number = self.let(f"add i64 {self.load(notes, 0)}, 1")
        self.store("i64", number, notes, 0)
        turn = self.let(f"and i64 {number}, {NOTES_ROWS - 1}")
        start = self.let(f"shl i64 {turn}, {ROW_BITS}")
        row = self.let(f"getelementptr i8, ptr {notes}, i64 {self.let(f'add i64 {start}, 8')}")
        self.store("i64", number, row, 0)
        self.store("i64", self.word(SERIAL), row, 8 * ROW_SERIAL)
        both = self.let(f"or i64 {x}, {self.let(f'shl i64 {y}, 32')}")
        self.store("i64", both, row, 8 * ROW_GRID)
        self.store("i64", z, row, 8 * ROW_GRID_Z)
        if slots is not None:
            for at in range(min(slots, NOTED_MOST)):
                value = self.load(self.load(params, 8 * at, "ptr"), 0)
                self.store("i64", value, row, 8 * (ROW_ARGUMENTS + at))
            return ""
        return self._note_arguments(params, row)

    def _note_arguments(self, params: str, row: str) -> str:
        """As many arguments as the record says."""
        start, loop, body, done = (
            self.fresh(f"{name}.") for name in ("note.", "look.", "copy.", "noted.")
        )
        self.say(f"br label %{start}")
        self.label(start)
        count = self.word(NOTED)
        self.say(f"br label %{loop}")
        self.label(loop)
        at, following = "%" + self.fresh(), "%" + self.fresh()
        self.say(f"{at} = phi i64 [ 0, %{start} ], [ {following}, %{body} ]")
        left = self.let(f"icmp ult i64 {at}, {count}")
        self.say(f"br i1 {left}, label %{body}, label %{done}")
        self.label(body)
        cell = self.let(f"getelementptr ptr, ptr {params}, i64 {at}")
        value = self.load(self.let(f"load ptr, ptr {cell}, align 8"), 0)
        place = self.let(f"getelementptr i64, ptr {row}, i64 {at}")
        self.store("i64", value, place, 8 * ROW_ARGUMENTS)
        self.say(f"{following} = add i64 {at}, 1", f"br label %{loop}")
        self.label(done)
        return done

    def _driver_call(
        self, x: str, y: str, z: str, stream: str, params: str, extended: bool | None
    ) -> str:
        function = self.word(FUNCTION, "ptr")
        if extended is None:
            plain, rich, join = (self.fresh(f"{name}.") for name in ("plain", "rich", "join"))
            has = self.let(f"icmp eq i64 {self.word(CONFIG)}, 0")
            self.say(f"br i1 {has}, label %{plain}, label %{rich}")
            self.label(plain)
            first = self._driver_call(x, y, z, stream, params, extended=False)
            self.say(f"br label %{join}")
            self.label(rich)
            second = self._driver_call(x, y, z, stream, params, extended=True)
            self.say(f"br label %{join}")
            self.label(join)
            return self.let(f"phi i32 [ {first}, %{plain} ], [ {second}, %{rich} ]")
        if not extended:
            threads = self.let(f"trunc i64 {self.word(THREADS)} to i32")
            shared = self.let(f"trunc i64 {self.word(SHARED)} to i32")
            return self.let(
                f"call i32 {self.word(LAUNCH, 'ptr')}(ptr {function}, i32 {x}, i32 {y}, i32 {z}, "
                f"i32 {threads}, i32 1, i32 1, i32 {shared}, ptr {stream}, ptr {params}, ptr null)"
            )
        config = "%config"
        template = self.word(CONFIG, "ptr")
        for offset in range(0, CONFIG_BYTES, 8):
            value = self.load(template, offset)
            self.store("i64", value, config, offset)
        ctas = self.let(f"trunc i64 {self.word(CTAS)} to i32")
        blocks = self.let(f"mul i32 {x}, {ctas}")
        for offset, value in zip((0, 4, 8), (blocks, y, z), strict=True):
            self.store("i32", value, config, offset)
        self.store("ptr", stream, config, 32)
        return self.let(
            f"call i32 {self.word(LAUNCH_EX, 'ptr')}"
            f"(ptr {config}, ptr {function}, ptr {params}, ptr null)"
        )

    def store(self, kind: str, value: str, base: str, offset: int) -> None:
        at = self.let(f"getelementptr i8, ptr {base}, i64 {offset}")
        self.say(f"store {kind} {value}, ptr {at}, align {4 if kind == 'i32' else 8}")
