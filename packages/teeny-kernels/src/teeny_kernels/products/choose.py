"""Which kernel and configuration a product of matrices gets: a tuned table, or rules.

`tuned_<arch>.json` holds what `benchmarks/tune_gemm.py` found fastest, a row for each dtype, layout
and shape. A product near a row (each side within a factor of 1.5) takes its configuration if the
arrays allow it; the others go by `by_rule`. Nothing is measured here.
"""

from __future__ import annotations

from functools import cache
from math import log2
from typing import Any, NamedTuple

_NEAR = log2(1.5)
_OTHER_LAYOUT = 0.01  # how much farther a row of another layout is
_ALIKE = {"f16": "bf16", "f8e5m2": "f8e4m3"}  # dtypes that take the rows of another
# Of a block; what is left for barriers.
_SHARED_BYTES = {
    "sm_75": 65536, "sm_80": 166912, "sm_87": 166912, "sm_90": 232448, "sm_100": 232448,
    "sm_103": 232448,
}  # fmt: skip
_LEAST_SHARED = 101376
_OF_BARRIERS = 1448


class Config(NamedTuple):
    """How a product runs.

    `kind` is `tiles` (one program for each tile), `shares` (all steps in equal shares, for few
    tiles; `programs` of them), `persistent` (tiles moved by descriptors) or `persistent shares`.
    `m`, `n` and `k` are the sides of a tile, `group` the rows of tiles in a group, `split` the
    parts that a persistent program stores a tile in (1, 2 or 4), `registers` the most that a thread
    may have, 0 for any number.
    """

    kind: str
    m: int
    n: int
    k: int
    warps: int
    stages: int
    group: int = 8
    split: int = 1
    programs: int = 0
    registers: int = 0

    @property
    def options(self) -> dict[str, Any]:
        """How its kernel is compiled and launched."""
        found = {"num_warps": self.warps, "num_stages": self.stages}
        return {**found, "maxnreg": self.registers} if self.registers else found


class Problem(NamedTuple):
    """A product to choose for.

    `batch` matrices (m, k) times (k, n); `x` and `y` are the dtypes, `x_turned` says that x lies
    along m, `y_turned` that y lies along k. `described` says that descriptors can describe all
    arrays, `plain` that the result is the sums alone, `relaxed` that f32 may be rounded to tf32, or
    sums of 8-bit floats kept in fewer bits. `arch` is empty and `processors` 1 on a CPU.
    `out_bytes` is the size of an element of the result, `residual` says that a matrix like the
    result is read at the end of each tile.
    """

    m: int
    n: int
    k: int
    batch: int
    x: str
    y: str
    x_turned: bool
    y_turned: bool
    described: bool
    plain: bool
    relaxed: bool
    arch: str
    processors: int
    out_bytes: int = 2
    residual: bool = False


def choose(problem: Problem) -> Config:
    """The configuration of a product."""
    if not problem.arch:
        return Config("tiles", 64, 64, 32, 4, 2)
    found = _nearest(problem) or by_rule(problem)
    return _fitting(problem, found)


