"""A case: a kernel's text, its arguments and its grid; as a file that runs by itself."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from catalog import NAMES
from reading import Machine
from reading_memory import Memory, Pointer
from reading_tiles import NAMES as LANGUAGE
from tracked import DTYPES, Dtype, full, rounded

Array = Any
HEAD = f"import teeny_triton as tl\nfrom teeny_triton import Ptr, {', '.join(NAMES)}\n"
_ATTRIBUTES = "num_warps=4, num_stages=3, num_ctas=1, maxnreg=None, enable_fp_fusion=False"


@dataclass
class Argument:
    """One parameter: an array of `size` elements made by `flavor`, or a number (`size` 0)."""

    name: str
    dtype: str
    size: int = 0
    flavor: str = "zero"
    number: float = 0


@dataclass
class Case:
    """A kernel `k` and its launch; `counts` says what it is made of."""

    seed: int
    text: str
    arguments: list[Argument]
    constants: dict[str, Any]
    grid: int = 1
    num_warps: int = 4
    counts: dict[str, int] = field(default_factory=dict)

    def unit(self) -> Any:
        """The unit of the kernel, as capture would write it."""
        from teeny_macros.unit import Unit, UnitModule
        from teeny_triton.triton_lang import TRITON, TRITON_SHA

        typed = ", ".join(
            f"{a.name}: {f'Ptr[{a.dtype}]' if a.size else a.dtype}" for a in self.arguments
        )
        given = [a.name for a in self.arguments]
        given += [f"{name}={value!r}" for name, value in self.constants.items()]
        attributes = _ATTRIBUTES.replace("num_warps=4", f"num_warps={self.num_warps}")
        entry = (
            f"from kernel import k\nfrom teeny_triton import Ptr, {', '.join(NAMES)}\n"
            f"@entry_point({attributes})\n"
            f"def k_entry_point({typed}) -> None:\n    k({', '.join(given)})\n"
        )
        modules = (UnitModule("kernel", HEAD + self.text), UnitModule("entry", entry))
        return Unit("k", modules, TRITON_SHA, TRITON)

    def arrays(self) -> list[Array]:
        """Fresh arguments: arrays as the dtype is held, and numbers."""
        found: list[Array] = []
        for i, a in enumerate(self.arguments):
            d = DTYPES[a.dtype]
            if a.size:
                found.append(make_array(d, a.size, a.flavor, self.seed * 64 + i))
            else:
                found.append(float(rounded(d, np.float64(a.number))) if d.is_float else a.number)
        return found

    def read(self, *, gpu: bool) -> list[Memory | None]:
        """What the arrays must hold afterwards, for a host or for a GPU."""
        Machine.gpu, Machine.grid = gpu, (self.grid, 1, 1)
        memories: list[Memory | None] = []
        given: list[Any] = []
        for a, value in zip(self.arguments, self.arrays(), strict=True):
            d = DTYPES[a.dtype]
            memories.append(Memory(d, value) if a.size else None)
            memory = memories[-1]
            given.append(Pointer(memory, np.int64(0)) if memory else full(value, d))
        scope = names()
        exec(compile(HEAD_OF_READING + self.text, "<kernel>", "exec"), scope)
        with np.errstate(all="ignore"):
            for i in range(self.grid):
                Machine.program = (i, 0, 0)
                scope["k"](*given, **self.constants)
        return memories

    def write(self, path: Path, why: str) -> None:
        """A file that runs the case again: `python <file>`."""
        data = {
            "seed": self.seed,
            "arguments": [vars(a) for a in self.arguments],
            "constants": self.constants,
            "grid": self.grid,
            "num_warps": self.num_warps,
        }
        first = "".join(f"# {line}\n" for line in why.strip().splitlines()[:40])
        path.write_text(
            f"{first}\nimport sys\n\nsys.path.insert(0, {str(Path(__file__).parent)!r})\n\n"
            f'TEXT = """\\\n{self.text}"""\nLAUNCH = {json.dumps(data, indent=1)!s}\n\n'
            "if __name__ == '__main__':\n    import run\n\n    run.again(TEXT, LAUNCH)\n"
            .replace(": true", ": True").replace(": false", ": False").replace(": null", ": None"),
            encoding="utf-8",
        )  # fmt: skip


HEAD_OF_READING = ""


class _Reading:
    """`tl` and `tl.math` while a kernel's text runs as Python."""

    def __getattr__(self, name: str) -> Any:
        if name == "math":
            return self
        found = LANGUAGE.get(name, DTYPES.get(name))
        if found is None:
            raise AttributeError(name)
        return found


