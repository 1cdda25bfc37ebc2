"""Checks, rehearses and uploads what `nox -s build` made: wheels and sdists of all packages.

    python tools/release.py check DIST             metadata, changelogs, versions
    python tools/release.py notes                  put the fragments of changelog.d/ into changelogs
    python tools/release.py upload DIST --index URL [--really]
    python tools/release.py rehearse DIST          upload to a server here, install from it

Without `--really` an upload only says what it would do. Credentials are twine's own variables,
TWINE_USERNAME and TWINE_PASSWORD; nothing is asked for.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import subprocess
import sys
import tomllib
import urllib.error
import urllib.request
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from email import message_from_bytes
from email.message import Message
from pathlib import Path
from typing import NamedTuple
from zipfile import ZipFile

ROOT = Path(__file__).parents[1]
# In the order of their dependencies: an index never has a package whose needs it lacks.
PACKAGES = (
    "teeny-macros",
    "teeny-triton",
    "teenyc",
    "teeny-compiler",
    "teeny-cuda",
    "teeny-cpu",
    "teeny-kernels",
)
KINDS = ("added", "changed", "fixed", "removed")
UNRELEASED = "unreleased"
_REQUIRED = ("Summary", "License-Expression", "License-File", "Requires-Python", "Keywords",
             "Description-Content-Type")  # fmt: skip
_CLASSIFIERS = (
    "Development Status ::",
    "Programming Language :: Python :: 3.11",
    "Typing :: Typed",
)


class Release(NamedTuple):
    """One package as it was built."""

    name: str
    version: str
    wheel: Path
    sdist: Path
    metadata: Message


class ReleaseError(Exception):
    """Something that must not be released; the text says what."""


def find_releases(dist: Path) -> list[Release]:
    """What lies in a folder, in the order of uploading. Raises ReleaseError unless it is all."""
    found: list[Release] = []
    for name in PACKAGES:
        stem = name.replace("-", "_")
        wheels, sdists = sorted(dist.glob(f"{stem}-*.whl")), sorted(dist.glob(f"{stem}-*.tar.gz"))
        if len(wheels) != 1 or len(sdists) != 1:
            raise ReleaseError(f"{name}: {len(wheels)} wheels and {len(sdists)} sdists in {dist}")
        with ZipFile(wheels[0]) as archive:
            (member,) = (n for n in archive.namelist() if n.endswith(".dist-info/METADATA"))
            metadata = message_from_bytes(archive.read(member))
        found.append(Release(name, str(metadata["Version"]), wheels[0], sdists[0], metadata))
    return found


# --- checks ---------------------------------------------------------------------------------------


def faults_of(release: Release, *, for_upload: bool = False) -> list[str]:
    """What a package lacks. For an upload also what an unreleased one may lack."""
    metadata = release.metadata
    faults = [f"lacks {field}" for field in _REQUIRED if not metadata[field]]
    if metadata["Description-Content-Type"] not in (None, "text/markdown"):
        faults.append("its description is not Markdown")
    classifiers = metadata.get_all("Classifier") or []
    faults += [
        f"lacks a classifier `{wanted}`"
        for wanted in _CLASSIFIERS
        if not any(str(row).startswith(wanted) for row in classifiers)
    ]
    if any(str(row).startswith("License ::") for row in classifiers):
        faults.append("has a license classifier beside its license expression (PEP 639)")
    folder = ROOT / "packages" / release.name
    project = tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    if project["version"] != release.version:
        faults.append(f"is {release.version}, and its pyproject.toml says {project['version']}")
    heading = _heading_of(folder / "CHANGELOG.md", release.version)
    if heading is None:
        faults.append(f"its changelog has no section {release.version}")
    if for_upload:
        if not metadata.get_all("Project-URL"):
            faults.append("lacks Project-URL: fill in [project.urls]")
        if heading is not None and UNRELEASED in heading:
            faults.append("its changelog says unreleased: `python tools/release.py notes`")
    return faults


def check(dist: Path, *, for_upload: bool = False) -> list[Release]:
    """The packages of a folder, each checked, their descriptions rendered as an index does it.

    Raises ReleaseError.
    """
    releases = find_releases(dist)
    lines = [
        f"{release.name} {fault}"
        for release in releases
        for fault in faults_of(release, for_upload=for_upload)
    ]
    versions = {release.version.rpartition(".")[0] for release in releases}
    if len(versions) != 1:
        lines.append(f"the packages are of several versions: {', '.join(sorted(versions))}")
    files = [str(path) for release in releases for path in (release.wheel, release.sdist)]
    done = _twine("check", "--strict", *files)
    if done.returncode:
        lines.append(f"twine check: {done.stdout.strip()}")
    if lines:
        raise ReleaseError("\n".join(lines))
    return releases


def _heading_of(changelog: Path, version: str) -> str | None:
    lines = changelog.read_text(encoding="utf-8").splitlines()
    return next((line for line in lines if line.startswith(f"## {version}")), None)


# --- changelogs -----------------------------------------------------------------------------------


def gather_notes(root: Path = ROOT, today: str | None = None) -> list[Path]:
    """Put every fragment into its package's changelog, date the section, remove the fragments.

    Raises ReleaseError for a fragment whose name says no package or kind.
    """
    day = today or datetime.now(tz=UTC).date().isoformat()
    notes: dict[str, dict[str, list[str]]] = {name: {} for name in PACKAGES}
    fragments = sorted(p for p in (root / "changelog.d").glob("*.md") if p.name != "README.md")
    for path in fragments:
        package, kind, *rest = path.name.removesuffix(".md").split(".")
        if package not in notes or kind not in KINDS or not rest:
            raise ReleaseError(f"{path.name} is not PACKAGE.KIND.WORDS.md")
        text = path.read_text(encoding="utf-8").strip().removeprefix(f"{package}: ")
        notes[package].setdefault(kind, []).append(text)
    changed: list[Path] = []
    for package, kinds in notes.items():
        path = root / "packages" / package / "CHANGELOG.md"
        text = path.read_text(encoding="utf-8")
        head, mark, rest = text.partition(f" ({UNRELEASED})\n")
        if not mark:
            if kinds:
                raise ReleaseError(f"{package}: its changelog has no unreleased section")
            continue
        section, heading, later = rest.partition("\n## ")
        parts = [section.strip("\n")] + [
            f"### {kind.capitalize()}\n\n" + "\n".join(f"* {_indented(row)}" for row in kinds[kind])
            for kind in KINDS
            if kind in kinds
        ]
        body = "".join(f"\n{part}\n" for part in parts if part)
        path.write_text(f"{head} ({day})\n{body}{heading}{later}", encoding="utf-8")
        changed.append(path)
    for path in fragments:
        path.unlink()
    return changed


def _indented(text: str) -> str:
    return "\n  ".join(text.splitlines())


# --- uploading ------------------------------------------------------------------------------------


def plan(releases: Iterable[Release], index: str) -> list[tuple[Path, bool]]:
    """The files in the order of uploading, and whether the index has each already."""
    found: list[tuple[Path, bool]] = []
    for release in releases:
        known = _files_at(index, release.name)
        found += [(path, path.name in known) for path in (release.sdist, release.wheel)]
    return found


def upload(dist: Path, index: str, *, really: bool, allow_incomplete: bool = False) -> int:
    """Upload what the index lacks, or say what would be uploaded. Returns how many files.

    `index` is the address of uploads. Raises ReleaseError, also without credentials.
    """
    releases = check(dist, for_upload=really and not allow_incomplete)
    if not really:
        for release in releases:
            for fault in faults_of(release, for_upload=True):
                print(f"before an upload: {release.name} {fault}")
    missing = [path for path, known in plan(releases, index) if not known]
    for path in missing:
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        verb = "uploading" if really else "would upload"
        print(f"{verb} {path.name}  {_size(path.stat().st_size)}  sha256 {digest[:12]}")
    if not missing:
        print(f"{index} has all of it")
    if really and missing:
        if not (os.environ.get("TWINE_USERNAME") and os.environ.get("TWINE_PASSWORD")):
            raise ReleaseError("set TWINE_USERNAME and TWINE_PASSWORD")
        done = _twine(
            "upload", "--non-interactive", "--disable-progress-bar", "--repository-url", index,
            *map(str, missing),
        )  # fmt: skip
        if done.returncode:
            raise ReleaseError(f"twine upload: {(done.stdout + done.stderr).strip()}")
    elif missing:
        print("nothing was uploaded: say `--upload` to do it")
    return len(missing)


def _files_at(index: str, name: str) -> set[str]:
    """The names of the files that an index lists for a package; none where it cannot be asked."""
    base = index.rstrip("/").removesuffix("/legacy")
    for address in (f"{base}/simple/{name}/", f"{base}/{name}/"):
        try:
            with urllib.request.urlopen(address, timeout=30) as answer:  # noqa: S310 - as given
                if answer.geturl().rstrip("/") != address.rstrip("/"):
                    continue  # sent on to another index
                page = answer.read().decode(errors="replace")
        except (urllib.error.URLError, ValueError, OSError):
            continue
        return {part.partition("<")[0].strip() for part in page.split(">")}
    return set()


def _twine(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "twine", *arguments],
        env={**os.environ, "NO_COLOR": "1", "TERM": "dumb"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )


def _size(size: int) -> str:
    return f"{size / 2**20:.1f} MiB" if size >= 2**20 else f"{size / 2**10:.0f} KiB"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one of the commands; 1 when something must not be released."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    commands = parser.add_subparsers(dest="command", required=True)
    for name in ("check", "upload", "rehearse"):
        command = commands.add_parser(name)
        command.add_argument("dist", type=Path)
        if name == "upload":
            command.add_argument("--index", required=True)
            command.add_argument("--really", action="store_true")
        if name == "rehearse":
            command.add_argument("--without-tests", action="store_true")
            command.add_argument("--package", action="append", choices=PACKAGES)
    commands.add_parser("notes")
    given = parser.parse_args(arguments)
    try:
        if given.command == "check":
            for release in check(given.dist):
                print(f"{release.name} {release.version}: whole")
        elif given.command == "notes":
            for path in gather_notes():
                print(path.relative_to(ROOT))
        elif given.command == "upload":
            upload(given.dist, given.index, really=given.really)
        else:
            from rehearsal import rehearse

            rehearse(given.dist, given.package or PACKAGES, tests=not given.without_tests)
    except ReleaseError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    # Under its own name, which rehearsal.py imports too.
    from release import main as run

    sys.exit(run())
