"""Bundles in this process: `load` them, and find in them what launches would have to compile.

Consulted before the compiler, when a program is first loaded, in this order: bundles that were
loaded here, the latest first; those that TEENY_BUNDLES names; for kernels of an installed package,
the one that it registers in the group `teeny.bundles`. A sealed bundle that knows a kernel but not
this instance of it ends the search with an error.
"""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING, Any, NamedTuple

from teeny_macros import devices, env
from teeny_macros.artifact import Artifact, Metadata
from teeny_macros.bundle_file import BundleFile, InstanceRow, KernelRow, digest_of, unusable
from teeny_macros.codes import E1030, E1031, E1032
from teeny_macros.target import Target

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from teeny_macros.bundled import BundledKernel
    from teeny_macros.diagnostics import TeenyError

_OFF = "none"
# One for all bundles: a fork waits for it, so that a child finds nothing half done.
LOCK = threading.RLock()
_SHOWN = 8  # instances in an error


class Bundle:
    """A bundle that was opened. `hits` and `misses` count the programs of its kernels.

    `bundle["vector_add"]` is a kernel that is launched without its source.
    """

    def __init__(self, path: str | os.PathLike[str], *, sealed: bool | None = None) -> None:
        """Open the file. `sealed` overrides what it says of itself. Raises E1033, E0021."""
        self._file = BundleFile(path)
        index = self._file.index
        self.path = self._file.path
        self.digest = self._file.digest
        self.name = index.name
        self.sealed = index.sealed if sealed is None else sealed
        self.versions = dict(index.versions)
        self.dsl = index.dsl
        self.kernels = index.kernels
        self.hits = 0
        self.misses = 0
        self._instances: dict[str, list[InstanceRow]] = {}
        for kernel in self.kernels:
            for row in sorted(kernel.instances, key=lambda row: (-row.hints, row.id)):
                self._instances.setdefault(row.base, []).append(row)
        self._texts = {row.text: row for row in self.kernels}
        self._places = {(row.module, row.qualname): row for row in self.kernels}
        self._made: dict[str, BundledKernel] = {}
        self._extracted = _Folder()

    # --- looking into it -------------------------------------------------------------------------

    def __iter__(self) -> Iterator[str]:
        return iter(row.name for row in self.kernels)

    def __contains__(self, name: object) -> bool:
        return any(name in (row.name, row.qualified) for row in self.kernels)

    def __getitem__(self, name: str) -> BundledKernel:
        """The kernel called `name`, or `module:name` where two have one name. Raises E1032."""
        made = self._made.get(name)
        if made is None:
            from teeny_macros.bundled import BundledKernel

            made = self._made.setdefault(name, BundledKernel(self, self.row(name)))
        return made

    def row(self, name: str) -> KernelRow:
        """What the bundle says of a kernel. Raises E1032 unless it holds just one of the name."""
        found = [row for row in self.kernels if name in (row.name, row.qualified)]
        if len(found) == 1:
            return found[0]
        names = ", ".join(f"`{row.qualified if found else row.name}`" for row in self.kernels)
        raise E1032.error(path=self.path, count=len(found) or "no", name=name).help(
            f"it holds {names}"
        )

    def read(self, member: str) -> bytes:
        """The contents of a member. Raises E1033 when they are not what was written."""
        return self._file.read(member)

    @property
    def members(self) -> dict[str, tuple[int, str]]:
        """Size in bytes and SHA-256 of each member."""
        return dict(self._file.index.members)

    def faults(self) -> list[str]:
        """What is wrong with the members, all of them read and checked; empty for a whole file."""
        return self._file.faults()

    def __repr__(self) -> str:
        state = ", sealed" if self.sealed else ""
        return f"Bundle({self.path!r}, {len(self.kernels)} kernels{state})"

    # --- serving launches ------------------------------------------------------------------------

    def find(self, instance: Any, targets: Sequence[str]) -> Artifact | None:
        """The code of an instance for the first of `targets` that it has.

        Of several that fit, the one that uses most of what is known of the arguments.
        """
        asked = instance.specialization
        rows = [
            row
            for row in self._instances.get(base_id(instance), ())
            if set(row.divisible_by_16) <= set(asked.divisible_by_16)
            and set(row.equal_to_1) <= set(asked.equal_to_1)
        ]
        for target in targets:
            for row in rows:
                if target in row.code:
                    self.hits += 1
                    return self.artifact(row, target)
        if self.claimed(instance) is not None:
            self.misses += 1
        return None

    def artifact(self, row: InstanceRow, target: str) -> Artifact:
        """The code of one row as files. Raises E1033 for a damaged member."""
        code = row.code[target]
        metadata = Metadata.from_json(code.metadata)
        kind, _, arch = target.partition(":")
        stages = {stage: self._extract(name) for stage, name in code.stages.items()}
        return Artifact(self._extract(code.file), metadata, Target(kind, arch), stages=stages)

    def _extract(self, member: str) -> Path:
        return self._extracted.file(self.path, member, lambda: self._file.read(member))

    def instances_of(self, base: str) -> list[InstanceRow]:
        """All variants of an instance, those with most hints first."""
        return self._instances.get(base, [])

    def claimed(self, instance: Any) -> KernelRow | None:
        """What the bundle has under the kernel's text, or under its place."""
        if getattr(instance, "bundle", None) is self:
            row: KernelRow = instance.row
            return row
        return self._texts.get(text_digest(instance)) or self._places.get(instance.reference)

    def miss(self, instance: Any, row: KernelRow, targets: Sequence[str]) -> TeenyError:
        """The error for an instance of a kernel that the bundle holds otherwise."""
        same = self._instances.get(base_id(instance), [])
        if same:
            have = sorted({target for other in same for target in other.code})
            return (
                E1031.error(kernel=row.name, path=self.path, target=targets[0])
                .note(f"it is there for {', '.join(have)}")
                .help(f"build the bundle for it too: `--target {targets[0].partition(':')[2]}`")
            )
        error = E1030.error(kernel=row.name, path=self.path, asked=described(instance))
        if getattr(instance, "bundle", None) is None and row.text != text_digest(instance):
            error.note("the kernel's text, or a helper's, is not the one that was bundled")
        shown = dict.fromkeys(described_row(other) for other in row.instances)
        lines = list(shown)[:_SHOWN]
        more = len(shown) - len(lines)
        error.note("it holds " + "\n".join(lines) + (f"\nand {more} more" if more else ""))
        unsealed = ", or load it `sealed=False`" if self.sealed else ""
        return error.help(f"build the bundle with this instance too{unsealed}")


