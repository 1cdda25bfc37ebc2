"""`Program`: the code of one artefact, loaded into a GPU's context, with its limits checked.

PTX is compiled by the driver here; what it says on failure is shown, at the lines of the user's
file.
"""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any, NamedTuple

from teeny_cuda import cubin
from teeny_cuda.arguments import Packer
from teeny_cuda.codes import E1055, E1056, E1057, E1058, E1062
from teeny_cuda.config import Options
from teeny_cuda.printing import can_print, print_at_exit
from teeny_cuda.ptx import cuda_of_ptx, for_driver, require_threads, source_of
from teeny_macros.diagnostics import Label

if TYPE_CHECKING:
    from teeny_cuda.device import Device
    from teeny_cuda.prepared import Prepared
    from teeny_cuda.record import Record
    from teeny_macros.artifact import Artifact

_LOG_BYTES = 1 << 16
_NOT_FOUND = 500
_UNSUPPORTED_PTX = 222
_LOG_LINES = 20
# Above this a kernel must ask for its shared memory (CUDA C++ Programming Guide, "Shared Memory").
_PLAIN_SHARED_BYTES = 48 * 1024
_PORTABLE_CLUSTER = 8
# So many dropped programs may wait to be unloaded before a load waits for the device.
_RETIRED = 64


class Attributes(NamedTuple):
    """What the driver says of a loaded kernel, per thread or per block.

    `local_bytes` is what a thread spills and keeps in arrays; `shared_bytes` is the static part
    only. Architectures read 90 for sm_90.
    """

    registers: int
    local_bytes: int
    shared_bytes: int
    constant_bytes: int
    max_threads_per_block: int
    ptx_architecture: int
    binary_architecture: int


_ATTRIBUTES = (
    "NUM_REGS",
    "LOCAL_SIZE_BYTES",
    "SHARED_SIZE_BYTES",
    "CONST_SIZE_BYTES",
    "MAX_THREADS_PER_BLOCK",
    "PTX_VERSION",
    "BINARY_VERSION",
)


