"""What a step of log-fields sends where readings lag behind, turns come late, or jobs share a name."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from activities.change.intent_records import ClosedAs, closed_as
from activities.log_fields.reading import read_sound
from activities.log_fields.ruleset_reading import find_ruleset, present_ruleset, version_of, versions_since
from edgeshift.areas.log_fields import OUR_REF
from edgeshift.areas.log_fields.jobs import new_options
from edgeshift.areas.log_fields.terms import NewJobSpec
from edgeshift.messages import ChangeStatus, Step
from edgeshift.rate_limit.terms import Lane
from edgeshift.rate_limit.unpaced import Unpaced
from edgeshift.runtime.clock import SystemClock
from edgeshift.service_api import NotUnderstood
from edgeshift.testbed.simulator.rulesets import Rulesets
from tests.service.log_writes_kit import LATE, Writes, log_writes

OURS, TEAM, MEANWHILE = "Custom log fields, kept by edgeshift", "of another team", "written meanwhile"
DESTINATION = "r2://bank/logs"
JOB: dict[str, Any] = {"destination": DESTINATION, "name": "customers", "logpull_options": "fields=RayID"}

AS_SIGNED = new_options(NewJobSpec(destination="env:D"), ["RequestHeaders"])
"""What the new job lists."""


PAGE: dict[str, Any] = {"status": 404, "body": "<html>not here</html>"}
"""What a gateway between may answer."""


@pytest.fixture
def new(monkeypatch: pytest.MonkeyPatch) -> NewJobSpec:
    """The log job that zones without one get."""
    monkeypatch.setenv("EDGESHIFT_TEST_DESTINATION", DESTINATION)
    return NewJobSpec(destination="env:EDGESHIFT_TEST_DESTINATION", name="{zone}")


async def test_rules_whose_put_was_answered_are_not_sent_again_while_readings_lag(tmp_path: Path) -> None:
    """Somebody builds on ours before the readings show it: a second write over the same version would replace
    what he wrote.
    """
    async with log_writes(tmp_path) as zone:
        # Two readings come before the write; of those after it the first ones do not show it.
        await zone.lags(await zone.ruleset(), nth=3, times=3)
        await zone.stranger("after_put")
        result = await zone.put_rules()
        assert result.status is ChangeStatus.ANSWERED
        # His version is read, and ours put behind his.
        ours = f"{OURS} (mine, over version 3)"
        assert [rule["description"] for rule in (await zone.ruleset())["rules"]] == [TEAM, MEANWHILE, ours]
        assert zone.written[-1].versions == [2, 4] and await zone.puts("rulesets.put") == 2


async def test_a_page_of_something_between_says_of_no_rules_that_they_are_gone(tmp_path: Path) -> None:
    """Neither of the zone's ruleset nor of a version of it: what is not read was not undone."""
    async with log_writes(tmp_path) as zone:
        await zone.stranger()
        ruleset = await find_ruleset(zone.client, zone.zone_id)
        assert ruleset is not None and ruleset.id is not None
        present = version_of(ruleset)
        await zone.stranger()
        later = version_of(await zone.client.ruleset(zone.zone_id, ruleset.id))
        for call in ("rulesets.get", "rulesets.versions.get"):
            await zone.fault("not_json", call, **PAGE)
        for reading in (
            find_ruleset(zone.client, zone.zone_id),
            present_ruleset(zone.client, zone.zone_id, ruleset.id),
            versions_since(zone.client, zone.zone_id, ruleset.id, present.number - 1, later),
            read_sound(zone.client, zone.play.zone),
        ):
            with pytest.raises(NotUnderstood, match="404 without the service's envelope"):
                await reading


async def test_a_page_of_something_between_says_of_no_log_job_that_it_is_gone(tmp_path: Path) -> None:
    """A job that is gone needs nothing more; this one is there, and does not list the fields yet."""
    async with log_writes(tmp_path, JOB) as zone:
        await zone.fault("not_json", "logpush.jobs.get", **PAGE)
        with pytest.raises(NotUnderstood):
            await zone.list_fields()
        assert await zone.puts("logpush.jobs.update") == 0


