"""The catalogue of mistakes is whole: nothing is taken out of it, and each entry stands alone."""

from __future__ import annotations

import ast
from collections import Counter

import pytest

from mistake_catalogue import FOLDER, Mistake, mistakes


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
