"""A kernel instance for tests, with what teeny-compiler asks of one (for `runpy.run_path`)."""

from __future__ import annotations

import hashlib

from teeny_macros.source import SourceMap
from teeny_macros.unit import Unit, UnitModule


class Instance:
    """The instance of a made-up kernel called `name`; `variant` makes another identity."""

    def __init__(
        self,
        variant: object = 0,
        *,
        name: str = "scale",
        source_map: SourceMap | None = None,
        fp_fusion: bool = True,
    ) -> None:
        self.name = name
        self.options = {"num_warps": 4, "enable_fp_fusion": fp_fusion}
        self.source_map = source_map
        self.source = f"def {name}(x_ptr):\n    return {variant}\n"
        self.id = hashlib.sha256(self.source.encode()).hexdigest()

    def unit(self, dsl_text: str | None, dsl_digest: str) -> Unit:
        """The unit that teenyc gets."""
        return Unit(self.name, (UnitModule("kernel", self.source),), dsl_digest, dsl_text)
