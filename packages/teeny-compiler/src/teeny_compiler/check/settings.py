"""`[tool.teeny.check]` of a project's `pyproject.toml`: what the command line leaves out."""

from __future__ import annotations

import os
from typing import Any, NamedTuple

from teeny_compiler.codes import E0954

_KINDS: dict[str, type] = {
    "paths": list, "exclude": list, "target": str, "strict": bool, "bounds": bool, "format": str,
}  # fmt: skip


class Settings(NamedTuple):
    """What holds where the command line says nothing; `exclude` are patterns of paths."""

    paths: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    target: str = "sm_90"
    strict: bool = False
    bounds: bool = False
    format: str = "human"


def read_settings(folder: str = os.curdir) -> Settings:
    """The settings of the project whose `pyproject.toml` stands in `folder`.

    Raises:
        ToolchainError: E0954 for a key that is not known, or a value of another type.
    """
    import tomllib

    path = os.path.join(folder, "pyproject.toml")
    try:
        with open(path, "rb") as file:
            data = tomllib.load(file)
    except OSError:
        return Settings()
    except tomllib.TOMLDecodeError as error:
        raise E0954.error(path=path, what=str(error)).help("correct the file") from None
    table = data.get("tool", {}).get("teeny", {}).get("check", {})
    found: dict[str, Any] = {}
    for key, value in table.items():
        kind = _KINDS.get(key)
        if kind is None:
            raise E0954.error(path=path, what=f"there is no setting `{key}`").help(
                f"the settings are {', '.join(f'`{name}`' for name in _KINDS)}"
            )
        if not isinstance(value, kind):
            raise E0954.error(path=path, what=f"`{key}` is no {kind.__name__}").help(
                f"for example `{key} = {'[...]' if kind is list else '...'}`"
            )
        found[key] = tuple(map(str, value)) if isinstance(value, list) else value
    return Settings(**found)
