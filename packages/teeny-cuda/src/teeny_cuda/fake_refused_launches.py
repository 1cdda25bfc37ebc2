"""Launches and code that a CUDA driver refuses: trials for `fake_probe.Probe`."""

from __future__ import annotations

from typing import Any

from teeny_cuda.fake_probe import BOGUS, PTX, SUCCESS, TRIALS, Probe, Trial, trial

# What is launched: the kernel, and the arguments of `Probe.launch`. Each ends with a wait.
_LAUNCHES: dict[str, tuple[str, dict[str, Any]]] = {
    "grid of 1": ("nothing", {}),
    "grid x of 0": ("nothing", {"grid": (0, 1, 1)}),
    "grid y of 0": ("nothing", {"grid": (1, 0, 1)}),
    "grid z of 0": ("nothing", {"grid": (1, 1, 0)}),
    "grid x of 100000": ("nothing", {"grid": (100000, 1, 1)}),
    "grid x of 2**31": ("nothing", {"grid": (2**31, 1, 1)}),
    "grid x of 2**32 - 1": ("nothing", {"grid": (2**32 - 1, 1, 1)}),
    "grid y of 65535": ("nothing", {"grid": (1, 65535, 1)}),
    "grid y of 65536": ("nothing", {"grid": (1, 65536, 1)}),
    "grid z of 65535": ("nothing", {"grid": (1, 1, 65535)}),
    "grid z of 65536": ("nothing", {"grid": (1, 1, 65536)}),
    "block of 0 threads": ("nothing", {"block": (0, 1, 1)}),
    "block of 1024 threads": ("nothing", {"block": (1024, 1, 1)}),
    "block of 1025 threads": ("nothing", {"block": (1025, 1, 1)}),
    "block of 32 x 33 threads": ("nothing", {"block": (32, 33, 1)}),
    "block z of 64": ("nothing", {"block": (1, 1, 64)}),
    "block z of 65": ("nothing", {"block": (1, 1, 65)}),
    "fewer threads than .reqntid": ("required", {"block": (64, 1, 1)}),
    "more threads than .reqntid": ("required", {"block": (256, 1, 1)}),
    "as many threads as .reqntid": ("required", {"block": (128, 1, 1)}),
    "threads of .reqntid in another shape": ("required", {"block": (64, 2, 1)}),
    "fewer threads than .maxntid": ("limited", {"block": (64, 1, 1)}),
    "more threads than .maxntid": ("limited", {"block": (256, 1, 1)}),
    "48 KiB of shared memory": ("nothing", {"shared": 49152}),
    "48 KiB of shared memory and one byte": ("nothing", {"shared": 49153}),
    "static and dynamic shared memory below 48 KiB": ("fixed_shared", {"shared": 9152}),
    "static and dynamic shared memory above 48 KiB": ("fixed_shared", {"shared": 9153}),
    "2 GiB of shared memory": ("nothing", {"shared": 2**31}),
    "more registers than there are": ("heavy", {"block": (1024, 1, 1), "values": (0,)}),
    "clusters of .reqnctapercluster": ("clustered", {"grid": (4, 1, 1)}),
    "half a cluster of .reqnctapercluster": ("clustered", {"grid": (3, 1, 1)}),
}
# Launches with attributes: kernel, grid, attributes, and the cluster size that is asked for.
_EXTENDED: dict[str, tuple[str, tuple[int, int, int], dict[str, Any], bool]] = {
    "cluster of 1": ("nothing", (2, 1, 1), {"CLUSTER_DIMENSION": (1, 1, 1)}, False),
    "cluster of 2": ("nothing", (4, 1, 1), {"CLUSTER_DIMENSION": (2, 1, 1)}, False),
    "cluster of 0": ("nothing", (4, 1, 1), {"CLUSTER_DIMENSION": (0, 1, 1)}, False),
    "cluster of 3": ("nothing", (6, 1, 1), {"CLUSTER_DIMENSION": (3, 1, 1)}, False),
    "cluster of 2 x 2 x 2": ("nothing", (2, 2, 2), {"CLUSTER_DIMENSION": (2, 2, 2)}, False),
    "cluster of 8": ("nothing", (8, 1, 1), {"CLUSTER_DIMENSION": (8, 1, 1)}, False),
    "cluster of 16": ("nothing", (16, 1, 1), {"CLUSTER_DIMENSION": (16, 1, 1)}, False),
    "cluster of 16, allowed": ("nothing", (16, 1, 1), {"CLUSTER_DIMENSION": (16, 1, 1)}, True),
    "cluster of 32, allowed": ("nothing", (32, 1, 1), {"CLUSTER_DIMENSION": (32, 1, 1)}, True),
    "cluster of 2 in a grid of 3": ("nothing", (3, 1, 1), {"CLUSTER_DIMENSION": (2, 1, 1)}, False),
    "cluster of 4 in a grid of 2": ("nothing", (2, 1, 1), {"CLUSTER_DIMENSION": (4, 1, 1)}, False),
    "cooperative": ("nothing", (8, 1, 1), {"COOPERATIVE": 1}, False),
    "cooperative with too many blocks": ("nothing", (100000, 1, 1), {"COOPERATIVE": 1}, False),
    "overlapping": ("nothing", (8, 1, 1), {"PROGRAMMATIC_STREAM_SERIALIZATION": 1}, False),
    "priority of 0": ("nothing", (1, 1, 1), {"PRIORITY": 0}, False),
    "priority of -5": ("nothing", (1, 1, 1), {"PRIORITY": -5}, False),
    "priority of -99": ("nothing", (1, 1, 1), {"PRIORITY": -99}, False),
    "priority of 99": ("nothing", (1, 1, 1), {"PRIORITY": 99}, False),
    "cluster on another than .reqnctapercluster": (
        "clustered", (4, 1, 1), {"CLUSTER_DIMENSION": (4, 1, 1)}, False,
    ),
}  # fmt: skip


