"""All pages, and the page that tells an error."""

from fastapi import APIRouter, Request, Response

from app.http.errors import ErrorDetails
from app.web import (
    assets,
    assignments,
    problem,
    problem_files,
    sign_in,
    submission,
    submission_list,
    switches,
)
from app.web.page import bare_page, open_page

router = APIRouter()
for _part in (
    assets,
    switches,
    sign_in,
    assignments,
    problem,
    submission_list,
    submission,
    problem_files,
):
    router.include_router(_part.router)


def error_page(request: Request, details: ErrorDetails) -> Response:
    """One error as a page. Who is signed out is told how to come in."""
    # Our own failure may be the database's: nothing is asked of it then.
    page = bare_page(request) if details.status >= 500 else open_page(request)
    template = "signed_out.html" if details.status == 401 else "error.html"
    return page.show(template, details.status, error=details)
