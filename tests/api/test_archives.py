"""A zip over HTTP, from the bytes to the report, its file view and its downloads."""

import io
import re
import zipfile

import pytest
from httpx2 import Response
from sqlalchemy import func, select
from starlette.testclient import TestClient

from app.db import Sessions, snapshot
from app.models import Submission, SubmissionFile
from tests.conftest import Ask

CODE = "/api/v1/problems/s33-masked-attention/submissions"
MAIN = b"from mymodel.attention import masked_attention\n"
PACKAGE = {
    "hw/main.py": MAIN,
    "hw/mymodel/__init__.py": b"",
    "hw/mymodel/numbers.py": b"factor = float(open('data/one.txt').read())\n",
    "hw/data/one.txt": b"1.0",
    "hw/random.py": b"raise_if_shadowing = True\n",
    "__MACOSX/hw/._main.py": b"\0",
}


def packed(files: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as made:
        for name, data in files.items():
            made.writestr(name, data)
    return buffer.getvalue()


@pytest.fixture
def package(right: bytes) -> dict[str, bytes]:
    """A right submission of several modules, one of which reads a file."""
    code = right.replace(b"import numpy as np\n", b"import numpy as np\nfrom . import numbers\n")
    code = code.replace(b"return ", b"assert numbers.factor == 1\n    return ")
    assert b"numbers.factor" in code
    return {**PACKAGE, "hw/mymodel/attention.py": code}


def post(client: TestClient, *files: tuple[str, bytes], wait: int = 0) -> Response:
    return client.post(CODE, files=[("file", file) for file in files], params={"wait": wait})


def names(database: Sessions) -> list[str]:
    with snapshot(database) as session:
        rows = session.scalars(select(SubmissionFile.name).order_by(SubmissionFile.position))
        return list(rows)


@pytest.mark.usefixtures("worker")
def test_a_package_in_a_zip_is_graded_whole(
    ask: Ask, database: Sessions, package: dict[str, bytes]
) -> None:
    answer = post(ask("student"), ("work.zip", packed(package)), wait=60)
    assert answer.status_code == 200
    assert answer.json()["score"] == 10.0, answer.json()["checks"]
    assert names(database) == [
        "main.py",
        "random.py",
        "data/one.txt",
        "mymodel/__init__.py",
        "mymodel/attention.py",
        "mymodel/numbers.py",
    ]


@pytest.mark.usefixtures("worker")
def test_files_with_folders_need_no_zip(ask: Ask, right: bytes) -> None:
    files = (("main.py", MAIN), ("mymodel/attention.py", right))
    answer = post(ask("student"), *files, wait=60)
    assert answer.json()["score"] == 10.0


@pytest.mark.usefixtures("worker")
def test_an_error_is_told_with_its_path_and_line(ask: Ask, package: dict[str, bytes]) -> None:
    package["hw/mymodel/attention.py"] = (
        b"\ndef masked_attention(*a):\n    raise ValueError('no')\n"
    )
    student = ask("student")
    report = post(student, ("work.zip", packed(package)), wait=60).json()
    assert "ValueError: no (mymodel/attention.py, line 3)" in report["checks"][0]["message"]
    package["hw/mymodel/attention.py"] = b"import torch\n1 / 0\n"
    report = post(student, ("work.zip", packed(package)), wait=60).json()
    assert {check["outcome"] for check in report["checks"]} == {"load_error"}
    assert "(mymodel/attention.py, line 2)" in report["checks"][0]["message"]
    where = f"/api/v1/submissions/{report['id']}"
    text = student.get(where, headers={"Accept": "text/plain"}).text
    assert "(mymodel/attention.py, line 2)" in re.sub(r"\s+", " ", text)


BROKEN = {
    "broken": (b"PK\x03\x04", 422, "work.zip is broken, or no zip archive"),
    "empty": (b"", 422, "work.zip is broken, or no zip archive"),
    "no code": (packed({"a.txt": b"x"}), 422, "there is no .py"),
    "upwards": (packed({"../a.py": b"x"}), 422, "work.zip holds '../a.py'"),
    "bomb": (packed({"a.py": bytes(300_000_000)}), 413, "work.zip unpacks to 300000000 bytes"),
    "many": (packed({f"{n}.py": b"" for n in range(51)}), 413, "at most 50"),
    "entries": (packed(dict.fromkeys(map(str, range(30_000)), b"")), 413, "2000 entries"),
}


@pytest.mark.parametrize(("data", "status", "words"), BROKEN.values(), ids=BROKEN)
def test_a_zip_that_cannot_be_taken_costs_no_attempt(
    ask: Ask, database: Sessions, right: bytes, data: bytes, status: int, words: str
) -> None:
    student = ask("student")
    answer = post(student, ("work.zip", data))
    assert answer.status_code == status
    assert answer.headers["content-type"] == "application/problem+json"
    assert words in answer.json()["detail"]
    with snapshot(database) as session:
        assert session.scalar(select(func.count()).select_from(Submission)) == 0
    assert post(student, ("a.py", right)).json()["attempt"] == 1


def test_answers_come_in_no_zip(ask: Ask, with_text: str) -> None:
    data = packed({"a.json": b"{}"})
    for problem, words in (("s34-a1-masked", "takes a .json file"), (with_text, "takes a .txt")):
        where = f"/api/v1/problems/{problem}/submissions"
        answer = ask("student").post(where, files={"file": ("work.zip", data)})
        assert answer.status_code == 422
        assert words in answer.json()["detail"]
        assert "'work.zip' is none" in answer.json()["detail"]


def test_the_same_zip_under_the_same_key_is_stored_once(
    ask: Ask, package: dict[str, bytes]
) -> None:
    student, data = ask("student"), packed(package)
    sent = {"files": {"file": ("work.zip", data)}, "headers": {"Idempotency-Key": "k"}}
    first, again = student.post(CODE, **sent), student.post(CODE, **sent)
    assert (first.status_code, again.json()) == (202, first.json())
