"""``attest new``: what it writes is proven but for its TODO texts, and nothing is ever lost."""

import os
import pty
import subprocess
from pathlib import Path

import pytest

from app.catalogue.problem_file import PROBLEMS, read_problem
from app.catalogue.schema import FILE, LINE
from app.grading.prove import prove

from .conftest import ATTEST, Attest

KINDS = list(PROBLEMS)


@pytest.fixture
def course(tmp_path: Path) -> Path:
    """A folder with an empty folder of problems in it."""
    (tmp_path / "problems").mkdir()
    return tmp_path


def lines_to_write(text: str) -> list[int]:
    """The lines whose value begins with TODO; of a block of text, the line of its key."""
    lines = text.splitlines()
    found = [n for n, line in enumerate(lines, start=1) for _ in range(line.count("TODO"))]
    return [n - 1 if lines[n - 1].lstrip().startswith("TODO") else n for n in found]


@pytest.mark.parametrize("kind", KINDS)
def test_a_fresh_problem_lacks_nothing_but_its_texts(kind, course, attest: Attest, sandbox):
    path = course / "problems/masks/fresh.yaml"
    made = attest(
        "new", "problems/masks/fresh.yaml", "--kind", kind, "--section", "3.3", cwd=course
    )
    assert (made.code, made.err) == (0, "")
    assert "attest check problems/masks/fresh.yaml" in made.out
    checked = attest("check", path, "--json")
    (told,) = checked.json["problems"]
    text = path.read_text(encoding="utf-8")
    assert checked.code == 1
    assert [error["line"] for error in told["errors"]] == lines_to_write(text)
    assert len(told["errors"]) >= 7
    assert all("begins with TODO" in error["message"] for error in told["errors"])
    path.write_text(text.replace("TODO ", ""), encoding="utf-8")
    proof = prove(read_problem(path).problem, sandbox)
    assert (proof.flaws, proof.warnings) == ((), ())
    assert proof.misconceptions
    assert proof.accepted
    assert any(check.hidden for check in proof.problem.checks)


def test_what_is_told_stands_in_the_file(course, attest: Attest, sandbox):
    flags = {
        "kind": "code", "section": "3.5", "points": "7", "entry": "split_heads",
        "title-en": 'Heads: "split" # them', "title-zh": "拆分：多头 {a}",
    }  # fmt: skip
    told = [part for name, value in flags.items() for part in (f"--{name}", value)]
    assert attest("new", "split", "--assignment", "heads", *told, cwd=course).code == 0
    problem = read_problem(course / "problems/heads/split.yaml").problem
    assert (problem.id, problem.section, problem.points) == ("split", "3.5", 7)
    assert (problem.title.en, problem.title.zh) == (flags["title-en"], flags["title-zh"])
    assert problem.entry == "split_heads"
    assert {flaw.location[-1] for flaw in prove(problem, sandbox).flaws} == {"en", "zh", "source"}


@pytest.mark.parametrize("name", ["np", "range", "class", "null"])
def test_an_id_that_no_function_can_have_makes_a_file_that_works(name, course, attest: Attest):
    told = ("--kind", "code", "--section", "3.3")
    attest("new", name, "--assignment", "odd", *told, cwd=course)
    assert read_problem(course / f"problems/odd/{name}.yaml").problem.entry == "answer"


def test_the_first_line_names_the_schema_of_the_folder(course, attest: Attest):
    told = ("--kind", "answer", "--section", "3.1")
    attest("new", "a", "--assignment", "one", *told, cwd=course)
    shared = course / "problems" / FILE
    assert shared.read_text(encoding="utf-8") == attest("schema").out
    shared.write_text("{}")
    attest("new", "problems/two/b.yaml", *told, cwd=course)
    for path in ("one/a.yaml", "two/b.yaml"):
        first = (course / "problems" / path).read_text(encoding="utf-8").splitlines()[0]
        assert first == f"{LINE}../{FILE}"
    assert shared.read_text() == "{}"


