"""The codes of teenyc, one row each, by block: E01-E06 front end, E07 GPU, E08 CPU back end.

A row is the code, the kebab-case name of the bad thing and the message template; its page is
`explain/<code>.md`. Rows are found by type, so a new row is one line in its section.
"""

from __future__ import annotations

from teeny_macros.diagnostics import Code, ToolchainError, code

# --- E01xx: syntax -------------------------------------------------------------------------------
E0199 = code("E0199", "not-supported-yet", "{what} is not supported in this version")

# --- E02xx: names and calls ----------------------------------------------------------------------

# --- E03xx: types --------------------------------------------------------------------------------

# --- E04xx: shapes and compile-time values -------------------------------------------------------

# --- E05xx: memory -------------------------------------------------------------------------------

# --- E06xx: control flow -------------------------------------------------------------------------

# --- E07xx: GPU back end -------------------------------------------------------------------------
E0701 = code(
    "E0701",
    "missing-back-end",
    "compiling for a GPU needs Triton, which is not installed",
    ToolchainError,
)
E0702 = code(
    "E0702",
    "unsupported-back-end",
    "Triton {version} is not supported: teenyc drives {supported}",
    ToolchainError,
)
E0703 = code("E0703", "dead-back-end", "the GPU back end ended during {stage}: {how}")
E0704 = code(
    "E0704", "unreadable-mlir", "the GPU back end cannot read the MLIR that teenyc printed"
)
E0705 = code(
    "E0705", "failed-stage", "the GPU back end refuses this kernel in stage {stage}: {reason}"
)
E0706 = code(
    "E0706",
    "low-ptx-version",
    "PTX {version} is too old for {what}, which needs at least PTX {floor}",
)
E0707 = code("E0707", "unknown-ptx-version", "`{version}` is not a PTX version")
E0708 = code("E0708", "unusable-output", "`{path}` cannot be written: {reason}", ToolchainError)
E0709 = code(
    "E0709", "unknown-dsl-text", "the DSL text sha256:{digest} is not known here", ToolchainError
)
E0710 = code(
    "E0710", "mismatched-dsl-text", "the unit's DSL text has not the digest that its header names"
)
E0711 = code("E0711", "unreadable-request", "the request cannot be read: {reason}", ToolchainError)
E0712 = code(
    "E0712", "broken-back-end", "Triton {version} cannot be loaded: {reason}", ToolchainError
)

# --- E08xx: CPU back end -------------------------------------------------------------------------

CODES: tuple[Code, ...] = tuple(row for row in list(globals().values()) if isinstance(row, Code))
