"""The fault harness's own rules: what it counts, what it complains of, what a share has."""

from __future__ import annotations

import gc
import json
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import pytest

from edgeshift.testbed.invariants.digests import body_digest
from edgeshift.testbed.invariants.requests import Request
from edgeshift.testbed.invariants.seen import CampaignFacts, CheckerInput, Signature, ZoneAtService
from tests.harness.campaigns.authority import BOTH, FOUR_EYES, ONE, TWO, roster_in
from tests.harness.campaigns.schedules import schedule
from tests.harness.cases import Case
from tests.harness.families import crowded
from tests.harness.families.every import all_cases, case_of
from tests.harness.oracles.reversible import Ending
from tests.harness.oracles.unknowns import is_unknown, met_and_resolved
from tests.harness.oracles.waf import Found, waf_complaints
from tests.harness.running.figures import BEGIN, END, figures, put_table, table
from tests.harness.running.kept import ROOT, Brought, Kept
from tests.harness.running.run import PLAYER
from tests.harness.running.share import stratified, time_of
from tests.harness.verdict import Verdict, added
from tests.kit.faults_worker import PROCESSES

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
ZONE = "a" * 32
BODY: dict[str, Any] = {"name": "default", "rules": [{"action": "execute", "expression": "true"}]}
SIGNED = Signature(by="ann", choice="approve", digest=body_digest(BODY), at=NOON)


def commit(second: float, **more: Any) -> Request:
    """A commit of the body that was signed, which took effect."""
    given: dict[str, Any] = {
        "seq": int(second),
        "time": NOON + timedelta(seconds=second),
        "method": "PUT",
        "query": "waf_migration=pending&phase_two=1",
        "call": "entrypoint.put",
        "zone": ZONE,
        "body_digest": body_digest(BODY),
        "status": 200,
        "effect": "scheduled",
    }
    return Request(**given | more)


def judged(*journal: Request, outcome: str = "migrated", migrated: bool = True, **more: Any) -> Found:
    """What the oracle has against the one zone."""
    facts = CampaignFacts(name="c", zones=frozenset({ZONE}), window=1, migration_limit=timedelta(seconds=3))
    zone = ZoneAtService(id=ZONE, name="z.example", plan="pro", migrated=migrated, bodies=(BODY,))
    given: dict[str, Any] = {"signatures": (SIGNED,), "campaigns": (facts,), "zones": (zone,)}
    reason = more.pop("reason", "because")
    return waf_complaints(Ending("z", outcome, reason), ZONE, CheckerInput(journal=journal, **given | more))


def test_a_signed_commit_that_is_in_force_is_as_it_is_to_be() -> None:
    """No complaint at all."""
    assert judged(commit(5)) == Found()


@pytest.mark.parametrize(
    "found",
    [
        judged(commit(5), signatures=()),
        judged(commit(-5)),
        judged(commit(5, body_digest="f" * 64)),
        judged(commit(5, log_only=True)),
        judged(commit(5), signatures=(SIGNED.model_copy(update={"choice": "reject"}),)),
        judged(commit(5), signatures=(SIGNED.model_copy(update={"zone": "b" * 32}),)),
    ],
)
def test_a_commit_that_nobody_had_signed_is_unsigned(found: Found) -> None:
    """By nobody, too late, of another body, of one that only logs, by a rejection, for another zone."""
    assert found.unsigned


@pytest.mark.parametrize(
    "later", [commit(9), commit(6, effect="none", status=400), commit(9, effect="none", status=502)]
)
def test_a_commit_after_one_that_took_effect_is_double(later: Request) -> None:
    """Whatever became of the second."""
    assert judged(commit(5, status=502), later).double


def test_a_commit_is_sent_again_once_a_migration_is_over_and_the_policy_says_so() -> None:
    """Not before its time has passed, and not without the policy's word."""
    first = commit(5, status=502, effect="none")
    facts = CampaignFacts(
        name="c",
        zones=frozenset({ZONE}),
        window=1,
        migration_limit=timedelta(seconds=3),
        resend_unchanged=1,
    )
    assert judged(first, commit(9), campaigns=(facts,)) == Found()
    assert judged(first, commit(7), campaigns=(facts,)).double
    assert judged(first, commit(9)).double


@pytest.mark.parametrize(
    "found",
    [
        judged(commit(5), migrated=False),
        judged(outcome="already_migrated", migrated=False),
        judged(outcome="migrated"),
        judged(commit(5), outcome="failed"),
        judged(commit(5), outcome="rejected"),
        judged(outcome="unknown", migrated=False, reason=""),
        judged(outcome="needs_support", migrated=False, reason=""),
    ],
)
def test_an_outcome_that_the_service_contradicts_is_a_lost_zone(found: Found) -> None:
    """Said to be migrated and not, said to be untouched and committed, or left without a reason."""
    assert found.lost