def test_away_from_a_folder_of_problems_the_schema_lies_beside_the_file(tmp_path, attest: Attest):
    inside = tmp_path / "drafts"
    inside.mkdir()
    told = ("--kind", "text", "--section", "3.1")
    assert attest("new", "alone.yaml", *told, cwd=inside).code == 0
    assert (inside / "alone.yaml").read_text(encoding="utf-8").startswith(f"{LINE}{FILE}\n")
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["alone.yaml", "drafts", FILE]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("new",), "--assignment of new must be given where no terminal can ask"),
        (("problems/m/new.yaml",), "--kind and --section must be given"),
        (("problems/m/new.yaml", "--kind", "code"), "--section must be given"),
        (("problems/m/new.yaml", "--kind", "coed"), "did you mean `code`?"),
        (("problems/m/new.yaml", "--section", "intro"), "section is 'intro'; expected a number"),
        (("problems/m/new.yaml", "--points", "nan"), "points is 'nan'; expected a number above 0"),
        (("problems/m/new.yaml", "--entry", "null"), "entry is 'null'; expected the name"),
        (("problems/m/new.yaml", "--entry", "np"), "entry is 'np'; expected the name"),
        (("problems/m/new.yaml", "--entry", "len"), "entry is 'len'; expected the name"),
        (("problems/m/new.yaml", "--entry", "ﬁt"), "entry is 'ﬁt'; expected the name"),
        (("problems/m/new.yaml", "--title-en", "a\nb"), "expected one line of text"),
        (("problems/m/new.yaml", "--assignment", "m"), "expected an id beside --assignment"),
        (("problems/m/a b.yaml",), "id is 'a b'; expected up to 48 of a to z"),
        (("Mine_2", "--assignment", "m"), "id is 'Mine_2'; expected up to 48 of a to z"),
        (("../a",), "id is '../a'; expected up to 48 of a to z"),
        (("a", "--assignment", "../m"), "assignment is '../m'; expected up to 48 of a to z"),
    ],
)
def test_what_cannot_be_is_refused_in_one_sentence(arguments, words, course, attest: Attest):
    ended = attest("new", *arguments, cwd=course)
    assert (ended.code, ended.out, ended.err.count("\n")) == (2, "", 1)
    assert words in ended.err
    assert list(course.rglob("*")) == [course / "problems"]


def test_nothing_is_overwritten_and_no_id_is_used_twice(course, attest: Attest):
    told = ("--kind", "code", "--section", "3.3")
    attest("new", "same", "--assignment", "masks", *told, cwd=course)
    path = course / "problems/masks/same.yaml"
    path.write_text("mine")
    again = attest("new", "problems/masks/same.yaml", *told, cwd=course)
    elsewhere = attest("new", "problems/heads/same.yaml", *told, cwd=course)
    assert (again.code, elsewhere.code) == (2, 2)
    assert f"{path} exists already; it was left as it is" in again.err
    assert f"the id `same` is taken by {path}; choose another one" in elsewhere.err
    assert path.read_text() == "mine"
    assert not (course / "problems/heads").exists()


def test_a_folder_that_cannot_be_written_is_named(course, attest: Attest):
    (course / "problems/masks").write_text("a file")
    told = ("--kind", "code", "--section", "3.3")
    ended = attest("new", "problems/masks/new.yaml", *told, cwd=course)
    assert (ended.code, ended.err.count("\n")) == (2, 1)
    assert "cannot be written" in ended.err


def test_a_terminal_is_asked_for_what_is_missing_until_the_answer_can_be_taken(course):
    typed = "masks\ncoed\ncode\nthree\n3.3\nMy title\n\nmy_scores\n"
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [ATTEST, "new", "typed", "--points", "6"],
        cwd=course, stdin=theirs, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    ) as process:  # fmt: skip
        os.write(ours, typed.encode())
        assert process.stdout
        shown = process.stdout.read()
    os.close(theirs)
    os.close(ours)
    assert process.returncode == 0, shown
    assert "did you mean `code`?" in shown
    assert "section is 'three'; expected a number such as 3.3" in shown
    problem = read_problem(course / "problems/masks/typed.yaml").problem
    assert (problem.entry, problem.section, problem.points) == ("my_scores", "3.3", 6)
    assert (problem.title.en, problem.title.zh) == ("My title", "TODO 标题")
