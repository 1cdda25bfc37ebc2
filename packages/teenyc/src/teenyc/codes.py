"""The codes of teenyc, one row each, by block: E01-E06 front end, E07 GPU, E08 CPU back end.

A row is the code, the kebab-case name of the bad thing and the message template; its page is
`explain/<code>.md`. Rows are found by type, so a new row is one line in its section.
"""

from __future__ import annotations

from teeny_macros.diagnostics import Code, LaunchError, ToolchainError, code

# --- E01xx: syntax -------------------------------------------------------------------------------
E0101 = code("E0101", "invalid-syntax", "this is not valid Python: {reason}")
E0102 = code("E0102", "unsupported-statement", "a kernel cannot hold `{what}`")
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
E0111 = code("E0111", "capturing-lambda", "this lambda uses `{name}` of the function around it")
E0199 = code("E0199", "not-supported-yet", "{what} is not supported in this version")

# --- E02xx: names and calls ----------------------------------------------------------------------
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

# --- E03xx: types ------------------------------------------------------------------------------
E0301 = code("E0301", "invalid-operands", "`{op}` does not take {types}")
E0302 = code("E0302", "literal-out-of-range", "{value} is not a value of {dtype}")
E0303 = code("E0303", "mixed-signedness", "`{op}` of {left} and {right} mixes signed and unsigned")
E0304 = code("E0304", "boolean-arithmetic", "`{op}` of i1 values would wrap in one bit")
E0305 = code("E0305", "unsupported-dtype", "`{op}` takes f32 and f64, not {dtype}")
E0306 = code("E0306", "invalid-cast", "no cast goes from {before} to {dtype}")
E0307 = code("E0307", "invalid-rounding", "casting {before} to {dtype} takes no such rounding mode")
E0308 = code("E0308", "mismatched-widths", "{before} has {size} bits, and {dtype} has {wanted}")
E0309 = code("E0309", "non-integer-offset", "a pointer moves by integers, not by {dtype}")
E0310 = code("E0310", "valueless-operand", "{what} is not a value that an operation takes")
E0312 = code("E0312", "invalid-dtype", "{what} is not a dtype")
E0313 = code("E0313", "narrow-arithmetic", "`{op}` cannot compute in {dtype}")
E0314 = code(
    "E0314", "mismatched-combination", "`{function}` returns {found}, and {wanted} are wanted"
)
E0315 = code("E0315", "implicit-cast", "{before} becomes {dtype} without a word")

# --- E04xx: shapes and compile-time values -----------------------------------------------------
E0401 = code(
    "E0401", "range-not-power-of-two", "the length of a range, {length}, is not a power of two"
)
E0402 = code("E0402", "side-not-power-of-two", "side {side} of shape {shape} is not a power of two")
E0403 = code("E0403", "mismatched-shapes", "shapes {left} and {right} do not broadcast")
E0404 = code(
    "E0404", "oversized-tile", "a tile of shape {shape} has {count} elements, more than {limit}"
)
E0405 = code("E0405", "axis-out-of-range", "axis {axis} does not exist in a tensor of rank {rank}")
E0406 = code("E0406", "invalid-shape", "{what} is not a shape")
E0407 = code("E0407", "empty-range", "the range from {start} to {end} has no elements")
E0408 = code("E0408", "failed-assertion", "a compile-time assertion does not hold{message}")
E0409 = code("E0409", "invalid-grid-axis", "{what} is not an axis of the grid")
E0410 = code("E0410", "mismatched-matrices", "matrices {left} and {right} do not fit together")
E0411 = code("E0411", "small-product", "`dot` over {inner} elements, fewer than {least}")
E0412 = code("E0412", "unsupported-index", "a tensor cannot be indexed with {what}")
E0413 = code("E0413", "wrong-rank", "`{op}` needs {what}, not {type}")
E0414 = code("E0414", "invalid-axes", "{dims} are not the axes that `{op}` needs at rank {rank}")
E0415 = code("E0415", "oversized-shift", "a shift by {amount} leaves no bit of {dtype}")
E0416 = code("E0416", "unknown-option", "{what} is not a value of `{parameter}`")
E0417 = code(
    "E0417",
    "changed-element-count",
    "shape {before} has {count} elements, and {after} has {wanted}",
)
E0418 = code(
    "E0418", "non-integer-argument", "`{parameter}` of `{op}` must be an integer, not {what}"
)
E0419 = code("E0419", "invalid-argument", "`{op}` does not take {what} here")