async def test_a_ruleset_whose_first_version_is_0_is_written_and_taken_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing says that versions are counted from 1, and nobody has damaged the archive."""
    store = Rulesets.store

    def from_zero(self: Rulesets, zone: str, document: dict[str, Any]) -> dict[str, Any]:
        first = self.of_phase(zone, document["phase"]) is None
        return store(self, zone, {**document, "version": "0"} if first else document)

    monkeypatch.setattr(Rulesets, "store", from_zero)
    async with log_writes(tmp_path, JOB) as zone:
        before = await zone.ruleset()
        assert before["version"] == "0"
        for step, rules in ((Step.COMMIT, 2), (Step.ROLL_BACK, 1)):
            result = await zone.whole(step)
            assert result.status is ChangeStatus.ANSWERED, result.reason
            assert len(await zone.descriptions()) == rules
        assert (await zone.client.ruleset_version(zone.zone_id, before["id"], 0)).version == "0"


async def test_rules_that_do_not_come_to_show_are_an_unknown_outcome(tmp_path: Path) -> None:
    """Nothing is sent twice meanwhile."""
    async with log_writes(tmp_path) as zone:
        await zone.lags(await zone.ruleset(), nth=3, times=100)
        result = await zone.put_rules(window=timedelta(seconds=3))
        assert result.status is ChangeStatus.UNKNOWN and "do not show yet" in result.reason
        assert await zone.puts("rulesets.put") == 1


async def test_what_was_built_on_a_write_of_unknown_outcome_is_kept_when_it_is_sent_again(
    tmp_path: Path,
) -> None:
    """Both land over one version, and somebody's rule between them: it is noticed, and put back."""
    async with log_writes(tmp_path) as zone:
        before = await zone.ruleset()
        await zone.fault("server_error", "rulesets.put", effect="after", status=502, times=1)
        await zone.lags(before, nth=3, times=1)
        assert (await zone.put_rules()).status is ChangeStatus.UNKNOWN
        await zone.stranger()
        await zone.lags(before, times=2)
        assert (await zone.put_rules()).status is ChangeStatus.ANSWERED
        assert await zone.descriptions() == [TEAM, MEANWHILE, OURS]
        assert zone.written[-1].versions[:2] == [2, 4]


async def test_what_somebody_turned_off_in_our_rule_stays_off(tmp_path: Path) -> None:
    """Of a rule that an earlier campaign has left, and a person has disabled: what is signed now is logged,
    and a rollback leaves the rule as it was.
    """
    names = {"request_fields": [{"name": "authorization"}]}
    off = {**LATE, "ref": OUR_REF, "description": OURS, "enabled": False, "action_parameters": names}

    def known(rule: dict[str, Any]) -> dict[str, Any]:
        return {key: value for key, value in rule.items() if key not in ("version", "last_updated")}

    async with log_writes(tmp_path, JOB) as zone:
        await zone.stranger("now", "append", off)
        before = [known(rule) for rule in (await zone.ruleset())["rules"]]
        assert (await zone.whole(Step.COMMIT)).status is ChangeStatus.ANSWERED
        rule = (await zone.ruleset())["rules"][-1]
        assert rule["enabled"] and rule["action_parameters"] == {"request_fields": [{"name": "x-ours"}]}
        assert (await zone.whole(Step.ROLL_BACK)).status is ChangeStatus.ANSWERED
        assert [known(rule) for rule in (await zone.ruleset())["rules"]] == before


class Jumping(SystemClock):
    """A clock that some time passes by at once."""

    passed = 0.0

    def monotonic(self) -> float:
        """Seconds, with those that passed."""
        return super().monotonic() + self.passed


