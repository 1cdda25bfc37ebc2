"""Instances: their identity, entry points, hints, pickles, and `instantiate`'s errors."""

from __future__ import annotations

import ast
import concurrent.futures
import json
import os
import pickle
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import identity_kernels
import pytest

import teeny_macros
import teeny_triton
from teeny_macros import KernelInstance, LaunchError, unit
from teeny_triton import Ptr, f16, f32, f64, i32, i64

Module = Callable[..., ModuleType]

HERE = Path(__file__).parent
PYTHONS = ("3.11", "3.12", "3.13", "3.14")
COPY = """
@kernel
def copy(x_ptr: Ptr[f32], out_ptr: Ptr[f32], n: i32 | int, BLOCK: Const[int] = 64) -> None:
    offs = tl.arange(0, BLOCK)
    tl.store(out_ptr + offs, tl.load(x_ptr + offs, mask=offs < n), mask=offs < n)
"""


# --- identity -----------------------------------------------------------------------------------


def test_the_ids_are_the_stored_ones(golden: Callable[[str, str], None]) -> None:
    found = identity_kernels.identities()
    assert len(found) == len(set(found.values())) == 20
    golden("ids.json", json.dumps(found, indent=1) + "\n")


def find_python(version: str) -> str | None:
    """An interpreter of that version that answers, from PATH or among those that pyenv keeps."""
    kept = sorted((Path.home() / ".pyenv" / "versions").glob(f"{version}.*/bin/python"))
    for candidate in (shutil.which(f"python{version}"), *map(str, kept)):
        if candidate is not None:
            probe = [candidate, "-S", "-c", "import sys; print('%d.%d' % sys.version_info[:2])"]
            done = subprocess.run(probe, capture_output=True, text=True, check=False, timeout=60)
            if done.stdout.strip() == version:
                return candidate
    return None


@pytest.mark.parametrize("version", PYTHONS)
def test_the_ids_are_the_same_on_every_python(version: str) -> None:
    python = find_python(version)
    if python is None:
        pytest.skip(f"Python {version} is not installed")
    sources = [str(Path(str(found.__file__)).parents[1]) for found in (teeny_macros, teeny_triton)]
    done = subprocess.run(
        [python, "-S", str(HERE / "identity_kernels.py")],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sources), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    stored = (HERE / "golden" / "ids.json").read_text(encoding="utf-8")
    assert json.loads(done.stdout) == json.loads(stored)


PEP_695 = """
from typing import TypeVar
import teeny_triton as tl
from teeny_macros import device, kernel
from teeny_triton import Const, Float, Ptr, f16, f32, i32
D = TypeVar("D", bound=Float)
@device
def old_helper(x: D) -> D:
    return tl.exp(x.to(D))
@kernel
def old(x: Ptr[D], n: i32 | int) -> None:
    tl.store(x, old_helper(tl.load(x)).to(D))
def make():
    @device
    def old_helper[D: Float](x: D) -> D:
        return tl.exp(x.to(D))
    @kernel
    def old[D: Float](x: Ptr[D], n: i32 | int) -> None:
        tl.store(x, old_helper(tl.load(x)).to(D))
    @kernel
    def two[D: (f16, f32), E](x: Ptr[D], y: Ptr[E]) -> None:
        tl.store(x, tl.load(y).to(D))
    return old, two
new, two = make()
for kernel in (old, new):
    print(kernel.instantiate(D=f32).id, [(p.kind, p.dtype) for p in kernel.parameters])
print([line for line in two.instantiate(D=f16, E=i32).source.split("\\n") if "TypeVar" in line])
try:
    two.instantiate(D=i32, E=i32)
except Exception as error:
    print(error.code)
"""


