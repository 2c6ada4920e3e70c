"""Every problem accepts right work and refuses, by name, each wrong answer that it knows."""

from pathlib import Path

import pytest

from app.catalogue.folder import problem_files
from app.catalogue.problem_file import read_problem

ROOT = Path(__file__).resolve().parents[2]
SHIPPED = problem_files(ROOT / "problems")
FILES = [*SHIPPED, *sorted((ROOT / "tests/problem_files").glob("*.yaml"))]
PROBLEMS = {path: read_problem(path).problem for path in FILES}

MISCONCEPTIONS = [
    pytest.param(path, known, id=f"{problem.id}-{known.id}")
    for path, problem in PROBLEMS.items()
    for known in problem.misconceptions
    if known.text is None
]
ACCEPTED = [
    pytest.param(path, variant.id, id=f"{problem.id}-{variant.id}")
    for path, problem in PROBLEMS.items()
    for variant in problem.accepted
]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_problem_is_proven(path, proof_of):
    proof = proof_of(path)
    assert [flaw.message for flaw in proof.flaws] == []
    assert proof.ok


@pytest.mark.parametrize(("path", "known"), MISCONCEPTIONS)
def test_a_misconception_is_caught_by_its_check_and_named(path, known, proof_of):
    row = proof_of(path).misconceptions[known.id]
    assert known.caught_by in row.caught
    assert row.named
    assert not set(known.passes) & set(row.caught)


@pytest.mark.parametrize(("path", "variant"), ACCEPTED)
def test_right_work_of_another_form_is_accepted(path, variant, proof_of):
    assert proof_of(path).accepted[variant]


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_every_check_of_a_shipped_problem_can_fail(path, proof_of):
    proof = proof_of(path)
    reached = {check for row in proof.misconceptions.values() for check in row.caught}
    assert reached == {check.id for check in proof.problem.checks}


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_the_words_of_a_shipped_problem_are_there_in_both_languages(path):
    problem = PROBLEMS[path]
    words = [problem.title, problem.statement, *(m.feedback for m in problem.misconceptions)]
    words += [variant.note for variant in problem.accepted if variant.note]
    for text in words:
        assert text.en.strip()
        assert any("\u4e00" <= character <= "\u9fff" for character in text.zh), text.zh
        assert not any("\u4e00" <= character <= "\u9fff" for character in text.en), text.en
