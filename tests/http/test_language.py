"""The language of an answer."""

import pytest

from app.http.language import preferred_language


@pytest.mark.parametrize(
    ("header", "language"),
    [
        ("", "en"),
        ("zh", "zh"),
        ("zh-CN,zh;q=0.9,en;q=0.8", "zh"),
        ("ZH-hans", "zh"),
        ("en-GB,zh;q=0.9", "en"),
        ("en;q=0.1, zh;q=0.2", "zh"),
        ("fr, zh;q=0.5", "zh"),
        ("fr, de", "en"),
        ("zh;q=0, en;q=0.1", "en"),
        ("zha", "en"),
        ("zh;q=x, en", "en"),
        ("*;q=nan;;,,", "en"),
    ],
)
def test_the_first_wish_that_we_speak_is_met(header: str, language: str) -> None:
    assert preferred_language(header) == language