def test_headers_with_type_parameters_mean_what_the_older_form_means(tmp_path: Path) -> None:
    python = find_python("3.12") or find_python("3.13")
    if python is None:
        pytest.skip("Python 3.12 or newer is not installed")
    path = tmp_path / "pep_695.py"
    path.write_text(PEP_695, encoding="utf-8")
    sources = [str(Path(str(found.__file__)).parents[1]) for found in (teeny_macros, teeny_triton)]
    done = subprocess.run(
        [python, "-S", str(path)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sources), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    old, new, variables, code = done.stdout.splitlines()
    assert old == new
    assert variables == str(['D = TypeVar("D", f16, f32)', 'E = TypeVar("E")'])
    assert code == "E1009"


def instance(module: Module, text: str = COPY, **options: Any) -> KernelInstance[...]:
    found: Any = module(text, **options)
    made: KernelInstance[...] = found.copy.instantiate()
    return made


@pytest.mark.parametrize(
    "change",
    [
        lambda text: f"# one\n# two\n# three\n{text}",
        lambda text: text.replace("    offs", '    """Doc."""\n\n    # c\n    offs'),
        lambda text: text.replace(":\n", ":  # c  \n").replace("@kernel", "@kernel\n# c\n"),
        lambda text: f"OTHER = 3\ndef unrelated(): return OTHER\n{text}",
    ],
)
def test_edits_beside_the_code_keep_the_identity(
    module: Module, change: Callable[[str], str]
) -> None:
    before, after = instance(module), instance(module, change(COPY))
    assert before.id == after.id
    assert before == after
    assert hash(before) == hash(after)
    assert before.source_map.to_json() != after.source_map.to_json()


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace("offs < n", "offs <= n"),
        lambda text: text.replace("BLOCK", "WIDTH"),
        lambda text: text.replace("= 64", "= 32"),
        lambda text: text.replace("Ptr[f32]", "Ptr[f16]"),
        lambda text: text.replace("@kernel", "@kernel(num_warps=2)"),
        lambda text: text.replace("i32 | int", "i64 | int"),
    ],
)
def test_edits_of_the_code_change_the_identity(
    module: Module, change: Callable[[str], str]
) -> None:
    assert instance(module).id != instance(module, change(COPY)).id


def test_positions_follow_lines_inserted_above(module: Module) -> None:
    before, after = instance(module), instance(module, f"# one\n# two\n# three\n{COPY}")
    line = next(at for at, text in enumerate(before.source.split("\n"), 1) if "offs = " in text)
    file, first, column = before.source_map.lookup(line, 5) or ("", 0, 0)
    assert Path(file).read_text("utf-8").split("\n")[first - 1][column - 1 :].startswith("offs = ")
    moved = after.source_map.lookup(line, 5)
    assert moved is not None
    assert moved[1:] == (first + 3, column)


# --- text ---------------------------------------------------------------------------------------


def test_the_entry_point_calls_the_kernel_with_everything_concrete(module: Module) -> None:
    found = instance(module)
    assert found.entry_point_source == (
        "from kernel import copy\n"
        "from teeny_triton import Ptr, f32, i32\n"
        "@entry_point(num_warps=4, num_stages=3, num_ctas=1, maxnreg=None, enable_fp_fusion=True, "
        "divisible_by_16=(), equal_to_1=())\n"
        "def copy_entry_point(x_ptr: Ptr[f32], out_ptr: Ptr[f32], n: i32) -> None:\n"
        "    copy(x_ptr, out_ptr, n, BLOCK=64)\n"
    )
    assert found.entry_point_name == "copy_entry_point"
    assert found.name == "copy"
    assert found.source.endswith(found.kernel_source + found.entry_point_source)


def test_hints_stand_in_the_entry_point(module: Module) -> None:
    found = instance(module).with_hints(divisible_by_16=["out_ptr", "x_ptr"], equal_to_1=["n"])
    assert 'divisible_by_16=("x_ptr", "out_ptr"), equal_to_1=("n",)' in found.entry_point_source
    assert "copy(x_ptr, out_ptr, 1, BLOCK=64)" in found.entry_point_source
    assert "n: i32)" in found.entry_point_source
    assert found.specialization.equal_to_1 == ("n",)
    assert found.id != instance(module).id


@pytest.mark.parametrize(
    "hints",
    [
        {"divisible_by_16": ["m"]},
        {"divisible_by_16": ["BLOCK"]},
        {"equal_to_1": ["x_ptr"]},
    ],
)
def test_hints_for_what_cannot_have_them_are_refused(
    module: Module, hints: dict[str, list[str]]
) -> None:
    with pytest.raises(LaunchError) as caught:
        instance(module).with_hints(**hints)
    assert caught.value.code == "E1005"


