"""The `teenyc` command. Exit status: 0 done, 1 diagnostics, 2 wrong usage, 3 our own bug.

Diagnostics go to standard error, with `--error-format json` one JSON object a line (the form of
`Diagnostic.to_json`). Heavy imports happen where they are used: the start of the process is part of
every cold compile.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from teeny_macros.codes import I0000
from teeny_macros.diagnostics import InternalError, TeenyError
from teenyc import __version__, options
from teenyc.options import Command, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from teeny_macros.diagnostics import Diagnostic
    from teenyc.backend.gpu.child import Child
    from teenyc.driver import Result
    from teenyc.ir.core import Module
    from teenyc.options import Options

OK, DIAGNOSTICS, USAGE, BUG = 0, 1, 2, 3
_FORMS = {"human": "full"}  # our names of the renderer's forms, where they differ


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit status."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    error_format = _error_format(given)
    try:
        return _run(options.parse_command(given))
    except UsageError as error:
        print(f"teenyc: error: {error}\n(`teenyc --help` shows the options)", file=sys.stderr)
        return USAGE
    except TeenyError as error:
        return report(error, error_format)
    except KeyboardInterrupt:
        return 130  # as a shell reports SIGINT
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # `teenyc --explain E0701 | head -1`
        return OK
    except Exception as error:  # noqa: BLE001 - a traceback never reaches the user bare
        import traceback

        found = I0000.error(where="the teenyc command", what=f"{type(error).__name__}: {error}")
        found.note("".join(traceback.format_exception(error)[-6:]).rstrip())
        return report(found.help("this is a bug of teenyc: please report it"), error_format)


def report(error: TeenyError, error_format: str) -> int:
    """Print the faults of `error` on standard error; the exit status that belongs to it."""
    show(error.diagnostics, error_format)
    return BUG if isinstance(error, InternalError) else DIAGNOSTICS


def show(diagnostics: Sequence[Diagnostic], error_format: str) -> None:
    """Print diagnostics on standard error."""
    if not diagnostics:
        return
    from teeny_macros.render import render, wants_color

    color = error_format == "human" and wants_color(sys.stderr)
    for diagnostic in diagnostics:
        print(
            render(diagnostic, _FORMS.get(error_format, error_format), color=color), file=sys.stderr
        )


def _error_format(arguments: list[str]) -> str:
    """The format that errors about the command line itself use."""
    for i, argument in enumerate(arguments):
        name, _, value = argument.partition("=")
        if name == "--error-format":
            value = value or "".join(arguments[i + 1 : i + 2])
            return value if value in options.ERROR_FORMATS else "human"
    return "human"


def _run(command: Command) -> int:
    if command.help:
        print(options.USAGE, end="")
    elif command.version:
        print(_version(command))
    elif command.explain is not None:
        _explain(command.explain)
    elif command.print is not None:
        _print_list(command.print, command)
    elif command.worker:
        from teenyc.worker import serve

        serve(checking=command.check)
    elif command.unit is None:
        raise UsageError("say which unit to compile")
    else:
        _compile(command, command.unit)
    return OK


def _compile(command: Command, unit: str) -> None:
    import gc

    from teenyc import driver, output

    gc.disable()  # the process lives for one unit
    asked = options.compile_options(command)
    driver.require_supported(asked)
    text = _read(unit)
    child = _start_back_end(asked)
    try:
        result = driver.compile_text(
            text,
            asked,
            child=child,
            folder=command.output,
            after=_printer_after(asked.print_after),
        )
    except BaseException:
        if child is not None:
            child.dismiss()
        raise
    show(result.warnings, command.error_format)
    if not asked.check:
        paths = output.write_result(result, asked.target, command.output)
        if command.verbose:
            print("\n".join(paths.values()))
    if command.time_passes:
        _print_timings(result)
    if command.verbose and result.log:
        print(result.log, end="", file=sys.stderr)


def _start_back_end(asked: Options) -> Child | None:
    """Let libtriton load in its process while this one runs the front end."""
    from teenyc import driver

    if not driver.needs_back_end(asked):
        return None
    driver.find_triton()
    from teenyc.backend.gpu.child import Child as Process

    return Process.start()


def _read(unit: str) -> str:
    try:
        if unit == "-":
            return sys.stdin.buffer.read().decode()
        with Path(unit).open(encoding="utf-8", newline="\n") as file:
            return file.read()
    except OSError as error:
        raise UsageError(f"cannot read `{unit}`: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"`{unit}` is not UTF-8 text") from error


def _printer_after(wanted: Sequence[str]) -> Callable[[str, Module], None] | None:
    """Prints the IR after the passes that `wanted` names, on standard error."""
    if not wanted:
        return None
    from teenyc.ir.printer import print_module

    def after(name: str, module: Module) -> None:
        if name in wanted or "all" in wanted:
            print(f"// ----- after {name} -----\n{print_module(module)}", file=sys.stderr)

    return after


def _print_timings(result: Result) -> None:
    for name, seconds in result.timings:
        print(f"{seconds * 1e3:9.1f} ms  {name}", file=sys.stderr)


def _print_list(what: str, command: Command) -> None:
    if what == "assemblers":
        from teenyc import driver
        from teenyc.backend.gpu import assemble

        arch, release = options.compile_options(command).target.arch, driver.find_triton().release
        for path in assemble.find_assemblers(arch, release):
            print("\t".join((str(path), *assemble.options_of(release))))
        return
    if what == "passes":
        from teenyc.passes import PASSES

        print("\n".join(name for name, _ in PASSES))
        return
    if what == "tools":
        from teenyc.backend.gpu.ptx import find_tools

        print("".join(f"{name}\t{path}\n" for name, path in find_tools()), end="")
        return
    from teeny_macros.target import CPU_ARCHS, CUDA_ARCHS, CUDA_TRIPLE

    print(f"{CUDA_TRIPLE}  -C target-cpu={'|'.join(CUDA_ARCHS)}")
    print("cpu")
    print("\n".join(name for name in CPU_ARCHS if name != "host"))
    print("interpret")


def _version(command: Command) -> str:
    head = f"teenyc {__version__}"
    if not command.verbose:
        return head
    from importlib import metadata

    from teeny_macros.unit import FORMAT, LANGUAGE
    from teenyc.backend.gpu.versions import SUPPORTED

    def installed(name: str) -> str:
        try:
            return metadata.version(name)
        except metadata.PackageNotFoundError:
            return "not installed"

    return "\n".join(
        (
            head,
            f"language: {LANGUAGE}",
            f"unit format: {FORMAT}",
            f"python: {sys.version.split()[0]}",
            f"triton: {installed('triton')} (supported: {SUPPORTED})",
            f"llvmlite: {installed('llvmlite')}",
            f"numpy: {installed('numpy')}",
        )
    )


def _explain(code: str) -> None:
    from importlib.resources import files

    own = files("teenyc") / "explain" / f"{code.upper()}.md"
    if own.is_file():
        print(own.read_text(encoding="utf-8"), end="")
    else:
        from teeny_macros.pages import explain

        print(explain(code), end="")
