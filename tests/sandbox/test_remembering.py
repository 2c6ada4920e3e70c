"""What a proof repeats is answered from memory, and not kept for long."""

from app.sandbox.job import Call, Job
from app.sandbox.remembering import KEPT, RememberingSandbox

CHANCE = b"import os\n\ndef f():\n    return list(os.urandom(8))\n"


def drawn(sandbox, seed):
    (answer,) = sandbox.run(Job({"a.py": CHANCE}, (Call("f", ()),), seed))
    return [value.array.tolist() for value in answer.values]


def test_the_same_job_is_run_once(sandbox):
    remembering = RememberingSandbox(sandbox)
    first = drawn(remembering, seed=2)
    assert drawn(remembering, seed=3) != first
    assert drawn(remembering, seed=2) == first
    assert drawn(sandbox, seed=2) != first


def test_answers_are_forgotten_once_many_others_came(sandbox):
    remembering = RememberingSandbox(sandbox)
    first = drawn(remembering, seed=2)
    for seed in range(3, 3 + KEPT):
        drawn(remembering, seed)
    assert drawn(remembering, seed=2) != first