class Late(Unpaced):
    """Lets one turn come late, and somebody else write a log job meanwhile."""

    def __init__(self, clock: Jumping, turn: int) -> None:
        self.clock, self.turn = clock, turn
        self.zone: Writes | None = None

    async def acquire(self, lane: Lane, credential: str = "") -> None:
        """Return when one call may be made."""
        zone, self.turn = self.zone, self.turn - 1
        if zone is not None and self.turn == 0:
            self.clock.passed += 10
            (job,) = await zone.client.log_jobs(zone.zone_id)
            body = {"logpull_options": "fields=RayID,ClientIP"}
            await zone.client.update_log_job(zone.zone_id, job.id, body)


async def test_a_log_job_is_read_again_where_its_turn_to_be_written_came_late(tmp_path: Path) -> None:
    """What somebody has added to it while the write waited for its turn stays."""
    clock = Jumping()
    # Both readings of the list, and one of the job, come before the write.
    pacer = Late(clock, turn=4)
    async with log_writes(tmp_path, JOB, pacer=pacer, clock=clock) as zone:
        pacer.zone = zone
        result = await zone.list_fields()
        assert result.status is ChangeStatus.ANSWERED and clock.passed
        (job,) = await zone.client.log_jobs(zone.zone_id)
        assert job.logpull_options == "fields=RayID,ClientIP,RequestHeaders"
        assert await zone.puts("logpush.jobs.update") == 2


class Twice(Late):
    """The first turn of a write is over once its intent is recorded, and the next one comes late."""

    turn_lasts = 3600.0

    async def acquire(self, lane: Lane, credential: str = "") -> None:
        """Return when one call may be made."""
        self.turn_lasts = 0.0 if self.turn == 2 else 3600.0
        await super().acquire(lane, credential)


async def test_a_log_job_is_read_again_where_its_second_turn_came_late(tmp_path: Path) -> None:
    """A slow archive has the write wait for another turn: what somebody has added meanwhile stays, and no
    more comes of the first intent.
    """
    clock = Jumping()
    pacer = Twice(clock, turn=5)
    async with log_writes(tmp_path, JOB, pacer=pacer, clock=clock) as zone:
        pacer.zone = zone
        result = await zone.list_fields()
        assert result.status is ChangeStatus.ANSWERED and clock.passed, result
        (job,) = await zone.client.log_jobs(zone.zone_id)
        assert job.logpull_options == "fields=RayID,ClientIP,RequestHeaders"
        there = zone.play.connections
        intents = sorted([key async for key in there.archive.list("intent")])
        closed = [await closed_as(there, key) for key in intents]
        assert closed[-2:] == [ClosedAs.NOTHING_CAME, ClosedAs.ANSWERED]
        assert await zone.puts("logpush.jobs.update") == 2


class Slow(Unpaced):
    """Lets every turn come late, once it is told to."""

    def __init__(self, clock: Jumping) -> None:
        self.clock, self.late = clock, False

    async def acquire(self, lane: Lane, credential: str = "") -> None:
        """Return when one call may be made."""
        self.clock.passed += 10 * self.late


async def test_turns_that_come_late_in_the_middle_of_a_step_are_no_tries_that_failed(tmp_path: Path) -> None:
    """Rules are in, and each turn of the job's comes so late that it would have to be read again: neither the
    commit nor the rollback is given up by it, however often that is so.
    """
    clock = Jumping()
    pacer = Slow(clock)
    async with log_writes(tmp_path, JOB, pacer=pacer, clock=clock) as zone:
        pacer.late = True
        commit = await zone.whole(Step.COMMIT)
        assert await zone.descriptions() == [TEAM, OURS] and not await zone.puts("logpush.jobs.update")
        pacer.late = False
        assert (await zone.whole(Step.COMMIT)).status is ChangeStatus.ANSWERED
        pacer.late = True
        back = await zone.whole(Step.ROLL_BACK)
        assert await zone.descriptions() == [TEAM, OURS] and await zone.puts("logpush.jobs.update") == 1
        for result in (commit, back):
            assert result.status is ChangeStatus.NOTHING_HAPPENED and result.found, result
            assert "too old when its turn" in result.reason and not result.turn


