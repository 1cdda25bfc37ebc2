"""A manifest: a TOML file that says what goes into a bundle, for kernels that do not say it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from teeny_compiler.bundling.choice import (
    HINTS,
    Wanted,
    every_instance,
    instances_in,
    parse_targets,
    variants,
)
from teeny_compiler.codes import E0971

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from types import ModuleType

    from teeny_macros.target import Target

_TOP = {"bundle": dict, "kernel": list}
_BUNDLE = {"name": str, "target": list, "sealed": bool, "modules": list, "hints": str}
_KERNEL = {"kernel": str, "choices": dict, "target": list, "hints": str}


class Manifest(NamedTuple):
    """What a manifest says. `kernels` are its tables `[[kernel]]`."""

    name: str
    targets: tuple[Target, ...]
    sealed: bool
    modules: tuple[str, ...]
    hints: str
    kernels: tuple[Mapping[str, Any], ...]


class Finders(NamedTuple):
    """How names of a manifest become objects: modules, kernels, and values written as text."""

    module: Callable[[str], ModuleType]
    kernel: Callable[[str], Any]
    value: Callable[[str, str], Any]


def read_manifest(path: str) -> Manifest:
    """Read a manifest. Raises E0971, with what is wrong."""
    import tomllib

    try:
        with open(path, "rb") as file:
            data = tomllib.load(file)
    except OSError as error:
        raise E0971.error(path=path, reason=error.strerror or str(error)) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise E0971.error(path=path, reason=f"it is no TOML: {error}") from error
    _check(path, "the manifest", data, _TOP)
    bundle: Mapping[str, Any] = data.get("bundle", {})
    _check(path, "[bundle]", bundle, _BUNDLE)
    kernels = data.get("kernel", [])
    for row in kernels:
        _check(path, "[[kernel]]", row, _KERNEL)
        if "kernel" not in row:
            raise E0971.error(path=path, reason="a [[kernel]] lacks `kernel`").help(
                'for example `kernel = "mykernels.ops:vector_add"`'
            )
    return Manifest(
        bundle.get("name", os.path.splitext(os.path.basename(path))[0]),
        parse_targets(bundle.get("target", ())),
        bundle.get("sealed", False),
        tuple(bundle.get("modules", ())),
        bundle.get("hints", HINTS[0]),
        tuple(kernels),
    )


def wanted_by(manifest: Manifest, targets: Sequence[Target], find: Finders) -> list[Wanted]:
    """The instances of a manifest; `targets` hold where a kernel names none.

    Raises:
        ToolchainError: E0970 to E0972, and what finding kernels raises. LaunchError: what
            `instantiate` raises.
    """
    found = [
        Wanted(variant, listed.targets)
        for module in manifest.modules
        for listed in instances_in(find.module(module), targets)
        for variant in variants(listed.instance, manifest.hints)
    ]
    for row in manifest.kernels:
        own = parse_targets(row["target"]) if "target" in row else tuple(targets)
        choices = {
            name: [_value(find, name, one) for one in value]
            if isinstance(value, list)
            else _value(find, name, value)
            for name, value in row.get("choices", {}).items()
        }
        for instance in every_instance(find.kernel(row["kernel"]), **choices):
            hints = row.get("hints", manifest.hints)
            found += [Wanted(variant, own) for variant in variants(instance, hints)]
    return found


def _value(find: Finders, name: str, value: Any) -> Any:
    return find.value(name, value) if isinstance(value, str) else value


def _check(path: str, where: str, data: Any, known: Mapping[str, type]) -> None:
    """Raise E0971 for an entry that is not known, or is of another type."""
    for name, value in data.items() if isinstance(data, Mapping) else ():
        wanted = known.get(name)
        texts: Any = value if wanted is list and name != "kernel" else ()
        if wanted is None:
            names = ", ".join(f"`{other}`" for other in known)
            raise E0971.error(path=path, reason=f"{where} has an unknown `{name}`").help(
                f"it may have {names}"
            )
        if not isinstance(value, wanted) or (name == "hints" and value not in HINTS):
            shown = (
                " or ".join(f'"{one}"' for one in HINTS)
                if name == "hints"
                else (f"a {wanted.__name__}")
            )
            raise E0971.error(path=path, reason=f"`{name}` of {where} is not {shown}")
        if any(not isinstance(one, str) for one in texts):
            raise E0971.error(path=path, reason=f"`{name}` of {where} is not a list of texts")
