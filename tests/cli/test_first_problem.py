"""The first problem of docs/problems.md: every command on the page does what the page says."""

import re
import shlex
import subprocess
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from .conftest import ATTEST, ROOT, Attest

PAGE = (ROOT / "docs/problems.md").read_text(encoding="utf-8")
NEW, PREVIEW, CHECK, PUT = re.findall(r"```sh\n(.*?)\n```", PAGE)
PROVEN, REFUTED = re.findall(r"```text\n(.*?)```", PAGE, re.DOTALL)
EXAMPLE = re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)[0]
PATH = "problems/extra/mean-pool.yaml"


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A folder with a folder of problems, and the file as the page has it in the end."""
    (tmp_path / "problems/extra").mkdir(parents=True)
    (tmp_path / PATH).write_text(EXAMPLE, encoding="utf-8")
    return tmp_path


def test_the_file_is_begun_as_the_page_says(tmp_path: Path, attest: Attest):
    (tmp_path / "problems").mkdir()
    command, *arguments = shlex.split(NEW)
    assert command == "attest"
    assert attest(*arguments, cwd=tmp_path).code == 0
    begun = (tmp_path / PATH).read_text(encoding="utf-8").splitlines()
    told = [line for line in begun if line.split(":")[0] in {"id", "kind", "title", "section"}]
    assert [line for line in told if line not in EXAMPLE.splitlines()] == []
    assert begun[0] == EXAMPLE.splitlines()[0]


def test_it_is_shown_as_the_page_says(clone: Path):
    command = [ATTEST, *shlex.split(PREVIEW)[1:]]
    with subprocess.Popen(command, cwd=clone, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        assert process.stdout.readline().startswith("READY http://127.0.0.1:")
        process.terminate()
    assert process.returncode == 0


def test_it_is_proven_as_the_page_says(clone: Path, attest: Attest):
    ended = attest(*shlex.split(CHECK)[1:], cwd=clone)
    assert (ended.code, ended.out) == (0, PROVEN)


def test_an_input_that_cannot_see_it_is_told_as_the_page_says(clone: Path, attest: Attest):
    hidden, shown = "visible: [true, true, false]", "visible: [true, true, true]"
    assert EXAMPLE.count(hidden) == 1
    assert f"`{shown}`" in PAGE
    (clone / PATH).write_text(EXAMPLE.replace(hidden, shown), encoding="utf-8")
    ended = attest(*shlex.split(CHECK)[1:], cwd=clone)
    assert (ended.code, ended.out) == (1, REFUTED)


def test_it_is_uploaded_as_the_page_says(ask, worker):
    flags = dict(re.findall(r"-H ['\"]([\w-]+): ([^'\"]+)['\"]", PUT))
    assert flags == {"Authorization": "Bearer $TOKEN", "Content-Type": "application/yaml"}
    assert f"--data-binary @{PATH} " in PUT
    address = urlsplit(shlex.split(PUT)[-1])
    url = f"{address.path}?{address.query}"
    kind = {"Content-Type": flags["Content-Type"]}
    sent = ask("ta").put(url, content=EXAMPLE.encode(), headers=kind)
    assert (sent.status_code, sent.json()["assignment"]) == (201, "extra")
    again = ask("ta").put(url, content=EXAMPLE.encode(), headers=kind)
    assert again.status_code == 200
    unwritten = EXAMPLE.replace('{en: "Mean', '{en: "TODO Mean').encode()
    refused = ask("ta").put(url, content=unwritten, headers=kind)
    (place,) = refused.json()["errors"]
    assert (refused.status_code, place["line"]) == (422, 4)
    assert place["message"] == "`title` (en) still begins with TODO"
