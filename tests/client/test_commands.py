"""``attest login``, ``submit`` and ``status`` against a real service."""

import json
import shutil
import stat
from pathlib import Path

import pytest

from tests.client.conftest import Run
from tests.service.conftest import CODE, SHEET, Service

DEMO = Path(__file__).resolve().parents[2] / "app" / "demo"
RIGHT, WRONG = str(DEMO / "right.py"), str(DEMO / "mask_after_softmax.py")
NOBODY = "http://127.0.0.1:9"


@pytest.fixture
def student(service: Service) -> dict[str, str]:
    """The environment of the demo's student."""
    return {"server": service.told["url"], "token": service.told["tokens"]["student"]}


def test_who_logged_in_once_needs_no_address_and_no_token(
    attest: Run, service: Service, student: dict[str, str], home: Path
) -> None:
    done = attest("login", "--server", student["server"], typed=student["token"] + "\n")
    assert done.returncode == 0, done.stderr
    (kept,) = (home / "config").rglob("*.json")
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert student["token"] not in done.stdout
    done = attest("submit", CODE, WRONG)
    assert done.returncode == 1, done.stderr
    assert done.stdout.startswith(f"{CODE} 1/10 graded\n")
    assert "mask_after_softmax" in done.stdout


def test_a_kept_token_is_sent_to_its_own_server_alone(attest: Run, student: dict[str, str]) -> None:
    attest("login", "--server", student["server"], typed=student["token"] + "\n")
    done = attest("status", server=NOBODY)
    assert (done.returncode, done.stdout) == (2, "")
    assert "no token for" in done.stderr


def test_a_token_that_the_server_does_not_know_is_not_kept(
    attest: Run, student: dict[str, str], home: Path
) -> None:
    done = attest("login", "--server", student["server"], typed="att_wrong\n")
    assert (done.returncode, list(home.rglob("*.json"))) == (2, [])
    assert "unknown, expired or revoked" in done.stderr


def test_full_marks_end_with_0_and_json_stands_alone(attest: Run, student: dict[str, str]) -> None:
    done = attest("submit", CODE, RIGHT, "--json", **student)
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert (report["score"], report["max_score"]) == (10.0, 10.0)
    shown = attest("status", report["id"], "--json", **student)
    assert (shown.returncode, json.loads(shown.stdout)) == (0, report)


def test_a_zip_and_files_in_folders_are_sent_as_they_are(
    attest: Run, student: dict[str, str], home: Path
) -> None:
    (home / "hw/model").mkdir(parents=True)
    (home / "hw/main.py").write_text("from model.layers import masked_attention\n")
    (home / "hw/model/layers.py").write_text((DEMO / "right.py").read_text())
    shutil.make_archive(str(home / "hw"), "zip", home, "hw")
    for files in (["hw.zip"], ["hw/main.py", "hw/model/layers.py"]):
        done = attest("submit", CODE, *files, **student)
        assert done.returncode == 0, done.stdout + done.stderr
    (home / "hw.zip").write_bytes((home / "hw.zip").read_bytes()[:-5])
    done = attest("submit", CODE, "hw.zip", **student)
    assert (done.returncode, done.stdout) == (2, "")
    assert "hw.zip is broken, or no zip archive" in done.stderr


def test_answers_and_languages_are_those_of_the_server(
    attest: Run, student: dict[str, str], home: Path
) -> None:
    (home / "answers.json").write_text('{"unchanged_row": 1}')
    done = attest("submit", SHEET, "answers.json", "--lang", "zh", **student)
    assert done.returncode == 1, done.stderr
    assert "没有填写" in done.stdout


def test_without_waiting_the_acceptance_is_told(attest: Run, student: dict[str, str]) -> None:
    done = attest("submit", CODE, RIGHT, "--no-wait", "--json", **student)
    assert done.returncode == 0, done.stderr
    number = json.loads(done.stdout)["id"]
    listed = attest("status", **student)
    assert listed.returncode == 0
    assert listed.stdout.splitlines()[0].startswith(number)


@pytest.mark.parametrize(
    ("command", "status", "word"),
    [
        (("submit", "s99-unknown", RIGHT), 404, "s99-unknown"),
        (("submit", CODE, "absent.py"), 422, "absent.py"),
        (("submit", CODE, "notes.txt"), 422, "notes.txt"),
        (("status", "unknown"), 404, "unknown"),
    ],
)
def test_what_cannot_be_done_ends_with_2_and_the_problem_object(
    attest: Run, student: dict[str, str], home: Path, command: tuple[str], status: int, word: str
) -> None:
    (home / "notes.txt").write_text("not code")
    done = attest(*command, "--json", **student)
    assert done.returncode == 2
    details = json.loads(done.stdout)
    assert details["status"] == status
    assert word in details["detail"]
    assert word in done.stderr


def test_what_a_student_prints_cannot_move_the_terminal(
    attest: Run, student: dict[str, str], home: Path
) -> None:
    (home / "loud.py").write_text("print('\\x1b[2J\\u202e')\nraise ValueError('\\x1b]0;x\\x07')\n")
    done = attest("submit", CODE, "loud.py", **student)
    assert done.returncode == 1
    assert "\x1b" not in done.stdout
    assert "\u202e" not in done.stdout
    assert "\\x1b" in done.stdout


def test_a_server_that_does_not_answer_is_named(attest: Run) -> None:
    done = attest("submit", CODE, RIGHT, "--json", server=NOBODY, token="t")
    assert (done.returncode, json.loads(done.stdout)["status"]) == (2, 503)
    assert NOBODY in done.stderr
