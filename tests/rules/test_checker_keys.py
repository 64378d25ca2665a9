"""Rule 12: what is changed counts as signed only where statements in the archive prove it, whatever people
say to have signed, and whatever Temporal was told.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from edgeshift.areas.esc.features import Difference, Feature, Kind
from edgeshift.areas.esc.report import Controls, Coverage, ProbeReport
from edgeshift.authority.statements import DecisionStatement, StartStatement, Statement, WaveSaid, sealed
from edgeshift.messages import Step
from edgeshift.model.fleet import Area
from edgeshift.model.sign_off import Choice
from edgeshift.stores.documents import encoded
from edgeshift.testbed.invariants import CheckerInput, check_rules
from edgeshift.testbed.invariants.archived import ArchiveFolder
from edgeshift.testbed.invariants.keys import EvidenceFile, Sent, Signed, unsigned_by_key, verified
from edgeshift.testbed.invariants.requests import Request
from edgeshift.testbed.invariants.seen import IntentFile
from tests.kit import APPROVER, OPERATOR
from tests.kit import signing as kit
from tests.rules.checker_kit import PRO, at, campaign, changed, well_run

SERVICE = "http://127.0.0.1:8780/client/v4"
ONE = kit.Roster()
WAVES = (WaveSaid(name="all", first=0, end=1),)


def about(by: str, second: float = 0) -> dict[str, Any]:
    """What every statement says, of one that was signed then."""
    said = kit.about(SERVICE, "c", Area.WAF, by)
    return {**said, "issued": at(second), "expires": at(second) + timedelta(days=1)}


def signed(statement: Statement, by: str = "", number: int = 1, zones: tuple[str, ...] = ()) -> Signed:
    """The statement as the checker finds it in the archive."""
    signer = kit.key_of(by or statement.by, number)
    found = verified(sealed(statement, asyncio.run(signer.sign(statement.bytes))))
    assert found is not None
    return found.model_copy(update={"zones": zones, "stored": statement.issued})


def start(by: str = OPERATOR, second: float = 0, zones: tuple[str, ...] = (PRO,), **more: Any) -> Signed:
    """A signed start."""
    said = {"spec": "1" * 64, "targets": "2" * 64, "count": 1, "waves": WAVES, **more}
    statement = StartStatement(**{**about(by, second), **said})
    return signed(statement, zones=zones)


def commit() -> Request:
    """The commit of the Professional zone in a well-run campaign."""
    return next(one for one in well_run().journal if one.commits and one.zone == PRO)


def approval(begun: Signed, by: str = APPROVER, key: str = "", number: int = 1, **more: Any) -> Signed:
    """A signed approval of that commit's digest."""
    said: dict[str, Any] = {
        **about(by, 1),
        "start": begun.digest,
        "step": Step.COMMIT,
        "choice": Choice.APPROVE,
        "about": "proposal",
        "subjects": (commit().body_digest,),
        "zone": PRO,
        "attempt": 1,
    }
    return signed(DecisionStatement(**{**said, **more}), key, number)


def judged(*statements: Signed, roster: kit.Roster = ONE, **more: Any) -> list[str]:
    """What is said against the Professional zone's commit, where these are the statements."""
    seen: CheckerInput = changed(roster=roster.seen, statements=statements, **more)
    rule = next(check for check in check_rules(seen) if check.rule == 12)
    assert rule.checked
    return [text for text in rule.violations if "one.example" in text]


def test_what_enough_people_signed_is_signed() -> None:
    """One of one, and two of two; and where people have no keys, nothing is asked of them."""
    begun = start()
    assert judged(begun, approval(begun)) == []
    two = kit.Roster(required=2)
    assert judged(begun, approval(begun), approval(begun, "bob"), roster=two) == []
    assert not [check for check in check_rules(well_run()) if check.rule == 12]
    # What people say to have signed is rule 1's to say, with keys and without.
    assert check_rules(changed(roster=ONE.seen, statements=()))[0].violations == []


def about_to_send(attempt: int = 1, second: float = 9) -> IntentFile:
    """What the archive has of that commit."""
    return IntentFile(zone=PRO, area="waf", step="commit", at=at(second), attempt=attempt)


Forged = Callable[[Signed], tuple[Signed, ...]]

