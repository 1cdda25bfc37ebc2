"""No kernel of the library touches anything outside of the arrays that it is given.

What a kernel was compiled to stays with a process, so that the checks are on from its start: one
process for each family of operations.
"""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from teeny_kernels.registry import specs

FAMILIES = sorted({spec.family for spec in specs().values()})
SCRIPT = """
import sys

from teeny_compiler import compile_kernels
from teeny_kernels import testing
from teeny_kernels.registry import specs
from teeny_macros import devices
from teeny_macros.diagnostics import TeenyError


def compile_warm(instance, target):
    (found,) = compile_kernels([(instance, target)], workers=1, progress=False)
    if isinstance(found, Exception):
        raise found
    return found


devices._compilers["default"] = compile_warm
for name, spec in specs().items():
    if spec.family == sys.argv[1]:
        for case in spec.cases:
            try:
                wrong = testing.check_forward(spec, case, spec.dtypes[0])
                wrong += testing.check_backward(spec, case, spec.dtypes[0])
            except TeenyError as error:
                wrong = [f"{testing.told(case)}: {error}"]
            for fault in wrong:
                print(f"{name}: {fault}")
print("all tried")
"""


@pytest.mark.parametrize("family", FAMILIES)
def test_every_access_lies_in_the_arrays(family: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, family],
        env=os.environ | {"TEENYC_BOUNDS_CHECKS": "on", "TEENY_LOG": "quiet"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout == "all tried\n", (done.stdout + done.stderr)[-4000:]
