"""What the parts of the fake driver share: results, and the rule that every function obeys."""

from __future__ import annotations

import enum
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from teeny_cuda.fake_memory import FaultError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

Answer = tuple[Any, ...]
# What a context that failed still answers.
_UNHARMED = frozenset(("cuCtxGetCurrent", "cuDeviceGetCount"))


class CUresult(enum.IntEnum):
    """The results that this driver gives."""

    CUDA_SUCCESS = 0
    CUDA_ERROR_INVALID_VALUE = 1
    CUDA_ERROR_OUT_OF_MEMORY = 2
    CUDA_ERROR_NOT_INITIALIZED = 3
    CUDA_ERROR_NO_DEVICE = 100
    CUDA_ERROR_INVALID_DEVICE = 101
    CUDA_ERROR_INVALID_IMAGE = 200
    CUDA_ERROR_INVALID_CONTEXT = 201
    CUDA_ERROR_NO_BINARY_FOR_GPU = 209
    CUDA_ERROR_INVALID_PTX = 218
    CUDA_ERROR_PEER_ACCESS_UNSUPPORTED = 217
    CUDA_ERROR_UNSUPPORTED_PTX_VERSION = 222
    CUDA_ERROR_INVALID_HANDLE = 400
    CUDA_ERROR_NOT_FOUND = 500
    CUDA_ERROR_NOT_READY = 600
    CUDA_ERROR_ILLEGAL_ADDRESS = 700
    CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES = 701
    CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED = 704
    CUDA_ERROR_CONTEXT_IS_DESTROYED = 709
    CUDA_ERROR_MISALIGNED_ADDRESS = 716
    CUDA_ERROR_LAUNCH_FAILED = 719
    CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE = 720
    CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED = 900
    CUDA_ERROR_STREAM_CAPTURE_INVALIDATED = 901
    CUDA_ERROR_STREAM_CAPTURE_IMPLICIT = 906
    CUDA_ERROR_ILLEGAL_STATE = 401
    CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE = 910
    CUDA_ERROR_INVALID_CLUSTER_SIZE = 912


def numbered(name: str, members: Sequence[str] | Mapping[str, int]) -> Any:
    """An enumeration of the driver: its members by their numbers, or numbered from 1."""
    if isinstance(members, dict):
        return enum.IntEnum(name, members)
    return enum.IntEnum(name, {member: number for number, member in enumerate(members, 1)})


class Struct(SimpleNamespace):
    """A structure whose fields come into being when they are named, as a test sees them."""

    def __getattr__(self, name: str) -> Struct:
        if name.startswith("__"):
            raise AttributeError(name)
        child = Struct()
        setattr(self, name, child)
        return child


def call(function: Callable[..., Answer | None]) -> Callable[..., Answer]:
    """A driver function, refused before `cuInit` and with the fault after one."""

    def checked(self: Any, *args: Any) -> Answer:
        if not self.initialized:
            return (CUresult.CUDA_ERROR_NOT_INITIALIZED,)
        if self.fault and function.__name__ not in _UNHARMED:
            return (self.fault,)
        try:
            answer = function(self, *args)
        except FaultError as error:
            self.fault = CUresult(error.number)
            return (self.fault,)
        return (CUresult.CUDA_SUCCESS,) if answer is None else answer

    return checked


def bound(function: Callable[..., Answer | None]) -> Callable[..., Answer | None]:
    """A function that needs a current context."""

    def checked(self: Any, *args: Any) -> Answer | None:
        if not self.current:
            return (CUresult.CUDA_ERROR_INVALID_CONTEXT,)
        return function(self, *args)

    return checked


def waiting(function: Callable[..., Answer | None]) -> Callable[..., Answer | None]:
    """A function that may wait for the GPU: not allowed while this thread captures."""

    def checked(self: Any, *args: Any) -> Answer | None:
        if self.is_unsafe():
            return (CUresult.CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,)
        return function(self, *args)

    return checked


def ok(*values: Any) -> Answer:
    """Success, with what the function gives."""
    return (CUresult.CUDA_SUCCESS, *values)
