"""Building bundles: what goes in, manifests, the command, stubs, headers, what is refused."""

from __future__ import annotations

import importlib.util
import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from teeny_compiler import build_bundle, cli, every_instance
from teeny_compiler.bundling import choice
from teeny_compiler.bundling.header import header_text
from teeny_compiler.bundling.manifest import read_manifest
from teeny_compiler.bundling.stub import stub_text
from teeny_macros.bundle import Bundle
from teeny_macros.diagnostics import LaunchError, ToolchainError

pytest.importorskip("teenyc")
pytest.importorskip("llvmlite")
pytestmark = pytest.mark.usefixtures("cache_dir")

SOURCE = '''\
import teeny_triton as tl
from typing import TypeVar
from teeny_macros import kernel
from teeny_compiler import Config, autotune
from teeny_triton import Const, Float, Ptr, f16, f32, i32

D = TypeVar("D", bound=Float)


@kernel
def scale(x_ptr: Ptr[D], factor: D | float, n: i32 | int, BLOCK: Const[int] = 64) -> None:
    """Multiplies each element."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n)
    tl.store(x_ptr + i, x * factor, mask=i < n)


@kernel
def fill(x_ptr: Ptr[f32], value: f32 | float, w_ptr: Ptr[f32] | None = None) -> None:
    tl.store(x_ptr + tl.arange(0, 8), value)


@kernel(dtypes=[f16, f32])
def zero(x_ptr: Ptr[D]) -> None:
    tl.store(x_ptr, 0.0)


@autotune(configs=[Config({"BLOCK": 64}, num_warps=1), Config({"BLOCK": 128}, num_warps=2)])
@kernel
def tuned(x_ptr: Ptr[f32], BLOCK: Const[int] = tl.auto()) -> None:
    tl.store(x_ptr + tl.arange(0, BLOCK), 1.0)
'''
LISTED = "\n\nbundle_instances = [scale.instantiate(D=f32), [fill]]\n"


@pytest.fixture
def load(tmp_path: Path) -> Callable[..., ModuleType]:
    """Import the kernels from a file, with more text behind them."""

    def make(more: str = "", name: str = "kernels_to_bundle") -> ModuleType:
        path = tmp_path / f"{name}.py"
        path.write_text(SOURCE + more, encoding="utf-8")
        spec = importlib.util.spec_from_file_location(name, path)
        assert spec is not None
        assert spec.loader is not None
        found = importlib.util.module_from_spec(spec)
        sys.modules[name] = found
        spec.loader.exec_module(found)
        return found

    return make


@pytest.fixture
def kernels(load: Callable[..., ModuleType]) -> Any:
    return load()


def constants(instances: list[Any]) -> list[dict[str, Any]]:
    return [dict(instance.specialization.constants) for instance in instances]


# --- what goes in ---------------------------------------------------------------------------------


def test_a_list_of_choices_gives_every_combination(kernels: Any) -> None:
    from teeny_triton import f16, f32

    found = every_instance(kernels.scale, D=[f16, f32], BLOCK=[64, 128], num_warps=1)
    assert [(dict(i.specialization.types)["x_ptr"].dtype, *constants([i])[0].values())
            for i in found] == [("f16", 64), ("f16", 128), ("f32", 64), ("f32", 128)]  # fmt: skip


def test_a_tuned_kernel_gives_each_of_its_configs(kernels: Any) -> None:
    found = every_instance(kernels.tuned)
    assert constants(found) == [{"BLOCK": 64}, {"BLOCK": 128}]
    assert [instance.options.num_warps for instance in found] == [1, 2]


def test_the_dtypes_of_a_kernel_are_its_choices_where_none_is_given(kernels: Any) -> None:
    from teeny_triton import f32

    assert len(every_instance(kernels.zero)) == 2
    assert len(every_instance(kernels.zero, D=f32)) == 1


def test_a_module_lists_its_instances_or_has_a_function_that_does(
    load: Callable[..., ModuleType],
) -> None:
    listed = choice.instances_in(load(LISTED))
    assert [row.instance.name for row in listed] == ["scale", "fill"]
    function = "\n\ndef bundle_instances():\n    return [zero.instantiate(D=f16)]\n"
    assert [row.instance.name for row in choice.instances_in(load(function))] == ["zero"]


