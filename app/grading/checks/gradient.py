"""Gradients against the expected ones, within a tolerance of the largest entry of each.

An entry of a gradient is a sum that can cancel to almost nothing, so its own size says little
about how exactly it can be computed; the size of the whole array does.
"""

import dataclasses

import numpy as np

from app.domain.checks import GradientCheck
from app.grading.compare import Array, Question, Verdict, compare
from app.grading.trial import Trial, first_wrong


def judge(check: GradientCheck, trial: Trial) -> Verdict | None:
    def of_gradient(student: Array, expected: Array, question: Question) -> Verdict | None:
        largest = float(np.abs(expected).max(initial=0.0))
        atol = question.atol + question.rtol * largest
        return compare(student, expected, dataclasses.replace(question, atol=atol, rtol=0.0))

    return first_wrong(check, trial, of_gradient)
