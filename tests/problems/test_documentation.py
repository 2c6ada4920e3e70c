"""The page about problem files: its examples are proven, and together they use every key."""

import re
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import get_args

import pytest

from app.catalogue.problem_file import CHECKS, FIELDS, WRITTEN_AS, read_problem
from app.catalogue.source import read_source
from app.domain import problem as stated
from app.domain.checks import Change
from app.domain.problem import GENERATORS
from app.grading.prove import prove

PAGE = Path(__file__).resolve().parents[2] / "docs" / "problems.md"
EXAMPLES = {
    re.search(r"^id: (\S+)", text, re.MULTILINE)[1]: text
    for text in re.findall(r"```yaml\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
}
CLASSES = [
    *(
        each
        for each in vars(stated).values()
        if is_dataclass(each) and each.__module__ == stated.__name__
    ),
    *CHECKS.values(),
    *FIELDS.values(),
]
NOT_KEYS = {"arguments"}  # its members stand in the case itself


def keys_of(tree: object) -> Iterator[str]:
    if isinstance(tree, dict):
        for key, value in tree.items():
            yield str(key)
            yield from keys_of(value)
    elif isinstance(tree, list):
        for member in tree:
            yield from keys_of(member)


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_is_proven(name, tmp_path, sandbox):
    path = tmp_path / f"{name}.yaml"
    path.write_text(EXAMPLES[name], encoding="utf-8")
    proof = prove(read_problem(path).problem, sandbox, seeds=2)
    assert [flaw.message for flaw in proof.flaws] == []
    # An example shows each kind of check once, not a wrong answer for every one of them.
    others = [w.message for w in proof.warnings if not w.message.startswith("no misconception")]
    assert others == []


def test_the_examples_use_every_key():
    used = {
        key for text in EXAMPLES.values() for key in keys_of(read_source(PAGE, text.encode()).tree)
    }
    known = {WRITTEN_AS.get(f.name, f.name) for each in CLASSES for f in fields(each)} - NOT_KEYS
    assert known - used == set()


def test_the_page_names_every_kind_and_every_generator():
    page = PAGE.read_text(encoding="utf-8")
    words = set(re.findall(r"\w+", page))
    assert {*CHECKS, *FIELDS, *GENERATORS} - words == set()
    assert set(get_args(Change)) <= words
