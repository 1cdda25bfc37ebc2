"""The codes of capture (E00xx) and of launch arguments (E10xx).

Codes E001x belong to teeny_triton, E1050 and above to teeny_cuda.
"""

from __future__ import annotations

from teeny_macros.diagnostics import (
    CaptureError,
    Code,
    CompileError,
    InternalError,
    LaunchError,
    code,
)

I0000 = code("I0000", "internal-error", "internal error in {where}: {what}", InternalError)

# --- capture ------------------------------------------------------------------------------------
E0001 = code("E0001", "not-a-function", "{what} cannot be captured as a kernel", CaptureError)
E0002 = code("E0002", "lambda-kernel", "a lambda cannot be captured as a kernel", CaptureError)
E0003 = code("E0003", "async-kernel", "`{name}` is an async function", CaptureError)
E0004 = code("E0004", "generator-kernel", "`{name}` is a generator", CaptureError)
E0005 = code("E0005", "method-kernel", "`{name}` is a method that takes `{receiver}`", CaptureError)
E0006 = code("E0006", "missing-source", "the source text of `{name}` cannot be found", CaptureError)
E0007 = code(
    "E0007", "changed-source", "the source of `{name}` changed since it was imported", CaptureError
)
E0008 = code(
    "E0008", "variadic-parameter", "`{name}` takes a variable number of arguments", CaptureError
)
E0009 = code(
    "E0009",
    "reserved-parameter",
    "the parameter name `{name}` is reserved for launches",
    CaptureError,
)
E0020 = code("E0020", "damaged-unit", "the unit cannot be read: {reason}", CompileError)
E0021 = code(
    "E0021",
    "unknown-version",
    "{what} version {version} is not known here, which reads version {known}",
    CompileError,
)
E0022 = code(
    "E0022", "uncapturable-name", "`{name}` is {what}, which a kernel cannot capture", CaptureError
)
E0023 = code(
    "E0023", "unknown-code", "`{code}` is no error code of an installed package", CaptureError
)
E0024 = code(
    "E0024",
    "unresolved-annotation",
    "the annotation of `{name}` cannot be evaluated: {reason}",
    CaptureError,
)
E0025 = code(
    "E0025", "unsupported-annotation", "the annotation of `{name}` is {what}", CaptureError
)
E0026 = code(
    "E0026", "unsupported-type-parameter", "`{name}` is no type parameter for a dtype", CaptureError
)
E0027 = code(
    "E0027",
    "unspecializable-parameter",
    "`{name}` in `{option}` is {what}",
    CaptureError,
)
E0028 = code("E0028", "unknown-kernel-option", "`@kernel` has no option `{name}`", CaptureError)
E0029 = code("E0029", "untokenizable-source", "the text cannot be read: {reason}", CaptureError)
E0030 = code(
    "E0030", "invalid-kernel-option", "`@kernel({option}=...)` cannot be {value}", CaptureError
)

