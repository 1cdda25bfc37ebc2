"""The source text of a function: found, checked, normalised; or refused with a code.

Nothing here runs or parses the function. What its names mean is the business of namespace.py.
"""

from __future__ import annotations

import types
from typing import TYPE_CHECKING, Any, cast

from teeny_macros import remembered
from teeny_macros.codes import E0001, E0002, E0003, E0004, E0005, E0006, E0007, E0008, E0009, E0029
from teeny_macros.diagnostics import CaptureError
from teeny_macros.source import Origin, SourceMap, Span
from teeny_macros.texts import BODY, Normalised, Use

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from teeny_macros.diagnostics import TeenyError
    from teeny_macros.remembered import Memory

# Arguments of every launch; a parameter of one of these names could not be passed.
RESERVED = frozenset(
    {
        *("num_warps", "num_stages", "num_ctas", "maxnreg", "enable_fp_fusion"),
        *("launch_pdl", "launch_cooperative_grid", "stream", "device"),
    }
)

# Bits of `co_flags`, which importing `inspect` for would cost more than the rest of this package.
_VARARGS, _VARKEYWORDS, _GENERATOR, _COROUTINE, _ASYNC_GENERATOR = 0x04, 0x08, 0x20, 0x80, 0x200


class Captured:
    """A captured function.

    The function, its file and normalised text, names of the enclosing frame. Normalising takes most
    of what a capture costs, so it waits until somebody asks: a module may hold many kernels, and a
    process that launches few of them should not pay for all.

    `local_names` are the variables of the scope of the decorator (a function or class body) that
    the text mentions: annotations may use them, and a class body's helpers live there.
    """

    __slots__ = ("_lines", "_memory", "_normal", "_uses", "file", "function", "local_names", "name")

    def __init__(self, function: types.FunctionType, file: str, lines: Sequence[str]) -> None:
        self.function = function
        self.file = file
        self.local_names: dict[str, Any] = {}
        self.name = function.__code__.co_name  # in the `def`
        self._lines = lines  # as they were when the decorator ran
        self._normal: Normalised | None = None
        self._uses: tuple[Use, ...] | None = None
        self._memory: Memory | None = None

    @property
    def normal(self) -> Normalised:
        """The normalised text and what is known of it. Raises E0007 and E0026 the first time."""
        found = self._normal
        if found is None:
            self._memory = remembered.of(self.file, self._lines)
            found = _normalised(self.function, self.file, self._lines, self._memory)
            self._normal = found
            self._lines = ()
        return found

    @property
    def uses(self) -> tuple[Use, ...]:
        """The names of outside that the text uses, those of the body first.

        Raises E0029 the first time.
        """
        found = self._uses
        if found is None:
            found = self._uses = _uses(self.normal, self.file, self.function, self._memory)
        return found

    @property
    def text(self) -> str:
        """The normalised text."""
        return self.normal.text

    def renamed(self, name: str) -> Captured:
        """The same function under another name, which the text then says in its `def`."""
        made = Captured(self.function, self.file, ())
        made.name, made._normal = name, self.normal.renamed(name)
        made.local_names, made._memory = self.local_names, self._memory
        return made

    def in_file(self, line: int, column: int, end_line: int, end_column: int) -> Span:
        """The span in the user's file of a stretch of the normalised text."""
        origins = {
            at: Origin(self.file, pieces[0][1], pieces)
            for at, pieces in enumerate(self.normal.pieces, start=1)
            if pieces
        }
        return SourceMap(origins).span(Span(self.file, line, column, end_line, end_column))


def capture(value: object, scope: Mapping[str, Any], *, is_kernel: bool) -> Captured:
    """Capture a function given to a decorator.

    `scope` are the variables where the decorator stands.

    Raises:
        CaptureError: E0001-E0009 when the value is no plain function with a source text.
    """
    function = _plain_function(value)
    _refuse_kinds(function, is_kernel=is_kernel)
    file, lines = _source_lines(function)
    captured = Captured(function, file, lines)
    if scope is not function.__globals__:
        # Not what the function's own variables are called: it would keep arrays alive for nothing.
        names = captured.normal.names.difference(function.__code__.co_varnames)
        captured.local_names = {name: scope[name] for name in names if name in scope}
    elif not _stands_there(function, lines):
        _ = captured.normal  # which says what is wrong, or that nothing is
    return captured