def test_a_function_that_takes_a_target_is_asked_for_each(load: Callable[..., ModuleType]) -> None:
    text = (
        "\n\ndef bundle_instances(target):\n"
        "    return [scale.instantiate(D=f32, BLOCK=128 if target == 'sm_90' else 64)]\n"
    )
    targets = choice.parse_targets(["sm_90,x86-64"])
    listed = choice.instances_in(load(text), targets)
    assert constants([row.instance for row in listed]) == [{"BLOCK": 128}, {"BLOCK": 64}]
    assert [row.targets for row in listed] == [(targets[0],), (targets[1],)]


@pytest.mark.parametrize("more", ["", "\n\nbundle_instances = [7]\n"])
def test_a_module_that_does_not_say_what_to_bundle_is_refused(
    more: str, load: Callable[..., ModuleType]
) -> None:
    with pytest.raises(ToolchainError) as caught:
        choice.instances_in(load(more))
    assert caught.value.code == "E0970"
    assert caught.value.diagnostics[0].notes


def test_variants_are_what_launches_know_of_their_arguments(kernels: Any) -> None:
    from teeny_triton import f32

    plain = kernels.scale.instantiate(D=f32)
    found = [v.specialization.divisible_by_16 for v in choice.variants(plain)]
    assert found == [(), ("x_ptr",), ("x_ptr", "n")]
    assert choice.variants(plain, "none") == [plain]
    hinted = plain.with_hints(equal_to_1=("n",))
    assert choice.variants(hinted) == [hinted]


@pytest.mark.parametrize("given", ["host", "cpu:host", "interpret"])
def test_a_target_of_this_machine_alone_is_refused(given: str) -> None:
    with pytest.raises(ToolchainError) as caught:
        choice.parse_targets([f"sm_90,{given}"])
    assert caught.value.code == "E0972"


def test_targets_have_short_names() -> None:
    found = [str(target) for target in choice.parse_targets(["sm_90,cpu", "x86-64,cuda:sm_80"])]
    assert found == ["cuda:sm_90", "cpu:x86-64", "cpu:x86-64-v3", "cpu:aarch64", "cuda:sm_80"]
    with pytest.raises(LaunchError):
        choice.parse_targets(["sm_1"])


def test_descriptors_are_in_stubs_and_headers_and_are_launched_by_name(
    load: Callable[..., ModuleType], tmp_path: Path
) -> None:
    np = pytest.importorskip("numpy")
    pytest.importorskip("teeny_cpu")
    import teeny_triton as tl
    from teeny_triton import f32

    text = "\n\nfrom teeny_triton import R2, TensorDescriptor\n\n@kernel\n"
    text += "def flip(x: TensorDescriptor[f32, R2], y: TensorDescriptor[f32, R2]) -> None:\n"
    text += "    y.store((0, 0), x.load((0, 0)).T)\n"
    block = tl.descriptor_type(f32, (4, 4))
    instance = load(text).flip.instantiate(x=block, y=block)
    path = tmp_path / "a.teeny"
    build_bundle([instance], path, targets=["cpu"])
    found = Bundle(path)
    assert "    x: TensorDescriptor[f32, R2]," in stub_text(found)
    assert "flip_0_args" in header_text(found)
    x = np.arange(12, dtype=np.float32).reshape(3, 4)
    y = np.zeros((4, 4), np.float32)
    found["flip"][1](tl.tensor_descriptor(x, (4, 4)), tl.tensor_descriptor(y, (4, 4)))
    assert (y[:, :3] == x.T).all()
    assert found.hits == 1


# --- the file -------------------------------------------------------------------------------------