def _add_launches() -> None:
    for name, (kernel, options) in _LAUNCHES.items():

        def run(
            probe: Probe, kernel: str = kernel, options: dict[str, Any] = options
        ) -> tuple[int, ...]:
            first = probe.launch(probe.function(kernel), **options)
            return first, probe.attempt("cuCtxSynchronize")

        TRIALS[f"launch: {name}"] = Trial(run)
    for name, row in _EXTENDED.items():

        def run_with(
            probe: Probe, row: tuple[str, tuple[int, int, int], dict[str, Any], bool] = row
        ) -> tuple[int, ...]:
            kernel, grid, attributes, allowed = row
            function = probe.function(kernel)
            if allowed:
                probe.must(
                    "cuFuncSetAttribute",
                    function,
                    _attribute(probe, "NON_PORTABLE_CLUSTER_SIZE_ALLOWED"),
                    1,
                )
            first = probe.launch_with(function, attributes, grid)
            return first, probe.attempt("cuCtxSynchronize")

        TRIALS[f"launch: {name}"] = Trial(run_with)


def _attribute(probe: Probe, name: str) -> Any:
    return probe.member("CUfunction_attribute", f"CU_FUNC_ATTRIBUTE_{name}")


_add_launches()


# --- handles --------------------------------------------------------------------------------------
@trial("launch: no function")
def _(probe: Probe) -> int:
    return probe.launch(0)


@trial("launch: a bogus function", alone=True)
def _(probe: Probe) -> int:
    return probe.launch(BOGUS)


@trial("launch: a function of an unloaded module", alone=True)
def _(probe: Probe) -> int:
    function = probe.function("nothing")
    probe.must("cuModuleUnload", probe.loaded)
    return probe.launch(function)


@trial("launch: a bogus stream", alone=True)
def _(probe: Probe) -> int:
    return probe.launch(probe.function("nothing"), stream=BOGUS)


@trial("launch: a destroyed stream", alone=True)
def _(probe: Probe) -> int:
    stream = probe.stream()
    probe.must("cuStreamDestroy", stream)
    return probe.launch(probe.function("nothing"), stream=stream)


