"""From the sign-in link to a score that a person changed, with a script and without."""

import shutil
from importlib.resources import files
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Open, Service, Submit, Watch, until

pytestmark = pytest.mark.browser

WRONG = (files("app.demo") / "mask_after_softmax.py").read_bytes()
IDEA = "rows no longer sum to 1"
NEW_PROBLEM = Path(__file__).parents[1] / "problem_files" / "sdpa.yaml"
PROBLEM = "/problems/s33-masked-attention"


def send_file(page: Page, code: bytes = WRONG) -> None:
    page.goto(PROBLEM)
    page.get_by_label("Python files").set_input_files(
        {"name": "attention.py", "mimeType": "text/x-python", "buffer": code}
    )
    page.get_by_role("button", name="Submit files").click()
    page.wait_for_url("**/submissions/*")


def give_points(page: Page, points: str, reason: str, check: str = "fixed") -> None:
    form = page.locator(f"#check-{check}")
    if not form.locator("form").is_visible():
        form.get_by_text("Change points").click()
    form.get_by_label("Points").fill(points)
    form.get_by_label("Reason").fill(reason)
    form.get_by_role("button", name="Save").click()


def test_a_student_sees_the_report_come_in_without_doing_anything(
    open_page: Open, service: Service
) -> None:
    page = open_page("student")
    with service.paused():
        send_file(page)
        expect(page.get_by_text("It is in the queue")).to_be_visible()
        page.evaluate("window.still = 'the same document'")
    expect(page.get_by_text(IDEA)).to_be_visible(timeout=20_000)
    expect(page.locator(".total")).to_have_text("1 / 10")
    expect(page.locator("#check-fixed svg[role=img]")).to_be_visible()
    expect(page.locator("#announcer")).to_have_text("graded: 1 of 10 points")
    assert page.evaluate("window.still") == "the same document"


def test_the_report_comes_in_without_events_too(open_page: Open, service: Service) -> None:
    page = open_page("student")
    page.route("**/events", lambda route: route.fulfill(status=204))
    with service.paused():
        send_file(page)
        expect(page.get_by_text("It is in the queue")).to_be_visible()
    expect(page.get_by_text(IDEA)).to_be_visible(timeout=20_000)


def test_everything_works_without_a_script(open_page: Open, service: Service) -> None:
    page = open_page("student", java_script_enabled=False)
    with service.paused():
        send_file(page)
        expect(page.get_by_text("It is in the queue")).to_be_visible()
    expect(page.get_by_text(IDEA)).to_be_visible(timeout=20_000)
    staff = open_page("ta", page.url, java_script_enabled=False)
    give_points(staff, "1.5", "right idea")
    expect(staff.locator("#check-fixed")).to_contain_text("Points set by Demo Assistant")
    page.reload()
    expect(page.locator(".total")).to_have_text("2.5 / 10")


def test_points_that_staff_set_appear_at_once_and_reach_the_student(
    open_page: Open, submit: Submit
) -> None:
    path = submit(WRONG.decode())
    staff = open_page("ta", path)
    staff.evaluate("window.still = 'the same document'")
    give_points(staff, "2", "<b>kind</b>")
    expect(staff.locator(".total")).to_have_text("3 / 10")
    assert staff.evaluate("window.still") == "the same document"
    student = open_page("student", path)
    expect(student.locator("#check-fixed")).to_contain_text("<b>kind</b>")
    expect(student.locator(".total")).to_have_text("3 / 10")


def test_two_who_change_the_same_points_do_not_overwrite_each_other(
    open_page: Open, submit: Submit, watch: Watch
) -> None:
    watch.allowed = {412}
    path = submit(WRONG.decode())
    first, second = open_page("ta", path), open_page("ta", path)
    give_points(first, "1", "first")
    expect(first.locator(".total")).to_have_text("2 / 10")
    give_points(second, "2", "second")
    check = second.locator("#check-fixed")
    expect(check.get_by_role("alert")).to_contain_text("changed by somebody else")
    expect(check.get_by_label("Reason")).to_have_value("second")
    expect(check).to_contain_text("first")
    check.get_by_role("button", name="Save").click()
    expect(second.locator(".total")).to_have_text("3 / 10")


