"""Machine code from the compiler to the driver: made, found, loaded, with the user's lines."""

from __future__ import annotations

import importlib.util
import random
import re
import subprocess
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import teeny_triton as tl
from teeny_compiler import CompileOptions, compile_kernel
from teeny_cuda import cubin
from teeny_cuda.fake_driver import FakeDriver
from teeny_cuda.lines import rewrite_cubin
from teeny_cuda.testing import fake_driver, gpu
from teeny_macros import Target, kernel
from teeny_macros.positions import rewrite_ptx
from teeny_triton import Const, Ptr, f32, i32

if TYPE_CHECKING:
    from teeny_cuda import Device

__all__ = ["gpu"]

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("triton") is None, reason="needs the ptxas that comes with Triton"
)
ROOT = Path(__file__).resolve().parents[1]
SM_90 = Target.cuda("sm_90")


@kernel
def double_rows(x_ptr: Ptr[f32], out_ptr: Ptr[f32], n: i32 | int, BLOCK: Const[int]) -> None:
    """Twice each element, and the largest of the row added."""
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(
        x_ptr + offsets,
        mask=offsets < n,
        other=0.0,
    )
    tl.store(out_ptr + offsets, x * 2 + tl.max(x, axis=0), mask=offsets < n)


def instance() -> Any:
    return double_rows.instantiate(BLOCK=256)


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TEENYC_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


