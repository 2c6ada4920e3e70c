"""How often one may ask, and when again."""

import pytest
import time_machine

from app.http.rates import Rates, TooManyRequests
from app.settings import RateSettings, Settings
from tests.conftest import PROBLEMS, Ask

POST = "/api/v1/problems/{}/submissions"


@pytest.fixture
def settings(tmp_path) -> Settings:
    """Small limits."""
    rates = RateSettings(requests=7, posts=3)
    return Settings(data=tmp_path / "data", problems=PROBLEMS, rates=rates)


def test_requests_are_counted_by_token(ask: Ask) -> None:
    first, second = ask("student"), ask("student")
    statuses = [first.get("/api/v1/problems").status_code for _ in range(8)]
    assert statuses == [200] * 7 + [429]
    assert second.get("/api/v1/problems").status_code == 200
    refused = first.get("/api/v1/problems")
    assert 1 <= int(refused.headers["retry-after"]) <= 60
    assert refused.headers["content-type"] == "application/problem+json"
    assert "7 requests a minute" in refused.json()["detail"]


def test_posts_are_counted_by_student_and_problem(ask: Ask) -> None:
    def post(who: str, problem: str) -> int:
        return ask(who).post(POST.format(problem), json={"answers": {}}).status_code

    assert [post("student", "s34-a1-masked") for _ in range(4)] == [202, 202, 202, 429]
    assert post("student", "s33-masked-attention") == 422
    assert post("classmate", "s34-a1-masked") == 202


def test_the_default_limits_are_those_of_the_contract() -> None:
    assert RateSettings() == RateSettings(requests=120, posts=30)


def test_after_the_told_time_the_next_request_is_taken() -> None:
    with time_machine.travel(1_000_000_000, tick=False) as clock:
        rates = Rates(RateSettings(requests=2, posts=1))
        rates.count_request("a")
        clock.shift(20)
        rates.count_request("a")
        with pytest.raises(TooManyRequests) as refused:
            rates.count_request("a")
        seconds = int(refused.value.headers["Retry-After"])
        assert 39 <= seconds <= 41
        clock.shift(seconds)
        rates.count_request("a")
