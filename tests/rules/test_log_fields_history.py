"""Several people write one ruleset: nothing that anybody wrote is lost, and our fields are in at the end."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from edgeshift.areas.log_fields.history import OwnWrite, Reconciled, Version, reconcile, same_rules, three_way
from edgeshift.areas.log_fields.rules import (
    OUR_REF,
    PHASE,
    Rule,
    marked,
    merge,
    missing,
    over_version,
    rollback,
)
from edgeshift.areas.log_fields.terms import FieldSet
from edgeshift.testbed.simulator.rulesets import prepared

WANTED = FieldSet(request_headers=("x-ours",), cookies=("Ours",))
Edit = Callable[[list[Rule]], list[Rule]]


def rule(name: str, *headers: str, **more: Any) -> Rule:
    return {
        "ref": name,
        "action": "log_custom_field",
        "expression": "true",
        "description": f"of {name}",
        "enabled": True,
        "action_parameters": {"request_fields": [{"name": item} for item in headers or (f"x-{name}",)]},
        **more,
    }


@dataclass
class Ruleset:
    """A ruleset as the simulator stores it: each put replaces all, makes a version, and assigns what the
    service assigns.
    """

    documents: list[dict[str, Any]] = field(default_factory=list)

    @property
    def versions(self) -> list[list[Rule]]:
        return [document["rules"] for document in self.documents]

    def read(self) -> Version:
        return Version(len(self.documents), copy.deepcopy(self.documents[-1]["rules"]))

    def put(self, rules: list[Rule]) -> None:
        current = self.documents[-1] if self.documents else None
        stored = prepared({"rules": rules}, current, datetime.now(UTC), phase=PHASE)
        self.documents.append(copy.deepcopy(stored))

    def since(self, number: int) -> list[Version]:
        return [Version(place, rules) for place, rules in enumerate(self.versions, 1) if place > number]


@dataclass
class Us:
    """How edgeshift goes about it, one call of the service at a time."""

    service: Ruleset
    change: Callable[[str], Callable[[Any], list[Rule]]]
    base: Version | None = None
    sent: list[OwnWrite] = field(default_factory=list)
    next: tuple[int, list[Rule]] | None = None
    done: bool = False
    overwritten: set[int] = field(default_factory=set)

    def look(self) -> Reconciled:
        if self.base is None:
            self.base = self.service.read()
        seen = self.service.since(self.base.number)
        over = seen[-1].number if seen else self.base.number
        found = reconcile(self.base, self.sent, seen, self.change(str(over)))
        self.overwritten |= set(found.overwritten)
        self.next = None if found.put is None else (over, found.put)
        self.done = found.put is None
        return found

    def step(self) -> None:
        """Read and decide, then, in a later step, put: anybody may write between the two."""
        if self.next is None:
            self.look()
            return
        over, rules = self.next
        self.service.put(rules)
        self.sent.append(OwnWrite(over, rules))
        self.next = None


@dataclass
class Stranger:
    """Somebody who reads, and puts later; with a shadow world in which edgeshift does not exist."""

    edit: Edit
    had: list[Rule] | None = None
    had_alone: list[Rule] | None = None


def adds(name: str) -> Edit:
    return lambda rules: [*rules, rule(name)]


def removes(name: str) -> Edit:
    return lambda rules: [item for item in rules if item["ref"] != name]


def changes(name: str, header: str) -> Edit:
    def edit(rules: list[Rule]) -> list[Rule]:
        found = copy.deepcopy(rules)
        for item in found:
            if item["ref"] == name:
                item["action_parameters"]["request_fields"].append({"name": header})
        return found

    return edit


def first(name: str) -> Edit:
    return lambda rules: [rule(name), *rules]


def merging(label: str = "campaign") -> Callable[[str], Callable[[Any], list[Rule]]]:
    return lambda over: lambda rules: merge(rules, WANTED, marked(label, over))


def others(rules: list[Rule]) -> list[Rule]:
    return [item for item in rules if item["ref"] != OUR_REF]


def play(
    start: list[Rule], edits: list[Edit], order: list[int], us: Us, *, reads_between: bool = True
) -> list[Rule]:
    """Let everybody act in this order, each stranger twice (reads, then puts), then us to the end. The rules
    as they would be if edgeshift had never been there. ``reads_between``: whether anybody may read what we
    have put before we have looked at it.
    """
    alone = copy.deepcopy(start)
    strangers = [Stranger(edit) for edit in edits]
    for who in order:
        if who == len(edits):
            if not us.done:
                us.step()
            continue
        stranger = strangers[who]
        if stranger.had is None or stranger.had_alone is None:
            while us.sent and not us.done and not reads_between:
                us.step()
            stranger.had, stranger.had_alone = us.service.read().rules, copy.deepcopy(alone)  # type: ignore[assignment]
        else:
            put = stranger.edit(stranger.had)
            us.service.put(put)
            # What he did not see he could not change.
            alone = stranger.had_alone if put == stranger.had else stranger.edit(stranger.had_alone)
    us.done = False
    for _ in range(4 * len(order) + 8):
        if not us.done:
            us.step()
    assert us.done
    return alone


EDITS: list[Edit] = [
    adds("new"),
    adds("other"),
    first("top"),
    removes("a"),
    removes("b"),
    changes("a", "x-more"),
    changes("c", "x-else"),
]


@st.composite
def interleavings(draw: st.DrawFn) -> tuple[list[Edit], list[int]]:
    edits = draw(st.lists(st.sampled_from(EDITS), min_size=1, max_size=4, unique_by=id))
    turns = [who for who in range(len(edits)) for _ in range(2)] + [len(edits)] * draw(st.integers(1, 7))
    return edits, draw(st.permutations(turns))


@settings(max_examples=1000)
@given(interleavings())
def test_nothing_is_lost_however_the_writes_fall(scene: tuple[list[Edit], list[int]]) -> None:
    """Strangers read at one moment and put at a later one, before, between and after our puts: in the end
    the rules are those that there would be without us, and ours.
    """
    edits, order = scene
    start = [rule("a"), rule("b"), rule("c")]
    service = Ruleset()
    service.put(start)
    alone = play(start, edits, order, Us(service, merging()))
    final = service.versions[-1]
    assert same_rules(others(final), alone)
    assert missing(final, WANTED) == ()
    assert len(final) == len(alone) + 1


@pytest.mark.long
@pytest.mark.parametrize("earlier", [False, True])
@settings(max_examples=1000)
@given(scene=interleavings())
def test_a_rollback_loses_nothing_either(earlier: bool, scene: tuple[list[Edit], list[int]]) -> None:
    """Our fields are taken out while others write: in the end the rules are those that there would be without
    us. What is written leaves no mark of its own, so nobody may read in the moment between our put and our
    look. ``earlier``: whether another campaign's fields were there before, and stay.
    """
    edits, order = scene
    start = [rule("a"), rule("b"), rule("c")]
    if earlier:
        start = merge(start, FieldSet(request_headers=("x-earlier",)), marked("earlier", "1"))
    service = Ruleset()
    service.put(start)
    first = service.read()
    service.put(merge(first.rules, WANTED, marked("campaign", "1")))
    sent = [OwnWrite(1, service.versions[-1])]
    us = Us(service, lambda over: lambda rules: rollback(first.rules, rules, WANTED), first, sent)
    alone = play(start, edits, order, us, reads_between=False)
    assert same_rules(service.versions[-1], alone)


@settings(max_examples=300)
@given(st.permutations([0, 0, 0, 0, 0, 1, 1, 1, 1, 1]))
def test_two_campaigns_of_edgeshift_keep_each_others_fields(order: list[int]) -> None:
    """Another run whose writes fall between ours: the fields of both are in one rule at the end."""
    service = Ruleset()
    service.put([rule("a")])
    other = FieldSet(request_headers=("x-earlier",))
    ours = Us(service, merging())
    theirs = Us(service, lambda over: lambda rules: merge(rules, other, marked("earlier", over)))
    for who in order:
        runner = (ours, theirs)[who]
        if not runner.done:
            runner.step()
    for _ in range(6):
        for runner in (theirs, ours):
            runner.done, runner.next = False, None
            while not runner.done:
                runner.step()
    final = service.versions[-1]
    assert missing(final, WANTED) == () and missing(final, other) == ()
    assert [item["ref"] for item in final] == ["a", OUR_REF]


def test_a_version_that_ours_replaced_is_named() -> None:
    """A write between our reading and our put is told by the gap in the versions, and put again with ours."""
    service = Ruleset()
    service.put([rule("a")])
    us = Us(service, merging())
    us.step()
    service.put([rule("a"), rule("new")])
    us.step()
    assert [item["ref"] for item in service.versions[-1]] == ["a", OUR_REF]
    found = us.look()
    assert found.written == (3,) and found.overwritten == (2,) and found.unread == ()
    assert [item["ref"] for item in found.put or ()] == ["a", "new", OUR_REF]


def test_an_undisturbed_put_is_left_alone() -> None:
    """Where nobody else wrote, there is nothing to put again."""
    service = Ruleset()
    service.put([rule("a")])
    us = Us(service, merging())
    us.step()
    us.step()
    found = us.look()
    assert found.put is None and found.overwritten == () and found.written == (2,)


def test_a_write_with_the_mark_of_an_earlier_campaign_is_not_taken_for_ours() -> None:
    """Our rollback restores the mark that our rule had before us. Somebody who had read it then writes it
    too: what he wrote is seen to be replaced, and put again.
    """
    service = Ruleset()
    service.put([rule("a")])
    earlier = FieldSet(request_headers=("x-earlier",))
    service.put(merge(service.read().rules, earlier, marked("earlier", "1")))
    before = service.read()
    sent = OwnWrite(2, merge(before.rules, WANTED, marked("campaign", "2")))
    service.put(list(sent.rules))
    us = Us(service, lambda over: lambda rules: rollback(before.rules, rules, WANTED), before, [sent])
    us.step()
    service.put([*before.rules, rule("late")])
    us.step()
    found = us.look()
    assert found.written == (3, 5) and found.overwritten == (4,)
    assert [item["ref"] for item in found.put or ()] == ["a", OUR_REF, "late"]


@pytest.mark.parametrize("back", [False, True], ids=["commit", "rollback"])
def test_what_was_written_between_two_writes_of_ours_over_one_version_holds(back: bool) -> None:
    """The first one showed late, so that the same was sent again over the same version; somebody has built on
    the first one meanwhile.
    """
    service = Ruleset()
    service.put([rule("a")])
    base, sent = service.read(), []
    if back:
        sent.append(OwnWrite(1, merge(base.rules, WANTED, marked("campaign", "1"))))
        service.put(list(sent[0].rules))
    over = service.read()
    for earlier in (0, 1):
        mark = marked("campaign", over_version(over.number, earlier))
        put = rollback(base.rules, over.rules, WANTED) if back else merge(over.rules, WANTED, mark)
        sent.append(OwnWrite(over.number, put))
        service.put(put)
        if not earlier:
            service.put(changes("a", "x-more")(service.read().rules))  # type: ignore[arg-type]
    found = Us(service, merging(), base, sent).look()
    between = over.number + 2
    assert found.overwritten == (between,) and between not in found.written
    assert [item["name"] for item in found.rest[0]["action_parameters"]["request_fields"]] == [
        "x-a",
        "x-more",
    ]


def test_a_version_that_cannot_be_read_is_named() -> None:
    """What a missing version changed is not known: it is said, so that a person looks."""
    base = Version(4, [rule("a")])
    sent = OwnWrite(4, merge(base.rules, WANTED, marked("campaign", "4")))
    found = reconcile(base, [sent], [Version(7, sent.rules)], merging()("7"))
    assert found.unread == (5, 6) == found.overwritten and found.written == (7,)


@pytest.mark.parametrize("part", ["fields", "description", "enabled"])
def test_two_changes_of_one_rule_both_hold(part: str) -> None:
    """What two people did to different parts of one rule is merged."""
    base = [rule("a", "x-1", "x-2")]
    theirs = [rule("a", "x-1", "x-3")]
    mine = [
        {
            "fields": rule("a", "x-1", "x-2", "x-4"),
            "description": rule("a", "x-1", "x-2", description="mine"),
            "enabled": rule("a", "x-1", "x-2", enabled=False),
        }[part]
    ]
    (found,) = three_way(base, theirs, mine)
    expected = {"fields": ["x-1", "x-4", "x-3"]}.get(part, ["x-1", "x-3"])
    assert [item["name"] for item in found["action_parameters"]["request_fields"]] == expected
    assert found["description"] == mine[0]["description"] and found["enabled"] == mine[0]["enabled"]


def test_what_a_stranger_put_into_our_rule_stays_and_what_he_took_out_comes_back() -> None:
    """Our rule is ours for our own fields alone."""
    service = Ruleset()
    service.put([rule("a")])
    us = Us(service, merging())
    us.step()
    us.step()
    touched = copy.deepcopy(service.versions[-1])
    touched[-1]["action_parameters"]["request_fields"] = [{"name": "x-his"}]
    service.put(touched)
    found = us.look()
    assert [item["name"] for item in (found.put or [])[-1]["action_parameters"]["request_fields"]] == [
        "x-his",
        "x-ours",
    ]


def test_rules_that_share_a_ref_are_all_kept() -> None:
    """The service lets several rules have one ref."""
    shared = [rule("a", "x-1", id="1"), rule("a", "x-2", id="2")]
    added = [*shared, rule("new", id="3")]
    assert three_way(shared, added, shared) == added
