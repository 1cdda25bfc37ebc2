"""Graphs: capture, replay, other arguments; prepared launches and launch options."""

from __future__ import annotations

import gc
import threading
import weakref
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from teeny_cuda import Device, launcher
from teeny_macros.diagnostics import LaunchError

if TYPE_CHECKING:
    from conftest import MakeArtifact

    from teeny_cuda import Program
    from teeny_cuda.fake_driver import FakeDriver


@pytest.fixture
def add(device: Device, artifact_of: MakeArtifact) -> Program:
    return device.load(artifact_of("vector_add"))


def _arrays(device: Device, n: int = 500) -> list[Any]:
    x = np.arange(n, dtype=np.float32)
    return [device.copy_of(x), device.copy_of(2 * x), device.buffer(n, "f32")]


def test_a_graph_replays_launches_and_copies(device: Device, add: Program) -> None:
    _replay(device, add)


@pytest.mark.gpu
def test_a_graph_replays_on_the_gpu(gpu: Device, artifact_of: MakeArtifact) -> None:
    _replay(gpu, gpu.load(artifact_of("vector_add")))


def _replay(device: Device, program: Program) -> None:
    x, y, out = _arrays(device)
    out.fill(0.0)
    graph = device.capture()
    with graph:
        assert graph.is_capturing
        x.copy_from(y, stream=graph.stream, wait=False)
        for _ in range(3):
            device.launch(program, 4, [x, y, out, 500], stream=graph.stream)
            x.copy_from(out, stream=graph.stream, wait=False)
    assert out.to_host().max() == 0
    graph.launch()
    base = 2 * np.arange(500, dtype=np.float32)
    assert np.array_equal(out.to_host(), 4 * base)
    y.fill(1.0)
    stream = device.stream()
    graph.launch(stream)
    assert np.array_equal(out.to_host(stream=stream), np.full(500, 4, np.float32))
    with graph:
        y.copy_from(y, stream=graph.stream, wait=False)
        for _ in range(3):
            device.launch(program, 4, [y, y, out, 100], stream=graph.stream)
            x.copy_from(out, stream=graph.stream, wait=False)
    out.fill(0.0)
    graph.launch()
    assert np.array_equal(out.to_host(), np.where(np.arange(500) < 100, 2, 0))


def test_a_graph_keeps_what_it_uses(
    fake: FakeDriver, device: Device, artifact_of: MakeArtifact
) -> None:
    program = device.load(artifact_of("vector_add"))
    arrays = _arrays(device)
    graph = device.capture()
    with graph:
        device.launch(program, 4, [*arrays, 500], stream=graph.stream)
    kept = weakref.ref(program)
    pointer = arrays[2].pointer
    del program, arrays
    gc.collect()
    assert kept() is not None
    graph.launch()
    device.synchronize()
    assert np.frombuffer(fake.view(pointer, 2000), np.float32)[10] == 30
    del graph
    gc.collect()
    device.synchronize()
    assert kept() is None
    assert (fake.memories[0].used, fake.executables, fake.graphs) == (0, {}, {})


def test_a_graph_keeps_what_prepared_launches_use(
    fake: FakeDriver, device: Device, add: Program, way: str
) -> None:
    arrays = _arrays(device)
    pointer = arrays[2].pointer
    graph = device.capture()
    prepared = add.bind(4, *arrays, 500, stream=graph.stream)
    with graph:
        prepared()
    del prepared, arrays
    gc.collect()
    graph.launch()
    device.synchronize()
    assert np.frombuffer(fake.view(pointer, 2000), np.float32)[10] == 30


def test_a_failing_block_leaves_no_capture(fake: FakeDriver, device: Device, add: Program) -> None:
    graph = device.capture()
    arrays = _arrays(device)
    with pytest.raises(LaunchError) as caught, graph:
        device.launch(add, 1, [*arrays, 2**40], stream=graph.stream)
    assert caught.value.code == "E1066"
    assert (fake.captures, fake.graphs, graph.is_capturing) == ({}, {}, False)
    with graph:
        device.launch(add, 4, [*arrays, 500], stream=graph.stream)
    graph.launch()
    assert arrays[2].to_host()[10] == 30


