"""`Device`: one GPU, by its number.

It makes buffers, streams and events, loads programs and launches them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from teeny_cuda import env
from teeny_cuda.buffer import Buffer
from teeny_cuda.codes import E1082
from teeny_cuda.config import Options
from teeny_cuda.context import Context, require_context
from teeny_cuda.dtypes import find_dtype, host_dtype
from teeny_cuda.event import Event
from teeny_cuda.graph import Graph
from teeny_cuda.interfaces import wrap
from teeny_cuda.launch import launch
from teeny_cuda.layout import checked_shape
from teeny_cuda.memory import MemoryPool, pinned_array
from teeny_cuda.module import Program
from teeny_cuda.stream import DEFAULT, Stream
from teeny_macros.target import CUDA_ARCHS, Target

if TYPE_CHECKING:
    from teeny_macros.artifact import Artifact

_PREFIX = "CU_DEVICE_ATTRIBUTE_"
_PEER_ENABLED = 704
# From this architecture on, code runs on no other.
_FIRST_EXACT = 90


class Memory(NamedTuple):
    """Bytes of a GPU's memory."""

    free: int
    total: int


class Properties(Mapping[str, int]):
    """A GPU's attributes by their CUDA names in lower case, `multiprocessor_count`.

    Read when asked for.
    """

    __slots__ = ("_context", "_names", "_values")

    def __init__(self, context: Context) -> None:
        self._context = context
        self._names: dict[str, Any] = {
            member.name.removeprefix(_PREFIX).lower(): member
            for member in context.driver.api.CUdevice_attribute
            if member.name != _PREFIX + "MAX"
        }
        self._values: dict[str, int] = {}

    def __getitem__(self, name: str) -> int:
        value = self._values.get(name)
        if value is None:
            attribute = self._names[name]
            context = self._context
            value = int(context.driver.call("cuDeviceGetAttribute", attribute, context.device))
            self._values[name] = value
        return value

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


