"""All problems of the catalogue are shipped, and no wrong answer that it names is left out."""

import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import pytest
from ruamel.yaml import YAML

from app.catalogue.folder import problem_files
from app.catalogue.problem_file import read_problem
from app.domain.problem import Misconception

ROOT = Path(__file__).resolve().parents[2]
NAMED: Mapping[str, list[str]] = YAML(typ="safe").load(
    (Path(__file__).parent / "catalogue.yaml").read_text(encoding="utf-8")
)
SHIPPED = {path.stem: read_problem(path).problem for path in problem_files(ROOT / "problems")}
OF_OUR_OWN = {"s36-residual-projection"}


def known(name: str) -> dict[str, Misconception]:
    return {each.id: each for each in SHIPPED[name].misconceptions}


def test_the_problems_of_the_catalogue_are_shipped_and_one_more():
    assert SHIPPED.keys() == NAMED.keys() | OF_OUR_OWN
    assert len(SHIPPED) == 41


@pytest.mark.parametrize("name", NAMED)
def test_no_wrong_answer_of_the_catalogue_is_left_out(name):
    assert [each for each in NAMED[name] if each not in known(name)] == []


def test_the_wrong_answers_of_the_catalogue_run_and_those_of_texts_are_samples():
    counts = Counter(known(name)[each].text is None for name, ids in NAMED.items() for each in ids)
    assert counts == {True: 270, False: 14}
    shipped = [each for problem in SHIPPED.values() for each in problem.misconceptions]
    assert sum(each.text is not None for each in shipped) == 14


def test_the_names_are_those_of_the_tables(shared):
    text = (shared / "curriculum.md").read_text(encoding="utf-8")
    parts = re.split(r"^### \d+\. `", text, flags=re.MULTILINE)[1:]
    tables = {part.partition("`")[0]: part.partition("\n## ")[0] for part in parts}
    assert {
        name: re.findall(r"^\| (\w\S*) \|", table, re.MULTILINE) for name, table in tables.items()
    } == {name: ["mutant", *ids] for name, ids in NAMED.items()}
