"""Trials: runs on private copies, compared with what is right before they are timed."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

from teeny_compiler.codes import E0940
from teeny_compiler.tuning.arrays import Private, host_bytes
from teeny_compiler.tuning.compare import decode, difference
from teeny_compiler.tuning.measure import Timer
from teeny_macros import devices
from teeny_macros.diagnostics import TeenyError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from teeny_compiler.tuning.candidate import Candidate
    from teeny_compiler.tuning.search import Settings


class Trials:
    """The private copies for one call, and the results that every config has to give."""

    def __init__(self, first: Candidate, settings: Settings) -> None:
        self._settings = settings
        self._device = first.device
        self._device.synchronize()  # what the arguments come from
        also = (*settings.reset_to_zero, *settings.restore_value)
        self._private = Private(
            first.device,
            first.names,
            first.args,
            first.dtypes,
            first.written(also),
            settings.reset_to_zero,
        )
        self._expected: dict[str, Any] | None = None
        self._source = "the reference"
        if callable(settings.reference):
            self._private.restore()
            self._expected = self._refer(first, settings.reference)

    def check(self, candidate: Candidate, program: Any) -> tuple[str, Timer]:
        """What is wrong with a config's results (empty: nothing), and its timer."""
        run, found = self._run_once(candidate, program)
        wrong = "" if found is None else self._compare(candidate, found)
        self._private.restore()
        again = bool(self._settings.reset_to_zero or self._settings.restore_value)
        return wrong, Timer(self._device, run, self._private.restore if again else None)

    def expect(self, candidate: Candidate, program: Any) -> None:
        """Take the results of a config as right."""
        _, found = self._run_once(candidate, program)
        self._take(candidate, found or {})

    def require_device(self, error: TeenyError) -> None:
        """Raise `error` when it has cost the device, as an invalid access costs a GPU's context."""
        try:
            self._device.synchronize()
            self._private.restore()
            self._device.synchronize()
        except TeenyError:
            raise error from None

    def _run_once(self, candidate: Candidate, program: Any) -> tuple[Any, Any]:
        run = candidate.launcher(program, self._private.args)
        self._private.restore()
        run()
        self._device.synchronize()
        if self._settings.reference is None:
            return run, None
        raw = self._private.read()
        return run, {name: decode(raw[name], candidate.dtypes[name]) for name in raw}

    def _take(self, candidate: Candidate, found: dict[str, Any]) -> None:
        self._expected = found
        self._source = f"`{candidate.config}`"

    def _compare(self, candidate: Candidate, found: dict[str, Any]) -> str:
        if self._expected is None:
            self._take(candidate, found)
            return ""
        for name, expected in self._expected.items():
            dtype = candidate.dtypes[name]
            text = difference(found[name], expected, dtype, self._settings.tolerance)
            if text:
                return f"`{name}` is not what {self._source} gives: {text}"
        return ""

    def _refer(self, first: Candidate, reference: Any) -> dict[str, Any]:
        """What the reference says, in the form of results."""
        values: dict[str, Any] = dict(first.instance.specialization.constants)
        pairs = zip(first.names, first.args, self._private.args, strict=True)
        for name, given, private in pairs:
            values[name] = given if name not in first.dtypes else self._host(given, private)
        said: Mapping[str, Any] = reference(values)
        outputs = self._private.outputs
        if not isinstance(said, dict) or not said or not set(said) <= set(outputs):
            names = ", ".join(f"`{name}`" for name in outputs)
            raise E0940.error(
                kernel=first.instance.name, reason="its reference returns no results"
            ).help(f"return a dict of arrays for some of {names}")
        found: dict[str, Any] = {}
        for name, array in said.items():
            found[name] = array.reshape(-1)
        return found

    def _host(self, given: Any, private: Any) -> Any:
        """An argument as an array on the host with the values that a trial begins with."""
        dtype = ""
        info = devices.describe(private) if hasattr(private, "dtype") else None
        if given is None or info is None or not info.nbytes:
            return given
        dtype = info.dtype
        array = decode(host_bytes(self._device, info, private), dtype)
        shape = getattr(given, "shape", getattr(getattr(given, "array", None), "shape", None))
        fits = shape is not None and info.contiguous and prod(shape) == array.size
        return array.reshape(tuple(shape)) if shape is not None and fits else array
