"""Problems: what a student may know of them, and publishing one."""

import re
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import JSONResponse
from starlette.concurrency import run_in_threadpool

from app import problems
from app.api.answers import (
    AssignmentList,
    AssignmentSummary,
    CheckSummary,
    EntryDetails,
    FieldDetails,
    LimitsDetails,
    ParameterDetails,
    ProblemDetails,
    ProblemList,
    ProblemSummary,
    ProposedProblem,
)
from app.api.errors import errors
from app.api.upload import WrongMediaType, media_type
from app.catalogue.problem_file import read_problem
from app.db import Sessions, snapshot, transaction
from app.domain.answers import ChoiceField, ExpressionField, Field, MatrixField, ShapeField
from app.domain.problem import (
    CodeProblem,
    Entry,
    Parameter,
    TextProblem,
    questions_of,
    written_entries,
)
from app.domain.problem import Problem as Content
from app.domain.report import in_language
from app.domain.words import Language
from app.errors import NotFound, Place, ProblemFileError
from app.http import access
from app.http.access import Configuration, Database
from app.http.changes import WatchedChanges
from app.http.language import InLanguage
from app.models import Person, Problem, Version
from app.problems import ProblemView

router = APIRouter(tags=["problems"])

YAML = ("application/yaml", "application/x-yaml", "text/yaml", "text/x-yaml")
PROOF_S = 60.0
SYMBOLIC = (ShapeField, ExpressionField)
ID = "[A-Za-z0-9-]{1,100}"
UNPROVEN = "Not proven in time; send it again to wait for it again."


@router.get("/assignments", response_model=AssignmentList, responses=errors())
def list_assignments(
    viewer: access.Student, database: Database, language: InLanguage
) -> AssignmentList:
    """The assignments of your courses, each with its problems."""
    with snapshot(database) as session:
        views = problems.visible(session, viewer)
        return AssignmentList(
            items=[
                AssignmentSummary(
                    id=view.row.slug,
                    title=str(view.row.title[language]),
                    problems=[_summary(problem, language) for problem in view.problems],
                )
                for view in views
            ]
        )


@router.get("/problems", response_model=ProblemList, responses=errors())
def list_problems(viewer: access.Student, database: Database, language: InLanguage) -> ProblemList:
    """The problems of your courses."""
    with snapshot(database) as session:
        views = problems.visible(session, viewer)
        found = [_summary(problem, language) for view in views for problem in view.problems]
        return ProblemList(items=found)


@router.get("/problems/{problem_id}", response_model=ProblemDetails, responses=errors(404))
def get_problem(
    problem_id: str,
    viewer: access.Student,
    database: Database,
    settings: Configuration,
    language: InLanguage,
) -> ProblemDetails:
    """Statement, signature and limits of a problem."""
    return _found(database, viewer, problem_id, settings.upload_limit, language)


@router.put(
    "/problems/{problem_id}",
    response_model=ProblemDetails,
    responses={
        **errors(413, 415),
        201: {"description": "Proven, and now served for the first time.", "model": ProblemDetails},
        202: {
            "description": UNPROVEN,
            "model": ProposedProblem,
        },
    },
    openapi_extra={
        "requestBody": {
            "required": True,
            "content": {YAML[0]: {"schema": {"type": "string", "format": "binary"}}},
        }
    },
)
async def put_problem(
    problem_id: str,
    request: Request,
    viewer: access.Assistant,
    database: Database,
    settings: Configuration,
    changes: WatchedChanges,
    language: InLanguage,
    assignment: Annotated[
        str, Query(pattern="^[a-z0-9][a-z0-9-]{0,63}$", description="Folder of a new problem.")
    ] = "uploaded",
) -> Response:
    """Publish a problem file. A worker proves it first: every accepted answer must pass and every
    known wrong answer must be caught. 422 says where the file is wrong, or which wrong answer
    survives; what was served before is still served then."""
    kind = media_type(request)
    if kind not in YAML:
        raise WrongMediaType(kind, YAML[0])
    yaml = await request.body()
    version, is_new = await run_in_threadpool(
        _propose, database, viewer, problem_id, assignment, yaml
    )
    await changes.reached(problems.states, version.id, ("live", "refused"), PROOF_S)
    version = await run_in_threadpool(_version, database, version.id)
    if version.state == "proving":
        waiting = ProposedProblem(id=problem_id, version=version.name, state="proving")
        return JSONResponse(waiting.model_dump(), 202)
    if version.state == "refused":
        raise ProblemFileError([Place(version.path, **place) for place in version.errors])
    details = await run_in_threadpool(
        _found, database, viewer, problem_id, settings.upload_limit, language
    )
    return JSONResponse(details.model_dump(), 201 if is_new else 200)