@pytest.mark.parametrize(
    ("signature", "call"),
    [
        ("a, B: Const[int] = 1, /, c=None, *, d", "k(a, 1, c=c, d=d)"),
        ("A: Const[int] = 1, b=None", "k(A=1, b=b)"),
        ("a, *, B: Const[int] = 1, c", "k(a, B=1, c=c)"),
        ("a, k", "call_k(a, k)"),
    ],
)
def test_arguments_are_passed_as_the_signature_allows(
    module: Module, signature: str, call: str
) -> None:
    found: Any = module(f"@kernel\ndef k({signature}):\n    pass\n")
    types = {p.name: i32 for p in found.k.parameters if p.kind == "untyped"}
    text = found.k.instantiate(**types).entry_point_source
    assert text.endswith(f"    {call}\n")
    ast.parse(text)


def test_device_functions_are_compile_time_arguments(module: Module) -> None:
    text = """
@device
def softplus(x):
    return tl.log(1 + tl.exp(x))
def make():
    @device
    def softplus(x):
        return x
    return softplus
other = make()
@kernel
def k(out: Ptr[f32], op: Const, again: Const) -> None:
    tl.store(out, op(again(tl.load(out))))
"""
    found: Any = module(text)
    made = found.k.instantiate(op=found.softplus, again=found.other)
    names = [part.name for part in made.unit(None, "0").modules]
    assert names == ["m0", "m1", "kernel", "entry"]
    assert "from m0 import softplus\n" in made.entry_point_source
    assert "from m1 import softplus as m1_softplus\n" in made.entry_point_source
    assert "k(out, op=softplus, again=m1_softplus)" in made.entry_point_source
    assert found.k.instantiate(op=found.softplus, again=found.softplus).id != made.id


def test_the_unit_reads_back(module: Module) -> None:
    found = instance(module)
    made = found.unit("def load(p): ...\n", "ab" * 32)
    again = unit.parse(made.render())
    assert again == made
    assert again.body == found.source
    assert again.dsl_text == "def load(p): ...\n"
    assert again.dsl_digest == "ab" * 32
    without = unit.parse(found.unit(None, "0").render())
    assert without.dsl_text is None
    assert without.body == found.source


def test_the_source_map_leads_every_line_of_the_user_to_its_text(module: Module) -> None:
    found = instance(module)
    body = found.source.split("\n")
    mapped = 0
    for line, text in enumerate(body, start=1):
        place = found.source_map.lookup(line, 1)
        if place is not None:
            mapped += 1
            original = Path(place[0]).read_text(encoding="utf-8").split("\n")[place[1] - 1]
            assert original[place[2] - 1 :].startswith(text)
    assert mapped == 3


# --- instantiate --------------------------------------------------------------------------------

GENERIC = """
from typing import TypeVar
D = TypeVar("D", bound=Float)
@kernel
def k(x_ptr: Ptr[D], y_ptr: Ptr[D], n, SCALE: Const[float], ROUND: Const[bool] = False) -> None:
    tl.store(y_ptr, tl.load(x_ptr) * SCALE)
"""


def test_types_are_given_by_variable_or_by_parameter(module: Module) -> None:
    k = module(GENERIC).k
    one = k.instantiate(D=f16, n=i32, SCALE=2)
    assert one is k.instantiate(x_ptr=Ptr[f16], n=i32, SCALE=2.0)
    assert "n: i32" in one.entry_point_source
    assert "SCALE=2.0" in one.entry_point_source
    assert k.instantiate(D=f16, n=i64, SCALE=2.0) is not one
    assert dict(one.specialization.constants) == {"SCALE": 2.0, "ROUND": False}


