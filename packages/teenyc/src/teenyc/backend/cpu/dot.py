"""Products of matrices: one function for each shape, a register tile of MR rows by NR columns.

Operands and accumulator lie in the arena, row by row. Each element of the result adds its products
in the order of k, fused where fusion is on. No product is split over threads or reordered.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, NamedTuple

from teenyc.backend.cpu.backlog import ask
from teenyc.backend.cpu.describe import note, note_dot
from teenyc.backend.cpu.memory import load, store
from teenyc.backend.cpu.text import WIDTHS, Output, Val, number, vector

if TYPE_CHECKING:
    from teenyc.backend.cpu.backlog import Asks
    from teenyc.backend.cpu.cluster import Dot
    from teenyc.backend.cpu.features import Features
    from teenyc.backend.cpu.scope import Scope


def emit_dot(scope: Scope, step: Dot) -> None:
    """Append the call that adds the product to `step.out`."""
    scope.arena.tick()
    for place in (step.left, step.right, step.out):
        scope.arena.touch(place)
    *batch, m, k = step.left.shape
    n = step.right.shape[-1]
    if scope.loop_depth:
        scope.multiplied.update(buffer.name for buffer in step.out.target.buffers)
    scope.work += prod(batch) * m * n * k / 8 * 16.0**scope.loop_depth
    note_dot(scope, step, *tile(scope.output.features, step.out.type))
    asks = scope.backlog.take() if scope.backlog is not None else None
    if asks is not None:
        note(scope, f"  asks for {asks.words} strips of the next turn")
    product = _Product(m, n, k, step.left.type, step.out.type, asks)
    symbol = _function(scope.output, product)
    _call(scope, step, symbol, prod(batch), (m * k, k * n, m * n), asks)
    if step.out.element == "f16":
        _round_half(scope, step)


def _call(
    scope: Scope, step: Dot, symbol: str, batch: int, counts: tuple[int, int, int],
    asks: Asks | None,
) -> None:  # fmt: skip
    """Call the product for each matrix of the batch."""
    main, places = scope.main, (step.left, step.right, step.out)
    index, before = number(0, "i64"), main.label
    head, done = scope.label("batch"), scope.label("products")
    if batch > 1:
        index = Val(f"%{scope.label('b')}", "i64")
        main.lines.append(f"  br label %{head}")
        main.open(head)
        main.lines.append(f"  {index.text} = phi i64 [0, %{before}], [{index.text}.n, %{head}]")
    c, given = scope.builder(), []
    for place, count in zip(places, counts, strict=True):
        at = c.binary("mul", index, number(count, "i64"))
        text = f"getelementptr {place.type}, ptr {place.target.pointer}, {at}"
        given.append(f"ptr {c.put(text, 'ptr', 0, 0).text}")
    given.append(f"ptr {asks.pointer if asks else 'null'}")
    main.lines.append(f"  call void {symbol}({', '.join(given)})")
    if batch > 1:
        main.lines += [
            f"  {index.text}.n = add nuw nsw i64 {index.text}, 1",
            f"  {index.text}.more = icmp ult i64 {index.text}.n, {batch}",
            f"  br i1 {index.text}.more, label %{head}, label %{done}",
        ]
        main.open(done)


def tile(features: Features, type_: str) -> tuple[int, int]:
    """Rows and columns of the register tile."""
    if features.has("avx512f"):
        rows, columns = 8, 32
    elif features.has("avx") or features.has("neon"):
        rows, columns = 4, 16
    else:  # 16 registers of 128 bits
        rows, columns = 4, 8
    return (rows, columns // 2) if WIDTHS[type_] == 64 else (rows, columns)


class _Product(NamedTuple):
    """What a function multiplies: m by k elements of `source` and k by n; and what it asks for."""

    m: int
    n: int
    k: int
    source: str
    type: str
    asks: Asks | None

    @property
    def name(self) -> str:
        """The function's name."""
        asked = "".join(f".{p.rows}x{p.nbytes}" for p in self.asks.parts) if self.asks else ""
        return f"teeny.dot.{self.m}x{self.n}x{self.k}.{self.source}.{self.type}{asked}"


def _function(output: Output, product: _Product) -> str:
    if product.name not in output.helpers:
        output.helpers[product.name] = _text(output, product)
    return f"@{product.name}"


