"""The file of a bundle: compiled kernels and what a launcher must know of them, as one zip.

Written byte for byte the same on every machine: members are stored, in order, without times. The
first member, `bundle.json`, describes the others; the comment of the zip holds the digest of it.
Nothing here looks for bundles or launches; see bundle.py and bundled.py.
"""

from __future__ import annotations

import os
from typing import IO, TYPE_CHECKING, Any, NamedTuple

from teeny_macros.codes import E0021, E1033
from teeny_macros.unit import LANGUAGE

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from zipfile import ZipInfo

SCHEMA = 1
INDEX = "bundle.json"
SUFFIX = ".teeny"
_MAGIC = b"teeny-bundle"
_EPOCH = (1980, 1, 1, 0, 0, 0)
_UNIX = 3
_LARGEST_INDEX = 1 << 28
_REBUILD = "build it again: `teeny bundle build`"


class CodeRow(NamedTuple):
    """The code of an instance for one target.

    `file` is the member that a device loads, `metadata` that of an artifact as a JSON object,
    `stages` other members by stage (`mlir`, `cubin`).
    """

    file: str
    metadata: Mapping[str, Any]
    stages: Mapping[str, str]


class InstanceRow(NamedTuple):
    """One instance: what it fixes, as text, and its code by target (`cuda:sm_90`).

    `id` is the instance's, `base` that of the same instance without hints.
    """

    id: str
    base: str
    types: tuple[tuple[str, str], ...]
    constants: tuple[tuple[str, str], ...]
    options: tuple[tuple[str, Any], ...]
    divisible_by_16: tuple[str, ...]
    equal_to_1: tuple[str, ...]
    code: Mapping[str, CodeRow]

    @property
    def hints(self) -> int:
        """How many hints it rests on."""
        return len(self.divisible_by_16) + len(self.equal_to_1)

    def to_json(self) -> dict[str, object]:
        """A JSON object."""
        return {
            **self._asdict(),
            "code": {target: row._asdict() for target, row in self.code.items()},
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> InstanceRow:
        """The row that `to_json` wrote."""
        return cls(
            data["id"],
            data["base"],
            tuple((name, text) for name, text in data["types"]),
            tuple((name, text) for name, text in data["constants"]),
            tuple((name, value) for name, value in data["options"]),
            tuple(data["divisible_by_16"]),
            tuple(data["equal_to_1"]),
            {target: CodeRow(**row) for target, row in data["code"].items()},
        )


class KernelRow(NamedTuple):
    """One kernel: where it was defined, the digest of its text, its parameters, its instances.

    Each parameter is a JSON object with the fields of `Parameter`; a default is text, or None.
    `written` names the pointers that it may write through, `options` its own launch options,
    `declared` is what it declares of its arrays (`Declared.to_json`), empty when nothing.
    """

    name: str
    module: str
    qualname: str
    text: str
    parameters: tuple[Mapping[str, Any], ...]
    written: tuple[str, ...]
    options: Mapping[str, Any]
    doc: str
    instances: tuple[InstanceRow, ...]
    declared: Mapping[str, Any] = {}

    @property
    def qualified(self) -> str:
        """`module:name`."""
        return f"{self.module}:{self.qualname}"

    def to_json(self) -> dict[str, object]:
        """A JSON object."""
        rows = [row.to_json() for row in self.instances]
        data: dict[str, object] = {**self._asdict(), "parameters": list(self.parameters)}
        data["instances"] = rows
        if not self.declared:
            del data["declared"]  # as bundles were before there were declarations
        return data

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> KernelRow:
        """The row that `to_json` wrote."""
        fields = {name: data[name] for name in cls._fields if name != "declared"}
        fields["declared"] = data.get("declared", {})
        fields["parameters"] = tuple(data["parameters"])
        fields["written"] = tuple(data["written"])
        fields["instances"] = tuple(map(InstanceRow.from_json, data["instances"]))
        return cls(**fields)


class Index(NamedTuple):
    """All that a bundle says of itself. `members` are (bytes, SHA-256) by name.

    `dsl` is the digest of the kernel language's text that the kernels were compiled with.
    """

    name: str
    sealed: bool
    language: int
    dsl: str
    versions: Mapping[str, str]
    kernels: tuple[KernelRow, ...]
    members: Mapping[str, tuple[int, str]]


def _to_bytes(index: Index) -> bytes:
    import json

    data: dict[str, object] = {"format": _MAGIC.decode(), "schema": SCHEMA, **index._asdict()}
    data["kernels"] = [row.to_json() for row in index.kernels]
    data["members"] = {name: list(row) for name, row in index.members.items()}
    return json.dumps(data, indent=1, sort_keys=True, ensure_ascii=True).encode() + b"\n"


def _from_bytes(text: bytes) -> Index:
    import json

    data = json.loads(text)
    fields = {name: data[name] for name in Index._fields}
    fields["kernels"] = tuple(map(KernelRow.from_json, data["kernels"]))
    fields["members"] = {name: (row[0], row[1]) for name, row in data["members"].items()}
    return Index(**fields)


def digest_of(data: bytes) -> str:
    """SHA-256 as hexadecimal digits."""
    from hashlib import sha256

    return sha256(data).hexdigest()


def write(file: IO[bytes], index: Index, members: Mapping[str, bytes]) -> str:
    """Write a bundle to an open file, which can seek, and return the digest of its index.

    `members` are the contents by name; what `index` says of them is filled in here.
    """
    from zipfile import ZIP_STORED, ZipFile, ZipInfo

    sizes = {name: (len(data), digest_of(data)) for name, data in sorted(members.items())}
    text = _to_bytes(index._replace(members=sizes))
    digest = digest_of(text)
    with ZipFile(file, "w", ZIP_STORED) as archive:
        for name, data in ((INDEX, text), *sorted(members.items())):
            info = ZipInfo(name, _EPOCH)
            info.create_system = _UNIX
            info.external_attr = 0o644 << 16
            archive.writestr(info, data)
        archive.comment = b"%s %d sha256:%s" % (_MAGIC, SCHEMA, digest.encode())
    return digest


class BundleFile:
    """An open bundle: its index, its digest, and its members, each checked when it is read."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        """Open and check the index.

        Raises:
            LaunchError: E1033 for a file that is absent, cut short or changed.
            CompileError: E0021 for one that a later version wrote.
        """
        from zipfile import BadZipFile, ZipFile

        self.path = os.path.abspath(path)
        try:
            with ZipFile(self.path) as archive:
                self.digest = _announced(self.path, archive.comment)
                info = archive.getinfo(INDEX)
                text = archive.read(info) if info.file_size <= _LARGEST_INDEX else b""
                self._members = {row.filename: row for row in archive.infolist()}
        except FileNotFoundError:
            raise unusable(self.path, "there is no such file") from None
        except OSError as error:
            raise unusable(self.path, error.strerror or str(error)) from error
        except KeyError:
            raise unusable(self.path, f"it has no {INDEX}") from None
        except (BadZipFile, EOFError, NotImplementedError, RuntimeError, ValueError) as error:
            raise unusable(self.path, "it is no zip file, or was cut short").note(
                str(error)
            ) from error
        if digest_of(text) != self.digest:
            raise unusable(self.path, f"{INDEX} was changed")
        try:
            self.index = _from_bytes(text)
        except (ValueError, KeyError, TypeError, AttributeError, IndexError) as error:
            raise unusable(self.path, f"{INDEX} cannot be read").note(repr(error)) from error
        if self.index.language != LANGUAGE:
            raise E0021.error(
                what="bundle's language", version=self.index.language, known=LANGUAGE
            ).help(_REBUILD)

    def read(self, name: str) -> bytes:
        """The contents of a member. Raises E1033 when it is not what was written."""
        data, fault = self._read(name, self._members.get(name))
        if fault:
            raise unusable(self.path, fault)
        return data

    def faults(self) -> list[str]:
        """What is wrong with the members, all of them read."""
        rows = self._members
        found = [self._read(name, rows.get(name))[1] for name in self.index.members]
        unlisted = sorted(set(rows) - set(self.index.members) - {INDEX})
        found += [f"{name} is not listed" for name in unlisted]
        used = files_of(self.index.kernels)
        found += [f"{name} is used but not listed" for name in sorted(used)
                  if name not in self.index.members]  # fmt: skip
        return [fault for fault in found if fault]

    def _read(self, name: str, info: ZipInfo | None) -> tuple[bytes, str]:
        """A member's contents, and what is wrong with it."""
        from zipfile import BadZipFile, ZipFile

        size, digest = self.index.members.get(name, (-1, ""))
        if info is None or info.file_size != size:
            return b"", f"{name} is missing or of another size"
        try:
            with ZipFile(self.path) as archive:
                data = archive.read(info)
        except (BadZipFile, OSError, EOFError, NotImplementedError, RuntimeError) as error:
            return b"", f"{name} cannot be read: {error}"
        return data, "" if digest_of(data) == digest else f"{name} was changed"


def files_of(kernels: Sequence[KernelRow]) -> set[str]:
    """The members that kernels use."""
    rows = [code for row in kernels for one in row.instances for code in one.code.values()]
    return {name for row in rows for name in (row.file, *row.stages.values())}


def _announced(path: str, comment: bytes) -> str:
    """The digest that the end of the file states."""
    words = comment.split()
    if len(words) != 3 or words[0] != _MAGIC or not words[1].isdigit():
        raise unusable(path, "it is a zip file but no bundle")
    if int(words[1]) != SCHEMA:
        raise E0021.error(what="bundle", version=int(words[1]), known=SCHEMA).help(
            "`pip install -U teeny-macros`, or build the bundle again"
        )
    return words[2].decode("ascii", "replace").removeprefix("sha256:")


def unusable(path: str, reason: str) -> Any:
    """E1033, to be raised."""
    return E1033.error(path=path, reason=reason).help(
        "`teeny bundle verify FILE` checks it; get it anew, or build it again"
    )
