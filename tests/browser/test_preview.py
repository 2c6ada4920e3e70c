"""The preview of a problem file in Chromium: it follows the file by itself."""

import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import ROOT, Watch
from tests.browser.test_pages import LOOKS, overflow, serious

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of a problem file."""
    source = ROOT / "problems/masks/s33-masked-attention.yaml"
    return Path(shutil.copy(source, tmp_path_factory.mktemp("masks")))


@pytest.fixture(scope="module")
def url(file: Path) -> Iterator[str]:
    """The address of its preview."""
    command = [Path(sys.executable).with_name("attest"), "preview", file]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        yield process.stdout.readline().removeprefix("READY ").strip()
        process.send_signal(signal.SIGINT)
        process.stdout.read()


@pytest.fixture
def page(browser: Browser, url: str) -> Iterator[Page]:
    """The preview in a window of its own; nothing may go wrong in it."""
    watch = Watch(url)
    context = browser.new_context(base_url=url, locale="en-GB")
    watch.over(context)
    page = context.new_page()
    page.goto("/")
    yield page
    context.close()
    assert watch.wrong == []


def test_every_save_shows_and_a_broken_file_comes_back(page: Page, file: Path) -> None:
    text = file.read_text("utf-8")
    heading = page.locator("h1")
    expect(heading).to_have_text("Attention with a mask")
    file.write_text(text.replace("Attention with a mask", "A new title"), "utf-8")
    expect(heading).to_have_text("A new title")
    file.write_text("id: broken", "utf-8")
    expect(heading).to_have_text("The file cannot be shown yet")
    expect(page.locator(".places")).to_contain_text("the key `kind` is missing")
    file.write_text(text, "utf-8")
    expect(heading).to_have_text("Attention with a mask")


def test_the_language_stays_over_a_reload(page: Page, file: Path) -> None:
    text = file.read_text("utf-8")
    page.get_by_role("button", name="中文").click()
    expect(page.locator("h1")).to_have_text("带 mask 的注意力")
    file.write_text(text.replace("带 mask 的注意力", "新标题"), "utf-8")
    expect(page.locator("h1")).to_have_text("新标题")
    file.write_text(text, "utf-8")
    expect(page.locator("h1")).to_have_text("带 mask 的注意力")


@pytest.mark.parametrize("content", ["as it is", "id: broken"])
def test_both_pages_are_accessible_and_fit(
    content: str, browser: Browser, url: str, file: Path
) -> None:
    text = file.read_text("utf-8")
    file.write_text(text if content == "as it is" else content, "utf-8")
    for look in LOOKS:
        context = browser.new_context(**look)
        page = context.new_page()
        page.goto(url)
        assert serious(page) == [], look
        assert overflow(page) <= 0, look
        context.close()
    file.write_text(text, "utf-8")