class _Constexpr:
    pass


def names() -> dict[str, Any]:
    """The names that the text of a kernel sees."""
    reading = _Reading()
    LANGUAGE.setdefault("constexpr", _Constexpr)
    return {"tl": reading, "range": LANGUAGE["range"], **DTYPES}


ODD = (0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 0.5, -1.5, 2.0, 1e-3, 65504.0, 3e38, 1e-40,
       6e-8, -6e-5, 1.17e-38, 448.0, 57344.0, 255.0, -129.0, 2.0**31, -(2.0**31), 2.0**63, 1e300,
       5e-324, 16777217.0)  # fmt: skip


def make_array(d: Dtype, size: int, flavor: str, seed: int) -> Array:
    """`tame` numbers are small, `wild` ones have every kind of special value, `zero` is zero."""
    rng = np.random.default_rng(seed % (1 << 63))
    if flavor.startswith("special"):
        return _special(d, size, flavor, rng)
    if flavor == "zero":
        return np.zeros(size, d.held)
    if d.name == "i1":
        return rng.integers(0, 2, size).astype(bool)
    if d.is_int:
        info = np.iinfo(d.held)
        if flavor == "tame":
            return rng.integers(max(info.min, -20), 21, size, dtype=np.int64).astype(d.held)
        found = rng.integers(info.min, info.max, size, dtype=d.held, endpoint=True)
        edges = np.asarray([0, 1, info.max, info.min, info.max - 1, 2, 3, info.max // 2], d.held)
        places = rng.integers(0, size, min(size, 8))
        found[places] = edges[: places.size]
        return found
    found = rng.standard_normal(size)
    if flavor == "wild":
        found = found * 10.0 ** rng.integers(-5, 6, size)
        places = rng.permutation(size)[: max(1, size // 4)]
        found[places] = rng.choice(ODD, places.size)
    with np.errstate(all="ignore"):
        return rounded(d, found)


def _special(d: Dtype, size: int, flavor: str, rng: Any) -> Array:
    """Every special value; `turned` and `again` meet others' in another order, so pairs vary."""
    if d.name == "i1":
        found = np.arange(size) % 2 == 0
    elif d.is_int:
        info = np.iinfo(d.held)
        edges = {0, 1, 2, 3, 5, 7, info.max, info.min, info.max - 1, info.max // 2, info.bits - 1}
        edges |= {
            x for x in (-1, -2, -7, info.min + 1, 255, 128, 4096) if info.min <= x <= info.max
        }
        found = make_array(d, size, "wild", int(rng.integers(1 << 32)))
        found[: len(edges)] = sorted(edges)
    else:
        tiny, big = 2.0**d.lowest, d.greatest
        small = 2.0 ** (d.lowest - d.precision + 1)
        edges = [*ODD, tiny, -tiny, small, -small, tiny - small, big, -big, big / 2, 2.5, 3.5]
        edges += [1 + 2.0 ** (1 - d.precision), -0.5, 0.25, 1e-8, 100.0, -100.0, 88.0, -88.0]
        edges.append(3.141592653589793)
        found = make_array(d, size, "wild", int(rng.integers(1 << 32)))
        with np.errstate(all="ignore"):
            found[: len(edges)] = rounded(d, np.asarray(edges, np.float64))
    if flavor == "special turned":
        return rng.permutation(np.roll(found, 7))
    return rng.permutation(found) if flavor == "special again" else found


def as_bits(d: Dtype, v: Array) -> Array:
    """Values as they are held, as an array whose memory is the dtype's own."""
    import ml_dtypes

    kinds = {"bf16": ml_dtypes.bfloat16, "f8e4m3": ml_dtypes.float8_e4m3fn,
             "f8e5m2": ml_dtypes.float8_e5m2}  # fmt: skip
    return np.ascontiguousarray(np.asarray(v).astype(kinds.get(d.name, d.held)))


def values_of(d: Dtype, array: Array) -> Array:
    """The inverse of `as_bits`."""
    with np.errstate(invalid="ignore"):
        return np.asarray(array).astype(d.held)
