"""The one edge to `cuda.bindings.driver`, loaded when first used.

Importing this module needs neither cuda-python nor a driver. Every call goes through `Driver.call`;
which result of the driver means what to a user stands in one table here.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any, NamedTuple

from teeny_cuda.codes import (
    E1050,
    E1051,
    E1052,
    E1053,
    E1054,
    E1055,
    E1059,
    E1063,
    E1073,
    E1074,
    E1075,
    E1079,
    E1083,
    E1084,
    E1099,
)

if TYPE_CHECKING:
    from teeny_cuda.context import Context
    from teeny_macros.diagnostics import Code, TeenyError


class Failure(NamedTuple):
    """What a result of the driver means: the code, the cause in words, and what to do."""

    code: Code
    cause: str
    help: str


_SANITIZER = "run the program under `compute-sanitizer` to see the kernel's line"
_UPDATE = "install a newer NVIDIA driver"
_CAPTURE = "inside of the block use `graph.stream`, copy with `wait=False`, wait for nothing"

# CUresult -> what it means. A result that is missing here is E1099 with the driver's own sentence.
FAILURES: dict[int, Failure] = {
    1: Failure(
        E1099, "a value is invalid", "report this: the value should have been checked before"
    ),
    2: Failure(E1059, "not enough memory is free", "release buffers, or use smaller ones"),
    3: Failure(
        E1075, "CUDA is not initialized", "start workers with the `spawn` method of multiprocessing"
    ),
    4: Failure(
        E1099, "the driver is shutting down", "release GPU objects before the interpreter ends"
    ),
    34: Failure(
        E1051, "only the toolkit's stub of the driver is there", "install the NVIDIA driver"
    ),
    35: Failure(E1054, "the driver is too old", _UPDATE),
    46: Failure(E1052, "the GPU is busy or in a mode that refuses it", "see `nvidia-smi`"),
    100: Failure(
        E1052, "no GPU", "see `nvidia-smi`, and whether CUDA_VISIBLE_DEVICES hides the GPU"
    ),
    101: Failure(E1053, "no such device", "number devices from 0"),
    200: Failure(E1055, "the image is invalid", "compile the kernel again: `teeny cache clear`"),
    201: Failure(
        E1099, "no valid context is current", "use the device from the process that made it"
    ),
    209: Failure(
        E1055, "it holds no code for this GPU", "compile the kernel for this GPU's architecture"
    ),
    214: Failure(E1074, "an uncorrectable memory error (ECC)", "see `nvidia-smi -q -d ECC`"),
    218: Failure(E1055, "the PTX is invalid", "report this with the log and the kernel"),
    220: Failure(E1074, "an uncorrectable NVLink error", "see `nvidia-smi nvlink -e`"),
    221: Failure(E1055, "the driver's PTX compiler is missing", "reinstall the NVIDIA driver"),
    222: Failure(E1054, "the PTX version is newer than the driver", _UPDATE),
    400: Failure(
        E1099, "a handle is invalid", "use streams and events on the device that made them"
    ),
    600: Failure(E1073, "work before it has not finished", "synchronize the event first"),
    700: Failure(E1074, "an access outside of any allocation", _SANITIZER),
    701: Failure(E1063, "a block needs too many registers", "use fewer warps or a smaller block"),
    702: Failure(E1074, "a kernel ran longer than this machine allows", "launch less work at once"),
    710: Failure(E1074, "a device_assert failed", "the kernel's output names the assertion"),
    714: Failure(E1074, "a hardware stack error", _SANITIZER),
    715: Failure(E1074, "an invalid instruction", "compile the kernel for this GPU's architecture"),
    716: Failure(E1074, "a misaligned access", "check that arrays begin where the kernel was told"),
    717: Failure(E1074, "an access to the wrong kind of memory", _SANITIZER),
    718: Failure(E1074, "an invalid program counter", _SANITIZER),
    719: Failure(E1074, "an unspecified launch failure", _SANITIZER),
    720: Failure(
        E1079, "a cooperative launch has more blocks than fit at once", "use a smaller grid"
    ),
    802: Failure(
        E1051, "the system is not ready for CUDA", "start the fabric manager of this machine"
    ),
    803: Failure(E1054, "the driver and its library differ in version", "restart the machine"),
    804: Failure(E1054, "forward compatibility is not offered on this GPU", _UPDATE),
    900: Failure(E1083, "a call is not allowed in a capture", _CAPTURE),
    901: Failure(E1083, "something in it was not allowed", _CAPTURE),
    902: Failure(E1083, "two captures would merge", _CAPTURE),
    903: Failure(E1083, "the stream is not being captured", _CAPTURE),
    904: Failure(E1083, "work of another stream was not joined", _CAPTURE),
    905: Failure(E1083, "it depends on work outside of it", _CAPTURE),
    906: Failure(E1083, "the default stream was used inside of it", _CAPTURE),
    907: Failure(E1083, "an event of the capture is waited for outside", _CAPTURE),
    908: Failure(E1083, "another thread began it", _CAPTURE),
    910: Failure(E1084, "the work differs in more than its arguments", "capture another graph"),
    912: Failure(
        E1079, "no cluster of blocks has this size", "use fewer blocks a cluster, or a larger grid"
    ),
    999: Failure(E1099, "an unknown error of the driver", "see the system log (`dmesg`)"),
}
# After these the context answers nothing else.
STICKY = frozenset(number for number, row in FAILURES.items() if row.code is E1074)
# What a context held is gone with it: after a fault, in a forked child, at the driver's end.
GONE = STICKY | {3, 4, 709}


class Driver:
    """The driver API of this process, initialized. `contexts` are the primary contexts in use."""

    __slots__ = ("api", "contexts", "lock", "version")

    def __init__(self, api: Any) -> None:
        self.api = api
        self.contexts: dict[int, Context] = {}
        self.lock = threading.RLock()
        self.version = 0
        try:
            # cuda-python loads libcuda by its soname here; the exception's class depends on its
            # version.
            number = int(api.cuInit(0)[0])
        except (RuntimeError, OSError, ImportError) as error:
            raise (
                E1051.error()
                .note(str(error))
                .help("install the NVIDIA driver, or run on the CPU with host arrays")
            ) from error
        if number:
            raise self.failure("cuInit", number)
        self.version = int(self.call("cuDriverGetVersion"))

    @property
    def version_text(self) -> str:
        """The CUDA version of the driver, such as `12.4`; `unknown` before it answered."""
        return f"{self.version // 1000}.{self.version % 1000 // 10}" if self.version else "unknown"

    def attempt(self, name: str, *args: Any) -> tuple[int, Any]:
        """The result of the driver function `name` and its value: None, one, or several."""
        function = getattr(self.api, name, None)
        if function is None:
            raise self._lacks(name, "cuda-python does not know it")
        try:
            answer = function(*args)
        except RuntimeError as error:  # so cuda-python reports a function that the driver lacks
            raise self._lacks(name, str(error)) from error
        values = answer[1:]
        return int(answer[0]), values[0] if len(values) == 1 else values or None

    def _lacks(self, name: str, reason: str) -> TeenyError:
        error = E1054.error(version=self.version_text, what=f"`{name}`")
        return error.note(reason).help(_UPDATE)

    def call(self, name: str, *args: Any) -> Any:
        """The value of the driver function `name`. Raises the coded error of its result."""
        number, value = self.attempt(name, *args)
        if number:
            raise self.failure(name, number)
        return value

    def failure(
        self, name: str, number: int, *, is_known: bool = False, **fields: object
    ) -> TeenyError:
        """The coded error of a result other than success; `fields` fill the code's message.

        `is_known`: which launch failed is known, since it was waited for.
        """
        symbol, sentence = self._describe(number)
        row = FAILURES.get(number) or Failure(
            E1099, sentence, "see the documentation of the CUDA driver"
        )
        values: dict[str, object] = {
            "call": name,
            "cause": row.cause,
            "count": "others",
            "device": "the GPU",
            "kernel": "the kernel",
            "name": symbol,
            "number": number,
            "reason": row.cause,
            "version": self.version_text,
            "what": row.cause,
        }
        error = row.code.error(**{**values, **fields}).help(row.help)
        if row.code is not E1099:
            error.note(f"the driver's answer to `{name}` is {symbol} ({number})")
        if number in STICKY and not is_known:
            error.note("the kernel may be an earlier one: launches return before they have run")
            for context in self.contexts.values():
                launches = context.suspects.text()
                if launches:
                    error.note(launches)
            error.help("run again with TEENY_LAUNCH_BLOCKING=1 to see which launch it is")
        if number in STICKY:
            error.note("CUDA answers nothing more in this process")
        return error

    def symbol_of(self, number: int) -> str:
        """The driver's own name of a result."""
        return self._describe(number)[0]

    def _describe(self, number: int) -> tuple[str, str]:
        """The name and the sentence that the driver itself has for a result."""
        result: Any = number
        try:
            result = self.api.CUresult(number)
            name = self.api.cuGetErrorName(result)[1]
            text = self.api.cuGetErrorString(result)[1]
        except (AttributeError, RuntimeError, ValueError, IndexError):
            return f"CUresult {number}", "an error unknown to cuda-python"
        return _text(name) or f"CUresult {number}", _text(text) or "an unknown error"


_lock = threading.Lock()
_driver: Driver | None = None


def driver() -> Driver:
    """The driver of this process, loaded at the first call.

    Raises:
        LaunchError: E1050 without cuda-python, E1051 without a driver, E1052 without a GPU.
    """
    global _driver  # noqa: PLW0603 - one driver a process, as CUDA has it
    found = _driver
    if found is None:
        with _lock:
            found = _driver
            if found is None:
                found = _driver = Driver(bindings())
    return found


def loaded() -> Driver | None:
    """The driver when some call has loaded it already; never loads it."""
    return _driver


def replace(new: Driver | None) -> Driver | None:
    """Put another driver in place and return the old one: for tests."""
    global _driver
    with _lock:
        old, _driver = _driver, new
    return old


def bindings() -> Any:
    """The driver functions of cuda-python, not initialized. Raises E1050 without it."""
    try:
        from cuda.bindings import driver as api
    except ImportError as error:
        raise E1050.error().note(str(error)).help("pip install cuda-python") from error
    return api


def _text(value: Any) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value or "")
