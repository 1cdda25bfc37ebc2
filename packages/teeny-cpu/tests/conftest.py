"""Artefacts for the host, a stand-in for the interpreter, and small native kernels."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

import pytest

from teeny_cpu import Interpreter, interpreted, jit
from teeny_macros.artifact import Artifact, Metadata, Param
from teeny_macros.source import SourceMap
from teeny_macros.target import Target


class MakeArtifact(Protocol):
    def __call__(
        self,
        params: Sequence[tuple[str, str, str]],
        *,
        unit: str = "",
        kernel: str = "k",
        source_map: SourceMap | None = None,
    ) -> Artifact: ...


@pytest.fixture
def device() -> Interpreter:
    return Interpreter()


@pytest.fixture
def artifact_of(tmp_path: Path) -> MakeArtifact:
    """An artefact for the interpreter as the compiler leaves it: its file is the unit."""

    def make(
        params: Sequence[tuple[str, str, str]],
        *,
        unit: str = "",
        kernel: str = "k",
        source_map: SourceMap | None = None,
    ) -> Artifact:
        path = tmp_path / f"{kernel}_entry_point.unit.py"
        path.write_text(unit, encoding="utf-8")
        target = Target.interpret()
        metadata = Metadata(
            kernel, f"{kernel}_entry_point", str(target), tuple(Param(*row) for row in params)
        )
        return Artifact(path, metadata, target, source_map=source_map)

    return make


class Recorder:
    """An interpreter that keeps what it was given, or raises `error`."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.launches: list[tuple[tuple[int, int, int], list[Any]]] = []
        self.error: Exception | None = None

    def load(self, text: str) -> Recorder:
        self.texts.append(text)
        return self

    def launch(self, grid: tuple[int, int, int], args: list[Any]) -> None:
        if self.error is not None:
            raise self.error
        self.launches.append((grid, args))


@pytest.fixture
def recorder(monkeypatch: pytest.MonkeyPatch) -> Recorder:
    """Stands where teenyc's interpreter stands."""
    found = Recorder()
    monkeypatch.setitem(interpreted._loaders, interpreted.GROUP, found.load)
    return found


# --- native kernels ------------------------------------------------------------------------------


class MakeNative(Protocol):
    def __call__(self, name: str, **changes: Any) -> Artifact: ...