EVENTS = {"name": "bank.example", "dataset": "firewall_events", "destination": "r2://bank/events"}


async def test_a_log_job_of_another_dataset_is_not_turned_off_because_it_has_our_name(
    tmp_path: Path, new: NewJobSpec
) -> None:
    """The rollback turns off the job that the campaign has created, and no other of its name."""
    async with log_writes(tmp_path, EVENTS, new=new) as zone:
        assert (await zone.list_fields()).status is ChangeStatus.ANSWERED
        assert (await zone.take_back()).status is ChangeStatus.ANSWERED
        jobs = await zone.client.log_jobs(zone.zone_id)
        assert {job.dataset: job.enabled for job in jobs} == {"firewall_events": True, "http_requests": False}


async def test_a_log_job_that_an_earlier_step_has_created_is_turned_off_though_the_last_one_creates_none(
    tmp_path: Path, new: NewJobSpec
) -> None:
    """Somebody has made a log job meanwhile, so that what was signed last names none of ours."""
    async with log_writes(tmp_path, new=new) as zone:
        assert (await zone.list_fields()).status is ChangeStatus.ANSWERED
        zone.new = None
        assert (await zone.take_back(new)).status is ChangeStatus.ANSWERED
        (job,) = await zone.client.log_jobs(zone.zone_id)
        assert job.name == "bank.example" and not job.enabled


async def test_a_log_job_of_another_dataset_does_not_show_that_ours_was_created(
    tmp_path: Path, new: NewJobSpec
) -> None:
    """Whether the one that nobody answered for is still to come is not known."""
    async with log_writes(tmp_path, EVENTS, new=new) as zone:
        await zone.fault("server_error", "logpush.jobs.create", effect="before", status=502)
        assert (await zone.list_fields()).status is ChangeStatus.UNKNOWN


async def test_options_of_our_own_job_that_need_a_guess_end_the_step_with_what_is_wrong(
    tmp_path: Path, new: NewJobSpec
) -> None:
    """Somebody has taken the list out of the job of an earlier campaign, which is off: nothing is sent."""
    job = {**JOB, "name": "bank.example", "logpull_options": "timestamps=rfc3339", "enabled": False}
    async with log_writes(tmp_path, job, new=new) as zone:
        result = await zone.list_fields()
        assert result.status is ChangeStatus.DRIFTED and "list no fields=" in result.reason
        assert await zone.puts("logpush.jobs.update") == 0


@pytest.mark.parametrize(
    "more",
    [
        {"logpull_options": "fields=RayID,ClientIP,RequestHeaders&timestamps=rfc3339"},
        {"frequency": "low"},
    ],
)
async def test_our_own_job_that_is_off_and_not_as_signed_is_not_turned_on(
    tmp_path: Path, new: NewJobSpec, more: dict[str, Any]
) -> None:
    """People have signed another one: the step is refused, and nothing is sent."""
    job = {**JOB, "name": "bank.example", "logpull_options": AS_SIGNED, "enabled": False, **more}
    async with log_writes(tmp_path, job, new=new) as zone:
        result = await zone.list_fields()
        assert result.status is ChangeStatus.REFUSED and "give log_fields.job another name" in result.reason
        assert await zone.puts("logpush.jobs.update") == 0


async def test_our_own_job_that_was_turned_off_by_a_rollback_is_turned_on_by_the_next_step(
    tmp_path: Path, new: NewJobSpec
) -> None:
    """It is as it was created, as people have signed it again."""
    async with log_writes(tmp_path, new=new) as zone:
        assert (await zone.list_fields()).status is ChangeStatus.ANSWERED
        assert (await zone.take_back()).status is ChangeStatus.ANSWERED
        assert (await zone.list_fields()).status is ChangeStatus.ANSWERED
        (job,) = await zone.client.log_jobs(zone.zone_id)
        assert job.enabled and job.logpull_options == AS_SIGNED
