"""What went wrong elsewhere is right here: interpreted, compiled for the CPU, and on a GPU.

The cases stand in tests/reported/, with the reports that they come from.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import pytest

from reported_cases import REPORTS
from semantic_cases import Refusal, Run, define
from teeny_macros import TeenyError
from test_semantics import Compiled, check

FOLDER = Path(__file__).resolve().parent / "reported"


def _load_cases() -> None:
    for path in sorted(FOLDER.glob("*.py")):
        spec = importlib.util.spec_from_file_location(f"reports_of_{path.stem}", path)
        assert spec is not None
        assert spec.loader is not None
        spec.loader.exec_module(importlib.util.module_from_spec(spec))


if not REPORTS:
    _load_cases()


def _params(kind: type[Run | Refusal], target: str = "") -> list[Any]:
    return [
        pytest.param(case, id=f"{report.name}-{number}")
        for report in REPORTS
        for number, case in enumerate(report.cases)
        if isinstance(case, kind)
        if not (isinstance(case, Run) and case.targets and target not in case.targets)
    ]


@pytest.fixture(scope="session")
def compiled(request: pytest.FixtureRequest) -> Compiled:
    cases: dict[str, list[Run]] = {}
    for item in request.session.items:
        parts = getattr(item, "callspec", None)
        case = parts.params.get("case") if parts is not None else None
        if isinstance(case, Run):
            cases.setdefault(item.name.partition("[")[0].rpartition("_")[2], []).append(case)
    return Compiled(cases)


@pytest.mark.parametrize("case", _params(Run, "interpreter"))
def test_a_reported_kernel_is_right_in_the_interpreter(case: Run, compiled: Compiled) -> None:
    import teeny_cpu

    device = teeny_cpu.Interpreter()
    check(case, device, compiled.run(case, "interpreter", device))


@pytest.mark.parametrize("case", _params(Run, "cpu"))
def test_a_reported_kernel_is_right_on_the_cpu(case: Run, compiled: Compiled) -> None:
    import teeny_cpu

    device = teeny_cpu.Device()
    check(case, device, compiled.run(case, "cpu", device))


@pytest.mark.gpu
@pytest.mark.parametrize("case", _params(Run, "gpu"))
def test_a_reported_kernel_is_right_on_the_gpu(case: Run, compiled: Compiled) -> None:
    from teeny_cuda.testing import require_gpu

    device = require_gpu()
    check(case, device, compiled.run(case, "gpu", device))


@pytest.mark.accept
def test_every_reported_kernel_compiles_for_a_gpu() -> None:
    from teeny_compiler import Target, compile_kernels

    cases = [param.values[0] for param in _params(Run, "gpu")]
    pairs = [(case.instance(), Target.cuda("sm_90")) for case in cases]
    found = compile_kernels(pairs, progress=False)
    failed = [error for error in found if isinstance(error, TeenyError)]
    assert not failed, f"{len(failed)} cases fail, the first with\n{failed[0]}"


@pytest.mark.parametrize("case", _params(Refusal))
def test_a_reported_fault_is_an_error_at_its_place(case: Refusal) -> None:
    from teeny_triton.triton_lang import TRITON, TRITON_SHA
    from teenyc.frontend import lower_unit

    unit = define(case.text).instantiate().unit(TRITON, TRITON_SHA)
    with pytest.raises(TeenyError) as caught:
        lower_unit(unit)
    diagnostic = caught.value.diagnostics[0]
    span = diagnostic.span
    assert span is not None
    line = unit.body.splitlines()[span.line - 1]
    end = span.end_column - 1 if span.end_line == span.line else None
    assert (diagnostic.code, line[span.column - 1 : end]) == (case.code, case.at)
    assert diagnostic.helps, "no next step"


def test_every_report_is_named_once_and_has_its_source() -> None:
    names = [report.name for report in REPORTS]
    assert len(set(names)) == len(names)
    assert all("#" in source for report in REPORTS for source in report.sources)
    assert all(report.sources for report in REPORTS)
