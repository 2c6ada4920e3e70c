"""The built-in submissions, graded over HTTP like any other."""

from importlib.resources import files

import httpx2

from app.errors import AttestError

PROBLEM = "s33-masked-attention"
SUBMISSIONS = ("right.py", "mask_after_softmax.py")
WAIT_S = 60


def example(name: str) -> bytes:
    """The bytes of one built-in submission."""
    return (files("app.demo") / name).read_bytes()


def grade_built_ins(url: str, token: str) -> list[str]:
    """The reports of a right and of a wrong submission, as text.

    Raises AttestError if the service answers anything but a report.
    """
    headers = {"Authorization": f"Bearer {token}", "Accept": "text/plain"}
    with httpx2.Client(
        base_url=url, headers=headers, timeout=WAIT_S + 10, trust_env=False
    ) as client:
        return [_report(client, name) for name in SUBMISSIONS]


def _report(client: httpx2.Client, name: str) -> str:
    answer = client.post(
        f"/api/v1/problems/{PROBLEM}/submissions",
        params={"wait": WAIT_S},
        files={"file": (name, example(name))},
    )
    if answer.status_code != httpx2.codes.OK:
        raise AttestError(
            f"the built-in submission {name} was not graded: "
            f"{answer.status_code} {answer.text[:500]}"
        )
    return answer.text
