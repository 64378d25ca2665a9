"""What screens offer next, and how they fit: no approval past a person, nothing broken inside a word."""

from __future__ import annotations

import io
import re
from datetime import UTC, datetime

import pytest
from rich.console import Console, RenderableType

from edgeshift.alarms.rules import KINDS
from edgeshift.cli.sign_off import _nothing_to_sign
from edgeshift.model.fleet import Area
from edgeshift.model.reasons import Reason, ReasonCode
from edgeshift.operations import Examples
from edgeshift.views.lists import CampaignLine, campaigns_table, zone_card, zone_lists
from edgeshift.views.rows import ZoneRow, look_of

DIGEST = "3bed57c67adb" + "0" * 52
RECORD = "5be0c49d" * 8
TICKET = f"/var/lib/edgeshift/tickets/waf-too_many_rules-{DIGEST[:32]}.md"
NAMES = ("ivory-pharmacy.example", "autumn-radio.example", "a-name-of-thirty-letters.example")


def row(name: str, place: str, **more: object) -> ZoneRow:
    """A zone at this place."""
    known = {"index": 0, "id": DIGEST[:32], "account": "a", "plan": "pro", "wave": 0}
    return ZoneRow.model_validate({**known, "name": name, "place": place, "fingerprint": DIGEST, **more})


def drawn(shown: RenderableType, width: int, *, whole: bool = False) -> str:
    """What a terminal of this width shows."""
    console = Console(width=width, file=io.StringIO(), color_system=None, legacy_windows=False)
    console.print(shown, soft_wrap=whole)
    found: str = console.file.getvalue()  # type: ignore[attr-defined]
    return found


@pytest.mark.parametrize("width", [40, 80, 200])
def test_lists_break_between_words_alone(width: int) -> None:
    """Names, digests and commands are whole at every width, and no line is wider than the terminal."""
    rows = [row(name, "awaiting") for name in NAMES]
    rows += [row(name, "support", reason="260 firewall rules", tickets=[TICKET]) for name in NAMES]
    rows += [row(f"{name}.more{n}", "awaiting", reason=f"why {n}") for n, name in enumerate(NAMES)]
    text = drawn(zone_lists(rows, "autumn"), width)
    assert max(map(len, text.splitlines())) <= width
    for word in (*NAMES, "3bed57c67adb", "waf-too_many_rules-3bed57c67adb"):
        assert word in text, (word, text)
    at = datetime(2026, 3, 1, tzinfo=UTC)
    line = CampaignLine(name="waf-autumn-2026", state="running", started_at=at, finished=31, zones=120)
    listed = drawn(campaigns_table([line]), width)
    assert all(word in listed for word in ("waf-autumn-2026", "running", "31/120")), listed


@pytest.mark.parametrize("width", [40, 60, 80, 81, 82, 200])
def test_a_card_leaves_what_is_copied_whole(width: int) -> None:
    """The path of a ticket, the digests, the identifier: also where they are longer than a line. Only such a
    word is wider than the terminal, and it stands alone, from the first column on: so it is selected alone.
    """
    whole = row(NAMES[2], "awaiting", digest=DIGEST, record=RECORD, tickets=[TICKET], reason="why " * 30)
    lines = drawn(zone_card(whole, "autumn"), width, whole=True).splitlines()
    words = (TICKET, DIGEST, RECORD, DIGEST[:32], NAMES[2])
    assert all(any(word in line for line in lines) for word in words)
    for line in lines:
        assert len(line) <= width or (line in words and len(line) > width), line
    if width >= 80:
        assert any(re.fullmatch(f"  result record +{RECORD}", line) for line in lines)
        assert sum(RECORD in line or DIGEST in line for line in lines) == 3
    # A shell takes the commands as they stand there.
    text = re.sub(r" \\\n *", " ", "\n".join(lines))
    assert f"edgeshift sign-off approve autumn --zone {NAMES[2]}\n" in text
    assert f"edgeshift history {NAMES[2]} --area waf" in text


def test_an_approval_is_offered_only_where_the_evidence_does_not_speak_against_it() -> None:
    """And never past the question that the command asks."""
    assert "sign-off approve" in drawn(zone_card(row("a.example", "awaiting"), "autumn"), 200)
    assert "approve" not in drawn(zone_card(row("a.example", "awaiting_separate"), "autumn"), 200)
    assert "approve" not in drawn(zone_card(row("a.example", "awaiting"), "autumn", signable=False), 200)
    assert "edgeshift show a.example" in drawn(
        zone_card(row("a.example", "awaiting_separate"), "autumn"), 200
    )
    offered = {kind.code: [command for command in kind.do if "approve" in command] for kind in KINDS.values()}
    assert {code for code, commands in offered.items() if commands} == {"sign-off-waits"}
    assert not any("--yes" in command for kind in KINDS.values() for command in (*kind.look_at, *kind.do))


def test_those_who_find_nothing_to_sign_together_are_led_on() -> None:
    """To the evidence of the only zone; where several wait singly, to the verb that groups them by cause."""
    nothing = Examples(shown={}, unseen={})
    assert (
        f"edgeshift history {NAMES[0]} --campaign autumn"
        in _nothing_to_sign(nothing, [NAMES[0]], "autumn").hint
    )
    several = _nothing_to_sign(nothing, list(NAMES), "autumn")
    assert "edgeshift sign-off causes autumn" in several.hint


def test_what_was_not_verified_has_no_tick() -> None:
    """Written is not seen."""
    kept = Reason(code=ReasonCode.FIELDS_KEPT_UNVERIFIED, said="no entry came")
    unseen = row("a.example", "settled", area=Area.LOG_FIELDS, causes=[kept])
    seen = row("b.example", "settled", area=Area.LOG_FIELDS)
    assert "✓" in drawn(zone_card(seen, "fields"), 80)
    text = drawn(zone_card(unseen, "fields"), 80)
    assert "✓" not in text and "not verified" in text
    assert look_of(unseen).ascii != look_of(seen).ascii


def test_what_may_be_unverified_and_was_not_read_has_no_tick() -> None:
    """Of very many zones not each result is read: whether fields were verified is not known then."""
    unread = row("a.example", "settled", area=Area.LOG_FIELDS, unread=True)
    assert look_of(unread).mark == "○" and "not read" in look_of(unread).label
    # A zone of the other areas is not settled, or migrated, before the service shows it.
    assert look_of(row("a.example", "settled", area=Area.ESC, unread=True)).mark == "✓"
    assert look_of(row("a.example", "migrated", unread=True)).mark == "✓"
