"""The schema that lies beside the problems: what editors complete and check their files by."""

import json
import os
import re
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from app.catalogue.folder import problem_files
from app.catalogue.schema import FILE, LINE
from app.catalogue.source import read_source

ROOT = Path(__file__).resolve().parents[2]
PROBLEMS = ROOT / "problems"
SHIPPED = problem_files(PROBLEMS)
EXAMPLES = re.findall(
    r"```yaml\n(.*?)```", (ROOT / "docs/problems.md").read_text(encoding="utf-8"), re.DOTALL
)
MAIN = ["CodeProblem", "AnswerProblem", "TextProblem", "CaseSet", "Accepted", "Misconception"]


@pytest.fixture(scope="module")
def schema():
    return json.loads((PROBLEMS / FILE).read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def validator(schema):
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema)


def test_the_committed_schema_is_what_the_command_prints(attest):
    printed = attest("schema").out
    told = "run `attest schema > problems/problem.schema.json`"
    assert (PROBLEMS / FILE).read_text(encoding="utf-8") == printed, told


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_a_shipped_problem_names_its_schema_and_is_valid_by_it(path, validator):
    first = path.read_text(encoding="utf-8").splitlines()[0]
    assert first == f"{LINE}{os.path.relpath(PROBLEMS / FILE, path.parent)}"
    assert [error.message for error in validator.iter_errors(read_source(path).tree)] == []


@pytest.mark.parametrize("text", EXAMPLES)
def test_an_example_of_the_page_is_valid(text, validator):
    tree = read_source(Path("example.yaml"), text.encode()).tree
    assert [error.message for error in validator.iter_errors(tree)] == []


def test_a_misspelt_key_is_not_valid(validator):
    tree = read_source(ROOT / "tests/broken_problems/unknown-key.yaml").tree
    assert not validator.is_valid(tree)


@pytest.mark.parametrize("name", MAIN)
def test_an_editor_can_explain_every_main_key(name, schema):
    keys = schema["$defs"][name]["properties"]
    assert [key for key, stated in keys.items() if not stated.get("description")] == []


def test_an_editor_can_explain_every_key_of_every_kind_of_check(schema):
    checks = {name: d for name, d in schema["$defs"].items() if name.endswith("Check")}
    assert len(checks) >= 13
    for name, check in checks.items():
        unexplained = [k for k, s in check["properties"].items() if not s.get("description")]
        assert unexplained == [], name