@trial("launch: without a context", alone=True)
def _(probe: Probe) -> tuple[int, ...]:
    function = probe.function("nothing")
    probe.must("cuCtxPopCurrent")
    return probe.launch(function), probe.attempt("cuCtxSynchronize")


# --- code -----------------------------------------------------------------------------------------
_TEXTS = {
    "nothing in it": "",
    "no text at all": "garbage",
    "no entry point": ".version 8.0\n.target sm_90\n.address_size 64\n",
    "an unknown instruction": PTX.replace("    trap;", "    frobnicate.u32 %r1, %r2;"),
    "a version of tomorrow": PTX.replace(".version 8.0", ".version 19.9"),
    "a target of tomorrow": PTX.replace(".target sm_90", ".target sm_100"),
    "a target of today with features": PTX.replace(".target sm_90", ".target sm_90a"),
    "a target of yesterday": PTX.replace(".target sm_90", ".target sm_80").replace(
        ".reqnctapercluster 2, 1, 1", ""
    ),
    "a cluster on a target of yesterday": PTX.replace(".target sm_90", ".target sm_80"),
    "no version": PTX.replace(".version 8.0\n", ""),
    "no target": PTX.replace(".target sm_90\n", ""),
}


def _add_texts() -> None:
    for name, text in _TEXTS.items():
        TRIALS[f"load: {name}"] = Trial(lambda probe, text=text: probe.load(text))  # type: ignore[misc]


_add_texts()


@trial("load: without a context")
def _(probe: Probe) -> int:
    probe.must("cuCtxPopCurrent")
    return probe.load()


@trial("module: an unknown function")
def _(probe: Probe) -> int:
    assert probe.load() == SUCCESS
    return probe.attempt("cuModuleGetFunction", probe.loaded, b"elsewhere")


@trial("module: a function of an unloaded one", alone=True)
def _(probe: Probe) -> int:
    assert probe.load() == SUCCESS
    probe.must("cuModuleUnload", probe.loaded)
    return probe.attempt("cuModuleGetFunction", probe.loaded, b"nothing")


@trial("module: unloaded twice", alone=True)
def _(probe: Probe) -> int:
    assert probe.load() == SUCCESS
    probe.must("cuModuleUnload", probe.loaded)
    return probe.attempt("cuModuleUnload", probe.loaded)


@trial("module: a bogus one unloaded", alone=True)
def _(probe: Probe) -> int:
    return probe.attempt("cuModuleUnload", BOGUS)


@trial("module: unloaded with work in flight")
def _(probe: Probe) -> tuple[int, ...]:
    probe.busy_stream()
    return probe.attempt("cuModuleUnload", probe.loaded), probe.attempt("cuCtxSynchronize")


@trial("link: no PTX", alone=True)
def _(probe: Probe) -> int:
    state = probe.must("cuLinkCreate", 0, [], [])
    kind = probe.member("CUjitInputType", "CU_JIT_INPUT_PTX")
    return probe.attempt("cuLinkAddData", state, kind, b"garbage\0", 8, b"a", 0, [], [])


@trial("link: PTX", alone=True)
def _(probe: Probe) -> tuple[int, ...]:
    state = probe.must("cuLinkCreate", 0, [], [])
    data, kind = PTX.encode() + b"\0", probe.member("CUjitInputType", "CU_JIT_INPUT_PTX")
    first = probe.attempt("cuLinkAddData", state, kind, data, len(data), b"a", 0, [], [])
    second = probe.attempt("cuLinkComplete", state)
    return first, second, probe.attempt("cuLinkDestroy", state)


