"""What screens say of who may sign: with roots that ask for signatures, and without."""

from __future__ import annotations

import io
from types import SimpleNamespace
from typing import Any

import pytest
from rich.console import Console

from edgeshift.campaign_file.load import parse_campaign
from edgeshift.campaign_file.warnings import NAMES_ALONE, warnings
from edgeshift.cli.start import _show
from edgeshift.model.fleet import Wave

FILE = """
name: autumn
area: waf
service: {base_url: https://api.example.com/client/v4, credentials: [{token: "env:T"}]}
targets: {all: true}
"""
REACH = "anyone who can reach Temporal may sign"


def _started(text: str, *, signed: bool) -> str:
    """The screen before a start, on one line."""
    out = io.StringIO()
    # No roots are known here.
    own = SimpleNamespace(authority=SimpleNamespace(key=None, roots=None))
    known: dict[str, Any] = {"readable_roots": None, "roots_file": lambda: None, "settings": own}
    shell: Any = SimpleNamespace(console=Console(file=out, width=300), asks_for_keys=signed, **known)
    waves = (Wave(number=0, name="all", first=0, end=1),)
    _show(shell, parse_campaign(text), SimpleNamespace(count=1, waves=waves, planned_at=None))  # type: ignore[arg-type]
    return out.getvalue()


@pytest.mark.parametrize("approvers", ["", "sign_off: {approvers: [ada, grace]}\n"])
def test_without_roots_it_is_said_once_that_anyone_may_sign(approvers: str) -> None:
    """Also where approvers are listed: anybody can give their names. With roots it is not said."""
    screen = _started(FILE + approvers, signed=False)
    assert screen.count(REACH) == screen.count("reach Temporal") == 1
    assert warnings(parse_campaign(FILE + approvers), signed=False).count(NAMES_ALONE) == 1
    screen = _started(FILE + approvers, signed=True)
    assert "reach Temporal" not in screen and "by key" in screen
    assert NAMES_ALONE not in warnings(parse_campaign(FILE + approvers), signed=True)
