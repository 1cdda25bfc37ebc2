"""`Artifact`: a compiled kernel on disk; `Metadata`: what a launcher must know of it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, NamedTuple

from teeny_macros.codes import E0021

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from teeny_macros.source import SourceMap
    from teeny_macros.target import Target

SCHEMA = 1
STAGES = ("mlir", "ttgir", "clusters", "llvm-ir", "asm", "ptx", "cubin", "sass", "obj")
SUFFIXES = {
    "mlir": ".mlir",
    "ttgir": ".ttgir",
    "clusters": ".clusters",
    "llvm-ir": ".ll",
    "asm": ".s",
    "ptx": ".ptx",
    "cubin": ".cubin",
    "sass": ".sass",
    "obj": ".o",
}


class Param(NamedTuple):
    """One run-time parameter: `kind` is `pointer`, `scalar` or `descriptor`.

    `dtype` is the element's or the scalar's name, and of a descriptor also the tile: `f16[64,64]`.
    """

    name: str
    kind: str
    dtype: str


class Metadata(NamedTuple):
    """What a launcher must know. Sizes are bytes; scratch sizes are per block (CTA).

    For a CPU: `arena_bytes` of scratch memory for each thread, the estimated `work` of one program
    in nanoseconds (0: not known), the CPU `features` that the code needs, separated by commas.
    `written` names the pointers through which a program may write, where that is known.
    For a GPU: `descriptors` has for each descriptor among `params` the box of its tensor map, in
    elements, and the swizzle in bytes.
    """

    kernel: str
    entry_point: str
    target: str
    params: tuple[Param, ...]
    num_warps: int = 0
    threads_per_block: int = 0
    num_ctas: int = 1
    shared_bytes: int = 0
    global_scratch_bytes: int = 0
    global_scratch_align: int = 1
    profile_scratch_bytes: int = 0
    profile_scratch_align: int = 1
    tensor_memory: int = 0
    ptx_version: int = 0
    fp_fusion: bool = True
    arena_bytes: int = 0
    work: int = 0
    features: str = ""
    written: tuple[str, ...] = ()
    descriptors: tuple[tuple[tuple[int, ...], int], ...] = ()
    overflow_checks: bool = False
    launch_pdl: bool = False
    launch_cooperative_grid: bool = False
    versions: tuple[tuple[str, str], ...] = ()

    def to_json(self) -> dict[str, object]:
        """A JSON object with the schema number."""
        data: dict[str, object] = {"schema": SCHEMA, **self._asdict()}
        data["params"] = [param._asdict() for param in self.params]
        data["written"] = list(self.written)
        data["descriptors"] = [[list(box), swizzle] for box, swizzle in self.descriptors]
        data["versions"] = dict(self.versions)
        return data

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Metadata:
        """The metadata that `to_json` wrote. Raises E0021 for another schema."""
        if data.get("schema") != SCHEMA:
            raise E0021.error(what="metadata", version=data.get("schema"), known=SCHEMA).help(
                "compile the kernel again: `teeny cache clear`"
            )
        fields = {name: data[name] for name in cls._fields if name in data}
        fields["params"] = tuple(Param(**row) for row in data["params"])
        fields["written"] = tuple(data.get("written", ()))
        fields["descriptors"] = tuple(
            (tuple(box), swizzle) for box, swizzle in data.get("descriptors", ())
        )
        fields["versions"] = tuple(sorted(data["versions"].items()))
        return cls(**fields)


class Artifact(os.PathLike[str]):
    """A compiled kernel: `path` is the file a device loads, `stages` the files kept beside it.

    `source_map` leads from canonical positions to the files of *this* process; it is not part of
    the file. `side_folder` is where a device may keep what it makes of the file, or None: it may
    be absent or unwritable, and what is put there may vanish at any time. `content` is what the
    file held when it was checked: what is loaded is that, whatever became of the file since.
    `cubin` is the same of the machine code for a GPU, which may stand beside it.
    """

    __slots__ = (
        "_stages",
        "content",
        "cubin",
        "metadata",
        "path",
        "side_folder",
        "source_map",
        "target",
    )

    def __init__(
        self,
        path: Path,
        metadata: Metadata,
        target: Target,
        *,
        stages: Mapping[str, Path] | Callable[[], dict[str, Path]] | None = None,
        source_map: SourceMap | None = None,
        side_folder: Path | None = None,
        content: bytes | None = None,
        cubin: bytes | None = None,
    ) -> None:
        self.path = path
        self.metadata = metadata
        self.target = target
        self._stages = stages if callable(stages) else dict(stages or {})
        self.source_map = source_map
        self.side_folder = side_folder
        self.content = content
        self.cubin = cubin

    @property
    def stages(self) -> dict[str, Path]:
        """The files kept beside `path`, by stage: `ptx`, `mlir`..."""
        found = self._stages
        if callable(found):  # a launch needs none of their paths
            found = self._stages = found()
        return found

    def __fspath__(self) -> str:
        return os.fspath(self.path)

    def read_bytes(self) -> bytes:
        """What the file holds, or held when it was checked. Raises OSError where it is gone."""
        return self.path.read_bytes() if self.content is None else self.content

    def read_text(self) -> str:
        """The same as text (PTX or MLIR)."""
        return self.read_bytes().decode("utf-8")

    def __repr__(self) -> str:
        return f"Artifact({os.fspath(self.path)!r}, {self.target})"