# --- attributes of functions ----------------------------------------------------------------------
_VALUES: dict[str, tuple[str, str, int]] = {
    "a negative size": ("nothing", "MAX_DYNAMIC_SHARED_SIZE_BYTES", -1),
    "the largest size": ("nothing", "MAX_DYNAMIC_SHARED_SIZE_BYTES", 232448),
    "one byte more": ("nothing", "MAX_DYNAMIC_SHARED_SIZE_BYTES", 232449),
    "the largest beside static memory": (
        "fixed_shared", "MAX_DYNAMIC_SHARED_SIZE_BYTES", 192448,
    ),
    "one byte more beside static memory": (
        "fixed_shared", "MAX_DYNAMIC_SHARED_SIZE_BYTES", 192449,
    ),
    "registers, which are only read": ("nothing", "NUM_REGS", 16),
    "a flag of 1": ("nothing", "NON_PORTABLE_CLUSTER_SIZE_ALLOWED", 1),
    "a flag of 2": ("nothing", "NON_PORTABLE_CLUSTER_SIZE_ALLOWED", 2),
    "a flag of -1": ("nothing", "NON_PORTABLE_CLUSTER_SIZE_ALLOWED", -1),
}  # fmt: skip


def _add_values() -> None:
    for name, row in _VALUES.items():

        def run(probe: Probe, row: tuple[str, str, int] = row) -> int:
            kernel, attribute, value = row
            function = probe.function(kernel)
            return probe.attempt(
                "cuFuncSetAttribute", function, _attribute(probe, attribute), value
            )

        TRIALS[f"attribute: {name}"] = Trial(run)


_add_values()


@trial("attribute: shared memory asked for and used")
def _(probe: Probe) -> tuple[int, ...]:
    function = probe.function("nothing")
    probe.must(
        "cuFuncSetAttribute", function, _attribute(probe, "MAX_DYNAMIC_SHARED_SIZE_BYTES"), 100000
    )
    return (
        probe.launch(function, shared=100000),
        probe.launch(function, shared=100001),
        probe.attempt("cuCtxSynchronize"),
    )


@trial("attribute: of a function of an unloaded module", alone=True)
def _(probe: Probe) -> int:
    function = probe.function("nothing")
    probe.must("cuModuleUnload", probe.loaded)
    return probe.attempt("cuFuncGetAttribute", _attribute(probe, "NUM_REGS"), function)


@trial("attribute: of no function", alone=True)
def _(probe: Probe) -> int:
    return probe.attempt("cuFuncGetAttribute", _attribute(probe, "NUM_REGS"), 0)


@trial("occupancy: of no function", alone=True)
def _(probe: Probe) -> int:
    return probe.attempt("cuOccupancyMaxActiveBlocksPerMultiprocessor", 0, 128, 0)


@trial("occupancy: of blocks of 0 threads")
def _(probe: Probe) -> int:
    function = probe.function("nothing")
    return probe.attempt("cuOccupancyMaxActiveBlocksPerMultiprocessor", function, 0, 0)


# --- faults ---------------------------------------------------------------------------------------
_AFTER = ("cuCtxSynchronize", "cuMemGetInfo", "cuCtxGetCurrent", "cuDeviceGetCount")


@trial("fault: a write to nowhere, and what follows it", alone=True)
def _(probe: Probe) -> tuple[int, ...]:
    function = probe.function("store")
    pointer, stream = probe.must("cuMemAlloc", 256), probe.stream()
    event = probe.must("cuEventCreate", 0)
    first = probe.launch(function, values=(0,))
    rest = [probe.attempt(name) for name in _AFTER]
    rest += [
        probe.attempt("cuMemFree", pointer),
        probe.attempt("cuMemAlloc", 256),
        probe.attempt("cuEventDestroy", event),
        probe.attempt("cuStreamDestroy", stream),
        probe.launch(function, values=(0,)),
        probe.attempt("cuModuleUnload", probe.loaded),
    ]
    return first, *rest


@trial("fault: a trap", alone=True)
def _(probe: Probe) -> tuple[int, ...]:
    first = probe.launch(probe.function("trapped"))
    return first, probe.attempt("cuCtxSynchronize"), probe.attempt("cuMemAlloc", 256)


@trial("fault: a misaligned write", alone=True)
def _(probe: Probe) -> tuple[int, ...]:
    pointer = probe.must("cuMemAlloc", 256)
    first = probe.launch(probe.function("store"), values=(int(pointer) + 1,))
    return first, probe.attempt("cuCtxSynchronize"), probe.attempt("cuMemAlloc", 256)
