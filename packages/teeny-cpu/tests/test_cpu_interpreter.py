"""Launches on the host: what reaches the interpreter, what is refused, and whole kernels."""

from __future__ import annotations

from pathlib import Path
from types import MappingProxyType, SimpleNamespace
from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy as np
import pytest

import teeny_triton as tl
from teeny_cpu import Interpreter, interpreted
from teeny_macros import kernel
from teeny_macros.artifact import Artifact
from teeny_macros.codes import I0000
from teeny_macros.diagnostics import LaunchError, TeenyError
from teeny_macros.source import Origin, SourceMap, Span
from teeny_macros.target import Target
from teeny_triton import Const, Ptr, f32, i32
from teeny_triton.triton_lang import TRITON, TRITON_SHA

if TYPE_CHECKING:
    from conftest import MakeArtifact, Recorder

PARAMS = [
    ("x_ptr", "pointer", "f32"),
    ("out_ptr", "pointer", "bf16"),
    ("n", "scalar", "i32"),
    ("scale", "scalar", "f16"),
    ("flag", "scalar", "i1"),
]


def _good() -> list[Any]:
    return [np.zeros(4, np.float32), np.zeros(4, ml_dtypes.bfloat16), 4, 0.5, True]


def test_arrays_and_numbers_reach_the_interpreter_as_they_are(
    device: Interpreter, artifact_of: MakeArtifact, recorder: Recorder
) -> None:
    program = device.load(artifact_of(PARAMS, unit="# text"))
    args = _good()
    device.launch(program, (2, 3), args, stream=device.stream())
    device.synchronize()
    assert recorder.texts == ["# text"]
    grid, given = recorder.launches[0]
    assert grid == (2, 3, 1)
    assert given[0] is args[0]
    assert given[1] is args[1]
    assert given[2:] == [4, 0.5, 1]


def test_none_and_typed_arrays_and_buffers_are_pointers(
    device: Interpreter, artifact_of: MakeArtifact, recorder: Recorder
) -> None:
    program = device.load(artifact_of(PARAMS))
    bits = np.zeros(4, np.uint16)
    buffer = device.buffer(4, "f32")
    device.launch(program, 1, [None, SimpleNamespace(array=bits, dtype="bf16"), *_good()[2:]])
    device.launch(program, 1, [buffer, *_good()[1:]])
    assert recorder.launches[0][1][0] is None
    assert recorder.launches[0][1][1] is bits
    assert recorder.launches[1][1][0] is buffer.array


@pytest.mark.parametrize("grid", [0, (0,), (4, 0, 1), [0, 0, 0]])
def test_an_empty_grid_runs_nothing(
    device: Interpreter, artifact_of: MakeArtifact, recorder: Recorder, grid: Any
) -> None:
    device.launch(device.load(artifact_of(PARAMS)), grid, _good())
    assert not recorder.launches


def test_no_axis_of_the_grid_has_a_limit(
    device: Interpreter, artifact_of: MakeArtifact, recorder: Recorder
) -> None:
    device.launch(device.load(artifact_of(PARAMS)), (1, 65536, 70000), _good())
    assert recorder.launches[0][0] == (1, 65536, 70000)


@pytest.mark.parametrize("grid", [-1, (1, -1), (), (1, 1, 1, 1), 1.5, (1.0,), None, "12"])
def test_a_wrong_grid_is_refused(
    device: Interpreter, artifact_of: MakeArtifact, recorder: Recorder, grid: Any
) -> None:
    with pytest.raises(LaunchError) as caught:
        device.launch(device.load(artifact_of(PARAMS)), grid, _good())
    assert caught.value.code == "E1105"
    assert not recorder.launches


class _OnGpu:
    __cuda_array_interface__ = MappingProxyType({"version": 3})


_MISALIGNED = np.zeros(20, np.uint8)[1:17].view(np.float32)


