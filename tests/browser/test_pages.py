"""Every page in Chromium: both languages, both themes, narrow and wide."""

import json
from importlib.resources import files

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from tests.browser.conftest import Open, Service, Submit, Watch

pytestmark = pytest.mark.browser

WRONG = (files("app.demo") / "mask_after_softmax.py").read_text()
CELLS = [
    "%matplotlib inline\nimport heldout_plots",
    f"%%time\n{WRONG}",
    "x = (",
    "!ls " + "x" * 300,
]
NOTEBOOK = json.dumps({"cells": [{"cell_type": "code", "source": source} for source in CELLS]})
HOSTILE_NAME = "<img src=x onerror=alert(1)>.py"
HOSTILE = """
# </pre><script>alert('code')</script> \u202ereversed\u202c
def masked_attention(Q, K, V, visible):
    print("<script>alert('printed')</script>\\x1b[31m\\u202e")
    raise ValueError("<svg onload=alert('raised')>\\u202e\\ud800")
"""
LOOKS = [
    {"locale": "en-GB", "color_scheme": "light", "viewport": {"width": 1440, "height": 900}},
    {"locale": "zh-CN", "color_scheme": "dark", "viewport": {"width": 375, "height": 800}},
    {"locale": "en-GB", "color_scheme": "dark", "viewport": {"width": 375, "height": 800}},
    {"locale": "zh-CN", "color_scheme": "light", "viewport": {"width": 1440, "height": 900}},
]
PAGES = [
    (None, "/", {401}),
    (None, "/sign-in/unknown", set()),
    ("student", "/", set()),
    ("student", "/nothing", {404}),
    ("student", "/problems/s33-masked-attention", set()),
    ("student", "/problems/s34-a1-masked", set()),
    ("student", "/problems/cb-shapes", set()),
    ("student", "/submissions", set()),
    ("student", "WRONG", set()),
    ("student", "NOTEBOOK", set()),
    ("ta", "/submissions", set()),
    ("ta", "/problem-files", set()),
    ("ta", "WRONG", set()),
]


def serious(page: Page) -> list[str]:
    """What axe finds and no page may have."""
    found = Axe().run(page).response["violations"]
    return [
        f"{each['id']}: {node['html'][:200]}"
        for each in found
        if each["impact"] in ("serious", "critical")
        for node in each["nodes"]
    ]


def overflow(page: Page) -> int:
    """By how many pixels the page is wider than the window."""
    found = page.evaluate("document.documentElement.scrollWidth - innerWidth")
    assert isinstance(found, int)
    return found


@pytest.mark.parametrize(("who", "path", "allowed"), PAGES)
def test_a_page_is_accessible_and_fits_in_every_language_theme_and_width(
    who: str | None,
    path: str,
    allowed: set[int],
    open_page: Open,
    submit: Submit,
    service: Service,
    watch: Watch,
) -> None:
    watch.allowed = allowed
    broken = service.problems / "masks" / "broken.yaml"
    broken.write_text("id: broken\nkind: code\n")
    if path == "WRONG":
        path = submit(WRONG)
    if path == "NOTEBOOK":
        path = submit(NOTEBOOK, "hw.ipynb")
    for look in LOOKS:
        page = open_page(who, path, **look)
        page.locator("details").evaluate_all("all => all.forEach(each => { each.open = true })")
        expect(page.locator("h1")).to_be_visible()
        assert serious(page) == [], look
        assert overflow(page) <= 0, look


def test_hostile_text_is_shown_as_text(open_page: Open, submit: Submit) -> None:
    path = submit(HOSTILE, HOSTILE_NAME)
    for who in ("student", "ta"):
        page = open_page(who, path)
        main = page.locator("main")
        expect(main).to_contain_text(HOSTILE_NAME)
        expect(main).to_contain_text("ValueError: <svg onload=alert('raised')>U+202E")
        expect(main).to_contain_text("<script>alert('printed')</script>U+001B[31mU+202E")
        expect(main).to_contain_text("</pre><script>alert('code')</script> U+202EreversedU+202C")
        assert page.locator("main img, main script, main svg[onload]").count() == 0
        assert "\u202e" not in page.content()


def test_the_theme_switch_beats_the_system_and_stays(open_page: Open) -> None:
    page = open_page("student", color_scheme="light")

    def ground() -> object:
        return page.evaluate("getComputedStyle(document.body).backgroundColor")

    light = ground()
    page.get_by_role("button", name="Dark").click()
    dark = ground()
    assert dark != light
    page.goto("/submissions")
    assert ground() == dark
    page.get_by_role("button", name="System").click()
    assert ground() == light


def test_the_language_switch_returns_to_the_same_page(open_page: Open) -> None:
    page = open_page("student", "/problems/s34-a1-masked")
    page.get_by_role("button", name="中文").click()
    expect(page.locator("h1")).to_have_text("Assignment1 因果 mask 手算")
    page.get_by_role("button", name="English").click()
    expect(page.locator("h1")).to_have_text("Assignment1, causal mask")


def test_the_keyboard_reaches_the_content_first(open_page: Open) -> None:
    page = open_page("student")
    page.keyboard.press("Tab")
    skip = page.get_by_role("link", name="Skip to the content")
    expect(skip).to_be_focused()
    expect(skip).to_be_in_viewport()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    expect(page.locator("main a").first).to_be_focused()


def test_the_line_of_an_exception_is_marked_when_it_is_followed(
    open_page: Open, submit: Submit
) -> None:
    page = open_page("student", submit("x = 1\n\ndef masked_attention(*_):\n    return 1 / 0\n"))
    line = page.locator("#file-0-line-4")

    def ground() -> object:
        return line.evaluate("each => getComputedStyle(each).backgroundColor")

    plain = ground()
    page.get_by_role("link", name="Go to the line").first.click()
    assert ground() != plain
    expect(line).to_be_in_viewport()


def test_code_stands_line_by_line_beside_its_numbers(open_page: Open, submit: Submit) -> None:
    page = open_page("student", submit(WRONG))
    code = page.locator(".code-box td.code")
    assert [line.rstrip() for line in code.inner_text().strip("\n").split("\n")] == [
        line.rstrip() for line in WRONG.strip("\n").split("\n")
    ]
    tops = [
        page.locator(selector).bounding_box()["height"]  # type: ignore[index]
        for selector in (".code-box td.code pre", ".code-box td.linenos pre")
    ]
    assert abs(tops[0] - tops[1]) < 2
