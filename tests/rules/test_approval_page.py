"""The page of what waits for a person: each proposal whole, with its digest and the command that signs it."""

from __future__ import annotations

import html
import re
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from edgeshift.areas.evidence import EvidenceVerdict
from edgeshift.areas.waf.evidence import Evidence
from edgeshift.areas.waf.preview_part import WafShown, shown_of
from edgeshift.model.body_view import Item, Line, Mark
from edgeshift.model.digests import digest, fingerprint
from edgeshift.operations.group import Otherwise, Rest
from edgeshift.runtime.safe_text import visible
from edgeshift.views.approval import Approval, Sheet, WithSupport, render_approval
from tests.pages.page_kit import evidence, zones
from tests.pages.waiting_kit import approval, approval_data, esc_approval
from tests.rules.report_kit import HOSTILE
from tests.rules.test_timeline_report import Reader


def text(page: str) -> str:
    """What a reader sees of it."""
    return " ".join(Reader(page).text.split())


def with_text(said: str) -> Approval:
    """What waits, with ``said`` wherever text from outside may stand."""
    data = approval_data()
    shown = data.sheets[0].shown
    assert shown is not None
    item = Item(
        mark=Mark.CHANGED,
        title=said,
        lines=(Line(label=said, text=said, before=said), Line(label="on", text=said)),
    )
    hostile = replace(
        shown,
        zone=said,
        plan=said,
        additions=(said,),
        losses=(said,),
        warnings=(said,),
        compare=(said,),
        changes=(said,),
        drifted=True,
        items=(item, item.model_copy(update={"mark": Mark.SAME})),
        body={"name": said},
        evidence=evidence(1, said).model_copy(update={"why": said, "cannot_see": said}),
        own=WafShown(only_log=(said,), names={rule: said for rule in shown_of(shown.own).names}),
    )
    sheet = replace(data.sheets[0], title=said, names=(said,), shown=hostile)
    unseen = replace(data.sheets[1], title=said, shown=None, why_not=said)
    summary = data.summary.model_copy(update={"why": said, "started_by": said})
    return replace(
        data,
        summary=summary,
        policy=said,
        note=said,
        sheets=(sheet, unseen, replace(sheet, single=True)),
        support=(WithSupport(said, said, (said,)),),
    )


EXPECTED = [tag for tag, _ in Reader(render_approval(with_text("plain"))).tags]


@pytest.mark.parametrize("said", HOSTILE)
def test_text_from_outside_stays_text(said: str) -> None:
    """No name, rule, value or reason brings in an element, an attribute or a template expression."""
    read = Reader(render_approval(with_text(said)))
    assert {tag for tag, _ in read.tags} == set(EXPECTED) and "script" not in EXPECTED
    assert not [name for _, attributes in read.tags for name in attributes if name.startswith("on")]
    assert "\u202e" not in read.text and "\x1b" not in read.text
    assert visible(said) in read.text


@settings(deadline=None, max_examples=30)
@given(said=st.text(alphabet=st.characters(exclude_categories=["Z", "C"]), min_size=1, max_size=20))
def test_any_text_leaves_the_structure_as_it_is(said: str) -> None:
    """Whatever the text, the page has the same elements in the same number as with a plain word."""
    assert [tag for tag, _ in Reader(render_approval(with_text(said))).tags] == EXPECTED


def test_each_sheet_has_its_body_its_difference_its_digest_and_its_command() -> None:
    """By rule, with what the zone has; the digest is of the JSON that stands there; the command names it."""
    page = approval()
    shown = text(page)
    for sheet in approval_data().sheets:
        assert sheet.shown is not None
        assert sheet.digest in shown.replace(" ", "") and sheet.title in shown
        what = sheet.shown.digest if sheet.single else sheet.shown.fingerprint
        assert sheet.digest == what
        assert " ".join(sheet.body.split()) in shown
    (zone,) = [zone for zone in zones() if zone.name == approval_data().sheets[0].names[0]]
    body = approval_data().sheets[0].shown
    assert body is not None and digest(body.body) == body.digest
    assert fingerprint(body.body, zone) == approval_data().sheets[0].digest
    assert "~ changed rule 3: execute the OWASP core ruleset" in shown
    assert re.search(r"<del>.*?/login.*?</del> → <ins>every request</ins>", page)
    fingerprinted = approval_data().sheets[0].digest[:12]
    assert f"edgeshift sign-off approve waf-autumn --fingerprint {fingerprinted}" in shown
    assert "Sign-off: 2 approvals, from ada, grace, alan." in shown
    assert "rule Anomaly:Header:User-Agent - Missing or empty (5de7edfa648c4d6891dc3e7f84534ffa)" in shown


