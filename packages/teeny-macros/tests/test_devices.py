"""Finding devices: where an array says it is, and which package is asked."""

from __future__ import annotations

import array as array_module
import os
import subprocess
import sys
from typing import Any

import pytest

from teeny_macros import LaunchError, devices


class HostArray:
    """Memory of the host by NumPy's protocol."""

    __array_interface__ = {"version": 3}  # noqa: RUF012 - the protocol wants a dict


class GpuArray:
    """Memory of a GPU by Numba's protocol."""

    __cuda_array_interface__ = {"version": 3}  # noqa: RUF012


class DlpackArray:
    """Memory that says by DLPack where it is; a kind that nobody knows raises."""

    def __init__(self, kind: int) -> None:
        self.kind = kind

    def __dlpack_device__(self) -> tuple[int, int]:
        if self.kind < 0:
            raise BufferError("cannot be exported")
        return self.kind, 0


@pytest.mark.parametrize(
    ("value", "asked"),
    [
        (HostArray(), ["cpu"]),
        (GpuArray(), ["cuda"]),
        (DlpackArray(1), ["cpu"]),
        (DlpackArray(2), ["cuda"]),
        (DlpackArray(3), ["cpu"]),
        (DlpackArray(13), ["cuda"]),
        (DlpackArray(99), []),
        (DlpackArray(-1), []),
        ([1.0], []),
        ("text", []),
        (array_module.array("f"), []),
        (HostArray, ["cpu"]),
    ],
)
def test_an_array_is_shown_to_the_package_of_its_memory(
    world: Any, value: object, asked: list[str]
) -> None:
    assert devices.describe(value) is None  # the fake packages know fake arrays only
    assert [name for group, name in world.asked if group == devices.DEVICES] == asked


def test_a_type_is_shown_first_to_the_package_that_knew_it(world: Any, array: Any) -> None:
    host, gpu = array(), array(place="cuda:0")
    for _ in range(2):
        for value in (host, gpu):
            assert devices.describe(value) is value.info
    assert [name for group, name in world.asked if group == devices.DEVICES] == ["cpu", "cuda"]


@pytest.mark.parametrize(
    ("name", "kind"), [("cpu", "cpu"), ("interpret", "cpu"), ("cuda", "cuda"), ("cuda:3", "cuda")]
)
def test_devices_are_found_by_name(world: Any, name: str, kind: str) -> None:
    found: Any = devices.device(name)
    assert found.name == name
    assert found is getattr(world, kind).devices[name]


def test_a_device_of_an_unknown_kind_is_a_coded_error(world: Any) -> None:
    with pytest.raises(LaunchError) as caught:
        devices.device("tpu:0")
    assert caught.value.code == "E1018"
    assert "`tpu`" in caught.value.diagnostics[0].message
    assert "`cpu`, `cuda`, and `interpret`" in caught.value.diagnostics[0].helps[0]


def test_a_device_is_given_by_name_as_an_object_or_as_that_of_pytorch(world: Any) -> None:
    found = devices.device("cuda:0")
    assert devices.named("cuda:0") is devices.named(found) is found
    foreign = type("device", (), {"__module__": "torch", "__str__": lambda _: "cuda:0"})()
    assert devices.named(foreign) is found
    with pytest.raises(LaunchError, match="the device 3") as caught:
        devices.named(3)
    assert caught.value.code == "E1018"
    assert "`cuda:0`" in caught.value.diagnostics[0].helps[0]


def test_a_compiler_that_cannot_be_imported_is_none(
    world: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(_group: str, _name: str) -> Any:
        raise ModuleNotFoundError("teeny_compiler")

    assert devices.can_compile()
    monkeypatch.setattr(devices, "entry_point", broken)
    assert not devices.can_compile()


def test_entry_points_that_nobody_registered_are_none() -> None:
    assert devices.entry_point("teeny.devices", "nothing of that name") is None


def test_where_nobody_names_a_bundle_none_is_looked_for() -> None:
    program = (
        "import sys\nfrom teeny_macros import devices\n"
        "class Instance:\n    reference = ('mine', 'kernel')\n"
        "assert devices.bundled(Instance, None) is None\n"
        "print('teeny_macros.bundle' in sys.modules)\n"
    )
    environment = {k: v for k, v in os.environ.items() if k != "TEENY_BUNDLES"}
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout == "False\n"
