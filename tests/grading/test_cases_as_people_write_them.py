"""Submissions as people really write them, each with the verdict of a fair grader.

A folder beside the checkout holds one submission and says by meanings which checks it passes and
fails. For each kind of problem a file in tests/problem_files has the conventions that the
submissions were written to.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML
from starlette.testclient import TestClient

from app import problems
from app.catalogue.problem_file import ProblemVersion, read_problem
from app.db import Sessions, transaction
from app.domain.outcome import Outcome
from app.domain.problem import Problem, questions_of
from app.domain.run import RunResult
from app.domain.submission import Submission
from app.domain.words import sentence
from app.errors import UnreadableSubmission
from app.grading.grade import grade
from app.sandbox.sandbox import Sandbox
from app.uploads.read import read_answers, read_files
from tests.conftest import Ask

FILES = Path(__file__).resolve().parents[1] / "problem_files"

PROBLEMS = {
    "sdpa": "sdpa",
    "mha": "mha",
    "padding_mask": "padding-mask",
    "causal_mask": "causal-mask",
    "kv_cache": "kv-cache",
    "positions": "positions",
    "repeat_kv": "repeat-kv",
    "lm_loss": "lm-loss",
    "layer_norm": "layer-norm",
    "layer_norm_backward": "layer-norm-backward",
    "prenorm_block": "prenorm-block",
    "softmax": "softmax",
    "positional_encoding": "positional-encoding",
    "count_params": "count-params",
    "torch_mha": "torch-mha",
    "torch_sdpa": "torch-sdpa",
    "answer_numeric": "one-eighth",
    "answer_text": "why-scale",
}
"""The file that judges each kind of problem. The ids of its checks are the meanings by which the
folders state their verdicts, so no table between the two is needed; a test holds them to it."""

Ends = str | Mapping[str, Iterable[str]]
"""How the failing checks end: all with one outcome, or those of each."""

CODE: dict[str, tuple[Ends, str]] = {
    "01-softmax-over-queries": ("wrong", "softmax_over_queries"),
    "03-scale-by-model-width": ("wrong", "scaled_by_model_width"),
    "06-merge-heads-without-transpose": ("wrong", "merged_without_transpose"),
    "09-weights-applied-transposed": ("wrong", "weights_transposed"),
    "10-mask-polarity-inverted": ("wrong", "mask_inverted"),
    "11-mask-multiplied-into-scores": ("wrong", ""),
    "13-mask-after-softmax-renormalised": ("not_finite", ""),
    "15-zero-times-minus-inf": ("not_finite", ""),
    "17-fully-masked-row-nan": ("", ""),
    "19-fully-masked-row-zero": ("", ""),
    "20-padding-mask-on-query-axis": ("wrong", "on_the_query_axis"),
    "22-mask-reshape-assumes-square": ("raised", ""),
    "23-causal-upper-left": ("wrong", "aligned_at_the_first_key"),
    "26-causal-as-additive-float": ("wrong_dtype", "additive_mask"),
    "29-cache-chunk-not-causal": ("wrong", "chunk_not_causal"),
    "31-cache-in-a-global": ("wrong", "global_cache"),
    "33-position-off-by-one": ("wrong", "one_too_far"),
    "34-gqa-tile-order": ("wrong", "tiled"),
    "36-labels-not-shifted": ("wrong", "labels_not_shifted"),
    "38-mean-includes-padding": ("wrong", "mean_includes_padding"),
    "40-softmax-twice": ("wrong", "softmax_twice"),
    "42-layernorm-eps-outside-root": ("wrong", "eps_outside_the_root"),
    "45-layernorm-one-pass-variance": ("wrong", "one_pass_variance"),
    "47-residual-takes-normalised-input": ("wrong", "residual_of_the_normalised"),
    "49-block-adds-in-place": ("wrong", "added_in_place"),
    "51-softmax-without-max": ("not_finite", "no_maximum"),
    "53-softmax-changes-its-input": ("wrong", "argument_overwritten"),
    "55-int-inputs-true-divide": ("raised", ""),
    "57-einsum-wrong-index": (
        {
            "wrong": ["plain_square", "heads_4d", "bool_mask"],
            "raised": [
                "rectangular",
                "padding_mask",
                "mask_4d_rect",
                "other_rows_of_a_fully_masked_row",
                "large_scores",
                "masked_key_with_huge_score",
                "float32",
                "int_inputs",
                "long_sequence",
            ],
        },
        "",
    ),
    "59-layernorm-backward-no-mean-terms": ("wrong", "no_mean_terms"),
    "61-posenc-exponent-differs-for-cos": ("wrong", "column_as_exponent"),
    "63-posenc-odd-width": ("raised", "even_widths_only"),
    "65-tied-weights-counted-twice": ("wrong", "tied_head_counted_twice"),
    "67-dropout-left-on-in-eval": ("wrong", "dropout_in_evaluation"),
    "69-float32-buffer-in-float64-model": ("raised", "float32_constant"),
    "70-half-precision-minus-1e9": ("raised", "minus_1e9_in_half"),
    "73-returns-list-of-lists": ("", ""),
    "75-returns-output-only": ("wrong_type", ""),
    "77-extra-leading-axis": ("wrong_shape", ""),
    "79-reuses-one-output-buffer": ("", ""),
    "81-other-parameter-names": ("", ""),
    "83-lambda-and-callable-object": ("", ""),
    "85-float32-inside": ("", ""),
    "87-bom-and-crlf": ("", ""),
    "89-mixed-tabs-and-spaces": ("load_error", ""),
    "91-gbk-with-coding-line": ("", ""),
    "93-prints-unicode": ("", ""),
    "95-main-guard-with-input": ("", ""),
    "97-sys-exit-at-import": ("load_error", ""),
    "99-exception-in-one-case": ("raised", ""),
    "101-optional-import": ("", ""),
    "103-relative-file-read": ("load_error", ""),
    "105-recursion-over-keys": ("raised", ""),
    "107-thread-never-ends": ("", ""),
    "109-seeds-the-global-generator": ("", ""),
    "110-notebook-with-magics": ("", ""),
    "112-notebook-cell-order": ("", ""),
}
"""Each submission of code: how its failing checks end, and the misconception that is named."""

LINES = {"114-answer-number-forms", "116-answer-text-keywords-negated"}
"""Folders with a file of answers, one on each line."""

CANNOT_RUN = "the other checks cannot run"
ALSO_FAIR = {"all checks pass, with a remark about sys.exit()": frozenset[str]()}
"""Further verdicts that a folder calls fair: the checks that fail then."""


@cache
def version_of(kind: str) -> ProblemVersion:
    return read_problem(FILES / f"{PROBLEMS[kind]}.yaml")


def case_of(folder: Path) -> dict[str, Any]:
    case: dict[str, Any] = YAML(typ="safe").load(folder / "case.yaml")
    return case


def meanings(problem: Problem) -> set[str]:
    return {question.id for question in questions_of(problem)}


def fair(case: Mapping[str, Any], problem: Problem) -> Iterator[set[str]]:
    """The sets of failing checks that are a fair verdict."""
    expected = case["expected"]
    everything = expected.get("note") == CANNOT_RUN
    yield meanings(problem) if everything else set(expected["fail"])
    for other in expected.get("also_fair", ()):
        yield set(ALSO_FAIR[other])


def stated(ends: Ends, failing: Iterable[str]) -> dict[str, str]:
    """The outcome of each failing check."""
    if isinstance(ends, str):
        return dict.fromkeys(failing, ends)
    return {check: outcome for outcome, checks in ends.items() for check in checks}


def failures(run: RunResult) -> dict[str, str]:
    return {c.id: c.outcome.value for c in run.checks if c.outcome != Outcome.PASSED}


def told(run: RunResult, check: str) -> str:
    (finding,) = [result.finding for result in run.checks if result.id == check]
    assert finding is not None
    return sentence(finding, "en")


@pytest.fixture
def judged(shared: Path, sandbox: Sandbox) -> Callable[[str], RunResult]:
    """Grades the submission of a folder as the service does: what was sent is read, then graded."""

    def run(name: str) -> RunResult:
        folder = shared / "cases" / name
        case = case_of(folder)
        problem = version_of(case["problem_kind"]).problem
        files = {case["file"]: (folder / case["file"]).read_bytes()}
        return grade(problem, read_files(problem, files), sandbox, seed=7)

    return run


def test_every_folder_has_its_verdict_here(shared: Path) -> None:
    assert {folder.parent.name for folder in (shared / "cases").glob("*/*")} == {*CODE, *LINES}


@pytest.mark.parametrize("name", CODE)
def test_the_meanings_of_a_folder_are_the_checks_of_its_problem(name: str, shared: Path) -> None:
    case = case_of(shared / "cases" / name)
    problem = version_of(case["problem_kind"]).problem
    expected = case["expected"]
    said = {*expected["pass"], *expected["fail"]}
    assert said == meanings(problem) if expected.get("note") != CANNOT_RUN else said == {"loads"}


@pytest.mark.parametrize("name", CODE)
def test_each_check_passes_or_fails_as_a_fair_grader_says(
    name: str, shared: Path, judged: Callable[[str], RunResult]
) -> None:
    case = case_of(shared / "cases" / name)
    problem = version_of(case["problem_kind"]).problem
    run = judged(name)
    failed = failures(run)
    ends, named = CODE[name]
    assert set(failed) in list(fair(case, problem))
    assert failed == stated(ends, failed)
    assert run.score == problem.points - len(failed)
    assert {c.misconception for c in run.checks if c.misconception} == ({named} - {""})


@pytest.mark.parametrize(
    ("name", "line", "error_type"),
    [
        ("89-mixed-tabs-and-spaces", 13, "TabError"),
        ("97-sys-exit-at-import", 19, "SystemExit"),
        ("103-relative-file-read", 2, "FileNotFoundError"),
    ],
)
def test_a_file_that_cannot_be_loaded_says_where_and_why(
    name: str, line: int, error_type: str, judged: Callable[[str], RunResult]
) -> None:
    finding = judged(name).checks[0].finding
    assert finding is not None
    assert (finding.facts["error_type"], finding.facts["file"]) == (error_type, "submission.py")
    assert finding.facts["line"] == line


@pytest.mark.parametrize(
    ("name", "check", "words"),
    [
        ("49-block-adds-in-place", "inputs_unchanged", "changed its argument x; work on a copy"),
        ("53-softmax-changes-its-input", "inputs_unchanged", "changed its argument x"),
        ("55-int-inputs-true-divide", "int_inputs", "case int_inputs: UFuncTypeError: Cannot cast"),
        ("75-returns-output-only", "weights", "weights is missing: the function returned 1 result"),
        ("77-extra-leading-axis", "heads_4d", "has shape [1, 2, 3, 5, 7], expected [2, 3, 5, 7]"),
        ("89-mixed-tabs-and-spaces", "loads", "tabs and spaces are mixed in front of a line"),
        (
            "97-sys-exit-at-import",
            "loads",
            "calls sys.exit() when it is loaded (submission.py, line 19)",
        ),
        ("99-exception-in-one-case", "heads_4d", "ValueError: too many values to unpack"),
        ("99-exception-in-one-case", "heads_4d", "given q [2, 3, 5, 7], k [2, 3, 5, 7]"),
        ("103-relative-file-read", "loads", "No such file or directory: 'weights.npy'"),
        ("105-recursion-over-keys", "long_sequence", "RecursionError: maximum recursion depth"),
    ],
)
def test_the_sentence_says_what_happened(
    name: str, check: str, words: str, judged: Callable[[str], RunResult]
) -> None:
    assert words in told(judged(name), check)


def test_what_is_printed_in_any_script_comes_back(judged: Callable[[str], RunResult]) -> None:
    printed = judged("93-prints-unicode").printed
    assert "q=(2, 5, 5)" in printed
    assert "?" not in printed
    assert not printed.isascii()


# Over HTTP


@pytest.fixture
def ask_all(ask: Ask, database: Sessions) -> TestClient:
    """A student of a course in which every problem of the folders is live."""
    with transaction(database) as session:
        for kind in PROBLEMS:
            problems.propose(session, version_of(kind), None, proven=True)
    return ask("student")


@pytest.mark.usefixtures("worker")
@pytest.mark.parametrize(
    "name",
    [
        "26-causal-as-additive-float",
        "31-cache-in-a-global",
        "70-half-precision-minus-1e9",
        "89-mixed-tabs-and-spaces",
        "91-gbk-with-coding-line",
        "110-notebook-with-magics",
    ],
)
def test_the_service_gives_the_same_verdict(name: str, shared: Path, ask_all: TestClient) -> None:
    folder = shared / "cases" / name
    case = case_of(folder)
    version = version_of(case["problem_kind"])
    answer = ask_all.post(
        f"/api/v1/problems/{version.problem.id}/submissions",
        files=[("file", (case["file"], (folder / case["file"]).read_bytes()))],
        params={"wait": 60},
    )
    assert answer.status_code == 200
    report = answer.json()
    failed = {c["id"]: c["outcome"] for c in report["checks"] if c["outcome"] != "passed"}
    ends, named = CODE[name]
    assert failed == stated(ends, failed)
    assert set(failed) in list(fair(case, version.problem))
    assert {known["id"] for known in report["misconceptions"]} == ({named} - {""})


# One number, written in many ways

TAKEN = ["0.125", ".125", "1/8", "1.25e-1", "0.1250", "+0.125", "０．１２５"]
WRONG = {"0.13": "wrong", "8": "wrong", "nan": "not_finite", "inf": "not_finite"}
ASKED_BACK = {
    "12.5%": "write 0.125, without a percent sign",
    "0,125": "write 0.125, with a decimal point",
    "0.125 or 0.25": "is not one number",
    "1e999": "is too large for a number",
    "__import__('os').getpid()": "is not one number",
    "9**9**9": "is not one number",
}
"""Forms that cost no attempt: nothing is guessed or evaluated, and one sentence says why."""


def test_every_form_of_a_number_has_its_verdict_here(shared: Path) -> None:
    lines = (shared / "cases/114-answer-number-forms/answers.txt").read_text("utf-8").splitlines()
    assert set(lines) == {*TAKEN, *WRONG, *ASKED_BACK}


def number(text: str) -> RunResult:
    problem = version_of("answer_numeric").problem
    return grade(problem, read_answers(problem, {"weight": text}), None, seed=7)  # type: ignore[arg-type]


@pytest.mark.parametrize("form", [*TAKEN, " 0.125 "])
def test_a_number_counts_in_every_usual_form(form: str) -> None:
    assert number(form).score == 1


@pytest.mark.parametrize(("form", "outcome"), WRONG.items())
def test_another_number_is_wrong(form: str, outcome: str) -> None:
    run = number(form)
    assert (run.score, run.checks[0].outcome) == (0, outcome)


@pytest.mark.parametrize(("form", "words"), ASKED_BACK.items())
def test_what_is_not_one_number_is_asked_back_and_never_evaluated(form: str, words: str) -> None:
    with pytest.raises(UnreadableSubmission, match=r"^field weight: ") as refusal:
        number(form)
    assert words in str(refusal.value)


@pytest.mark.usefixtures("worker")
def test_the_service_judges_the_forms_of_a_number_alike(ask_all: TestClient) -> None:
    def post(form: str) -> Any:
        path = "/api/v1/problems/one-eighth/submissions"
        return ask_all.post(path, json={"answers": {"weight": form}}, params={"wait": 60})

    assert post(TAKEN[-1]).json()["score"] == 1
    assert post("0.13").json()["score"] == 0
    for form in ("12.5%", "9**9**9"):
        refused = post(form)
        assert refused.status_code == 422
        assert ASKED_BACK[form] in refused.json()["detail"]


# Texts

ANSWERS = range(5)
"""Right in other words, every keyword denied, right in part, an order to the marker, nothing."""


@pytest.fixture
def texts(shared: Path) -> list[str]:
    """The answers of the folder, one on each line."""
    file = shared / "cases/116-answer-text-keywords-negated/answers.txt"
    lines = file.read_text("utf-8").splitlines()
    assert len(lines) == len(ANSWERS)
    return lines


def text_run(submission: Submission) -> RunResult:
    return grade(version_of("answer_text").problem, submission, None, seed=7)  # type: ignore[arg-type]


@pytest.mark.parametrize("number", ANSWERS)
def test_a_text_waits_for_a_person_whatever_words_stand_in_it(
    number: int, texts: list[str]
) -> None:
    problem = version_of("answer_text").problem
    run = text_run(read_answers(problem, {}, texts[number]))
    nothing = not texts[number]
    assert run.status == ("graded" if nothing else "needs_review")
    assert {c.outcome for c in run.checks} == {Outcome.NOT_DEFINED if nothing else Outcome.PENDING}
    assert run.score == 0
    assert not any(c.misconception for c in run.checks)


def test_a_file_with_a_text_waits_too(texts: list[str]) -> None:
    problem = version_of("answer_text").problem
    for text in texts[:-1]:
        run = text_run(read_files(problem, {"answer.txt": text.encode()}))
        assert (run.status, run.score) == ("needs_review", 0)
    assert text_run(read_files(problem, {"answer.txt": b"\n"})).score == 0


@pytest.mark.usefixtures("worker")
def test_the_service_shows_a_text_as_waiting(texts: list[str], ask_all: TestClient) -> None:
    path = "/api/v1/problems/why-scale/submissions"
    for text in texts[1], texts[3]:
        answer = ask_all.post(path, json={"text": text}, params={"wait": 60})
        report = answer.json()
        assert report["status"] == "needs_review"
        assert {check["outcome"] for check in report["checks"]} == {"pending"}
        assert report["score"] == 0
