"""`Prepared`: a launch whose grid, arguments and stream are fixed, so that running it is one call.

With llvmlite the call is machine code over `cuLaunchKernel`; without, cuda-python with arguments
laid out once.
"""

from __future__ import annotations

import weakref
from functools import partial
from typing import TYPE_CHECKING, Any

from teeny_cuda import emit_parts as parts
from teeny_cuda.arguments import check_arguments
from teeny_cuda.buffer import Buffer
from teeny_cuda.codes import E1064, E1069, E1086
from teeny_cuda.config import (
    PLAIN,
    Options,
    check_options,
    config_bytes,
    config_object,
    launch_attributes,
    with_own,
)
from teeny_cuda.graph import CaptureStream
from teeny_cuda.launch import Scratch, checked_grid, described, launch_streams
from teeny_cuda.printing import InOrder
from teeny_cuda.record import Record, builtin, describe_launch, driver_addresses
from teeny_cuda.stream import order

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from teeny_cuda.module import Program


class Run:
    """What a prepared launch needs where machine code does not run it, or when it fails.

    The record of machine code keeps it, so it does not keep the record: what a dropped launch held
    of the GPU is free at once.
    """

    __slots__ = (
        "__weakref__",
        "args",
        "cells",
        "options",
        "program",
        "record",
        "sizes",
        "stream",
        "values",
    )

    def __init__(
        self, program: Program, sizes: tuple[int, int, int], stream: int, options: Options
    ) -> None:
        self.program = program
        self.sizes = sizes
        self.stream = stream
        self.options = options
        self.args: list[Any] = []
        self.values: Sequence[Any] = ()
        self.cells: Any = None
        self.record: Callable[[], Record | None] = _no_record

    def slowly(self) -> None:
        """The same through cuda-python."""
        record = self.record()
        if record is None or not record.is_alive:
            self.failed(0)
            return
        program = self.program
        metadata, device = program.artifact.metadata, program.device
        driver = device.context.driver
        table = record.get(parts.PREPARED_PARAMS)
        attributes = launch_attributes(program, self.options)
        capture = device.context.captures.get(self.stream)
        if self.stream == device.default_stream and device.context.captures:
            device.context.require_outside()
        if capture is not None:
            capture.keep(self, program, *self.args)
        device.context.suspects.note(metadata, self.sizes, self.values)
        with device.context.bound():
            if attributes:
                config = config_object(driver.api, program, attributes, self.sizes, self.stream)
                number, _ = driver.attempt("cuLaunchKernelEx", config, program.function, table, 0)
            else:
                number, _ = driver.attempt(
                    "cuLaunchKernel",
                    program.function,
                    *self.sizes,
                    metadata.threads_per_block,
                    1,
                    1,
                    metadata.shared_bytes,
                    self.stream,
                    table,
                    0,
                )
            if not number and device.blocking and capture is None:
                with InOrder(device.context):
                    number, _ = driver.attempt("cuStreamSynchronize", self.stream)
        if number:
            self.failed(number)

    def failed(self, number: int) -> None:
        """Raise what a launch went wrong with; 0: the program or an array is gone.

        -1 is no failure: a graph is being captured, so the launch has to be looked at.
        """
        if number == -1:
            self.slowly()
            return
        program = self.program
        program.function  # noqa: B018 - raises E1058 once unloaded
        metadata = program.artifact.metadata
        if not number:
            gone = [
                param.name
                for param, value in zip(metadata.params, self.args, strict=True)
                if getattr(value, "is_released", False)
            ]
            raise (
                E1069.error()
                .note(f"`{metadata.kernel}` was bound to it: {', '.join(gone)}")
                .help("keep the buffers of a prepared launch, or give it others with `replace`")
            )
        device = program.device
        failure = device.context.driver.failure(
            "cuLaunchKernel",
            number,
            is_known=device.blocking,
            kernel=metadata.kernel,
            device=device.name,
        )
        raise described(failure, program, self.sizes, self.values)


