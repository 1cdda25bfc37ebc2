"""Writing results: a file appears whole or not at all (written aside, then renamed)."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from teeny_macros.artifact import SUFFIXES
from teenyc.codes import E0708

if TYPE_CHECKING:
    from teeny_macros.target import Target
    from teenyc.driver import Result


def write_file(folder: str, name: str, text: str) -> str:
    """Write `text` (UTF-8, `\\n` line ends) and return the path. Raises E0708 when that is impossible."""
    path = os.path.join(folder, name)
    aside = f"{path}.{os.getpid()}.part"
    try:
        os.makedirs(folder, exist_ok=True)
        with open(aside, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
        os.replace(aside, path)
    except OSError as error:
        try:
            os.unlink(aside)
        except OSError:
            pass  # it never came to be
        raise E0708.error(path=path, reason=error.strerror or str(error)).help(
            "choose another folder with `-o`"
        ) from error
    return path


def write_result(result: Result, target: Target, folder: str) -> dict[str, str]:
    """Write each text of `result`, the unit where it is to be interpreted, and last the metadata.

    Returns the paths by stage name, with `metadata` and `unit`. Raises E0708.
    """
    import json

    name = result.unit.entry_point
    paths = {
        stage: write_file(folder, name + SUFFIXES[stage], text) for stage, text in result.texts.items()
    }
    if target.kind == "interpret":
        paths["unit"] = write_file(folder, f"{name}.unit", result.unit.render())
    facts = json.dumps(result.metadata.to_json(), indent=1) + "\n"
    paths["metadata"] = write_file(folder, f"{name}.metadata", facts)
    return paths
