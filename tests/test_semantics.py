"""Every sentence of docs/semantics.md holds: interpreted, compiled for the CPU, and on a GPU.

The cases stand in tests/semantics/; operations of constants are folded by the compiler, those of
what a kernel loads are not, and both must give the same.
"""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import semantic_cases
from semantic_cases import Check, Refusal, Run, Sentence, define
from teeny_macros import TeenyError

if TYPE_CHECKING:
    from teeny_macros.artifact import Artifact

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "semantics.md"
TOGETHER = 64
SENTENCE = re.compile(r'^<a id="(s\d+)"></a>\*\*(S\d+)\*\* ', re.MULTILINE)


def _load_cases() -> None:
    for path in sorted((ROOT / "tests" / "semantics").glob("*.py")):
        spec = importlib.util.spec_from_file_location(f"semantics_of_{path.stem}", path)
        assert spec is not None
        assert spec.loader is not None
        spec.loader.exec_module(importlib.util.module_from_spec(spec))


if not semantic_cases.SENTENCES:
    _load_cases()
SENTENCES = semantic_cases.SENTENCES


def _params(kind: type[Run | Refusal | Check], target: str = "") -> list[Any]:
    return [
        pytest.param(case, id=f"{sentence.anchor}-{sentence.name}-{number}")
        for sentence in SENTENCES
        for number, case in enumerate(sentence.cases)
        if isinstance(case, kind)
        if not (isinstance(case, Run) and case.targets and target not in case.targets)
    ]


# --- the page -------------------------------------------------------------------------------------


def test_every_sentence_of_the_page_has_cases_and_every_case_a_sentence() -> None:
    stated = [match[2] for match in SENTENCE.finditer(PAGE.read_text(encoding="utf-8"))]
    tested = [sentence.anchor for sentence in SENTENCES]
    assert len(set(stated)) == len(stated)
    assert len(set(tested)) == len(tested)
    assert sorted(stated) == sorted(tested)


def test_every_line_of_the_page_that_states_something_has_a_number() -> None:
    text = PAGE.read_text(encoding="utf-8")
    for match in SENTENCE.finditer(text):
        assert match[1] == match[2].lower()
    body = text.partition("\n## ")[2]
    paragraphs = [part for part in re.split(r"\n\s*\n", body) if part.strip()]
    plain = [p for p in paragraphs if not SENTENCE.match(p) and not p.startswith(("#", "```", "|"))]
    # The name of a section is all that stands without a number: `partition` left the first bare.
    assert [p for p in plain if "\n" in p.strip() or p.strip().endswith(".")] == []


# --- the targets ----------------------------------------------------------------------------------


class Compiled:
    """Artifacts of the cases that are run, compiled side by side: a case and those after it."""

    def __init__(self, cases: dict[str, list[Run]]) -> None:
        self._cases = cases
        self._found: dict[tuple[str, int], Artifact | TeenyError] = {}

    def run(self, case: Run, kind: str, device: Any) -> Artifact:
        """The case for `device`. Raises what the compiler says."""
        if (kind, id(case)) not in self._found:
            from teeny_compiler import compile_kernels

            cases = self._cases[kind]
            start = next(i for i, one in enumerate(cases) if one is case)
            wanted = cases[start : start + TOGETHER]
            made = compile_kernels(
                [(one.instance(), device.target) for one in wanted], progress=False
            )
            for one, result in zip(wanted, made, strict=True):
                self._found[kind, id(one)] = result
        found = self._found[kind, id(case)]
        if isinstance(found, TeenyError):
            raise found
        return found


@pytest.fixture(scope="session")
def compiled(request: pytest.FixtureRequest) -> Compiled:
    cases: dict[str, list[Run]] = {}
    for item in request.session.items:
        parts = getattr(item, "callspec", None)
        case = parts.params.get("case") if parts is not None else None
        if isinstance(case, Run):
            cases.setdefault(item.name.partition("[")[0].rpartition("_")[2], []).append(case)
    return Compiled(cases)


def check(case: Run, device: Any, artifact: Artifact) -> None:
    """Launch and compare."""
    arrays = {name: case.inputs.get(name, wanted) for name, wanted in case.outputs.items()}
    arrays.update(case.inputs)
    buffers = {}
    for param in artifact.metadata.params:
        name = param.name.removesuffix("_ptr")
        array = np.asarray(arrays[name])
        buffers[name] = device.buffer(array.shape, param.dtype)
        if name not in case.inputs:  # what no program writes is seen
            array = np.full(array.nbytes, 0xA5, np.uint8).view(array.dtype).reshape(array.shape)
            array = (array & 1 if array.dtype == bool else array).astype(array.dtype)
        buffers[name].copy_from(array)
    device.launch(device.load(artifact), case.grid, list(buffers.values()))
    device.synchronize()
    for name, wanted in case.outputs.items():
        found = buffers[name].to_host()
        if name in case.checks:
            assert case.checks[name](found), f"{case.label}: {name} is {found}"
        else:
            assert_near(found, wanted, case)


