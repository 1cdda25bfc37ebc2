"""The command as people and scripts meet it: help, completion, JSON."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from teeny_compiler.cli.app import make_app
from teeny_compiler.cli.teaching import cache_keys

# What these print is text for people or files for compilers, or has a format option of its own.
WITHOUT_JSON = {"check", "bundle extract", "bundle stub", "bundle header"}
RUN = "import sys; from teeny_compiler.cli import main; sys.exit(main())"


def commands(command: Any = None, path: tuple[str, ...] = ()) -> Iterator[tuple[str, Any]]:
    """Every command that is no group, by its words."""
    command = command or make_app()
    for name, found in getattr(command, "commands", {}).items():
        if hasattr(found, "commands"):
            yield from commands(found, (*path, name))
        else:
            yield " ".join((*path, name)), found


def teeny(*arguments: str, **env: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", RUN, *arguments],
        env=os.environ | env,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_help_is_plain_when_piped_and_shows_examples() -> None:
    for words in ((), ("compile",), ("cache",), ("toolchain", "install")):
        text = teeny(*words, "--help")
        assert "Examples:\n    teeny " in text
        assert "\x1b" not in text
        assert text.isascii()  # no boxes


def test_every_command_says_what_it_does() -> None:
    for name, command in commands():
        assert command.help, name
        assert command.help.splitlines()[0].rstrip().endswith("."), name


def test_every_command_that_prints_what_a_script_wants_prints_json() -> None:
    names = {
        name
        for name, command in commands()
        if not any("--json" in parameter.opts for parameter in command.params)
    }
    assert names <= WITHOUT_JSON


def test_shells_complete_commands_targets_keys_and_toolchains(
    teenyc: Any, cache_dir: Path, make_instance: Any, tmp_path: Path
) -> None:
    from teeny_compiler import Target, compile_kernel

    key = compile_kernel(make_instance(), Target.cuda("sm_90")).path.parent.name
    assert cache_keys(key[:2]) == [(key[:12], "scale for cuda:sm_90")]
    (tmp_path / "teeny" / "toolchains" / "teenyc-7").mkdir(parents=True)
    home = str(tmp_path)

    def complete(text: str) -> list[str]:
        at = str(len(text.split(" ")) - 1)
        said = teeny(_TEENY_COMPLETE="complete_bash", COMP_WORDS=text, COMP_CWORD=at,
                     XDG_DATA_HOME=home)  # fmt: skip
        return said.split()

    assert complete("teeny tool") == ["toolchain"]
    assert "sm_90" in complete("teeny compile -t sm_9")
    assert complete(f"teeny cache show {key[:2]}") == [key[:12]]
    if sys.platform == "linux":
        assert complete("teeny toolchain default tee") == ["teenyc-7"]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_shells_get_their_script(shell: str) -> None:
    assert "_TEENY_COMPLETE" in teeny(_TEENY_COMPLETE=f"source_{shell}")
