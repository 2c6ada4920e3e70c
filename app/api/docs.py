"""The page that shows the interface's description, without anything from another site."""

import base64
import hashlib
import re
from importlib.resources import files

from fastapi import APIRouter, FastAPI
from fastapi.openapi.docs import get_swagger_ui_html
from fastapi.responses import HTMLResponse
from fastapi.staticfiles import StaticFiles

from app.http.access import Public
from app.http.errors import ErrorDetails
from app.http.headers import CONTENT_SECURITY_POLICY

ASSETS = "/docs/assets"

router = APIRouter(dependencies=[Public], include_in_schema=False)


def add_docs(app: FastAPI) -> None:
    """Serves ``/docs`` and ``/openapi.json``; the latter also describes errors."""
    app.mount(ASSETS, StaticFiles(directory=str(files("fastapi_offline") / "static")))
    app.include_router(router)
    describe = app.openapi

    def with_errors() -> dict[str, object]:
        described = describe()
        schemas = described["components"]["schemas"]
        if ErrorDetails.__name__ not in schemas:
            schema = ErrorDetails.model_json_schema(ref_template="#/components/schemas/{model}")
            schemas.update(schema.pop("$defs"))
            schemas[ErrorDetails.__name__] = schema
        return described

    app.openapi = with_errors  # type: ignore[method-assign]


@router.get("/docs")
async def docs() -> HTMLResponse:
    """The description as a page that can be tried out."""
    return HTMLResponse(PAGE, headers={"Content-Security-Policy": POLICY})


def _page() -> str:
    made = get_swagger_ui_html(
        openapi_url="/openapi.json",
        title="Attest",
        swagger_js_url=f"{ASSETS}/swagger-ui-bundle.js",
        swagger_css_url=f"{ASSETS}/swagger-ui.css",
        swagger_favicon_url=f"{ASSETS}/favicon.png",
    )
    return bytes(made.body).decode()


def _policy(page: str) -> str:
    """The strict policy, opened for the page's own script and what its library draws with."""
    (script,) = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return (
        CONTENT_SECURITY_POLICY.replace("script-src 'self'", f"script-src 'self' 'sha256-{digest}'")
        .replace("style-src 'self'", "style-src 'self' 'unsafe-inline'")
        .replace("img-src 'self'", "img-src 'self' data:")
    )


PAGE = _page()
POLICY = _policy(PAGE)