def test_waiting_in_a_capture_is_refused(device: Device) -> None:
    _waiting(device)


@pytest.mark.gpu
def test_waiting_in_a_capture_is_refused_by_the_gpu(gpu: Device) -> None:
    _waiting(gpu)


def _waiting(device: Device) -> None:
    x = device.buffer(4, "f32")
    graph = device.capture()
    with pytest.raises(LaunchError) as caught, graph:
        x.copy_from(np.zeros(4, np.float32), stream=graph.stream)
    assert caught.value.code == "E1083"
    with pytest.raises(LaunchError) as caught:
        graph.launch()
    assert caught.value.code == "E1083"
    x.fill(3.0)
    assert x.to_host().tolist() == [3] * 4


def test_another_topology_is_no_update(device: Device, add: Program) -> None:
    _topology(device, add)


@pytest.mark.gpu
def test_another_topology_is_no_update_on_the_gpu(gpu: Device, artifact_of: MakeArtifact) -> None:
    _topology(gpu, gpu.load(artifact_of("vector_add")))


def _topology(device: Device, program: Program) -> None:
    x, y, out = _arrays(device)
    graph = device.capture()
    with graph:
        device.launch(program, 4, [x, y, out, 500], stream=graph.stream)
    with pytest.raises(LaunchError) as caught, graph:  # noqa: PT012 - the end of it raises
        for _ in range(2):
            device.launch(program, 4, [x, y, out, 500], stream=graph.stream)
    assert caught.value.code == "E1084"
    graph.launch()
    assert out.to_host()[10] == 30


def test_a_graph_is_captured_by_one_block_at_a_time(device: Device) -> None:
    graph = device.capture()
    assert "empty" in repr(graph)
    with graph:
        assert "capturing" in repr(graph)
        with pytest.raises(LaunchError) as caught:
            graph.__enter__()
        assert caught.value.code == "E1083"
    assert "ready" in repr(graph)


def test_what_becomes_free_in_a_capture_is_released_after_it(
    fake: FakeDriver, device: Device, add: Program
) -> None:
    used = fake.memories[0].used
    _freed(device, add)
    gc.collect()
    device.synchronize()
    assert (fake.memories[0].used, fake.executables, fake.graphs) == (used, {}, {})
    assert fake.pinned == {}


@pytest.mark.gpu
def test_what_becomes_free_in_a_capture_is_released_on_the_gpu(
    gpu: Device, artifact_of: MakeArtifact
) -> None:
    _freed(gpu, gpu.load(artifact_of("vector_add")))


def _freed(device: Device, program: Program) -> None:
    for turn in range(3):  # from the second turn on the graph before it ends inside of the block
        arrays: list[Any] = _arrays(device)
        pooled = device.buffer(64, "f32", stream=device.stream())
        pinned = device.pinned(64, "f32")
        prepared = program.bind(4, *_arrays(device), 500)
        with device.capture() as graph:
            gone, arrays[0] = arrays[0], device.buffer(500, "f32")
            gone.release()
            arrays[0] = arrays[1]
            del pooled, pinned, prepared, gone
            gc.collect()
            device.launch(program, 4, [*arrays, 500], stream=graph.stream)
        arrays[1].fill(float(turn + 1))
        graph.launch()
        assert np.array_equal(arrays[2].to_host(), np.full(500, 2 * turn + 2, np.float32))


def test_stream_ordered_memory_of_a_capture_is_freed_inside_of_it(
    fake: FakeDriver, device: Device
) -> None:
    before = device.buffer(4, "f32", stream=device.stream())
    with device.capture() as graph:
        inside = device.buffer(4, "f32", stream=graph.stream)
        inside.fill(1.0, stream=graph.stream)
        calls = fake.calls.count("cuMemFreeAsync")
        inside.release()
        assert fake.calls.count("cuMemFreeAsync") == calls + 1
        before.release()
        assert fake.calls.count("cuMemFreeAsync") == calls + 1
    assert fake.calls.count("cuMemFreeAsync") == calls + 2