def assert_near(found: Any, wanted: Any, case: Run) -> None:
    """The same bits, or within the case's ulp."""
    assert found.dtype == wanted.dtype
    assert found.shape == wanted.shape
    text = f"{case.label}\nfound  {found.ravel()[:32]}\nwanted {wanted.ravel()[:32]}"
    if wanted.dtype.kind in "iub":
        assert np.array_equal(found, wanted), text
        return
    with np.errstate(invalid="ignore"):
        left, right = found.astype(np.float64), wanted.astype(np.float64)
    nan = np.isnan(right)
    assert np.array_equal(np.isnan(left), nan), text
    same = found.view(f"u{found.itemsize}") == wanted.view(f"u{wanted.itemsize}")
    if case.ulp:
        with np.errstate(invalid="ignore"):
            step = np.abs(np.spacing(np.where(np.isfinite(right), wanted, 1).astype(wanted.dtype)))
            same = same | (np.abs(left - right) <= case.ulp * step.astype(np.float64))
            same = same | (left == right)
    assert bool(np.all(same | nan)), text


@pytest.mark.parametrize("case", _params(Run, "interpreter"))
def test_a_sentence_holds_in_the_interpreter(case: Run, compiled: Compiled) -> None:
    import teeny_cpu

    device = teeny_cpu.Interpreter()
    check(case, device, compiled.run(case, "interpreter", device))


@pytest.mark.parametrize("case", _params(Run, "cpu"))
def test_a_sentence_holds_on_the_cpu(case: Run, compiled: Compiled) -> None:
    import teeny_cpu

    device = teeny_cpu.Device()
    check(case, device, compiled.run(case, "cpu", device))


@pytest.mark.gpu
@pytest.mark.parametrize("case", _params(Run, "gpu"))
def test_a_sentence_holds_on_the_gpu(case: Run, compiled: Compiled) -> None:
    from teeny_cuda.testing import require_gpu

    device = require_gpu()
    check(case, device, compiled.run(case, "gpu", device))


@pytest.mark.accept
def test_every_case_compiles_for_a_gpu(archs: tuple[str, ...]) -> None:
    from teeny_compiler import Target, compile_kernels

    cases = [param.values[0] for param in _params(Run, "gpu")]
    for arch in archs[:2]:
        pairs = [(case.instance(), Target.cuda(arch)) for case in cases]
        found = compile_kernels(pairs, progress=False)
        failed = [error for error in found if isinstance(error, TeenyError)]
        if arch == "sm_80":  # f8e4m3 comes with sm_89
            failed = [error for error in failed if error.code != "E0713"]
        assert not failed, f"{len(failed)} cases fail, the first with\n{failed[0]}"


# What is left of a case of constants: the stores, whose pointers to i1 are read as bytes.
SCAFFOLD = {"arith.constant", "tt.splat", "tt.addptr", "tt.make_range", "tt.bitcast"}
SCAFFOLD |= {"tt.store", "tt.return"}
# Functions that are no operation of IEEE 754 are left to each target.
UNFOLDED = {"S319", "S321"}


@pytest.mark.parametrize("sentence", SENTENCES, ids=lambda sentence: sentence.anchor)
def test_the_compiler_itself_computes_what_is_constant(sentence: Sentence) -> None:
    from teeny_triton.triton_lang import TRITON, TRITON_SHA
    from teenyc import passes
    from teenyc.frontend import lower_unit

    left: set[str] = set()
    for case in sentence.cases:
        if isinstance(case, Run) and case.label.endswith(", constants"):
            module = lower_unit(case.instance().unit(TRITON, TRITON_SHA))
            passes.run(module)
            left |= {op.name for op in module.walk()}
    assert left <= SCAFFOLD or sentence.anchor in UNFOLDED


@pytest.mark.parametrize("case", _params(Check))
def test_a_sentence_about_launches_holds_in_the_interpreter(case: Check) -> None:
    import teeny_cpu

    case.run(teeny_cpu.Interpreter())


@pytest.mark.parametrize("case", _params(Check))
def test_a_sentence_about_launches_holds_on_the_cpu(case: Check) -> None:
    import teeny_cpu

    case.run(teeny_cpu.Device())


@pytest.mark.gpu
@pytest.mark.parametrize("case", _params(Check))
def test_a_sentence_about_launches_holds_on_the_gpu(case: Check) -> None:
    from teeny_cuda.testing import require_gpu

    case.run(require_gpu())


@pytest.mark.parametrize("case", _params(Refusal))
def test_a_sentence_that_refuses_names_the_place(case: Refusal) -> None:
    from teeny_triton.triton_lang import TRITON, TRITON_SHA
    from teenyc.frontend import lower_unit

    unit = define(case.text).instantiate().unit(TRITON, TRITON_SHA)
    with pytest.raises(TeenyError) as caught:
        lower_unit(unit)
    (diagnostic,) = caught.value.diagnostics
    span = diagnostic.span
    assert span is not None
    line = unit.body.splitlines()[span.line - 1]
    assert (diagnostic.code, line[span.column - 1 : span.end_column - 1]) == (case.code, case.at)
    assert diagnostic.helps, "no next step"