def test_nobody_is_offered_to_approve_what_failed_or_cannot_be_shown() -> None:
    """A zone whose own evidence failed can be rejected by the command that stands there; what the archive
    does not hold as it waits has no command at all.
    """
    data = approval_data()
    failed = next(sheet for sheet in data.sheets if sheet.speaks_against)
    assert failed.shown is not None and isinstance(failed.shown.evidence, Evidence)
    assert failed.shown.evidence.verdict is EvidenceVerdict.FAIL
    page = text(render_approval(replace(data, sheets=(failed,))))
    assert "sign-off reject waf-autumn --zone" in page and "sign-off approve" not in page
    unseen = replace(data.sheets[0], shown=None, why_not="the archive has another body")
    page = text(render_approval(replace(data, sheets=(unseen,))))
    assert "It cannot be shown, and must not be approved: the archive has another body" in page
    assert "edgeshift sign-off" not in page


def test_zones_that_lose_something_else_are_named() -> None:
    """A decision on a fingerprint reaches them as well: the page says what is other."""
    data = approval_data()
    odd = Otherwise(("odd.example",), ("lost: rule 7: off",), ("lost: sensitivity high",))
    rest = Rest(same=6, otherwise=(odd,), unseen=2, evidence=("9 of 9 zones have none",))
    page = text(render_approval(replace(data, sheets=(replace(data.sheets[0], rest=rest),))))
    assert "All in all: 9 of 9 zones have none." in page and "6 of 9: as " in page
    for said in ("Otherwise in 1: odd.example", "also: lost: rule 7: off", "not: lost: sensitivity high"):
        assert said in page
    assert "2 more zones were not compared: edgeshift status waf-autumn --phase awaiting" in page


def test_what_is_left_out_is_counted_and_who_waits_for_support_is_named() -> None:
    """The page never looks complete where it is not."""
    data = replace(approval_data(), left_out={"groups": 3, "reached": 12, "singly": 7, "support": 0})
    page = text(render_approval(data))
    assert "3 more fingerprints wait" in page and "7 more zones wait to be signed singly" in page
    assert dict(data.tiles) == {
        "fingerprints that wait": 6,
        "zones that they reach": 66,
        "zones to be signed singly": 9,
        "zones with the provider's support": 2,
    }
    for waiting in data.support:
        assert waiting.name in page and waiting.tickets[0] in page


def test_nothing_waits_is_a_page_too() -> None:
    """Also of a campaign that has closed."""
    data = replace(approval_data(), sheets=(), support=())
    assert "Nothing waits for a sign-off." in text(render_approval(data))
    closed = replace(data, summary=data.summary.model_copy(update={"state": "closed"}))
    assert "This campaign has closed" in text(render_approval(closed))


def test_a_name_in_a_command_is_quoted() -> None:
    """A command can be copied as it stands."""
    sheet = Sheet(title="", digest="d" * 64, names=("a; rm -rf *",), zones=1, shown=None, single=True)
    assert "--zone 'a; rm -rf *' --digest dddddddddddd" in sheet.command("approve", "c")


def test_a_probe_is_said_to_have_finished() -> None:
    """Its differences are in the body; that it finished is no verdict."""
    shown = text(esc_approval())
    assert "scopes to be signed singly" in shown and "zones to be signed singly" not in shown
    assert "finished, 3 differences" in shown and "redirect rule" in shown
    assert "turn esc off for every request, for this zone" in shown
    assert not re.search(r"\bpass\b", shown) and html.escape("301") in shown
