"""``attest serve --demo`` as an operator meets it: what it prints, writes, refuses and watches."""

import os
import shlex
import subprocess
from pathlib import Path

import pytest
from sqlalchemy import select

from app.models import ProblemFile, Version

from .conftest import CODE, DEADLINE_S, SHEET, Service, wait_for


def test_the_built_ins_are_graded_before_the_service_says_that_it_is_ready(running: Service):
    first = [line for line in running.output if line.startswith(CODE)]
    assert first == [f"{CODE} 10/10 graded\n", f"{CODE} 1/10 graded\n"]
    assert running.output[-1] == f"READY {running.told['url']}\n"


def test_serve_json_is_for_its_owner_and_tells_how_to_get_in(running: Service):
    assert (running.data / "serve.json").stat().st_mode & 0o777 == 0o600
    told = running.told
    assert told["pid"] == running.process.pid
    assert told["sandbox_level"] in ("full", "landlock")
    assert set(told["tokens"]) == set(told["links"]) == {"student", "ta", "instructor"}
    for role in told["tokens"]:
        with running.client(role) as client:
            assert client.get(f"/api/v1/problems/{CODE}").status_code == 200


def test_the_data_folder_is_closed_to_others(running: Service):
    assert running.data.stat().st_mode & 0o077 == 0


def test_the_printed_curl_line_works_when_pasted(running: Service):
    (line,) = [line for line in running.output if line.lstrip().startswith("curl")]
    done = subprocess.run(shlex.split(line), capture_output=True, text=True, timeout=DEADLINE_S)
    assert done.stdout.startswith(f"{CODE} 1/10 graded")


def test_a_second_service_on_the_same_data_ends_with_a_sentence(running: Service):
    done = running.command("serve", "--port", "0")
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr == (
        f"attest: `attest serve` runs already on {running.data} (process {running.process.pid}); "
        "end it, or set ATTEST_DATA to another folder\n"
    )


def test_an_address_in_use_ends_with_a_sentence(running: Service, service: Service):
    port = running.told["url"].rsplit(":", 1)[1]
    done = service.command("serve", "--port", port)
    assert done.returncode == 2
    assert f"cannot listen on 127.0.0.1 port {port}: Address already in use" in done.stderr


def test_a_second_worker_on_the_same_data_is_refused(running: Service):
    done = running.command("worker")
    assert done.returncode == 2
    assert f"a worker runs already on {running.data}" in done.stderr


def test_a_demo_is_refused_where_there_are_people(service: Service):
    assert service.command("db", "upgrade").returncode == 0
    added = service.command("token", "ada@example.org", "--role", "instructor")
    assert added.returncode == 0
    done = service.command("serve", "--port", "0", "--demo")
    assert done.returncode == 2
    assert "--demo needs an empty database or one that a demo made" in done.stderr


def test_a_token_can_be_made_while_the_service_runs(running: Service):
    done = running.command("token", "new@example.org", "--role", "student", "--name", "New")
    assert done.returncode == 0
    with running.client() as client:
        headers = {"Authorization": f"Bearer {done.stdout.strip()}"}
        assert client.get(f"/api/v1/problems/{CODE}", headers=headers).status_code == 200


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("token", "who@example.org"), "no person has the address who@example.org; --role adds"),
        (("token", "who@example.org", "--role", "king"), "--role is 'king'; expected one of"),
        (("db", "drop"), "attest db drop: expected one of upgrade, current, check"),
    ],
)
def test_a_command_that_makes_no_sense_ends_with_a_sentence(running: Service, arguments, sentence):
    done = running.command(*arguments)
    assert done.returncode == 2
    assert sentence in done.stderr


def test_the_database_can_be_checked_while_the_service_runs(running: Service):
    done = running.command("db", "check")
    assert (done.returncode, done.stderr) == (0, "")


