"""Commands that are offered for copying: a name from the service, as of an account, is one word of each."""

from __future__ import annotations

import shlex
from datetime import UTC, datetime, timedelta

import pytest

from edgeshift.alarms import CampaignFact, Facts, ZoneFact, alarms_of
from edgeshift.model.fleet import Area, ScopeKind
from edgeshift.views.archived import loss_lines
from edgeshift.views.lists import zone_card
from edgeshift.views.rows import ZoneRow
from tests.rules.test_next_steps import drawn

NAME = "Acme $(touch /tmp/owned); rm -rf ~ #"


@pytest.mark.parametrize("place", ["failed", "awaiting", "awaiting_separate", "on_hold", "unknown"])
def test_a_command_of_an_alarm_has_a_name_as_one_word(place: str) -> None:
    """To look, and to act."""
    zone = ZoneFact(name=NAME, area=Area.ESC, place=place, reason="x")
    campaign = CampaignFact(
        name="esc-off",
        status="running",
        zones=(zone,),
        expires_after=timedelta(days=14),
        settles_in=timedelta(0),
        step_lasts=timedelta(0),
        tried_for=timedelta(0),
    )
    found = alarms_of(Facts(now=datetime.now(UTC), campaigns=(campaign,)))
    commands = [command for alarm in found for command in (*alarm.look_at, *alarm.do)]
    named = [words for words in map(shlex.split, commands) if any("Acme" in word for word in words)]
    assert named and all(NAME in words for words in named)


@pytest.mark.parametrize("place", ["awaiting", "failed"])
def test_a_command_of_a_zones_card_has_its_name_as_one_word(place: str) -> None:
    """To read, to sign, and its history."""
    row = ZoneRow(
        index=0,
        id="a" * 32,
        name=NAME,
        account="a" * 32,
        plan="",
        wave=0,
        place=place,
        area=Area.ESC,
        kind=ScopeKind.ACCOUNT,
        covers=3,
    )
    lines = drawn(zone_card(row, "esc-off"), 200).splitlines()
    commands = [line.partition("edgeshift ")[2] for line in lines if "edgeshift " in line]
    assert commands and all(NAME in shlex.split(command) for command in commands)


def test_a_line_of_what_is_left_out_has_the_name_as_one_word() -> None:
    """The rest of what a zone loses is told by its history."""
    last = loss_lines(["a loss"] * 1_000, NAME)[-1].partition("edgeshift ")[2]
    assert shlex.split(last)[:2] == ["history", NAME]