def _propose(
    database: Sessions, viewer: Person, problem_id: str, assignment: str, yaml: bytes
) -> tuple[Version, bool]:
    """The version to be proven, and whether the problem is new."""
    path = _path(database, viewer, problem_id)
    found = read_problem(Path(path or f"{assignment}/{problem_id}.yaml"), yaml)
    with transaction(database) as session:
        return problems.propose(session, found, viewer), path is None


def _path(database: Sessions, viewer: Person, problem_id: str) -> str | None:
    """Where the problem lies that is served under this id."""
    if not re.fullmatch(ID, problem_id):
        raise NotFound(f"no problem can be called {problem_id!r}; expected letters, digits and -")
    with snapshot(database) as session:
        try:
            return problems.find(session, viewer, problem_id).version.path
        except NotFound:
            return None


def _version(database: Sessions, version_id: str) -> Version:
    with snapshot(database) as session:
        return problems.version(session, version_id)


def _found(
    database: Sessions, viewer: Person, problem_id: str, upload_limit: int, language: Language
) -> ProblemDetails:
    with snapshot(database) as session:
        return problem_details(problems.find(session, viewer, problem_id), upload_limit, language)


def _summary(problem: Problem, language: Language) -> ProblemSummary:
    version = problem.current_version
    title = str(version.title[language])
    return ProblemSummary(id=problem.id, title=title, kind=version.kind, points=version.points)


def problem_details(view: ProblemView, upload_limit: int, language: Language) -> ProblemDetails:
    """What a student may know: named one by one, so that nothing new in the file leaks."""
    content = view.content
    limits = content.limits
    return ProblemDetails(
        id=content.id,
        title=in_language(content.title, language),
        kind=content.kind,
        points=content.points,
        assignment=view.row.assignment.slug,
        version=view.version.name,
        section=content.section,
        source=content.source,
        statement=in_language(content.statement, language),
        checks=[
            CheckSummary(id=each.id, points=each.points, hidden=each.hidden)
            for each in questions_of(content)
        ],
        limits=LimitsDetails(
            wall_s=limits.wall_s,
            case_s=limits.case_s,
            memory_mb=limits.memory_mb,
            upload_bytes=upload_limit,
        ),
        **_signature(content, language),
    )


def _signature(content: Content, language: Language) -> dict[str, Any]:
    if not isinstance(content, CodeProblem):
        fields = [_field(n, f, language) for n, f in content.fields.items()]
        longest = content.max_chars if isinstance(content, TextProblem) else None
        return {"fields": fields, "max_chars": longest}
    entries = [_entry(name, entry) for name, entry in written_entries(content).items()]
    return {**dict(entries[0]), "entries": entries, "starter": content.starter}


def _entry(name: str, entry: Entry) -> EntryDetails:
    return EntryDetails(
        entry=name,
        parameters=[_parameter(n, p) for n, p in entry.parameters.items()],
        returns=[_parameter(n, p) for n, p in entry.returns.items()],
        call_by=entry.call_by,
    )


def _parameter(name: str, parameter: Parameter) -> ParameterDetails:
    return ParameterDetails(
        name=name,
        shape=list(parameter.shape),
        dtype=parameter.dtype,
        true_means=parameter.true_means,
        optional=parameter.optional,
        repeat=parameter.repeat,
        members=[_parameter(n, p) for n, p in parameter.members.items()],
        function=parameter.function,
    )


def _field(name: str, field: Field, language: Language) -> FieldDetails:
    return FieldDetails(
        name=name,
        type=field.type,
        label=(field.label or {}).get(language, name),
        shape=list(field.shape) if isinstance(field, MatrixField) else None,
        names=list(field.allowed_names) if isinstance(field, SYMBOLIC) else None,
        choices=list(field.choices) if isinstance(field, ChoiceField) else None,
    )
