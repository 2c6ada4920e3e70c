"""The rows: one noun for each module. They are the truth; everything else can be lost."""

from app.models.audit import Entry
from app.models.base import Base
from app.models.jobs import Job
from app.models.overrides import Override
from app.models.people import Course, Enrolment, Person, SignInLink, Token, WebSession
from app.models.problems import Assignment, Problem, ProblemFile, Version
from app.models.runs import Result, Run
from app.models.submissions import IdempotencyKey, Submission, SubmissionFile
from app.models.workers import Worker

__all__ = [
    "Assignment",
    "Base",
    "Course",
    "Enrolment",
    "Entry",
    "IdempotencyKey",
    "Job",
    "Override",
    "Person",
    "Problem",
    "ProblemFile",
    "Result",
    "Run",
    "SignInLink",
    "Submission",
    "SubmissionFile",
    "Token",
    "Version",
    "WebSession",
    "Worker",
]