@pytest.mark.parametrize(
    ("binds", "code"),
    [
        ({"D": f32, "n": i32}, "E1011"),
        ({"D": f32, "n": i32, "SCALE": "a"}, "E1007"),
        ({"D": f32, "n": i32, "SCALE": True}, "E1007"),
        ({"D": f32, "n": i32, "SCALE": 1.0, "ROUND": 1}, "E1007"),
        ({"D": f32, "SCALE": 1.0}, "E1024"),
        ({"n": i32, "SCALE": 1.0}, "E1024"),
        ({"D": Ptr[f32], "n": i32, "SCALE": 1.0}, "E1024"),
        ({"D": f32, "n": 5, "SCALE": 1.0}, "E1024"),
        ({"D": f32, "n": i32, "SCALE": 1.0, "BLOCK": 2}, "E1005"),
        ({"D": f32, "x_ptr": Ptr[f16], "n": i32, "SCALE": 1.0}, "E1008"),
        ({"x_ptr": Ptr[f16], "y_ptr": Ptr[f32], "n": i32, "SCALE": 1.0}, "E1008"),
        ({"D": i32, "n": i32, "SCALE": 1.0}, "E1009"),
        ({"x_ptr": f32, "D": f32, "n": i32, "SCALE": 1.0}, "E1014"),
        ({"D": f32, "n": i32, "SCALE": 1.0, "num_warps": 3}, "E1023"),
        ({"D": f32, "n": i32, "SCALE": 1.0, "stream": 3}, "E1023"),
    ],
)
def test_what_cannot_be_instantiated_is_refused(
    module: Module, binds: dict[str, Any], code: str
) -> None:
    with pytest.raises(LaunchError) as caught:
        module(GENERIC).k.instantiate(**binds)
    assert caught.value.code == code
    assert caught.value.diagnostics[0].helps


@pytest.mark.parametrize("value", [[1], {}, object(), (1, [2]), 1j])
def test_values_that_are_no_literals_are_refused(module: Module, value: object) -> None:
    found: Any = module("@kernel\ndef k(out: Ptr[f32], V: Const) -> None:\n    pass\n")
    with pytest.raises(LaunchError) as caught:
        found.k.instantiate(V=value)
    assert caught.value.code == "E1013"


@pytest.mark.parametrize(
    ("one", "two"), [(1, 1.0), (1, True), (0.0, -0.0), ((1,), (True,)), ("1", 1), (f32, f64)]
)
def test_values_that_differ_make_instances_that_differ(
    module: Module, one: object, two: object
) -> None:
    found: Any = module("@kernel\ndef k(out: Ptr[f32], V: Const) -> None:\n    pass\n")
    assert found.k.instantiate(V=one) is found.k.instantiate(V=one)
    assert found.k.instantiate(V=one).id != found.k.instantiate(V=two).id


# --- pickles ------------------------------------------------------------------------------------


def test_an_instance_survives_a_pickle() -> None:
    made = identity_kernels.optional.instantiate(w_ptr=None, op=identity_kernels.twice, dt=f32)
    again = pickle.loads(pickle.dumps(made))
    assert again == made
    assert again.source == made.source
    assert again.specialization == made.specialization
    assert again.options == made.options
    assert again.source_map.to_json() == made.source_map.to_json()
    assert again.with_hints(divisible_by_16=["x_ptr"]) == made.with_hints(divisible_by_16=["x_ptr"])
    assert again.kernel is identity_kernels.optional


def test_an_instance_of_a_nested_kernel_survives_without_its_kernel() -> None:
    made = identity_kernels.factory(3).instantiate()
    again = pickle.loads(pickle.dumps(made))
    assert again == made
    with pytest.raises(LaunchError) as caught:
        _ = again.kernel
    assert caught.value.code == "E1026"


def test_an_error_survives_a_process_pool(module: Module) -> None:
    with concurrent.futures.ProcessPoolExecutor(1) as pool:
        done = pool.submit(fail)
        with pytest.raises(LaunchError) as caught:
            done.result(timeout=60)
    assert caught.value.code == "E1005"
    assert caught.value.diagnostics[0].helps


def fail() -> None:
    identity_kernels.with_helpers.instantiate(nothing=1)


def test_ids_do_not_depend_on_the_hash_seed() -> None:
    text = (
        f"import sys; sys.path.insert(0, {str(HERE)!r}); "
        "import identity_kernels; print(identity_kernels.identities())"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", text],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
            timeout=60,
        ).stdout
        for seed in ("0", "1")
    }
    assert len(outputs) == 1
