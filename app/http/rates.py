"""How often one token, session or student may ask."""

import math
import time

from limits import RateLimitItem, RateLimitItemPerMinute
from limits.storage import MemoryStorage
from limits.strategies import MovingWindowRateLimiter

from app.errors import AttestError
from app.settings import RateSettings


class TooManyRequests(AttestError):
    """Over a rate limit; ``headers`` say when the next try is possible."""

    status = 429
    retry = True

    def __init__(self, what: str, limit: int, seconds: int) -> None:
        self.headers = {"Retry-After": str(seconds)}
        super().__init__(f"at most {limit} {what} a minute are taken; try again in {seconds} s")


class Rates:
    """Counts requests in this process, over the last minute."""

    def __init__(self, settings: RateSettings) -> None:
        self._requests = RateLimitItemPerMinute(settings.requests)
        self._posts = RateLimitItemPerMinute(settings.posts)
        self._window = MovingWindowRateLimiter(MemoryStorage())

    def count_request(self, key: str) -> None:
        """Counts one request with this token or session. Raises TooManyRequests."""
        self._count(self._requests, "requests", "request", key)

    def count_post(self, person_id: str, problem_id: str) -> None:
        """Counts one post of a student to a problem. Raises TooManyRequests."""
        self._count(self._posts, "submissions to one problem", "post", person_id, problem_id)

    def _count(self, limit: RateLimitItem, what: str, *key: str) -> None:
        if self._window.hit(limit, *key):
            return
        reset = self._window.get_window_stats(limit, *key).reset_time
        seconds = math.floor(reset - time.time()) + 1
        raise TooManyRequests(what, limit.amount, seconds)