# --- launch -------------------------------------------------------------------------------------
E1001 = code(
    "E1001", "kernel-called", "`{name}` was called, but kernels are not called: they are launched",
    LaunchError,
)  # fmt: skip
E1002 = code("E1002", "device-function-called", "`{name}` works only inside a kernel", LaunchError)
E1003 = code("E1003", "missing-argument", "`{kernel}` lacks {names}", LaunchError)
E1004 = code(
    "E1004", "too-many-arguments", "`{kernel}` takes {expected} arguments but {given} were given",
    LaunchError,
)  # fmt: skip
E1005 = code("E1005", "unknown-argument", "`{kernel}` has no parameter `{name}`", LaunchError)
E1006 = code("E1006", "repeated-argument", "`{kernel}` got `{name}` twice", LaunchError)
E1007 = code(
    "E1007",
    "mistyped-argument",
    "`{name}` of `{kernel}` wants {wanted}, but got {found}",
    LaunchError,
)
E1008 = code(
    "E1008",
    "conflicting-type-variable",
    "`{variable}` of `{kernel}` is `{first}` by `{first_name}` but `{second}` by `{second_name}`",
    LaunchError,
)
E1009 = code(
    "E1009",
    "out-of-bound-dtype",
    "`{variable}` of `{kernel}` cannot be `{found}`: it must be {bound}",
    LaunchError,
)
E1010 = code(
    "E1010",
    "integer-out-of-range",
    "`{name}` of `{kernel}` is {value}, which `{dtype}` cannot hold",
    LaunchError,
)
E1011 = code(
    "E1011", "missing-compile-time-value", "`{kernel}` lacks the compile-time {names}", LaunchError
)
E1012 = code(
    "E1012",
    "conflicting-compile-time-value",
    "`{name}` is fixed to {fixed} in this instance of `{kernel}`, but {given} was given",
    LaunchError,
)
E1013 = code(
    "E1013",
    "unsupported-compile-time-value",
    "`{name}` of `{kernel}` cannot be {what} at compile time",
    LaunchError,
)
E1014 = code(
    "E1014", "not-an-array", "`{name}` of `{kernel}` wants an array, but got {found}", LaunchError
)
E1015 = code(
    "E1015",
    "array-on-another-device",
    "`{name}` of `{kernel}` is on `{found}`, but the launch is on `{wanted}`",
    LaunchError,
)
E1016 = code(
    "E1016",
    "mixed-devices",
    "`{first_name}` of `{kernel}` is on `{first}`, but `{second_name}` is on `{second}`",
    LaunchError,
)
E1017 = code(
    "E1017",
    "unknown-device",
    "`{kernel}` got no array that says on which device to run",
    LaunchError,
)
E1018 = code("E1018", "device-not-installed", "no package for {what} is installed", LaunchError)
E1019 = code("E1019", "invalid-grid", "the grid of `{kernel}` is {what}", LaunchError)
E1020 = code(
    "E1020", "read-only-array", "`{kernel}` writes to `{name}`, which is read-only", LaunchError
)
E1021 = code(
    "E1021", "broken-hint", "`{name}` of `{kernel}` is {found}, but its instance assumes {hint}",
    LaunchError,
)  # fmt: skip
E1022 = code("E1022", "compiler-not-installed", "no compiler for kernels is installed", LaunchError)
E1023 = code(
    "E1023",
    "invalid-launch-option",
    "invalid launch option `{name}={value}`: {reason}",
    LaunchError,
)
E1024 = code("E1024", "missing-type", "`{kernel}` lacks the type of {names}", LaunchError)
E1025 = code(
    "E1025",
    "array-without-dtype",
    "the array given as `{name}` of `{kernel}` does not tell its dtype",
    LaunchError,
)
E1026 = code(
    "E1026",
    "unavailable-kernel",
    "the kernel object of `{name}` is not in this process",
    LaunchError,
)
E1027 = code(
    "E1027",
    "unsupported-array-dtype",
    "`{name}` of `{kernel}` is an array of `{found}`, which no kernel can read",
    LaunchError,
)
E1028 = code(
    "E1028",
    "unsupported-dtype",
    "`{kernel}` is not made for `{found}`, which `{by}` has",
    LaunchError,
)
E1029 = code(
    "E1029",
    "undescribable-array",
    "`{name}` of `{kernel}` is no tensor descriptor: {reason}",
    LaunchError,
)
E1030 = code(
    "E1030",
    "unbundled-instance",
    "the bundle `{path}` does not hold `{kernel}` with {asked}",
    LaunchError,
)
E1031 = code(
    "E1031",
    "unbundled-target",
    "the bundle `{path}` does not hold `{kernel}` for {target}",
    LaunchError,
)
E1032 = code(
    "E1032",
    "unknown-bundled-kernel",
    "the bundle `{path}` holds {count} kernels called `{name}`",
    LaunchError,
)
E1033 = code(
    "E1033", "unusable-bundle", "`{path}` cannot be used as a bundle: {reason}", LaunchError
)
E1034 = code(
    "E1034",
    "strided-array",
    "`{kernel}` declares `{name}` contiguous, and the array given for it has gaps",
    LaunchError,
)
E1035 = code(
    "E1035",
    "misaligned-array",
    "`{kernel}` declares that `{name}` begins at a multiple of {wanted} bytes, not at {pointer}",
    LaunchError,
)
E1036 = code(
    "E1036",
    "overlapping-arrays",
    "`{kernel}` declares `{first}` separate, and it shares memory with `{second}`",
    LaunchError,
)
E1037 = code(
    "E1037",
    "mismatched-strides",
    "`{kernel}` declares the strides {declared} of `{name}`, and its array has {found}",
    LaunchError,
)
E1040 = code(
    "E1040",
    "unknown-architecture",
    "`{arch}` is not an architecture that teenyc compiles for",
    LaunchError,
)

CODES: tuple[Code, ...] = tuple(row for row in list(globals().values()) if isinstance(row, Code))
