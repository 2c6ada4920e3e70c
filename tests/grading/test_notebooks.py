"""Notebooks are graded like files, and their remarks stand in the report in both languages."""

import json
from importlib.resources import files

import pytest

from app.domain.outcome import Outcome
from app.domain.report import report_of
from app.domain.report_text import report_text
from app.domain.submission import Submission
from app.domain.words import LANGUAGES
from app.grading.grade import grade

RIGHT = """
def masked_attention(Q, K, V, visible):
    s = np.where(visible, Q @ K.T / np.sqrt(Q.shape[-1]), -np.inf)
    top = s.max(axis=-1, keepdims=True)
    e = np.exp(s - np.where(np.isfinite(top), top, 0))
    total = e.sum(axis=-1, keepdims=True)
    A = e / np.where(total == 0, 1, total)
    return A, A @ V
"""
AFTER_SOFTMAX = (files("app.demo") / "mask_after_softmax.py").read_text()
PLOTS = "%matplotlib inline\nimport heldout_plots as plt\nimport numpy as np"


def notebook(*cells: str) -> bytes:
    made = [{"cell_type": "code", "metadata": {}, "source": cell} for cell in cells]
    return json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": made}).encode()


@pytest.fixture
def sent(masked, sandbox):
    """The run of a notebook, with the report of it for a student in a language."""

    def run(*cells, language="en", problem=masked):
        work = Submission(files={"hw.ipynb": notebook(*cells)})
        result = grade(problem, work, sandbox, seed=7)
        return result, report_of(problem, "v", result, language=language, viewer="student")

    return run


def test_a_notebook_with_plots_and_magics_gets_full_marks_and_is_told_what_was_skipped(sent):
    run, report = sent(PLOTS, "%%bash\necho", RIGHT, "plt.show()")
    assert run.score == 10
    assert [(r.kind, r.file, r.cell, r.line, r.text) for r in report.remarks] == [
        ("left_out", "hw.ipynb", 1, 1, "%matplotlib inline"),
        ("statement_failed", "hw.ipynb", 1, 2, NO_PLOTS),
        ("cell_left_out", "hw.ipynb", 2, 1, "%%bash"),
        ("statement_failed", "hw.ipynb", 4, 1, "NameError: name 'plt' is not defined"),
    ]


NO_PLOTS = "ModuleNotFoundError: No module named 'heldout_plots'"


def test_a_known_wrong_answer_in_a_notebook_is_named(sent):
    run, _ = sent(PLOTS, AFTER_SOFTMAX)
    assert "mask_after_softmax" in {check.misconception for check in run.checks}


def test_a_function_that_is_missing_stands_beside_the_cell_that_lost_it(sent):
    run, report = sent(PLOTS, RIGHT.replace("):", ")", 1))
    assert {check.outcome for check in run.checks} == {Outcome.NOT_DEFINED}
    (lost,) = [remark for remark in report.remarks if remark.kind == "cell_failed"]
    assert lost.message == (
        "hw.ipynb, cell 2, line 2: this cell is not Python and was skipped: "
        "SyntaxError: expected ':'"
    )


def test_an_exception_is_told_with_its_cell_in_both_languages(sent):
    cells = (PLOTS, "def masked_attention(Q, K, V, visible):\n    raise ValueError('no')")
    places = {"en": "(hw.ipynb, cell 2, line 2)", "zh": "（hw.ipynb 第 2 个单元格第 2 行）"}
    for language, place in places.items():
        _, report = sent(*cells, language=language)
        fixed = report.checks[0]
        assert place in fixed.message


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_remark_has_words_and_stands_in_the_text_of_80_columns(language, sent):
    evil = "!echo \x1b[31m\u202e" + "x" * 300
    run, report = sent(PLOTS, RIGHT, "x = (", evil, "%%html\n<b>", language=language)
    assert run.score == 10
    text = report_text(report, language)
    assert all(len(line) <= 80 for line in text.splitlines())
    assert "\x1b" not in text
    assert "\u202e" not in text
    for remark in report.remarks:
        assert remark.text in remark.message
        assert "hw.ipynb" in remark.message
    heading = {"en": "When your files were loaded:", "zh": "加载文件时的说明："}[language]
    assert heading in text.splitlines()


def test_a_notebook_without_remarks_says_nothing_of_them(sent):
    run, report = sent("import numpy as np", RIGHT)
    assert (run.score, report.remarks) == (10, [])
    assert "loaded" not in report_text(report, "en")


def test_remarks_of_checks_that_load_the_file_again_come_once(by_seeds, sent):
    run, _ = sent("%who\ndef f(x): return x / x.sum()", problem=by_seeds)
    assert [remark.text for remark in run.remarks] == ["%who"]


@pytest.fixture(scope="module")
def by_seeds(problem_of):
    return problem_of(
        """
        id: p
        kind: code
        title: {en: Shares, zh: 占比}
        section: "3.1"
        source: written for the tests
        points: 3
        statement: {en: Without fractions., zh: 不用 fractions。}
        entry: f
        parameters: {x: {shape: [n]}}
        returns: {y: {shape: [n]}}
        starter: "def f(x): ..."
        solution: "def f(x): return x / x.sum()"
        cases: {a: {x: [1, 3, 7]}}
        checks:
          - {id: values, kind: values, cases: [a], points: 1, isolate: true}
          - {id: steady, kind: repeatable, across: seeds, cases: [a], points: 1}
          - {id: own, kind: static, forbid_names: [fsum], forbid_imports: [fractions], points: 1}
        """
    )


def test_code_that_exits_when_it_is_loaded_is_told_so_in_both_languages(masked, graded):
    run = graded(masked, b"import sys\nsys.exit(0)\n")
    assert {check.outcome for check in run.checks} == {Outcome.LOAD_ERROR}
    said = {
        language: report_of(masked, "v", run, language=language).checks[0].message
        for language in LANGUAGES
    }
    assert said["en"].startswith("your file calls sys.exit() when it is loaded (work.py, line 2)")
    assert said["zh"].startswith("你的文件在加载时调用了 sys.exit()（work.py 第 2 行）")
