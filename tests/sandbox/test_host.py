"""The sandbox as an operator's settings open it."""

from app.sandbox.host import open_sandbox, slots_for_all_cores
from app.sandbox.job import Call, Job
from app.settings import Settings


def test_a_sandbox_without_children_on_standby_grades_all_the_same(monkeypatch):
    monkeypatch.setenv("ATTEST_SANDBOX_STANDBY", "0")
    settings = Settings()
    assert settings.sandbox_standby == 0
    with open_sandbox(settings) as sandbox:
        answers = sandbox.run(Job({"w.py": b"def f(): return 7.0"}, (Call("f", ()),) * 2, 1))
    assert [float(answer.values[0].array) for answer in answers] == [7.0, 7.0]


def test_there_is_a_slot_for_each_core():
    assert slots_for_all_cores() >= 1
