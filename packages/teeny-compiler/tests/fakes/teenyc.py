"""A teenyc for tests: notes each call, writes files that depend on the unit, fails in every way.

Variables tell what it does: FAKE_CALLS is a file for one line a call, FAKE_MODE how it ends,
FAKE_DELAY how many seconds it takes, FAKE_VERSION which version it states.
"""

from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path


def note(what: str) -> None:
    """Add a line to the list of calls, in one write."""
    calls = os.environ.get("FAKE_CALLS")
    if calls:
        descriptor = os.open(calls, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666)
        os.write(descriptor, f"{what}\n".encode())
        os.close(descriptor)


def say(code: str, message: str, **fields: object) -> None:
    """Print a diagnostic on standard error."""
    row: dict[str, object] = {
        "schema": 1,
        "code": code,
        "name": "made-up",
        "severity": "error",
        "message": message,
        "labels": [],
        "notes": [],
        "helps": [],
    }
    print(json.dumps(row | fields), file=sys.stderr)


def label(file: str, line: int, column: int, end_column: int, source: str) -> dict[str, object]:
    """One labelled place of a diagnostic."""
    return {
        "file": file,
        "line": line,
        "column": column,
        "end_line": line,
        "end_column": end_column,
        "text": "this",
        "primary": True,
        "source": source,
    }


def write_output(unit: str, arguments: list[str], output: Path, mode: str) -> None:
    """The files of a successful run; their content depends on the unit and on the options."""
    kernel = unit.partition("# kernel ")[2].partition("\n")[0]
    entry = f"{kernel}_entry_point"
    digest = hashlib.sha256((unit + " ".join(arguments)).encode()).hexdigest()
    stages = arguments[arguments.index("--emit") + 1].split(",")
    suffixes = {"mlir": ".mlir", "ttgir": ".ttgir", "llvm-ir": ".ll", "ptx": ".ptx", "obj": ".o"}
    for stage in stages:
        if mode != "partial" or stage != "ptx":
            (output / (entry + suffixes[stage])).write_text(f"// {stage} {digest}\n" * 50)
    if "interpret" in arguments:
        (output / f"{entry}.unit").write_text(unit)
    metadata = {
        "schema": 1,
        "kernel": kernel,
        "entry_point": entry,
        "target": "made-up",
        "params": [{"name": "x_ptr", "kind": "pointer", "dtype": "f32"}],
        "num_warps": 4,
        "versions": {"teenyc": os.environ.get("FAKE_VERSION", "1.0")},
    }
    if mode == "foreign metadata":
        metadata["schema"] = 99
    (output / f"{entry}.metadata").write_text(json.dumps(metadata))


def fail(mode: str) -> int:
    """End as `mode` says."""
    if mode == "refuse":
        row = label("scale.py", 5, 12, 13, "    return x + y")
        say("E0301", "mismatched types", labels=[row])
        say("E0201", "unknown name")
        return 1
    if mode == "dead back end":
        Path("out/scale_entry_point.reproducer.sh").write_text("#!/bin/sh\n")
        help_ = "`sh out/scale_entry_point.reproducer.sh` shows it again"
        say("E0703", "the GPU back end ended", helps=[help_])
        return 1
    if mode == "unwritable":
        say("E0708", "`out/x.ptx` cannot be written: No space left on device")
        return 1
    if mode == "bug":
        say("I0000", "internal error in the front end")
        return 3
    if mode == "usage":
        print("teenyc: error: unknown option `-C warp-drive`\nusage: teenyc", file=sys.stderr)
        return 2
    if mode == "signal":
        print("about to die", file=sys.stderr, flush=True)
        os.kill(os.getpid(), signal.SIGSEGV)
    print("{not json\nTraceback: it fell over", file=sys.stderr)
    return 1 if mode == "garbage" else 77


def work() -> int:
    """Behave like `--worker`: units of a kernel called `die` end the process, others compile."""
    note(f"worker {os.getpid()}")
    for line in sys.stdin:
        request = json.loads(line)
        note("compile " + json.dumps(request["args"]))
        kernel = request["unit"].partition("# kernel ")[2].partition("\n")[0]
        answer: dict[str, object] = {"id": request["id"], "status": 0, "diagnostics": []}
        if kernel == "die":
            print("about to die", file=sys.stderr, flush=True)
            os.kill(os.getpid(), signal.SIGKILL)
        time.sleep(600 if kernel == "hang" else float(os.environ.get("FAKE_DELAY", "0")))
        output = Path(request["args"][request["args"].index("-o") + 1])
        if kernel == "refused":
            row = {
                "schema": 1,
                "code": "E0301",
                "name": "mismatched-types",
                "severity": "error",
                "message": "mismatched types",
                "labels": [label("refused.py", 1, 1, 4, "def")],
                "notes": [],
                "helps": [f"`sh {output}/again.sh` shows it again"],
            }
            answer |= {"status": 1, "diagnostics": [row]}
        else:
            write_output(request["unit"], request["args"], output, "ok")
        print(json.dumps(answer), flush=True)
    return 0


def main(arguments: list[str]) -> int:
    """Behave like the command."""
    if arguments == ["--worker"]:
        return work()
    if "--version" in arguments:
        note("version")
        if os.environ.get("FAKE_VERSION") == "none":
            return 1
        version = os.environ.get("FAKE_VERSION", "1.0")
        print(f"teenyc {version}\nlanguage: 1")
        print("triton: 9.9.9 (supported: all)\nllvmlite: not installed")
        return 0
    mode = os.environ.get("FAKE_MODE", "ok")
    unit = Path(arguments[0]).read_text()
    note("compile " + json.dumps(arguments))
    if mode == "hang":
        child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
        note(f"child {child.pid}")
        time.sleep(600)
    time.sleep(float(os.environ.get("FAKE_DELAY", "0")))
    if mode == "unwritable in the cache" and ".tmp" in os.getcwd():
        return fail("unwritable")
    if mode == "unwritable in the cache":
        mode = "ok"
    if mode == "warn":
        say("W0302", "implicit cast", severity="warning")
    if mode in {"ok", "warn", "partial", "foreign metadata"}:
        write_output(unit, arguments, Path(arguments[arguments.index("-o") + 1]), mode)
        return 0
    return fail(mode)


sys.exit(main(sys.argv[1:]))
