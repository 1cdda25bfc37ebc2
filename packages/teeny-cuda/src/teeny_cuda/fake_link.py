"""The linker of the fake driver: its cubin is the PTX behind four letters."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any

from teeny_cuda.fake_base import Answer, CUresult, call, numbered, ok, waiting
from teeny_cuda.fake_code import RejectedError, parse_ptx

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


class FakeLinks:
    """The functions of the linker. `links_fail` makes it refuse everything.

    `linked_registers` is how many more the linked code needs.
    """

    handles: Iterator[int]
    version: int
    CUjitInputType = numbered("CUjitInputType", {"CU_JIT_INPUT_PTX": 1})

    def start_links(self) -> None:
        """Begin without any link."""
        self.links: dict[int, Any] = {}
        self.links_fail = False
        self.linked_registers = 0

    @call
    def cuLinkCreate(self, count: int, options: Sequence[Any], values: Sequence[Any]) -> Answer:
        if count != len(options) or count != len(values):
            return (CUresult.CUDA_ERROR_INVALID_VALUE,)
        if self.links_fail:
            return (CUresult.CUDA_ERROR_INVALID_VALUE,)
        handle = next(self.handles)
        self.links[handle] = None
        return ok(handle)

    @call
    @waiting
    def cuLinkAddData(self, state: int, kind: Any, data: bytes, size: int, *rest: Any) -> Any:
        if state not in self.links or int(kind) != 1 or size != len(data):
            return (CUresult.CUDA_ERROR_INVALID_VALUE,)
        try:
            parse_ptx(data[:-1].decode(), self.capability, self.version)  # type: ignore[attr-defined]
        except RejectedError as error:
            return (CUresult(error.number),)
        more = b"{\n\t.reg .b32 \t%%linked<%d>;\n" % self.linked_registers
        made = b"CUBN" + (data[:-1].replace(b"{\n", more) if self.linked_registers else data[:-1])
        self.links[state] = ctypes.create_string_buffer(made, len(made))
        return None

    @call
    @waiting
    def cuLinkComplete(self, state: int) -> Answer:
        found = self.links.get(state)
        if found is None:
            return (CUresult.CUDA_ERROR_INVALID_HANDLE,)
        return ok(ctypes.addressof(found), len(found))

    @call
    def cuLinkDestroy(self, state: int) -> Any:
        if state not in self.links:
            return (CUresult.CUDA_ERROR_INVALID_HANDLE,)
        del self.links[state]
        return None
