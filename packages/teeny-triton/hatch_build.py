"""Build hook: puts src/teeny_triton/_embedded.py, the DSL's text as a constant, into packages.

An editable install gets none: there `triton_lang` makes the text from the sources at each start, so
that it never lags behind an edit.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

PACKAGE = Path("src", "teeny_triton")


class EmbedHook(BuildHookInterface[Any]):
    """Puts the text into each built wheel and sdist, and leaves the checkout as it was."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Write the module and list it as an artifact."""
        if version == "editable":
            return
        package = Path(self.root) / PACKAGE
        spec = importlib.util.spec_from_file_location("embed", package / "embed.py")
        assert spec is not None
        assert spec.loader is not None
        embed = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(embed)
        text = embed.module_text(embed.build_text(package / "triton"))
        (package / "_embedded.py").write_text(text, encoding="utf-8", newline="\n")
        build_data["artifacts"].append((PACKAGE / "_embedded.py").as_posix())

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove the module: left behind, it would hide later edits of the text."""
        del version, build_data, artifact_path
        (Path(self.root) / PACKAGE / "_embedded.py").unlink(missing_ok=True)
