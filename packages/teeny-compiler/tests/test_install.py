"""`teeny toolchain install`: from an index server on this machine, whole or not at all."""

from __future__ import annotations

import base64
import contextlib
import functools
import hashlib
import http.server
import json
import os
import signal
import subprocess
import sys
import threading
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from teeny_compiler import Toolchain, cli, doctor, install, places, toolchain, versions
from teeny_macros.diagnostics import TeenyError

pytestmark = [
    pytest.mark.skipif(sys.platform == "win32", reason="the fake teenyc is a POSIX command"),
    pytest.mark.timeout(300),
]
FAKE_TEENYC = """\
import sys
def main():
    from importlib.metadata import PackageNotFoundError, version
    print("teenyc", version("teenyc"))
    try:
        print("triton:", version("triton"), "(supported: >=3.6,<3.10)")
    except PackageNotFoundError:
        print("triton: not installed")
"""


def wheel(
    folder: Path,
    name: str,
    version: str,
    *,
    requires: tuple[str, ...] = (),
    extras: tuple[str, ...] = (),
    module: str = "",
    script: str = "",
) -> Path:
    """A wheel of one module."""
    info = f"{name}-{version}.dist-info"
    metadata = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
    metadata += "".join(f"Provides-Extra: {extra}\n" for extra in extras)
    metadata += "".join(f"Requires-Dist: {row}\n" for row in requires)
    files = {
        f"{name}/__init__.py": module,
        f"{info}/METADATA": metadata,
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\n"
        "Tag: py3-none-any\n",
    }
    if script:
        files[f"{info}/entry_points.txt"] = f"[console_scripts]\n{script}\n"
    rows = []
    for path, text in files.items():
        digest = hashlib.sha256(text.encode()).digest()
        encoded = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
        rows.append(f"{path},sha256={encoded},{len(text.encode())}\n")
    rows.append(f"{info}/RECORD,,\n")
    files[f"{info}/RECORD"] = "".join(rows)
    path = folder / f"{name}-{version}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for inner, text in files.items():
            archive.writestr(inner, text)
    return path


def add_teenyc(folder: Path, version: str, triton: str = "3.8.0") -> None:
    wheel(
        folder,
        "teenyc",
        version,
        requires=(f"triton=={triton} ; extra == 'cuda'",),
        extras=("cuda",),
        module=FAKE_TEENYC,
        script="teenyc = teenyc:main",
    )