def test_a_program_loads_in_a_capture(device: Device, artifact_of: MakeArtifact) -> None:
    _loaded(device, artifact_of)


@pytest.mark.gpu
def test_a_program_loads_in_a_capture_on_the_gpu(gpu: Device, artifact_of: MakeArtifact) -> None:
    _loaded(gpu, artifact_of)


def _loaded(device: Device, artifact_of: MakeArtifact) -> None:
    x, y, out = _arrays(device)
    with device.capture() as graph:
        program = device.load(artifact_of("vector_add"))
        device.launch(program, 4, [x, y, out, 500], stream=graph.stream)
    graph.launch()
    assert out.to_host()[10] == 30


def test_another_thread_frees_and_allocates_while_a_graph_is_captured(
    fake: FakeDriver, device: Device, add: Program
) -> None:
    arrays = _arrays(device)

    def work() -> None:
        for _ in range(20):
            device.buffer(64, "f32").fill(1.0)

    used = fake.memories[0].used
    with device.capture() as graph:
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        device.launch(add, 4, [*arrays, 500], stream=graph.stream)
    graph.launch()
    assert arrays[2].to_host()[10] == 30
    assert fake.memories[0].used == used


def _outside(device: Device, program: Program) -> None:
    arrays = _arrays(device)
    prepared = program.bind(4, *arrays, 500)
    prepared()
    device.synchronize()
    uses: list[Any] = [
        lambda: device.launch(program, 4, [*arrays, 500]),
        prepared,
        lambda: arrays[2].fill(0.0),
        lambda: arrays[2].copy_from(np.zeros(500, np.float32), wait=False),
        lambda: device.event().record(),
    ]
    for use in uses:
        graph = device.capture()
        with pytest.raises(LaunchError) as caught, graph:
            use()
        assert caught.value.code == "E1083"
        assert "default stream" in str(caught.value)
    prepared()
    assert arrays[2].to_host()[10] == 30


def test_the_default_stream_is_refused_where_a_graph_is_captured(
    fake: FakeDriver, device: Device, add: Program, way: str
) -> None:
    _outside(device, add)


@pytest.mark.gpu
def test_the_default_stream_is_refused_in_a_capture_on_the_gpu(
    gpu: Device, artifact_of: MakeArtifact, way: str
) -> None:
    _outside(gpu, gpu.load(artifact_of("vector_add")))


def _beside(device: Device, program: Program) -> None:
    """Another thread works in the default stream while this one captures."""
    arrays, others = _arrays(device), _arrays(device)
    prepared = program.bind(4, *others, 500)
    failures: list[BaseException] = []

    def work() -> None:
        try:
            for _ in range(20):
                device.launch(program, 4, [*others, 500])
                prepared()
                others[2].fill(0.0)
                device.launch(program, 4, [*others, 500])
        except BaseException as error:  # noqa: BLE001 - raised below
            failures.append(error)

    with device.capture() as graph:
        thread = threading.Thread(target=work)
        thread.start()
        device.launch(program, 4, [*arrays, 500], stream=graph.stream)
        thread.join()
    assert not failures, failures[0]
    assert others[2].to_host()[10] == 30
    graph.launch()
    assert arrays[2].to_host()[10] == 30


def test_other_threads_use_the_default_stream_while_a_graph_is_captured(
    fake: FakeDriver, device: Device, add: Program, way: str
) -> None:
    _beside(device, add)


@pytest.mark.gpu
def test_other_threads_use_the_default_stream_beside_a_capture_on_the_gpu(
    gpu: Device, artifact_of: MakeArtifact, way: str
) -> None:
    _beside(gpu, gpu.load(artifact_of("vector_add")))


# --- prepared launches ----------------------------------------------------------------------------


