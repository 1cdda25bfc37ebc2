"""Runs every code block of the documentation and of the README as a reader would.

The `py` blocks of a page run in order in one process, our own commands in `sh` blocks after them;
the `text`, `mlir`, `llvm` or `ptx` block right after one is all that it prints, or the coded error
that it ends with. A page with `<!-- needs triton 3.9 -->` shows what that version writes.
`--update-golden` puts the real output into the pages.
"""

from __future__ import annotations

import tomllib
from importlib import metadata
from pathlib import Path

import pytest

import doc_pages
from doc_pages import ROOT

PAGES = sorted([ROOT / "README.md", *ROOT.glob("docs/**/*.md")])
CHECKED = {"py", "sh", "toml", *doc_pages.OUTPUTS}
# Pages whose `python` blocks need a GPU; tests marked `gpu` run them.
ON_A_GPU = {"docs/on-a-gpu.md"}
NVIDIA = {"compute-sanitizer", "ncu", "ncu-ui", "nsys"}
COMMANDS = doc_pages.OWN_COMMANDS | {"cd", "git", "ls", "nox", "pip", "python", ".ci/run"} | NVIDIA


def name(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


RUN = [page for page in PAGES if any(doc_pages.is_run(block) for block in doc_pages.blocks(page))]


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_every_block_names_a_language_that_is_checked(page: Path) -> None:
    found = doc_pages.blocks(page)
    checked = CHECKED | ({"python"} if name(page) in ON_A_GPU else set())
    assert [block.line for block in found if block.language not in checked] == []
    assert "```" not in doc_pages.FENCE.sub("", page.read_text(encoding="utf-8"))


@pytest.mark.parametrize("page", RUN, ids=name)
def test_a_page_runs_and_shows_what_comes_out(
    page: Path, tmp_path: Path, update_golden: bool
) -> None:
    require(page)
    shown = doc_pages.run(page, tmp_path)
    broken = [one.output for one in shown if "error[I0000]" in one.output]
    assert not broken, "\n".join(broken)
    wrong = [one for one in shown if not one.holds]
    if update_golden:
        doc_pages.rewrite(page, shown)
        wrong = [one for one in wrong if one.expected is None]
    found = [f"{name(page)}:{one.block.line} gives\n{one.output}" for one in wrong]
    assert not found, "\n".join(found)


def require(page: Path) -> None:
    """Skip a page whose output comes from a version of a distribution that is not here."""
    needed = doc_pages.needs(page)
    if needed is None:
        return
    distribution, version = needed
    try:
        found = metadata.version(distribution)
    except metadata.PackageNotFoundError:
        pytest.skip(f"{distribution} is not installed")
    if not f"{found}.".startswith(f"{version}."):
        pytest.skip(f"the page shows {distribution} {version}, and {found} is installed")


def test_pages_show_the_newest_triton_that_is_supported() -> None:
    noxfile = (ROOT / "noxfile.py").read_text(encoding="utf-8")
    for page in PAGES:
        needed = doc_pages.needs(page)
        if needed is not None:
            assert needed[0] == "triton", name(page)
            assert f'"{needed[1]}")\nEXTRAS' in noxfile, f"{name(page)} shows {needed[1]}"


def test_the_settings_that_pages_show_are_toml() -> None:
    found = [
        block for page in PAGES for block in doc_pages.blocks(page) if block.language == "toml"
    ]
    tables = [tomllib.loads(block.text) for block in found]
    tools = [table["tool"] for table in tables if "tool" in table]
    assert [tool["mypy"]["strict"] for tool in tools if "mypy" in tool] == [True]
    assert all(tool.keys() & {"mypy", "teeny"} for tool in tools)
    assert all(table.keys() & {"tool", "project", "bundle"} for table in tables)


def test_the_manifest_that_a_page_shows_is_read(tmp_path: Path) -> None:
    from teeny_compiler.bundling.manifest import read_manifest

    page = ROOT / "docs" / "bundles.md"
    (text,) = (b.text for b in doc_pages.blocks(page) if b.text.startswith("[bundle]"))
    path = tmp_path / "manifest.toml"
    path.write_text(text, encoding="utf-8")
    found = read_manifest(str(path))
    assert found.sealed
    assert [row["kernel"] for row in found.kernels] == [
        "mykernels.ops:scale",
        "mykernels.attention:forward",
    ]


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_the_commands_of_a_page_exist(page: Path) -> None:
    found = [block for block in doc_pages.blocks(page) if block.language == "sh"]
    for words in [words for block in found for words in doc_pages.commands(block)]:
        assert words[0] in COMMANDS, words
        if words[0] in doc_pages.OWN_COMMANDS:
            assert doc_pages.own_command(words[0]).is_file()


def test_an_output_that_the_page_does_not_show_is_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("```py\nprint(1)\n```\n\n```text\n2\n```\n\n```py\nprint(3)\n```\n", "utf-8")
    assert [one.holds for one in doc_pages.run(page, tmp_path)] == [False, False]
    doc_pages.rewrite(page, doc_pages.run(page, tmp_path))
    assert [one.holds for one in doc_pages.run(page, tmp_path)] == [True, False]
