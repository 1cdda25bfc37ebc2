"""Writing results: a file appears whole or not at all (written aside, then renamed)."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from teeny_macros.artifact import SUFFIXES
from teenyc.codes import E0708

if TYPE_CHECKING:
    from teeny_macros.target import Target
    from teenyc.driver import Result


def write_file(folder: str, name: str, text: str | bytes) -> str:
    """Write `text` (as UTF-8) or bytes and return the path.

    Raises E0708 when that is impossible.
    """
    path = Path(folder, name)
    aside = path.with_name(f"{name}.{os.getpid()}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        aside.write_bytes(text.encode() if isinstance(text, str) else text)
        aside.replace(path)
    except OSError as error:
        with suppress(OSError):  # it may never have come to be
            aside.unlink()
        raise E0708.error(path=path, reason=error.strerror or str(error)).help(
            "choose another folder with `-o`"
        ) from error
    return str(path)


def write_result(result: Result, target: Target, folder: str) -> dict[str, str]:
    """Write each text of `result`, the unit where it is to be interpreted, and last the metadata.

    Returns the paths by stage name, with `metadata` and `unit`. Raises E0708.
    """
    import json

    name = result.unit.entry_point
    paths = {
        stage: write_file(folder, name + SUFFIXES[stage], text)
        for stage, text in result.texts.items()
    }
    if result.cubin:
        paths["cubin"] = write_file(folder, name + SUFFIXES["cubin"], result.cubin)
    if result.data:
        paths["obj"] = write_file(folder, name + SUFFIXES["obj"], result.data)
    if target.kind == "interpret":
        paths["unit"] = write_file(folder, f"{name}.unit", result.unit.render())
    facts = json.dumps(result.metadata.to_json(), indent=1) + "\n"
    paths["metadata"] = write_file(folder, f"{name}.metadata", facts)
    return paths
