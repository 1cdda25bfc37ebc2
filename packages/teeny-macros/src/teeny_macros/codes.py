"""The codes of capture (E00xx) and of launch arguments (E10xx), and the registry of all packages' codes."""

from __future__ import annotations

from teeny_macros.diagnostics import CaptureError, Code, CompileError, InternalError, LaunchError, code

I0000 = code("I0000", "internal-error", "internal error in {where}: {what}", InternalError)

# --- capture ---------------------------------------------------------------------------------------------
E0020 = code("E0020", "damaged-unit", "the unit cannot be read: {reason}", CompileError)
E0021 = code(
    "E0021", "unknown-version", "{what} version {version} is not known here, which reads version {known}", CompileError
)

# --- launch ----------------------------------------------------------------------------------------------
E1040 = code("E1040", "unknown-architecture", "`{arch}` is not a GPU architecture that teenyc compiles for", LaunchError)

CODES: tuple[Code, ...] = tuple(value for value in list(globals().values()) if isinstance(value, Code))
_ = CaptureError
