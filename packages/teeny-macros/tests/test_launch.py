"""Launches on fake devices: binding, types, specialisation, devices, grids, and every refusal."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable
from functools import partial
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from teeny_macros import LaunchError, Target, TeenyError
from teeny_triton import Ptr, bf16, f16, f32, f64, i8, i32, i64, typed, u8

Module = Callable[..., ModuleType]

COPY = """
from typing import TypeVar
D = TypeVar("D", bound=Float)
N = TypeVar("N")
@kernel
def copy(x_ptr: Ptr[f32], out_ptr: Ptr[f32], n: i32 | int, BLOCK: Const[int] = 64) -> None:
    tl.store(out_ptr, tl.load(x_ptr))
@kernel
def linked(x_ptr: Ptr[D], out_ptr: Ptr[D], scale: D | float, eps: f64 | float = 0.5) -> None:
    tl.store(out_ptr, tl.load(x_ptr) * scale)
@kernel
def numbers(x_ptr: Ptr[N], v: N | int) -> None:
    tl.store(x_ptr, v)
@kernel
def untyped(x, n, s=None):
    tl.store(x, n)
@kernel
def optional(x_ptr: Ptr[f32], w_ptr: Ptr[f32] | None = None) -> None:
    tl.store(x_ptr, 1.0)
@kernel
def nothing(n: i32 | int) -> None:
    tl.static_assert(True)
@kernel
def small(x_ptr: Ptr[f32], a: i8 | int, b: u8 | int, c: i1 | bool) -> None:
    tl.store(x_ptr, a)
@kernel(do_not_specialize=("n", "x"), do_not_specialize_on_alignment=["y", "m"])
def plain(x: Ptr[f32], n: i32 | int, y: Ptr[f32], m: i32 | int) -> None:
    tl.store(x, tl.load(y))
@kernel
def required(x_ptr: Ptr[f32], A: Const[int], B: Const[float], C: tl.constexpr = (1, 2)) -> None:
    tl.store(x_ptr, A)
