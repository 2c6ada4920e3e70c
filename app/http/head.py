"""HEAD: what GET would answer, without the body."""

from starlette.types import ASGIApp, Receive, Scope, Send


class HeadAsGet:
    """Answers HEAD wherever there is a GET. The server leaves the body out, since it still knows
    what was asked."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serves one request."""
        if scope["type"] == "http" and scope["method"] == "HEAD":
            scope = {**scope, "method": "GET"}
        await self.app(scope, receive, send)
