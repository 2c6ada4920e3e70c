"""How a check can end: one word each, the same in rows, reports and exports."""

from enum import StrEnum


class Outcome(StrEnum):
    """The end of one check, or of one call in the sandbox."""

    PASSED = "passed"
    WRONG = "wrong"
    WRONG_SHAPE = "wrong_shape"
    WRONG_DTYPE = "wrong_dtype"  # the kind (bool, int, float); the width is free
    WRONG_TYPE = "wrong_type"  # not an array, a number or the agreed container
    NOT_FINITE = "not_finite"
    RAISED = "raised"
    TIMED_OUT = "timed_out"
    OUT_OF_MEMORY = "out_of_memory"
    OUTPUT_TOO_LARGE = "output_too_large"
    CRASHED = "crashed"  # ended without an answer: signal, exit, unreadable message
    NOT_DEFINED = "not_defined"
    LOAD_ERROR = "load_error"
    FORBIDDEN = "forbidden"
    NOT_RUN = "not_run"
    PENDING = "pending"  # waits for a person


VALUE_OUTCOMES = frozenset(
    {Outcome.WRONG, Outcome.WRONG_SHAPE, Outcome.WRONG_DTYPE, Outcome.NOT_FINITE}
)
"""The outcomes by which a known wrong answer counts as caught."""
