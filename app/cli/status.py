"""``attest status``: one's submissions, or the report of one of them."""

import json

from app.cli.output import exit_code
from app.client import Answer, Client, find_login
from app.domain.report_text import points_text
from app.domain.words import Language


def run(submission: str | None, as_json: bool, lang: Language) -> int:
    """Prints. Returns 0 for a list; for a report as ``attest submit`` does."""
    with Client(find_login(), lang) as client:
        if submission is None:
            found = client.submissions()
            print(json.dumps(found) if as_json else _table(found), end="\n" if as_json else "")
            return 0
        report = client.report(submission)
        print(json.dumps(report) + "\n" if as_json else client.report_text(submission), end="")
        return exit_code(report)


def _table(found: Answer) -> str:
    return "".join(_line(item) + "\n" for item in found["items"])


def _line(item: Answer) -> str:
    points = f"{points_text(item['score'])}/{points_text(item['max_score'])}"
    when = item["received_at"][:16].replace("T", " ")
    return f"{item['id']}  {when}  {points:>7}  {item['status']:<12}  {item['problem']}"