@pytest.fixture(params=["machine code", "cuda-python"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> str:
    monkeypatch.setenv("TEENY_LAUNCHER_CACHE", str(tmp_path / "launchers"))
    if request.param == "cuda-python":
        monkeypatch.setitem(launcher._state, "available", False)
    else:
        pytest.importorskip("llvmlite")
        assert launcher.is_available()
    return str(request.param)


def test_a_prepared_launch_runs_again_and_again(
    fake: FakeDriver, device: Device, add: Program, way: str
) -> None:
    _prepared(device, add)
    assert not fake.current


def test_what_a_dropped_prepared_launch_held_is_free_at_once(
    fake: FakeDriver, device: Device, add: Program, way: str
) -> None:
    arrays = _arrays(device)
    run = add.bind(4, *arrays, 500)
    run()
    device.synchronize()
    seen = weakref.ref(arrays[2])
    gc.collect()
    gc.disable()
    try:
        del run, arrays
        assert seen() is None
    finally:
        gc.enable()


def test_the_launch_alone_keeps_what_it_needs(
    fake: FakeDriver, device: Device, add: Program, way: str
) -> None:
    arrays = _arrays(device)
    out = arrays[2]
    launch = add.bind(4, *arrays, 500).launch
    del arrays
    gc.collect()
    launch()
    assert out.to_host()[10] == 30
    out.release()
    with pytest.raises(LaunchError) as caught:
        launch()
    assert caught.value.code == "E1069"


@pytest.mark.gpu
def test_a_prepared_launch_runs_on_the_gpu(
    gpu: Device, artifact_of: MakeArtifact, way: str
) -> None:
    _prepared(gpu, gpu.load(artifact_of("vector_add")))


def _prepared(device: Device, program: Program) -> None:
    x, y, out = _arrays(device)
    run = program.bind(4, x, y, out, 500)
    for turn in range(5):
        y.fill(float(turn))
        run()
        assert np.array_equal(out.to_host(), x.to_host() + turn)
    other = device.buffer(500, "f32")
    run.replace(out_ptr=other, n=100)
    other.fill(0.0)
    run()
    run.launch()
    assert np.array_equal(other.to_host()[:100], x.to_host()[:100] + 4)
    assert other.to_host()[100:].max() == 0
    run.replace(y, y, out, 500)
    run()
    assert np.array_equal(out.to_host(), np.full(500, 8, np.float32))
    assert "vector_add over (4, 1, 1)" in repr(run)
    stream = device.stream()
    there = program.bind(4, x, x, out, 500, stream=stream)
    there()
    assert np.array_equal(out.to_host(stream=stream), 2 * x.to_host())
    program.bind((4, 0), x, y, out, 500)()


def test_a_prepared_launch_ends_with_its_arrays_and_program(
    fake: FakeDriver, device: Device, add: Program, way: str
) -> None:
    x, y, out = _arrays(device)
    run = add.bind(4, x, y, out[100:], 400)
    run()
    count = len(fake.launches)
    out.release()
    with pytest.raises(LaunchError) as caught:
        run()
    assert caught.value.code == "E1069"
    assert "out_ptr" in str(caught.value)
    run.replace(out_ptr=device.buffer(400, "f32"))
    run()
    assert len(fake.launches) == count + 1
    add.unload()
    with pytest.raises(LaunchError) as caught:
        run()
    assert caught.value.code == "E1058"
    assert len(fake.launches) == count + 1


def test_wrong_prepared_launches_are_refused(
    fake: FakeDriver, device: Device, add: Program
) -> None:
    x, y, out = _arrays(device)
    good = add.bind(4, x, y, out, 500)
    for args, code in (
        ((4, x, y, out), "E1064"),
        ((4, x, y, out, 1.5), "E1065"),
        ((4, x, y, out, 2**31), "E1066"),
        (((4, 70000), x, y, out, 500), "E1060"),
        (("x", x, y, out, 500), "E1061"),
        ((4, np.zeros(500, np.float32), y, out, 500), "E1067"),
    ):
        with pytest.raises(LaunchError) as caught:
            add.bind(*args)
        assert caught.value.code == code
        if code not in ("E1060", "E1061"):
            with pytest.raises(LaunchError) as caught:
                good.replace(*args[1:])
            assert caught.value.code == code
    with pytest.raises(LaunchError) as caught:
        good.replace(result=1)
    assert caught.value.code == "E1086"
    assert not fake.launches
    good()
    assert out.to_host()[10] == 30


def test_a_prepared_launch_shares_its_scratch_memory(
    fake: FakeDriver, device: Device, artifact_of: MakeArtifact, way: str
) -> None:
    program = device.load(artifact_of("use_scratch"))
    out = device.buffer(3, "i64")
    run = program.bind(3, out)
    run()
    run()
    assert out.to_host().tolist() == [0, 7, 14]
    del run
    gc.collect()
    device.synchronize()
    assert fake.memories[0].used == 24


# --- launch options -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "seen"),
    [
        ({"cooperative": True}, ("cooperative", True)),
        ({"overlap": True}, ("overlap", True)),
        ({"priority": -3}, ("priority", -3)),
    ],
)
def test_options_reach_the_driver(
    fake: FakeDriver,
    device: Device,
    add: Program,
    way: str,
    options: dict[str, Any],
    seen: tuple[str, Any],
) -> None:
    arrays = _arrays(device)
    device.launch(add, 4, [*arrays, 500], **options)
    add.bind(4, *arrays, 500, **options)()
    assert [getattr(run, seen[0]) for run in fake.launches] == [seen[1]] * 2
    assert [run.grid for run in fake.launches] == [(4, 1, 1)] * 2


@pytest.mark.parametrize(
    ("own", "seen"), [("launch_pdl", "overlap"), ("launch_cooperative_grid", "cooperative")]
)
def test_a_kernel_may_ask_for_them_by_itself(
    fake: FakeDriver, device: Device, artifact_of: MakeArtifact, way: str, own: str, seen: str
) -> None:
    program = device.load(artifact_of("vector_add", **{own: True}))
    arrays = _arrays(device)
    device.launch(program, 4, [*arrays, 500])
    device.launch(program, 4, [*arrays, 500], priority=-3)
    program.bind(4, *arrays, 500)()
    assert [getattr(run, seen) for run in fake.launches] == [True] * 3
    assert [run.priority for run in fake.launches] == [0, -3, 0]


@pytest.mark.gpu
@pytest.mark.parametrize("options", [{"cooperative": True}, {"overlap": True}, {"priority": -1}])
def test_options_run_on_the_gpu(
    gpu: Device, artifact_of: MakeArtifact, way: str, options: dict[str, Any]
) -> None:
    program = gpu.load(artifact_of("vector_add"))
    x, y, out = _arrays(gpu)
    gpu.launch(program, 4, [x, y, out, 500], **options)
    assert out.to_host()[10] == 30
    out.fill(0.0)
    program.bind(4, x, y, out, 500, **options)()
    assert out.to_host()[10] == 30


@pytest.mark.parametrize(
    ("options", "grid", "words"),
    [
        ({"cooperative": True}, 1_000_000, "run at the same time"),
        ({"priority": 7}, 1, "outside of -5 to 0"),
        ({"priority": -9}, 1, "outside of -5 to 0"),
    ],
)
def test_impossible_options_are_refused(
    fake: FakeDriver, device: Device, add: Program, options: Any, grid: int, words: str
) -> None:
    with pytest.raises(LaunchError) as caught:
        device.launch(add, grid, [*_arrays(device), 500], **options)
    assert caught.value.code == "E1079"
    assert words in str(caught.value)
    assert not fake.launches


def test_clusters_are_prepared_too(
    fake: FakeDriver, device: Device, artifact_of: MakeArtifact, way: str
) -> None:
    program = device.load(artifact_of("cluster_rank"))
    out = device.buffer(12, "i32")
    device.launch(program, (3, 2), [out])
    program.bind((3, 2), out)()
    assert [vars(run)["grid"] for run in fake.launches] == [(6, 2, 1)] * 2
    assert [run.cluster for run in fake.launches] == [2, 2]
