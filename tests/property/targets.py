"""Runs a case on the interpreter, the CPU and a GPU, and compares what it left with the reading."""

from __future__ import annotations

import os
import tempfile
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from cases import Case, as_bits, values_of
from reading_memory import Memory
from tracked import DTYPES

from teeny_macros.artifact import Artifact
from teeny_macros.diagnostics import InternalError, TeenyError
from teeny_macros.target import Target
from teenyc.driver import compile_text
from teenyc.options import Options

Array = Any
# What a target may lack, which it says so at compile time.
LACKING = {"cpu": ("E0803",), "cuda": ("E0713",), "interp": ()}


class Failure(NamedTuple):
    """What went wrong where: `kind` groups failures of one cause."""

    target: str
    kind: str
    text: str


class Result(NamedTuple):
    """Elements by how they were compared (`exact`, `bounded`, `free`), and what failed."""

    failures: tuple[Failure, ...]
    compared: dict[str, int]
    skipped: tuple[str, ...] = ()


def _interpret(case: Case, arrays: list[Array]) -> None:
    from teenyc.interp import load

    load(case.unit().render()).launch((case.grid, 1, 1), arrays)


def _compiled(case: Case, target: Target, kind: str, folder: str) -> Artifact:
    checks = target.kind == "cpu" and case.seed % 5 == 0
    options = Options(target, (kind,), bounds_checks=checks)
    made = compile_text(case.unit().render(), options, folder=folder)
    path = Path(folder) / f"k.{kind}"
    if kind == "obj":
        path.write_bytes(made.data)
    else:
        path.write_text(made.texts[kind], encoding="utf-8")
    return Artifact(path, made.metadata, target)


@lru_cache(maxsize=1)
def _cpu() -> Any:
    from teeny_cpu.device import Device

    return Device(threads=1)


def _run_cpu(case: Case, arrays: list[Array]) -> None:
    device = _cpu()
    with tempfile.TemporaryDirectory(dir=_scratch()) as folder:
        program = device.load(_compiled(case, device.target, "obj", folder))
        device.launch(program, (case.grid, 1, 1), arrays)


def _scratch() -> str | None:
    return "/dev/shm" if os.path.isdir("/dev/shm") else None


@lru_cache(maxsize=1)
def _gpu() -> Any:
    from teeny_cuda import Device
    from teenyc.backend.gpu import libtriton

    libtriton.load()  # so that each compiling process inherits it
    return Device(0)


def _run_cuda(case: Case, arrays: list[Array]) -> None:
    device = _gpu()
    with tempfile.TemporaryDirectory(dir=_scratch()) as folder:
        program = device.load(_compiled(case, device.target, "ptx", folder))
        given = [device.copy_of(x) if isinstance(x, np.ndarray) else x for x in arrays]
        device.launch(program, (case.grid, 1, 1), given)
        for host, buffer in zip(arrays, given, strict=True):
            if isinstance(host, np.ndarray):
                buffer.to_host(out=host)


RUNNERS = {"interp": _interpret, "cpu": _run_cpu, "cuda": _run_cuda}


def run_on(case: Case, target: str) -> list[Array]:
    """The arguments after a launch on `target`."""
    arrays: list[Array] = []
    for a, x in zip(case.arguments, case.arrays(), strict=True):
        arrays.append(as_bits(DTYPES[a.dtype], x) if a.size else x)
    RUNNERS[target](case, arrays)
    return arrays


def _known_of_libtriton(target: str, code: str, text: str) -> str:
    """Faults of libtriton itself, which teenyc tells with a code and a reproducer."""
    if target != "cuda":
        return ""
    for known, words, what in (
        ("E0705", "does not dominate", "moves a conversion before its operand"),
        ("E0705", "constancy.size() == contiguity.size()", "hands hints of tensors to scalars"),
        ("E0703", "signal 11 (SIGSEGV)", "dies while it makes PTX"),
    ):
        if code == known and words in text:
            return f"cuda (libtriton {what})"
    return ""


def compare(memory: Memory, array: Array, name: str) -> tuple[str | None, dict[str, int]]:
    """How an array differs from what it must hold, and how its elements were compared."""
    found, wanted, e = values_of(memory.d, array), memory.v, memory.e
    counts = {"exact": int((e == 0).sum()), "free": int((e == np.inf).sum())}
    counts["bounded"] = e.size - sum(counts.values())
    if memory.d.is_float:
        a, b = found.astype(np.float64), wanted.astype(np.float64)
        same = (a == b) & (np.signbit(a) == np.signbit(b)) | (np.isnan(a) & np.isnan(b))
        with np.errstate(all="ignore"):
            close = np.abs(a - b) <= e
    else:
        same, close = found == wanted, np.zeros(e.shape, bool)
    right = np.where(e == 0, same, np.where(e == np.inf, True, same | close))
    if right.all():
        return None, counts
    i = int(np.flatnonzero(~right)[0])
    text = (
        f"{name}[{i}] ({memory.d}) is {found[i]!r}, not {wanted[i]!r} +- {e[i]:.3g}; "
        f"{int((~right).sum())} of {right.size} elements differ"
    )
    return text, counts


def check(case: Case, targets: list[str]) -> Result:
    """Run a case everywhere and compare with its reading."""
    failures: list[Failure] = []
    skipped: list[str] = []
    total = {"exact": 0, "bounded": 0, "free": 0}
    readings: dict[bool, list[Memory | None]] = {}
    for target in targets:
        gpu = target == "cuda"
        if gpu not in readings:
            readings[gpu] = case.read(gpu=gpu)
        try:
            arrays = run_on(case, target)
        except TeenyError as error:
            code = error.diagnostics[0].code
            known = _known_of_libtriton(target, code, str(error))
            if known:
                skipped.append(known)
                continue
            if code in LACKING[target]:
                skipped.append(target)
                continue
            kind = "internal" if isinstance(error, InternalError) else "error"
            failures.append(Failure(target, f"{kind} {code}", str(error)[:1500]))
            continue
        except Exception as error:  # noqa: BLE001 - whatever escapes is a finding
            import traceback

            text = "".join(traceback.format_exception(error)[-4:])
            failures.append(Failure(target, f"raised {type(error).__name__}", text[-1500:]))
            continue
        for a, array, memory in zip(case.arguments, arrays, readings[gpu], strict=True):
            if memory is None:
                continue
            text, counts = compare(memory, array, a.name)
            for name, count in counts.items():
                total[name] += count
            if text is not None:
                failures.append(Failure(target, "differs", text))
                break
    return Result(tuple(failures), total, tuple(skipped))