class Index(http.server.SimpleHTTPRequestHandler):
    """A simple index: the page of a project links to all its wheels."""

    def do_GET(self) -> None:
        parts = [part for part in self.path.split("/") if part]
        if parts[:1] == ["simple"] and len(parts) == 2:
            names = sorted(Path(self.directory).glob(f"{parts[1].replace('-', '_')}-*.whl"))
            if not names:
                self.send_error(404)
                return
            page = "".join(f'<a href="/{path.name}">{path.name}</a>\n' for path in names).encode()
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.send_header("Content-Length", str(len(page)))
            self.end_headers()
            self.wfile.write(page)
            return
        super().do_GET()

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheels of the index: two teenycs, one that asks for a Triton that is too old."""
    folder = tmp_path_factory.mktemp("wheels")
    add_teenyc(folder, "0.1.0")
    add_teenyc(folder, "0.2.0")
    add_teenyc(folder, "0.0.9", triton="3.5.1")
    for version in ("3.8.0", "3.5.1"):
        wheel(folder, "triton", version)
    return folder


@contextlib.contextmanager
def serve(folder: Path) -> Iterator[str]:
    """An index server over a folder of wheels; gives its URL."""
    handler = functools.partial(Index, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}/simple"
        server.shutdown()
        thread.join()


@pytest.fixture
def index(wheels: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The index that pip is configured for; nothing else is reachable through it."""
    for name in list(os.environ):
        if name.upper().startswith("PIP_") or name.upper().endswith("_PROXY"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_DISABLE_PIP_VERSION_CHECK", "1")
    monkeypatch.setenv("PIP_NO_CACHE_DIR", "1")
    with serve(wheels) as url:
        monkeypatch.setenv("PIP_INDEX_URL", url)
        yield url


@pytest.fixture(autouse=True)
def chains(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of toolchains, empty; and no teenyc in the scripts folder."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setattr(places, "scripts_folders", lambda: (str(tmp_path / "scripts"),))
    return Path(places.toolchains_folder())


def visible(chains: Path) -> list[str]:
    return sorted(path.name for path in chains.iterdir()) if chains.is_dir() else []


def test_a_toolchain_is_installed_listed_chosen_found_and_removed(
    index: str, chains: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["toolchain", "install", "0.1.0"]) == 0
    out, err = capsys.readouterr()
    path = chains / "teenyc-0.1.0" / "bin" / "teenyc"
    assert out == f"{path}\n"
    assert "installed teenyc-0.1.0; it is the default now" in err
    assert toolchain.find_teenyc().path == str(path)
    assert dict(versions.versions_of(toolchain.find_teenyc()))["triton"] == "3.8.0"
    assert versions.ask(toolchain.find_teenyc())["teenyc"] == "0.1.0"

    assert cli.main(["toolchain", "install", "--json", "--name", "teenyc-new"]) == 0
    made = json.loads(capsys.readouterr().out)
    assert made["name"] == "teenyc-new"
    assert made["versions"]["teenyc"] == "0.2.0"  # the latest
    assert made["default"] is False

    assert cli.main(["toolchain", "list", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert [(row["name"], row["default"]) for row in rows] == [
        ("teenyc-0.1.0", True),
        ("teenyc-new", False),
    ]
    assert cli.main(["toolchain", "list"]) == 0
    assert capsys.readouterr().out.startswith("* teenyc-0.1.0  teenyc 0.1.0, triton 3.8.0")

    assert cli.main(["toolchain", "install", "0.1.0"]) == 1
    assert "error[E0907]" in capsys.readouterr().err

    assert cli.main(["toolchain", "remove", "teenyc-0.1.0"]) == 0
    assert "it was the default" in capsys.readouterr().err
    assert visible(chains) == ["teenyc-new"]
    assert toolchain.find_teenyc().name == "teenyc-new"
    assert cli.main(["toolchain", "remove", "teenyc-0.1.0"]) == 1
    assert "error[E0904]" in capsys.readouterr().err


def test_without_triton_it_is_a_toolchain_for_cpus(index: str) -> None:
    made = install.install(install.Wanted(cuda=False), quiet=True)
    assert made.name == "teenyc-0.2.0"
    assert dict(versions.versions_of(made))["triton"] == "absent"


def test_a_folder_of_wheels_needs_no_index(
    wheels: Path, chains: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.delenv("PIP_FIND_LINKS", raising=False)
    made = install.install(install.Wanted("0.2.0", source=str(wheels)), quiet=True)
    assert dict(versions.versions_of(made))["teenyc"] == "0.2.0"


def test_a_version_that_is_not_there_leaves_nothing(
    index: str, chains: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["toolchain", "install", "7.0"]) == 1
    err = capsys.readouterr().err
    assert "error[E0906]" in err
    assert "from versions: 0.0.9, 0.1.0, 0.2.0" in err
    assert visible(chains) == []


def test_a_triton_that_is_not_supported_is_refused_by_name(index: str, chains: Path) -> None:
    with pytest.raises(TeenyError) as caught:
        install.install(install.Wanted("0.0.9"), quiet=True)
    assert caught.value.code == "E0908"
    assert "Triton 3.5.1" in str(caught.value)
    assert ">=3.6,<3.10" in str(caught.value)
    assert visible(chains) == []


def test_an_interrupt_leaves_nothing(
    index: str, chains: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(_: Toolchain) -> None:
        assert visible(chains) == ["teenyc-0.1.0"]
        assert toolchain.list_toolchains() == []  # what is not whole is not seen
        with pytest.raises(TeenyError) as caught:
            install.install(install.Wanted("0.1.0"), quiet=True)
        assert caught.value.code == "E0907"
        assert "installing it now" in str(caught.value)
        raise KeyboardInterrupt

    monkeypatch.setattr(install, "require_supported", interrupt)
    monkeypatch.setattr(install, "_sweep", lambda _: None)
    with pytest.raises(KeyboardInterrupt):
        install.install(install.Wanted("0.1.0"), quiet=True)
    assert visible(chains) == []


def test_an_install_that_is_killed_is_not_seen_and_swept_by_the_next(
    index: str, chains: Path, tmp_path: Path
) -> None:
    text = """
import os, signal, sys
from teeny_compiler import install
install._resolve = lambda pip, wanted: "0.1.0"
real = install._run
def run(command, name, *, quiet):
    if "install" in command:
        os.kill(os.getpid(), signal.SIGKILL)
    return real(command, name, quiet=quiet)
install._run = run
install.install(install.Wanted("0.1.0"), quiet=True)
"""
    done = subprocess.run([sys.executable, "-c", text], check=False)
    assert done.returncode == -signal.SIGKILL
    assert visible(chains) == ["teenyc-0.1.0"]
    assert toolchain.list_toolchains() == []
    with pytest.raises(TeenyError) as caught:
        toolchain.find_teenyc()
    assert caught.value.code == "E0901"
    made = install.install(install.Wanted("0.1.0"), quiet=True)
    assert toolchain.list_toolchains() == [made]


def test_progress_of_pip_is_shown_on_standard_error(index: str) -> None:
    text = "from teeny_compiler import cli; cli.main(['toolchain', 'install', '0.2.0'])"
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True)
    assert done.stdout.count("\n") == 1
    for words in ("making an environment", "installing teenyc[cuda] 0.2.0", "Collecting triton"):
        assert words in done.stderr


def test_doctor_names_a_triton_that_is_not_supported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(versions, "versions_of", lambda *_: (
        ("teenyc", "0.1.0"), ("triton", "3.5.1"), ("llvmlite", "absent")))  # fmt: skip
    monkeypatch.setattr(versions, "ask", lambda _: {"supported": ">=3.6,<3.10"})
    monkeypatch.setattr(toolchain, "find_teenyc", lambda: Toolchain("/bin/teenyc", "a test"))
    rows = {row.part: row for row in doctor.examine()}
    assert rows["libtriton"].state == "broken"
    assert "3.5.1 is not supported: teenyc drives >=3.6,<3.10" in rows["libtriton"].found
    assert rows["llvmlite"].state == "absent"
    assert not doctor.is_healthy(list(rows.values()))


@pytest.mark.parametrize(
    ("version", "fits"),
    [("3.5.1", False), ("3.6.0", True), ("3.9.9+git", True), ("3.10.0", False), ("4.0", False)],
)
def test_versions_are_compared_as_numbers(version: str, fits: bool) -> None:
    assert versions.is_within(version, ">=3.6,<3.10") is fits
    assert versions.is_within(version, "any")


def test_a_server_that_does_not_answer_is_pips_own_words(
    chains: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.delenv("PIP_FIND_LINKS", raising=False)
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")
    monkeypatch.setenv("PIP_RETRIES", "0")
    start = time.monotonic()
    with pytest.raises(TeenyError) as caught:
        install.install(install.Wanted("0.1.0"), quiet=True)
    assert caught.value.code == "E0906"
    assert "No matching distribution" in str(caught.value)
    assert time.monotonic() - start < 60
