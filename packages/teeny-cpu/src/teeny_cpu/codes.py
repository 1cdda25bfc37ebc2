"""The codes of launches on the CPU and in the interpreter (E11xx), one row each.

A row is the code, the kebab-case name of the bad thing and the message template; its page is
`explain/<code>.md`. Where a row of teeny_cuda says the same of a GPU it has the same name.
"""

from __future__ import annotations

from teeny_macros.diagnostics import Code, LaunchError, code


def _row(name: str, kebab: str, message: str) -> Code:
    return code(name, kebab, message, LaunchError)


# --- devices and programs ------------------------------------------------------------------------
E1101 = _row(
    "E1101",
    "missing-interpreter",
    "the device `interpret` is teenyc's interpreter, which is missing",
)
E1102 = _row("E1102", "unknown-device", "there is no host device `{name}`")
E1103 = _row(
    "E1103", "wrong-target", "`{kernel}` is compiled for {target}, which {device} does not run"
)
E1104 = _row("E1104", "unreadable-unit", "the unit of `{kernel}` cannot be read")

# --- launches ------------------------------------------------------------------------------------
E1105 = _row("E1105", "invalid-grid", "{grid} is not a grid: {reason}")
E1106 = _row(
    "E1106", "wrong-argument-count", "`{kernel}` takes {wanted} arguments, and {found} are given"
)
E1107 = _row(
    "E1107", "mistyped-argument", "parameter `{name}` takes {wanted}, and {found} is given"
)
E1108 = _row(
    "E1108", "out-of-range-argument", "parameter `{name}` is {dtype}, which cannot hold {value}"
)
E1109 = _row(
    "E1109", "misplaced-array", "the array of parameter `{name}` lies on {found}, not on the host"
)
E1110 = _row(
    "E1110",
    "misaligned-array",
    "the array of parameter `{name}` begins at {pointer}, no multiple of {size} bytes",
)

# --- memory, streams, events ---------------------------------------------------------------------
E1111 = _row("E1111", "released-buffer", "the buffer's memory was released")
E1112 = _row("E1112", "mismatched-copy", "{found} does not fit into {wanted}")
E1113 = _row("E1113", "unknown-dtype", "`{dtype}` is not a dtype of kernels")
E1114 = _row("E1114", "invalid-shape", "{shape} is not a shape: {reason}")
E1115 = _row("E1115", "invalid-stream", "{found} is not a stream of the host")
E1116 = _row("E1116", "unrecorded-event", "the time between two events is not known: {reason}")
E1117 = _row("E1117", "malformed-array", "an array of type `{type}` hands out no memory: {reason}")
E1118 = _row("E1118", "exhausted-memory", "the host has no {nbytes} bytes for {what}")

# --- native code ---------------------------------------------------------------------------------
E1119 = _row("E1119", "unreadable-object", "the object of `{kernel}` cannot be used: {reason}")
E1120 = _row(
    "E1120", "foreign-symbol", "the object of `{kernel}` calls {names}, which kernels never do"
)
E1121 = _row("E1121", "missing-cpu-feature", "`{kernel}` needs {missing}, which this CPU lacks")
E1122 = _row(
    "E1122",
    "out-of-bounds-access",
    "program {program}, element {element}: {access} at {address}, outside of every array",
)
E1123 = _row("E1123", "unreadable-variable", "{name} is `{value}`, which is no number of threads")
E1124 = _row(
    "E1124", "read-only-array", "the array of parameter `{name}` is read-only, and is written to"
)
E1125 = _row(
    "E1125", "failed-assertion", "program {program}, element {element}: assertion failed{message}"
)

CODES: tuple[Code, ...] = tuple(
    value for value in list(globals().values()) if isinstance(value, Code)
)
