"""Files that pages load: our style sheet and script, htmx, and the colours of code."""

import hashlib
from functools import lru_cache
from importlib.resources import files

from fastapi import APIRouter, Response
from fastapi.responses import FileResponse
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

from app.http.access import Public
from app.web.code import style_sheet

FOREVER = {"Cache-Control": "public, max-age=31536000, immutable"}
FOLDERS = {"htmx/": ("js_lib_htmx", "static/htmx"), "": ("app.web", "static")}
CODE = "code.css"
ICON = "favicon.svg"


class _Folder(StaticFiles):
    """Files of a package, to be kept by browsers: another content has another address."""

    async def get_response(self, path: str, scope: Scope) -> Response:
        response = await super().get_response(path, scope)
        response.headers.update(FOREVER)
        return response


router = APIRouter(include_in_schema=False)


@router.get(f"/static/{CODE}", dependencies=[Public])
async def code_colours() -> Response:
    """The colours of highlighted code."""
    return Response(style_sheet(), headers=FOREVER, media_type="text/css")


@router.get("/favicon.ico", dependencies=[Public])
async def favicon() -> Response:
    """For browsers that ask for it unasked."""
    return FileResponse(str(files("app.web") / "static" / ICON), media_type="image/svg+xml")


for _prefix, _package in FOLDERS.items():
    router.mount(f"/static/{_prefix}".rstrip("/"), _Folder(packages=[_package]))


@lru_cache
def asset(name: str) -> str:
    """The address of a file, such as "attest.css" or "htmx/htmx.min.js"."""
    digest = hashlib.sha256(_content(name)).hexdigest()
    return f"/static/{name}?{digest[:16]}"


def _content(name: str) -> bytes:
    if name == CODE:
        return style_sheet().encode()
    prefix = next(prefix for prefix in FOLDERS if name.startswith(prefix))
    package, folder = FOLDERS[prefix]
    return (files(package) / folder / name.removeprefix(prefix)).read_bytes()
