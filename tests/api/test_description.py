"""The description of the interface: committed, complete, and shown without another site."""

import json
import re
from pathlib import Path

from tests.conftest import Ask

COMMITTED = Path(__file__).resolve().parents[2] / "docs" / "openapi.json"


def described(ask: Ask) -> dict[str, object]:
    return ask(None).get("/openapi.json").json()


def test_the_committed_description_is_the_one_that_is_served(ask: Ask) -> None:
    """After a change that is meant: ``python -m tests.api.test_description``."""
    assert json.loads(COMMITTED.read_text()) == described(ask)


def test_every_call_is_named_and_tells_its_errors(ask: Ask) -> None:
    names = []
    for path, calls in described(ask)["paths"].items():
        for call in calls.values():
            names.append(call["operationId"])
            if path.startswith("/api/"):
                assert {"401", "403", "429"} <= call["responses"].keys()
                assert call["security"]
            for status, answer in call["responses"].items():
                if status >= "400" and path.startswith("/api/"):
                    assert list(answer["content"]) == ["application/problem+json"], (path, status)
    assert len(names) == len(set(names)) >= 12


def test_every_reference_in_the_description_is_defined(ask: Ask) -> None:
    text = json.dumps(described(ask))
    wanted = set(re.findall(r"#/components/schemas/(\w+)", text))
    assert wanted <= described(ask)["components"]["schemas"].keys()


def test_the_page_of_the_description_loads_nothing_from_another_site(ask: Ask) -> None:
    nobody = ask(None)
    page = nobody.get("/docs")
    assert page.status_code == 200
    links = re.findall(r'(?:src|href)="([^"]+)"', page.text)
    assert len(links) == 3
    for link in links:
        assert nobody.get(link).status_code == 200, link
    assert "http" not in page.headers["content-security-policy"]
    assert "'sha256-" in page.headers["content-security-policy"]


if __name__ == "__main__":
    from tempfile import TemporaryDirectory

    from app.main import create_app
    from app.settings import Settings

    with TemporaryDirectory() as folder:
        text = json.dumps(create_app(Settings(data=Path(folder))).openapi(), indent=1)
    COMMITTED.write_text(text + "\n")
