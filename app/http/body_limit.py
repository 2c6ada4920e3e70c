"""A limit on the size of request bodies, checked before anything reads them."""

from fastapi.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.errors import ToldError
from app.http.errors import ErrorPage, error_answer, error_details
from app.http.language import preferred_language


class BodyLimit:
    """Refuses bodies of more than ``limit`` bytes: by their announced length before a byte is
    read, and without an announcement as soon as the limit is passed."""

    def __init__(self, app: ASGIApp, limit: int, page: ErrorPage | None = None) -> None:
        self.app = app
        self.limit = limit
        self.page = page

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serves one request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        request = Request(scope)
        announced = request.headers.get("content-length", "0")
        if announced.isdecimal() and int(announced) > self.limit:
            refusal = await run_in_threadpool(self._refuse, request, int(announced))
            await refusal(scope, receive, send)
            return
        await self.app(scope, self._counted(request, receive), send)

    def _counted(self, request: Request, receive: Receive) -> Receive:
        received = 0

        async def counting() -> Message:
            nonlocal received
            message = await receive()
            received += len(message.get("body", b""))
            if received > self.limit:
                # The framework passes on no other exception from here.
                limit = self.limit
                sentence = self._sentence(request, f"more than {limit}", f"超过 {limit}")
                raise HTTPException(413, sentence)
            return message

        return counting

    def _refuse(self, request: Request, size: int) -> Response:
        details = error_details(413, self._sentence(request, str(size), f"有 {size}"))
        # The rest of the body is not read, so this connection cannot be used again.
        return error_answer(self.page, request, details, {"Connection": "close"})

    def _sentence(self, request: Request, english: str, chinese: str) -> str:
        error = ToldError(
            f"the request has {english} bytes; at most {self.limit} are taken (a notebook is "
            "smaller once its outputs are cleared)",
            f"请求{chinese} 字节；最多接受 {self.limit} 字节（notebook 清除输出后会变小）",
        )
        return error.told(preferred_language(request.headers.get("accept-language", "")))