def test_two_builds_give_the_same_bytes(
    kernels: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = []
    for turn in ("first", "second"):
        monkeypatch.setenv("TEENYC_CACHE_DIR", str(tmp_path / turn))
        path = tmp_path / f"{turn}.teeny"
        build_bundle([kernels.fill], path, targets=["x86-64", "aarch64"], name="same")
        texts.append(path.read_bytes())
    assert texts[0] == texts[1]
    assert str(tmp_path).encode() not in texts[0]


def test_hints_that_change_no_code_take_no_room(kernels: Any, tmp_path: Path) -> None:
    from teeny_triton import f32

    path = tmp_path / "a.teeny"
    made = build_bundle([kernels.scale.instantiate(D=f32)], path, targets=["aarch64"])
    codes = {code.file for row in Bundle(path).kernels[0].instances for code in row.code.values()}
    assert made.instances == len(codes)


def test_what_cannot_be_compiled_leaves_the_old_bundle(
    load: Callable[..., ModuleType], tmp_path: Path
) -> None:
    path = tmp_path / "a.teeny"
    path.write_bytes(b"old")
    bad = load(
        "\n\n@kernel\ndef bad(x_ptr: Ptr[f32]) -> None:\n    tl.store(x_ptr, tl.arange(0, 3))\n"
    )
    with pytest.raises(ToolchainError) as caught:
        build_bundle([bad.bad.instantiate()], path, targets=["x86-64"], hints="none")
    error = caught.value.diagnostics[0]
    assert error.code == "E0973"
    assert "E0401" in error.notes[0]
    assert path.read_bytes() == b"old"
    assert not list(tmp_path.glob("tmp*"))


def test_a_tuned_kernel_takes_its_configs_from_a_bundle(
    kernels: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    np = pytest.importorskip("numpy")
    pytest.importorskip("teeny_cpu")
    from teeny_macros import bundle

    path = tmp_path / "a.teeny"
    build_bundle(every_instance(kernels.tuned), path, targets=["cpu"], sealed=True)
    monkeypatch.setattr(bundle, "_registry", bundle._Registry())
    monkeypatch.setenv("TEENYC_PATH", str(tmp_path / "no-teenyc"))
    monkeypatch.setenv("TEENYC_CACHE_DIR", str(tmp_path / "empty"))
    found = bundle.load(path)
    x = np.zeros(128, np.float32)
    kernels.tuned[1](x)
    assert x[:64].all()
    assert (len(kernels.tuned.tunings[-1].rows), found.misses) == (2, 0)


# --- manifests ------------------------------------------------------------------------------------

MANIFEST = """\
[bundle]
name = "mine"
target = ["x86-64"]
sealed = true
modules = ["listed_kernels"]

[[kernel]]
kernel = "{file}:scale"
choices = {{ D = ["f16", "f32"], BLOCK = 32, num_warps = [1] }}
target = ["aarch64"]
hints = "none"
"""


def test_a_manifest_says_it_for_kernels_that_do_not(
    load: Callable[..., ModuleType],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    load(LISTED, "listed_kernels")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("TEENY_LOG", "quiet")
    manifest = tmp_path / "mine.toml"
    manifest.write_text(MANIFEST.format(file=(tmp_path / "listed_kernels.py").as_posix()))
    out = tmp_path / "out.teeny"
    assert cli.main(["bundle", "build", str(manifest), "-o", str(out)]) == 0
    assert capsys.readouterr().out.splitlines() == [str(out)]
    found = Bundle(out)
    assert (found.name, found.sealed) == ("mine", True)
    targets = {row.name: {t for one in row.instances for t in one.code} for row in found.kernels}
    assert targets == {"fill": {"cpu:x86-64"}, "scale": {"cpu:x86-64", "cpu:aarch64"}}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("[bundle", "no TOML"),
        ("[bundel]", "`bundel`"),
        ("[bundle]\ntargets = []", "`targets`"),
        ("[bundle]\nsealed = 1", "`sealed`"),
        ("[bundle]\nhints = 'all'", "`hints`"),
        ("[bundle]\ntarget = [90]", "`target`"),
        ("[[kernel]]\nchoices = {}", "lacks `kernel`"),
        ("[kernel]\nkernel = 'a:b'", "`kernel`"),
    ],
)
def test_a_manifest_with_a_mistake_is_refused(text: str, reason: str, tmp_path: Path) -> None:
    path = tmp_path / "a.toml"
    path.write_text(text)
    with pytest.raises(ToolchainError, match=reason) as caught:
        read_manifest(str(path))
    assert caught.value.code == "E0971"


def test_a_manifest_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ToolchainError) as caught:
        read_manifest(str(tmp_path / "none.toml"))
    assert caught.value.code == "E0971"