def _normalised(
    function: types.FunctionType, file: str, lines: Sequence[str], memory: Memory | None
) -> Normalised:
    first = function.__code__.co_firstlineno
    known = None if memory is None else memory.get(f"text {first}")
    if known is not None:
        normal = Normalised.restored(known, file)
    else:
        from teeny_macros.normalise import normalise

        try:
            normal = normalise(lines, first, file)
        except CaptureError as error:
            if error.code != E0029.code:
                raise
            raise _changed(function, None) from None  # Python has read something else there
        if memory is not None:
            memory.put(f"text {first}", normal.kept())
    if normal.name != function.__code__.co_name or not _same_parameters(function, normal):
        raise _changed(function, normal)
    return normal


def _uses(
    normal: Normalised, file: str, function: types.FunctionType, memory: Memory | None
) -> tuple[Use, ...]:
    record = f"uses {function.__code__.co_firstlineno} {normal.name}"
    known = None if memory is None else memory.get(record)
    if known is not None:
        return tuple(map(Use._make, known))
    from teeny_macros.names import find_uses, parse_function

    found = find_uses(parse_function(normal.text, file), normal.text)
    # What the body means by a name decides; an annotation may mean something else by it.
    ordered = tuple(sorted(found, key=lambda use: use.role != BODY))
    if memory is not None:
        memory.put(record, tuple(map(tuple, ordered)))
    return ordered


_LONGEST_HEADER = 64  # lines, decorators included


def _stands_there(function: types.FunctionType, lines: Sequence[str]) -> bool:
    """Whether a short look finds the function where Python read it: its name, its parameters.

    False where a look is not enough: then the tokens must tell.
    """
    code = function.__code__
    first = code.co_firstlineno - 1
    define, header = f"def {code.co_name}(", ""
    if not lines[first].lstrip().startswith(("@", define)):
        return False
    for line in lines[first : first + _LONGEST_HEADER]:
        text = line.strip()
        if header or text.startswith(define):
            header += text
            if any(mark in text for mark in "#'\""):
                return False
            if text.endswith(":"):
                count = code.co_argcount + code.co_kwonlyargcount
                return all(name in header for name in code.co_varnames[:count])
    return False


def _changed(function: types.FunctionType, now: Normalised | None) -> TeenyError:
    span = _place(function) if now is None else now.header
    error = E0007.at(span, "this is there now", name=function.__code__.co_name)
    error.note("the file was edited after Python read it")
    return error.help("import the module again, or restart Python")


def _plain_function(value: object) -> types.FunctionType:
    """The function below `staticmethod` and well-behaved decorators."""
    found: Any = value
    while True:
        if isinstance(found, types.FunctionType):
            inner = getattr(found, "__wrapped__", None)
            if not isinstance(inner, types.FunctionType):
                return found
        else:
            name = "__func__" if isinstance(found, staticmethod) else "__wrapped__"
            inner = getattr(cast("object", found), name, None)
            if isinstance(found, type | types.MethodType) or inner is None or inner is found:
                raise _not_a_function(found)
        found = inner


def _not_a_function(value: Any) -> TeenyError:
    name = getattr(value, "__name__", None)
    if isinstance(value, type):
        return E0001.error(what=f"the class `{name}`").help("decorate a function")
    if isinstance(value, types.MethodType):
        return E0005.error(name=name, receiver="self").help(
            "make it a function of the module, or a static method"
        )
    if isinstance(value, types.BuiltinFunctionType):
        error = E0001.error(what=f"the built-in function `{name}`")
        return error.help("kernels are captured as Python text, which it does not have")
    what = f"`{name}` of type" if name else "an object of type"
    error = E0001.error(what=f"{what} `{type(value).__name__}`")
    return error.help("put the decorator directly on the function: `@kernel` above `def`")