@pytest.mark.parametrize(
    ("answer", "unknown"),
    [
        ({"status": 200}, False),
        ({"status": 400, "effect": "none"}, False),
        ({"status": 429, "effect": "none", "fault": "rate_limit:before"}, False),
        ({"status": 502, "fault": "server_error:after"}, True),
        ({"status": None, "fault": "hang:before", "effect": "none"}, True),
        ({"status": 200, "fault": "not_json:after"}, True),
        ({"status": 200, "fault": "truncated:after"}, True),
        ({"status": 409, "effect": "none"}, True),
    ],
)
def test_an_answer_that_says_nothing_for_certain_is_unknown(answer: dict[str, Any], unknown: bool) -> None:
    """A refusal and a full limit say that nothing happened; 5xx, 408, 409 and what cannot be read do not."""
    request = commit(5, **answer)
    assert is_unknown(request) is unknown
    assert met_and_resolved([request], {ZONE: "migrated"}) == (int(unknown), int(unknown))
    assert met_and_resolved([request], {ZONE: "unknown"}) == (int(unknown), 0)


def test_every_family_is_told_of_in_the_docs() -> None:
    """By its name, in docs/reliability.md."""
    page = (ROOT / "docs" / "reliability.md").read_text()
    assert {case.family for case in all_cases() if f"`{case.family}`" not in page} == set()


def test_nearly_every_case_has_roots_and_every_policy_is_drawn() -> None:
    """Some of all ids are rehearsals without roots, fewer than one in eight; who has to sign differs."""
    drawn = [roster_in(case.id) for case in all_cases()]
    without = drawn.count(None)
    assert 0 < without < len(drawn) / 8
    for roster in (ONE, TWO, FOUR_EYES, BOTH):
        assert drawn.count(roster) > without / 2
        assert len(roster.approvers) == roster.required
    assert [roster_in("waf/1001") for _ in range(3)] == [roster_in("waf/1001")] * 3


def test_the_full_run_has_ten_thousand_zone_schedules() -> None:
    """And each of its cases is found by its id."""
    cases = all_cases()
    assert sum(case.zones for case in cases) >= 10_000
    for case in (cases[0], cases[-1]):
        assert case_of(case.id).zones == case.zones
    assert case_of("waf/17/24").zones == 24
    with pytest.raises(ValueError, match="there is no case 'waf/x'"):
        case_of("waf/x")


def test_a_crowd_is_larger_than_what_its_limit_serves() -> None:
    """All its zones may work at a time, each with more calls than would come at once; its one worker dies in
    each part of a zone's way; and the id alone gives the same schedule.
    """
    found = [case for case in all_cases() if case.family == crowded.FAMILY]
    assert [case.zones for case in found] == list(crowded.ZONES)
    for case in found:
        _, seed, zones = case.id.split("/")
        planned = crowded.crowd(int(seed), int(zones))
        assert planned == crowded.crowd(int(seed), int(zones)) != crowded.crowd(int(seed) + 1, int(zones))
        assert len(planned.zones) == case.zones <= planned.window
        assert planned.paced and planned.limit is not None and planned.processes == 1
        # A Professional zone makes five calls at the least, and is read before.
        assert 5 * case.zones > planned.limit.requests
        assert [kill.activity for kill in planned.kills] == [
            "prepare_waf_zone",
            "change_zone",
            "verify_waf_zone",
        ]
    assert case_of("crowded/17/24").zones == 24


def test_a_worker_process_of_a_player_begins_with_everything_loaded() -> None:
    """It loads neither its player's main module anew nor what the first call to the service needs, and does
    not look through what it was forked with for what could go.
    """
    program = PLAYER.replace("main()", "from tests.rules.test_fault_harness import _forked; _forked()")
    assert program != PLAYER
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, timeout=120
    )
    assert json.loads(done.stdout) == {"anew": False, "client": True, "frozen": True}, done.stderr


def _forked() -> None:
    """Print what a worker process says of itself."""
    ours, theirs = PROCESSES.Pipe()
    process = PROCESSES.Process(target=_tell, args=(theirs,))
    process.start()
    print(json.dumps(ours.recv()))
    process.join()


def _tell(to: Connection) -> None:
    loaded = set(sys.modules)
    client = {"httpcore", "anyio._backends._asyncio"} <= loaded
    to.send(
        {
            "anew": sys.modules["__main__"].__name__ == "__mp_main__",
            "client": client,
            "frozen": gc.get_freeze_count() > 10_000,
        }
    )