# --- the bundles of this process ------------------------------------------------------------------


class _Registry:
    """Bundles in the order in which launches look into them."""

    def __init__(self) -> None:
        self.loaded: list[Bundle] = []
        self.opened: dict[str, Bundle] = {}
        self.packages: dict[str, str] | None = None

    def open(self, path: str) -> Bundle:
        """The bundle at a path, opened once. Raises E1033, E0021."""
        with LOCK:
            known = self.opened.get(path)
            if known is None:
                known = self.opened[path] = Bundle(path)
        return known

    def active(self, module: str) -> list[Bundle]:
        """The bundles for the kernels of a module."""
        named = env.TEENY_BUNDLES.get()
        with LOCK:
            found = list(reversed(self.loaded))
        if named == _OFF:
            return found
        found += [self.open(path) for path in named.split(os.pathsep) if path]
        path = self.of_package(module.partition(".")[0])
        return [*found, self.open(path)] if path else found

    def of_package(self, package: str) -> str | None:
        """The file that an installed package registers: `package = "module:file.teeny"`."""
        with LOCK:
            if self.packages is None:
                self.packages = {}
                for point in devices.registered(devices.BUNDLES):
                    root = point.module.partition(".")[0]
                    self.packages.setdefault(root, f"{point.module}:{point.attr}")
            place = self.packages.get(package)
        return None if place is None else _resource(place)


_registry = _Registry()


def load(path: str | os.PathLike[str], *, sealed: bool | None = None) -> Bundle:
    """Let launches find their code in the bundle at `path`, before any other and any compiler.

    In a `sealed` bundle a kernel that it knows is never compiled: what is missing is an error. By
    default it is sealed if it was built so.

    Raises:
        LaunchError: E1033 for a file that is absent or damaged.
        CompileError: E0021 for one that a later version wrote.
    """
    found = Bundle(path, sealed=sealed)
    with LOCK:
        _registry.loaded = [b for b in _registry.loaded if b.path != found.path] + [found]
    return found


def unload(bundle: Bundle) -> None:
    """Let later launches look no more into a bundle; programs that it gave stay."""
    with LOCK:
        _registry.loaded = [other for other in _registry.loaded if other is not bundle]


def loaded() -> tuple[Bundle, ...]:
    """The bundles that `load` gave, in the order in which launches look into them."""
    return tuple(reversed(_registry.loaded))


