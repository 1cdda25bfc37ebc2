"""`Nest`: one cluster as a loop nest. Here: its loops, its sections, and how they are put together.

Sections from outside in: `main` (level 0), one for each loop, and on top the strip's body. Before
the body stands the test whether all lanes of all its masked accesses are on; where they are not,
`fill` brings what is on into slots that the body reads instead, and `drain` carries results out.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from teenyc.backend.cpu.cluster import Cluster, Reduce, Store, Write
from teenyc.backend.cpu.reduction import lanes_of
from teenyc.backend.cpu.text import WIDTHS, Section, Val, iota, number
from teenyc.ops import arrays
from teenyc.types import shape_of

if TYPE_CHECKING:
    from teenyc.backend.cpu.scope import Scope
    from teenyc.backend.cpu.tails import Tail

WIDE, NARROW = 32, 16
# Stand for the strip's axis where one lane is meant: the first of the strip, or the last.
FIRST, LAST = 100, 101
ORIGIN = 102  # the first lane of the first strip
NO_AXIS = -1
NO_STRIP = -2  # the strip of a nest that goes lane by lane


class Nest:
    """The loops over a cluster's shape. `strip` is the axis that lanes lie along."""

    def __init__(self, scope: Scope, cluster: Cluster) -> None:
        self.scope = scope
        self.cluster = cluster
        self.shape = cluster.shape
        self.strip = choose_strip(scope, cluster)
        side = 1 if self.strip == NO_STRIP else self.shape[self.strip]
        self.width = choose_width(cluster, side)
        self.order = self._loop_order(cluster.axis)
        self.depth = 0
        self.index: dict[int, Val] = {}
        self.levels: dict[int, int] = {}
        for axis in self.order:
            if self.shape[axis] > self.step(axis):
                self.depth += 1
                self.levels[axis] = self.depth
                name = f"%{scope.label('i')}"
                self.index[axis] = Val(name, "i64", 0, self.depth)
            else:
                self.levels[axis] = 0
                self.index[axis] = number(0, "i64")
        self.top = self.depth + 1
        self.labels = [scope.label("loop") for _ in range(self.depth + 1)]
        self.body = Section(scope.label("strip"))
        self.fill = Section(scope.label("fill"))
        self.drain = Section(scope.label("drain"))
        inner = [Section(label) for label in self.labels[1:]]
        self.sections = [scope.main, *inner, self.body]
        self.posts = [Section("") for _ in range(self.depth + 1)]
        self.c = scope.builder(self.sections)
        self.counters = dict(self.index)
        if cluster.reverse:
            assert cluster.axis is not None
            last = number(self.shape[cluster.axis] - 1, "i64")
            self.index[cluster.axis] = self.c.binary("sub", last, self.index[cluster.axis])
        self.tests: list[Val] = []
        self.strip_phis: list[str] = []
        self.loop_phis: list[tuple[str, Val, str]] = []
        self.has_drain = False
        self.tail: Tail | None = None
        # What the body writes to places side by side: pointer and strip; None for other writes.
        self.written: list[tuple[str, Val] | None] = []
        self.skips: list[Val] = []  # each means that the strip has nothing to do
        self.slot_count = 2  # the first two belong to memory.py
        self._after = scope.label("next")
        self._starts = (self.body.label, self.fill.label, self.drain.label)

    def _loop_order(self, reduced: int | None) -> list[int]:
        others = [a for a in range(len(self.shape)) if a not in (self.strip, reduced)]
        rest = [self.strip] if reduced in (None, self.strip) else [self.strip, reduced]
        return [*others, *(axis for axis in rest if axis not in (None, NO_STRIP))]

    def step(self, axis: int) -> int:
        """How far the loop over `axis` goes at once."""
        return self.width if axis == self.strip else 1

    @property
    def lane_level(self) -> int:
        """Where values that differ from lane to lane begin."""
        if self.strip == NO_STRIP:
            return 0
        return self.top if self.order[-1] == self.strip else self.levels[self.strip]

    @property
    def identity(self) -> tuple[int, ...]:
        """The axes of a value that has the nest's own shape."""
        return tuple(range(len(self.shape)))

    @property
    def pre(self) -> Section:
        """The section right before the body."""
        return self.sections[self.depth]

    def lanes(self, type_: str) -> Val:
        """0, 1, 2, ... in the lanes of a strip."""
        return iota(type_, self.width)._replace(level=self.lane_level)

    def position(self, axis: int, type_: str) -> Val:
        """The index along `axis`, or in the first or last lane of the strip."""
        if axis == ORIGIN:
            return number(0, type_)
        found = self.index[self.strip if axis in (FIRST, LAST) else axis]
        if axis == LAST:
            found = self.c.binary("add", found, number(self.width - 1, "i64"))
        if found.is_constant:
            return number(int(found.text), type_)
        return self.c.cast("trunc", found, type_)

    def slot(self) -> str:
        """A slot on the stack that no other access of this nest uses."""
        self.slot_count += 1
        return self.scope.slot(self.slot_count - 1)

    @contextmanager
    def inside(self, section: Section) -> Iterator[None]:
        """What is made at the top goes to `section` for a while."""
        before = self.sections[self.top]
        self.sections[self.top] = section
        try:
            yield
        finally:
            self.sections[self.top] = before

    def carry(self, name: str, init: Val, following: str) -> None:
        """A value that the innermost loop carries."""
        self.loop_phis.append((name, init, following))

    # --- putting it together ----------------------------------------------------------------------

    def finish(self) -> None:
        """Append the whole nest to `main`."""
        main = self.scope.main
        test = self._all_on()
        for level in range(1, self.depth + 1):
            before = self.sections[level - 1].label
            main.lines.append(f"  br label %{self.labels[level]}")
            main.open(self.labels[level])
            self._loop_head(level, before)
            main.lines += self.sections[level].lines
            main.label = self.sections[level].label
        body_label, fill_label, _ = self._starts
        before_body = main.label
        if test is None:
            main.lines.append(f"  br label %{body_label}")
        else:
            main.lines.append(f"  br i1 {test}, label %{body_label}, label %{fill_label}")
            main.open(fill_label)
            if self.skips:
                self._append_skip(body_label)
            main.lines += [*self.fill.lines, f"  br label %{body_label}"]
        main.open(body_label)
        main.lines += [phi.format(pre=before_body, fill=self.fill.label) for phi in self.strip_phis]
        main.lines += self.body.lines
        main.label = self.body.label
        if test is not None and self.has_drain:
            self._append_drain(test)
        self._close_loops()

    def _append_skip(self, body_label: str) -> None:
        """Nothing of this strip is stored: go on behind the drain."""
        main, rest = self.scope.main, self.scope.label("partly")
        section = Section(main.label)
        self.sections[self.top] = section
        off = self.skips[0]
        for skip in self.skips[1:]:
            off = self.c.binary("or", off._replace(level=self.top), skip)
        main.lines += [*section.lines, f"  br {off}, label %{self._after}, label %{rest}"]
        main.open(rest)
        if self.fill.label == self._starts[1]:
            self.fill.label = rest

    def _append_drain(self, test: str) -> None:
        main, after, start = self.scope.main, self._after, self._starts[2]
        main.lines.append(f"  br i1 {test}, label %{after}, label %{start}")
        main.open(start)
        main.lines += [*self.drain.lines, f"  br label %{after}"]
        main.open(after)

    def _append_tail(self, tail: Tail, label: str, name: str) -> None:
        """Leave the innermost loop behind a strip that stands for all that follow."""
        main, leave = self.scope.main, f"exit.{label}"
        main.lines.append(f"  br i1 {tail.off}, label %{tail.section.label}, label %latch.{label}")
        main.open(tail.section.label)
        main.lines += tail.section.lines
        out = f"rest.{label}" if self.written else leave
        if tail.same is None:
            main.lines.append(f"  br label %{out}")
        else:
            main.lines.append(f"  br i1 {tail.same}, label %{out}, label %latch.{label}")
        if not self.written:
            return
        end, step = self.shape[self.strip], self.width
        main.open(out)
        main.lines += [
            f"  {name}.r = add nuw nsw i64 {name}, {step}",
            f"  {name}.any = icmp ult i64 {name}.r, {end}",
            f"  br i1 {name}.any, label %again.{label}, label %{leave}",
        ]
        main.open(f"again.{label}")
        main.lines += [
            f"  {name}.j = phi i64 [{name}.r, %{out}], [{name}.k, %again.{label}]",
            f"  {name}.d = sub i64 {name}.j, {name}",
        ]
        for i, (at, x) in enumerate(filter(None, self.written)):
            main.lines += [
                f"  {name}.at{i} = getelementptr {x.type}, ptr {at}, i64 {name}.d",
                f"  store {x}, ptr {name}.at{i}, align {WIDTHS[x.type] // 8}",
            ]
        main.lines += [
            f"  {name}.k = add nuw nsw i64 {name}.j, {step}",
            f"  {name}.rest = icmp ult i64 {name}.k, {end}",
            f"  br i1 {name}.rest, label %again.{label}, label %{leave}",
        ]

    def _all_on(self) -> str | None:
        """The test that all lanes of all accesses are on; None where nothing needs it."""
        if not self.tests:
            return None
        with self.inside(self.pre):
            # What does not change from strip to strip is joined outside of the loop.
            found, *rest = sorted(self.tests, key=lambda test: test.level)
            for test in rest:
                found = self.c.binary("and", found, test)
        return found.text

    def _loop_head(self, level: int, before: str) -> None:
        axis = next(a for a, at in self.levels.items() if at == level)
        latch, name = f"latch.{self.labels[level]}", self.counters[axis].text
        lines = self.scope.main.lines
        lines.append(f"  {name} = phi i64 [0, %{before}], [{name}.n, %{latch}]")
        if level == self.depth:
            for carried, init, following in self.loop_phis:
                lines.append(
                    f"  {carried} = phi {init.llvm} [{init.text}, %{before}], "
                    f"[{following}, %{latch}]"
                )

    def _close_loops(self) -> None:
        main = self.scope.main
        for level in range(self.depth, 0, -1):
            axis = next(a for a, at in self.levels.items() if at == level)
            label, name = self.labels[level], self.counters[axis].text
            if level == self.depth and self.tail is not None:
                self._append_tail(self.tail, label, name)
            else:
                main.lines.append(f"  br label %latch.{label}")
            main.open(f"latch.{label}")
            main.lines += [
                f"  {name}.n = add nuw nsw i64 {name}, {self.step(axis)}",
                f"  {name}.more = icmp ult i64 {name}.n, {self.shape[axis]}",
                f"  br i1 {name}.more, label %{label}, label %exit.{label}",
            ]
            main.open(f"exit.{label}")
            main.lines += self.posts[level].lines
        main.lines += self.posts[0].lines if not self.depth else []