FORGED: dict[str, tuple[Forged, str]] = {
    "nothing": (lambda begun: (), "nobody who may has signed the campaign's start"),
    "no approval": (lambda begun: (begun,), "0 of 1"),
    "a start by an approver": (lambda begun: (start(APPROVER),), "nobody who may"),
    "of another zone's list": (
        lambda begun: (other := start(zones=("f" * 32,)), approval(other)),
        "0 of 1",
    ),
    "by an operator": (lambda begun: (begun, approval(begun, "opal")), "0 of 1"),
    "by an approver of another account": (lambda begun: (begun, approval(begun, "erin")), "0 of 1"),
    "in another's name": (lambda begun: (begun, approval(begun, key="bob")), "0 of 1"),
    "by a key that nobody has": (lambda begun: (begun, approval(begun, number=9)), "0 of 1"),
    "of another digest": (lambda begun: (begun, approval(begun, subjects=("e" * 64,))), "0 of 1"),
    "of another zone": (lambda begun: (begun, approval(begun, zone="e" * 32)), "0 of 1"),
    "of another step": (lambda begun: (begun, approval(begun, step=Step.DELETE_OVERRIDES)), "0 of 1"),
    "of an earlier start": (
        lambda begun: (begun, earlier := start(second=-90), approval(earlier)),
        "0 of 1",
    ),
    "of another service": (lambda begun: (begun, approval(begun, service=f"{SERVICE}/x")), "0 of 1"),
    "of another area": (lambda begun: (begun, approval(begun, area=Area.ESC)), "0 of 1"),
    "of another wave": (lambda begun: (begun, approval(begun, wave=1)), "0 of 1"),
    "of another attempt": (lambda begun: (begun, approval(begun, attempt=2)), "0 of 1"),
    "a rejection": (lambda begun: (begun, approval(begun, choice=Choice.REJECT)), "had rejected it"),
    "expired": (
        lambda begun: (begun, approval(begun, issued=at(-90), expires=at(-60))),
        "0 of 1",
    ),
    "from afterwards": (lambda begun: (begun, approval(begun, issued=at(300))), "0 of 1"),
}


@pytest.mark.parametrize("name", FORGED)
def test_what_does_not_count_is_complained_of(name: str) -> None:
    """Each is no approval, though the approver says to have signed."""
    forged, text = FORGED[name]
    (found,) = judged(*forged(start()), intents=(about_to_send(),))
    assert "by key" in found and text in found


def test_another_campaign_over_the_same_zones_does_not_supersede_this_one() -> None:
    """Its start is later, and is none of this one's."""
    begun = start()
    rival = signed(
        StartStatement(
            **{**about("rita", 4), "campaign": "d"}, spec="1" * 64, targets="2" * 64, count=1, waves=WAVES
        ),
        zones=(PRO,),
    )
    assert judged(begun, approval(begun), rival) == []


def test_people_are_counted_and_not_keys_nor_names() -> None:
    """Of two that are needed: one with two keys, and two names with one key, are one; with four eyes, whoever
    has started is none.
    """
    begun = start()
    two = kit.Roster(required=2, keys={APPROVER: 2})
    both = (approval(begun), approval(begun, number=2))
    assert "1 of 2" in judged(begun, *both, roster=two)[0]
    eyes = kit.Roster(four_eyes=True).with_role(OPERATOR, "approver")
    assert "0 of 1" in judged(begun, approval(begun, OPERATOR), roster=eyes)[0]


def on_plan(plan: str) -> tuple[Request, ...]:
    """The journal of a well-run campaign, the Professional zone's commit by a zone of another plan."""
    sent = commit().seq
    return tuple(
        one.model_copy(update={"plan": plan}) if one.seq == sent else one for one in well_run().journal
    )


def test_evidence_that_did_not_pass_has_to_be_named() -> None:
    """An approval that names it counts; one of the fingerprint, or of the zone alone, does not. Of a zone
    that is not validated somebody else has laid it there.
    """
    begun = start()
    evidence = EvidenceFile(digest="9" * 64, zone=PRO, proposal=commit().body_digest or "", verdict="fail")
    validated = on_plan("enterprise")
    assert judged(begun, approval(begun), evidence=(evidence,), journal=validated)
    named = approval(begun, evidence="9" * 64)
    assert judged(begun, named, evidence=(evidence,), journal=validated) == []
    passed = evidence.model_copy(update={"verdict": "pass"})
    assert judged(begun, approval(begun), evidence=(passed,), journal=validated) == []
    assert judged(begun, approval(begun), evidence=(evidence,), journal=on_plan("pro")) == []
    elsewhere = evidence.model_copy(update={"area": "esc"})
    assert judged(begun, approval(begun), evidence=(elsewhere,), journal=validated) == []


DIFFERS = Difference(
    host="a.example",
    path="/",
    kind=Kind.STATUS,
    what="",
    feature=Feature.REDIRECT_RULE,
    before="301",
    after="200",
)

DOUBTS: dict[str, tuple[Any, str]] = {
    "none": ({}, "pass"),
    "A/A pairs differ": ({"controls": Controls(pairs=9, alarms=1)}, "inconclusive"),
    "a host past the edge": ({"coverage": Coverage(hosts_unmarked=("a.example",))}, "inconclusive"),
    "a zone without an answer": ({"coverage": Coverage(zones_covered=2, zones_probed=1)}, "inconclusive"),
    "off for the account": ({"off_above": True}, "inconclusive"),
    "perhaps off for the account": ({"untold_above": True}, "inconclusive"),
    "on for the account, since something differs": (
        {"untold_above": True, "differences": (DIFFERS,)},
        "pass",
    ),
}


