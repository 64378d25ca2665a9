"""The timelines of esc and log-fields: probes, looks, rollbacks, zones held with their account."""

from __future__ import annotations

import io
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from edgeshift.areas.esc.probe import Controls, Coverage, Difference, Feature, Kind, ProbeReport
from edgeshift.areas.log_fields.entries import FieldSeen, FieldState, Judgement
from edgeshift.areas.log_fields.names import Kind as FieldKind
from edgeshift.campaign.target_states import TargetState
from edgeshift.messages import ZonePhase
from edgeshift.model.fleet import Area, Plan, Zone
from edgeshift.model.reason_texts import text_of
from edgeshift.model.reasons import Reason, ReasonCode
from edgeshift.stores.archive import Archive
from edgeshift.stores.documents import Advice, Proposal, put_document
from edgeshift.stores.documents.areas.esc import EscRecord
from edgeshift.stores.documents.areas.log_fields import LogFieldsRecord, StepWritten
from edgeshift.views.archived import with_archived
from edgeshift.views.entries import EntryKind, Timeline
from edgeshift.views.events import Event, Run
from edgeshift.views.history_view import history_view
from edgeshift.views.rows import AS_PLACE, ZoneRow, chosen
from edgeshift.views.timeline import build_timeline
from edgeshift.views.words import look
from tests.kit.stored import put_json

ZONE, DIGEST, FINGERPRINT = "0" * 32, "d" * 64, "f" * 64
BEGAN = datetime(2023, 11, 1, 12, 0, tzinfo=UTC)
APPROVED = {"choice": "approve", "digest": FINGERPRINT, "by": "ada", "at": "2023-11-01T12:00:05Z"}

SHOP = Zone(id=ZONE, name="shop.example", account="a" * 32, plan=Plan.ENTERPRISE)
WATCHED: dict[str, Any] = {
    "zone": SHOP,
    "campaign": "campaign/autumn",
    "digest": DIGEST,
    "snapshot": "5" * 64,
    "proposal": "6" * 64,
    "why": "",
    "said": "as agreed",
    "changed_at": BEGAN,
    "aftercare": Advice(),
}

PROBE = ProbeReport(
    differences=(
        Difference(
            host="shop.example",
            path="/old",
            kind=Kind.REDIRECT,
            what="location",
            feature=Feature.REDIRECT_RULE,
            before="301 /new",
            after="404",
        ),
    ),
    coverage=Coverage(hosts_tried=("shop.example",), hosts_reached=("shop.example",), urls=12),
    controls=Controls(pairs=12, alarms=0),
    made_at=BEGAN,
    rounds=3,
)


class History:
    """Writes the history of one target, one event a second."""

    def __init__(self, area: Area, workflow: str, **zone: Any) -> None:
        self.events: list[Event] = []
        start = {
            "campaign": "campaign/autumn",
            "attempt": 1,
            "area": area.value,
            "started_by": "olga",
            "target": {"wave": 0, "zone": {"id": ZONE, "name": "shop.example", "plan": "enterprise", **zone}},
        }
        self.add("WorkflowExecutionStarted", name=workflow, input=(start,))

    def add(self, type: str, **fields: Any) -> int:
        """Append an event; its number."""
        number = len(self.events) + 1
        at = BEGAN + timedelta(seconds=number)
        self.events.append(Event(id=number, at=at, type=type, **fields))
        return number

    def activity(self, name: str, given: dict[str, Any], result: dict[str, Any] | None) -> None:
        """A remote activity that ended, or failed where it has no result."""
        scheduled = self.add("ActivityTaskScheduled", name=name, input=(given,))
        self.add("ActivityTaskStarted", refers=scheduled)
        if result is None:
            self.add("ActivityTaskFailed", refers=scheduled, failure="it failed")
        else:
            self.add("ActivityTaskCompleted", refers=scheduled, result=(result,))

    def change(self, step: str, *decisions: dict[str, Any], number: int = 7, **result: Any) -> None:
        """A mutating step that was answered."""
        given = {
            "step": step,
            "permit": {"number": number, "step": step},
            "digest": DIGEST,
            "fingerprint": FINGERPRINT,
            "decisions": list(decisions),
        }
        self.activity("change_zone", given, {"status": "answered", "http_status": 200, **result})

    def settle(self, wanted: bool) -> None:
        """The service was read until it showed it."""
        self.activity(
            "settle_esc_scope",
            {"wanted": wanted, "since": "x", "limit": 1},
            {"reached": True, "unchanged": False, "reason": ""},
        )

    def watch(self, **result: Any) -> None:
        """One look."""
        given = {"since": "x", "last": False, "back": result.pop("back", False)}
        self.activity(
            "watch_esc_scope", given, {"worse": "", "done": False, "said": "", "record": "", **result}
        )

    def close(self, outcome: str, reason: str, *why: Reason) -> None:
        """The workflow ends."""
        found = {"outcome": outcome, "reason": reason, "why": [one.model_dump(mode="json") for one in why]}
        self.add("WorkflowExecutionCompleted", result=(found,))

    def told(self) -> Timeline:
        """The timeline of this one run."""
        return build_timeline(ZONE, [Run(run_id="r1", events=tuple(self.events))])