class Prepared:
    """One launch, ready to run: `program.bind(grid, x, y, out, n)()`.

    `replace` changes arguments. The arrays must stay as they are; releasing one, or unloading the
    program, ends it with a coded error at the next call.
    """

    __slots__ = (
        "__weakref__",
        "_record",
        "_run",
        "_scratch",
        "launch",
        "options",
        "program",
        "sizes",
        "stream",
    )

    launch: Callable[[], None]
    """What a call runs; to save the call of a Python method, call this."""

    def __init__(
        self, program: Program, grid: Any, args: Sequence[Any], stream: Any, options: Options
    ) -> None:
        device, metadata = program.device, program.artifact.metadata
        self.program = program
        options = self.options = with_own(options, metadata)
        self.sizes = checked_grid(device, grid, metadata.num_ctas)
        if options != PLAIN:
            check_options(program, options, self.sizes)
        program.function  # noqa: B018 - raises E1058 once unloaded
        values, arrays = check_arguments(device, metadata, args)
        self.stream, others = launch_streams(device, stream, arrays)
        for other in others:
            order(device.context, other, self.stream)
        self._run = Run(program, self.sizes, self.stream, options)
        self._scratch = self._take_scratch()
        self._run.args = list(args)
        self._record = Record(parts.PREPARED_WORDS)
        self._pack(values)
        self.launch = self._make_launch(told=isinstance(stream, CaptureStream))
        self._watch(args)

    def __call__(self) -> None:
        """Run it once more, in its stream.

        Raises:
            LaunchError: E1058 when the program was unloaded, E1069 when an array was released.
        """
        self.launch()

    def replace(self, *args: Any, **named: Any) -> None:
        """Other arguments for the runs from here on: all by position, or some by name.

        Raises:
            LaunchError: E1064 to E1069, E1086 for an unknown name.
        """
        metadata = self.program.artifact.metadata
        names = [param.name for param in metadata.params]
        changed = list(args) if args else list(self._run.args)
        if len(changed) != len(names):
            raise E1064.error(kernel=metadata.kernel, wanted=len(names), found=len(args)).help(
                f"give, in this order: {', '.join(names)}"
            )
        for name, value in named.items():
            if name not in names:
                raise E1086.error(kernel=metadata.kernel, name=name).help(
                    f"it has {', '.join(names)}"
                )
            changed[names.index(name)] = value
        values, _ = check_arguments(self.program.device, metadata, changed)
        self._run.args = changed
        self._pack(values)
        self._watch(changed)
        self._record.put(parts.ALIVE, 1)

    def _watch(self, args: Sequence[Any]) -> None:
        for value in args:
            if isinstance(value, Buffer):
                value.memory.watch(self._record)

    def _take_scratch(self) -> Scratch | None:
        metadata = self.program.artifact.metadata
        if not (metadata.global_scratch_bytes or metadata.profile_scratch_bytes):
            return None
        x, y, z = self.sizes
        with self.program.device.context.bound():
            # Runs follow each other in one stream, so they share their scratch memory.
            scratch = Scratch(self.program, x * y * z * metadata.num_ctas, self.stream)
        weakref.finalize(self._run, scratch.release)
        return scratch

    def _pack(self, values: Sequence[Any]) -> None:
        scratch = self._scratch
        packer = self.program.packer
        cells = packer.cells()
        table = packer.pack_into(
            cells, values, scratch.kernel if scratch else 0, scratch.profile if scratch else 0
        )
        self._record.put(parts.PREPARED_PARAMS, table)
        self._run.values = values
        self._run.cells = cells  # only now may the old ones go

    def _make_launch(self, *, told: bool) -> Callable[[], None]:
        """`told`: a graph must be told what a run uses, which machine code does not do."""
        from teeny_cuda.shortcut import prepared_code

        program, record = self.program, self._record
        if 0 in self.sizes:
            return _nothing
        record.put(parts.ALIVE, 1)
        program.attach(record)
        device = program.device
        plain = not (told or device.blocking)
        addresses = driver_addresses(device.context) if plain else None
        code = prepared_code() if addresses is not None else None
        if addresses is None or code is None:
            self._run.record = partial(_same, record)
            return self._run.slowly
        describe_launch(record, program, addresses, config_bytes(program, self.options, record))
        record.put(parts.STREAM, self.stream)
        record.put(parts.PREPARED_GRID, self.sizes[0] | self.sizes[1] << 32)
        record.put(parts.PREPARED_GRID_Z, self.sizes[2])
        self._run.record = weakref.ref(record)
        record.name(parts.FAILED, self._run.failed)
        launch: Callable[[], None] = builtin(code, record, "launch", takes_arguments=False)
        return launch

    def __repr__(self) -> str:
        return f"Prepared({self.program.artifact.metadata.kernel} over {self.sizes})"


def _nothing() -> None:
    """An empty grid runs nothing."""


def _no_record() -> None:
    """Before there is one."""


def _same(record: Record) -> Record:
    return record
