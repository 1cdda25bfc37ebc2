"""One launch: grid and arguments checked, scratch memory supplied, the right stream chosen.

Whatever is wrong is said before the driver is reached, so that its context stays usable.
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

from teeny_cuda.arguments import check_arguments
from teeny_cuda.codes import E1060, E1061, E1078
from teeny_cuda.config import (
    PLAIN,
    Options,
    check_options,
    config_object,
    launch_attributes,
    with_own,
)
from teeny_cuda.printing import InOrder
from teeny_cuda.stream import order, stream_handle
from teeny_cuda.suspects import shown_arguments

if TYPE_CHECKING:
    from collections.abc import Sequence

    from teeny_cuda.device import Device
    from teeny_cuda.found import Found
    from teeny_cuda.module import Program
    from teeny_macros.diagnostics import TeenyError

_ALIGNED = 256  # what the driver's allocations are multiples of
_LARGEST, _OUT_OF_MEMORY = 2**63 - 1, 2


def launch(
    device: Device,
    program: Program,
    grid: Any,
    args: Sequence[Any],
    stream: Any,
    options: Options = PLAIN,
) -> None:
    """Put one run of `program` over `grid` into a stream. An empty grid does nothing.

    Without `stream` it is the stream that torch or CuPy use now when their arrays are given, else
    the default stream. It is ordered after work that the arrays' interfaces name, and their owners'
    streams after it.
    """
    metadata = program.artifact.metadata
    if program.device is not device and program.device != device:
        raise E1078.error(
            kernel=metadata.kernel, found=program.device.name, wanted=device.name
        ).help(f"load the artefact on {device.name} too")
    sizes = checked_grid(device, grid, metadata.num_ctas)
    function = program.function
    values, arrays = check_arguments(device, metadata, args)
    if 0 in sizes:
        return
    options = with_own(options, metadata)
    if options is not PLAIN:
        check_options(program, options, sizes)
    handle, others = launch_streams(device, stream, arrays)
    context = device.context
    if context.captures and handle in context.captures:
        context.captures[handle].keep(program, *args)
    with context.bound():
        for other in others:
            order(context, other, handle)
        if metadata.global_scratch_bytes or metadata.profile_scratch_bytes:
            blocks = sizes[0] * sizes[1] * sizes[2] * metadata.num_ctas
            scratch = Scratch(program, blocks, handle)
            try:
                params = program.packer.pack(values, scratch.kernel, scratch.profile)
                _submit(program, function, sizes, handle, params, options, values)
            finally:
                scratch.release(at_once=True)
        else:
            params = program.packer.pack(values, 0, 0)
            _submit(program, function, sizes, handle, params, options, values)
        for other in others:
            order(context, handle, other)
        if device.blocking and handle not in context.captures:
            with InOrder(context):
                number, _ = context.driver.attempt("cuStreamSynchronize", handle)
            if number:
                failure = context.driver.failure("cuLaunchKernel", number, is_known=True)
                raise described(failure, program, sizes, values)


def checked_grid(device: Device, grid: Any, num_ctas: int) -> tuple[int, int, int]:
    """`grid` (an int or one to three of them) as three sizes. Raises E1060, E1061."""
    try:
        sizes = (
            [operator.index(grid)]
            if hasattr(grid, "__index__")
            else [operator.index(size) for size in grid]
        )
    except TypeError:
        raise E1061.error(grid=f"`{grid!r}`", reason="its sizes are integers").help(
            "pass an int, or a tuple of one to three ints"
        ) from None
    if not 1 <= len(sizes) <= 3:
        raise E1061.error(grid=f"`{grid!r}`", reason="a grid has one to three axes")
    x, y, z = (*sizes, 1, 1)[:3]
    # A cluster takes `num_ctas` places along the first axis.
    for axis, size, taken in (("x", x, x * num_ctas), ("y", y, y), ("z", z, z)):
        if size < 0:
            raise E1061.error(grid=f"`{grid!r}`", reason=f"axis {axis} is negative")
        limit = device.grid_limits[axis]
        if taken > limit:
            allowed = limit // num_ctas if axis == "x" else limit
            raise E1060.error(axis=axis, size=size, device=device.name, limit=allowed).help(
                "move the work to axis x, whose limit is the largest, or loop inside the kernel"
            )
    return x, y, z


def launch_streams(device: Device, stream: Any, arrays: Sequence[Found]) -> tuple[int, list[int]]:
    """The stream of the launch, and the streams that it must be ordered with."""
    pending = [found for found in arrays if found.stream is not None]
    if stream is None and not pending:
        return stream_handle(None, device), []
    if stream is None:
        handle = pending[0].stream
    else:
        handle = stream_handle(stream, device)
        pending = [found for found in pending if found.must_wait]
    assert handle is not None
    others = {found.stream for found in pending if found.stream is not None} - {handle}
    return handle, sorted(others)


def _submit(
    program: Program,
    function: Any,
    sizes: tuple[int, int, int],
    handle: int,
    params: int,
    options: Options,
    values: Sequence[Any],
) -> None:
    metadata = program.artifact.metadata
    driver = program.device.context.driver
    program.device.context.suspects.note(metadata, sizes, values)
    attributes = launch_attributes(program, options)
    if attributes:
        config = config_object(driver.api, program, attributes, sizes, handle)
        name = "cuLaunchKernelEx"
        number, _ = driver.attempt(name, config, function, params, 0)
    else:
        name = "cuLaunchKernel"
        number, _ = driver.attempt(
            name,
            function,
            *sizes,
            metadata.threads_per_block,
            1,
            1,
            metadata.shared_bytes,
            handle,
            params,
            0,
        )
    if number:
        failure = driver.failure(name, number, kernel=metadata.kernel, device=program.device.name)
        raise described(failure, program, sizes, values)


def described(
    error: TeenyError, program: Program, sizes: tuple[int, int, int], values: Sequence[Any]
) -> TeenyError:
    """`error` with what was launched: kernel, grid and the packed arguments."""
    metadata = program.artifact.metadata
    error.note(f"its arguments: {shown_arguments(metadata, values)}")
    return error.note(
        f"launch of `{metadata.kernel}` over {sizes[0]} x {sizes[1]} x {sizes[2]} blocks of "
        f"{metadata.threads_per_block} threads with {metadata.shared_bytes} bytes of shared memory"
    )


class Scratch:
    """The scratch memory of one launch, allocated and released in the order of its stream."""

    __slots__ = ("_context", "_held", "_pooled", "_stream", "kernel", "profile")

    def __init__(self, program: Program, blocks: int, stream: int) -> None:
        metadata = program.artifact.metadata
        self._context = program.device.context
        self._pooled = bool(program.device.properties["memory_pools_supported"])
        self._stream = stream
        self._held: list[Any] = []
        self.kernel = self.profile = 0
        try:
            self.kernel = self._take(
                metadata.global_scratch_bytes * blocks, metadata.global_scratch_align
            )
            self.profile = self._take(
                metadata.profile_scratch_bytes * blocks, metadata.profile_scratch_align
            )
        except BaseException:
            self.release(at_once=True)
            raise

    def _take(self, nbytes: int, align: int) -> int:
        if not nbytes:
            return 0
        extra = align if align > _ALIGNED else 0
        driver = self._context.driver
        if nbytes + extra > _LARGEST:  # no size that the driver could be asked for
            name, number, pointer = "cuMemAlloc", _OUT_OF_MEMORY, 0
        elif self._pooled:
            name = "cuMemAllocAsync"
            number, pointer = driver.attempt(name, nbytes + extra, self._stream)
        else:
            name = "cuMemAlloc"
            number, pointer = driver.attempt(name, nbytes + extra)
        if number:
            raise driver.failure(
                name, number, what=f"{nbytes} bytes of scratch memory for a launch"
            )
        self._held.append(pointer)
        return -(-int(pointer) // align) * align

    def release(self, *, at_once: bool = False) -> None:
        """Give the memory back behind the launch; without memory pools this waits for it.

        `at_once`: in the capture of the launch, if there is one.
        """
        for pointer in self._held:
            if self._pooled:
                self._context.release("cuMemFreeAsync", pointer, self._stream, at_once=at_once)
            else:
                self._context.release("cuMemFree", pointer)
        self._held.clear()
