"""The folder of problems: what changed is proposed, what did not change is left alone."""

import shutil
from hashlib import sha256
from pathlib import Path

import pytest
from sqlalchemy import select

from app import problem_folder, problems
from app.catalogue.problem_file import read_problem
from app.catalogue.proofs import read_proofs, write_proofs
from app.db import snapshot, transaction
from app.errors import ProblemFileError
from app.models import Problem, ProblemFile, Version

ID = "s34-a1-masked"
NAME = f"assignment1/{ID}.yaml"
SHIPPED = Path(__file__).resolve().parents[1] / "problems" / NAME


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with one problem that its record calls proven."""
    path = tmp_path / "problems" / NAME
    path.parent.mkdir(parents=True)
    shutil.copy(SHIPPED, path)
    folder = tmp_path / "problems"
    write_proofs(folder, {ID: sha256(path.read_bytes()).hexdigest()})
    return folder


def served(database) -> bytes | None:
    with snapshot(database) as session:
        found = session.get(Problem, ID)
        return found.current_version.yaml if found else None


def states(database) -> list[str]:
    with snapshot(database) as session:
        return list(session.scalars(select(Version.state).order_by(Version.created_at)))


def file_errors(database) -> list[dict]:
    with snapshot(database) as session:
        return [e for file in session.scalars(select(ProblemFile)) for e in file.errors]


def test_a_file_with_a_record_is_served_and_one_without_waits_for_its_proof(
    database, members, folder
):
    problem_folder.scan(database, folder)
    assert served(database) == (folder / NAME).read_bytes()
    (folder / NAME).write_bytes(SHIPPED.read_bytes() + b"# changed\n")
    problem_folder.scan(database, folder)
    assert states(database) == ["live", "proving"]
    assert served(database) == SHIPPED.read_bytes()


def test_an_unchanged_file_does_not_override_a_later_publication(database, members, folder):
    problem_folder.scan(database, folder)
    later = read_problem(Path(NAME), SHIPPED.read_bytes() + b"# from elsewhere\n")
    with transaction(database) as session:
        problems.propose(session, later, members.instructor, proven=True)
    problem_folder.scan(database, folder)
    assert served(database) == later.yaml


def test_a_file_that_cannot_be_read_keeps_its_errors_until_it_is_mended(database, members, folder):
    problem_folder.scan(database, folder)
    (folder / NAME).write_text("id: [")
    problem_folder.scan(database, folder)
    (error,) = file_errors(database)
    assert error["message"].startswith("this is not YAML")
    assert error["line"] >= 1
    assert served(database) == SHIPPED.read_bytes()
    shutil.copy(SHIPPED, folder / NAME)
    problem_folder.scan(database, folder)
    assert file_errors(database) == []
    assert states(database) == ["live"]


def test_a_file_that_goes_leaves_its_problem_and_takes_its_errors(database, members, folder):
    problem_folder.scan(database, folder)
    broken = folder / "assignment1" / "broken.yaml"
    broken.write_text("id: [")
    problem_folder.scan(database, folder)
    assert file_errors(database)
    broken.unlink()
    (folder / NAME).unlink()
    problem_folder.scan(database, folder)
    assert file_errors(database) == []
    assert served(database) == SHIPPED.read_bytes()


def test_a_record_of_another_hash_proves_nothing(database, members, folder):
    write_proofs(folder, {ID: "0" * 64})
    problem_folder.scan(database, folder)
    assert states(database) == ["proving"]


@pytest.mark.parametrize("text", ["{", "[]"])
def test_a_record_that_is_no_record_is_refused_with_its_place(folder: Path, text: str):
    (folder / "proofs.json").write_text(text)
    with pytest.raises(ProblemFileError, match=r"proofs.json:1:1: "):
        read_proofs(folder)


def test_without_a_record_nothing_is_proven(tmp_path: Path):
    assert read_proofs(tmp_path) == {}
