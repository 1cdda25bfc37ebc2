"""`python -m stubgen` writes the stubs; with `--check` it fails and names those out of date."""

from __future__ import annotations

import sys
from pathlib import Path

from stubgen.reader import read_module
from stubgen.writer import module_stub, package_stub, part_stub, surface

PACKAGE = Path(__file__).parents[1] / "src" / "teeny_triton"
# Views of the flat module that Triton's users know, and the files whose functions each shows.
PARTS = ("math", "extra/libdevice", "extra/cuda/libdevice")
FAMILIES = ("math", "libdevice")
HOST = (
    "Const",
    "DeviceArray",
    "Extent",
    "TRITON_MAX_TENSOR_NUMEL",
    "auto",
    "constexpr",
    "descriptor_type",
    "tensor_descriptor",
    "typed",
)


def outputs() -> dict[Path, str]:
    """Every generated file and its text."""
    folder = PACKAGE / "triton"
    paths = sorted(path for path in folder.glob("*.py") if path.name != "__init__.py")
    read = {path.stem: read_module(path) for path in paths}
    modules = {
        name: module
        for name, module in read.items()
        if module.functions or module.classes or module.aliases
    }
    found = {
        folder / f"{name}.pyi": module_stub(module, modules) for name, module in modules.items()
    }
    found[PACKAGE / "__init__.pyi"] = package_stub(
        modules, "The kernel language: `import teeny_triton as tl`.", HOST
    )
    for part in PARTS:
        doc = f"`tl.{part.replace('/', '.')}`: the elementwise functions."
        found[PACKAGE / f"{part}.pyi"] = part_stub(modules, doc, FAMILIES)
    found[PACKAGE / "_surface.py"] = surface(modules, HOST)
    return found


def main(arguments: list[str]) -> int:
    """Write or check the generated files; the exit status is 1 when a check fails."""
    expected = outputs()
    extra = set(PACKAGE.glob("triton/*.pyi")) - expected.keys()
    stale = [
        path
        for path, text in expected.items()
        if not path.is_file() or path.read_text(encoding="utf-8") != text
    ]
    if "--check" in arguments:
        for path in [*stale, *extra]:
            print(f"out of date: {path.name} (run `python -m stubgen`)")
        return 1 if stale or extra else 0
    for path in stale:
        path.write_text(expected[path], encoding="utf-8", newline="\n")
    for path in extra:
        path.unlink()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