@pytest.mark.parametrize(
    ("place", "value", "code", "words"),
    [
        (0, np.zeros(4), "E1107", "`x_ptr` takes an array of f32, and an array of f64 is given"),
        (0, np.zeros(4, "c8"), "E1107", "an array of complex64"),
        (0, 3.0, "E1107", "`3.0` is given"),
        (0, [1.0], "E1107", "a list is given"),
        (0, _OnGpu(), "E1109", "`x_ptr` lies on a GPU"),
        (0, _MISALIGNED, "E1110", "no multiple of 4 bytes"),
        (1, np.zeros(4, np.uint16), "E1107", "tl.typed(array, bf16)"),
        (2, 4.0, "E1107", "`n` takes a scalar of i32, and `4.0` is given"),
        (2, None, "E1107", "`n`"),
        (2, np.zeros(3, np.int32), "E1107", "a ndarray is given"),
        (2, 2**31, "E1108", "cannot hold 2147483648"),
        (2, np.int64(-(2**31) - 1), "E1108", "i32 holds -2147483648 to 2147483647"),
        (3, "0.5", "E1107", "`scale`"),
        (3, 65520.0, "E1108", "f16, which cannot hold 65520.0"),
        (4, 2, "E1108", "i1 holds 0 to 1"),
        (4, 0.0, "E1107", "`flag`"),
    ],
)
def test_a_wrong_argument_is_refused_and_named(
    device: Interpreter,
    artifact_of: MakeArtifact,
    recorder: Recorder,
    place: int,
    value: Any,
    code: str,
    words: str,
) -> None:
    args = _good()
    args[place] = value
    with pytest.raises(LaunchError) as caught:
        device.launch(device.load(artifact_of(PARAMS)), 1, args)
    assert caught.value.code == code
    assert words in str(caught.value)
    assert not recorder.launches


@pytest.mark.parametrize(
    ("place", "value", "given"),
    [(4, np.True_, 1), (4, 0, 0), (2, np.int8(5), 5), (2, True, 1), (3, np.float32(1.5), 1.5)],
)
def test_numpy_scalars_are_numbers(
    device: Interpreter,
    artifact_of: MakeArtifact,
    recorder: Recorder,
    place: int,
    value: Any,
    given: float,
) -> None:
    args = _good()
    args[place] = value
    device.launch(device.load(artifact_of(PARAMS)), 1, args)
    assert recorder.launches[0][1][place] == given


def test_an_fp8_scalar_is_refused(
    device: Interpreter, artifact_of: MakeArtifact, recorder: Recorder
) -> None:
    program = device.load(artifact_of([("x", "scalar", "f8e5m2")]))
    with pytest.raises(LaunchError) as caught:
        device.launch(program, 1, [1.0])
    assert caught.value.code == "E1107"


def test_a_wrong_number_of_arguments_names_the_parameters(
    device: Interpreter, artifact_of: MakeArtifact, recorder: Recorder
) -> None:
    with pytest.raises(LaunchError) as caught:
        device.launch(device.load(artifact_of(PARAMS)), 1, _good()[:3])
    assert caught.value.code == "E1106"
    assert "x_ptr, out_ptr, n, scale, flag" in str(caught.value)


def test_a_stream_of_another_device_is_refused(
    device: Interpreter, artifact_of: MakeArtifact, recorder: Recorder
) -> None:
    with pytest.raises(LaunchError) as caught:
        device.launch(device.load(artifact_of(PARAMS)), 1, _good(), stream=7)
    assert caught.value.code == "E1115"


def test_code_for_another_target_is_refused(
    device: Interpreter, artifact_of: MakeArtifact, recorder: Recorder
) -> None:
    artifact = artifact_of(PARAMS)
    artifact.target = Target.cuda("sm_90")
    with pytest.raises(LaunchError) as caught:
        device.load(artifact)
    assert caught.value.code == "E1103"


def test_a_unit_that_is_gone_is_refused(
    device: Interpreter, artifact_of: MakeArtifact, recorder: Recorder
) -> None:
    artifact = artifact_of(PARAMS)
    artifact.path.unlink()
    with pytest.raises(LaunchError) as caught:
        device.load(artifact)
    assert caught.value.code == "E1104"


