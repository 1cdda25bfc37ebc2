"""Launches: results, argument layout, scratch memory.

Every wrong launch refused before the driver.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy as np
import pytest

from teeny_cuda import Device
from teeny_cuda.fake_driver import FakeDriver
from teeny_cuda.fake_memory import FaultError
from teeny_cuda.testing import fake_driver, import_library
from teeny_macros.diagnostics import LaunchError

if TYPE_CHECKING:
    from conftest import MakeArtifact

    from teeny_cuda import Program


@pytest.fixture
def add(device: Device, artifact_of: MakeArtifact) -> Program:
    return device.load(artifact_of("vector_add"))


def _arguments(device: Device, n: int) -> list[Any]:
    x = np.arange(n, dtype=np.float32)
    return [device.copy_of(x), device.copy_of(2 * x), device.buffer(n, "f32"), n]


@pytest.mark.parametrize("n", [1, 127, 128, 129, 4099])
def test_vector_add_gives_the_sums(device: Device, add: Program, n: int) -> None:
    _vector_add(device, add, n)


@pytest.mark.gpu
@pytest.mark.parametrize("n", [1, 127, 128, 129, 4099, (1 << 20) + 3])
def test_vector_add_gives_the_sums_on_the_gpu(
    gpu: Device, artifact_of: MakeArtifact, n: int
) -> None:
    _vector_add(gpu, gpu.load(artifact_of("vector_add")), n)


def _vector_add(device: Device, program: Program, n: int) -> None:
    args = _arguments(device, n)
    device.launch(program, (-(-n // 128), 1, 1), args)
    assert np.array_equal(args[2].to_host(), 3 * np.arange(n, dtype=np.float32))


@pytest.mark.parametrize("grid", [4, (4,), [4], (4, 1), (4, 1, 1), np.int64(4)])
def test_a_grid_is_one_to_three_integers(device: Device, add: Program, grid: Any) -> None:
    args = _arguments(device, 500)
    device.launch(add, grid, args)
    assert args[2].to_host()[499] == 1497


@pytest.mark.parametrize("grid", [0, (0,), (4, 0, 1), [0, 0, 0], (2, 2, 0)])
def test_an_empty_grid_does_nothing(
    fake: FakeDriver, device: Device, add: Program, grid: Any
) -> None:
    device.launch(add, grid, _arguments(device, 4))
    assert not fake.launches


@pytest.mark.parametrize(
    ("grid", "code", "words"),
    [
        ((1, 65536, 1), "E1060", "axis y of the grid is 65536, and cuda:0 allows 65535"),
        ((1, 1, 65536), "E1060", "axis z"),
        (2**31, "E1060", "axis x"),
        ((-1, 1, 1), "E1061", "axis x is negative"),
        ((1, 1, 1, 1), "E1061", "one to three axes"),
        ((), "E1061", "one to three axes"),
        ((1.0, 1), "E1061", "integers"),
        (1.5, "E1061", "integers"),
        (None, "E1061", "integers"),
        ("12", "E1061", "integers"),
    ],
)
def test_a_wrong_grid_is_refused_before_the_driver(
    fake: FakeDriver, device: Device, add: Program, grid: Any, code: str, words: str
) -> None:
    args = _arguments(device, 4)
    with pytest.raises(LaunchError) as caught:
        device.launch(add, grid, args)
    assert caught.value.code == code
    assert words in str(caught.value)
    assert not fake.launches
    device.launch(add, 1, args)
    assert args[2].to_host().tolist() == [0, 3, 6, 9]


class _Strange:
    shape = (4,)
    dtype = np.dtype("float32")

    def __init__(self, owner: Any = None, **interface: Any) -> None:
        self.owner = owner
        self.__cuda_array_interface__ = interface


def _wrong_arguments(device: Device) -> list[tuple[int, Any, str, str]]:
    released = device.buffer(4, "f32")
    released.release()
    memory = device.buffer(64, "u8")
    whole = {**memory.__cuda_array_interface__, "shape": (4,), "typestr": "<f4"}
    return [
        (0, np.zeros(4, np.float32), "E1067", "`x_ptr` lies on the host"),
        (1, device.buffer(4, "f64"), "E1065", "`y_ptr` takes an array of f32 on cuda:0"),
        (1, device.buffer(4, "i32"), "E1065", "an array of i32 is given"),
        (2, released, "E1069", "released"),
        (2, 17, "E1065", "`17` is given"),
        (2, "out", "E1065", "`out_ptr`"),
        (2, [1.0], "E1065", "a list is given"),
        (
            0,
            _Strange(memory, **{**whole, "data": (memory.pointer + 2, False)}),
            "E1068",
            "no multiple of 4 bytes",
        ),
        (0, _Strange(**{**whole, "data": (64, False)}), "E1076", "no memory of a GPU is at 0x40"),
        (0, _Strange(memory, **{**whole, "typestr": "<c8"}), "E1065", "dtype unknown to kernels"),
        (0, _Strange(memory, **{**whole, "typestr": ">f4"}), "E1065", "dtype unknown to kernels"),
        (0, _Strange(shape=(4,)), "E1076", "`_Strange`"),
        (0, _Strange(**{**whole, "mask": object()}), "E1076", "masked"),
        (3, 4.0, "E1065", "`n` takes a scalar of i32, and `4.0` is given"),
        (3, None, "E1065", "`n`"),
        (3, device.buffer(1, "i32"), "E1065", "a Buffer is given"),
        (3, 2**31, "E1066", "cannot hold 2147483648"),
        (3, -(2**31) - 1, "E1066", "i32"),
    ]


@pytest.mark.parametrize("case", range(18))
def test_a_wrong_argument_is_refused_and_named(
    fake: FakeDriver, device: Device, add: Program, case: int
) -> None:
    _wrong_argument(device, add, case)
    assert len(fake.launches) == 1


@pytest.mark.gpu
@pytest.mark.parametrize("case", range(18))
def test_the_gpu_is_usable_after_a_refused_launch(
    gpu: Device, artifact_of: MakeArtifact, case: int
) -> None:
    _wrong_argument(gpu, gpu.load(artifact_of("vector_add")), case)


def _wrong_argument(device: Device, program: Program, case: int) -> None:
    cases = _wrong_arguments(device)
    assert len(cases) == 18
    place, value, code, words = cases[case]
    good = _arguments(device, 4)
    wrong = [*good[:place], value, *good[place + 1 :]]
    with pytest.raises(LaunchError) as caught:
        device.launch(program, 1, wrong)
    assert caught.value.code == code
    assert words in str(caught.value)
    device.launch(program, 1, good)
    assert good[2].to_host().tolist() == [0, 3, 6, 9]


@pytest.mark.parametrize("count", [0, 3, 5])
def test_a_wrong_number_of_arguments_names_the_parameters(
    device: Device, add: Program, count: int
) -> None:
    args = [*_arguments(device, 4), 1][:count]
    with pytest.raises(LaunchError) as caught:
        device.launch(add, 1, args)
    assert caught.value.code == "E1064"
    assert "x_ptr, y_ptr, out_ptr, n" in str(caught.value)


def test_arrays_of_another_gpu_are_refused_by_name(artifact_of: MakeArtifact) -> None:
    with fake_driver(FakeDriver(count=2)):
        first, second = Device(0), Device(1)
        program = first.load(artifact_of("vector_add"))
        args = _arguments(first, 4)
        args[1] = second.buffer(4, "f32")
        with pytest.raises(LaunchError) as caught:
            first.launch(program, 1, args)
        assert caught.value.code == "E1067"
        assert "`y_ptr` lies on cuda:1, not on cuda:0" in str(caught.value)
        with pytest.raises(LaunchError) as caught:
            second.launch(program, 1, args)
        assert caught.value.code == "E1078"


def test_all_arrays_on_the_second_gpu_run_there(artifact_of: MakeArtifact) -> None:
    with fake_driver(FakeDriver(count=2)) as fake:
        Device(0)
        second = Device(1)
        seen: list[int] = []
        fake.kernels["vector_add_entry_point"] = lambda run: seen.append(fake.memories[1].ordinal)
        second.launch(second.load(artifact_of("vector_add")), 1, _arguments(second, 4))
        assert fake.memories[0].used == 0
        second.synchronize()
        assert seen == [1]


SCALARS = [True, -5, -30000, 2**32 - 1, -(2**63), 1.5, -2.75, 0.1, 0.1]


def test_scalars_arrive_with_their_size_and_bits(device: Device, artifact_of: MakeArtifact) -> None:
    _scalars(device, artifact_of)


@pytest.mark.gpu
def test_scalars_arrive_on_the_gpu(gpu: Device, artifact_of: MakeArtifact) -> None:
    _scalars(gpu, artifact_of)


def _scalars(device: Device, artifact_of: MakeArtifact) -> None:
    program = device.load(artifact_of("store_scalars"))
    out = device.buffer(72, "u8")
    out.fill(0)
    device.launch(program, 1, [out, *SCALARS])
    data = out.to_host().tobytes()
    wanted = [
        np.bool_(True),
        np.int8(-5),
        np.int16(-30000),
        np.uint32(2**32 - 1),
        np.int64(-(2**63)),
        np.float16(1.5),
        np.asarray(-2.75, ml_dtypes.bfloat16),
        np.float32(0.1),
        np.float64(0.1),
    ]
    for slot, value in enumerate(wanted):
        bits = value.tobytes()
        assert data[8 * slot : 8 * slot + 8] == bits.ljust(8, b"\0"), value


def test_none_is_a_null_pointer(fake: FakeDriver, device: Device, add: Program) -> None:
    args = _arguments(device, 4)
    fake.kernels.clear()
    device.launch(add, 1, [None, *args[1:]])
    assert fake.launches[0].params[0] == bytes(8)


def test_the_launch_has_the_blocks_threads_and_shared_memory_of_the_artefact(
    fake: FakeDriver, device: Device, artifact_of: MakeArtifact
) -> None:
    program = device.load(artifact_of("reverse_shared"))
    device.launch(program, (2, 3, 4), [device.buffer(128, "i32"), 90_000])
    run = fake.launches[0]
    assert (run.grid, run.block, run.shared) == ((2, 3, 4), (128, 1, 1), 100_000)


@pytest.mark.gpu
def test_shared_memory_beyond_48_kib_works(gpu: Device, artifact_of: MakeArtifact) -> None:
    program = gpu.load(artifact_of("reverse_shared"))
    out = gpu.buffer(128, "i32")
    gpu.launch(program, 1, [out, 99_000])
    assert out.to_host().tolist() == list(range(127, -1, -1))


def test_scratch_memory_is_supplied_per_block_and_given_back(
    fake: FakeDriver, device: Device, artifact_of: MakeArtifact
) -> None:
    used = fake.memories[0].used
    _scratch(device, artifact_of)
    device.synchronize()
    assert fake.memories[0].used == used
    assert "cuMemAllocAsync" in fake.calls


@pytest.mark.gpu
def test_scratch_memory_is_supplied_on_the_gpu(gpu: Device, artifact_of: MakeArtifact) -> None:
    _scratch(gpu, artifact_of)


def _scratch(device: Device, artifact_of: MakeArtifact) -> None:
    program = device.load(artifact_of("use_scratch"))
    for blocks in (1, 5, 1000):
        out = device.buffer(blocks, "i64")
        device.launch(program, blocks, [out])
        # The kernel adds the profiling pointer, which is null as nothing is profiled.
        assert out.to_host().tolist() == [7 * block for block in range(blocks)]


def test_without_memory_pools_scratch_memory_is_plain(artifact_of: MakeArtifact) -> None:
    fake = FakeDriver()
    fake.attributes["MEMORY_POOLS_SUPPORTED"] = 0
    with fake_driver(fake):
        device = Device(0)
        device.launch(device.load(artifact_of("use_scratch")), 3, [device.buffer(3, "i64")])
        assert "cuMemAllocAsync" not in fake.calls
        assert fake.memories[0].used == 0


def test_scratch_memory_that_does_not_fit_is_said_and_nothing_leaks(
    fake: FakeDriver, device: Device, artifact_of: MakeArtifact
) -> None:
    program = device.load(artifact_of("use_scratch", profile_scratch_bytes=1 << 20))
    out = device.buffer(1 << 12, "i64")
    used = fake.memories[0].used
    with pytest.raises(LaunchError) as caught:
        device.launch(program, 1 << 12, [out])
    assert caught.value.code == "E1059"
    assert "scratch" in str(caught.value)
    device.synchronize()
    assert fake.memories[0].used == used


def test_a_cluster_launch_spans_its_blocks(
    fake: FakeDriver, device: Device, artifact_of: MakeArtifact
) -> None:
    program = device.load(artifact_of("cluster_rank"))
    device.launch(program, (3, 2, 1), [device.buffer(12, "i32")])
    run = fake.launches[0]
    assert (run.grid, run.cluster) == ((6, 2, 1), 2)
    with pytest.raises(LaunchError) as caught:
        device.launch(program, 2**30, [device.buffer(1, "i32")])
    assert caught.value.code == "E1060"
    assert "allows 1073741823" in str(caught.value)


@pytest.mark.gpu
def test_a_cluster_of_two_blocks_runs(gpu: Device, artifact_of: MakeArtifact) -> None:
    program = gpu.load(artifact_of("cluster_rank"))
    out = gpu.buffer(8, "i32")
    gpu.launch(program, 4, [out])
    assert out.to_host().tolist() == [200, 201] * 4


def test_registers_that_do_not_fit_are_said_with_the_launch(
    device: Device, artifact_of: MakeArtifact
) -> None:
    artifact = artifact_of("vector_add", threads_per_block=1024)
    text = artifact.read_text().replace(".reqntid 128", "").replace("%r<6>", "%r<200>")
    artifact.path.write_text(text)
    with pytest.raises(LaunchError) as caught:
        device.launch(device.load(artifact), 1, _arguments(device, 4))
    assert caught.value.code == "E1063"
    assert "launch of `vector_add` over 1 x 1 x 1 blocks of 1024 threads" in str(caught.value)


def test_a_kernel_that_faults_is_found_when_waiting_and_names_its_cause(
    fake: FakeDriver, device: Device, add: Program
) -> None:
    def fault(run: Any) -> None:
        raise FaultError(700)

    fake.kernels["vector_add_entry_point"] = fault
    args = _arguments(device, 4)
    device.launch(add, 1, args)
    with pytest.raises(LaunchError) as caught:
        args[2].to_host()
    assert caught.value.code == "E1074"
    assert "outside of any allocation" in str(caught.value)
    assert "TEENY_LAUNCH_BLOCKING" in str(caught.value)
    args[2].release()  # the memory is gone with the context; giving it back is no second error


def test_a_blocking_launch_names_the_kernel_that_faulted(
    fake: FakeDriver, artifact_of: MakeArtifact, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEENY_LAUNCH_BLOCKING", "1")
    device = Device(0)
    program = device.load(artifact_of("vector_add"))
    args = _arguments(device, 4)
    fake.kernels["vector_add_entry_point"] = lambda run: run.view(0, 4)
    with pytest.raises(LaunchError) as caught:
        device.launch(program, 1, args)
    assert caught.value.code == "E1074"
    text = str(caught.value)
    assert "launch of `vector_add` over 1 x 1 x 1" in text
    assert f"its arguments: x_ptr = {args[0].pointer:#x}, " in text
    assert "n = 4" in text
    assert "earlier" not in text
    assert "TEENY_LAUNCH_BLOCKING" not in text


def test_a_fault_names_the_launches_since_the_gpu_was_waited_for(
    fake: FakeDriver, device: Device, add: Program, artifact_of: MakeArtifact
) -> None:
    args, spin = _arguments(device, 4), device.load(artifact_of("spin"))
    device.launch(spin, 7, [args[2], 1])
    device.synchronize()
    fake.kernels["vector_add_entry_point"] = lambda run: run.view(0, 4)
    device.launch(add, (3, 2), args)
    with pytest.raises(LaunchError) as caught:
        args[2].to_host()
    text = str(caught.value)
    assert "the only launch since the GPU was waited for is `vector_add` over 3 x 2 x 1" in text
    assert f"(x_ptr = {args[0].pointer:#x}, " in text
    assert "`spin`" not in text


def test_a_fault_of_many_launches_names_the_latest_first(
    fake: FakeDriver, device: Device, add: Program, artifact_of: MakeArtifact
) -> None:
    args, spin = _arguments(device, 4), device.load(artifact_of("spin"))
    run = add.bind(5, *args)
    fake.kernels["vector_add_entry_point"] = lambda run: run.view(0, 4)
    device.launch(spin, 7, [args[2], 1])
    run()  # perhaps by machine code
    device.launch(spin, 9, [args[2], 2])
    with pytest.raises(LaunchError) as caught:
        device.synchronize()
    text = str(caught.value)
    places = [text.index(part) for part in ("over 9 x", "`vector_add` over 5 x", "over 7 x")]
    assert places == sorted(places)
    assert "the latest first" in text


def test_a_launch_waits_for_the_streams_of_its_arrays(
    fake: FakeDriver, device: Device, add: Program
) -> None:
    first, second = device.stream(), device.stream()
    x, y, out = (device.buffer(4, "f32") for _ in range(3))
    x.fill(1.0, stream=first)
    y.fill(2.0, stream=second)
    arrays = [
        _Strange(**{**array.__cuda_array_interface__, "stream": stream.handle})
        for array, stream in ((x, first), (y, second))
    ]
    device.launch(add, 1, [*arrays, out, 4])
    assert fake.launches[0].stream == first.handle
    # Also the other array's owner sees the launch as work of its own stream.
    mark = device.event()
    mark.record(first)
    second.synchronize()
    assert out.to_host(stream=second).tolist() == [3.0] * 4
    ours = device.stream()
    device.launch(add, 1, [*arrays, out, 4], stream=ours)
    assert fake.launches[1].stream == ours.handle
    ours.synchronize()


def test_threads_pack_their_arguments_apart(device: Device, add: Program) -> None:
    failures: list[str] = []

    def work(start: int) -> None:
        for n in range(start, start + 40):
            args = _arguments(device, n)
            device.launch(add, 1, args)
            if args[2].to_host()[n - 1] != 3 * (n - 1):
                failures.append(f"{n}")

    threads = [threading.Thread(target=work, args=(1 + 20 * i,)) for i in range(3)]
    for thread in threads:
        thread.start()
        thread.join()
    assert not failures


@pytest.mark.gpu
def test_threads_launch_beside_each_other_on_the_gpu(
    gpu: Device, artifact_of: MakeArtifact
) -> None:
    program = gpu.load(artifact_of("vector_add"))
    failures: list[str] = []

    def work(start: int) -> None:
        stream = gpu.stream()
        for n in range(start, start + 200):
            args = _arguments(gpu, n)
            gpu.launch(program, -(-n // 128), args, stream=stream)
            host = args[2].to_host(stream=stream)
            if not np.array_equal(host, 3 * np.arange(n, dtype=np.float32)):
                failures.append(f"{n}")

    threads = [threading.Thread(target=work, args=(1 + 100 * i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


@pytest.mark.gpu
@pytest.mark.parametrize("library", ["torch", "cupy", "jax"])
def test_arrays_of_other_libraries_are_launched_on(
    gpu: Device, artifact_of: MakeArtifact, library: str
) -> None:
    module = import_library(library)
    program = gpu.load(artifact_of("vector_add"))
    out = gpu.buffer(1000, "f32")
    if library == "torch":
        x = module.arange(1000, dtype=module.float32, device="cuda:0")
    elif library == "cupy":
        x = module.arange(1000, dtype=module.float32)
    else:
        x = module.numpy.arange(1000, dtype=module.numpy.float32)
    gpu.launch(program, 8, [x, x, out, 1000])
    if library == "torch":
        module.cuda.synchronize()
    assert np.array_equal(out.to_host(), 2 * np.arange(1000, dtype=np.float32))


@pytest.mark.gpu
def test_torch_tensors_take_results(gpu: Device, artifact_of: MakeArtifact) -> None:
    torch = import_library("torch")
    program = gpu.load(artifact_of("vector_add"))
    x = torch.rand(5000, device="cuda:0")
    y = torch.nn.Parameter(torch.rand(5000, device="cuda:0"))
    out = torch.empty_like(x)
    gpu.launch(program, 40, [x, y, out, 5000])
    assert torch.equal(out, x + y.detach())


@pytest.mark.gpu
def test_a_fault_on_the_gpu_names_the_kernel() -> None:
    """In a process of its own: after a fault CUDA answers nothing more."""
    import subprocess
    import sys
    from pathlib import Path

    script = Path(__file__).parent / "fault.py"
    done = subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, timeout=100, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["E1074", "True", "True", "E1074"]


@pytest.mark.gpu
@pytest.mark.parametrize("how", ["cold", "hot"])
def test_a_fault_on_the_gpu_names_the_launches_that_may_have_caused_it(how: str) -> None:
    import subprocess
    import sys
    from pathlib import Path

    script = Path(__file__).parent / "async_fault.py"
    done = subprocess.run(
        [sys.executable, str(script), how], capture_output=True, text=True, timeout=100, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("E1074\n")
    (line,) = [row for row in done.stdout.splitlines() if "the latest first" in row]
    assert line.index("`write_far` over 2 x 1 x 1") < line.index("`write_far` over 5 x 1 x 1")
    assert "over 3 x" not in line
