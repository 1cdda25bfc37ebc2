"""The error codes of the DSL package: its text and its names used on the host."""

from __future__ import annotations

from teeny_macros.diagnostics import CaptureError, Code, LaunchError, ToolchainError, code

E0010 = code(
    "E0010",
    "missing-dsl-text",
    "the text of the kernel language is neither built nor beside `teeny_triton`",
    ToolchainError,
)
E0011 = code(
    "E0011",
    "dsl-called-on-host",
    "`{name}` works only inside a kernel",
    CaptureError,
)
E0012 = code(
    "E0012",
    "mistyped-array",
    "an array of `{found}` cannot be typed as `{wanted}`",
    LaunchError,
)
E0013 = code(
    "E0013",
    "undescribable-argument",
    "a tensor descriptor cannot be made of {what}",
    LaunchError,
)

CODES: tuple[Code, ...] = (E0010, E0011, E0012, E0013)