class Program:
    """A kernel that can be launched on the device that loaded it.

    It is unloaded with the object, though only once its launches have surely ended.
    """

    __slots__ = (
        "__weakref__",
        "_attributes",
        "_finalizer",
        "_function",
        "_module",
        "_records",
        "artifact",
        "device",
        "packer",
    )

    def __init__(self, device: Device, artifact: Artifact) -> None:
        metadata = artifact.metadata
        self.device = device
        self.artifact = artifact
        _require_target(device, artifact)
        self.packer = Packer(metadata.params)
        self._attributes: Attributes | None = None
        self._records: weakref.WeakSet[Record] = weakref.WeakSet()
        context = device.context
        if context.retired > _RETIRED and not context.captures:
            context.synchronize()
        with context.bound(), context.unguarded():
            self._module: Any = _load(device, artifact)
            self._finalizer = weakref.finalize(self, context.retire, self._module)
            number, self._function = context.driver.attempt(
                "cuModuleGetFunction", self._module, metadata.entry_point.encode()
            )
            if number:
                self._finalizer()
                if number == _NOT_FOUND:
                    raise E1057.error(kernel=metadata.kernel, entry=metadata.entry_point).help(
                        "compile the kernel again: `teeny cache clear`"
                    )
                raise context.driver.failure("cuModuleGetFunction", number, kernel=metadata.kernel)
            self._prepare()

    @property
    def function(self) -> Any:
        """The driver's `CUfunction`. Raises E1058 once the program was unloaded."""
        if not self._finalizer.alive:
            raise E1058.error(kernel=self.artifact.metadata.kernel).help("load the artefact again")
        return self._function

    def unload(self) -> None:
        """Wait for the device, then take the code away; a second call does nothing."""
        if self._finalizer.detach():
            for record in list(self._records):
                record.end()
            self.device.context.retire(self._module)
            self.device.synchronize()

    def attach(self, record: Record) -> None:
        """Let a record of a short launch end when the program is unloaded."""
        self._records.add(record)

    def failed(self, number: int) -> None:
        """Raise the coded error of a launch that the driver refused with result `number`."""
        metadata, driver = self.artifact.metadata, self.device.context.driver
        self.function  # noqa: B018 - raises E1058 once unloaded
        raise driver.failure(
            "cuLaunchKernel", number, kernel=metadata.kernel, device=self.device.name
        ).note(f"launch of `{metadata.kernel}`")

    def bind(
        self,
        grid: Any,
        *args: Any,
        stream: Any = None,
        cooperative: bool = False,
        overlap: bool = False,
        priority: int | None = None,
    ) -> Prepared:
        """A launch with its grid, arguments and stream fixed and checked; call it to run it.

        The arrays are kept; a stream of torch or CuPy is the one that is current now. The options
        are those of `Device.launch`.

        Raises:
            LaunchError: E1058 to E1069, E1072, E1076, E1079.
        """
        from teeny_cuda.prepared import Prepared

        return Prepared(self, grid, args, stream, Options(cooperative, overlap, priority))

    def occupancy(self) -> int:
        """How many blocks of this kernel run on one multiprocessor at the same time."""
        metadata = self.artifact.metadata
        return int(
            self.device.context.call(
                "cuOccupancyMaxActiveBlocksPerMultiprocessor",
                self.function,
                metadata.threads_per_block,
                metadata.shared_bytes,
            )
        )

    @property
    def attributes(self) -> Attributes:
        """What the driver says of the kernel. Raises E1058 once the program was unloaded."""
        found = self._attributes
        if found is None:
            self.function  # noqa: B018 - raises E1058 once unloaded
            with self.device.context.bound():
                found = self._attributes = Attributes(*map(self._read_attribute, _ATTRIBUTES))
        return found

    def _read_attribute(self, name: str) -> int:
        driver = self.device.context.driver
        attribute = getattr(driver.api.CUfunction_attribute, f"CU_FUNC_ATTRIBUTE_{name}")
        return int(driver.call("cuFuncGetAttribute", attribute, self._function))

    def _prepare(self) -> None:
        """Check what a block needs against the device.

        Ask for it where CUDA wants to be asked.
        """
        metadata, device = self.artifact.metadata, self.device
        driver = device.context.driver
        names = driver.api.CUfunction_attribute
        most = self._read_attribute("MAX_THREADS_PER_BLOCK")
        self._require("threads a block", metadata.threads_per_block, most)
        shared, static = metadata.shared_bytes, self._read_attribute("SHARED_SIZE_BYTES")
        limit = device.properties["max_shared_memory_per_block_optin"] - static
        self._require("bytes of shared memory a block", shared, limit)
        if shared + static > _PLAIN_SHARED_BYTES:
            driver.call(
                "cuFuncSetAttribute",
                self._function,
                names.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                shared,
            )
        if metadata.num_ctas > 1:
            self._require(
                "blocks a cluster", metadata.num_ctas, 16 if device.capability >= (9, 0) else 1
            )
        if metadata.num_ctas > _PORTABLE_CLUSTER:
            driver.call(
                "cuFuncSetAttribute",
                self._function,
                names.CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED,
                1,
            )

    def _require(self, what: str, needed: int, limit: int) -> None:
        if needed > limit:
            kernel = self.artifact.metadata.kernel
            raise E1062.error(
                kernel=kernel, needed=needed, what=what, device=self.device.name, limit=limit
            ).help("use a smaller block size, fewer warps or fewer stages")

    def __repr__(self) -> str:
        metadata = self.artifact.metadata
        state = "" if self._finalizer.alive else ", unloaded"
        return f"Program({metadata.kernel}, {self.artifact.target} on {self.device.name}{state})"


