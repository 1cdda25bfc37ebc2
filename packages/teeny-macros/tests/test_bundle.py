"""Bundles without a compiler: their file, what damages it, and what launches find in them."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from teeny_macros import (
    LaunchError,
    LaunchOptions,
    Target,
    TeenyError,
    bundle,
    bundle_file,
    devices,
)
from teeny_macros.artifact import Metadata, Param
from teeny_macros.bundle import Bundle, base_id, text_digest
from teeny_macros.bundle_file import CodeRow, Index, InstanceRow, KernelRow
from teeny_macros.bundled import constant_text, parameter_json

Module = Callable[..., ModuleType]

COPY = """
from typing import TypeVar
D = TypeVar("D", bound=Float)
@kernel
def copy(x_ptr: Ptr[D], out_ptr: Ptr[D], n: i32 | int, BLOCK: Const[int] = 64) -> None:
    i = tl.arange(0, BLOCK)
    tl.store(out_ptr + i, tl.load(x_ptr + i, mask=i < n), mask=i < n)
"""
PARAMS = (Param("x_ptr", "pointer", "f32"), Param("out_ptr", "pointer", "f32"),
          Param("n", "scalar", "i32"))  # fmt: skip


def instance_row(instance: Any, codes: dict[str, str]) -> InstanceRow:
    asked = instance.specialization
    metadata = Metadata(instance.name, instance.entry_point_name, "", PARAMS).to_json()
    return InstanceRow(
        instance.id,
        base_id(instance),
        tuple((name, type_.text) for name, type_ in asked.types),
        tuple((name, constant_text(value)) for name, value in asked.constants),
        tuple(instance.options._asdict().items()),
        asked.divisible_by_16,
        asked.equal_to_1,
        {target: CodeRow(member, metadata, {}) for target, member in codes.items()},
    )


def index_of(instances: dict[Any, dict[str, str]], *, sealed: bool = False) -> Index:
    """What a bundle of one kernel says; `instances` give members of code by target."""
    first = next(iter(instances))
    kernel = KernelRow(
        first.name,
        first.reference[0],
        first.reference[1],
        text_digest(first),
        tuple(map(parameter_json, first.parameters)),
        tuple(sorted(first.written_parameters())),
        LaunchOptions()._asdict(),
        "",
        tuple(instance_row(instance, codes) for instance, codes in instances.items()),
        first.kernel.declared.to_json() if first.kernel.declared else {},
    )
    return Index("mine", sealed, 1, "d" * 64, {"teenyc": "0"}, (kernel,), {})


def write(path: Path, instances: dict[Any, dict[str, str]], *, sealed: bool = False) -> Path:
    members = {
        member: f"code of {member}".encode()
        for codes in instances.values()
        for member in codes.values()
    }
    with path.open("wb") as file:
        bundle_file.write(file, index_of(instances, sealed=sealed), members)
    return path


@pytest.fixture(autouse=True)
def _own_registry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bundle, "_registry", bundle._Registry())
    monkeypatch.delenv("TEENY_BUNDLES", raising=False)


@pytest.fixture
def copy(module: Module) -> Any:
    return module(COPY).copy


@pytest.fixture
def plain(copy: Any) -> Any:
    from teeny_triton import f32

    return copy.instantiate(D=f32)


@pytest.fixture
def gpu(world: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The fake device `cuda:0`, which also runs code for sm_80."""
    device = world.cuda.device("cuda:0")
    device.targets = (Target.cuda("sm_90"), Target.cuda("sm_80"))
    return device


def launch(kernel: Any, array: Any, *, n: int = 33, aligned: bool = True, **more: Any) -> None:
    place = 4096 if aligned else 4100
    x, out = (array("f32", place="cuda:0", pointer=place) for _ in range(2))
    kernel[1](x, out, n, **more)


# --- the file -------------------------------------------------------------------------------------