def find(instance: Any, device: Any) -> Artifact | None:
    """The code of an instance for a device in any bundle; None when it must be compiled.

    Raises:
        LaunchError: E1030 and E1031 where a sealed bundle knows the kernel but not this, and where
            no compiler is installed; E1033.
    """
    if device.target.kind == "interpret":
        return None
    own: Bundle | None = getattr(instance, "bundle", None)
    bundles: list[Bundle] = [own] if own is not None else _registry.active(instance.reference[0])
    if not bundles:
        return None
    targets = [str(target) for target in getattr(device, "targets", None) or (device.target,)]
    for bundle in bundles:
        found = bundle.find(instance, targets)
        if found is not None:
            return found
    is_final = not devices.can_compile()
    for bundle in bundles:
        row = bundle.claimed(instance) if bundle.sealed or bundle is own or is_final else None
        if row is not None:
            error = bundle.miss(instance, row, targets)
            if is_final:
                error.help(f"or install a compiler: {devices.GET_COMPILER}")
            raise error
    return None


# --- instances as a bundle knows them -------------------------------------------------------------


def base_id(instance: Any) -> str:
    """The identity of an instance without its hints."""
    given: str | None = getattr(instance, "base", None)
    return given if given is not None else str(instance.with_hints().id)


def text_digest(instance: Any) -> str:
    """The identity of what lies below the entry point: the kernel's text, helpers, literals."""
    below = instance.source[: len(instance.source) - len(instance.entry_point_source)]
    return digest_of(below.encode())


def described(instance: Any) -> str:
    """Types, compile-time values and options of an instance in one line."""
    from teeny_macros.bundled import constant_text

    asked = instance.specialization
    types = tuple((name, type_.text) for name, type_ in asked.types)
    constants = tuple((name, constant_text(value)) for name, value in asked.constants)
    return _line(types, constants, tuple(instance.options._asdict().items()))


def described_row(row: InstanceRow) -> str:
    """The same for an instance in a bundle."""
    return _line(row.types, row.constants, row.options)


def _line(
    types: Sequence[tuple[str, str]],
    constants: Sequence[tuple[str, str]],
    options: Sequence[tuple[str, Any]],
) -> str:
    from teeny_macros.options import LaunchOptions

    usual = LaunchOptions()._asdict()
    parts = [f"{name}: {text}" for name, text in types]
    parts += [f"{name}={text}" for name, text in constants]
    parts += [f"{name}={value}" for name, value in options if usual.get(name) != value]
    return ", ".join(parts)


# --- files ----------------------------------------------------------------------------------------


class _Place(NamedTuple):
    folder: str
    process: int


class _Folder:
    """Members as files, in a folder of this process that goes with it."""

    def __init__(self) -> None:
        self._place: _Place | None = None
        self._files: dict[str, Path] = {}

    def file(self, bundle: str, member: str, read: Any) -> Path:
        """The path of a member, written when it is first asked for. Raises E1033."""
        from pathlib import Path

        with LOCK:
            known = self._files.get(member)
            if known is not None and known.is_file():
                return known
            data = read()
            try:
                path = Path(self._folder(), *member.split("/"))
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(data)
            except OSError as error:
                raise unusable(bundle, f"its code cannot be unpacked: {error}").help(
                    "set TMPDIR to a directory that can be written and has space"
                ) from error
            self._files[member] = path
            return path

    def _folder(self) -> str:
        if self._place is None or not os.path.isdir(self._place.folder):
            import tempfile
            import weakref

            self._place = _Place(tempfile.mkdtemp(prefix="teeny-bundle-"), os.getpid())
            weakref.finalize(self, _remove, self._place)
        return self._place.folder


def _remove(place: _Place) -> None:
    """Remove the folder, unless this is a fork of the process that made it."""
    if place.process == os.getpid():
        import shutil

        shutil.rmtree(place.folder, ignore_errors=True)


def _resource(place: str) -> str:
    """The path of `module:file`, without importing the module."""
    from importlib.util import find_spec

    module, _, file = place.partition(":")
    spec = find_spec(module)
    folders = list(spec.submodule_search_locations or ()) if spec is not None else []
    if not folders and spec is not None and spec.origin:
        folders = [os.path.dirname(spec.origin)]
    for folder in folders:
        path = os.path.join(folder, file)
        if os.path.isfile(path):
            return path
    raise unusable(place, f"the installed package of `{module}` has no such file")


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=LOCK.acquire, after_in_parent=LOCK.release, after_in_child=LOCK.release
    )