def _require_target(device: Device, artifact: Artifact) -> None:
    target, (major, minor) = artifact.target, device.capability
    have = f"sm_{major}{minor}"
    digits = target.arch.removeprefix("sm_")
    wanted = int(digits) if target.kind == "cuda" and digits.isdigit() else 0
    # PTX for sm_75 to sm_89 runs on every later GPU; from sm_90 on it is made for one architecture.
    if wanted == 10 * major + minor or 0 < wanted < min(90, 10 * major + minor):
        return
    raise E1056.error(
        kernel=artifact.metadata.kernel, target=target, device=device.name, arch=have
    ).help(f'compile it for `Target.cuda("{have}")`')


def _load(device: Device, artifact: Artifact) -> Any:
    """The loaded module. Raises E1054, E1055 with the log of the driver's compiler."""
    data = _content(artifact)
    context = device.context
    if not context.prints and can_print(data):
        context.prints = True
        print_at_exit(context)
    if artifact.path.suffix != ".ptx":
        return _load_image(device, artifact, data)
    given = cubin.load_given(device, artifact, data)
    if given is not None:
        return given
    image = _ptx(device, artifact, data)
    kept = cubin.load_kept(device, artifact, image)
    if kept is not None:
        return kept
    module = _load_image(device, artifact, image)
    cubin.keep(device, artifact, image, module)
    return module


def _load_image(device: Device, artifact: Artifact, image: bytes) -> Any:
    """The module that the driver makes of PTX, or has as it is. Raises as `_load`."""
    driver = device.context.driver
    options = driver.api.CUjit_option
    info, error = bytearray(_LOG_BYTES), bytearray(_LOG_BYTES)
    values: dict[Any, Any] = {
        options.CU_JIT_INFO_LOG_BUFFER: info,
        options.CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES: _LOG_BYTES,
        options.CU_JIT_ERROR_LOG_BUFFER: error,
        options.CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES: _LOG_BYTES,
        options.CU_JIT_GENERATE_LINE_INFO: 1,
    }
    number, module = driver.attempt(
        "cuModuleLoadDataEx",
        image,
        len(values),
        list(values),
        list(values.values()),
    )
    if not number:
        return module
    metadata = artifact.metadata
    version = metadata.ptx_version
    failure = driver.failure(
        "cuModuleLoadDataEx",
        number,
        kernel=metadata.kernel,
        what=f"`{metadata.kernel}`, which is PTX {version // 10}.{version % 10}",
    )
    if number == _UNSUPPORTED_PTX:
        release = cuda_of_ptx(version)
        if release:
            failure.note(f"PTX {version // 10}.{version % 10} came with CUDA {release}")
        failure.help("or compile for an older version: TEENYC_PTX_VERSION=8.4")
    for title, log in (("error log", error), ("info log", info)):
        said = bytes(log).partition(b"\0")[0].decode("utf-8", "replace").strip()
        for line in said.splitlines()[:_LOG_LINES]:
            failure.note(f"{title}: {line}")
        place = source_of(image.decode("utf-8", "replace"), said)
        if place is not None and not failure.diagnostics[-1].labels:
            failure.diagnostics[-1].labels.append(Label(place, "made from this"))
    raise failure.note(f"the code is {artifact.path}")


def _content(artifact: Artifact) -> bytes:
    try:
        data = artifact.read_bytes()
    except OSError as error:
        raise (
            E1055.error(kernel=artifact.metadata.kernel, reason="its file cannot be read")
            .note(str(error))
            .help("compile the kernel again")
        ) from error
    if artifact.path.suffix == ".ptx":
        require_threads(artifact.metadata, data.decode("utf-8"))
    return data


def _ptx(device: Device, artifact: Artifact, data: bytes) -> bytes:
    """PTX as the driver gets it: in a version that it reads, with the positions of the user."""
    text = for_driver(data.decode("utf-8"), artifact.metadata, device.context.driver.version)
    if artifact.source_map is not None:
        from teeny_macros.positions import rewrite_ptx

        text = rewrite_ptx(text, artifact.source_map)
    return text.encode("utf-8") + b"\0"  # the driver reads PTX to its terminating zero