"""


@pytest.fixture
def kernels(module: Module) -> Any:
    return module(COPY)


def types(instance: Any) -> dict[str, str]:
    return {name: type_.text for name, type_ in instance.specialization.types}


def refusal(run: Callable[[], object], code: str) -> TeenyError:
    with pytest.raises(LaunchError) as caught:
        run()
    assert caught.value.code == code, str(caught.value)
    assert caught.value.diagnostics[0].helps, "each refusal names a remedy"
    return caught.value


def message(error: TeenyError) -> str:
    return error.diagnostics[0].message


# --- the path -----------------------------------------------------------------------------------


def test_a_launch_compiles_loads_and_runs_once_and_then_only_runs(
    kernels: Any, world: Any, array: Any
) -> None:
    x, out = array(), array()
    kernels.copy[(2, 3)](x, out, 5, BLOCK=128)
    kernels.copy[(2, 3)](x, out, 7, BLOCK=128)
    assert len(world.compiled) == len(world.host.loaded) == 1
    artifact = world.host.loaded[0]
    assert artifact.source_map is world.instance.source_map
    assert world.compiled[0][1] == Target.interpret()
    assert [launch[1:] for launch in world.host.launches] == [
        ((2, 3, 1), [x, out, 5], None),
        ((2, 3, 1), [x, out, 7], None),
    ]
    assert dict(world.instance.specialization.constants) == {"BLOCK": 128}


def test_only_packages_for_the_arrays_at_hand_are_loaded(
    kernels: Any, world: Any, array: Any
) -> None:
    kernels.copy[1](array(), array(), 5)
    assert ("teeny.devices", "cpu") in world.asked
    assert ("teeny.devices", "cuda") not in world.asked


def test_arguments_bind_by_position_and_name(kernels: Any, world: Any, array: Any) -> None:
    x, out = array(), array()
    kernels.copy[1](n=5, out_ptr=out, BLOCK=2, x_ptr=x)
    kernels.copy[1](x, out, 5, 2)
    assert world.host.launches[0] == world.host.launches[1]
    assert len(world.compiled) == 1


def test_equal_combinations_share_what_was_compiled(kernels: Any, world: Any, array: Any) -> None:
    launches: list[dict[str, Any]] = [
        {"n": 5},
        {"n": 16},
        {"n": 1},
        {"n": 7},
        {"n": 32},
        {"n": 5, "num_warps": 8},
        {"n": 5, "BLOCK": 128},
    ]
    for arguments in launches:
        kernels.copy[1](array(), array(), **arguments)
    assert len(world.compiled) == 5
    kernels.copy[1](array(pointer=4), array(), 5)
    assert len(world.compiled) == 6


def test_arguments_specialise_as_in_triton(kernels: Any, world: Any, array: Any) -> None:
    kernels.copy[1](array(pointer=32), array(pointer=8), 48)
    assert world.instance.specialization.divisible_by_16 == ("x_ptr", "n")
    kernels.copy[1](array(pointer=8), array(pointer=8), 1)
    assert world.instance.specialization.divisible_by_16 == ()
    assert world.instance.specialization.equal_to_1 == ("n",)
    assert types(world.instance)["n"] == "i32"
    assert world.host.last[2][2] == 1
    kernels.copy[1](array(pointer=8), array(pointer=8), 0)
    assert world.instance.specialization.divisible_by_16 == ("n",)


def test_specialisation_is_off_for_parameters_that_say_so(
    kernels: Any, world: Any, array: Any
) -> None:
    for n, m in ((1, 16), (16, 1), (5, 5), (32, 32), (1, 1)):
        kernels.plain[1](array(), n, array(), m)
    hints = [i.specialization for i, _ in world.compiled]
    assert [(h.divisible_by_16, h.equal_to_1) for h in hints] == [((), ()), ((), ("m",))]


def test_launch_options_come_from_decorator_options_and_call(
    module: Module, world: Any, array: Any
) -> None:
    k = module(COPY.replace("@kernel\ndef copy", "@kernel(num_warps=2)\ndef copy")).copy
    for launch in (k[1], k.options(num_stages=5)[1], k.options(num_warps=16, maxnreg=32)[1]):
        launch(array(), array(), 5)
    k[1](array(), array(), 5, num_warps=1, num_ctas=2, enable_fp_fusion=False)
    found = [instance.options for instance, _ in world.compiled]
    assert [(o.num_warps, o.num_stages, o.num_ctas, o.maxnreg) for o in found] == [
        (2, 3, 1, None),
        (2, 5, 1, None),
        (16, 3, 1, 32),
        (1, 3, 2, None),
    ]
    assert [o.enable_fp_fusion for o in found] == [True, True, True, False]


def test_streams_reach_the_device(kernels: Any, world: Any, array: Any) -> None:
    stream = object()
    kernels.copy.on(1, stream=stream)(array(), array(), 5)
    kernels.copy[1](array(), array(), 5, stream=stream)
    assert [launch[3] for launch in world.host.launches] == [stream, stream]


def test_threads_that_ask_for_one_kernel_compile_it_once(
    kernels: Any, world: Any, array: Any
) -> None:
    barrier = threading.Barrier(8)
    compile_kernel = world.compile_kernel
    slow = threading.Event()
    world.found["teeny.compiler", "default"] = lambda *args: (
        slow.wait(0.05),
        compile_kernel(*args),
    )[1]

    def run() -> None:
        barrier.wait()
        kernels.copy[1](array(), array(), 5)

    threads = [threading.Thread(target=run) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(world.compiled) == 1
    assert len(world.host.launches) == 8


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_child_forked_while_another_thread_compiles_launches(
    kernels: Any, world: Any, array: Any
) -> None:
    compile_kernel = world.compile_kernel
    begun, go_on = threading.Event(), threading.Event()

    def compile_late(*args: Any) -> Any:
        begun.set()
        go_on.wait(30)
        return compile_kernel(*args)

    world.found["teeny.compiler", "default"] = compile_late
    thread = threading.Thread(target=lambda: kernels.copy[1](array(), array(), 5))
    thread.start()
    begun.wait(30)
    child = os.fork()
    if child == 0:
        signal.alarm(20)
        go_on.set()
        try:
            kernels.copy[1](array(), array(), 5)
        finally:
            os._exit(0 if len(world.host.launches) == 1 else 1)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    go_on.set()
    thread.join()
    assert status == 0


def test_a_failed_compilation_leaves_nothing_behind(kernels: Any, world: Any, array: Any) -> None:
    compile_kernel = world.found.pop(("teeny.compiler", "default"))
    refusal(lambda: kernels.copy[1](array(), array(), 5), "E1022")
    world.found["teeny.compiler", "default"] = compile_kernel
    kernels.copy[1](array(), array(), 5)
    assert len(world.host.launches) == 1


def test_a_changed_global_is_seen_by_the_next_launch(
    module: Module, world: Any, array: Any
) -> None:
    found: Any = module("SCALE = 2\n@kernel\ndef k(x: Ptr[f32]) -> None:\n    tl.store(x, SCALE)\n")
    found.k[1](array())
    found.SCALE = 3
    found.k[1](array())
    assert ["SCALE = 2" in i.source for i, _ in world.compiled] == [True, False]


# --- types --------------------------------------------------------------------------------------


def test_type_variables_take_the_dtype_of_the_arrays(kernels: Any, world: Any, array: Any) -> None:
    kernels.linked[1](array("f16"), array("f16"), 3)
    assert types(world.instance) == {
        "x_ptr": "Ptr[f16]",
        "out_ptr": "Ptr[f16]",
        "scale": "f16",
        "eps": "f64",
    }
    assert world.host.last[2][2:] == [3, 0.5]


def test_floats_for_annotated_scalars_keep_their_value(
    module: Module, world: Any, array: Any
) -> None:
    found: Any = module(
        "@kernel\ndef k(x: Ptr[f32], a: f16 | float, b: f64 | float, c: bf16 | float) -> None:\n"
        "    tl.store(x, a)\n"
    )
    found.k[1](array(), 42.0, 0.1, 1)
    assert types(world.instance) == {"x": "Ptr[f32]", "a": "f16", "b": "f64", "c": "bf16"}
    passed = world.host.last[2][1:]
    assert passed == [42.0, 0.1, 1.0]
    assert {type(value) for value in passed} == {float}
    found.k[1](array(), 16, 1, 1)
    assert len(world.compiled) == 1


@pytest.mark.parametrize(
    ("value", "dtype"),
    [
        (5, "i32"),
        (2**31 - 1, "i32"),
        (2**31, "i64"),
        (-(2**31), "i32"),
        (-(2**31) - 1, "i64"),
        (2**63 - 1, "i64"),
        (2**63, "u64"),
        (2**64 - 1, "u64"),
        (True, "i1"),
        (1.5, "f32"),
        (f64(1.5), "f64"),
        (i8(3), "i8"),
        (f16(3), "f16"),
    ],
)
def test_untyped_parameters_take_their_types_from_the_launch(
    kernels: Any, world: Any, array: Any, value: Any, dtype: str
) -> None:
    kernels.untyped[1](array("bf16"), value)
    assert types(world.instance) == {"x": "Ptr[bf16]", "n": dtype}
    assert dict(world.instance.specialization.constants) == {"s": None}
    assert world.host.last[2][1] == getattr(value, "value", value)


def test_numpy_scalars_are_numbers(kernels: Any, world: Any, array: Any) -> None:
    np = pytest.importorskip("numpy")
    for value, dtype in ((np.int64(5), "i32"), (np.float64(2), "f32"), (np.bool_(True), "i1")):
        kernels.untyped[1](array(), value)
        assert types(world.instance)["n"] == dtype
        assert type(world.host.last[2][1]) in (int, float, bool)
    kernels.copy[1](array(), array(), np.int32(7))
    assert world.host.last[2][2] == 7


def test_integers_take_the_dtype_that_a_type_variable_has(
    kernels: Any, world: Any, array: Any
) -> None:
    cases: list[tuple[str, int, int]] = [
        ("u8", 255, 256),
        ("i8", -128, 128),
        ("i64", 2**40, 2**63),
    ]
    for dtype, good, bad in cases:
        kernels.numbers[1](array(dtype), good)
        assert types(world.instance)["v"] == dtype
        kernels.numbers[1](array(dtype), 3)
        launch = kernels.numbers[1]
        refusal(partial(launch, array(dtype), bad), "E1010")
    kernels.numbers[1](array("f32"), 3)
    assert types(world.instance)["v"] == "f32"


def test_none_and_an_array_are_specialisations_of_their_own(
    kernels: Any, world: Any, array: Any
) -> None:
    x, w = array(), array()
    for weights in (None, w, None):
        kernels.optional[1](x, weights)
    kernels.optional[1](x)
    assert len(world.compiled) == 2
    assert [launch[2] for launch in world.host.launches] == [[x], [x, w], [x], [x]]
    assert "optional(x_ptr, w_ptr=None)" in world.compiled[0][0].entry_point_source


def test_typed_wrappers_give_arrays_their_dtype(kernels: Any, world: Any, array: Any) -> None:
    bits = array("u16")
    kernels.linked[1](typed(bits, bf16), typed(bits, bf16), 1.0)
    assert types(world.instance)["x_ptr"] == "Ptr[bf16]"
    assert world.host.last[2][:2] == [bits, bits]


def test_compile_time_values_of_all_kinds(kernels: Any, world: Any, array: Any) -> None:
    for a, b, c in ((1, 2.0, (8, 8)), (1, 2, (8, 8)), (-1, -0.0, f32), (1, 0.0, "a.b")):
        kernels.required[1](array(), a, b, c)
    found = [dict(i.specialization.constants) for i, _ in world.compiled]
    assert len(found) == 3
    assert found[0] == {"A": 1, "B": 2.0, "C": (8, 8)}
    assert "A=-1, B=-0.0, C=f32" in world.compiled[1][0].entry_point_source
    assert "B=0.0, C='a.b'" in world.instance.entry_point_source


# --- devices ------------------------------------------------------------------------------------


def test_gpu_arrays_run_on_their_device(kernels: Any, world: Any, array: Any) -> None:
    kernels.copy[1](array(place="cuda:1"), array(place="cuda:1"), 5)
    assert world.cuda.device("cuda:1").last[1] == (1, 1, 1)
    assert world.compiled[0][1] == Target.cuda("sm_90")
    kernels.copy[1](array(place="cuda:0"), array(place="cuda:0"), 5)
    assert world.cuda.device("cuda:0").last[1] == (1, 1, 1)


def test_the_device_may_be_named_or_given(kernels: Any, world: Any) -> None:
    device = world.cuda.device("cuda:0")
    kernels.nothing.on(4, device="cuda:0")(3)
    kernels.nothing[4](3, device=device)
    kernels.nothing[4](3, device="cpu")
    assert len(device.launches) == 2
    assert len(world.host.launches) == 1


def test_the_environment_names_the_device_of_host_arrays(
    kernels: Any, world: Any, array: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEENY_DEVICE", "interpret")
    kernels.copy[1](array(), array(), 5)
    assert len(world.cpu.device("interpret").launches) == 1


@pytest.mark.parametrize(
    ("places", "device", "code", "wanted"),
    [
        (("cpu", "cuda:0"), None, "E1016", "`x_ptr` of `copy` is on `cpu`, but `out_ptr` is on"),
        (("cuda:0", "cuda:1"), None, "E1016", "`out_ptr` is on `cuda:1`"),
        (("cpu", "cpu"), "cuda:0", "E1015", "`x_ptr` of `copy` is on `cpu`"),
        (("cuda:0", "cuda:0"), "cuda:1", "E1015", "`cuda:0`, but the launch is on `cuda:1`"),
        (("cuda:0", "cuda:0"), "cpu", "E1015", "but the launch is on `cpu`"),
    ],
)
def test_arrays_on_other_devices_are_refused(
    kernels: Any,
    world: Any,
    array: Any,
    places: tuple[str, str],
    device: str | None,
    code: str,
    wanted: str,
) -> None:
    arrays = [array(place=place) for place in places]
    error = refusal(lambda: kernels.copy.on(1, device=device)(*arrays, 5), code)
    assert wanted in message(error)


@pytest.mark.parametrize(("place", "package"), [("cpu", "teeny-cpu"), ("cuda:0", "teeny-cuda")])
def test_a_device_that_is_not_installed_says_what_to_install(
    kernels: Any, world: Any, array: Any, place: str, package: str
) -> None:
    world.found.clear()
    error = refusal(lambda: kernels.copy[1](array(place=place), array(place=place), 5), "E1018")
    assert package in error.diagnostics[0].helps[0]


def test_a_device_package_that_cannot_be_imported_says_why(
    kernels: Any, world: Any, array: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(_group: str, _name: str) -> Any:
        raise ImportError("no libcuda")

    monkeypatch.setattr("teeny_macros.devices.entry_point", broken)
    error = refusal(lambda: kernels.copy[1](array(), array(), 5), "E1018")
    assert "no libcuda" in error.diagnostics[0].notes[0]


# --- refusals of arguments ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kernel", "arguments", "named", "code", "wanted"),
    [
        ("copy", ["f32", "f32"], {}, "E1003", "`copy` lacks `n`"),
        ("copy", ["f32", "f32", 5, 64, 1], {}, "E1004", "takes 4 arguments but 5 were given"),
        ("copy", ["f32", "f32", 5], {"BLOK": 1}, "E1005", "no parameter `BLOK`"),
        ("copy", ["f32", "f32", 5], {"n": 5}, "E1006", "`n` twice"),
        ("copy", ["f16", "f32", 5], {}, "E1007", "wants `Ptr[f32]`, but got an array of `f16`"),
        ("copy", ["f32", "f32", 5.0], {}, "E1007", "`n` of `copy` wants `i32`"),
        ("copy", ["f32", "f32", "f32"], {}, "E1007", "got an array of `f32`"),
        ("copy", ["f32", "f32", None], {}, "E1007", "None"),
        ("copy", ["f32", "f32", i64(5)], {}, "E1007", "got a `i64`"),
        ("copy", ["f32", "f32", 5], {"BLOCK": 1.0}, "E1007", "`Const[int]`"),
        ("linked", ["f32", "f16", 1.0], {}, "E1008", "`f32` by `x_ptr` but `f16` by `out_ptr`"),
        ("linked", ["i32", "i32", 1], {}, "E1009", "cannot be `i32`: it must be `Float`"),
        ("copy", ["f32", "f32", 2**31], {}, "E1010", "2147483648, which `i32` cannot hold"),
        ("copy", ["f32", "f32", -(2**31) - 1], {}, "E1010", "cannot hold"),
        ("small", ["f32", 128, 1, True], {}, "E1010", "`a` of `small` is 128"),
        ("small", ["f32", 1, -1, True], {}, "E1010", "`b` of `small` is -1"),
        ("small", ["f32", 1, 1, 2], {}, "E1010", "`i1`"),
        ("untyped", ["f32", 2**64], {}, "E1010", "`u64`"),
        ("required", ["f32"], {}, "E1011", "lacks the compile-time `A`, `B`"),
        ("required", ["f32"], {"A": 1}, "E1011", "lacks the compile-time `B`"),
        ("required", ["f32", 1, 2.0, [3]], {}, "E1013", "`C` of `required` cannot be a `list`"),
        ("copy", [[1.0], "f32", 5], {}, "E1014", "got a `list`"),
        ("copy", [3, "f32", 5], {}, "E1014", "the number 3"),
        ("copy", [f32(3), "f32", 5], {}, "E1014", "`f32`"),
        ("untyped", [object(), 5], {}, "E1014", "got a `object`"),
        ("copy", ["", "f32", 5], {}, "E1025", "does not tell its dtype"),
        ("untyped", ["", 5], {}, "E1025", "`x` of `untyped`"),
        (
            "copy",
            ["f32", "f32", 5],
            {"num_warps": 3},
            "E1023",
            "invalid launch option `num_warps=3`: it must be a power of two, at most 32",
        ),
        ("copy", ["f32", "f32", 5], {"num_stages": "a"}, "E1023", "num_stages"),
        ("nothing", [5], {}, "E1017", "`nothing` got no array"),
    ],
)
def test_wrong_arguments_are_refused(
    kernels: Any,
    world: Any,
    array: Any,
    kernel: str,
    arguments: list[Any],
    named: dict[str, Any],
    code: str,
    wanted: str,
) -> None:
    values = [array(value) if isinstance(value, str) else value for value in arguments]
    error = refusal(lambda: getattr(kernels, kernel)[1](*values, **named), code)
    assert wanted in message(error)
    assert not world.compiled


def test_a_dtype_that_kernels_lack_is_named_with_those_they_have(
    kernels: Any, world: Any, array: Any
) -> None:
    given = array("")
    given.dtype = "complex128"
    error = refusal(lambda: kernels.copy[1](given, array(), 5), "E1027")
    assert "is an array of `complex128`" in message(error)
    assert "i8, i16, i32, i64" in error.diagnostics[0].helps[0]
    assert "f64" in error.diagnostics[0].helps[0]


def test_raw_bytes_do_not_tell_their_dtype(kernels: Any, world: Any, array: Any) -> None:
    given = array("")
    given.dtype = SimpleNamespace(kind="V")
    error = refusal(lambda: kernels.copy[1](given, array(), 5), "E1025")
    assert "tl.typed(array, f32)" in error.diagnostics[0].helps[0]


def test_a_misspelled_name_is_guessed(kernels: Any, world: Any, array: Any) -> None:
    error = refusal(lambda: kernels.copy[1](array(), array(), 5, BLOK=1), "E1005")
    assert "did you mean `BLOCK`?" in error.diagnostics[0].helps[0]
    error = refusal(lambda: kernels.copy[1](array(), array(), 5, BLOCK=1, num_warp=4), "E1005")
    assert "did you mean `num_warps`?" in error.diagnostics[0].helps[0]
    error = refusal(lambda: kernels.copy.instantiate(BLOCK=1, num_stage=2), "E1005")
    assert "did you mean `num_stages`?" in error.diagnostics[0].helps[0]


def test_an_integer_too_wide_names_the_wider_dtype(kernels: Any, world: Any, array: Any) -> None:
    error = refusal(lambda: kernels.copy[1](array(), array(), 2**31), "E1010")
    assert "i64" in error.diagnostics[0].helps[0]


def test_sixteen_bit_integers_may_be_bits_of_bf16(module: Module, world: Any, array: Any) -> None:
    found: Any = module("@kernel\ndef k(x: Ptr[bf16]) -> None:\n    tl.store(x, 1.0)\n")
    error = refusal(lambda: found.k[1](array("u16")), "E1007")
    assert "tl.typed(array, bf16)" in error.diagnostics[0].helps[0]


def test_a_range_is_checked_on_every_launch(kernels: Any, world: Any, array: Any) -> None:
    kernels.small[1](array(), 5, 5, False)
    refusal(lambda: kernels.small[1](array(), 133, 5, False), "E1010")
    refusal(lambda: kernels.small[1](array(), 5, 257, False), "E1010")
    kernels.small[1](array(), 7, 7, False)
    assert len(world.compiled) == 1


def test_read_only_arrays_may_be_read_but_not_written(kernels: Any, world: Any, array: Any) -> None:
    kernels.copy[1](array(readonly=True), array(), 5)
    error = refusal(lambda: kernels.copy[1](array(), array(readonly=True), 5), "E1020")
    assert "`copy` writes to `out_ptr`" in message(error)


def test_calling_a_kernel_or_helper_says_what_to_do(module: Module) -> None:
    found: Any = module(f"{COPY}\n@device\ndef h(x):\n    return x\n")
    error = refusal(lambda: found.copy(1, 2, 3), "E1001")
    assert "copy[grid](...)" in error.diagnostics[0].helps[0]
    refusal(lambda: found.h(1), "E1002")


# --- grids --------------------------------------------------------------------------------------


class Index:
    """An integer of another library."""

    def __index__(self) -> int:
        return 6


@pytest.mark.parametrize(
    ("grid", "size"),
    [
        (4, (4, 1, 1)),
        ((4,), (4, 1, 1)),
        ([4], (4, 1, 1)),
        ((4, 5), (4, 5, 1)),
        ((4, 5, 6), (4, 5, 6)),
        (Index(), (6, 1, 1)),
        ((1, Index()), (1, 6, 1)),
        (lambda meta: meta["BLOCK"], (64, 1, 1)),
        (lambda meta: (meta["BLOCK"] // 8, meta["num_warps"]), (8, 4, 1)),
        (lambda _meta: [2], (2, 1, 1)),
    ],
)
def test_grids_may_be_numbers_sequences_and_functions(
    kernels: Any, world: Any, array: Any, grid: Any, size: tuple[int, int, int]
) -> None:
    kernels.copy[grid](array(), array(), 5)
    kernels.copy.on(grid)(array(), array(), 5)
    assert [launch[1] for launch in world.host.launches] == [size, size]


@pytest.mark.parametrize("grid", [0, (0,), (4, 0, 1), [0], lambda _meta: 0])
def test_an_empty_grid_checks_the_arguments_and_runs_nothing(
    kernels: Any, world: Any, array: Any, grid: Any
) -> None:
    kernels.copy[grid](array(), array(), 5)
    assert not world.host.launches
    assert not world.compiled
    refusal(lambda: kernels.copy[grid](array("f16"), array(), 5), "E1007")
    kernels.copy[1](array(), array(), 5)
    assert len(world.host.launches) == 1


@pytest.mark.parametrize(
    ("grid", "wanted"),
    [
        (-1, "negative"),
        ((1, -2), "negative"),
        (1.5, "`1.5` is no integer"),
        ((), "of 0 sides"),
        ((1, 2, 3, 4), "of 4 sides"),
        ("a", "no integer"),
        (lambda _meta: 2.0, "no integer"),
        (None, "no integer"),
    ],
)
def test_what_is_no_grid_is_refused(
    kernels: Any, world: Any, array: Any, grid: Any, wanted: str
) -> None:
    error = refusal(lambda: kernels.copy[grid](array(), array(), 5), "E1019")
    assert wanted in message(error)


# --- launches of instances ----------------------------------------------------------------------


def test_an_instance_launches_with_or_without_its_compile_time_values(
    kernels: Any, world: Any, array: Any
) -> None:
    made = kernels.copy.instantiate(BLOCK=32, num_warps=2)
    x, out = array(), array()
    made[3](x, out, 5)
    made[3](x, out, 16, BLOCK=32)
    made.on(lambda meta: meta["BLOCK"])(x, out, 1, 32)
    assert len(world.compiled) == 1
    assert world.instance is made
    assert [launch[1:3] for launch in world.host.launches] == [
        ((3, 1, 1), [x, out, 5]),
        ((3, 1, 1), [x, out, 16]),
        ((32, 1, 1), [x, out, 1]),
    ]


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["f32", "f32", 5, 64], "E1012"),
        (["f32", "f32"], "E1003"),
        (["f16", "f32", 5], "E1007"),
        (["f32", "f32", 2**31], "E1010"),
        (["f32", "f32", 5, 32, 1], "E1004"),
    ],
)
def test_an_instance_checks_its_arguments(
    kernels: Any, world: Any, array: Any, arguments: list[Any], code: str
) -> None:
    values = [array(value) if isinstance(value, str) else value for value in arguments]
    refusal(lambda: kernels.copy.instantiate(BLOCK=32)[1](*values), code)


def test_an_instance_keeps_its_launch_options(kernels: Any, world: Any, array: Any) -> None:
    made = kernels.copy.instantiate(num_warps=8)
    made[1](array(), array(), 5, num_warps=8)
    error = refusal(lambda: made[1](array(), array(), 5, num_warps=4), "E1012")
    assert "`num_warps` is fixed to 8" in message(error)


def test_an_instance_of_a_generic_kernel_has_one_dtype(
    kernels: Any, world: Any, array: Any
) -> None:
    made = kernels.linked.instantiate(D=f16)
    made[1](array("f16"), array("f16"), 2)
    assert world.host.last[2][2:] == [2.0, 0.5]
    refusal(lambda: made[1](array("f32"), array("f32"), 2), "E1007")


def test_an_instance_of_an_untyped_kernel_has_the_types_it_was_given(
    kernels: Any, world: Any, array: Any
) -> None:
    made = kernels.untyped.instantiate(x=Ptr[u8], n=i64, s=None)
    made[1](array("u8"), 5)
    assert world.host.last[2][1] == 5
    made[1](array("u8"), 2**40, None)
    refusal(lambda: made[1](array("u8"), 5, 3), "E1012")
    refusal(lambda: made[1](array("i8"), 5), "E1007")


def test_the_hints_of_an_instance_are_checked(kernels: Any, world: Any, array: Any) -> None:
    made = kernels.copy.instantiate().with_hints(divisible_by_16=["x_ptr", "n"])
    made[1](array(), array(pointer=4), 32)
    error = refusal(lambda: made[1](array(pointer=4), array(), 32), "E1021")
    assert "a multiple of 16" in message(error)
    refusal(lambda: made[1](array(), array(), 5), "E1021")
    one = kernels.copy.instantiate().with_hints(equal_to_1=["n"])
    one[1](array(), array(), 1)
    refusal(lambda: one[1](array(), array(), 2), "E1021")


def test_scalars_given_as_dtypes_are_checked_against_the_instance(
    kernels: Any, world: Any, array: Any
) -> None:
    made = kernels.copy.instantiate()
    made[1](array(), array(), i32(5))
    assert world.host.last[2][2] == 5
    refusal(lambda: made[1](array(), array(), i64(5)), "E1007")