def an_esc_history(probe: str = "a" * 64, proposal: str = "b" * 64) -> History:
    """A scope up to the change."""
    found = History(Area.ESC, "EscScope")
    found.change("set_secret")
    prepared = {"digest": DIGEST, "fingerprint": FINGERPRINT, "step": "commit", "proposal": proposal}
    gathered = {"evidence": probe, "verdict": "pass", "why": ""}
    found.activity(
        "probe_esc_scope", {"sequence": 2, "prepared": {}}, {"prepared": prepared, "gathered": gathered}
    )
    found.change("commit", APPROVED)
    found.settle(True)
    return found


def shown(timeline: Timeline) -> str:
    """The timeline on a terminal."""
    console = Console(width=100, record=True, file=io.StringIO())
    console.print(history_view(timeline))
    return console.export_text()


def test_a_scope_that_settled_is_told_in_its_own_words() -> None:
    """Who agreed, that a test secret needs nobody's, and what the outcome is called."""
    history = an_esc_history()
    history.watch()
    history.watch(done=True, said="esc off, 12 URL(s) answer as was agreed")
    history.close("settled", "esc off, 12 URL(s) answer as was agreed")
    found = history.told()
    assert found.sentence.startswith(
        "Esc was turned off for shop.example by campaign autumn, settled on 2023"
    )
    assert "ada agreed to what was sent" in found.sentence
    attempt = found.attempts[0]
    assert [item.step for item in attempt.sendings] == ["set_secret", "commit"]
    secret, commit = (entry for entry in attempt.entries if entry.kind is EntryKind.SENT)
    assert secret.because == ["permit 7", "no sign-off is needed for this step"]
    assert "what turns esc off" in commit.text and any("ada approved" in why for why in commit.because)
    looks = [entry for entry in attempt.entries if entry.kind is EntryKind.WATCHED]
    assert [entry.technical for entry in looks] == [True, False]
    assert attempt.entries[-1].text.startswith("esc off: esc off, 12 URL(s)")
    assert attempt.entries[-1].outcome == "settled"
    assert "✓ esc off" in shown(found)


def test_a_way_back_is_told_with_its_reason() -> None:
    """It needs neither a sign-off nor a permit, and nobody is missed for it."""
    history = an_esc_history()
    history.watch(worse="3 of 12 URLs fail that did not fail before")
    history.change("roll_back", number=-1)
    history.settle(False)
    history.watch(back=True, done=True, said="12 URL(s) answer as before")
    history.close("rolled_back", "3 of 12 URLs fail that did not fail before; rolled back in 2.1 s")
    found = history.told()
    assert found.sentence.startswith("Esc was turned on again for shop.example by campaign autumn")
    assert "rolled back in 2.1 s" in found.sentence
    text = shown(found)
    assert "NO DECISION" not in text and "permit -1" not in text
    assert "the rollback needs neither a sign-off nor a permit" in text
    assert "worse than agreed, so it is undone - 3 of 12 URLs fail" in text
    assert "the service shows esc on again" in text and "↶ esc on again" in text


