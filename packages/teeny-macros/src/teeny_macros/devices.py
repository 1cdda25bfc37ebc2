"""Devices and the compiler, found through entry points when a launch first needs them.

A device package is loaded only for arrays of its kind, so that host arrays never load a GPU's
driver.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from teeny_macros import env
from teeny_macros.codes import E1018, E1022

if TYPE_CHECKING:
    from collections.abc import Callable

    from teeny_macros.artifact import Artifact
    from teeny_macros.protocol import ArrayInfo, Device, DeviceProvider

DEVICES = "teeny.devices"
COMPILER = "teeny.compiler"
BUNDLES = "teeny.bundles"
HOST = "cpu"
PLAN = "plan"
GET_COMPILER = "pip install teeny-compiler 'teenyc[interpret]'"

_REMEDIES = {
    "cpu": "`pip install teeny-cpu 'teenyc[interpret]'`",
    "cuda": "`pip install teeny-cuda`",
}
# Device types of DLPack; arrays in pinned host memory count as host arrays.
_DLPACK = {1: "cpu", 2: "cuda", 3: "cpu", 13: "cuda"}

_providers: dict[str, DeviceProvider] = {}
_provider_of_type: dict[type, DeviceProvider] = {}
_compilers: dict[str, Callable[..., Any]] = {}
_points: dict[tuple[str, ...], list[Any]] = {}  # by the search path that they were found on


def entry_point(group: str, name: str) -> Any:
    """The entry point of an installed package, loaded; None when there is none."""
    for fresh in (False, True):  # one that is missing may have been installed just now
        for found in registered(group, fresh=fresh):
            if found.name == name:
                return found.load()
    return None


def registered(group: str, *, fresh: bool = False) -> list[Any]:
    """The entry points of a group. Reading those of all packages takes milliseconds: once."""
    from teeny_macros.installed import points

    path = tuple(sys.path)
    if fresh or path not in _points:
        _points.clear()
        _points[path] = points(path)
    return [point for point in _points[path] if point.group == group]


def provider(kind: str) -> DeviceProvider:
    """The device package for `cuda`, `cpu` or another kind.

    Raises E1018 when it is not installed.
    """
    known = _providers.get(kind)
    if known is not None:
        return known
    what = "host arrays (`cpu`)" if kind == HOST else f"`{kind}` devices"
    remedy = _REMEDIES.get(kind) or _known_devices()
    try:
        found = entry_point(DEVICES, kind)
    except ImportError as error:
        raise (
            E1018.error(what=what).note(f"its package cannot be imported: {error}").help(remedy)
        ) from error
    if found is None:
        raise E1018.error(what=what).help(remedy)
    _providers[kind] = found
    return _providers[kind]


def _known_devices() -> str:
    found = sorted({point.name for point in registered(DEVICES)})
    names = ", ".join(f"`{name}`" for name in found) or "none"
    return f"the devices of installed packages are {names}, and `interpret`"


def register(kind: str, found: DeviceProvider) -> None:
    """Use a provider that no package installs: that of planned devices, of the kind `plan`."""
    _providers[kind] = found


def named(given: Any) -> Device:
    """The device that was asked for: an object itself, one by its name or by PyTorch's `device`.

    Raises E1018 for anything else, and as `device`.
    """
    if type(given).__module__ == "torch":
        given = str(given)
    if isinstance(given, str):
        return device(given)
    if not hasattr(given, "target"):
        raise E1018.error(what=f"the device {given!r}").help(
            "give its name, such as `cpu` or `cuda:0`, or an object such as `teeny_cuda.Device(0)`"
        )
    found: Device = given
    return found


def device(name: str) -> Device:
    """The device called `cuda:0`, `cuda`, `cpu`... Raises a coded error when it is not there.

    `cuda:plan-sm_90` is a device that notes launches and runs nothing.
    """
    kind, _, which = name.partition(":")
    if which.startswith(PLAN):
        return provider(PLAN).device(name)
    # Names such as `interpret` are the host package's own.
    return provider("cuda" if kind == "cuda" else HOST if kind == "interpret" else kind).device(
        name
    )


def describe(array: Any) -> ArrayInfo | None:
    """What the devices know of an array; None when it is no array of any of them."""
    kind: type[Any] = type(array)  # pyright: ignore[reportUnknownVariableType]
    known = _provider_of_type.get(kind)
    if known is not None:
        info = known.describe(array)
        if info is not None:
            return info
    for candidate in list(_providers.values()):
        info = candidate.describe(array)
        if info is not None:
            _provider_of_type[kind] = candidate
            return info
    memory = _memory_kind(array)
    if memory is None or memory in _providers:
        return None
    found = provider(memory)
    info = found.describe(array)
    if info is not None:
        _provider_of_type[kind] = found
    return info


def layout(array: Any) -> tuple[tuple[int, ...], tuple[int, ...]] | None:
    """The shape of an array and its strides in elements; None when its device does not tell."""
    kind: type[Any] = type(array)  # pyright: ignore[reportUnknownVariableType]
    known = _provider_of_type.get(kind)
    found = getattr(known, "layout", None)
    return None if found is None else found(array)


def _memory_kind(array: Any) -> str | None:
    """Where an array says that its memory is, by the protocols that array libraries share."""
    where = getattr(array, "__dlpack_device__", None)
    if where is not None and not isinstance(array, type):
        try:
            return _DLPACK.get(int(where()[0]))
        except Exception:  # noqa: BLE001 - any library's; the other protocols may still tell
            where = None
    if getattr(array, "__cuda_array_interface__", None) is not None:
        return "cuda"
    if getattr(array, "__array_interface__", None) is not None:
        return HOST
    return None


def bundled(instance: Any, device: Device) -> Artifact | None:
    """The code of an instance in a bundle; None when it must be compiled. Raises as `bundle.find`.

    Where nobody can have named one, the module of bundles is not even imported.
    """
    if "teeny_macros.bundle" not in sys.modules and not env.TEENY_BUNDLES.get():
        package = instance.reference[0].partition(".")[0]
        points = registered(BUNDLES)
        if not any(point.module.partition(".")[0] == package for point in points):
            return None
    from teeny_macros import bundle

    return bundle.find(instance, device)


def can_compile() -> bool:
    """Whether a compiler package is installed, and can be imported."""
    try:
        return "default" in _compilers or entry_point(COMPILER, "default") is not None
    except ImportError:
        return False


def compiler() -> Callable[..., Any]:
    """`compile_kernel` of the installed compiler package. Raises E1022 when there is none."""
    known = _compilers.get("default")
    if known is not None:
        return known
    found = entry_point(COMPILER, "default")
    if found is None:
        raise E1022.error().help(GET_COMPILER)
    _compilers["default"] = found
    return _compilers["default"]
