"""Calls that a CUDA driver refuses, for comparing the fake driver with a real one.

A `Probe` drives either through the same functions; fake_refused_launches.py and
fake_refused_memory.py say what is tried. Nothing here imports the rest of the package.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any, NamedTuple

_VOLATILE = 220
_OPEN = "\n{\n    .reg .b32 %r<{registers}>;\n    .reg .b64 %rd<4>;\n    .reg .pred %p<2>;\n"
_HEADER = ".version 8.0\n.target sm_90\n.address_size 64\n"
BOGUS = 0xDEAD0000
SUCCESS = 0


def _entry(name: str, body: str, params: str = "", directives: str = "", registers: int = 4) -> str:
    start = _OPEN.replace("{registers}", str(registers))
    return f".visible .entry {name}({params}) {directives}{start}{body}\n    ret;\n}}\n"


def _heavy() -> str:
    """So many values alive at once that a block of 1024 threads has not the registers."""
    lines = ["    ld.param.u64 %rd1, [p];", "    cvta.to.global.u64 %rd2, %rd1;"]
    lines += [f"    ld.volatile.global.u32 %r{at}, [%rd2+{4 * at}];" for at in range(_VOLATILE)]
    lines += [
        f"    st.volatile.global.u32 [%rd2+{4 * at}], %r{at};" for at in reversed(range(_VOLATILE))
    ]
    return "\n".join(lines)


_POINTER = ".param .u64 p"
_STORE = "    ld.param.u64 %rd1, [p];\n    mov.u32 %r1, 7;\n    st.global.u32 [%rd1], %r1;"
_WAIT = (
    "    mov.u32 %r1, 40;\nAGAIN:\n    nanosleep.u32 1000000;\n    sub.u32 %r1, %r1, 1;\n"
    "    setp.ne.u32 %p1, %r1, 0;\n    @%p1 bra AGAIN;"
)
PTX = _HEADER + "".join(
    (
        _entry("nothing", ""),
        _entry("store", _STORE, _POINTER),
        _entry("wait", _WAIT),
        _entry("trapped", "    trap;"),
        _entry("required", "", directives=".reqntid 128"),
        _entry("limited", "", directives=".maxntid 128"),
        _entry("heavy", _heavy(), _POINTER, registers=_VOLATILE + 1),
        _entry(
            "fixed_shared",
            "    .shared .align 4 .b8 held[40000];\n    mov.u32 %r1, held;\n    mov.u32 %r2, 1;\n"
            "    st.shared.u32 [%r1], %r2;",
        ),
        _entry("clustered", "", directives=".reqnctapercluster 2, 1, 1"),
    )
)
KERNELS = (
    "nothing",
    "store",
    "wait",
    "trapped",
    "required",
    "limited",
    "heavy",
    "fixed_shared",
    "clustered",
)


class Probe:
    """A driver that is asked for what it refuses. `api` is `cuda.bindings.driver` or a fake."""

    def __init__(self, api: Any) -> None:
        self.api = api
        self.value: Any = None
        self.device: Any = None
        self.context: Any = None
        self.loaded: Any = None
        self._kept: list[Any] = []

    def attempt(self, name: str, *args: Any) -> int:
        """The result of a call as a number; what it gave stands in `value`."""
        answer = getattr(self.api, name)(*args)
        values = answer[1:]
        self.value = values[0] if len(values) == 1 else values or None
        return int(answer[0])

    def must(self, name: str, *args: Any) -> Any:
        """What a call gives that has to succeed."""
        number = self.attempt(name, *args)
        assert number == SUCCESS, f"{name} gave {number}"
        return self.value

    def start(self) -> Probe:
        """Make the first GPU's primary context current."""
        self.must("cuInit", 0)
        self.device = self.must("cuDeviceGet", 0)
        self.context = self.must("cuDevicePrimaryCtxRetain", self.device)
        self.must("cuCtxPushCurrent", self.context)
        return self

    def load(self, text: str = PTX) -> int:
        """Load a module."""
        number = self.attempt("cuModuleLoadDataEx", text.encode() + b"\0", 0, [], [])
        self.loaded = self.value
        return number

    def function(self, name: str) -> Any:
        """A kernel of the module, which is loaded for it."""
        assert self.load() == SUCCESS
        return self.must("cuModuleGetFunction", self.loaded, name.encode())

    def member(self, kind: str, name: str) -> Any:
        """A member of one of the driver's enumerations."""
        return getattr(getattr(self.api, kind), name)

    def table(self, *values: int) -> int:
        """The address of the table of arguments of 8 bytes each."""
        cells = (ctypes.c_uint64 * max(1, len(values)))(*values)
        start = ctypes.addressof(cells)
        table = (ctypes.c_void_p * max(1, len(values)))(
            *(start + 8 * at for at in range(max(1, len(values))))
        )
        self._kept += [cells, table]
        return ctypes.addressof(table)

    def launch(
        self,
        function: Any,
        grid: tuple[int, int, int] = (1, 1, 1),
        block: tuple[int, int, int] = (32, 1, 1),
        shared: int = 0,
        stream: Any = 0,
        values: tuple[int, ...] = (),
    ) -> int:
        """The result of `cuLaunchKernel`."""
        table = self.table(*values)
        return self.attempt("cuLaunchKernel", function, *grid, *block, shared, stream, table, 0)

    def launch_with(
        self,
        function: Any,
        attributes: dict[str, Any],
        grid: tuple[int, int, int] = (1, 1, 1),
        block: tuple[int, int, int] = (32, 1, 1),
    ) -> int:
        """The result of `cuLaunchKernelEx` with attributes: a number each, three for a cluster."""
        config = self.api.CUlaunchConfig()
        config.gridDimX, config.gridDimY, config.gridDimZ = grid
        config.blockDimX, config.blockDimY, config.blockDimZ = block
        config.sharedMemBytes = 0
        config.hStream = 0
        rows = []
        for name, value in attributes.items():
            row = self.api.CUlaunchAttribute()
            row.id = self.member("CUlaunchAttributeID", f"CU_LAUNCH_ATTRIBUTE_{name}")
            if name == "CLUSTER_DIMENSION":
                shape = row.value.clusterDim
                shape.x, shape.y, shape.z = value
            else:
                member = {
                    "COOPERATIVE": "cooperative",
                    "PRIORITY": "priority",
                    "PROGRAMMATIC_STREAM_SERIALIZATION": "programmaticStreamSerializationAllowed",
                }[name]
                setattr(row.value, member, value)
            rows.append(row)
        config.attrs = rows
        config.numAttrs = len(rows)
        return self.attempt("cuLaunchKernelEx", config, function, self.table(), 0)

    def stream(self) -> Any:
        """A new stream that does not wait for the default one."""
        return self.must("cuStreamCreateWithPriority", 1, 0)

    def busy_stream(self) -> Any:
        """A new stream with 40 ms of work in it."""
        function, stream = self.function("wait"), self.stream()
        assert self.launch(function, block=(1, 1, 1), stream=stream) == SUCCESS
        return stream


class Trial(NamedTuple):
    """Something that is tried. `alone`: in a process of its own, which it may bring down."""

    run: Callable[[Probe], int | tuple[int, ...]]
    alone: bool = False
    started: bool = True


TRIALS: dict[str, Trial] = {}


def trial(
    name: str, *, alone: bool = False, started: bool = True
) -> Callable[[Callable[[Probe], Any]], Callable[[Probe], Any]]:
    """Add a function to the trials."""

    def add(function: Callable[[Probe], Any]) -> Callable[[Probe], Any]:
        assert name not in TRIALS, name
        TRIALS[name] = Trial(function, alone, started)
        return function

    return add
