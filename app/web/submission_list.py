"""Lists of submissions: a student's own, and for staff those of the course."""

from urllib.parse import urlencode

from fastapi import APIRouter
from fastapi.responses import HTMLResponse

from app import people, problems, submissions
from app.db import snapshot
from app.http.access import Database, Student
from app.web.page import OwnPage
from app.web.words import STATUSES

router = APIRouter(include_in_schema=False)


@router.get("/submissions")
def submission_list(
    viewer: Student,
    page: OwnPage,
    database: Database,
    problem: str = "",
    student: str = "",
    status: str = "",
    cursor: str = "",
) -> HTMLResponse:
    """One page of submissions, newest first, with the filters that are set."""
    filters = {"problem": problem, "student": student.strip(), "status": status}
    wanted = {name: value for name, value in filters.items() if value}
    with snapshot(database) as session:
        found = submissions.page(
            session,
            viewer,
            problem=wanted.get("problem"),
            student=wanted.get("student"),
            status=wanted.get("status"),
            cursor=cursor or None,
        )
        assignments = problems.visible(session, viewer)
        students = people.students(session, viewer) if page.is_staff else []
    older = urlencode({**wanted, "cursor": found.next}) if found.next else None
    return page.show(
        "submissions.html",
        lines=found.lines,
        older=older,
        newest=urlencode(wanted) if cursor else None,
        filters=filters,
        problems={p.id: p.current_version for a in assignments for p in a.problems},
        students=students,
        statuses=STATUSES,
    )
