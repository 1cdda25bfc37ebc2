"""`teeny check`: kernels and launches of a tree of modules, checked without importing them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from teeny_compiler.check.frontend import Extents
    from teeny_compiler.check.session import Summary
    from teeny_macros.target import Target


def check_paths(
    paths: Sequence[str],
    target: Target,
    *,
    strict: bool = False,
    bounds: bool = False,
    exclude: Sequence[str] = (),
    importing: bool = False,
    extents: Extents | None = None,
) -> Summary:
    """Check all kernels and launches in the files and folders `paths` for `target`.

    `strict` reports implicit casts as warnings, `bounds` decides whether accesses stay inside of
    their arrays. `exclude` are patterns of paths that are left out. `importing` also imports the
    modules, for kernels that are made at run time. `extents` are those of arrays, by the names of
    kernels and parameters, where a kernel declares none.

    Raises:
        ToolchainError: E0901-E0904 when there is no teenyc, E0910 when it ends, E0950 for a path
            that does not exist.
    """
    from teeny_compiler.check.session import Session
    from teeny_compiler.toolchain import find_teenyc

    toolchain = find_teenyc()
    session = Session()
    files = session.follow(paths, exclude)
    if importing:
        session.take_imported()
    options = (*(["--strict"] if strict else ()), *(["--bounds"] if bounds else ()))
    session.check(toolchain, target, options, strict=strict, extents=extents)
    return session.summary(files)
