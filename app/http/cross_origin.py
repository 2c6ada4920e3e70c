"""Writes that a browser sends with our cookie must come from our own pages."""

from asgi_cross_origin_protection import CrossOriginProtection
from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Receive, Scope, Send

from app.http.errors import ErrorResponse, error_details

REFUSAL = "this request came from another site; send it from our pages, or with a token"


class OwnOrigin:
    """Lets requests with a token through (a browser never adds one by itself) and refuses writes
    from other origins. With our cookie the origin must also be told; without, there is nothing
    to misuse, and the answer is the same 401 as for anybody."""

    def __init__(self, app: ASGIApp, cookie: str) -> None:
        self.app = app
        self.cookie = cookie
        deny = ErrorResponse(error_details(403, REFUSAL))
        self.strict = CrossOriginProtection(app, deny_app=deny, allow_unverifiable_requests=False)
        self.lenient = CrossOriginProtection(app, deny_app=deny)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serves one request."""
        await self._choice(scope)(scope, receive, send)

    def _choice(self, scope: Scope) -> ASGIApp:
        if scope["type"] != "http":
            return self.app
        request = HTTPConnection(scope)
        if "authorization" in request.headers:
            return self.app
        return self.strict if self.cookie in request.cookies else self.lenient