def test_a_bundle_is_a_zip_file_without_times_or_compression(tmp_path: Path, plain: Any) -> None:
    path = write(tmp_path / "a.teeny", {plain: {"cuda:sm_90": "code/a.ptx"}})
    with zipfile.ZipFile(path) as archive:
        rows = archive.infolist()
        assert [row.filename for row in rows] == ["bundle.json", "code/a.ptx"]
        assert {row.date_time for row in rows} == {(1980, 1, 1, 0, 0, 0)}
        assert {row.compress_type for row in rows} == {zipfile.ZIP_STORED}
        assert json.loads(archive.read("bundle.json"))["schema"] == bundle_file.SCHEMA
    assert not Bundle(path).faults()


def test_what_is_written_is_read_back(plain: Any) -> None:
    stored = index_of({plain: {"cuda:sm_90": "code/a.ptx", "cpu:aarch64": "code/a.o"}})
    file = io.BytesIO()
    bundle_file.write(file, stored, {"code/a.ptx": b"1", "code/a.o": b"22"})
    assert bundle_file._from_bytes(bundle_file._to_bytes(stored)) == stored


def test_the_same_contents_are_the_same_bytes_in_any_order_and_process(plain: Any) -> None:
    stored = index_of({plain: {"cuda:sm_90": "code/a", "cuda:sm_80": "code/b"}})
    members = {"code/a": b"a", "code/b": b"b"}
    texts = []
    for given in (members, dict(reversed(members.items()))):
        file = io.BytesIO()
        bundle_file.write(file, stored, given)
        texts.append(file.getvalue())
    assert texts[0] == texts[1]


def damaged(path: Path, change: Callable[[bytearray], None]) -> Path:
    data = bytearray(path.read_bytes())
    change(data)
    path.write_bytes(data)
    return path


def test_every_truncation_is_refused(tmp_path: Path, plain: Any) -> None:
    path = write(tmp_path / "a.teeny", {plain: {"cuda:sm_90": "code/a.ptx"}})
    whole = path.read_bytes()
    for size in range(0, len(whole), 97):
        path.write_bytes(whole[:size])
        with pytest.raises(LaunchError) as caught:
            Bundle(path)
        assert caught.value.code == "E1033"


def test_every_flipped_byte_is_found_or_harmless(tmp_path: Path, plain: Any) -> None:
    path = write(tmp_path / "a.teeny", {plain: {"cuda:sm_90": "code/a.ptx"}})
    whole = path.read_bytes()
    code = whole.index(b"code of")
    unseen = []
    codes: set[str] = set()
    for at in range(0, len(whole), 7):
        path.write_bytes(whole)
        damaged(path, lambda data, at=at: data.__setitem__(at, data[at] ^ 0x10))  # type: ignore[misc]
        try:
            found = Bundle(path)
            ok = not found.faults()
        except TeenyError as error:
            codes.add(error.code)
            continue
        if ok:
            unseen.append(at)
            assert found.read("code/a.ptx") == b"code of code/a.ptx"
    assert codes <= {"E1033", "E0021"}
    assert not [at for at in unseen if code <= at < code + 18]


def test_a_changed_member_is_refused_when_it_is_used(
    tmp_path: Path, copy: Any, plain: Any, gpu: Any, array: Any
) -> None:
    path = write(tmp_path / "a.teeny", {plain: {"cuda:sm_90": "code/a.ptx"}})
    damaged(path, lambda data: data.__setitem__(data.index(b"code of"), 0))
    found = bundle.load(path)
    assert len(found.faults()) == 1
    with pytest.raises(LaunchError) as caught:
        launch(copy, array)
    assert caught.value.code == "E1033"
    assert not gpu.launches


@pytest.mark.parametrize(
    ("text", "reason"),
    [(None, "no such file"), (b"", "no zip file"), (b"hello" * 99, "no zip file")],
)
def test_what_is_no_bundle_is_refused(tmp_path: Path, text: bytes | None, reason: str) -> None:
    path = tmp_path / "a.teeny"
    if text is not None:
        path.write_bytes(text)
    with pytest.raises(LaunchError, match=reason) as caught:
        Bundle(path)
    assert caught.value.code == "E1033"