@pytest.fixture
def some() -> Iterator[list[Case]]:
    """Cases of two families, one ten times as large."""

    async def play(world: Any) -> Verdict:
        return Verdict()

    yield [Case(f"{name}/{n}", name, 1, play) for name, most in (("a", 40), ("b", 4)) for n in range(most)]


def test_a_share_has_of_every_family(some: list[Case]) -> None:
    """At least one case, the same ones of the same seed, and whoever stops early has seen of all."""
    few = stratified(some, 0.1, "1")
    assert [case.family for case in few].count("a") == 4
    assert {case.family for case in few} == {"a", "b"}
    assert few == stratified(some, 0.1, "1") != stratified(some, 0.1, "2")
    assert {case.family for case in stratified(some, 1.0, "1")[:2]} == {"a", "b"}
    assert len(stratified(some, 1.0, "1")) == len(some)


def test_a_share_is_a_part_or_a_time() -> None:
    """``5m`` and ``300`` are times, ``0.05`` and ``all`` are not."""
    assert time_of("5m") == time_of("300") == timedelta(minutes=5)
    assert time_of("0.05") is time_of("all") is time_of("1") is None


def test_a_seed_is_a_schedule() -> None:
    """The same one each time, another one of another seed or area."""
    assert schedule(3, "waf", 20) == schedule(3, "waf", 20)
    assert schedule(3, "waf", 20) != schedule(4, "waf", 20)


def test_verdicts_are_kept_for_the_code_that_they_are_about(tmp_path: Path) -> None:
    """On other code the case is played again."""
    kept = Kept(tmp_path)
    kept.keep("waf/1", Verdict(zone_schedules=7))
    assert kept.verdict("waf/1") == Verdict(zone_schedules=7)
    assert kept.verdict("waf/2") is None
    at = kept.folder_of("waf/1")
    kept.keep("waf/1", Verdict(not_final=[f"z2: failed, {at}/state/archive: damaged"], complaints=["late"]))
    # On another machine nothing lies there.
    assert kept.verdict("waf/1") == Verdict(
        not_final=["z2: failed, state/archive: damaged"], complaints=["late"]
    )
    kept.code = "another"
    assert kept.verdict("waf/1") is None


def test_figures_add_up_and_become_the_table(some: list[Case], tmp_path: Path) -> None:
    """Over all cases and of each family; what is around the marks of the page stays."""
    one = Verdict(
        zone_schedules=2,
        unknown_met=4,
        unknown_resolved=3,
        faults={"worker death": 1, "hang:after": 2},
        complaints=["x"],
    )
    assert added([one, one]).faults == {"hang:after": 4, "worker death": 2}
    unknown = Case("unknown/waf/1", "unknown", 2, some[0].play)
    found = figures(
        {some[0]: one, unknown: one}, seed=1, share="all", seconds=60.0, mutants=tmp_path / "none.json"
    )
    assert (found["zone_schedules"], found["complaints"]) == (4, 2)
    assert found["unknown_resolved_share"] == 0.75
    assert found["mutants_total"] is None
    assert found["families"]["a"]["worker_deaths"] == 1
    page = tmp_path / "page.md"
    page.write_text(f"before\n{BEGIN}\nold\n{END}\nafter\n")
    put_table(page, table(found))
    text = page.read_text()
    assert text.startswith("before\n") and text.endswith("\nafter\n") and "old" not in text
    assert "75.0% of 4" in text


def test_a_run_goes_on_from_verdicts_of_elsewhere(tmp_path: Path) -> None:
    """On the same code, and but for those with a complaint; those of the folder come first."""
    clean, late = (
        Verdict(zone_schedules=3, faults={"hang": 2}),
        Verdict(zone_schedules=1, complaints=["late"]),
    )
    here = Kept(tmp_path / "here")
    here.keep("waf/1", clean)
    here.keep("waf/2", late)
    here.spent(40)
    file = tmp_path / "verdicts.jsonl"
    here.to_bring(["waf/1", "waf/2", "waf/3"]).put(file)
    there = Kept(tmp_path / "there", file)
    assert [there.verdict(f"waf/{number}") for number in (1, 2, 3)] == [clean, None, None]
    assert there.spent(2) == 42
    there.keep("waf/1", late)
    assert there.verdict("waf/1") == late
    Brought(code="other", verdicts={"waf/1": clean}).put(file)
    assert Kept(tmp_path / "elsewhere", file).verdict("waf/1") is None
    assert Kept(tmp_path / "nowhere", tmp_path / "none").verdict("waf/1") is None