def test_head_tells_what_get_would_without_the_body(running: Service):
    with running.client() as client:
        for path in ("/healthz", "/readyz", "/", "/api/v1/problems", "/docs"):
            whole, head = client.get(path), client.head(path)
            assert (head.status_code, head.content) == (whole.status_code, b""), path
            assert head.headers["content-type"] == whole.headers["content-type"]
        assert client.head("/sign-out").status_code == 405


# The folder of problems


def write(running: Service, name: str, text: str) -> Path:
    """Puts a problem file in place the way an editor does: whole, under its name."""
    path = running.problems / "assignment1" / f"{name}.yaml"
    draft = path.with_suffix(".draft")
    draft.write_text(text)
    draft.replace(path)
    return path


def sheet(running: Service, name: str) -> str:
    text = (running.problems / "assignment1" / f"{SHEET}.yaml").read_text()
    return text.replace(f"id: {SHEET}", f"id: {name}", 1)


def title(running: Service, name: str) -> str | None:
    with running.client() as client:
        found = client.get(f"/api/v1/problems/{name}")
    return found.json()["title"] if found.status_code == 200 else None


def errors(running: Service, name: str) -> list[dict]:
    path = f"assignment1/{name}.yaml"
    (found,) = running.rows(select(ProblemFile.errors).where(ProblemFile.path == path)) or ([],)
    return found


def test_a_file_that_appears_is_proven_and_served_without_a_restart(running: Service):
    write(running, "s34-new", sheet(running, "s34-new"))
    wait_for(lambda: title(running, "s34-new"), "the new problem")
    (proof,) = running.rows(select(Version.proof).where(Version.problem_id == "s34-new"))
    assert proof["misconceptions"]["post_softmax"]["ok"] is True


def test_a_broken_change_keeps_the_good_version_and_tells_staff_where(running: Service):
    text = sheet(running, "s34-broken")
    write(running, "s34-broken", text)
    before = wait_for(lambda: title(running, "s34-broken"), "the good version")
    write(running, "s34-broken", text.replace("points:", "pionts:", 1))
    found = wait_for(lambda: errors(running, "s34-broken"), "the error")
    line = text[: text.index("points:")].count("\n") + 1
    (place,) = [each for each in found if "did you mean `points`?" in each["message"]]
    assert (place["line"], place["column"]) == (line, 1)
    assert title(running, "s34-broken") == before


def test_a_change_that_lets_a_wrong_answer_through_is_refused(running: Service):
    text = sheet(running, "s34-lax")
    write(running, "s34-lax", text)
    before = wait_for(lambda: title(running, "s34-lax"), "the good version")
    write(running, "s34-lax", text.replace("atol: 1.0e-9", "atol: 9"))
    found = wait_for(lambda: errors(running, "s34-lax"), "the refusal")
    assert "is not caught by the check `row1`" in found[0]["message"]
    assert title(running, "s34-lax") == before
    states = running.rows(select(Version.state).where(Version.problem_id == "s34-lax"))
    assert sorted(states) == ["live", "refused"]


def test_the_errors_of_a_file_that_is_gone_are_forgotten(running: Service):
    path = write(running, "s34-gone", "id: [\n")
    wait_for(lambda: errors(running, "s34-gone"), "the error")
    path.unlink()
    wait_for(lambda: not errors(running, "s34-gone"), "forgetting")


def test_the_api_process_loads_nothing_that_knows_an_answer(running: Service):
    maps = Path(f"/proc/{running.process.pid}/maps").read_text()
    assert "/pydantic_core/" in maps
    assert "/numpy/" not in maps
    assert "/torch/" not in maps
    worker = running.worker()
    assert "/numpy/" in Path(f"/proc/{worker}/maps").read_text()
    assert os.getpgid(worker) != os.getpgid(running.process.pid)  # Ctrl-C is not for the worker


# The last one: it ends what the others ran on


def test_the_worker_ends_with_the_process_that_started_it(running: Service):
    worker = running.worker()
    running.kill()
    wait_for(lambda: not Path(f"/proc/{worker}").exists(), "the end of the worker")
