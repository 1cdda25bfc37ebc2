"""Run one changed library: in a forked process, against the checks of the operations it touches.

The process is a copy of one that has loaded everything but the library, which it then loads from a
folder whose one file differs. A change that makes it crash or run for ever is caught, too.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from sites import Site, apply

_LIMIT_SECONDS = 300.0
_TESTS = (
    "test_products.py", "test_attention_paths.py", "test_convolutions.py",
    "test_convolutions_planes.py", "test_convolutions_shifted.py", "test_losses.py",
    "test_kernels_arrays.py", "test_kernels_beyond.py", "test_kernels_forms.py",
    "test_kernels_narrow.py", "test_kernels_pad.py", "test_kernels_pooling.py",
    "test_kernels_reported.py", "test_kernels_reported_graphs.py", "test_kernels_upsample.py",
    "test_optimizers.py", "test_running_statistics.py",
)  # fmt: skip
_FEW = 4  # operations tried of those that a changed function is part of

# (file below the package, first line) of a function -> (module, name) of operations with it.
Uses = dict[tuple[str, int], list[tuple[str, str]]]


class Verdict(NamedTuple):
    """What became of a change: `caught`, `refused` by the compiler, `survived`, or `unused`.

    `broken` is none: the compiler could not be run.
    """

    site: Site
    verdict: str
    by: str
    seconds: float


def load_everything_else() -> None:
    """Import what the library stands on, so that forked processes have it."""
    own = ("teeny_macros", "teeny_triton", "teeny_compiler", "teeny_cpu.provider")
    for name in ("numpy", "ml_dtypes", *own):
        importlib.import_module(name)


def find_uses(source: Path) -> Uses:
    """Which operations use which functions, asked of the unchanged library in its own process."""

    def ask() -> str:
        _load_from(source)
        from teeny_kernels.registry import _modules

        found: list[tuple[str, int, str, str]] = []
        for module in _modules():
            own = importlib.import_module(module)
            specs = [*getattr(own, "SPECS", ())]
            specs += [own.SPEC] if hasattr(own, "SPEC") else []
            for spec in specs:
                for function in {id(f): f for k in spec.kernels for f in (k, *k.helpers)}.values():
                    code = function.captured.function.__code__
                    with contextlib.suppress(ValueError):
                        file = str(Path(code.co_filename).relative_to(source / "teeny_kernels"))
                        found.append((file, code.co_firstlineno, module, spec.name))
        return json.dumps(found)

    uses: Uses = {}
    for file, line, module, name in json.loads(_in_fork(ask)[1]):
        uses.setdefault((file, line), []).append((module, name))
    return uses


def try_change(source: Path, site: Site, uses: Uses) -> Verdict:
    """Whether the checks of the operations that `site` touches find the change."""
    operations = uses.get((site.file, site.line), [])
    # Spread over the operations: a template's first ones need not use all of it.
    step = max(1, len(operations) // _FEW)
    start = time.monotonic()
    with _changed(source, site) as folder:
        verdict, by = "unused", "no operation names a kernel with this function"
        if operations:
            verdict, by = _in_fork(lambda: _check(folder, operations[::step][:_FEW]))
        if verdict in {"survived", "unused"}:
            verdict, by = _run_tests(folder, source) or (verdict, by)
    return Verdict(site, verdict, by, time.monotonic() - start)


def _run_tests(folder: Path, source: Path) -> tuple[str, str] | None:
    """`caught` by one of the library's other tests, which take paths that the checks do not."""
    tests = source.parent / "tests"
    files = [str(tests / name) for name in _TESTS]
    paths = [str(folder), *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]
    options = ["-x", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", "--no-header"]
    try:
        done = subprocess.run(
            [sys.executable, "-m", "pytest", *options, *files],
            env=os.environ | {"PYTHONPATH": os.pathsep.join(paths)},
            cwd=source.parents[2],
            capture_output=True,
            text=True,
            check=False,
            timeout=_LIMIT_SECONDS,
        )
    except subprocess.TimeoutExpired:
        return "caught", "a test ran for too long"
    if done.returncode == 1:
        failed = [line for line in done.stdout.splitlines() if line.startswith("FAILED")]
        return "caught", (failed or ["a test failed"])[0]
    if done.returncode < 0:
        return "caught", f"the tests' process died ({done.returncode})"
    return None if done.returncode == 0 else ("broken", done.stdout[-300:])


@contextlib.contextmanager
def _changed(source: Path, site: Site) -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        shutil.copytree(
            source / "teeny_kernels",
            folder / "teeny_kernels",
            ignore=shutil.ignore_patterns("__pycache__"),
        )
        path = folder / "teeny_kernels" / site.file
        path.write_text(apply(path.read_text(encoding="utf-8"), site), encoding="utf-8")
        yield folder


def _load_from(folder: Path) -> None:
    sys.path.insert(0, str(folder))
    sys.path_importer_cache.clear()
    importlib.invalidate_caches()
    import teeny_kernels

    if not (teeny_kernels.__file__ or "").startswith(str(folder)):
        raise SystemExit(f"teeny_kernels was loaded from {teeny_kernels.__file__}")


def _check(folder: Path, operations: list[tuple[str, str]]) -> str:
    """The first fault that the checks find, or an empty text."""
    _load_from(folder)
    _compile_warm()
    from teeny_kernels import testing

    for module, name in operations:
        own: Any = importlib.import_module(module)
        specs = [*getattr(own, "SPECS", ()), *([own.SPEC] if hasattr(own, "SPEC") else [])]
        spec = next(spec for spec in specs if spec.name == name)
        for check in _checks(spec, testing):
            for case in spec.cases:
                if wrong := check(case):
                    return f"{name}: {wrong[0]}"
    return ""


def _checks(spec: Any, testing: Any) -> list[Callable[[Any], list[str]]]:
    """The checks of tests/test_kernels.py without PyTorch's, the quickest to fail first."""
    checks: list[Callable[[Any], list[str]]] = []
    for dtype in sorted(spec.dtypes, key=lambda dtype: dtype != "f32"):
        checks.append(partial(_forward, testing, spec, dtype))
        checks.append(partial(_backward, testing, spec, dtype))
    checks.append(partial(testing.check_numerically, spec))
    checks.append(partial(testing.check_strided, spec))
    return checks


def _forward(testing: Any, spec: Any, dtype: str, case: Any) -> list[str]:
    found: list[str] = testing.check_forward(spec, case, dtype)
    return found


def _backward(testing: Any, spec: Any, dtype: str, case: Any) -> list[str]:
    found: list[str] = testing.check_backward(spec, case, dtype)
    return found


def _compile_warm() -> None:
    from teeny_compiler import compile_kernels
    from teeny_macros import devices

    def compile_one(instance: Any, target: Any) -> Any:
        (found,) = compile_kernels([(instance, target)], workers=1, progress=False)
        if isinstance(found, Exception):
            raise found
        return found

    devices._compilers["default"] = compile_one  # noqa: SLF001


def _in_fork(work: Callable[[], str]) -> tuple[str, str]:
    """`work` in a forked process: a verdict, and the text that it returned or died with."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            os.setsid()
            signal.alarm(int(_LIMIT_SECONDS) + 10)  # nobody may be left who would end this
            os.close(reader)
            null = os.open(os.devnull, os.O_RDWR)
            for stream in (0, 1, 2):
                os.dup2(null, stream)
            answer = _answer(work)
            with os.fdopen(writer, "w") as stream:
                json.dump(answer, stream)
            code = 0
        finally:
            os._exit(code)
    os.close(writer)
    return _wait(child, reader)


def _answer(work: Callable[[], str]) -> tuple[str, str]:
    from teeny_macros.diagnostics import CaptureError, CompileError, ToolchainError

    try:
        text = work()
    except (CaptureError, CompileError) as error:
        return "refused", str(error).splitlines()[0]
    except ToolchainError as error:
        return "broken", str(error)
    except Exception as error:  # noqa: BLE001 # whatever a wrong kernel leads to has caught it
        return "caught", f"{type(error).__name__}: {error}".splitlines()[0]
    return ("caught" if text else "survived"), text


def _wait(child: int, reader: int) -> tuple[str, str]:
    import select

    data, end = b"", time.monotonic() + _LIMIT_SECONDS
    with contextlib.suppress(BlockingIOError):
        while time.monotonic() < end:
            ready, _, _ = select.select([reader], [], [], 1.0)
            if ready:
                piece = os.read(reader, 1 << 16)
                if not piece:
                    break
                data += piece
    late = time.monotonic() >= end
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    os.close(reader)
    if data:
        verdict, text = json.loads(data)
        return verdict, text
    return "caught", "it ran for too long" if late else f"the process died ({status})"
