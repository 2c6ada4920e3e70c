"""What holds for all pages: nothing inline, two languages, two themes, banners, errors."""

import re
from html.parser import HTMLParser
from importlib.resources import files

import pytest

from app import workers
from app.db import transaction
from app.web.page import LANGUAGE_COOKIE, THEME_COOKIE
from app.web.switches import local
from app.web.words import PHRASES, STATUSES
from tests.web.conftest import MASKED, SHEET

SOURCES = [file for file in files("app.web").iterdir() if file.name.endswith(".py")]
TEMPLATES = list((files("app.web") / "templates").iterdir())
PAGES = ["/", f"/problems/{MASKED}", f"/problems/{SHEET}", "/submissions", "/problem-files"]


class Inline(HTMLParser):
    """Collects what a strict policy would refuse."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag, attrs):
        names = dict(attrs)
        self.found += [f"{tag} {name}" for name in names if name == "style" or name[:2] == "on"]
        if tag == "style" or (tag == "script" and "src" not in names):
            self.found.append(tag)
        links = [names.get(name) or "" for name in ("src", "href", "action") if name in names]
        self.found += [link for link in links if not re.match(r"/(?!/)|#", link)]


@pytest.mark.parametrize("path", [*PAGES, "/submissions/{id}", "/nothing", "/sign-in/x"])
@pytest.mark.parametrize("name", ["student", "ta", None])
def test_no_page_holds_inline_script_or_style_or_leads_elsewhere(path, name, browse, grade):
    response = browse(name).get(path.format(id=grade()))
    inline = Inline()
    inline.feed(response.text)
    assert inline.found == []
    assert "unsafe" not in response.headers["content-security-policy"]


@pytest.mark.parametrize("path", PAGES)
def test_every_page_speaks_the_language_that_the_browser_prefers(path, browse, warm):
    english = browse("ta").get(path).text
    chinese = browse("ta", accept_language="zh-CN,zh;q=0.9,en;q=0.8").get(path).text
    assert '<html lang="en"' in english
    assert '<html lang="zh-CN"' in chinese
    # The name of the other language is all Chinese that English pages hold.
    assert set(re.findall("[一-鿿]+", english)) <= {"中文"}


def test_the_switch_of_language_beats_what_the_browser_prefers(browse):
    client = browse("student", accept_language="en")
    response = client.post(
        "/switches", data={"language": "zh", "back": "/submissions?status=graded"}
    )
    assert response.url.path == "/submissions"
    assert response.url.query == b"status=graded"
    assert "提交记录" in response.text
    assert client.cookies[LANGUAGE_COOKIE] == "zh"


def test_the_switch_of_theme_is_in_the_page_before_any_style_is(browse):
    client = browse("student")
    assert 'data-theme="auto"' in client.get("/").text
    assert 'data-theme="dark"' in client.post("/switches", data={"theme": "dark"}).text
    assert client.cookies[THEME_COOKIE] == "dark"


@pytest.mark.parametrize("cookie", ["klingon", "", "../zh"])
def test_a_strange_cookie_changes_nothing(cookie, browse):
    client = browse("student")
    client.cookies.set(LANGUAGE_COOKIE, cookie)
    client.cookies.set(THEME_COOKIE, cookie)
    page = client.get("/").text
    assert '<html lang="en" data-theme="auto">' in page


@pytest.mark.parametrize(
    "address", ["//elsewhere", "/\\elsewhere", "https://elsewhere", "javascript:x", "", "/\n/x"]
)
def test_a_switch_never_leads_to_another_site(address):
    assert local(address) == "/"


def test_every_phrase_is_there_in_both_languages_with_the_same_facts():
    for key, (english, chinese) in PHRASES.items():
        assert english.strip(), key
        assert chinese.strip(), key
        facts = [sorted(re.findall(r"{(\w+)", text)) for text in (english, chinese)]
        assert facts[0] == facts[1], key


def test_every_phrase_is_used_and_every_phrase_used_is_there():
    others = [file for file in SOURCES if file.name != "words.py"]
    source = "".join(file.read_text("utf-8") for file in [*TEMPLATES, *others])
    used = set(re.findall(r"""(?:\bt|say|phrase)\(\s*['"](\w+)['"]\s*[,)]""", source))
    assert used <= PHRASES.keys()
    # Others are put together: a status, a state, a hint, …
    begun = set(re.findall(r"""['"](\w+_)['"]""", source))
    quoted = set(re.findall(r"""['"](\w+)['"]""", source))
    unused = {
        key
        for key in PHRASES.keys() - used - quoted
        if not any(key.startswith(beginning) for beginning in begun)
    }
    assert unused == set()


def test_every_status_has_a_word_and_every_unfinished_one_an_explanation():
    assert {f"status_{status}" for status in STATUSES} <= PHRASES.keys()
    assert {f"explain_{status}" for status in STATUSES if status != "graded"} <= PHRASES.keys()


@pytest.mark.parametrize("path", ["/", "/sign-in/x", "/nothing"])
def test_pages_say_so_while_no_worker_is_ready(path, browse):
    assert "Submissions are accepted and will be graded" in browse("student").get(path).text


def test_pages_say_so_while_the_isolation_is_weaker_than_full(browse, database):
    with transaction(database) as session:
        workers.warm(session, workers.register(session, "here", 1), "landlock")
    page = browse("student").get("/").text
    assert "isolated at level “landlock”" in page


def test_pages_have_no_banner_where_all_is_well(browse, warm):
    assert 'class="banner"' not in browse("student").get("/").text


def test_an_unknown_address_is_a_page_with_a_way_back(browse):
    response = browse("student").get("/problems/<script>")
    assert response.status_code == 404
    assert "&lt;script&gt;" in response.text
    assert "<script>" not in response.text
    assert 'href="/"' in response.text


def test_a_student_at_a_page_for_staff_is_refused(browse):
    response = browse("student").get("/problem-files")
    assert response.status_code == 403
    assert "needs the role ta" in response.text


def test_a_browser_finds_an_icon(browse):
    response = browse(None).get("/favicon.ico")
    assert response.status_code == 200
    assert response.headers["content-type"] == "image/svg+xml"


def test_styles_and_scripts_are_kept_by_browsers_and_change_their_address_with_their_content(
    browse,
):
    client = browse(None)
    addresses = re.findall(r'(?:href|src)="(/static/[^"]+\?\w+)"', client.get("/sign-in/x").text)
    assert len(addresses) == 5
    for address in addresses:
        response = client.get(address)
        assert response.status_code == 200
        assert "immutable" in response.headers["cache-control"]