def test_an_answer_that_cannot_be_read_is_marked_where_it_was_typed(
    open_page: Open, watch: Watch
) -> None:
    watch.allowed = {422}
    page = open_page("student", "/problems/s34-a1-masked")
    page.get_by_label("Row that did not change").fill("two")
    page.get_by_role("button", name="Submit answers").click()
    field = page.get_by_label("Row that did not change")
    expect(field).to_have_value("two")
    expect(field).to_have_attribute("aria-invalid", "true")
    expect(page.locator("#error-unchanged_row")).to_be_visible()
    field.fill("2")
    page.get_by_role("button", name="Submit answers").click()
    page.wait_for_url("**/submissions/*")
    expect(page.locator(".total")).to_have_text("2 / 10", timeout=20_000)


def test_filters_take_effect_without_a_button_and_stand_in_the_address(
    open_page: Open, submit: Submit
) -> None:
    submit(WRONG.decode())
    page = open_page("ta", "/submissions")
    page.get_by_label("Problem").select_option("s34-a1-masked")
    page.wait_for_url("**problem=s34-a1-masked**")
    expect(page.locator("#list")).not_to_contain_text("Attention with a mask")
    page.get_by_label("Problem").select_option("s33-masked-attention")
    expect(page.locator("#list")).to_contain_text("Attention with a mask")
    page.go_back()
    expect(page.get_by_label("Problem")).to_have_value("s34-a1-masked")


def test_staff_see_a_broken_file_soon_after_it_appears(open_page: Open, service: Service) -> None:
    page = open_page("ta", "/problem-files")
    (service.problems / "masks" / "new.yaml").write_text("id: new\nkind: code\n")

    def is_told() -> bool:
        page.reload()
        return page.get_by_text("masks/new.yaml").count() == 1

    until(is_told)
    expect(page.locator("main")).to_contain_text("line 1, column 1")


def test_a_problem_that_appears_in_the_folder_can_soon_be_submitted_to(
    open_page: Open, service: Service
) -> None:
    page = open_page("student")
    shutil.copy(NEW_PROBLEM, service.problems / "masks")

    def is_listed() -> bool:
        page.goto("/")
        return page.get_by_text("sdpa", exact=True).count() == 1

    until(is_listed, seconds=60)
    page.locator("a[href='/problems/sdpa']").click()
    page.get_by_text("Or write it here").click()
    page.get_by_role("button", name="Submit this code").click()
    expect(page.locator(".total")).to_contain_text("0 / ", timeout=20_000)


def test_a_signed_out_student_is_told_how_to_come_back(open_page: Open, watch: Watch) -> None:
    watch.allowed = {401}
    page = open_page("student")
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("heading")).to_have_text("You are signed out")


def test_a_whole_evening_from_the_sign_in_link_to_a_problem_that_is_new(
    open_page: Open, service: Service
) -> None:
    student = open_page("student")
    send_file(student)
    expect(student.get_by_text(IDEA)).to_be_visible(timeout=20_000)
    expect(student.locator(".total")).to_have_text("1 / 10")
    report = student.url

    staff = open_page("ta", report)
    give_points(staff, "2", "the idea was there")
    expect(staff.locator(".total")).to_have_text("3 / 10")
    student.goto(report)
    expect(student.locator("#check-fixed")).to_contain_text("the idea was there")

    text = NEW_PROBLEM.read_text().replace("id: sdpa", "id: evening", 1)
    (service.problems / "masks" / "evening.yaml").write_text(text)

    def is_live() -> bool:
        student.goto("/")
        return student.locator("a[href='/problems/evening']").count() == 1

    until(is_live, seconds=60)
    student.goto("/problems/evening")
    student.get_by_text("Or write it here").click()
    student.get_by_role("button", name="Submit this code").click()
    expect(student.locator(".total")).to_contain_text("0 / 17", timeout=20_000)
