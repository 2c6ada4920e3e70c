"""``attest preview``: the page that students will see, following the file while it is written."""

import os
import re
import shutil
import signal
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx2
import pytest

from app.http.headers import HEADERS

from .conftest import ATTEST, ROOT, Attest

MASKED = "problems/masks/s33-masked-attention.yaml"
BY_HAND = "problems/assignment1/s34-a1-masked.yaml"
TEXT = "problems/closed-book/cb-query-axis-text.yaml"
PATIENCE_S = 60


@contextmanager
def previewed(path: Path) -> Iterator[httpx2.Client]:
    """A client of a preview that runs; it must end well at Ctrl-C, without a word."""
    environment = {**os.environ, "ATTEST_HOST": "0.0.0.0"}
    with subprocess.Popen(
        [ATTEST, "preview", path], env=environment, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    ) as process:  # fmt: skip
        try:
            assert process.stdout
            ready = process.stdout.readline()
            assert re.fullmatch(r"READY http://127\.0\.0\.1:\d+\n", ready)
            with httpx2.Client(base_url=ready.split()[1], timeout=PATIENCE_S) as client:
                yield client
        finally:
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=PATIENCE_S)
        assert (process.returncode, out, err) == (0, "", "")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Copies of a problem of each kind."""
    copies = tmp_path_factory.mktemp("masks")
    for path in (MASKED, BY_HAND, TEXT):
        shutil.copy(ROOT / path, copies)
    return copies


@pytest.fixture(scope="module")
def masked(folder: Path) -> Iterator[httpx2.Client]:
    with previewed(folder / Path(MASKED).name) as client:
        yield client


def test_the_page_is_the_students(masked: httpx2.Client):
    page = masked.get("/")
    assert page.status_code == 200
    for part in ("Attention with a mask", 'id="signature"', 'id="starter"', 'id="checks"'):
        assert part in page.text
    assert '<form method="post" action="/problems/s33-masked-attention"' in page.text
    assert "nothing that is sent here is graded" in page.text
    assert {name: page.headers[name] for name in HEADERS} == HEADERS


def test_it_is_shown_in_the_language_and_theme_of_the_switches(masked: httpx2.Client):
    choice = {"language": "zh", "theme": "dark", "back": "/"}
    switched = masked.post("/switches", data=choice, follow_redirects=True)
    masked.cookies.clear()
    assert '<html lang="zh-CN" data-theme="dark">' in switched.text
    assert "带 mask 的注意力" in switched.text
    assert "保存后自动更新" in switched.text


def test_the_author_sees_what_is_said_to_wrong_answers_and_no_code_of_theirs(
    masked: httpx2.Client,
):
    page = masked.get("/").text
    below = page[page.index('id="for-author"') :]
    assert "mask_after_softmax" in below
    assert "rows no longer sum to 1" in below
    assert "minus_inf_before_scaling" in below
    assert "def masked_attention" not in below


def test_what_is_sent_leads_back_to_the_page(masked: httpx2.Client):
    files = {"file": ("work.py", b"def masked_attention(): ...")}
    sent = masked.post("/problems/s33-masked-attention", files=files)
    assert (sent.status_code, sent.headers["location"]) == (303, "/")


def test_the_starter_can_be_downloaded(masked: httpx2.Client):
    starter = masked.get("/problems/s33-masked-attention/starter")
    assert 'filename="masked_attention.py"' in starter.headers["content-disposition"]
    assert "def masked_attention" in starter.text


@pytest.mark.parametrize("path", ["/gone", "/problem-files", "/api/v1/problems", "/docs"])
def test_there_is_nothing_else(path, masked: httpx2.Client):
    assert masked.get(path).status_code == 404


def test_a_page_of_another_name_reads_nothing(masked: httpx2.Client):
    answer = masked.get("/", headers={"Host": "elsewhere.example"})
    assert (answer.status_code, answer.text) == (400, "Invalid host header")


def test_only_this_machine_is_listened_to(masked: httpx2.Client):
    others = {address[4][0] for address in socket.getaddrinfo(socket.gethostname(), None)}
    for host in others - {"127.0.0.1", "::1"}:
        with pytest.raises(OSError, match="refused"):
            socket.create_connection((host, masked.base_url.port), timeout=PATIENCE_S).close()


@pytest.mark.parametrize("name", [BY_HAND, TEXT])
def test_answers_and_texts_have_their_page_without_a_right_value(name, folder):
    with previewed(folder / Path(name).name) as client:
        page = client.get("/").text
        assert 'id="work"' in page
        assert "0.804429" not in page
        assert ("textarea" in page) == (name == TEXT)
        no_starter = client.get("/problems/any/starter")
        assert (no_starter.status_code, "has no starter" in no_starter.text) == (404, True)


def states(lines: Iterator[str]) -> Iterator[str]:
    """What the event stream says of the file."""
    return (line.removeprefix("data: ") for line in lines if line.startswith("data: "))


def shown_state(page: str) -> str:
    """The state of the file that a page was made of."""
    found = re.search(r'<meta name="preview" content="(\w+)">', page)
    assert found
    return found[1]


def test_whoever_looks_is_told_of_every_change_and_a_broken_file_shows_its_places(folder):
    path = folder / Path(MASKED).name
    text = path.read_text(encoding="utf-8")
    with previewed(path) as client, client.stream("GET", "/events") as events:
        told = states(events.iter_lines())
        assert events.headers["content-type"].startswith("text/event-stream")
        assert next(told) == shown_state(client.get("/").text)

        path.write_text(text.replace("Attention with a mask", "Another title <b>"), "utf-8")
        assert next(told) == shown_state(page := client.get("/").text)
        assert "Another title &lt;b&gt;" in page

        path.write_text(text.replace("points: 10\n", "points: 11\n", 1), "utf-8")
        assert next(told) == shown_state(page := client.get("/").text)
        line = 1 + text[: text.index("points: 10\n")].count("\n")
        assert f"line {line}, column 9" in page
        assert "points is 11, but the checks add up to 10" in page
        assert "Attention with a mask" not in page

        path.unlink()
        assert next(told) == shown_state(page := client.get("/").text)
        assert "the file cannot be read: No such file or directory" in page

        path.write_text(text, "utf-8")
        assert next(told) == shown_state(page := client.get("/").text)
        assert "Attention with a mask" in page


def test_todo_texts_and_hostile_texts_are_shown_as_they_are(folder, attest: Attest):
    path = folder / "draft.yaml"
    attest("new", path, "--kind", "code", "--section", "3.3")
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("TODO Say what", "TODO <script>alert(1)</script>"), "utf-8")
    with previewed(path) as client:
        page = client.get("/").text
    assert "TODO title" in page
    assert "<script>alert" not in page


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("gone.yaml",), "no such problem file: gone.yaml"),
        (("problems/masks",), "problem files; expected one"),
        ((MASKED, "--port", "70000"), "65535"),
    ],
)
def test_what_cannot_be_previewed_is_refused_in_one_sentence(arguments, words, attest: Attest):
    ended = attest("preview", *arguments)
    assert (ended.code, ended.out, ended.err.count("\n")) == (2, "", 1)
    assert words in ended.err


def test_a_port_in_use_is_named(attest: Attest):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        ended = attest("preview", MASKED, "--port", port)
    assert (ended.code, ended.out) == (2, "")
    assert f"cannot listen on 127.0.0.1 port {port}: Address already in use" in ended.err