def test_machine_code_is_kept_beside_the_ptx_by_default(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = compile_kernel(instance(), SM_90)
    assert made.cubin is not None
    assert made.cubin == made.stages["cubin"].read_bytes()
    assert made.cubin[:4] == b"\x7fELF"
    monkeypatch.setenv("TEENYC_CUBIN", "off")
    plain = compile_kernel(instance(), SM_90)
    assert plain.cubin is None
    assert plain.path != made.path
    assert plain.read_text() == made.read_text()
    assert compile_kernel(instance(), SM_90, options=CompileOptions(cubin=True)).path == made.path


def test_machine_code_depends_on_no_path_and_no_time(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = compile_kernel(instance(), SM_90)
    other = tmp_path / "another place for temporary files"
    other.mkdir()
    monkeypatch.setenv("TMPDIR", str(other))
    monkeypatch.setenv("TEENYC_CACHE_DIR", str(tmp_path / "other cache"))
    assert compile_kernel(instance(), SM_90).cubin == made.cubin


def test_a_toolchain_without_ptxas_gives_ptx_alone(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEENYC_PTXAS", str(cache / "absent"))
    made = compile_kernel(instance(), SM_90)
    assert made.cubin is None
    assert ".entry double_rows_entry_point(" in made.read_text()


def test_a_ptxas_that_dies_is_a_warning(
    cache: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    dying = cache.with_name("ptxas")
    dying.write_text("#!/bin/sh\nkill -9 $$\n", encoding="utf-8")
    dying.chmod(0o755)
    monkeypatch.setenv("TEENYC_PTXAS", str(dying))
    monkeypatch.delenv("TEENY_LOG", raising=False)
    made = compile_kernel(instance(), SM_90)
    assert made.cubin is None
    assert "warning[W0719]" in capsys.readouterr().err


def tool(name: str) -> str:
    spec = importlib.util.find_spec("triton")
    assert spec is not None
    assert spec.origin is not None
    return str(Path(spec.origin).parent / "backends" / "nvidia" / "bin" / name)


def listing(image: bytes, folder: Path) -> str:
    """What nvdisasm reads: each instruction, with the lines that it comes from."""
    path = folder / "listed.cubin"
    path.write_bytes(image)
    command = [tool("nvdisasm"), "-c", "-gi", str(path)]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


@pytest.mark.parametrize("which", ["here", "vector_add", "matmul"])
@pytest.mark.parametrize("ptxas", ["ptxas", "ptxas-blackwell"])
def test_positions_are_those_of_ptx_that_was_rewritten_before(
    which: str, ptxas: str, cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if which == "here":
        one = instance()
    else:
        monkeypatch.syspath_prepend(str(ROOT / "examples"))
        values = {
            "vector_add": {"D": f32, "BLOCK_SIZE": 1024},
            "matmul": {"H": tl.f16, "BLOCK_M": 64, "BLOCK_N": 64, "BLOCK_K": 32, "GROUP": 8},
        }[which]
        one = getattr(import_module(which), which).instantiate(**values)
    ptx = compile_kernel(one, SM_90).read_text()
    images = []
    for number, text in enumerate((ptx, rewrite_ptx(ptx, one.source_map))):
        source = tmp_path / f"{number}.ptx"
        source.write_text(text, encoding="utf-8")
        out = str(tmp_path / f"{number}.cubin")
        subprocess.run(
            [tool(ptxas), "-lineinfo", "--gpu-name=sm_90a", str(source), "-o", out], check=True
        )
        images.append(Path(out).read_bytes())
    mapped = rewrite_cubin(images[0], one.source_map, one.name, ptx.encode())
    found, wanted = listing(mapped, tmp_path), listing(images[1], tmp_path)
    file, own = one.source_map.lookup(min(one.source_map.origins))[0], f'"{one.name}.py"'
    # Of calls inside of calls ptxas names the canonical file with the user's line.
    assert found.replace(own, f'"{file}"') == wanted.replace(own, f'"{file}"')
    left = re.findall(rf"{own}, line (\d+)", found)
    assert not any(one.source_map.lookup(int(line)) for line in left)
    assert f'File "{file}", line ' in found
    code = re.compile(r"^\s*//##.*\n", re.MULTILINE)
    assert code.sub("", found) == code.sub("", listing(images[0], tmp_path))


def test_damaged_machine_code_is_left_as_it_is_or_rewritten_but_never_fails(cache: Path) -> None:
    image = compile_kernel(instance(), SM_90).cubin
    assert image is not None
    source_map, rng = instance().source_map, random.Random(5)
    for _ in range(300):
        broken = bytearray(image)
        for _ in range(rng.choice((1, 4, 30))):
            broken[rng.randrange(len(broken))] = rng.randrange(256)
        rewrite_cubin(bytes(broken[: rng.choice((len(broken), rng.randrange(len(broken))))]),
                      source_map, "double_rows")  # fmt: skip


def run(device: Device, program: Any) -> None:
    x = np.arange(512, dtype=np.float32)
    given, out = device.copy_of(x), device.buffer(512, "f32")
    device.launch(program, (2, 1, 1), [given, out, 512])
    wanted = x * 2 + np.repeat(x.reshape(2, 256).max(axis=1), 256)
    np.testing.assert_array_equal(out.to_host(), wanted)


def test_what_the_compiler_makes_is_what_the_driver_gets(cache: Path) -> None:
    with fake_driver(FakeDriver()) as fake:
        from teeny_cuda import Device

        program = Device(0).load(compile_kernel(instance(), SM_90))
        assert fake.compiled == 0
        assert program.attributes.binary_architecture == 90


# --- on a GPU -------------------------------------------------------------------------------------


@pytest.fixture
def loads(gpu: Device, monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, int]]:
    """Each load from now on: `cubin` or `ptx`, and the driver's answer."""
    driver = gpu.context.driver
    found: list[tuple[str, int]] = []
    attempt = type(driver).attempt

    def noted(self: Any, name: str, *args: Any) -> tuple[int, Any]:
        answer = attempt(self, name, *args)
        if name == "cuModuleLoadDataEx":
            found.append(("cubin" if args[0][:4] == b"\x7fELF" else "ptx", answer[0]))
        return answer

    monkeypatch.setattr(type(driver), "attempt", noted)
    monkeypatch.setattr(cubin, "_told", False)
    return found


@pytest.mark.gpu
def test_the_driver_takes_machine_code_with_the_users_lines(
    gpu: Device, loads: list[tuple[str, int]], cache: Path
) -> None:
    from teeny_compiler.reading.assembler import Assembler
    from teeny_compiler.reading.ptx_facts import read_log

    made = compile_kernel(instance(), gpu.target)
    program = gpu.load(made)
    assert loads == [("cubin", 0)]
    run(gpu, program)
    said = read_log(Assembler().cubin(made).log)
    assert program.attributes.registers == said.registers


@pytest.mark.gpu
@pytest.mark.parametrize("damage", ["another architecture", "empty"])
def test_a_real_driver_that_refuses_machine_code_gets_the_ptx(
    damage: str,
    gpu: Device,
    loads: list[tuple[str, int]],
    cache: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("TEENY_LOG", raising=False)  # `quiet` would hide the warning
    made = compile_kernel(instance(), gpu.target)
    assert made.cubin is not None
    if damage == "another architecture":
        foreign = "sm_80" if gpu.capability >= (9, 0) else "sm_90"
        made.cubin = compile_kernel(instance(), Target.cuda(foreign)).cubin
    else:
        made.cubin = bytes(4096)
    run(gpu, gpu.load(made))
    assert ("ptx", 0) in loads
    assert all(number for kind, number in loads[:1] if kind == "cubin")
    assert "warning[W1090]" in capsys.readouterr().err


@pytest.mark.gpu
def test_zero_lets_the_real_driver_compile(
    gpu: Device,
    loads: list[tuple[str, int]],
    cache: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("TEENY_CUBIN_CACHE", "0")
    run(gpu, gpu.load(compile_kernel(instance(), gpu.target)))
    assert loads == [("ptx", 0)]


@pytest.mark.gpu
def test_linked_code_is_kept_only_where_it_needs_no_more(
    gpu: Device, loads: list[tuple[str, int]], cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEENYC_CUBIN", "off")
    made = compile_kernel(instance(), gpu.target)
    first = gpu.load(made)
    again = gpu.load(made)
    assert again.attributes.registers == first.attributes.registers
    (kept,) = made.path.parent.glob("*.sm_*.cubin")
    assert loads[-1][0] == ("cubin" if kept.stat().st_size > 100 else "ptx")
    run(gpu, again)


@pytest.mark.gpu
def test_a_bundle_with_machine_code_runs(
    gpu: Device, loads: list[tuple[str, int]], cache: Path, tmp_path: Path
) -> None:
    from teeny_compiler.bundling.build import write_bundle
    from teeny_compiler.bundling.choice import Wanted
    from teeny_macros.bundle import Bundle

    path = tmp_path / "one.teeny"
    write_bundle([Wanted(instance(), (gpu.target,))], path, name="one", cubin=True, progress=False)
    bundle = Bundle(path)  # what it has taken out goes with it
    artifact = bundle.find(instance(), [str(gpu.target)])
    assert artifact is not None
    run(gpu, gpu.load(artifact))
    assert loads == [("cubin", 0)]