@pytest.mark.parametrize("doubt", DOUBTS)
def test_a_probe_with_doubts_is_evidence_that_did_not_pass(doubt: str, tmp_path: Path) -> None:
    """Of its scope, whatever plan that has: only an approval that names it counts."""
    more, verdict = DOUBTS[doubt]
    report = ProbeReport(made_at=at(0), rounds=2, zone=PRO, proposal="7" * 64, **more)
    data = encoded(report)
    (tmp_path / "probe").write_bytes(data)
    (found,) = ArchiveFolder(tmp_path).evidence()
    assert (found.area, found.zone, found.proposal) == ("esc", PRO, "7" * 64)
    assert found.digest == hashlib.sha256(data).hexdigest() and found.verdict == verdict
    facts: dict[str, Any] = {"user": "u", "zone": PRO, "plan": "pro", "status": 200, "effect": "applied"}
    request = Request(seq=1, time=at(9), method="POST", call="esc.set", esc={"asked": ["always"]}, **facts)

    def against(**said: Any) -> str | None:
        """What is said against turning it off by this approval."""
        begun = start(area=Area.ESC)
        statements = (begun, approval(begun, area=Area.ESC, **{"subjects": ("7" * 64,), **said}))
        sent = Sent(request=request, roster=ONE.seen, statements=statements)
        return unsigned_by_key(sent, {"7" * 64, "8" * 64}, (found,))

    alike = against(about="fingerprint", subjects=("8" * 64,), zone=None, attempt=None)
    assert alike == (None if verdict == "pass" else "by key: 0 of 1 people had signed it")
    assert against(evidence=found.digest) is None


def test_the_archive_gives_what_verifies_under_its_own_digest(tmp_path: Path) -> None:
    """A statement that was changed, one under another name, and what is none, are passed over."""
    statement = DecisionStatement(
        **about(APPROVER),
        start="0" * 64,
        step=Step.COMMIT,
        choice=Choice.APPROVE,
        about="proposal",
        subjects=("1" * 64,),
        zone=PRO,
        attempt=1,
    )
    data = sealed(statement, asyncio.run(kit.key_of(APPROVER).sign(statement.bytes)))
    folder = tmp_path / "signed" / "c" / "statement"
    folder.mkdir(parents=True)
    (folder / statement.digest).write_bytes(data)
    (folder / ("a" * 64)).write_bytes(data)
    (folder / ("b" * 64)).write_bytes(data.replace(b'"approve"', b'"reject"'))
    (folder / ("c" * 64)).write_bytes(b"rubbish")
    (found,) = ArchiveFolder(tmp_path).statements()
    assert found.digest == statement.digest and found.statement["by"] == APPROVER
    assert found.stored is None
    place = tmp_path / "signed" / "c" / "decision" / ("1" * 64) / statement.digest
    place.parent.mkdir(parents=True)
    place.write_bytes(b"{}")
    os.utime(place, (1_900_000_000, 1_900_000_000))
    (found,) = ArchiveFolder(tmp_path).statements()
    assert found.stored == datetime.fromtimestamp(1_900_000_000, UTC)


def test_a_start_for_another_service_is_none_of_this_campaign() -> None:
    """A rehearsal of the same name, elsewhere."""
    begun = start()
    here, away = (campaign(service=where).campaigns for where in (SERVICE, f"{SERVICE}/x"))
    assert judged(begun, approval(begun), campaigns=here) == []
    assert "nobody who may" in judged(begun, approval(begun), campaigns=away)[0]


def test_a_start_is_read_with_what_its_specification_asks_of_sign_offs(tmp_path: Path) -> None:
    """The approvers whom it lists, and whether each zone is signed for itself."""
    spec = json.dumps({"sign_off": {"approvers": [APPROVER], "per": "zone"}}).encode()
    (tmp_path / "spec").write_bytes(spec)
    digest = hashlib.sha256(spec).hexdigest()
    statement = StartStatement(**about(OPERATOR), spec=digest, targets="2" * 64, count=1, waves=WAVES)
    folder = tmp_path / "signed" / "c" / "statement"
    folder.mkdir(parents=True)
    data = sealed(statement, asyncio.run(kit.key_of(OPERATOR).sign(statement.bytes)))
    (folder / statement.digest).write_bytes(data)
    (found,) = ArchiveFolder(tmp_path).statements()
    assert found.approvers == {APPROVER} and found.one_by_one


def test_what_a_worker_that_died_left_half_written_is_no_intent(tmp_path: Path) -> None:
    """Its name goes on behind "#"; the folder is read all the same."""
    intents = tmp_path / "intent" / ("0" * 32) / "waf"
    intents.mkdir(parents=True)
    (intents / "permit-1#1130267094841551239").write_bytes(b"")
    assert ArchiveFolder(tmp_path).intents() == ()
