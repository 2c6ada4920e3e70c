"""What ``--help`` says of the commands."""

import re

import pytest

from .conftest import Attest


@pytest.mark.parametrize("command", ["check", "serve", "submit"])
def test_a_flag_is_offered_in_one_way_unless_its_opposite_does_something(
    attest: Attest, command: str
):
    told = attest(command, "--help").out
    opposites = re.findall(r"--no-[a-z-]+", told)
    assert opposites == {"serve": ["--no-worker"], "submit": ["--no-wait"]}.get(command, [])
