"""Zones that share a fingerprint are sent the same; what each loses by it, has already and has seen of it is
shown before all of them are signed.
"""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from edgeshift.areas.esc.probe import Coverage, ProbeReport
from edgeshift.areas.evidence import EvidenceVerdict
from edgeshift.cli.proposals import show_rest
from edgeshift.model.body_view import Item, Line, Mark
from edgeshift.model.fleet import Area
from edgeshift.operations.group import Otherwise, Rest, chosen_example, rest_of
from edgeshift.operations.preview import Preview
from tests.pages.page_kit import BEGAN, evidence, zones
from tests.pages.waiting_kit import preview
from tests.rules.test_proposal_screens import shell_of

HIGH, LOW = "core ruleset: sensitivity high", "core ruleset: sensitivity low"


def waf(number: int, *losses: str, events: int | None = None) -> Preview:
    """What a zone of the area waf proposes, the same for each. ``events``: of a window that passed."""
    zone = zones()[number]
    seen = evidence(1, zone.name).model_copy(update={"events": events, "verdict": EvidenceVerdict.PASS})
    shown = replace(preview(zone, 0, None), losses=losses)
    return shown if events is None else replace(shown, evidence=seen)


def job(zone: str, number: int, name: str, also: str) -> Preview:
    """What a zone of the area log-fields proposes: one field, and what its log job lists from then on."""
    items = (
        Item(mark=Mark.ADDED, title="request header referer"),
        Item(
            mark=Mark.CHANGED,
            title=f"log job {number} {name}",
            lines=(Line(label="also lists", text=also),),
        ),
    )
    shown = replace(preview(zones()[0], 0, None), zone=zone, losses=(), compare=(), warnings=())
    return replace(shown, area=Area("log-fields"), items=items)


def test_other_losses_of_the_same_proposal_are_told() -> None:
    """Of three zones, one loses more, and one something else: each is named with what is other."""
    shown = [waf(0, HIGH), waf(1, HIGH), waf(2, HIGH, "rule 7: off"), waf(3, LOW)]
    rest = rest_of(shown[0], shown)
    assert (rest.same, rest.count) == (1, 3)
    assert rest.otherwise == (
        Otherwise((shown[2].zone,), ("lost: rule 7: off",), ()),
        Otherwise((shown[3].zone,), (f"lost: {LOW}",), (f"lost: {HIGH}",)),
    )


def test_zones_that_differ_alike_are_told_together() -> None:
    """The most zones come first, and what was not compared is counted."""
    shown = [waf(0, LOW), waf(1, HIGH, LOW), waf(2, HIGH), waf(3, HIGH)]
    rest = rest_of(shown[0], shown, unseen=4)
    assert [some.zones for some in rest.otherwise] == [(shown[2].zone, shown[3].zone), (shown[1].zone,)]
    assert (rest.same, rest.unseen, rest.count) == (0, 4, 7)


def test_a_zones_own_name_and_the_number_of_a_log_job_are_no_difference() -> None:
    """Each zone has jobs with numbers of its own; what a job lists from then on is compared."""
    one = job("one.example", 7, "http", "ResponseHeaders")
    same = job("two.example", 11, "http", "ResponseHeaders")
    other = job("three.example", 5, "archive", "Cookies")
    rest = rest_of(one, [one, same, other])
    assert rest.same == 1
    (found,) = rest.otherwise
    assert found.more == ("changed: log job archive", "log job archive, also lists: Cookies")
    # What it does not have at all is named without its properties.
    assert found.less == ("changed: log job http",)
    named = replace(one, warnings=("a page rule of one.example",))
    again = replace(same, warnings=("a page rule of two.example",))
    assert rest_of(named, [named, again]).same == 1
    # But part of another name is not the name.
    longer = replace(same, warnings=("a page rule of my-two.example",))
    assert rest_of(named, [named, longer]).same == 0


def test_what_two_zones_have_alike_is_no_difference_where_one_has_it_already() -> None:
    """A rule that one zone is to have changed, and the other has as it will be: what is the same of it is not
    listed as other.
    """
    on, said = Line(label="on", text="every request"), Line(label="description", text="ours")
    old = Line(label="all of its rules", text="action log", before="action block")

    def rule(mark: Mark, number: int, *lines: Line) -> Preview:
        return replace(waf(number), items=(Item(mark=mark, title="rule 1: execute X", lines=lines),))

    shown = rule(Mark.CHANGED, 0, on, said, old)
    (found,) = rest_of(
        shown, [shown, rule(Mark.SAME, 1, on, said, Line(label="all of its rules", text="action log"))]
    ).otherwise
    assert found.more == ("as it is: rule 1: execute X", "rule 1: execute X, all of its rules: action log")
    assert found.less == (
        "changed: rule 1: execute X",
        "rule 1: execute X, all of its rules: action block → action log",
    )


def test_the_zone_that_is_shown_is_one_of_which_something_was_seen() -> None:
    """An Enterprise zone's window says more than that there was none; what was seen of all is summed up."""
    shown = [waf(0, HIGH), waf(1, HIGH, events=40), waf(2, HIGH, events=1_799), waf(3, HIGH)]
    example = chosen_example(shown)
    assert example is shown[1]
    rest = rest_of(example, shown)
    assert rest.evidence == (
        "2 of 4 zones passed a validation window, on 40 to 1,799 events",
        "2 of 4 zones have none: nothing has been seen of the rules at work",
    )
    assert rest.same == 3
    assert rest_of(shown[0], shown[:1]) == Rest()
    # Of those, one that is as most are.
    usual = [waf(0, LOW, events=40), waf(1, HIGH, events=40), waf(2, HIGH, events=40), waf(3, LOW)]
    assert chosen_example(usual) is usual[1]
    alike = [waf(1, events=40), waf(2, events=40)]
    assert rest_of(alike[0], alike).evidence == ("all 2 zones passed a validation window, on 40 events each",)


def test_the_least_of_the_probes_is_named() -> None:
    """A probe that looked at one address says less than one that looked at sixteen."""

    def probed(zone: str, urls: int) -> Preview:
        found = ProbeReport(made_at=BEGAN, rounds=3, coverage=Coverage(urls=urls))
        return replace(waf(0), zone=zone, area=Area("esc"), items=(), evidence=found)

    some = [probed("one.example", 16), probed("two.example", 1), probed("three.example", 16)]
    assert rest_of(some[0], some).evidence == (
        "the probes of 3 scopes looked at 1 to 16 URLs each, least at two.example",
    )
    assert rest_of(some[0], some[::2]).evidence == ("the probes of all 2 scopes looked at 16 URLs each",)


@pytest.mark.parametrize("width", [40, 80, 200])
def test_what_is_other_is_printed_before_the_sign_off(width: int) -> None:
    """Every group of zones, with no word broken; zones that were not compared are counted."""
    shown = [waf(0, LOW), waf(1, HIGH), waf(2, HIGH)]
    shell = shell_of(width)
    show_rest(shell, rest_of(shown[0], shown, unseen=1), "autumn")
    lines = shell.console.file.getvalue().splitlines()  # type: ignore[attr-defined]
    said = re.sub(r"\s+", " ", " ".join(lines))
    assert max(map(len, lines)) <= width
    assert "evidence of all: all 3 zones have none: nothing has been seen of the rules at work" in said
    assert f"the other 2 zones: 0 as this one otherwise in 2 zones: {shown[1].zone}, {shown[2].zone}" in said
    assert f"also: lost: {HIGH} not: lost: {LOW}" in said
    assert "1 more zone was not compared: edgeshift status autumn --phase awaiting" in said