# name -> the parameters, where it goes wrong or how it is scheduled, and its programs' body in LLVM
# IR. A body has %pid, %args and %arena, and goes to label %next, or to %failed after `%record`.
_HEAD = """
  %s0 = load ptr, ptr %args
  %p1 = getelementptr i8, ptr %args, i64 8
  %s1 = load ptr, ptr %p1
  %p2 = getelementptr i8, ptr %args, i64 16
  %s2 = load i32, ptr %p2
"""
_KERNELS: dict[str, tuple[str, dict[str, Any], str]] = {
    # out[p * n + i] = x[p * n + i], i below n
    "copy": (
        "x_ptr:f32 out_ptr:f32 n:i32",
        {"written": ("out_ptr",)},
        """
  %bytes = zext i32 %s2 to i64
  %size = mul i64 %bytes, 4
  %offset = mul i64 %pid, %size
  %from = getelementptr i8, ptr %s0, i64 %offset
  %to = getelementptr i8, ptr %s1, i64 %offset
  %c = call ptr @memcpy(ptr %to, ptr %from, i64 %size)
  br label %next
""",
    ),
    # out[p] = the sum of x[p] and of p * p, through the arena; n rounds of waste before
    "square": (
        "x_ptr:i64 out_ptr:i64 n:i32",
        {"arena_bytes": 4096, "written": ("out_ptr",)},
        """
  %a = getelementptr i64, ptr %arena, i64 511
  %sq = mul i64 %pid, %pid
  store volatile i64 %sq, ptr %a
  %any = icmp sgt i32 %s2, 0
  br i1 %any, label %waste, label %write
waste:
  %i = phi i32 [0, %program], [%i1, %waste]
  %w = load volatile i64, ptr %a
  store volatile i64 %w, ptr %a
  %i1 = add i32 %i, 1
  %again = icmp slt i32 %i1, %s2
  br i1 %again, label %waste, label %write
write:
  %v = load volatile i64, ptr %a
  %xp = getelementptr i64, ptr %s0, i64 %pid
  %x = load i64, ptr %xp
  %sum = add i64 %x, %v
  %op = getelementptr i64, ptr %s1, i64 %pid
  store i64 %sum, ptr %op
  br label %next
""",
    ),
    # out[p] = 1, checked against the extent of out
    "checked": (
        "out_ptr:f32",
        {},
        """
  %ep = getelementptr i8, ptr %args, i64 40
  %extents = load ptr, ptr %ep
  %base = load i64, ptr %extents
  %np = getelementptr i8, ptr %extents, i64 8
  %nbytes = load i64, ptr %np
  %offset = mul i64 %pid, 4
  %fits = icmp slt i64 %offset, %nbytes
  br i1 %fits, label %write, label %wrong
wrong:
  %address = add i64 %base, %offset
  %rp = getelementptr i8, ptr %args, i64 48
  %record = load ptr, ptr %rp
  %r1 = getelementptr i64, ptr %record, i64 1
  %r2 = getelementptr i64, ptr %record, i64 2
  %r3 = getelementptr i64, ptr %record, i64 3
  %r4 = getelementptr i64, ptr %record, i64 4
  %r5 = getelementptr i64, ptr %record, i64 5
  %r6 = getelementptr i64, ptr %record, i64 6
  store i64 2, ptr %record
  store i64 5, ptr %r1
  store i64 9, ptr %r2
  store i64 %pid, ptr %r3
  store i64 7, ptr %r4
  store i64 %address, ptr %r5
  store i64 0, ptr %r6
  br label %failed
write:
  %op = getelementptr i8, ptr %s0, i64 %offset
  store float 1.0, ptr %op
  br label %next
""",
    ),
    # fails as an assertion on the third element does; the message is what lies in out
    "asserting": (
        "out_ptr:f32",
        {},
        """
  %rp = getelementptr i8, ptr %args, i64 48
  %record = load ptr, ptr %rp
  %address = ptrtoint ptr %s0 to i64
  %r1 = getelementptr i64, ptr %record, i64 1
  %r2 = getelementptr i64, ptr %record, i64 2
  %r3 = getelementptr i64, ptr %record, i64 3
  %r4 = getelementptr i64, ptr %record, i64 4
  %r5 = getelementptr i64, ptr %record, i64 5
  %r7 = getelementptr i64, ptr %record, i64 7
  store i64 4, ptr %record
  store i64 5, ptr %r1
  store i64 9, ptr %r2
  store i64 %pid, ptr %r3
  store i64 2, ptr %r4
  store i64 %address, ptr %r5
  store i64 4, ptr %r7
  br label %failed
""",
    ),
    "foreign": (
        "x_ptr:f32",
        {},
        """
  %r = call i32 @system(ptr %s0)
  br label %next
""",
    ),
    # out[0..6] = the words behind the parameters but the error record
    "words": (
        "out_ptr:i64 x_ptr:f32 y_ptr:f32 a:i32 b:u8 c:i1 d:f16 e:bf16 f:f32 g:f64",
        {},
        """
  %c = call ptr @memcpy(ptr %s0, ptr %args, i64 120)
  br label %next
""",
    ),
}


def _text(name: str, body: str) -> str:
    return f"""
declare ptr @memcpy(ptr, ptr, i64)
declare i32 @system(ptr)
define i32 @{name}_entry_point(ptr %args, i64 %begin, i64 %end, ptr %arena) {{
entry:{_HEAD}
  %some = icmp slt i64 %begin, %end
  br i1 %some, label %program, label %done
program:
  %pid = phi i64 [%begin, %entry], [%pid1, %next]
{body}
next:
  %pid1 = add i64 %pid, 1
  %more = icmp slt i64 %pid1, %end
  br i1 %more, label %program, label %done
failed:
  ret i32 1
done:
  ret i32 0
}}
"""


_objects: dict[str, bytes] = {}


@pytest.fixture
def native(tmp_path: Path) -> MakeNative:
    """Artefacts of small kernels in LLVM IR, as teenyc leaves those of kernels for the CPU."""

    def make(name: str, **changes: Any) -> Artifact:
        params, fields, body = _KERNELS[name]
        if name not in _objects:
            _objects[name] = jit.compile_text(_text(name, body))
        path = tmp_path / f"{name}_entry_point.o"
        path.write_bytes(_objects[name])
        rows = []
        for row in params.split():
            parameter, _, dtype = row.partition(":")
            kind = "pointer" if parameter.endswith("_ptr") else "scalar"
            rows.append(Param(parameter, kind, dtype))
        metadata = Metadata(name, f"{name}_entry_point", "cpu:host", tuple(rows))
        return Artifact(path, metadata._replace(**{**fields, **changes}), Target.cpu())

    return make
