"""`Tuning`: what a search found, the choice among it, and its table."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from teeny_compiler.tuning.store import MEASURED

if TYPE_CHECKING:
    from collections.abc import Mapping

    from teeny_compiler.tuning.config import Config
    from teeny_compiler.tuning.store import Row, Scope


class Tuning(NamedTuple):
    """The chosen config and what is known of all; `str` is a table.

    `measured` counts the configs that were timed now, `seconds` is what that took.
    """

    scope: Scope
    best: Config
    rows: Mapping[Config, Row]
    measured: int
    seconds: float

    def summary(self) -> str:
        """One line about the choice."""
        key = ", ".join(f"{name}={value}" for name, value in self.scope.key)
        ms = self.rows[self.best].ms
        return (
            f"tuned {self.scope.kernel}{f' for {key}' if key else ''} in {self.seconds:.1f} s: "
            f"{self.best} ({ms:.4g} ms, best of {len(self.rows)})"
        )

    def __str__(self) -> str:
        lines = [f"{self.scope.kernel} on {self.scope.device}"]
        lines += [f"  {name} = {value}" for name, value in self.scope.key]
        lines.append(f"  {'time':>12}  {'noise':>6}  config")
        order = sorted(self.rows.items(), key=lambda item: (not item[1].ms, item[1].ms))
        for config, row in order:
            mark = ">" if config == self.best else " "
            if row.ms:
                noise = f"±{100 * row.noise / row.ms:.0f}%" if row.state == MEASURED else row.state
                lines.append(f"{mark} {row.ms:>9.4g} ms  {noise:>6}  {config}")
            else:
                lines.append(f"{mark} {row.state:>12}  {'':>6}  {config}: {row.note}")
        return "\n".join(lines)


def choose(rows: Mapping[Config, Row]) -> Config | None:
    """The fastest config; of those that noise cannot tell from it the one listed first.

    So a choice does not change from run to run without a reason.
    """
    usable = {config: row for config, row in rows.items() if row.state == MEASURED}
    if not usable:
        return None
    best = min(usable.values(), key=lambda row: row.ms)
    for config, row in usable.items():
        if row.ms - best.ms <= min(row.noise, best.noise):
            return config
    return None