@pytest.mark.parametrize(
    "outcome", ["already_settled", "rejected", "unknown", "failed", "blocked", "on_hold"]
)
def test_every_other_end_has_a_sentence(outcome: str) -> None:
    """None of them says that anything was migrated."""
    for area, workflow in ((Area.ESC, "EscScope"), (Area.LOG_FIELDS, "LogFieldsZone")):
        history = History(area, workflow)
        history.close(outcome, "for a reason")
        sentence = history.told().sentence
        assert "shop.example" in sentence and "migrated" not in sentence
        assert "nothing was sent" in sentence


async def test_the_archive_is_told_with_the_history(tmp_path: Path) -> None:
    """The differences with the features that replace them, coverage, controls; and what came after."""
    archive = Archive(tmp_path)
    probe = await put_document(archive, PROBE)
    proposal = await put_document(archive, Proposal(body={}, warnings=("the test secret stays",)))
    history = an_esc_history(probe, proposal)
    record = await put_document(archive, EscRecord(**WATCHED, evidence=probe))
    history.watch(done=True, said="as agreed", record=record)
    history.watch(done=True, said="once more", record="c" * 64)
    text = shown(await with_archived(history.told(), archive))
    assert "redirect rule: redirect location 301 /new → 404 at shop.example/old" in text
    assert "A/A controls: 0 of 12 pairs differ" in text and "probed 12 URLs of 1 host" in text
    assert "to know: the test secret stays" in text
    assert "changed as agreed: 1 redirect rule" in text
    assert "the archive does not have cccccccccccc" in text


async def test_a_document_that_cannot_be_read_is_named_and_the_rest_is_told(tmp_path: Path) -> None:
    """What it had to be, and what is the matter with it."""
    archive = Archive(tmp_path)
    probe = await put_document(archive, PROBE)
    other = await put_json(archive, {"warnings": ["without a body"]})
    history = an_esc_history(probe, other)
    record = await put_json(archive, [1])
    history.watch(done=True, said="as agreed", record=record)
    text = " ".join(shown(await with_archived(history.told(), archive)).split())
    assert f"the proposal {other[:12]} in the archive cannot be read: body: Field required" in text
    assert f"the zone record {record[:12]} in the archive cannot be read" in text
    assert "A/A controls: 0 of 12 pairs differ" in text


async def test_written_rules_and_log_entries_are_told(tmp_path: Path) -> None:
    """Versions of others that were merged, and of each field whether it arrives."""
    archive = Archive(tmp_path)
    judged = Judgement(
        entries=40,
        full=2,
        fields=(
            FieldSeen(kind=FieldKind.REQUEST, name="x-a", state=FieldState.SEEN, entries=31),
            FieldSeen(kind=FieldKind.COOKIE, name="Id", state=FieldState.NEVER_SENT, entries=0),
        ),
    )
    evidence = await put_document(archive, judged)
    record = await put_document(archive, LogFieldsRecord(**WATCHED, evidence=evidence, found=""))
    found = await put_document(
        archive,
        StepWritten(
            zone=SHOP,
            step="commit",
            permit="p-1",
            service_time=BEGAN,
            versions=(4, 6),
            overwritten=(5,),
            jobs=(2,),
            created_ruleset=True,
        ),
    )
    history = History(Area.LOG_FIELDS, "LogFieldsZone")
    history.change("commit", APPROVED, found=found)
    history.watch(done=True, said="1 of 2 fields seen in 40 log entries", record=record)
    history.close("settled", "1 of 2 fields seen in 40 log entries")
    told = history.told()
    assert told.sentence.startswith("The custom fields of shop.example were written by campaign autumn")
    text = shown(await with_archived(told, archive))
    assert "somebody else wrote version 5 meanwhile: merged, put again" in text
    assert "request header x-a: seen in 31 entries" in text
    assert "cookie Id: in no entry" in text and "40 log entries read, 2 of them full" in text


def test_fields_that_were_kept_unverified_get_no_tick_and_say_why() -> None:
    """In the heading of the attempt, and in the sentence that answers first."""
    history = History(Area.LOG_FIELDS, "LogFieldsZone")
    history.change("commit", APPROVED)
    kept = Reason(code=ReasonCode.FIELDS_KEPT_UNVERIFIED, said="no log entry came")
    history.close("settled", text_of(kept), kept)
    told = history.told()
    text = shown(told)
    assert "○ fields written, not verified" in text and "✓" not in text
    assert "(written, but not verified: no log entry came): ada agreed to what was sent" in told.sentence
    seen = History(Area.LOG_FIELDS, "LogFieldsZone")
    seen.close("settled", "all seen", Reason(code=ReasonCode.OTHER, words="all seen"))
    assert "✓ fields written" in shown(seen.told())


