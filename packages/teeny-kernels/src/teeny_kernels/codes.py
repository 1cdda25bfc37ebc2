"""The codes of the kernel library (E12xx), one row each: a call with arguments that do not fit.

A row is the code, the kebab-case name of the bad thing and the message template; its page is
`explain/<code>.md`.
"""

from __future__ import annotations

from teeny_macros.diagnostics import Code, LaunchError, code


class KernelError(LaunchError):
    """A call of the kernel library was refused before anything was launched."""


def _row(name: str, kebab: str, message: str) -> Code:
    return code(name, kebab, message, KernelError)


E1201 = _row("E1201", "not-an-array", "`{name}` is {found}, which is no array")
E1202 = _row("E1202", "mismatched-shapes", "{operation}: {what}")
E1203 = _row("E1203", "unsupported-dtype", "`{name}` is an array of `{found}`: {reason}")
E1204 = _row("E1204", "invalid-option", "{operation}: `{name}` cannot be {found}")
E1205 = _row("E1205", "invalid-axis", "{operation}: axis {axis} is none of an array of {ndim} axes")
E1206 = _row(
    "E1206",
    "mixed-places",
    "{operation}: `{first}` is a {first_place}, but `{second}` is a {second_place}",
)
E1207 = _row(
    "E1207", "mismatched-output", "{operation}: `{name}` is {found}, but the result is {wanted}"
)
E1208 = _row("E1208", "too-many-axes", "{operation}: {found} axes that cannot be joined")
E1209 = _row("E1209", "unreadable-elements", "`{name}` is {found}, which kernels cannot read")
E1210 = _row("E1210", "too-large-result", "a result of {shape} would have too many elements")

CODES: tuple[Code, ...] = tuple(row for row in list(globals().values()) if isinstance(row, Code))