def test_another_zip_file_is_no_bundle(tmp_path: Path) -> None:
    path = tmp_path / "a.whl"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.py", "pass")
    with pytest.raises(LaunchError, match="no bundle"):
        Bundle(path)


def test_a_later_version_is_refused_by_its_number(tmp_path: Path, plain: Any) -> None:
    path = write(tmp_path / "a.teeny", {plain: {"cuda:sm_90": "code/a.ptx"}})
    path.write_bytes(path.read_bytes().replace(b"teeny-bundle 1 ", b"teeny-bundle 7 "))
    with pytest.raises(TeenyError, match="bundle version 7") as caught:
        Bundle(path)
    assert caught.value.code == "E0021"


# --- launches -------------------------------------------------------------------------------------


def test_a_launch_takes_its_code_from_the_bundle_and_compiles_nothing(
    tmp_path: Path, copy: Any, plain: Any, gpu: Any, array: Any, world: Any
) -> None:
    found = bundle.load(write(tmp_path / "a.teeny", {plain: {"cuda:sm_90": "code/a.ptx"}}))
    launch(copy, array)
    (artifact,) = gpu.loaded
    assert artifact.read_text() == "code of code/a.ptx"
    assert artifact.path.suffix == ".ptx"
    assert artifact.metadata.params == PARAMS
    assert not world.compiled
    assert (found.hits, found.misses) == (1, 0)


@pytest.mark.parametrize(
    ("n", "aligned", "member"),
    [(33, True, "pointers"), (32, True, "all"), (32, False, "none"), (1, True, "one"),
     (1, False, "none")],
)  # fmt: skip
def test_the_variant_that_uses_most_of_the_arguments_is_taken(
    n: int, aligned: bool, member: str, tmp_path: Path, copy: Any, plain: Any, gpu: Any, array: Any
) -> None:
    pointers = ("x_ptr", "out_ptr")
    variants = {
        "none": plain,
        "pointers": plain.with_hints(pointers),
        "all": plain.with_hints((*pointers, "n")),
        "one": plain.with_hints(pointers, ("n",)),
    }
    rows = {instance: {"cuda:sm_90": f"code/{name}"} for name, instance in variants.items()}
    bundle.load(write(tmp_path / "a.teeny", rows))
    launch(copy, array, n=n, aligned=aligned)
    assert gpu.loaded[-1].read_text() == f"code of code/{member}"


def test_an_instance_with_hints_is_never_taken_for_arguments_that_break_them(
    tmp_path: Path, copy: Any, plain: Any, gpu: Any, array: Any, world: Any
) -> None:
    aligned = plain.with_hints(("x_ptr", "out_ptr"))
    bundle.load(write(tmp_path / "a.teeny", {aligned: {"cuda:sm_90": "code/a"}}))
    launch(copy, array, aligned=False)
    assert len(world.compiled) == 1


def test_the_best_target_that_the_device_runs_is_taken(
    tmp_path: Path, copy: Any, plain: Any, gpu: Any, array: Any
) -> None:
    rows = {plain: {"cuda:sm_75": "code/75", "cuda:sm_80": "code/80", "cuda:sm_120": "code/120"}}
    bundle.load(write(tmp_path / "a.teeny", rows))
    launch(copy, array)
    assert gpu.loaded[-1].read_text() == "code of code/80"


def test_the_bundle_loaded_last_comes_first_and_unload_ends_it(
    tmp_path: Path, copy: Any, plain: Any, array: Any, gpu: Any, module: Module
) -> None:
    first = bundle.load(write(tmp_path / "1.teeny", {plain: {"cuda:sm_90": "code/1"}}))
    second = bundle.load(write(tmp_path / "2.teeny", {plain: {"cuda:sm_90": "code/2"}}))
    assert bundle.loaded() == (second, first)
    launch(copy, array)
    bundle.unload(second)
    launch(copy, array, n=34, num_warps=4, BLOCK=64)
    launch(module(COPY).copy, array)
    texts = [artifact.read_text() for artifact in gpu.loaded]
    assert texts == ["code of code/2", "code of code/1"]