def _place(function: types.FunctionType, part: str = "") -> Span:
    """`def name`, or the parameter `part` behind it; the first line where the text is not there."""
    import re
    from linecache import getlines

    code = function.__code__
    file, first = code.co_filename, code.co_firstlineno
    wanted = rf"\bdef\s+{re.escape(code.co_name)}\b"
    for number, text in enumerate(getlines(file)[first - 1 :], first):
        found = re.search(wanted, text)
        if found is None:
            continue
        span = Span(file, number, found.start() + 1, number, found.end() + 1)
        if not part:
            return span
        wanted, part = rf"(?<!\w)\*{{0,2}}{re.escape(part)}\b", ""
        found = re.search(wanted, text[found.end() :])
        if found is not None:
            start = span.end_column + found.start()
            return Span(file, number, start, number, start + found.end() - found.start())
    return Span.point(file, first)


def _refuse_kinds(function: types.FunctionType, *, is_kernel: bool) -> None:
    code = function.__code__
    name, flags = code.co_name, code.co_flags
    if name == "<lambda>":
        raise E0002.at(_place(function)).help("write it as a function with `def`")
    if flags & (_COROUTINE | _ASYNC_GENERATOR):
        raise E0003.at(_place(function), name=name).help(
            "kernels run on a device and await nothing; drop `async`"
        )
    if flags & _GENERATOR:
        raise E0004.at(_place(function), name=name).help(
            "a kernel yields nothing; store the values instead"
        )
    receiver = code.co_varnames[0] if code.co_argcount else ""
    owner = function.__qualname__.rpartition(".")[0]
    in_class = bool(owner) and not owner.endswith("<locals>")
    if receiver in ("self", "cls") and in_class:
        raise E0005.at(_place(function), name=name, receiver=receiver).help(
            "a kernel has no object; make it a static method and pass what it needs as parameters"
        )
    if not is_kernel:
        return
    if flags & (_VARARGS | _VARKEYWORDS):
        given = code.co_varnames[code.co_argcount + code.co_kwonlyargcount]
        raise E0008.at(_place(function, given), name=name).help("name each parameter")
    count = code.co_argcount + code.co_kwonlyargcount
    for parameter in code.co_varnames[:count]:
        if parameter in RESERVED:
            raise E0009.at(_place(function, parameter), name=parameter).help(
                f"choose another name; `{parameter}=` belongs to the launch"
            )


def _source_lines(function: types.FunctionType) -> tuple[str, list[str]]:
    """The file of a function and its lines.

    From disk, a loader (zip) or a notebook's `linecache` entry.
    """
    import linecache

    code = function.__code__
    file = code.co_filename
    linecache.checkcache(file)
    lines = linecache.getlines(file, function.__globals__)
    if 0 < code.co_firstlineno <= len(lines):
        return file, lines
    error = E0006.at(_place(function), name=code.co_name)
    if lines:
        raise error.note(f"the file has only {len(lines)} lines now").help(
            "import the module again"
        )
    if file == "<stdin>":
        raise error.note("it was typed at a prompt that keeps no text").help(
            "use IPython or a notebook, Python 3.13's prompt, or write it to a file"
        )
    if file.startswith("<") and file.endswith(">"):
        raise error.note(f"it was made with exec or eval, under the name `{file}`").help(
            "write it to a file and import it, or put its text into `linecache.cache` by that name"
        )
    raise error.note("only compiled code of the module is there").help("install its `.py` file too")


def _same_parameters(function: types.FunctionType, normal: Normalised) -> bool:
    code = function.__code__
    count = code.co_argcount + code.co_kwonlyargcount
    return normal.names.issuperset(code.co_varnames[:count])


class SourceFunction:
    """What `@kernel` and `@device` make: it carries the captured text of its function."""

    __slots__ = ("captured",)

    def __init__(self, captured: Captured) -> None:
        self.captured = captured
