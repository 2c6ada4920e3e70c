"""Our own failures. A student's failure is a value (``domain.outcome``), never one of these.

AttestError                    one sentence for a person; exit code 2
├── ProblemFileError           a problem file that cannot be used, with line and column
├── UnknownProblem             no problem of that id, no file of that name
├── UnreadableSubmission       a file or answer that cannot be taken in at all (422)
├── SubmissionTooLarge         over the upload limit (413)
├── NotFound                   nothing of that id, or not the asker's (404)
├── Forbidden                  the asker's role does not allow it (403)
├── InvalidRequest             a value that is impossible, or a reused idempotency key (422)
├── Outdated                   a change of something that has changed since it was read (412)
├── Unconditional              a change that does not say what it is a change of (428)
├── DatabaseUnfit              a database that this program cannot use
├── AlreadyRunning             another process holds the lock
└── SandboxUnavailable         this host cannot isolate, or a slot was lost (retry)
"""

from dataclasses import dataclass


class ToldError(Exception):
    """An error that is one sentence for a person, in English and where it may be in Chinese."""

    def __init__(self, english: str, chinese: str = "") -> None:
        super().__init__(english)
        self.chinese = chinese or english

    def told(self, language: str) -> str:
        """The sentence in that language ("en" or "zh")."""
        return self.chinese if language == "zh" else str(self)


class AttestError(ToldError):
    """A failure of ours or of the caller's, told in one sentence.

    ``status`` is the HTTP status of the answer that carries it; ``retry`` says whether the same
    call may succeed later without a change.
    """

    status = 500
    retry = False


@dataclass(frozen=True, slots=True)
class Place:
    """Where in a file something is wrong; line and column count from 1."""

    path: str
    line: int
    column: int
    message: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}:{self.column}: {self.message}"


class ProblemFileError(AttestError):
    """A problem file that cannot be used; ``places`` holds every finding, in file order."""

    status = 422

    def __init__(self, places: list[Place]) -> None:
        self.places = places
        super().__init__("\n".join(map(str, places)))


class UnknownProblem(AttestError):
    """No problem of that id and no file of that name."""

    status = 404


class UnreadableSubmission(AttestError):
    """A submission that cannot be taken in: unknown field, unreadable value, broken archive."""

    status = 422


class SubmissionTooLarge(AttestError):
    """A submission over the upload limit."""

    status = 413


class SandboxUnavailable(AttestError):
    """This host cannot isolate at the level asked for, or a sandbox slot was lost."""

    status = 503
    retry = True


class NotFound(AttestError):
    """Nothing of that id, or nothing that the asker may know of."""

    status = 404


class Forbidden(AttestError):
    """The asker's role does not allow it."""

    status = 403


class InvalidRequest(AttestError):
    """A request that says something impossible: a value out of range, a reused key."""

    status = 422


class Outdated(AttestError):
    """A change of something that somebody else changed after the asker had read it."""

    status = 412


class Unconditional(AttestError):
    """A change that does not say which state of a thing it is meant for."""

    status = 428


class DatabaseUnfit(AttestError):
    """A database of another version, on a network file system, or of a kind we do not speak."""

    status = 503


class AlreadyRunning(AttestError):
    """Another process holds the lock of this data folder."""

    status = 503
