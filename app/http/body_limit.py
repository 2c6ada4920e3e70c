"""A limit on the size of request bodies, checked before anything reads them."""

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.http.errors import ErrorResponse, error_details


class BodyLimit:
    """Refuses bodies of more than ``limit`` bytes: by their announced length before a byte is
    read, and without an announcement as soon as the limit is passed."""

    def __init__(self, app: ASGIApp, limit: int) -> None:
        self.app = app
        self.limit = limit

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serves one request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        announced = Headers(scope=scope).get("content-length", "0")
        if announced.isdecimal() and int(announced) > self.limit:
            await self._refuse(int(announced))(scope, receive, send)
            return
        await self.app(scope, self._counted(receive), send)

    def _counted(self, receive: Receive) -> Receive:
        received = 0

        async def counting() -> Message:
            nonlocal received
            message = await receive()
            received += len(message.get("body", b""))
            if received > self.limit:
                # The framework passes on no other exception from here.
                raise HTTPException(413, self._sentence(f"more than {self.limit}"))
            return message

        return counting

    def _refuse(self, size: int) -> ErrorResponse:
        # The rest of the body is not read, so this connection cannot be used again.
        return ErrorResponse(error_details(413, self._sentence(str(size))), {"Connection": "close"})

    def _sentence(self, size: str) -> str:
        return (
            f"the request has {size} bytes; at most {self.limit} are taken (a notebook is smaller "
            "once its outputs are cleared)"
        )