def choose_strip(scope: Scope, cluster: Cluster) -> int:
    """The axis that lanes lie along: the one that most accesses are contiguous on, else the last.

    Never an axis whose elements a reduction combines in the order of their index.
    """
    shape = cluster.shape
    ordered = cluster.axis if cluster.axis != len(shape) - 1 or cluster.scans else None
    axes = [a for a in range(len(shape)) if a != ordered]
    if not axes:
        return NO_STRIP  # a scan of one axis: lane by lane
    last = max((a for a in axes if shape[a] > 1), default=axes[-1])
    fixed = any(isinstance(root, Store) and root.guarded for root in cluster.roots)
    if (cluster.axis == len(shape) - 1 and not cluster.scans) or fixed:
        return last
    votes = dict.fromkeys(axes, 0)
    roots = [root for root in cluster.roots if not isinstance(root, Reduce)]
    own = {id(root.value) for root in cluster.roots if isinstance(root, Write)}
    placed = lambda v: scope.place(v) is not None and id(v) not in own  # noqa: E731
    pointers = [root.op.operands[0] for root in roots if isinstance(root, Store)]
    for root in cluster.roots:
        lazy = scope.classes.lazy(root.values, placed)
        pointers += [op.operands[0] for op in lazy if op.name == "tt.load"]
    for pointer in pointers:
        if shape_of(pointer.type) != shape:
            continue
        size = arrays.itemsize(pointer.type.element.pointee)  # type: ignore[union-attr]
        for axis, stride in enumerate(scope.classes.guesses.strides(pointer)):
            if stride == size and shape[axis] > 1 and axis in votes:
                votes[axis] += 1
    best = max(votes.values())
    return last if votes[last] == best else max(a for a, n in votes.items() if n == best)


def choose_width(cluster: Cluster, side: int) -> int:
    """Lanes of a strip: 32, or 16 where the data are 64 bits wide; never more than the axis has."""
    widths = {
        arrays.itemsize(value.type.element)  # type: ignore[union-attr]
        for root in cluster.roots
        for value in (root.values[1:2] if isinstance(root, Store) else root.values)
    }
    # Along the last axis a reduction has its own number of lanes, and strips of no fewer.
    lanes = [
        lanes_of(root.op)
        for root in cluster.roots
        if isinstance(root, Reduce) and cluster.axis == len(cluster.shape) - 1
    ]
    wanted = max(lanes, default=NARROW if 8 in widths else WIDE)
    return min(wanted, side)