def test_a_variable_names_bundles_and_can_turn_them_off(
    tmp_path: Path,
    copy: Any,
    plain: Any,
    gpu: Any,
    array: Any,
    world: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    path = write(tmp_path / "a.teeny", {plain: {"cuda:sm_90": "code/a"}})
    monkeypatch.setenv("TEENY_BUNDLES", "none")
    launch(copy, array, n=33)
    assert len(world.compiled) == 1
    monkeypatch.setenv("TEENY_BUNDLES", os.pathsep.join([str(path), str(path)]))
    launch(copy, array, n=32)
    assert gpu.loaded[-1].read_text() == "code of code/a"


def test_an_installed_package_brings_the_bundle_of_its_kernels(
    tmp_path: Path, plain: Any, array: Any, gpu: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "site" / "mykernels"
    info = tmp_path / "site" / "mykernels-1.dist-info"
    for folder in (package, info):
        folder.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: mykernels\nVersion: 1\n")
    (info / "entry_points.txt").write_text("[teeny.bundles]\nmykernels = mykernels:a.teeny\n")
    header = "import teeny_triton as tl\nfrom teeny_macros import kernel\n"
    header += "from teeny_triton import Const, Float, Ptr, f32, i32\n"
    (package / "__init__.py").write_text(header + COPY)
    write(package / "a.teeny", {plain: {"cuda:sm_90": "code/a"}})
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    from importlib import import_module

    launch(import_module("mykernels").copy, array)
    assert gpu.loaded[-1].read_text() == "code of code/a"
    monkeypatch.delitem(sys.modules, "mykernels")


def test_a_kernel_in_the_interpreter_asks_no_bundle(
    tmp_path: Path, copy: Any, plain: Any, array: Any, world: Any
) -> None:
    bundle.load(write(tmp_path / "a.teeny", {plain: {"cuda:sm_90": "code/a"}}, sealed=True))
    copy[1](array(), array(), 5)
    assert len(world.compiled) == 1


# --- sealed ---------------------------------------------------------------------------------------


def test_what_a_sealed_bundle_lacks_is_an_error_that_says_what_is_there(
    tmp_path: Path, copy: Any, plain: Any, gpu: Any, array: Any, world: Any
) -> None:
    path = write(tmp_path / "a.teeny", {plain: {"cuda:sm_90": "code/a"}}, sealed=True)
    found = bundle.load(path)
    with pytest.raises(LaunchError) as caught:
        launch(copy, array, BLOCK=128)
    error = caught.value.diagnostics[0]
    assert error.code == "E1030"
    assert "BLOCK=128" in error.message
    assert "x_ptr: Ptr[f32], out_ptr: Ptr[f32], n: i32, BLOCK=64" in error.notes[0]
    assert error.labels
    assert not world.compiled
    assert found.misses == 1


def test_a_target_that_a_sealed_bundle_lacks_is_named(
    tmp_path: Path, copy: Any, plain: Any, gpu: Any, array: Any
) -> None:
    bundle.load(write(tmp_path / "a.teeny", {plain: {"cuda:sm_120": "code/a"}}, sealed=True))
    with pytest.raises(LaunchError, match="cuda:sm_90") as caught:
        launch(copy, array)
    assert caught.value.code == "E1031"
    assert "cuda:sm_120" in caught.value.diagnostics[0].notes[0]


def test_a_changed_kernel_is_told_apart_from_a_missing_instance(
    tmp_path: Path, plain: Any, gpu: Any, array: Any, module: Module
) -> None:
    path = write(tmp_path / "a.teeny", {plain: {"cuda:sm_90": "code/a"}}, sealed=True)
    bundle.load(path)
    changed = module(COPY.replace("i < n)", "i <= n)"), name=plain.reference[0]).copy
    with pytest.raises(LaunchError) as caught:
        launch(changed, array)
    assert "text" in caught.value.diagnostics[0].notes[0]


def test_a_sealed_bundle_leaves_other_kernels_to_the_compiler(
    tmp_path: Path, plain: Any, gpu: Any, array: Any, module: Module, world: Any
) -> None:
    bundle.load(write(tmp_path / "a.teeny", {plain: {"cuda:sm_90": "code/a"}}, sealed=True))
    other = module(COPY.replace("i < n)", "i <= n)")).copy  # of the same name elsewhere
    launch(other, array)
    assert len(world.compiled) == 1


def test_sealed_is_the_choice_of_who_loads_it(
    tmp_path: Path, copy: Any, plain: Any, gpu: Any, array: Any, world: Any
) -> None:
    path = write(tmp_path / "a.teeny", {plain: {"cuda:sm_90": "code/a"}}, sealed=True)
    bundle.load(path, sealed=False)
    launch(copy, array, BLOCK=128)
    assert len(world.compiled) == 1


def test_without_a_compiler_what_a_bundle_lacks_is_said_as_of_a_sealed_one(
    tmp_path: Path, copy: Any, plain: Any, gpu: Any, array: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    bundle.load(write(tmp_path / "a.teeny", {plain: {"cuda:sm_90": "code/a"}}))
    monkeypatch.setattr(devices, "can_compile", lambda: False)
    with pytest.raises(LaunchError) as caught:
        launch(copy, array, BLOCK=128)
    error = caught.value.diagnostics[0]
    assert error.code == "E1030"
    assert "BLOCK=64" in error.notes[0]
    assert "pip install teeny-compiler" in error.helps[-1]


# --- by name --------------------------------------------------------------------------------------


def test_a_kernel_is_launched_by_name_without_its_source(
    tmp_path: Path, plain: Any, gpu: Any, array: Any, world: Any
) -> None:
    pointers = ("x_ptr", "out_ptr")
    rows = {
        plain: {"cuda:sm_90": "code/plain"},
        plain.with_hints(pointers): {"cuda:sm_90": "code/p"},
    }
    found = Bundle(write(tmp_path / "a.teeny", rows))
    kernel = found["copy"]
    launch(kernel, array)
    launch(kernel, array, n=32)
    launch(kernel, array, aligned=False)
    texts = [artifact.read_text() for artifact in gpu.loaded]
    assert texts == ["code of code/p", "code of code/plain"]
    assert len(gpu.launches) == 3
    assert not world.compiled


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (lambda array: (array("f16"), array("f16"), 1), "E1030"),
        (lambda array: (array("f32"), array("f16"), 1), "E1008"),
        (lambda array: (array("f32"), array("f32")), "E1003"),
        (lambda array: (array("f32"), array("f32"), 2**40), "E1010"),
        (lambda array: (array("f32"), array("f32", readonly=True), 1), "E1020"),
    ],
)
def test_arguments_are_checked_without_the_source(
    arguments: Any, code: str, tmp_path: Path, plain: Any, array: Any, world: Any
) -> None:
    found = Bundle(write(tmp_path / "a.teeny", {plain: {"cuda:sm_90": "code/a"}}))
    with pytest.raises(LaunchError) as caught:
        found["copy"].on(1, device="cpu")(*arguments(array))
    assert caught.value.code == code


def test_a_bundle_of_an_older_version_lacks_a_launch_option(
    tmp_path: Path, plain: Any, gpu: Any, array: Any
) -> None:
    def written(change: Callable[[list[tuple[str, Any]]], object]) -> Any:
        index = index_of({plain: {"cuda:sm_90": "code/a"}})
        kernel = index.kernels[0]
        options = list(kernel.instances[0].options)
        change(options)
        row = kernel.instances[0]._replace(options=tuple(options))
        kernel = kernel._replace(instances=(row,), options=dict(options))
        path = tmp_path / f"{len(options)}.teeny"
        with path.open("wb") as file:
            bundle_file.write(file, index._replace(kernels=(kernel,)), {"code/a": b"x"})
        return Bundle(path)["copy"]

    launch(written(lambda options: options.pop()), array)
    assert len(gpu.launches) == 1
    with pytest.raises(LaunchError) as caught:
        launch(written(lambda options: options.append(("from_the_future", 1))), array)
    assert caught.value.code == "E1030"


def test_a_name_that_is_not_there_is_a_coded_error(tmp_path: Path, plain: Any) -> None:
    found = Bundle(write(tmp_path / "a.teeny", {plain: {"cuda:sm_90": "code/a"}}))
    assert list(found) == ["copy"]
    assert "copy" in found
    assert f"{plain.reference[0]}:copy" in found
    with pytest.raises(LaunchError, match="`copy`") as caught:
        found["nope"]
    assert caught.value.code == "E1032"


def test_a_bundled_kernel_is_not_called(tmp_path: Path, plain: Any) -> None:
    found = Bundle(write(tmp_path / "a.teeny", {plain: {"cuda:sm_90": "code/a"}}))
    with pytest.raises(LaunchError) as caught:
        found["copy"]()
    assert caught.value.code == "E1001"


# --- files ----------------------------------------------------------------------------------------


def test_unpacked_code_goes_with_the_process_and_not_with_its_forks(
    tmp_path: Path, plain: Any
) -> None:
    path = write(tmp_path / "a.teeny", {plain: {"cuda:sm_90": "code/a"}})
    text = (
        "import os, sys\n"
        "from teeny_macros.bundle import Bundle\n"
        "found = Bundle(sys.argv[1])\n"
        "row = found.kernels[0].instances[0]\n"
        "file = found.artifact(row, 'cuda:sm_90').path\n"
        "if hasattr(os, 'fork') and os.fork() == 0:\n"
        "    sys.exit()\n"
        "if hasattr(os, 'fork'):\n"
        "    os.wait()\n"
        "assert file.is_file()\n"
        "print(file)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", text, str(path)], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip()
    assert not Path(done.stdout.strip()).exists()


# --- declarations ---------------------------------------------------------------------------------


def test_what_a_kernel_declares_of_its_arrays_is_checked_by_name_as_well(
    tmp_path: Path, module: Module, gpu: Any, array: Any
) -> None:
    from teeny_triton import f32

    options = 'contiguous="x_ptr", separate=("out_ptr",), alignment={"x_ptr": 64}'
    own = module(COPY.replace("@kernel\n", f"@kernel({options})\n")).copy.instantiate(D=f32)
    path = write(tmp_path / "a.teeny", {own: {"cuda:sm_90": "code/a"}})
    declared = Bundle(path)["copy"].declared
    assert declared is not None
    assert declared.to_json() == own.kernel.declared.to_json()
    assert declared.to_json() == {
        "contiguous": ["x_ptr"],
        "separate": ["out_ptr"],
        "alignment": {"x_ptr": 64},
    }
    kernel = Bundle(path)["copy"].options(num_warps=4)
    x, out = (
        array("f32", place="cuda:0", pointer=4096),
        array("f32", place="cuda:0", pointer=1 << 20),
    )
    kernel[1](x, out, 33)
    assert len(gpu.launches) == 1
    for wrong, code in (((x, x, 33), "E1036"), ((_at(array, 4112), out, 33), "E1035")):
        with pytest.raises(LaunchError) as caught:
            kernel[1](*wrong)
        assert caught.value.code == code
    assert len(gpu.launches) == 1


def _at(array: Any, pointer: int) -> Any:
    return array("f32", place="cuda:0", pointer=pointer)


def test_strides_survive_a_bundle_and_older_bundles_declare_nothing(
    tmp_path: Path, module: Module
) -> None:
    from teeny_macros.declared import Declared
    from teeny_triton import f32

    given = Declared({"strides": {"x_ptr": ("n", 1)}})
    again = Declared.from_json(json.loads(json.dumps(given.to_json())))
    assert again.strides == given.strides == {"x_ptr": ("n", 1)}
    plain = module(COPY).copy.instantiate(D=f32)
    path = write(tmp_path / "a.teeny", {plain: {"cuda:sm_90": "code/a"}})
    assert Bundle(path)["copy"].declared is None
    with zipfile.ZipFile(path) as archive:
        assert "declared" not in json.loads(archive.read("bundle.json"))["kernels"][0]
