"""Launches beyond grid and block: clusters, cooperative and overlapping launches, priorities.

The same attributes in two forms: cuda-python's objects, and the driver's structures in memory.
"""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any, NamedTuple

from teeny_cuda.codes import E1079
from teeny_cuda.emit_parts import CONFIG_BYTES

if TYPE_CHECKING:
    from teeny_cuda.module import Program
    from teeny_cuda.record import Record
    from teeny_macros.artifact import Metadata

_PREFIX = "CU_LAUNCH_ATTRIBUTE_"
_SPREAD = 1  # CU_CLUSTER_SCHEDULING_POLICY_SPREAD


class Options(NamedTuple):
    """How a program is launched.

    `cooperative`: all blocks run at the same time, so that they may wait for each other.
    `overlap`: the kernel may start while the one before it in the stream ends (programmatic
    dependent launch); it waits by itself where it must. `priority`: of its blocks, lower is sooner.
    """

    cooperative: bool = False
    overlap: bool = False
    priority: int | None = None


PLAIN = Options()


def with_own(options: Options, metadata: Metadata) -> Options:
    """The options of a launch with those that the kernel asks for by itself."""
    if not (metadata.launch_pdl or metadata.launch_cooperative_grid):
        return options
    return options._replace(
        cooperative=options.cooperative or metadata.launch_cooperative_grid,
        overlap=options.overlap or metadata.launch_pdl,
    )


class Attribute(NamedTuple):
    """A launch attribute: its name, the member of cuda-python's union, and its integers."""

    name: str
    member: str
    numbers: tuple[int, ...]


class _RawAttribute(ctypes.Structure):
    """CUlaunchAttribute: a number, and a union of 64 bytes."""

    _fields_ = (("id", ctypes.c_uint32), ("pad", ctypes.c_uint32), ("value", ctypes.c_int32 * 16))


class _RawConfig(ctypes.Structure):
    """CUlaunchConfig."""

    _fields_ = (
        ("grid", ctypes.c_uint32 * 3),
        ("block", ctypes.c_uint32 * 3),
        ("shared", ctypes.c_uint32),
        ("pad", ctypes.c_uint32),
        ("stream", ctypes.c_void_p),
        ("attributes", ctypes.c_void_p),
        ("count", ctypes.c_uint32),
        ("pad_end", ctypes.c_uint32),
    )


assert ctypes.sizeof(_RawConfig) == CONFIG_BYTES


def launch_attributes(program: Program, options: Options) -> list[Attribute]:
    """What a launch needs beyond `cuLaunchKernel`; empty for a plain one."""
    found: list[Attribute] = []
    ctas = program.artifact.metadata.num_ctas
    if ctas > 1:
        found += [
            Attribute("CLUSTER_DIMENSION", "clusterDim", (ctas, 1, 1)),
            Attribute(
                "CLUSTER_SCHEDULING_POLICY_PREFERENCE",
                "clusterSchedulingPolicyPreference",
                (_SPREAD,),
            ),
        ]
    if options.cooperative:
        found.append(Attribute("COOPERATIVE", "cooperative", (1,)))
    if options.overlap:
        found.append(
            Attribute(
                "PROGRAMMATIC_STREAM_SERIALIZATION", "programmaticStreamSerializationAllowed", (1,)
            )
        )
    if options.priority is not None:
        found.append(Attribute("PRIORITY", "priority", (options.priority,)))
    return found


def check_options(program: Program, options: Options, sizes: tuple[int, int, int]) -> None:
    """Raise E1079 for what the device cannot do."""
    device = program.device
    kernel = program.artifact.metadata.kernel
    if options.cooperative:
        if not device.properties["cooperative_launch"]:
            raise E1079.error(kernel=kernel, reason=f"{device.name} has no cooperative launches")
        blocks = sizes[0] * sizes[1] * sizes[2] * program.artifact.metadata.num_ctas
        fit = program.occupancy() * device.properties["multiprocessor_count"]
        if blocks > fit:
            raise E1079.error(
                kernel=kernel,
                reason=f"a cooperative launch has {blocks} blocks, and {fit} run at the same time",
            ).help("use a smaller grid and let each block do more")
    if options.overlap and device.capability < (9, 0):
        raise E1079.error(kernel=kernel, reason=f"{device.name} has no dependent launches").help(
            "they came with sm_90"
        )
    if options.priority is not None:
        least, greatest = device.priorities
        if not greatest <= options.priority <= least:
            raise E1079.error(
                kernel=kernel,
                reason=f"priority {options.priority} is outside of {greatest} to {least}",
            )


def config_object(
    api: Any,
    program: Program,
    attributes: list[Attribute],
    sizes: tuple[int, int, int],
    stream: int,
) -> Any:
    """A configuration as cuda-python takes it. Clusters lie along the first axis."""
    metadata = program.artifact.metadata
    config = api.CUlaunchConfig()
    config.gridDimX = sizes[0] * metadata.num_ctas
    config.gridDimY, config.gridDimZ = sizes[1], sizes[2]
    config.blockDimX, config.blockDimY, config.blockDimZ = metadata.threads_per_block, 1, 1
    config.sharedMemBytes = metadata.shared_bytes
    config.hStream = stream
    rows = []
    for attribute in attributes:
        row = api.CUlaunchAttribute()
        row.id = getattr(api.CUlaunchAttributeID, _PREFIX + attribute.name)
        if attribute.member == "clusterDim":
            shape = row.value.clusterDim
            shape.x, shape.y, shape.z = attribute.numbers
        elif attribute.member == "clusterSchedulingPolicyPreference":
            policies = api.CUclusterSchedulingPolicy
            row.value.clusterSchedulingPolicyPreference = (
                policies.CU_CLUSTER_SCHEDULING_POLICY_SPREAD
            )
        else:
            setattr(row.value, attribute.member, attribute.numbers[0])
        rows.append(row)
    config.attrs = rows
    config.numAttrs = len(rows)
    return config


def config_bytes(program: Program, options: Options, record: Record) -> int:
    """The address of a configuration that `record` keeps; 0 when a plain launch will do.

    Grid and stream are left to the launch.
    """
    attributes = launch_attributes(program, options)
    if not attributes:
        return 0
    ids = program.device.context.driver.api.CUlaunchAttributeID
    rows = (_RawAttribute * len(attributes))()
    for row, attribute in zip(rows, attributes, strict=True):
        row.id = int(getattr(ids, _PREFIX + attribute.name))
        for at, number in enumerate(attribute.numbers):
            row.value[at] = number
    metadata = program.artifact.metadata
    config = _RawConfig(
        grid=(1, 1, 1),
        block=(metadata.threads_per_block, 1, 1),
        shared=metadata.shared_bytes,
        attributes=ctypes.addressof(rows),
        count=len(attributes),
    )
    record.keep(rows, config)
    return ctypes.addressof(config)
