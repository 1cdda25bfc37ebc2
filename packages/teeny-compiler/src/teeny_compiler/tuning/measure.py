"""How long one launch takes: samples by the device's own events, their median and their noise."""

from __future__ import annotations

import math
from statistics import median
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

    from teeny_macros.protocol import Device

MILLISECONDS = 40.0  # of launches for each config
_FEWEST, _MOST = 3, 60  # samples
_SAMPLE_MS = 0.2  # launches of less are timed together
_HOPELESS = 2.5  # times the best one: not worth another sample
_FLOOR = 0.01  # what is always noise, as a share


class Timing(NamedTuple):
    """Milliseconds of one launch."""

    samples: tuple[float, ...]
    is_cut_short: bool = False

    @property
    def ms(self) -> float:
        """The median."""
        return float(median(self.samples))

    @property
    def noise(self) -> float:
        """How far the median may be off, as milliseconds."""
        spread = median(abs(sample - self.ms) for sample in self.samples)
        return max(1.4826 * spread / math.sqrt(len(self.samples)), _FLOOR * self.ms)


class Timer:
    """Times launches of one program. With `prepare` it is called before each of them, untimed."""

    def __init__(
        self, device: Device, run: Callable[[], None], prepare: Callable[[], None] | None
    ) -> None:
        self._device = device
        self._run = run
        self._prepare = prepare
        self._batch = 1

    def measure(self, best: float | None) -> Timing:
        """The timing; a config that is far behind `best` milliseconds is given up early."""
        first = self.sample()
        if self._prepare is None:
            self._batch = max(1, min(1000, round(_SAMPLE_MS / max(first, 1e-4))))
        if best is not None and first > _HOPELESS * best:
            two = self.more(2)  # in batches: a single launch carries the cost of its events
            if min(two) > _HOPELESS * best:
                return Timing(two, is_cut_short=True)
            first = min(two)
        count = MILLISECONDS / max(first * self._batch, 1e-4)
        return Timing(self.more(max(_FEWEST, min(_MOST, int(count)))))

    def more(self, count: int) -> tuple[float, ...]:
        """Further samples."""
        return tuple(self.sample() for _ in range(count))

    def sample(self) -> float:
        """Milliseconds of one launch, from a batch of them."""
        if self._prepare is not None:
            self._prepare()
        start, end = self._device.event(), self._device.event()
        start.record()
        for _ in range(self._batch):
            self._run()
        end.record()
        end.synchronize()
        return float(start.elapsed_ms(end)) / self._batch