def test_a_zone_that_was_held_says_for_whom() -> None:
    """Its account's workflow tells the rest."""
    hold = {"zone_id": ZONE, "holder": f"account/{'a' * 32}/esc", "campaign": "campaign/autumn"}
    events = (
        Event(id=1, at=BEGAN, type="WorkflowExecutionStarted", name="ZoneHold", input=(hold,)),
        Event(id=2, at=BEGAN, type="WorkflowExecutionSignaled", name="release"),
        Event(id=3, at=BEGAN, type="WorkflowExecutionCompleted"),
    )
    found = build_timeline(ZONE, [Run(run_id="r", events=events)])
    assert found.area is Area.ESC
    assert f"was held for account/{'a' * 32}/esc until 2023-11-01" in found.sentence
    assert f"Held for account/{'a' * 32}/esc" in shown(found)
    still = build_timeline(ZONE, [Run(run_id="r", events=events[:1])])
    assert "and still is" in still.sentence


def test_an_account_is_one_target() -> None:
    """It has no plan of its own, and holds its zones."""
    history = History(Area.ESC, "EscScope", kind="account", plan="other", covers=3)
    history.activity("hold_zones", {"holder": "account/x/esc", "zones": "e" * 64}, {"others": []})
    history.activity("release_zones", {"holder": "account/x/esc", "zones": "e" * 64}, {})
    found = history.told()
    assert (found.kind, found.plan) == ("account", "")
    texts = [entry.text for entry in found.attempts[0].entries]
    assert "holds every zone of the account" in texts and "let go of the account's zones" in texts


def test_activities_that_failed_are_told_too() -> None:
    """A probe or a look that failed leaves a line, and no false one."""
    history = an_esc_history()
    history.activity("watch_esc_scope", {"since": "x", "back": False, "last": False}, None)
    history.activity("settle_esc_scope", {"wanted": True, "since": "x"}, None)
    text = shown(history.told())
    assert "could not see what became of it" in text and text.count("failed: it failed") == 2


def test_an_activity_is_told_by_its_name() -> None:
    """Whatever its result looks like; what another area tells of its own is not told here."""
    history = History(Area.LOG_FIELDS, "LogFieldsZone")
    history.activity("count_entries", {}, {"verdict": "ready", "snapshot": "a" * 64})
    history.activity("probe_esc_scope", {}, {"prepared": {}, "gathered": {}})
    history.activity("prepare_log_fields_zone", {}, {"verdict": "ready", "snapshot": "a" * 64})
    texts = [entry.text for entry in history.told().attempts[0].entries]
    assert texts[1:] == ["did count entries", "did probe esc scope", "read the zone: ready"]


@pytest.mark.parametrize("area", Area)
def test_every_place_has_one_word_in_every_area(area: Area) -> None:
    """No two places are called alike, the kind depends on no area, and people may ask by the word."""
    labels = [look(place.name.lower(), area).label for place in TargetState]
    assert len(set(labels)) == len(labels)
    for place in TargetState:
        assert look(place.name.lower(), area).kind is look(place.name.lower()).kind
    assert (area is Area.WAF) == ("validation" in look("waiting", area).label)
    for where in ("settled", "rolled_back", "waiting"):
        row = ZoneRow(
            index=0, id=ZONE, name="a.example", account="", plan="pro", wave=0, place=where, area=area
        )
        for asked in (where, look(where, area).label, look(where).label):
            assert chosen([row], phase=asked), (area, asked)


@pytest.mark.parametrize("phase", ZonePhase)
def test_every_phase_of_a_zone_can_be_asked_for(phase: ZonePhase) -> None:
    """As the place of the campaign's ledger that it is, or as one that its own word alone tells of."""
    place = AS_PLACE.get(phase.value, phase.value)
    assert place in {one.name.lower() for one in TargetState} | {"closed", "rolling_back"}