def _text(output: Output, product: _Product) -> str:
    m, n = product.m, product.n
    rows, columns = tile(output.features, product.type)
    columns = min(columns, n)
    full = m // rows * rows
    given = "ptr noalias %a, ptr noalias %b, ptr noalias %c, ptr noalias %asked"
    lines = [f"define internal void @{product.name}({given}) noinline nounwind {{", "entry:"]
    panels = [(0, full, rows)] if full else []
    if full < m:
        panels.append((full, m, m - full))
    counts = [(end - start) // height * (n // columns) for start, end, height in panels]
    for i, panel in enumerate(panels):
        tiles = (sum(counts[:i]), sum(counts))
        lines.append(f"  br label %j{i}")
        lines += _Panel(output, product, i, panel, columns, tiles).lines(
            "entry" if i == 0 else f"done{i - 1}"
        )
    return "\n".join([*lines, "  ret void", "}", ""])


class _Panel:
    """The loops over columns, rows and k for one height of the register tile."""

    def __init__(
        self, output: Output, product: _Product, number: int, panel: tuple[int, int, int],
        columns: int, tiles: tuple[int, int],
    ) -> None:  # fmt: skip
        self.output = output
        self.i, (self.start, self.end, self.rows), self.columns = number, panel, columns
        self.n, self.k, self.source, self.type = product[1:5]
        self.asks, (self.first, self.tiles) = product.asks, tiles
        self.kind = vector(self.type, columns)
        self.is_float = self.type in ("float", "double")

    def lines(self, before: str) -> list[str]:
        i, rows, n, k, kind = self.i, self.rows, self.n, self.k, self.kind
        align = min(64, WIDTHS[self.type] // 8 * self.columns)
        found = [
            f"j{i}:",
            f"  %j{i}.at = phi i64 [0, %{before}], [%j{i}.next, %end{i}]",
            f"  br label %i{i}",
            f"i{i}:",
            f"  %i{i}.at = phi i64 [{self.start}, %j{i}], [%i{i}.next, %store{i}]",
            f"  %i{i}.row = mul i64 %i{i}.at, {n}",
            f"  %i{i}.c = add i64 %i{i}.row, %j{i}.at",
            f"  %i{i}.a = mul i64 %i{i}.at, {k}",
        ]
        for r in range(rows):
            found += [
                f"  %c{i}.{r}.off = add i64 %i{i}.c, {r * n}",
                f"  %c{i}.{r} = getelementptr {self.type}, ptr %c, i64 %c{i}.{r}.off",
                f"  %s{i}.{r} = load {kind}, ptr %c{i}.{r}, align {align}",
            ]
        found += self._ask()
        found += [
            f"  br label %k{i}",
            f"k{i}:",
            f"  %k{i}.at = phi i64 [0, %i{i}], [%k{i}.next, %k{i}]",
        ]
        found += [
            f"  %t{i}.{r} = phi {kind} [%s{i}.{r}, %i{i}], [%n{i}.{r}, %k{i}]" for r in range(rows)
        ]
        found += self._products(align)
        found += [
            f"  %k{i}.next = add nuw nsw i64 %k{i}.at, 1",
            f"  %k{i}.more = icmp ult i64 %k{i}.next, {k}",
            f"  br i1 %k{i}.more, label %k{i}, label %store{i}",
            f"store{i}:",
            *(f"  store {kind} %n{i}.{r}, ptr %c{i}.{r}, align {align}" for r in range(rows)),
            f"  %i{i}.next = add nuw nsw i64 %i{i}.at, {rows}",
            f"  %i{i}.more = icmp ult i64 %i{i}.next, {self.end}",
            f"  br i1 %i{i}.more, label %i{i}, label %end{i}",
            f"end{i}:",
            f"  %j{i}.next = add nuw nsw i64 %j{i}.at, {self.columns}",
            f"  %j{i}.more = icmp ult i64 %j{i}.next, {n}",
            f"  br i1 %j{i}.more, label %j{i}, label %done{i}",
            f"done{i}:",
        ]
        return found

    def _ask(self) -> list[str]:
        """A share of what the next turn reads, before each register tile."""
        if self.asks is None:
            return []
        i, down = self.i, (self.end - self.start) // self.rows
        lines = [
            f"  %q{i}.column = udiv i64 %j{i}.at, {self.columns}",
            f"  %q{i}.above = mul i64 %q{i}.column, {down}",
            f"  %q{i}.row = sub i64 %i{i}.at, {self.start}",
            f"  %q{i}.down = udiv i64 %q{i}.row, {self.rows}",
            f"  %q{i}.own = add i64 %q{i}.above, %q{i}.down",
            f"  %q{i}.tile = add i64 %q{i}.own, {self.first}",
        ]
        return lines + ask(self.output, self.asks, f"%q{i}.tile", self.tiles, f"q{i}")

    def _products(self, align: int) -> list[str]:
        """One step of k: a strip of B, and one element of A for each row."""
        i, k, kind, columns = self.i, self.k, self.kind, self.columns
        source = vector(self.source, columns)
        size = WIDTHS[self.source] // 8
        zeros = f"<{columns} x i32> zeroinitializer"
        found = [
            f"  %k{i}.row = mul i64 %k{i}.at, {self.n}",
            f"  %k{i}.off = add i64 %k{i}.row, %j{i}.at",
            f"  %b{i}.p = getelementptr {self.source}, ptr %b, i64 %k{i}.off",
            f"  %b{i}.v = load {source}, ptr %b{i}.p, align {min(64, size * columns)}",
            f"  %k{i}.a = add i64 %i{i}.a, %k{i}.at",
        ]
        widened = self.source != self.type
        if widened:
            found.append(f"  %b{i} = sext {source} %b{i}.v to {kind}")
        strip = f"%b{i}" if widened else f"%b{i}.v"
        for r in range(self.rows):
            a = f"%a{i}.{r}"
            found += [
                f"  {a}.off = add i64 %k{i}.a, {r * k}",
                f"  {a}.p = getelementptr {self.source}, ptr %a, i64 {a}.off",
                f"  {a}.x = load {self.source}, ptr {a}.p, align {size}",
            ]
            if widened:
                found.append(f"  {a}.w = sext {self.source} {a}.x to {self.type}")
            one = f"{a}.w" if widened else f"{a}.x"
            found += [
                f"  {a}.1 = insertelement {kind} poison, {self.type} {one}, i32 0",
                f"  {a} = shufflevector {kind} {a}.1, {kind} poison, {zeros}",
                *self._accumulate(r, a, strip),
            ]
        return found

    def _accumulate(self, r: int, a: str, b: str) -> list[str]:
        i, kind = self.i, self.kind
        if not self.is_float:
            return [
                f"  %m{i}.{r} = mul {kind} {a}, {b}",
                f"  %n{i}.{r} = add {kind} %t{i}.{r}, %m{i}.{r}",
            ]
        if self.output.fusion and self.output.features.has("fma"):
            short = f"v{self.columns}f{WIDTHS[self.type]}"
            self.output.declares.add(f"declare {kind} @llvm.fma.{short}({kind}, {kind}, {kind})")
            given = f"{kind} {a}, {kind} {b}, {kind} %t{i}.{r}"
            return [f"  %n{i}.{r} = call {kind} @llvm.fma.{short}({given})"]
        return [
            f"  %m{i}.{r} = fmul {kind} {a}, {b}",
            f"  %n{i}.{r} = fadd {kind} %t{i}.{r}, %m{i}.{r}",
        ]


def _round_half(scope: Scope, step: Dot) -> None:
    """An f16 accumulator is kept in f32 while products are added, then rounded."""
    main, count = scope.main, prod(step.out.shape)
    lanes = min(32, count)
    head, done, before = scope.label("round"), scope.label("rounded"), main.label
    index = Val(f"%{scope.label('e')}", "i64")
    main.lines.append(f"  br label %{head}")
    main.open(head)
    main.lines.append(f"  {index.text} = phi i64 [0, %{before}], [{index.text}.n, %{head}]")
    c = scope.builder()
    at = c.put(f"getelementptr float, ptr {step.out.target.pointer}, {index}", "ptr", 0, 0).text
    found = c.rounded(load(c, at, "float", lanes, 0), "f16")
    store(c, at, found, 0)
    more = number(count, "i64")
    main.lines += [
        f"  {index.text}.n = add nuw nsw i64 {index.text}, {lanes}",
        f"  {index.text}.more = icmp ult i64 {index.text}.n, {more.text}",
        f"  br i1 {index.text}.more, label %{head}, label %{done}",
    ]
    main.open(done)
