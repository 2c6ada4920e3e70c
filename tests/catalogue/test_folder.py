"""The folder of problems, and the schema of what lies in it."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from app.catalogue.folder import find_problem, problem_files, selected_files
from app.catalogue.schema import problem_schema
from app.errors import ProblemFileError, UnknownProblem

ROOT = Path(__file__).resolve().parents[2]
PROBLEMS = ROOT / "problems"
EVERY_FILE = [*problem_files(PROBLEMS), *sorted((ROOT / "tests/problem_files").glob("*.yaml"))]


def copied(folder: Path, assignment: str, name: str = "cb-shapes") -> Path:
    (source,) = PROBLEMS.glob(f"*/{name}.yaml")
    target = folder / assignment / source.name
    target.parent.mkdir(exist_ok=True)
    target.write_bytes(source.read_bytes())
    return target


def test_a_problem_is_found_by_its_id_or_by_the_path_of_its_file(tmp_path):
    by_id = find_problem("cb-shapes", PROBLEMS)
    assert by_id.problem.id == "cb-shapes"
    assert by_id.assignment == "closed-book"
    assert find_problem(str(copied(tmp_path, "a")), PROBLEMS).sha256 == by_id.sha256


def test_an_unknown_id_is_told_with_the_one_that_was_meant():
    with pytest.raises(UnknownProblem, match=r"no problem `cb-shape` .*; did you mean `cb-shapes`"):
        find_problem("cb-shape", PROBLEMS)
    with pytest.raises(
        UnknownProblem, match=r"no problem `zzz` in .*; there are \d+ problems there"
    ):
        find_problem("zzz", PROBLEMS)


def test_a_path_without_a_file_is_told(tmp_path):
    with pytest.raises(UnknownProblem, match=r"no such problem file: .*gone\.yaml"):
        find_problem(str(tmp_path / "gone.yaml"), PROBLEMS)
    with pytest.raises(UnknownProblem, match=r"no such problem file"):
        list(selected_files([tmp_path / "gone"]))


def test_the_settings_of_an_assignment_are_no_problem(tmp_path):
    path = copied(tmp_path, "a")
    (tmp_path / "a/assignment.yaml").write_text("title: {en: A, zh: A}\n")
    assert problem_files(tmp_path) == [path]
    assert list(selected_files([tmp_path])) == [path]
    assert list(selected_files([tmp_path / "a"])) == [path]


def test_a_folder_without_problems_is_told(tmp_path):
    with pytest.raises(
        UnknownProblem, match=r"no problem files in .*; expected ASSIGNMENT/ID.yaml"
    ):
        list(selected_files([tmp_path]))


def test_two_files_of_one_id_are_told_rather_than_one_taken(tmp_path):
    copied(tmp_path, "a")
    copied(tmp_path, "b")
    with pytest.raises(UnknownProblem, match=r"two files state the problem `cb-shapes`: .*a.*b"):
        find_problem("cb-shapes", tmp_path)


def test_an_unreadable_file_does_not_hide_the_others(tmp_path):
    copied(tmp_path, "a")
    (tmp_path / "a/broken.yaml").write_text("id: [")
    assert find_problem("cb-shapes", tmp_path).problem.id == "cb-shapes"
    with pytest.raises(ProblemFileError):
        find_problem("broken", tmp_path)


def resolved(schema: dict[str, Any], node: dict[str, Any]) -> list[dict[str, Any]]:
    """The object schemas that ``node`` may stand for."""
    options = [option for key in ("anyOf", "oneOf") for option in node.get(key, [])]
    if "$ref" in node:
        options.append(schema["$defs"][node["$ref"].rsplit("/", 1)[-1]])
    found = [part for option in options for part in resolved(schema, option)]
    return found or [node]


def unknown_keys(
    schema: dict[str, Any], node: dict[str, Any], value: object, at: str
) -> Iterator[str]:
    """Every key of ``value`` that no option of ``node`` allows."""
    options = resolved(schema, node)
    if isinstance(value, list):
        items = next((option["items"] for option in options if "items" in option), None)
        for n, member in enumerate(value if items else []):
            yield from unknown_keys(schema, items, member, f"{at}[{n}]")
    if isinstance(value, dict):
        for key, member in value.items():
            fitting = [
                option["properties"].get(key) or option.get("additionalProperties")
                if "properties" in option
                else option.get("additionalProperties")
                for option in options
            ]
            allowed = [part for part in fitting if part]
            if not allowed:
                yield f"{at}.{key}"
            elif isinstance(allowed[0], dict):
                yield from unknown_keys(schema, {"anyOf": allowed}, member, f"{at}.{key}")


@pytest.fixture(scope="module")
def schema():
    return problem_schema()


@pytest.mark.parametrize("path", EVERY_FILE, ids=lambda path: path.stem)
def test_the_schema_knows_every_key_of_the_problems(path, schema):
    problem = YAML(typ="safe").load(path)
    assert list(unknown_keys(schema, schema, problem, path.stem)) == []
    problem["misconceptions"][0]["hiden"] = True
    assert list(unknown_keys(schema, schema, problem, "p")) == ["p.misconceptions[0].hiden"]


def test_the_schema_is_json_and_says_what_each_key_means():
    schema = json.loads(json.dumps(problem_schema()))
    assert schema["$schema"].endswith("2020-12/schema")
    accepted = schema["$defs"]["Accepted"]["properties"]
    assert "except" in accepted
    assert "excused" not in accepted
    assert schema["$defs"]["NoLeakCheck"]["properties"]["replacements"]["description"]
