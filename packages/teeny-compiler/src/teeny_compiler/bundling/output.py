"""Files that are written where a user says: folders are made, what fails is a coded error."""

from __future__ import annotations

import contextlib
import errno
import os
from typing import TYPE_CHECKING

from teeny_compiler.codes import E0935

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextlib.contextmanager
def writing(path: str | os.PathLike[str]) -> Iterator[str]:
    """The path, for a `with` block that writes it; its folder is made. Raises E0935."""
    where = os.fspath(path)
    try:
        if os.path.isdir(where):
            raise E0935.error(path=where, reason="it is a folder").help("name a file in it")
        folder = os.path.dirname(os.path.abspath(where))
        os.makedirs(folder, exist_ok=True)
        if not os.access(folder, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        yield where
    except OSError as error:
        reason = error.strerror or str(error)
        raise (
            E0935.error(path=where, reason=f"{reason[:1].lower()}{reason[1:]}").help(
                "name another place, with `--output`"
            )
        ) from error


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write a text file, lines ending as on every machine. Raises E0935."""
    with writing(path) as where, open(where, "w", encoding="utf-8", newline="\n") as file:
        file.write(text)


def write_bytes(path: str | os.PathLike[str], content: bytes) -> None:
    """Write a file. Raises E0935."""
    with writing(path) as where, open(where, "wb") as file:
        file.write(content)
