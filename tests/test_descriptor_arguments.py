"""Tensor descriptors made on the host: launches over every device, and the code for each GPU."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import teeny_triton as tl
from teeny_compiler import compile_kernel
from teeny_macros import Target, kernel
from teeny_macros.diagnostics import TeenyError
from teeny_triton import R2, Const, Ptr, TensorDescriptor, f8e4m3, f16, f32, i32

RNG = np.random.default_rng(3)


@kernel
def transpose(x: TensorDescriptor[f32, R2], y: TensorDescriptor[f32, R2]) -> None:
    i, j = tl.program_id(0), tl.program_id(1)
    tile = x.load((i * x.block_shape[0], j * x.block_shape[1]))
    y.store((j * x.block_shape[1], i * x.block_shape[0]), tile.T)


@kernel
def matmul(
    a: TensorDescriptor[f16, R2],
    b: TensorDescriptor[f16, R2],
    c: TensorDescriptor[f32, R2],
    steps: i32 | int,
    BLOCK: Const[int],
) -> None:
    i, j = tl.program_id(0) * BLOCK, tl.program_id(1) * BLOCK
    acc = tl.zeros((BLOCK, BLOCK), f32)
    for k in tl.range(steps):
        acc = tl.dot(a.load((i, k * BLOCK)), b.load((k * BLOCK, j)), acc)
    c.store((i, j), acc)


@kernel
def sides(x: TensorDescriptor[f32, R2], out_ptr: Ptr[i32]) -> None:
    tl.store(out_ptr, x.shape[0])
    tl.store(out_ptr + 1, x.shape[1])
    tl.store(out_ptr + 2, x.strides[0].to(i32))


@kernel
def shifted_rows(
    out_ptr: Ptr[f32], x: TensorDescriptor[f32, R2] | None, COLUMNS: Const[int]
) -> None:
    lanes = tl.arange(0, COLUMNS)
    found = tl.full((COLUMNS,), -1.0, f32)
    if x is not None:
        found = tl.sum(x.load((0, 0)), axis=0)
    tl.store(out_ptr + lanes, found)


@pytest.fixture(params=["cpu", "interpret"])
def device(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.mark.parametrize("shape", [(16, 32), (13, 20), (1, 4), (40, 64)])
def test_tiles_are_read_and_written_through_descriptors(
    shape: tuple[int, int], device: str
) -> None:
    m, n = shape
    x = RNG.standard_normal((m, n)).astype(np.float32)
    y = np.zeros((n, -(-m // 4) * 4), np.float32)[:, :m]
    grid = (-(-m // 8), -(-n // 16))
    transpose.on(grid, device=device)(
        tl.tensor_descriptor(x, (8, 16)), tl.tensor_descriptor(y, (16, 8))
    )
    assert np.array_equal(y, x.T)


@pytest.mark.parametrize(("padding", "fill"), [("zero", 0.0), ("nan", np.nan)])
def test_what_lies_outside_is_the_padding_of_the_descriptor(
    padding: Any, fill: float, device: str
) -> None:
    x = RNG.standard_normal((8, 12)).astype(np.float32)
    y = np.ones((16, 8), np.float32)
    transpose.on((1, 1), device=device)(
        tl.tensor_descriptor(x, (8, 16), padding=padding), tl.tensor_descriptor(y, (16, 8))
    )
    assert np.array_equal(y[:12], x.T)
    assert np.array_equal(y[12:], np.full((4, 8), fill, np.float32), equal_nan=True)


@kernel
def widened(x: TensorDescriptor[f8e4m3, R2], out_ptr: Ptr[f32]) -> None:
    at = tl.arange(0, 16)
    tile = x.load((0, 0)).to(f32)
    tl.store(out_ptr + at[:, None] * 16 + at[None, :], tile)


@pytest.mark.parametrize(("padding", "fill"), [("zero", 0.0), ("nan", np.nan)])
def test_tiles_of_eight_bits_are_read_and_padded(padding: Any, fill: float, device: str) -> None:
    x = np.arange(144).reshape(9, 16).astype(np.float32).astype(ml_dtypes.float8_e4m3fn)
    out = np.ones((16, 16), np.float32)
    widened.on(1, device=device)(tl.tensor_descriptor(x, (16, 16), padding=padding), out)
    assert np.array_equal(out[:9], x.astype(np.float32))
    assert np.array_equal(out[9:], np.full((7, 16), fill, np.float32), equal_nan=True)


def test_sides_and_strides_are_those_given(device: str) -> None:
    x, out = np.zeros((8, 64), np.float32), np.zeros(3, np.int32)
    sides.on(1, device=device)(tl.tensor_descriptor(x[::2, :20], (4, 8)), out)
    assert out.tolist() == [4, 20, 128]
    whole = tl.tensor_descriptor(x, (4, 8), shape=(3, 5), strides=(16, 1))
    sides.on(1, device=device)(whole, out)
    assert out.tolist() == [3, 5, 16]


def test_other_tiles_are_another_instance(device: str) -> None:
    x = RNG.standard_normal((32, 32)).astype(np.float32)
    for block in ((8, 16), (16, 8), (32, 32)):
        y = np.zeros((32, 32), np.float32)
        grid = (32 // block[0], 32 // block[1])
        transpose.on(grid, device=device)(
            tl.tensor_descriptor(x, block), tl.tensor_descriptor(y, block[::-1])
        )
        assert np.array_equal(y, x.T)


def test_a_product_of_descriptors(device: str) -> None:
    a, b = (RNG.standard_normal((32, 48)).astype(np.float16) for _ in range(2))
    b = np.ascontiguousarray(b.T)
    c = np.zeros((32, 32), np.float32)
    x, y, z = (tl.tensor_descriptor(array, (16, 16)) for array in (a, b, c))
    matmul.on((2, 2), device=device)(x, y, z, 3, BLOCK=16)
    wanted = a.astype(np.float64) @ b.astype(np.float64)
    assert np.abs(c - wanted).max() < 1e-4 * 48


INSTANCE = {"x": tl.descriptor_type(f32, (8, 16)), "y": tl.descriptor_type(f32, (16, 8))}


def test_an_instance_ahead_of_time_has_its_tiles(device: str) -> None:
    instance = transpose.instantiate(**INSTANCE)
    assert "x: TensorDescriptor[f32, (8, 16)]" in instance.entry_point_source
    x, y = np.ones((8, 16), np.float32), np.zeros((16, 8), np.float32)
    instance.on(1, device=device)(
        tl.tensor_descriptor(x, (8, 16)), tl.tensor_descriptor(y, (16, 8))
    )
    assert y.sum() == 128
    with pytest.raises(TeenyError) as caught:
        instance.on(1, device=device)(
            tl.tensor_descriptor(x, (4, 16)), tl.tensor_descriptor(y, (16, 8))
        )
    assert caught.value.code == "E1012"


X = np.zeros((8, 16), np.float32)


@pytest.mark.parametrize(
    ("x", "code"),
    [
        (X, "E1007"),
        (3, "E1007"),
        (None, "E1007"),
        (tl.tensor_descriptor(X.astype(np.float64), (8, 16)), "E1007"),
        (tl.tensor_descriptor(X[:, 1:], (8, 16)), "E1029"),
        (tl.tensor_descriptor(X[:, ::2], (8, 16)), "E1029"),
        (tl.tensor_descriptor(np.zeros((8, 15), np.float32), (8, 16)), "E1029"),
        (tl.tensor_descriptor(X, (8, 16, 4)), "E1029"),
        (tl.tensor_descriptor(X, (8, 2)), "E0512"),
        (tl.tensor_descriptor(X, (6, 16)), "E0402"),
    ],
)
def test_what_is_no_descriptor_of_the_parameter_is_refused(x: Any, code: str, device: str) -> None:
    with pytest.raises(TeenyError) as caught:
        transpose.on(1, device=device)(x, tl.tensor_descriptor(X, (8, 16)))
    assert caught.value.code == code


def test_a_tile_that_does_not_fit_is_shown_where_the_kernel_declares_it() -> None:
    with pytest.raises(TeenyError) as caught:
        transpose[1](tl.tensor_descriptor(X, (6, 16)), tl.tensor_descriptor(X, (8, 16)))
    span = caught.value.diagnostics[0].span
    assert span is not None
    assert Path(span.file) == Path(__file__)
    line = Path(__file__).read_text(encoding="utf-8").splitlines()[span.line - 1]
    assert line[span.column - 1 :].startswith("x: TensorDescriptor")


def test_an_optional_descriptor_may_be_none_and_is_another_instance(device: str) -> None:
    out = np.zeros(8, np.float32)
    shifted_rows.on(1, device=device)(out, None, COLUMNS=8)
    assert np.array_equal(out, np.full(8, -1.0))
    x = np.arange(16, dtype=np.float32).reshape(2, 8)
    for _ in range(40):  # hot launches tell the two apart as well
        shifted_rows.on(1, device=device)(out, tl.tensor_descriptor(x, (2, 8)), COLUMNS=8)
        assert np.array_equal(out, x.sum(axis=0))
        shifted_rows.on(1, device=device)(out, None, COLUMNS=8)
        assert np.array_equal(out, np.full(8, -1.0))


def test_none_for_a_descriptor_that_is_not_optional_is_refused(device: str) -> None:
    x: Any = None
    with pytest.raises(TeenyError) as caught:
        sides.on(1, device=device)(x, np.zeros(3, np.int32))
    assert caught.value.code == "E1007"
    assert "`TensorDescriptor[...] | None`" in str(caught.value)


def test_a_descriptor_is_no_array(device: str) -> None:
    with pytest.raises(TeenyError) as caught:
        sides.on(1, device=device)(
            tl.tensor_descriptor(X, (8, 16)),
            tl.tensor_descriptor(X, (8, 16)),  # type: ignore[arg-type]
        )
    assert caught.value.code == "E1007"


def test_what_is_written_through_a_descriptor_is_writable(device: str) -> None:
    y = np.zeros((16, 8), np.float32)
    y.flags.writeable = False
    with pytest.raises(TeenyError) as caught:
        transpose.on(1, device=device)(
            tl.tensor_descriptor(X, (8, 16)), tl.tensor_descriptor(y, (16, 8))
        )
    assert caught.value.code == "E1020"


@pytest.mark.accept
@pytest.mark.parametrize("block", [(64, 64), (128, 32)])
def test_gpus_with_the_hardware_get_descriptors_and_the_others_pointers(
    block: tuple[int, int], archs: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEENYC_CACHE_DIR", str(tmp_path))
    instance = transpose.instantiate(
        x=tl.descriptor_type(f32, block), y=tl.descriptor_type(f32, block[::-1])
    )
    for arch in archs:
        made = compile_kernel(instance, Target.cuda(arch))
        text = made.read_text()
        kinds = [param.kind for param in made.metadata.params]
        if int(arch.removeprefix("sm_")) >= 90:
            assert kinds.count("descriptor") == 2
            assert text.count(".align 64 .b8") == 2
            assert "cp.async.bulk.tensor.2d" in text
            (first, _), (second, _) = made.metadata.descriptors
            assert len(first) == len(second) == 2
        else:
            assert kinds.count("pointer") == 2
            assert made.metadata.descriptors == ()
            assert "tensor.2d" not in text


@pytest.mark.gpu
@pytest.mark.parametrize("shape", [(64, 128), (100, 200), (1000, 520)])
def test_a_gpu_reads_and_writes_through_descriptors(shape: tuple[int, int]) -> None:
    from teeny_cuda import Device

    gpu = Device(0)
    m, n = shape
    x = RNG.standard_normal((m, n)).astype(np.float32)
    inside = gpu.buffer((m, n), "f32")
    inside.copy_from(x)
    outside = gpu.buffer((n, m), "f32")
    for block in ((32, 32), (64, 16), (128, 64)):
        outside.fill(0)
        grid = (-(-m // block[0]), -(-n // block[1]))
        transpose[grid](
            tl.tensor_descriptor(inside, block), tl.tensor_descriptor(outside, block[::-1])
        )
        assert np.array_equal(outside.to_host(), x.T)


@pytest.mark.gpu
def test_a_gpu_takes_none_for_an_optional_descriptor() -> None:
    torch = pytest.importorskip("torch")
    x, out = torch.ones(2, 8, device="cuda"), torch.zeros(8, device="cuda")
    for _ in range(20):
        shifted_rows[1](out, None, COLUMNS=8)
        assert out.tolist() == [-1.0] * 8
        shifted_rows[1](out, tl.tensor_descriptor(x, (2, 8)), COLUMNS=8)
        assert out.tolist() == [2.0] * 8


@pytest.mark.gpu
def test_a_gpu_pads_with_what_the_descriptor_says() -> None:
    from teeny_cuda import Device

    gpu = Device(0)
    x = gpu.buffer((8, 12), "f32")
    x.fill(1)
    y = gpu.buffer((16, 8), "f32")
    transpose[1](tl.tensor_descriptor(x, (8, 16), padding="nan"), tl.tensor_descriptor(y, (16, 8)))
    found = y.to_host()
    assert np.array_equal(found[:12], np.ones((12, 8)))
    assert np.isnan(found[12:]).all()


@pytest.mark.gpu
def test_a_gpu_multiplies_tiles_of_descriptors() -> None:
    from teeny_cuda import Device

    gpu = Device(0)
    a, b = (RNG.standard_normal((256, 256)).astype(np.float16) for _ in range(2))
    buffers = [gpu.buffer((256, 256), dtype) for dtype in ("f16", "f16", "f32")]
    for buffer, array in zip(buffers, (a, b), strict=False):
        buffer.copy_from(array)
    x, y, z = (tl.tensor_descriptor(buffer, (64, 64)) for buffer in buffers)
    matmul[(4, 4)](x, y, z, 4, BLOCK=64)
    wanted = a.astype(np.float64) @ b.astype(np.float64)
    assert np.abs(buffers[2].to_host() - wanted).max() < 1e-2