def by_rule(problem: Problem) -> Config:
    """The configuration of a product that no tuned row is near to."""
    own = problem
    if own.x == "f64" or (own.x == "f32" and not own.relaxed):
        return _filled(own, Config("tiles", 64, 64, 16 if own.x == "f64" else 32, 4, 3))
    if own.m <= 64 or own.n <= 64:
        return _thin(own)
    deep = {"f32": 32, "f16": 64, "bf16": 64}.get(own.x, 128)
    if own.x != own.y:
        return _filled(own, Config("tiles", 128, 128, 64, 4, 3))
    # Sums that are kept twice need more registers.
    twice = own.x.startswith("f8") and not own.relaxed
    wasted = -(-own.n // 256) * 256 > 1.25 * own.n
    if _tiles(own, 128, 256) * 4 >= own.processors * 3 and not twice and not wasted:
        if own.described:
            return Config("persistent", 128, 256, deep, 8, 4, split=2)
        return Config("tiles", 128, 256 if own.x != "f32" else 128, deep, 8, 3)
    if not own.described:
        return _filled(own, Config("tiles", 128, 128, deep, 8, 3))
    if _tiles(own, 128, 128) * 4 >= own.processors * (6 if twice else 3):
        # Two programs on a multiprocessor hide each other's ends.
        return Config("persistent", 128, 128, deep, 4, 3, split=2, programs=2 * own.processors)
    if _tiles(own, 64, 128) * 2 >= own.processors:
        if deep == 64 and _tiles(own, 64, 128) <= own.processors:
            return Config("persistent", 64, 128, 128, 4, 4)
        programs = 2 * own.processors if twice else 0
        return Config("persistent", 64, 128, deep, 4, 3 if twice else 6, programs=programs)
    if deep == 64 and own.k >= 8192:
        return _filled(own, Config("tiles", 128, 128, 128, 8, 3))
    if own.m * own.n >= 512 * 512 and own.n >= 256 and not twice:
        return _filled(own, Config("tiles", 128, 256, deep, 8, 4))
    return _filled(own, Config("tiles", 128, 128, deep, 4, 4))


def _tiles(own: Problem, m: int, n: int) -> int:
    return own.batch * -(-own.m // m) * -(-own.n // n)


def _fitting(own: Problem, found: Config) -> Config:
    """`found` within the shared memory of a block: in two parts, fewer stages, smaller tiles."""
    size = {"f64": 8, "f32": 4, "bf16": 2, "f16": 2}.get(own.x, 1)
    most = _SHARED_BYTES.get(own.arch, _LEAST_SHARED) - _OF_BARRIERS
    stores = found.kind == "persistent"
    if stores and found.n >= 256 and not own.plain:
        found = found._replace(split=2)  # a whole tile and what it is changed by do not fit
    while True:
        loads = found.stages * (found.m + found.n) * found.k * size
        stored = found.m * found.n // found.split * own.out_bytes if stores else 0
        # What is read at the end lies beside what is stored, while the next tile is on its way.
        stored *= 2 if own.residual else 1
        if loads + stored <= most:
            return found
        parts = 4 if own.residual and found.m * found.n >= 128 * 256 else 2
        if stores and found.split < parts:
            found = found._replace(split=2 * found.split)
        elif found.stages > 2:
            found = found._replace(stages=found.stages - 1)
        elif found.n > found.m:
            found = found._replace(n=found.n // 2)
        elif found.m > 64:
            found = found._replace(m=found.m // 2)
        else:
            found = found._replace(k=found.k // 2)


def _thin(own: Problem) -> Config:
    """Few rows or columns: what counts is how much of the other matrix is on its way at once."""
    thin, wide = (own.m, own.n) if own.m <= own.n else (own.n, own.m)
    side = 16 if thin <= 16 else 32 if thin <= 32 else 64
    long = 64 if wide >= 64 * own.processors or side > 16 else 32
    deep = 128 if own.x == "f32" else 256 if long == 32 else 128
    m, n = (side, long) if own.m <= own.n else (long, side)
    return _filled(own, Config("tiles", m, n, deep, *((2, 5) if long == 32 else (4, 4))))


def _filled(own: Problem, found: Config) -> Config:
    """`found`, or with its steps in shares where its tiles leave most of the device idle."""
    tiles = _tiles(own, found.m, found.n)
    steps = -(-own.k // found.k)
    room = 2 * own.processors if found.m * found.n <= 64 * 64 else own.processors
    if tiles * 2 > room or steps < 8:
        return found
    # At least four steps for a program; whole tiles are cut in equal parts.
    parts = min(room // tiles, steps // 4)
    if parts < 2:
        return found
    exact = own.x == "f64" or (own.x == "f32" and not own.relaxed)
    moved = own.described and min(found.m, found.n) >= 64 and not exact
    kind = "persistent shares" if moved else "shares"
    return found._replace(kind=kind, programs=tiles * parts)


@cache
def table(arch: str) -> tuple[tuple[Problem, Config], ...]:
    """The tuned rows for an architecture; none where no table is shipped."""
    import json
    from importlib.resources import files

    place = files("teeny_kernels.products").joinpath(f"tuned_{arch}.json")
    if not place.is_file():
        return ()
    rows = json.loads(place.read_text(encoding="utf-8"))["rows"]
    blank = Problem(1, 1, 1, 1, "", "", False, False, True, True, False, arch, 0)
    return tuple((blank._replace(**row["problem"]), Config(**row["config"])) for row in rows)


@cache
def _nearest(own: Problem) -> Config | None:
    best, found = _NEAR, None
    for row, config in table(own.arch):
        alike = [_ALIKE.get(kind, kind) for kind in own[4:6]] == [row.x, row.y]
        if not alike or own.relaxed != row.relaxed:
            continue
        if config.kind.startswith("persistent") and not own.described:
            continue
        pairs = zip(own[:4], row[:4], strict=True)
        far = max(abs(log2(max(a, 1) / b)) for a, b in pairs)
        far += 0.0 if own[6:8] == row[6:8] else _OTHER_LAYOUT
        if far < best:
            best, found = far, config
    return found
