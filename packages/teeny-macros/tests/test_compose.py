"""What a kernel captures: helpers and literals, by which names, and what is refused."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest

from teeny_macros import CaptureError, KernelInstance, TeenyError

Module = Callable[..., ModuleType]


def modules(instance: KernelInstance[...]) -> dict[str, str]:
    return {module.name: module.text for module in instance.unit(None, "0").modules}


def below(found: Any, **binds: Any) -> dict[str, str]:
    texts = modules(found.instantiate(**binds))
    del texts["entry"]
    return texts


def make(module: Module, text: str, **options: Any) -> Any:
    return module(textwrap.dedent(text), **options)


def lines(text: str) -> list[str]:
    return text.split("\n")[:-1]


def test_helpers_and_literals_are_followed_transitively(module: Module) -> None:
    found = make(
        module,
        """\
        SCALE = 0.5
        UNUSED = [1]
        @device
        def inner(x):
            return x * SCALE
        @device
        def helper(x):
            return inner(x) + OFFSET
        OFFSET = 3
        @kernel
        def k(out: Ptr[f32]) -> None:
            tl.store(out, helper(tl.load(out)))
        """,
    )
    assert below(found.k) == {
        "m0": "OFFSET = 3\nSCALE = 0.5\n"
        "def helper(x):\n    return inner(x) + OFFSET\n"
        "def inner(x):\n    return x * SCALE\n",
        "kernel": "import teeny_triton as tl\nfrom teeny_triton import Ptr, f32\n"
        "from m0 import helper\n"
        "def k(out: Ptr[f32]) -> None:\n    tl.store(out, helper(tl.load(out)))\n",
    }
    assert [helper.captured.name for helper in found.k.helpers] == ["helper", "inner"]


def test_the_names_of_a_module_do_not_show_in_the_text(module: Module) -> None:
    text = "@device\ndef h(x):\n    return x\n@kernel\ndef k(out: Ptr[f32]):\n    h(out)\n"
    one, two = (make(module, text, name=name) for name in ("first_name", "second_name"))
    assert one.k.instantiate().source == two.k.instantiate().source


def test_helpers_of_other_modules_come_by_name_alias_and_attribute(module: Module) -> None:
    library = make(
        module,
        """\
        EPS = 1e-6
        @device
        def relu(x):
            return tl.maximum(x, EPS)
        """,
        name="my_library",
    )
    found = make(
        module,
        """\
        import my_library
        from my_library import relu, relu as act
        @kernel
        def k(out: Ptr[f32]) -> None:
            tl.store(out, relu(act(my_library.relu(my_library.EPS))))
        """,
    )
    texts = below(found.k)
    assert lines(texts["m0"]) == [
        "import teeny_triton as tl",
        "EPS = 1e-06",
        "def relu(x):",
        "    return tl.maximum(x, EPS)",
    ]
    assert "from m0 import relu, relu as act" in texts["kernel"]
    assert "import m0 as my_library" in texts["kernel"]
    assert found.k.helpers == (library.relu,)


def test_constants_of_modules_and_classes_are_captured_by_attribute(module: Module) -> None:
    found = make(
        module,
        """\
        import math
        import enum
        class Config:
            BLOCK = 64
            class Inner:
                EPS = 0.25
        class Mode(enum.IntEnum):
            FAST = 2
        @kernel
        def k(out: Ptr[f32]) -> None:
            tl.store(out, math.pi * Config.BLOCK + Config.Inner.EPS + Mode.FAST)
        """,
    )
    texts = below(found.k)
    assert texts["m0"] == "pi = 3.141592653589793\n"
    assert texts["m1"] == "import m2 as Inner\nBLOCK = 64\n"
    assert texts["m2"] == "EPS = 0.25\n"
    assert texts["m3"] == "FAST = 2\n"


def test_every_kind_of_literal_has_its_text(module: Module) -> None:
    found = make(
        module,
        """\
        from typing import TypeVar
        A, B, C, D = 1, -1.5, True, "a'\\u00e4\\n"
        E, F, G, H = None, (1, (2.0, "x")), (1,), ()
        I, J = f16, (tl.float32, bf16)
        K, L = tl.constexpr(5), tl.constexpr((1, tl.constexpr(2)))
        M, N, O = float("inf"), float("-inf"), float("nan")
        P, Q = tl.Axis.Y, 1 << 70
        R = TypeVar("R")
        S = TypeVar("S", bound=Float)
        T = TypeVar("T", f16, f32)
        U = TypeVar("U", bound=f16 | f32)
        @kernel
        def k(out: Ptr[f32]) -> None:
            tl.store(out, (A, B, C, D, E, F, G, H, I, J, K, L, M, N, O, P, Q, R, S, T, U))
        """,
    )
    found_lines = lines(below(found.k)["kernel"])
    values = dict(line.split(" = ", 1) for line in found_lines if " = " in line)
    assert values == {
        "A": "1",
        "B": "-1.5",
        "C": "True",
        "D": '"a\'\\xe4\\n"',
        "E": "None",
        "F": "(1, (2.0, 'x'))",
        "G": "(1,)",
        "H": "()",
        "J": "(f32, bf16)",
        "K": "5",
        "L": "(1, 2)",
        "M": 'float("inf")',
        "N": 'float("-inf")',
        "O": 'float("nan")',
        "P": "Axis.Y",
        "Q": "1180591620717411303424",
        "R": 'TypeVar("R")',
        "S": 'TypeVar("S", bound=Float)',
        "T": 'TypeVar("T", f16, f32)',
        "U": 'TypeVar("U", bound=f16 | f32)',
    }
    (language,) = (line for line in found_lines if line.startswith("from teeny_triton"))
    assert language == "from teeny_triton import Axis, Float, Ptr, bf16, f16, f16 as I, f32"


def test_names_of_the_language_may_be_bound_to_other_names(module: Module) -> None:
    found = make(
        module,
        """\
        import teeny_triton
        import teeny_triton as T
        from teeny_triton import load as ld, f32 as single
        f32 = 0.5
        DT = (single,)
        @kernel
        def k(out: Ptr[single]) -> None:
            T.store(out, teeny_triton.exp(ld(out)) * f32 + DT[0])
        """,
    )
    assert lines(below(found.k)["kernel"])[:5] == [
        "import teeny_triton as T",
        "import teeny_triton",
        "from teeny_triton import Ptr, f32 as _f32, f32 as single, load as ld",
        "DT = (_f32,)",
        "f32 = 0.5",
    ]


# --- scoping ------------------------------------------------------------------------------------


def test_locals_and_parameters_win_over_globals_of_the_same_name(module: Module) -> None:
    text = """\
        adj, output, to = object(), [0.0], 3
        @kernel
        def k(out: Ptr[f32], adj: f32 | float) -> None:
            output = tl.load(out)
            tl.store(out, output.to(f32) + adj)
        """
    found = make(module, text)
    assert "adj =" not in below(found.k)["kernel"]
    before = found.k.instantiate().id
    found.adj, found.output, found.to = 1, 2, 4
    assert found.k.instantiate().id == before


def test_closure_variables_win_over_globals(module: Module) -> None:
    found = make(
        module,
        """\
        K = 7
        def factory(v):
            K = tl.constexpr(v)
            @device
            def helper(x):
                return x + K
            @kernel
            def k(out: Ptr[f32]) -> None:
                tl.store(out, helper(K))
            return k
        one, two, none = factory(1), factory(2), factory(None)
        """,
    )
    texts = [below(k) for k in (found.one, found.two, found.none)]
    for value, text in zip(("1", "2", "None"), texts, strict=True):
        assert f"K = {value}\n" in text["kernel"]
        assert f"K = {value}\n" in text["m0"]
    assert len({k.instantiate().id for k in (found.one, found.two, found.none)}) == 3


def test_a_sibling_defined_later_in_the_same_function_is_found(module: Module) -> None:
    found = make(
        module,
        """\
        def make():
            @kernel
            def first(out: Ptr[f32]) -> None:
                second(out)
            @kernel
            def second(out: Ptr[f32]) -> None:
                tl.store(out, 1.0)
            return first
        """,
    )
    assert "def second(" in below(found.make())["m0"]


def test_a_sibling_that_is_not_there_yet_is_left_to_the_compiler(module: Module) -> None:
    found = make(
        module,
        """\
        def make():
            @kernel
            def first(out: Ptr[f32]) -> None:
                second(out)
            early = first.instantiate()
            @device
            def second(x):
                return x
            return first, early
        """,
    )
    first, early = found.make()
    assert "second" not in early.source.replace("second(out)", "")
    assert "def second(x):" in first.instantiate().source


def test_helpers_made_twice_from_one_text_do_not_mix(module: Module) -> None:
    found = make(
        module,
        """\
        def scaled(by):
            @device
            def scale(x):
                return x * by
            return scale
        double, half = scaled(2), scaled(0.5)
        @kernel
        def k(out: Ptr[f32]) -> None:
            tl.store(out, double(half(tl.load(out))))
        """,
    )
    texts = below(found.k)
    assert texts["m0"] == "by = 2\ndef scale(x):\n    return x * by\n"
    assert texts["m1"] == "by = 0.5\ndef scale(x):\n    return x * by\n"
    assert "from m0 import scale as double\nfrom m1 import scale as half\n" in texts["kernel"]


def test_a_class_body_sees_its_own_helpers(module: Module) -> None:
    found = make(
        module,
        """\
        class Kernels:
            SCALE = 2.0
            @device
            def helper(x):
                return x
            @kernel
            def k(out: Ptr[f32]) -> None:
                tl.store(out, helper(SCALE) + Kernels.helper(1.0))
        """,
    )
    texts = below(found.Kernels.k)
    assert "SCALE = 2.0\n" in texts["kernel"]
    assert "from m0 import helper" in texts["kernel"]
    assert "from m0 import helper" in texts["m1"]


def test_recursion_ends_at_the_function_already_there(module: Module) -> None:
    found = make(
        module,
        """\
        @device
        def even(x):
            return odd(x)
        @device
        def odd(x):
            return even(x)
        @kernel
        def k(out: Ptr[f32]) -> None:
            k(even(out))
        """,
    )
    texts = below(found.k)
    assert lines(texts["m0"])[0] == "def even(x):"
    assert "import k" not in texts["kernel"]


def test_a_kernel_is_a_helper_of_another(module: Module) -> None:
    found = make(
        module,
        """\
        @kernel(num_warps=8)
        def inner(out: Ptr[f32]) -> None:
            tl.store(out, 1.0)
        @kernel
        def outer(out: Ptr[f32]) -> None:
            inner(out)
        """,
    )
    assert "def inner(out: Ptr[f32]) -> None:" in below(found.outer)["m0"]


def test_builtins_and_unknown_names_are_left_to_the_compiler(module: Module) -> None:
    found = make(
        module,
        """\
        @kernel
        def k(out: Ptr[f32]) -> None:
            for i in range(min(len((1, 2)), 3)):
                tl.store(out, float(abs(i)) + undefined)
        """,
    )
    assert lines(below(found.k)["kernel"])[:2] == [
        "import teeny_triton as tl",
        "from teeny_triton import Ptr, f32",
    ]


def test_annotations_that_mean_nothing_to_a_kernel_are_no_capture(module: Module) -> None:
    found = make(
        module,
        """\
        from typing import Any, Optional
        class Array: pass
        @device
        def h(x: Any, y: Array, z: "Optional[Array]") -> Array:
            w: Array = x
            return w
        @kernel
        def k(out: Array, n: Optional[int]) -> None:
            h(out, n, n)
        """,
    )
    texts = below(found.k, out=found.Ptr[found.f32], n=found.i32)
    assert lines(texts["kernel"])[0] == "from m0 import h"


# --- changes ------------------------------------------------------------------------------------

LEAKY = """\
        SLOPE = 0.01
        @device
        def leaky(x):
            return tl.where(x > 0, x, x * SLOPE)
        @device
        def act(x):
            return leaky(x)
        @kernel
        def k(out: Ptr[f32]) -> None:
            tl.store(out, act(tl.load(out)))
        """


def test_a_constant_changed_two_levels_down_changes_the_identity(module: Module) -> None:
    found = make(module, LEAKY)
    before = found.k.instantiate()
    assert found.k.instantiate() is before
    found.SLOPE = 0.02
    after = found.k.instantiate()
    assert after.id != before.id
    assert "SLOPE = 0.02" in after.source
    found.SLOPE = 0.01
    assert found.k.instantiate().id == before.id


def test_a_helper_defined_again_is_used(module: Module) -> None:
    found = make(module, LEAKY)
    before = found.k.instantiate()
    found.leaky = make(module, LEAKY.replace("x > 0", "x > 1")).leaky
    assert "x > 1" in found.k.instantiate().source
    assert found.k.instantiate().id != before.id


def test_a_name_defined_later_is_found(module: Module) -> None:
    found = make(module, "@kernel\ndef k(out: Ptr[f32]):\n    tl.store(out, LATER + min)\n")
    assert "LATER" not in below(found.k)["kernel"].replace("out, LATER", "")
    found.LATER, found.min = 4, 5
    assert "LATER = 4\nmin = 5\n" in below(found.k)["kernel"]


def test_attributes_of_modules_and_classes_are_followed_when_they_change(module: Module) -> None:
    found = make(
        module,
        """\
        class Config:
            EPS = 1.0
        @kernel
        def k(out: Ptr[f32]) -> None:
            tl.store(out, Config.EPS)
        """,
    )
    before = found.k.instantiate().id
    found.Config.EPS = 2.0
    assert found.k.instantiate().id != before


# --- refusals -----------------------------------------------------------------------------------


def refusal(module: Module, setup: str, use: str) -> TeenyError:
    text = f"{textwrap.dedent(setup)}\n@kernel\ndef k(out: Ptr[f32]) -> None:\n    x = 1; {use}\n"
    found: Any = module(text)
    with pytest.raises(CaptureError) as caught:
        found.k.instantiate()
    assert caught.value.code == "E0022"
    return caught.value


@pytest.mark.parametrize(
    ("setup", "use", "what", "remedy"),
    [
        ("def h(x): return x", "h(out)", "`h` is a plain function", "`@device`"),
        ("h = lambda x: x", "h(out)", "`h` is a plain function", "`@device`"),
        ("W = [1, 2]", "W[0]", "`W` is a list", "write a tuple"),
        ("W = {}", "W[0]", "`W` is a dict", "names of their own"),
        ("import array\nW = array.array('f')", "W[0]", "`array.array`", "as an argument"),
        ("import math", "math.exp(out)", "`math.exp` is a compiled function", "`tl.exp`"),
        ("import math", "math.perm(out)", "`math.perm` is a compiled function", "teeny_triton"),
        ("import math", "tl.store(out, math)", "`math` is a module", "by name"),
        ("class A: pass", "A(out)", "`A` is a class", "constants of the class"),
        ("W = object()", "W + 1", "`builtins.object`", "as an argument"),
        ("W = (1, [2])", "W[0]", "`W` is an object of type `builtins.tuple`", "as an argument"),
        ("W = 1j", "W * 2", "`W` is an object of type `builtins.complex`", "as an argument"),
    ],
)
def test_what_cannot_be_captured_is_named_with_its_remedy(
    module: Module, setup: str, use: str, what: str, remedy: str
) -> None:
    error = refusal(module, setup, use)
    found = error.diagnostics[0]
    assert what in found.message
    assert remedy in found.helps[0]
    assert found.span is not None
    with open(found.span.file, encoding="utf-8") as file:
        line = file.read().split("\n")[found.span.line - 1]
    name = found.message.split("`")[1]
    assert line[found.span.column - 1 : found.span.end_column - 1] == name


def test_numpy_arrays_and_scalars_are_told_apart(module: Module) -> None:
    pytest.importorskip("numpy")
    error = refusal(module, "import numpy as np\nW = np.zeros(3)", "W[0]")
    assert "an array of type `numpy.ndarray`" in error.diagnostics[0].message
    error = refusal(module, "import numpy as np", "np.exp(out)")
    assert "`tl.exp`" in error.diagnostics[0].helps[0]
    found = make(
        module,
        "import numpy as np\nW = np.float64(0.5)\n@kernel\ndef k(out: Ptr[f32]):\n    out + W\n",
    )
    assert "W = 0.5\n" in below(found.k)["kernel"]


def test_a_fault_inside_a_helper_points_into_the_helper(module: Module) -> None:
    found = make(
        module,
        """\
        W = []
        @device
        def h(x):
            # comment
            return W
        @kernel
        def k(out: Ptr[f32]) -> None:
            h(out)
        """,
    )
    with pytest.raises(CaptureError) as caught:
        found.k.instantiate()
    span = caught.value.diagnostics[0].span
    assert span is not None
    assert (span.line, span.column, span.end_column) == (8, 12, 13)