# --- E05xx: memory -----------------------------------------------------------------------------
E0501 = code("E0501", "not-a-pointer", "`{op}` needs a pointer, not {type}")
E0502 = code("E0502", "non-boolean-mask", "a mask is i1, not {dtype}")
E0503 = code("E0503", "other-without-mask", "`other` without `mask` has no effect")
E0504 = code(
    "E0504", "tensor-at-scalar-pointer", "`{what}` has shape {shape}, and the pointer is a scalar"
)
E0505 = code(
    "E0505", "wider-than-pointer", "`{what}` has shape {shape}, more than the pointer's {pointer}"
)
E0506 = code(
    "E0506",
    "out-of-bounds-access",
    "program {program}, element {element}: {access} {size} bytes {place}",
    LaunchError,
)
E0507 = code(
    "E0507",
    "read-only-array",
    "program {program} stores into an array that is read-only",
    LaunchError,
)
E0508 = code(
    "E0508", "missing-numpy", "the interpreter needs NumPy, which is not installed", ToolchainError
)
E0509 = code("E0509", "failed-program", "program {program} cannot go on: {reason}", LaunchError)
E0510 = code("E0510", "invalid-launch-argument", "the interpreter cannot take {what}", LaunchError)
E0511 = code("E0511", "unsupported-atomic", "`{op}` has no form for {dtype}")
E0512 = code("E0512", "mismatched-tile", "`{parameter}` does not fit its tile: {what}")
E0513 = code(
    "E0513",
    "unproved-bounds",
    "program {program}, element {element}: {what} `{array} {place}`, outside of {size} elements",
)
E0514 = code(
    "E0514",
    "overflowing-offset",
    "program {program}, element {element}: offset {offset} into `{array}` is more than i32 holds",
)
E0515 = code(
    "E0515",
    "colliding-stores",
    "programs {program} and {other} both store to `{array} {place}`, different values",
)
E0516 = code(
    "E0516",
    "missing-solver",
    "deciding bounds needs z3-solver, which is not installed",
    ToolchainError,
)
E0517 = code(
    "E0517", "invalid-extent", "the extent `{text}` of `{parameter}` cannot be read: {reason}"
)

# --- E06xx: control flow -------------------------------------------------------------------------
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

# --- E07xx: GPU back end -----------------------------------------------------------------------
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
E0713 = code("E0713", "missing-hardware", "{what} exists from {first} on, not on {arch}")
E0714 = code("E0714", "unspecialized-loop", "the loop is not warp-specialized: {reason}")
E0715 = code(
    "E0715",
    "excluding-cache-options",
    "a GPU takes `cache_modifier` or `eviction_policy` of one access, not both",
)
E0716 = code(
    "E0716",
    "oversized-operands",
    "{what} of shared memory, and a block has {limit} on {arch}",
)
E0717 = code("E0717", "unflattened-loop", "the loop is not flattened: {reason}")
E0718 = code("E0718", "refused-machine-code", "ptxas refuses the code of `{kernel}`: {reason}")
E0719 = code("E0719", "missing-machine-code", "there is no machine code of `{kernel}`: {reason}")

# --- E08xx: CPU back end -----------------------------------------------------------------------
E0801 = code(
    "E0801",
    "missing-llvmlite",
    "compiling for a CPU needs llvmlite, which cannot be loaded: {reason}",
    ToolchainError,
)
E0802 = code("E0802", "foreign-symbol", "the object needs {names}, which no library provides")
E0803 = code("E0803", "no-cpu-code", "the CPU back end has no code for `{op}`")

CODES: tuple[Code, ...] = tuple(row for row in list(globals().values()) if isinstance(row, Code))