# --- the command ----------------------------------------------------------------------------------


@pytest.fixture
def built(load: Callable[..., ModuleType], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A bundle of `scale` and `fill` that the command built."""
    load(LISTED)
    monkeypatch.setenv("TEENY_LOG", "quiet")
    out = tmp_path / "kernels.teeny"
    arguments = ["bundle", "build", f"{tmp_path}/kernels_to_bundle.py", "-t", "x86-64,aarch64"]
    assert cli.main([*arguments, "-o", str(out), "--sealed", "--stage", "mlir"]) == 0
    return out


def test_a_bundle_is_listed_shown_and_verified(
    built: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    assert cli.main(["bundle", "ls", str(built)]) == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == ["fill", "scale"]
    assert cli.main(["bundle", "ls", str(built), "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert rows[1]["targets"] == ["cpu:aarch64", "cpu:x86-64"]
    assert cli.main(["bundle", "show", str(built), "scale"]) == 0
    shown = capsys.readouterr().out
    assert "name: kernels, sealed" in shown
    assert "Multiplies each element." in shown
    assert "x_ptr: Ptr[f32], factor: f32, n: i32, BLOCK=64" in shown
    assert cli.main(["bundle", "show", str(built), "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["kernels"]) == 2
    assert cli.main(["bundle", "verify", str(built)]) == 0
    data = bytearray(built.read_bytes())
    data[data.index(b"tt.func")] ^= 1
    built.write_bytes(data)
    assert cli.main(["bundle", "verify", str(built), "--json"]) == 1
    assert len(json.loads(capsys.readouterr().out)["faults"]) == 1


def test_code_is_extracted_with_its_metadata(
    built: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    out = tmp_path / "out"
    arguments = ["bundle", "extract", str(built), "-o", str(out), "--kernel", "fill"]
    assert cli.main([*arguments, "-t", "aarch64"]) == 0
    paths = [Path(line) for line in capsys.readouterr().out.splitlines()]
    assert {path.suffix for path in paths} == {".o", ".mlir"}
    assert {path.parent for path in paths} == {out / "fill" / "aarch64"}
    (first, *_) = (out / "fill" / "aarch64").glob("*.metadata")
    assert json.loads(first.read_text())["kernel"] == "fill"


def test_choices_come_from_the_command_line(
    load: Callable[..., ModuleType], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    load()
    what = f"{tmp_path}/kernels_to_bundle.py:scale"
    arguments = ["bundle", "build", what, "-D", "D=f16", "-D", "D=f32", "--hints", "none"]
    out = tmp_path / "a.teeny"
    assert cli.main([*arguments, "-t", "x86-64", "-o", str(out), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["instances"] == 2
    assert cli.main([*arguments, "-o", str(out)]) == 1
    assert "E0970" in capsys.readouterr().err


def test_a_function_of_a_module_lists_instances_for_its_arguments(
    load: Callable[..., ModuleType], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    load(
        "\n\ndef some(block, names, sizes=()):\n"
        "    assert (names, sizes) == ('f16', [1, 2])\n"
        "    return [scale.instantiate(D=f32, BLOCK=block)]\n"
    )
    what = f"{tmp_path}/kernels_to_bundle.py:some"
    given = ["-D", "block=32", "-D", "names=f16", "-D", "sizes=1", "-D", "sizes=2"]
    out = tmp_path / "a.teeny"
    arguments = ["bundle", "build", what, *given, "-t", "x86-64", "--hints", "none", "-o", str(out)]
    assert cli.main([*arguments, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["instances"] == 1
    assert cli.main([*arguments[:3], "-D", "block", *arguments[-6:]]) == 1
    assert "E0932" in capsys.readouterr().err


# --- for other programs ---------------------------------------------------------------------------


def test_the_stub_narrows_types_to_what_is_there(built: Path) -> None:
    text = stub_text(Bundle(built))
    assert "BLOCK: Const[Literal[64]] = ...," in text
    assert "x_ptr: Ptr[f32]," in text
    assert "factor: f32 | float," in text
    assert '"""Multiplies each element.' in text
    assert "1 instance, for cpu:aarch64, cpu:x86-64." in text


def test_checkers_accept_the_stub_and_refuse_what_the_bundle_lacks(
    built: Path, tmp_path: Path
) -> None:
    pytest.importorskip("mypy", reason="mypy is not installed")
    assert cli.main(["bundle", "stub", str(built), "-o", f"{tmp_path}/ops.pyi", "--module"]) == 0
    program = tmp_path / "program.py"
    program.write_text(
        "from ops import scale\nfrom teeny_triton import DeviceArray, f32, f64\n"
        "def run(x: DeviceArray[f32], y: DeviceArray[f64]) -> None:\n"
        "    scale[1](x, 2.0, 4)\n"
        "    scale[1](y, 2.0, 4)\n"
        "    scale[1](x, 2.0, 4, BLOCK=32)\n"
    )
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "program.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    wrong = {line.split(":")[1] for line in done.stdout.splitlines() if ": error:" in line}
    assert wrong == {"5", "6"}, done.stdout


@pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")
@pytest.mark.parametrize("language", ["c", "c++"])
def test_the_header_compiles_without_a_warning(built: Path, tmp_path: Path, language: str) -> None:
    path = tmp_path / "kernels.h"
    path.write_text(header_text(Bundle(built)))
    standard = "-std=c99" if language == "c" else "-std=c++11"
    done = subprocess.run(
        ["gcc", "-x", language, standard, "-Wall", "-Wextra", "-pedantic", "-Werror",
         "-fsyntax-only", str(path)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if language == "c++" and "cc1plus" in done.stderr:
        pytest.skip("gcc has no C++")
    assert done.returncode == 0, done.stderr


PROGRAM = r"""
#include <stdio.h>
#include "kernels.h"
extern int32_t scale_entry_point(const uint64_t *, int64_t, int64_t, void *);
static _Alignas(64) unsigned char arena[1 << 16];
int main(void) {
  float x[100];
  for (int i = 0; i < 100; i++) x[i] = (float)i;
  const teeny_program *program = &scale_programs[ROW];
  if (program->arena_bytes > sizeof arena) return 2;
  scale_0_args args = {(uint64_t)(uintptr_t)x, 0.5f, 99, 0, 0};
  teeny_extent extents[SCALE_0_EXTENTS] = {{args.x_ptr, sizeof x}};
  int64_t error[8] = {0};
  uint64_t words[SCALE_0_WORDS];
  scale_0_words(&args, 2, 1, 1, 1, extents, error, words);
  if (scale_entry_point(words, 0, 2, arena)) return 3;
  for (int i = 0; i < 100; i++) if (x[i] != (i < 99 ? 0.5f * (float)i : 99.0f)) return 4;
  puts(program->instance);
  return 0;
}
"""


@pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")
def test_a_c_program_runs_code_of_the_bundle_by_its_header(built: Path, tmp_path: Path) -> None:
    import platform

    if platform.machine() not in ("x86_64", "AMD64") or sys.platform != "linux":
        pytest.skip("the object is for x86-64 and Linux")
    found = Bundle(built)
    (tmp_path / "kernels.h").write_text(header_text(found))
    rows = [
        (instance, target, code)
        for instance in found.row("scale").instances
        for target, code in instance.code.items()
    ]
    number, member = next(
        (at, code.file)
        for at, (instance, target, code) in enumerate(rows)
        if target == "cpu:x86-64" and not instance.hints
    )
    (tmp_path / "scale.o").write_bytes(found.read(member))
    (tmp_path / "program.c").write_text(PROGRAM)
    command = ["gcc", "-std=c11", "-Wall", "-Werror", f"-DROW={number}", "program.c", "scale.o"]
    subprocess.run([*command, "-lm", "-o", "program"], cwd=tmp_path, check=True)
    done = subprocess.run(
        [str(tmp_path / "program")], capture_output=True, text=True, check=False, timeout=10
    )
    assert done.returncode == 0
    assert done.stdout == "x_ptr: Ptr[f32], factor: f32, n: i32; BLOCK=64\n"
