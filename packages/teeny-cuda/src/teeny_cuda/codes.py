"""The codes of the CUDA driver and of launches on a GPU (E1050 to E1099), one row each.

A row is the code, the kebab-case name of the bad thing and the message template; its page is
`explain/<code>.md`. Which driver result leads to which row stands in driver.py.
"""

from __future__ import annotations

from teeny_macros.diagnostics import Code, LaunchError, code


def _row(name: str, kebab: str, message: str) -> Code:
    return code(name, kebab, message, LaunchError)


# --- what the machine lacks -----------------------------------------------------------------------
E1050 = _row(
    "E1050", "missing-cuda-python", "a GPU is driven through cuda-python, which is not installed"
)
E1051 = _row("E1051", "missing-driver", "the NVIDIA driver cannot be loaded on this machine")
E1052 = _row("E1052", "missing-gpu", "the NVIDIA driver finds no GPU that it may use")
E1053 = _row(
    "E1053", "unknown-device", "there is no CUDA device `{name}`: the driver shows {count}"
)
E1054 = _row(
    "E1054", "outdated-driver", "the NVIDIA driver (for CUDA {version}) is too old for {what}"
)

# --- programs -------------------------------------------------------------------------------------
E1055 = _row("E1055", "rejected-code", "the driver rejects the code of `{kernel}`: {reason}")
E1056 = _row("E1056", "wrong-target", "`{kernel}` is compiled for {target}, and {device} is {arch}")
E1057 = _row(
    "E1057", "missing-entry-point", "the code of `{kernel}` holds no entry point `{entry}`"
)
E1058 = _row("E1058", "unloaded-program", "the program of `{kernel}` was unloaded")

# --- launches -------------------------------------------------------------------------------------
E1059 = _row("E1059", "exhausted-memory", "the GPU's memory is exhausted: {what}")
E1060 = _row(
    "E1060", "oversized-grid", "axis {axis} of the grid is {size}, and {device} allows {limit}"
)
E1061 = _row("E1061", "invalid-grid", "{grid} is not a grid: {reason}")
E1062 = _row(
    "E1062", "oversized-block", "`{kernel}` needs {needed} {what}, and {device} allows {limit}"
)
E1063 = _row("E1063", "exhausted-registers", "{device} cannot hold one block of `{kernel}`")
E1064 = _row(
    "E1064", "wrong-argument-count", "`{kernel}` takes {wanted} arguments, and {found} are given"
)
E1065 = _row(
    "E1065", "mistyped-argument", "parameter `{name}` takes {wanted}, and {found} is given"
)
E1066 = _row(
    "E1066", "out-of-range-argument", "parameter `{name}` is {dtype}, which cannot hold {value}"
)
E1067 = _row(
    "E1067", "misplaced-array", "the array of parameter `{name}` lies on {found}, not on {wanted}"
)
E1068 = _row(
    "E1068",
    "misaligned-array",
    "the array of parameter `{name}` begins at {pointer}, no multiple of {size} bytes",
)

# --- memory, streams, events ----------------------------------------------------------------------
E1069 = _row("E1069", "released-buffer", "the buffer's memory was released")
E1070 = _row("E1070", "mismatched-copy", "{found} does not fit into {wanted}")
E1071 = _row("E1071", "unknown-dtype", "`{dtype}` is not a dtype of kernels")
E1072 = _row("E1072", "invalid-stream", "{found} is not a stream of {device}")
E1073 = _row("E1073", "unrecorded-event", "the time between two events is not known: {reason}")
E1074 = _row("E1074", "faulted-device", "a kernel stopped the GPU: {cause}")
E1075 = _row("E1075", "forked-process", "CUDA was started before this process was forked off")
E1076 = _row(
    "E1076", "malformed-array", "an array of type `{type}` describes itself wrongly: {reason}"
)
E1077 = _row("E1077", "invalid-shape", "{shape} is not a shape: {reason}")
E1078 = _row(
    "E1078", "foreign-program", "`{kernel}` was loaded on {found}, and is launched on {wanted}"
)
E1079 = _row("E1079", "impossible-launch", "`{kernel}` cannot be launched so: {reason}")
E1080 = _row("E1080", "invalid-slice", "{index} does not index {buffer}: {reason}")
E1081 = _row("E1081", "mixed-devices", "{what} lies on {found}, not on {wanted}")
E1082 = _row("E1082", "unreachable-peer", "{device} cannot reach the memory of {peer}")
E1083 = _row("E1083", "invalid-capture", "the graph cannot be captured: {reason}")
E1084 = _row("E1084", "invalid-graph-update", "the graph cannot be updated: {reason}")
E1085 = _row("E1085", "invalid-tensor-map", "no tensor map describes this access: {reason}")
E1086 = _row("E1086", "unknown-parameter", "`{kernel}` has no run-time parameter `{name}`")
E1087 = _row("E1087", "strided-array", "{what} is not contiguous, and {use} needs it to be")
E1088 = _row("E1088", "missing-library", "{what} needs `{library}`, which is not installed")
E1089 = _row("E1089", "failed-benchmark", "nothing can be measured: {reason}")
E1090 = _row(
    "E1090",
    "refused-machine-code",
    "the driver refuses the machine code of `{kernel}` ({name}) and compiles its PTX instead",
)
E1099 = _row(
    "E1099", "failed-driver-call", "the driver refuses `{call}`: {cause} ({name}, {number})"
)

CODES: tuple[Code, ...] = tuple(
    value for value in list(globals().values()) if isinstance(value, Code)
)
