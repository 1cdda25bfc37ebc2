"""docs/coming-from-triton.md is true: its list of deviations is the code's, and it is closed.

Each wrong kernel is refused here with its code and taken by Triton; each right one is taken by
both. And whatever our pages of errors refuse that Triton takes has its code on the list.
"""

from __future__ import annotations

import ast
import importlib.util
import json
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from semantic_cases import define
from teeny_macros import TeenyError
from teeny_triton.triton_lang import TRITON, TRITON_SHA
from teenyc.frontend import lower_unit

ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / "docs" / "coming-from-triton.md").read_text(encoding="utf-8")
SECTION = re.compile(r"^### ((?:E\d{4}(?: and )?)+): (.*?)\n(.*?)(?=^##)", re.MULTILINE | re.DOTALL)
BLOCK = re.compile(r"^```py title=\"(\w+)\.py\"\n(.*?)^```$", re.MULTILINE | re.DOTALL)
EXAMPLE = re.compile(r"^```py (E0[1-6]\d\d)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
GOLDEN = re.compile(r"^```py\n(import teeny_triton.*?)^```$", re.MULTILINE | re.DOTALL)
LIMITS = {"E0107", "E0108"}
# Faults of a running program, which no front end sees.
AT_RUN_TIME = {"E0506", "E0507", "E0509"}
IMPORTS = """\
import teeny_triton as tl
from teeny_macros import kernel
from teeny_triton import Const, Ptr, bf16, f16, f32, f64, i1, i8, i16, i32, i64, u8, u32
"""


def sections() -> dict[str, dict[str, str]]:
    """By code: the kernels of its section by name, with imports."""
    found = {}
    for codes, _, body in SECTION.findall(PAGE + "\n##"):
        blocks = {name: IMPORTS + text for name, text in BLOCK.findall(body)}
        for code in re.findall(r"E\d{4}", codes):
            found[code] = blocks
    return found


LISTED = sections()
PAIRS = [
    (code, blocks[f"{code.lower()}_wrong"], blocks[f"{code.lower()}_right"])
    for code, blocks in LISTED.items()
    if code not in LIMITS
]


def refusal(text: str) -> list[str]:
    """The codes with which a kernel is refused."""
    try:
        with pytest.warns(SyntaxWarning) if " is 1" in text else _nothing():
            kernel = define(text)
        lower_unit(kernel.instantiate().unit(TRITON, TRITON_SHA))
    except TeenyError as error:
        return [diagnostic.code for diagnostic in error.diagnostics]
    return []


class _nothing:
    def __enter__(self) -> None:
        """Nothing is expected."""

    def __exit__(self, *_: object) -> None:
        """Nothing is left."""


@cache
def taken_by_triton(texts: tuple[str, ...]) -> dict[str, bool]:
    """Whether Triton's front end takes each text; apart, since it starts threads."""
    if importlib.util.find_spec("triton") is None:
        pytest.skip("triton is not installed")
    done = subprocess.run(
        [sys.executable, "-W", "ignore", str(ROOT / "tests" / "triton_front_end.py")],
        input=json.dumps(texts), capture_output=True, text=True, check=False, timeout=110,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return dict(zip(texts, map(bool, json.loads(done.stdout)), strict=True))


@pytest.mark.parametrize(("code", "wrong", "right"), PAIRS, ids=[code for code, _, _ in PAIRS])
def test_a_deviation_is_refused_with_its_code_and_its_remedy_is_not(
    code: str, wrong: str, right: str
) -> None:
    assert refusal(wrong) == [code]
    assert refusal(right) == []


def test_triton_takes_both_spellings_of_each_deviation() -> None:
    texts = tuple(text for _, wrong, right in PAIRS for text in (wrong, right))
    answers = taken_by_triton(texts)
    assert [text for text in texts if not answers[text]] == []


def test_what_gives_other_results_is_tested_as_a_sentence() -> None:
    import test_semantics

    (table,) = re.findall(
        r"^## What gives other results\n(.*?)^## ", PAGE, re.MULTILINE | re.DOTALL
    )
    rows = [line for line in table.splitlines() if line.startswith("| [")]
    links = [re.findall(r"\[(S\d+)\]\(semantics\.md#(s\d+)\)", row) for row in rows]
    assert len(rows) > 8
    assert all(links)
    assert all(row.count(" | ") == 2 for row in rows)
    tested = {sentence.anchor for sentence in test_semantics.SENTENCES if sentence.cases}
    for name, anchor in (link for row in links for link in row):
        assert name.lower() == anchor
        assert name in tested


def explained() -> list[tuple[str, str]]:
    """(code, kernel) of the failing example of every page of the front end's codes."""
    pages = sorted((ROOT / "packages/teenyc/src/teenyc/explain").glob("E0[1-6]*.md"))
    return [found for page in pages for found in EXAMPLE.findall(page.read_text(encoding="utf-8"))]


def slips() -> list[tuple[str, str]]:
    """(code, kernel) of every single statement that the golden pages of errors refuse."""
    found = []
    for page in sorted((ROOT / "packages/teenyc/tests/golden/errors").glob("*.md")):
        for text in GOLDEN.findall(page.read_text(encoding="utf-8")):
            found += _one_by_one(text)
    return found


def _one_by_one(text: str) -> list[tuple[str, str]]:
    """Kernels with the first two statements and one of the others, where that alone is refused."""
    try:
        kernel = [node for node in ast.parse(text).body if isinstance(node, ast.FunctionDef)][-1]
    except SyntaxError:
        return []
    lines = text.splitlines()
    spans = [(node.lineno, node.end_lineno or node.lineno) for node in kernel.body]
    head = lines[kernel.lineno - 1 : spans[min(1, len(spans) - 1)][1]]
    found = []
    for start, end in spans[2:]:
        one = "\n".join([IMPORTS, "@kernel", *head, *lines[start - 1 : end], ""])
        try:
            codes = refusal(one)
        except (SyntaxError, Warning):
            continue
        if len(set(codes)) == 1:
            found.append((codes[0], one))
    return found


def test_the_list_of_deviations_is_closed() -> None:
    known = AT_RUN_TIME | LIMITS  # Triton would unroll for minutes
    # What options of `@kernel` ask for, such as proven bounds, is no part of the language.
    every = [(c, t) for c, t in (*explained(), *slips()) if "@kernel(" not in t]
    refused = [(c, t) for c, t in every if c not in known]
    assert len(refused) > 120
    answers = taken_by_triton(tuple(dict.fromkeys(text for _, text in refused)))
    missing = {code: text for code, text in refused if answers[text] and code not in LISTED}
    assert not missing, "\n".join(
        f"{code} is not listed:\n{text}" for code, text in missing.items()
    )
    assert sum(answers.values()) >= len(PAIRS) - 2, "Triton took next to nothing"


def test_the_codes_of_the_page_exist() -> None:
    table = (ROOT / "docs" / "error-codes.md").read_text(encoding="utf-8")
    assert set(re.findall(r"\bE\d{4}\b", PAGE)) <= set(
        re.findall(r"^\| (E\d{4}) ", table, re.MULTILINE)
    )
