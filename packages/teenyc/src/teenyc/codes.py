"""The codes of teenyc, one row each, by block: E01-E06 front end, E07 GPU, E08 CPU back end.

A row is the code, the kebab-case name of the bad thing and the message template; its page is
`explain/<code>.md`. Rows are found by type, so a new row is one line in its section.
"""

from __future__ import annotations

from teeny_macros.diagnostics import Code, ToolchainError, code

# --- E01xx: syntax ---------------------------------------------------------------------------------
E0101 = code("E0101", "invalid-syntax", "this is not valid Python: {reason}")
E0102 = code("E0102", "unsupported-statement", "a kernel cannot hold a `{what}` statement")
E0103 = code("E0103", "unsupported-expression", "a kernel cannot hold {what}")
E0104 = code("E0104", "unsupported-target", "a kernel cannot assign to {what}")
E0105 = code(
    "E0105", "unsupported-parameter", "a kernel or helper cannot have a parameter `{what}`"
)
E0106 = code("E0106", "unsupported-operand", "`{operator}` does not take {what}")
E0107 = code("E0107", "deep-nesting", "this nests too deeply")
E0108 = code("E0108", "endless-unrolling", "the kernel unrolls to more than {limit} statements")
E0109 = code("E0109", "failed-evaluation", "this cannot be computed at compile time: {reason}")
E0110 = code("E0110", "misused-function", "`{name}` is {kind}, not a value")
E0199 = code("E0199", "not-supported-yet", "{what} is not supported in this version")

# --- E02xx: names and calls ------------------------------------------------------------------------
E0201 = code("E0201", "unknown-name", "`{name}` is not defined")
E0202 = code("E0202", "unknown-attribute", "{owner} has no attribute `{name}`")
E0203 = code("E0203", "uncallable-value", "{what} cannot be called")
E0204 = code("E0204", "too-many-arguments", "`{function}` takes {expected}, and {given} are given")
E0205 = code("E0205", "missing-argument", "`{function}` lacks an argument for {names}")
E0206 = code("E0206", "unknown-keyword", "`{function}` has no parameter `{name}`")
E0207 = code("E0207", "repeated-argument", "`{function}` gets `{name}` twice")
E0208 = code("E0208", "unavailable-function", "Python's `{name}` is not available in a kernel")
E0209 = code("E0209", "recursive-call", "`{name}` calls itself")
E0210 = code("E0210", "run-time-constant", "{what} must be known at compile time")
E0211 = code("E0211", "valueless-variable", "`{name}` may have no value here")
E0212 = code("E0212", "mismatched-unpacking", "{values} cannot be unpacked into {names}")
E0213 = code("E0213", "unresolved-import", "module `{module}` is not part of the unit")
E0214 = code("E0214", "invalid-entry-point", "the unit's entry point is invalid: {reason}")

# --- E03xx: types --------------------------------------------------------------------------------

# --- E04xx: shapes and compile-time values -------------------------------------------------------

# --- E05xx: memory -------------------------------------------------------------------------------

# --- E06xx: control flow ---------------------------------------------------------------------------
E0601 = code("E0601", "return-in-loop", "`return` inside a run-time loop")
E0602 = code("E0602", "ambiguous-truth", "{what} needs one truth value, and {type} has many")
E0603 = code("E0603", "jump-in-loop", "`{what}` in a run-time loop")
E0604 = code(
    "E0604",
    "unstable-loop-variable",
    "`{name}` changes its type in the loop: {before} before it, {after} after an iteration",
)
E0605 = code(
    "E0605", "mismatched-branches", "{what} is {left} in one branch and {right} in the other"
)
E0606 = code("E0606", "zero-step", "the step of this range is zero")
E0607 = code("E0607", "endless-loop", "this loop never ends")
E0608 = code("E0608", "unsupported-iterable", "`for` cannot go through {what}")
E0609 = code("E0609", "invalid-bound", "a bound of this range is {what}, not an integer scalar")
E0610 = code("E0610", "unconvertible-variable", "{name} is {what}, which cannot change at run time")

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
