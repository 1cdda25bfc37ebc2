"""`LaunchOptions`: what a launch fixes besides types and compile-time values.

They are part of the identity of an instance.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from teeny_macros.codes import E1023

if TYPE_CHECKING:
    from collections.abc import Mapping

MAX_WARPS = 32
_OF_LAUNCHES = ("launch_pdl", "launch_cooperative_grid")


class LaunchOptions(NamedTuple):
    """Warps, blocks of a cluster, pipelining depth, register limit, fused multiply-add.

    `launch_pdl`: it may start while the kernel before it in the stream ends (`gdc_wait` waits for
    that one). `launch_cooperative_grid`: all programs run at the same time. Both change nothing on
    a CPU.
    """

    num_warps: int = 4
    num_stages: int = 3
    num_ctas: int = 1
    maxnreg: int | None = None
    enable_fp_fusion: bool = True
    launch_pdl: bool = False
    launch_cooperative_grid: bool = False

    def named(self) -> dict[str, Any]:
        """By name; those of launches alone only where they are asked for."""
        found = self._asdict()
        return {name: found[name] for name in found if name not in _OF_LAUNCHES or found[name]}

    def changed(self, given: Mapping[str, Any]) -> LaunchOptions:
        """These options with those of `given` in their place.

        Raises:
            LaunchError: E1023 for an unknown name or a value that the option cannot have.
        """
        for name, value in given.items():
            reason = _fault(name, value)
            if reason:
                raise E1023.error(name=name, value=value, reason=reason).help(_remedy(name))
        return self._replace(**given)


def _remedy(name: str) -> str:
    if name in LaunchOptions._field_defaults:
        return f"without it, it is {LaunchOptions._field_defaults[name]}"
    return f"the options are {', '.join(f'`{field}`' for field in LaunchOptions._fields)}"


def _fault(name: str, value: Any) -> str:
    """What is wrong with an option, empty when nothing is."""
    if name not in LaunchOptions._fields:
        return "there is no option of that name"
    if name in ("enable_fp_fusion", *_OF_LAUNCHES):
        return "" if isinstance(value, bool) else "it must be True or False"
    if name == "maxnreg" and value is None:
        return ""
    if isinstance(value, bool) or not isinstance(value, int):
        return "it must be an integer"
    if name in ("num_warps", "num_ctas"):
        power = value > 0 and value & (value - 1) == 0
        fits = power and value <= MAX_WARPS
        return "" if fits else f"it must be a power of two, at most {MAX_WARPS}"
    lowest = 0 if name == "num_stages" else 1
    return "" if value >= lowest else f"it must be at least {lowest}"
