"""The catalogue of mistakes is whole: nothing is taken out of it, and each entry stands alone."""

from __future__ import annotations

import ast
import tomllib
from collections import Counter

import pytest

import checkers
import mistake_matrix
from mistake_catalogue import FOLDER, Mistake, mistakes
from mistake_messages import COMMONEST, READS_BADLY
from mistake_page import caught, share


def test_no_mistake_was_taken_out() -> None:
    stored = (FOLDER / "ids.txt").read_text(encoding="utf-8").split()
    assert Counter(stored) == Counter(entry.id for entry in mistakes())


@pytest.mark.parametrize(("group", "least"), [("types", 70), ("values", 25), ("launch", 25)])
def test_each_group_is_large_enough(group: str, least: int) -> None:
    assert sum(entry.group == group for entry in mistakes()) >= least


def test_a_mistake_has_at_most_four_variants() -> None:
    counts = Counter(entry.kind for entry in mistakes())
    assert not {kind: count for kind, count in counts.items() if count > 4}


def test_a_kind_belongs_to_one_group() -> None:
    groups = {entry.kind: entry.group for entry in mistakes()}
    assert not [entry.id for entry in mistakes() if groups[entry.kind] != entry.group]


@pytest.mark.parametrize("entry", mistakes(), ids=lambda entry: entry.id)
def test_an_entry_is_a_module_of_its_own(entry: Mistake) -> None:
    tree = ast.parse(entry.text)
    named = [
        node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == entry.id
    ]
    assert len(named) == 1
    assert entry.holds(named[0].lineno)
    assert not entry.description.endswith(".")


def test_the_page_and_the_results_are_of_the_catalogue() -> None:
    results = mistake_matrix.stored()
    every = [entry.id for entry in mistakes()]
    kernels = [entry.id for entry in mistakes() if entry.group != "launch"]
    assert list(results) == list(mistake_matrix.TOOLS)
    for tool, found in results.items():
        assert list(found) == (kernels if tool == "triton" else every), tool


def test_the_page_is_made_of_the_results() -> None:
    text = mistake_matrix.rendered(mistake_matrix.stored(), mistakes())
    assert text == mistake_matrix.PAGE.read_text(encoding="utf-8"), (
        "write it: python tests/mistake_matrix.py"
    )


@pytest.mark.parametrize(
    ("groups", "tools", "least"),
    [
        (("types",), ("mypy", "basedpyright"), 0.95),
        (("types", "values", "launch"), ("mypy", "basedpyright", "check"), 0.97),
        (("types", "values", "launch"), ("mypy", "basedpyright", "check", "launch"), 1.0),
    ],
)
def test_enough_mistakes_are_found(
    groups: tuple[str, ...], tools: tuple[str, ...], least: float
) -> None:
    chosen = [entry for entry in mistakes() if entry.group in groups]
    found, total = share(mistake_matrix.stored(), tools, chosen)
    missed = [entry.id for entry in chosen if not caught(mistake_matrix.stored(), tools, entry)]
    assert found >= least * total, missed


def test_what_is_said_to_read_badly_is_of_the_page() -> None:
    known = {entry.id for entry in mistakes()}
    assert len(COMMONEST) == len(set(COMMONEST)) == 20
    assert set(COMMONEST) <= known
    assert READS_BADLY.keys() <= set(COMMONEST)


def test_the_settings_of_the_page_are_those_of_the_typing_tests() -> None:
    page = tomllib.loads(checkers.settings())["tool"]
    path = checkers.ROOT / "packages" / "teeny-triton" / "tests" / "test_typing.py"
    own: dict[str, object] = {}
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "PYRIGHT":
            assert isinstance(node.value, ast.Dict)
            for key, value in zip(node.value.keys, node.value.values, strict=True):
                if isinstance(key, ast.Constant) and isinstance(value, ast.Constant):
                    own[str(key.value)] = value.value
    assert own == page["basedpyright"]
    text = path.read_text(encoding="utf-8")
    assert f"enable_error_code = {', '.join(page['mypy']['enable_error_code'])}\n" in text
