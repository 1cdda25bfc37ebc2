"""Launches every entry of the catalogue on the interpreter; prints what stopped it, as JSON.

A process of its own: `python tests/mistake_launches.py FOLDER`, which must be empty. An entry of
the group `launch` is a function that launches; of the others the kernel is launched here, with
arrays of the dtypes that its annotations name and its own defaults. What is about values and runs
to its end is launched again with the limits of a GPU, on a driver that only pretends to have one.
"""

from __future__ import annotations

import importlib.util
import json
import os
import sys
import traceback
import typing
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

import teeny_cuda
import teeny_triton as tl
from mistake_catalogue import Mistake, mistakes
from teeny_cuda.testing import fake_driver
from teeny_macros.diagnostics import TeenyError

# As many elements as the largest access of an entry needs.
ELEMENTS = 1 << 21
HOST: dict[str, str] = {
    "i1": "bool",
    "i8": "int8",
    "i16": "int16",
    "i32": "int32",
    "i64": "int64",
    "u8": "uint8",
    "u32": "uint32",
    "f16": "float16",
    "bf16": "uint16",
    "f32": "float32",
    "f64": "float64",
}


def load(entry: Mistake, folder: Path) -> ModuleType:
    """The entry alone, as a module in a file of its own: kernels are captured from files."""
    path = folder / f"{entry.id}.py"
    path.write_text(entry.text, encoding="utf-8")
    spec = importlib.util.spec_from_file_location(entry.id, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[entry.id] = module
    spec.loader.exec_module(module)
    return module


def argument(annotation: Any, gpu: teeny_cuda.Device | None = None) -> Any:
    """An argument as an annotation asks for it; a type variable is f32."""
    origin, parts = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is np.ndarray:
        return np.zeros(ELEMENTS, typing.get_args(parts[1])[0])
    if origin in (tl.Ptr, tl.DeviceArray):
        name = "f32" if isinstance(parts[0], typing.TypeVar) else parts[0].__name__
        if gpu is not None:
            return gpu.buffer((ELEMENTS,), name)
        return tl.typed(np.zeros(ELEMENTS, HOST[name]), getattr(tl, name))
    return 1.0 if float in parts else 16


def run(entry: Mistake, folder: Path, gpu: teeny_cuda.Device | None = None) -> None:
    """Import the entry and launch it."""
    found = getattr(load(entry, folder), entry.id)
    is_launch = entry.group == "launch"
    hints = typing.get_type_hints(found if is_launch else found.__wrapped__, include_extras=True)
    hints.pop("return", None)
    arguments = [
        argument(hint, gpu) for hint in hints.values() if not getattr(hint, "__metadata__", None)
    ]
    if is_launch:
        found(*arguments)
    else:
        found[(1,)](*arguments)


def verdict(entry: Mistake, folder: Path) -> tuple[int, str] | None:
    """Where the entry was stopped, and by which message; None when it ran to its end."""
    path = folder / f"{entry.id}.py"
    try:
        run(entry, folder)
        if entry.group == "values":
            with fake_driver():
                run(entry, folder, teeny_cuda.Device(0))
    except TeenyError as error:
        found = error.diagnostics[0]
        places = [label.span for label in found.labels if label.span.file == str(path)]
        line = places[0].line if places else _line(error, path)
        return line, f"{found.code}: {found.message}"
    except Exception as error:  # noqa: BLE001 - Python's own errors stop a launch as well
        return _line(error, path), f"{type(error).__name__}: {error}"
    return None


def _line(error: BaseException, path: Path) -> int:
    frames = traceback.extract_tb(error.__traceback__)
    return next((f.lineno or 0 for f in reversed(frames) if f.filename == str(path)), 0)


def main(folder: Path) -> None:
    """Print the verdict of every entry, by its id."""
    os.environ["TEENY_DEVICE"] = "interpret"
    os.environ["TEENY_LOG"] = "quiet"
    json.dump({entry.id: verdict(entry, folder) for entry in mistakes()}, sys.stdout)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