class Device:
    """GPU number `ordinal`, as the driver counts them (CUDA_VISIBLE_DEVICES changes the count).

    `name` is `cuda:0`, as arrays and `device=` name it; `capability` the compute capability.
    Its context is the primary one: memory and streams of torch, CuPy and JAX can be used directly.

    Raises:
        LaunchError: E1050 to E1053 when cuda-python, the driver or the GPU is missing.
    """

    __slots__ = (
        "blocking",
        "capability",
        "context",
        "default_stream",
        "grid_limits",
        "name",
        "ordinal",
        "properties",
    )

    def __init__(self, ordinal: int = 0) -> None:
        self.ordinal = ordinal
        self.name = f"cuda:{ordinal}"
        self.context = require_context(ordinal)
        self.properties = Properties(self.context)
        self.capability = (
            self.properties["compute_capability_major"],
            self.properties["compute_capability_minor"],
        )
        self.grid_limits = {axis: self.properties[f"max_grid_dim_{axis}"] for axis in "xyz"}
        self.default_stream = DEFAULT
        self.blocking = env.is_set(env.TEENY_LAUNCH_BLOCKING)

    @property
    def model(self) -> str:
        """The product name, such as `NVIDIA H200`."""
        raw = self.context.driver.call("cuDeviceGetName", 256, self.context.device)
        return bytes(raw).partition(b"\0")[0].decode("utf-8", "replace")

    @property
    def uuid(self) -> str:
        """The identity of the GPU as `nvidia-smi -L` shows it."""
        digits = bytes(self.context.driver.call("cuDeviceGetUuid", self.context.device).bytes).hex()
        return "GPU-" + "-".join(
            (digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:])
        )

    @property
    def target(self) -> Target:
        """What kernels are compiled for. Raises E1040 on a GPU that teenyc does not know."""
        major, minor = self.capability
        return Target.cuda(f"sm_{major}{minor}")

    @property
    def targets(self) -> tuple[Target, ...]:
        """All targets whose code it runs, the best one first.

        PTX for sm_75 to sm_89 runs on every later GPU.
        """
        own = 10 * self.capability[0] + self.capability[1]
        numbers = sorted((int(name.removeprefix("sm_")) for name in CUDA_ARCHS), reverse=True)
        fit = [number for number in numbers if number == own or number < min(own, _FIRST_EXACT)]
        return tuple(Target.cuda(f"sm_{number}") for number in fit)

    @property
    def memory(self) -> Memory:
        """Free and total memory."""
        free, total = self.context.call("cuMemGetInfo")
        return Memory(int(free), int(total))

    def buffer(self, shape: int | Sequence[int], dtype: str | Any, *, stream: Any = None) -> Buffer:
        """Memory for `shape` elements of `dtype`, not initialized.

        `dtype` is a name or type of the kernel language, NumPy or torch (`"f32"`, `tl.f32`). With
        `stream` the memory comes from `pool` in the order of that stream, without waiting.

        Raises:
            LaunchError: E1059 out of memory, E1071 unknown dtype, E1077 no shape.
        """
        return Buffer(self, shape, dtype, stream=stream)

    def wrap(self, array: Any) -> Buffer:
        """A buffer over the memory of a GPU array of another library, which it keeps alive.

        `array` is of torch, CuPy or JAX, or offers DLPack or `__cuda_array_interface__`. The
        default stream is ordered after its pending work.

        Raises:
            LaunchError: E1065 for no GPU array or a dtype unknown to kernels, E1081 for one of
                another device.
        """
        return wrap(self, array)

    def pinned(self, shape: int | Sequence[int], dtype: Any) -> Any:
        """A NumPy array in page-locked host memory, for copies that do not wait.

        `dtype` is NumPy's, or a name of the kernel language. Raises E1059 when it cannot be locked.
        """
        element = find_dtype(dtype)
        return pinned_array(
            self, checked_shape(shape), host_dtype(element) if element is not None else dtype
        )

    @property
    def pool(self) -> MemoryPool:
        """The pool of stream-ordered buffers."""
        return MemoryPool(self)

    @property
    def priorities(self) -> tuple[int, int]:
        """The least and the greatest priority of streams and launches; lower numbers are sooner."""
        least, greatest = self.context.call("cuCtxGetStreamPriorityRange")
        return int(least), int(greatest)

    def enable_peer(self, other: Device) -> None:
        """Let kernels and copies of this GPU reach the memory of `other`.

        Raises:
            LaunchError: E1082 when the machine does not connect them so.
        """
        if other == self:
            return
        call = self.context.driver.call
        if not int(call("cuDeviceCanAccessPeer", self.context.device, other.context.device)):
            raise E1082.error(device=self.name, peer=other.name).help(
                "copy through `copy_from`, which the driver stages through the host"
            )
        with self.context.bound():
            number, _ = self.context.driver.attempt(
                "cuCtxEnablePeerAccess", other.context.handle, 0
            )
        if number not in {0, _PEER_ENABLED}:
            raise self.context.driver.failure("cuCtxEnablePeerAccess", number)

    def copy_of(self, array: Any) -> Buffer:
        """A new buffer with the shape, dtype and contents of a host or GPU array."""
        shape = getattr(array, "shape", None)
        if shape is None:
            shape = getattr(getattr(array, "array", None), "shape", None)
        if shape is None:
            import numpy as np

            array = np.asarray(array)
            shape = array.shape
        dtype = array.dtype
        buffer = Buffer(self, tuple(shape), find_dtype(dtype) or dtype)
        buffer.copy_from(array)
        return buffer

    def load(self, artifact: Artifact) -> Program:
        """The kernel of `artifact`, compiled by the driver if it is PTX.

        Raises:
            LaunchError: E1054 to E1057, E1062; the driver's compile log is shown.
        """
        return Program(self, artifact)

    def launch(
        self,
        program: Program,
        grid: Any,
        args: Sequence[Any],
        *,
        stream: Any = None,
        cooperative: bool = False,
        overlap: bool = False,
        priority: int | None = None,
    ) -> None:
        """Run `program` over `grid` with its run-time arguments in order.

        Returns before it has run. `args` are arrays on this GPU, None for a null pointer, and
        numbers. An empty grid does nothing. `cooperative`: all blocks run at the same time.
        `overlap`: it may start while the kernel before it ends (programmatic dependent launch).
        `priority`: of its blocks, lower is sooner.

        Raises:
            LaunchError: E1058 to E1069, E1072, E1076, E1079; after such an error the device is
                usable as before.
        """
        if cooperative or overlap or priority is not None:
            options = Options(cooperative, overlap, priority)
            launch(self, program, grid, args, stream, options)
        else:
            launch(self, program, grid, args, stream)

    def shortcut(self, slow: Callable[..., Any], guards: Sequence[Any]) -> Any:
        """What launches hot calls without the slow path, or None; see `teeny_macros.hot`."""
        from teeny_cuda.shortcut import make_shortcut

        return make_shortcut(self, slow, guards)

    def capture(self) -> Graph:
        """A graph of the work that is put into its stream inside of a `with` block."""
        return Graph(self)

    def stream(self, *, priority: int = 0) -> Stream:
        """A new stream; work of lower priority numbers is run sooner. Raises E1072."""
        return Stream(self, priority=priority)

    def event(self) -> Event:
        """A new event."""
        return Event(self)

    def synchronize(self) -> None:
        """Wait for all work of this GPU's context. Raises E1074 when a kernel went wrong."""
        self.context.synchronize()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Device) and other.context is self.context

    def __hash__(self) -> int:
        return hash(("cuda", self.ordinal))

    def __repr__(self) -> str:
        major, minor = self.capability
        return f"Device({self.ordinal}: {self.model}, sm_{major}{minor})"
