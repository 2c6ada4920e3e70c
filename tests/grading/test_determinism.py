"""The same seed gives the same report, whatever ran before and whoever runs beside."""

from concurrent.futures import ThreadPoolExecutor

from app.domain.report import report_of
from app.domain.submission import Submission
from app.grading.grade import grade
from app.grading.known_work import right_answers

CHANCE = """
    import random
    import numpy as np, torch
    def masked_attention(Q, K, V, visible):
        A = np.random.rand(len(Q), len(K)) + random.random() + float(torch.rand(()))
        return A, A @ V
"""


def told(problem, run):
    """The report without its times."""
    report = report_of(problem, "v", run, language="en").model_dump()
    del report["timing"]
    return report


def test_the_same_seed_gives_the_same_report_even_for_code_that_draws_from_the_generators(
    masked, graded
):
    first = told(masked, graded(masked, CHANCE, seed=3))
    assert told(masked, graded(masked, CHANCE, seed=3)) == first
    other = told(masked, graded(masked, CHANCE, seed=4))
    assert other["seed"] == 4
    assert other["checks"] != first["checks"]


def test_reports_do_not_depend_on_what_runs_at_the_same_time(masked, sdpa, graded):
    wrong = [m.code for m in masked.misconceptions[:3]]
    jobs = [(masked, code, seed) for code in wrong for seed in (5, 7)]
    alone = [told(p, graded(p, code, seed)) for p, code, seed in jobs]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda job: told(job[0], graded(*job)), jobs))
    assert together == alone


def test_every_seed_gives_full_marks_to_right_work_and_names_the_mistake(masked, graded):
    right = next(a.code for a in masked.accepted if a.id == "minus_inf_before_scaling")
    wrong = next(m.code for m in masked.misconceptions if m.id == "softmax_query_axis")
    for seed in (0, 1, 2**31, 2**48 - 1, 2**63 - 1):
        assert graded(masked, right, seed).score == 10
        named = {check.misconception for check in graded(masked, wrong, seed).checks}
        assert named - {None} == {"softmax_query_axis"}


def test_symbolic_answers_are_right_for_every_seed(shapes, sandbox):
    raw = right_answers(shapes)
    for seed in range(20):
        assert grade(shapes, Submission(answers=raw), sandbox, seed).score == 10