def test_a_missing_interpreter_says_what_to_install(
    device: Interpreter, artifact_of: MakeArtifact, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(interpreted, "_loaders", {})
    monkeypatch.setattr("importlib.metadata.entry_points", lambda **_: [])
    with pytest.raises(LaunchError) as caught:
        device.load(artifact_of(PARAMS))
    assert caught.value.code == "E1101"
    assert "pip install 'teenyc[interpret]'" in str(caught.value)


def test_an_interpreter_that_cannot_be_imported_says_why(
    device: Interpreter, artifact_of: MakeArtifact, monkeypatch: pytest.MonkeyPatch
) -> None:
    def load() -> None:
        raise ImportError("No module named 'teenyc'")

    monkeypatch.setattr(interpreted, "_loaders", {})
    monkeypatch.setattr("importlib.metadata.entry_points", lambda **_: [SimpleNamespace(load=load)])
    with pytest.raises(LaunchError) as caught:
        device.load(artifact_of(PARAMS))
    assert caught.value.code == "E1101"
    assert "No module named 'teenyc'" in str(caught.value)


def test_an_error_in_the_unit_is_shown_at_the_users_line(
    device: Interpreter, artifact_of: MakeArtifact, recorder: Recorder, tmp_path: Path
) -> None:
    mine = tmp_path / "mine.py"
    mine.write_text("# one\n# two\n    x = tl.load(x_ptr)\n", encoding="utf-8")
    source_map = SourceMap({5: Origin(str(mine), 3, ((5, 3, 9),))})
    error = I0000.at(Span("k.py", 5, 9, 5, 16), "here", where="a test", what="it fails")
    error.also(Span("teeny_triton.py", 5, 1, 5, 2), "in the language")
    recorder.error = error
    program = device.load(artifact_of(PARAMS, source_map=source_map))
    with pytest.raises(TeenyError) as caught:
        device.launch(program, 1, _good())
    first, second = caught.value.diagnostics[0].labels
    assert (first.span.file, first.span.line, first.span.column) == (str(mine), 3, 13)
    assert first.source == "    x = tl.load(x_ptr)"
    assert second.span.file == "teeny_triton.py"


# --- whole kernels in teenyc's interpreter -------------------------------------------------------


@kernel
def add_scaled(
    x_ptr: Ptr[f32], out_ptr: Ptr[f32], n: i32, scale: f32, BLOCK_SIZE: Const[int]
) -> None:
    offsets = tl.program_id(0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    tl.store(out_ptr + offsets, x + x * scale, mask=mask)


@kernel
def store_too_far(out_ptr: Ptr[f32], BLOCK_SIZE: Const[int]) -> None:
    offsets = tl.arange(0, BLOCK_SIZE)
    tl.store(out_ptr + offsets, tl.full((BLOCK_SIZE,), 1.0, f32))


def _artifact(
    artifact_of: MakeArtifact, source: Any, params: list[tuple[str, str, str]]
) -> Artifact:
    instance = source.instantiate(BLOCK_SIZE=32)
    unit = instance.unit(TRITON, TRITON_SHA).render()
    return artifact_of(params, unit=unit, kernel=instance.name, source_map=instance.source_map)


@pytest.mark.parametrize("n", [0, 1, 31, 32, 33, 1000])
def test_a_kernel_gives_the_numbers_of_numpy(
    device: Interpreter, artifact_of: MakeArtifact, n: int
) -> None:
    params = [
        ("x_ptr", "pointer", "f32"),
        ("out_ptr", "pointer", "f32"),
        ("n", "scalar", "i32"),
        ("scale", "scalar", "f32"),
    ]
    program = device.load(_artifact(artifact_of, add_scaled, params))
    x = np.linspace(-3, 5, n, dtype=np.float32)
    out = device.buffer(n, "f32")
    device.launch(program, -(-n // 32), [x, out, n, 0.25])
    assert np.array_equal(out.to_host(), x + x * np.float32(0.25))


def test_an_access_outside_of_every_array_is_shown_at_the_kernels_line(
    device: Interpreter, artifact_of: MakeArtifact
) -> None:
    program = device.load(_artifact(artifact_of, store_too_far, [("out_ptr", "pointer", "f32")]))
    with pytest.raises(TeenyError) as caught:
        device.launch(program, 1, [np.zeros(31, np.float32)])
    span = caught.value.diagnostics[0].span
    assert span is not None
    assert span.file == __file__
    line = Path(__file__).read_text(encoding="utf-8").splitlines()[span.line - 1]
    assert "tl.store(out_ptr + offsets, tl.full" in line


def test_a_read_only_output_is_refused(device: Interpreter, artifact_of: MakeArtifact) -> None:
    program = device.load(_artifact(artifact_of, store_too_far, [("out_ptr", "pointer", "f32")]))
    out = np.zeros(32, np.float32)
    out.flags.writeable = False
    with pytest.raises(LaunchError):
        device.launch(program, 1, [out])
    assert not out.any()
