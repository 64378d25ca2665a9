"""What people see of real campaigns of esc and log-fields: plan, proposal, status, history, report."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console, RenderableType
from temporalio.client import Client

from edgeshift import operations
from edgeshift.cli.plan_tables import show_plan
from edgeshift.cli.proposals import show_facts, show_rest
from edgeshift.cli.shell import Shell
from edgeshift.messages import ZonePhase
from edgeshift.model.fleet import Area, ScopeKind, ZoneOutcome
from edgeshift.operations import BadInput, NotFound
from edgeshift.views.archived import with_archived
from edgeshift.views.entries import Timeline
from edgeshift.views.figures import Pace
from edgeshift.views.finding import find_zone, zone_runs
from edgeshift.views.gathering import known_campaign, summary_of, zone_rows
from edgeshift.views.history_view import history_view
from edgeshift.views.lists import zone_card, zone_lists
from edgeshift.views.live import campaign_view
from edgeshift.views.report_file import write_report
from edgeshift.views.rows import look_of
from edgeshift.views.timeline import build_timeline
from tests.kit import BUCKET, Scene, fleet_of, scene
from tests.kit.queue import on_queue

pytestmark = [pytest.mark.stack(25), pytest.mark.embedded, pytest.mark.timeout(600), pytest.mark.long]

ESC: dict[str, Any] = {
    "area": "esc",
    "esc": {
        "observe": "8h",
        "every": "4h",
        "probe": {"sample": 6, "rounds": 2, "per_second": 500, "sitemap": False, "urls": ["/", "/api/items"]},
    },
    "commit": {"migration_limit": "8s", "poll": "1s"},
}
FIELDS: dict[str, Any] = {
    "area": "log-fields",
    "log_fields": {
        "request_headers": ["user-agent", "x-never"],
        "cookies": ["session_id"],
        "zones": {"fresh.example": {"response_headers": ["content-type"]}},
        "verify": "2h",
        "every": "1h",
        "job": True,
        "unverified": "keep",
    },
    "commit": {"migration_limit": "8s", "poll": "1s"},
}


@pytest.fixture
def client(temporal_client: Client, request: pytest.FixtureRequest) -> Client:
    """A client of the embedded server on a task queue of this test's own."""
    return on_queue(temporal_client, request.node.name[:60])


def esc_zone(name: str, **esc: Any) -> dict[str, Any]:
    """A zone on whose items Edge Side Code acts."""
    acts = {"behaviours": [{"kind": "redirect", "path": "/api/items", "to": "https://new.example/items"}]}
    return {"name": name, "plan": "enterprise", "esc": {**acts, **esc}}


def shown(*parts: RenderableType) -> str:
    """What a terminal of 100 columns shows, its lines joined."""
    console = Console(width=100, file=io.StringIO(), record=True)
    for part in parts:
        console.print(part)
    return " ".join(console.export_text().split())


async def plan_of(play: Scene) -> str:
    """What ``edgeshift plan`` prints for the scene's campaign."""
    report, result = await operations.assess(play.client, play.archive, play.spec)
    console = Console(width=100, file=io.StringIO(), record=True)
    show_plan(console, play.spec, report, result, "campaign.yaml")
    return " ".join(console.export_text().split())


async def proposals_of(play: Scene) -> str:
    """What is shown before the waiting fingerprints are signed."""
    name = play.spec.name
    summary = await operations.summary(play.client, name)
    targets = await operations.frozen_targets(play.archive, summary.targets)
    groups = await operations.waiting_groups(play.client, name)
    found = await operations.examples(
        play.client, play.archive, summary.area, targets, name, operations.ToSign(tuple(groups))
    )
    assert not found.unseen
    shell = Shell()
    shell.console = Console(width=100, file=io.StringIO(), record=True)
    for one in found.shown.values():
        show_facts(shell, one, example=True)
        show_rest(shell, found.rest[one.fingerprint], name)
    return " ".join(shell.console.export_text().split())


async def status_of(play: Scene) -> str:
    """What ``edgeshift status`` shows."""
    known = await known_campaign(play.client, play.spec.name)
    rows = await zone_rows(play.client, play.archive, known)
    summary = summary_of(known)
    view = campaign_view(summary, Pace().progress(summary, summary.now), summary.now)
    cards = [zone_card(row, play.spec.name) for row in rows]
    return shown(view, zone_lists(rows, play.spec.name), *cards)


async def history_of(play: Scene, zone: str, area: Area | None = None) -> tuple[Timeline, str]:
    """What ``edgeshift history`` tells of a zone."""
    named = await find_zone(play.client, play.archive, zone, None, area)
    timeline = build_timeline(named.id, await zone_runs(play.client, named, play.spec.name))
    timeline = await with_archived(timeline, play.archive)
    return timeline, shown(history_view(timeline))


async def report_of(play: Scene, folder: Path) -> str:
    """The report's page."""
    await write_report(play.client, play.archive, play.spec.name, folder / "report.html")
    return (folder / "report.html").read_text()


def has(text: str, words: Sequence[str]) -> None:
    """Each of the words is there."""
    missing = [word for word in words if word not in text]
    assert not missing, (missing, text)


async def test_a_campaign_of_esc_is_seen_in_its_own_words(client: Client, tmp_path: Path) -> None:
    """From the plan to the report: secrets by whose they are, what changes by feature, who agreed."""
    fleet = fleet_of(
        esc_zone("first.example"),
        esc_zone("own.example", with_secret="customer-0123456789"),
        esc_zone("off.example", always=True),
        {
            **esc_zone("worse.example"),
            "edge": {"failures": [{"path": "/", "when": "esc_off"}]},
        },
    )
    async with scene(client, tmp_path, fleet, begin=False, **ESC) as play:
        told = await plan_of(play)
        has(
            told,
            [
                "own.example on its own: used, never overwritten 1",
                "first.example on none; edgeshift sets a test secret 1",
                "off.example off - 1",
                "Probe first",
                "At this pace every scope can make it",
            ],
        )
        await play.begin()
        for name in ("first.example", "own.example", "worse.example"):
            await play.zone_until(name, lambda state: state.phase is ZonePhase.AWAITING_SIGN_OFF)
        has(
            await proposals_of(play),
            [
                "turn esc off for every request, for this zone",
                "probe: finished, ",
                "~ Edge Side Code for every request: on → off",
                "replaced by: redirect rule",
                "A/A controls: 0 of",
                "URLs of 1 host",
            ],
        )
        await play.until(lambda summary: summary.places.get("already_settled") == 1)
        text = await status_of(play)
        has(text, ["esc was off", "3 scopes", "turn esc off", "probe finished"])
        assert "pass" not in text
        await play.sign_everything()
        text = await status_of(play)
        has(text, ["esc off", "esc on again", "4 scopes", "rolled back in"])
        assert "migrated" not in text and "validation" not in text
        settled, words = await history_of(play, "first.example")
        assert settled.sentence.startswith("Esc was turned off for first.example by campaign")
        has(
            words,
            [
                "sent a test secret",
                "because no sign-off is needed for this step",
                "asked with and without the secret what changes",
                "redirect rule: redirect",
                "sent what turns esc off",
                "the service shows esc off",
                "looked at it for the last time",
            ],
        )
        back, words = await history_of(play, "worse.example")
        assert back.attempts[-1].outcome == ZoneOutcome.ROLLED_BACK
        has(words, ["worse than agreed, so it is undone", "the rollback needs neither", "shows esc on again"])
        assert "NO DECISION" not in words
        page = await report_of(play, tmp_path)
        has(page, ["What needs a replacement", "redirect rule", "worse.example", "Who agreed"])
        assert "customer-0123456789" not in page + words + text


async def test_an_account_and_the_zones_that_it_holds_are_told_apart(client: Client, tmp_path: Path) -> None:
    """The account by its name; a zone of it says for whom it was held; areas are told apart."""
    fleet = fleet_of(esc_zone("held-a.example"), esc_zone("held-b.example"))
    account = fleet.accounts[0].name
    terms: dict[str, Any] = {**ESC, "esc": {**ESC["esc"], "scope": "account"}}
    async with scene(client, tmp_path, fleet, **terms) as play:
        await play.sign_everything()
        has(await status_of(play), [f"account {account}", "covers 2 zones", "esc off"])
        timeline, words = await history_of(play, account)
        assert (timeline.kind, timeline.area) == ("account", Area.ESC)
        has(words, ["holds every zone of the account", "let go of the account's zones"])
        found = await find_zone(play.client, play.archive, account, play.spec.name)
        assert found.kind is ScopeKind.ACCOUNT
        zone = next(zone.id for zone in fleet.zones if zone.name == "held-a.example")
        named = await find_zone(play.client, play.archive, zone, None)
        held = build_timeline(zone, await zone_runs(play.client, named))
        assert f"was held for account/{found.id}/esc" in held.sentence
        with pytest.raises(NotFound):
            await find_zone(play.client, play.archive, "nobody.example", None, Area.ESC)
        with pytest.raises(BadInput, match="is of area esc"):
            await find_zone(play.client, play.archive, account, play.spec.name, Area.WAF)


async def test_a_campaign_of_log_fields_is_seen_in_its_own_words(client: Client, tmp_path: Path) -> None:
    """From the plan to the report: fields, rulesets, jobs, and of each field whether entries had it."""
    job = {
        "destination": f"s3://{BUCKET}/busy.example?region=eu-west-1",
        "logpull_options": "fields=RayID,ClientRequestPath&timestamps=rfc3339",
        "name": "customers",
    }
    fleet = fleet_of(
        {"name": "busy.example", "plan": "enterprise", "logs": {"jobs": [job]}},
        {"name": "both.example", "plan": "enterprise", "logs": {"jobs": [job, job | {"name": "audit"}]}},
        {"name": "fresh.example", "plan": "enterprise"},
        {"name": "small.example", "plan": "pro"},
    )
    async with scene(client, tmp_path, fleet, begin=False, **FIELDS) as play:
        has(
            await plan_of(play),
            [
                "Fields of every zone: 3",
                "request header x-never",
                "fresh.example also: response header content-type",
                "a ruleset for custom log fields is created",
                "a log job is created",
                "a log job also pushes",
                "small.example",
                "Enterprise zones",
            ],
        )
        await play.begin()
        for name in ("both.example", "busy.example", "fresh.example"):
            await play.zone_until(name, lambda state: state.phase is ZonePhase.AWAITING_SIGN_OFF)
        has(
            await proposals_of(play),
            [
                "have these fields logged, beside what others log",
                "+ request header x-never",
                "+ response header content-type",
                "+ the zone's ruleset for custom log fields",
                "also lists: Cookies",
                "+ log job edgeshift-",
                # One more job than in the zone that is shown, or one fewer: the fingerprint is the same.
                "the other zone: 0 as this one otherwise in 1 zone:",
                "changed: log job audit",
            ],
        )
        await play.until(lambda summary: summary.places.get("blocked") == 1)
        has(await status_of(play), ["write the fields", "blocked"])
        await play.sign_everything()
        text = await status_of(play)
        has(text, ["○ fields written, not verified", "written, but not verified", "blocked"])
        # Neither the totals nor a zone has a tick: no entry was read that could show the fields.
        assert "✓" not in text
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("edgeshift.views.gathering.MOST_RESULTS", 1)
            rows = await zone_rows(play.client, play.archive, await known_campaign(client, play.spec.name))
        # The blocked one comes first; what is said of the others is that nobody looked.
        assert {row.name: row.unread for row in rows if row.place == "blocked"} == {"small.example": False}
        done = [row for row in rows if row.place == "settled"]
        assert len(done) == 3 and all(row.unread and "was not read" in row.reason for row in done)
        assert {look_of(row).mark for row in done} == {"○"}
        timeline, words = await history_of(play, "busy.example")
        assert timeline.sentence.startswith("The custom fields of busy.example were written by campaign")
        has(words, ["sent the custom fields", "the service shows the custom fields", "wrote log job"])
        assert "but not verified" in timeline.sentence and "✓" not in words
        page = await report_of(play, tmp_path)
        has(
            page,
            ["Fields in log entries", "Blocked zones", "small.example", "fields written (3 not verified)"],
        )
        assert "migrated" not in page


async def test_a_plan_past_the_removal_date_is_refused(client: Client, tmp_path: Path) -> None:
    """With that reason, by the service's clock, and a hint that fits; nothing is sent."""
    late = {"clock": "2024-02-01T00:00:00Z"}
    async with scene(
        client, tmp_path, fleet_of(esc_zone("a.example")), begin=False, simulator=late, **ESC
    ) as play:
        gone = "removed on 2024-01-01, and the service says it is 2024-02-01"
        with pytest.raises(BadInput, match=gone) as refused:
            await operations.assess(play.client, play.archive, play.spec)
        assert "`service.profile`" in refused.value.hint and "--clock" in refused.value.hint
        assert await play.journal("esc.set") == []


async def test_fields_for_a_zone_that_is_no_target_are_refused_in_the_plan(
    client: Client, tmp_path: Path
) -> None:
    """The zone is named; so is one that the file has twice, by its name and by its identifier."""
    fleet = fleet_of({"name": "a.example", "plan": "enterprise"})
    own = {"cookies": ["a"]}
    for zones, said in (
        ({"b.example": own}, "1 zone that is not among the targets: b.example"),
        ({"a.example": own, fleet.zones[0].id: own}, "has zone a.example twice"),
    ):
        terms = {**FIELDS, "log_fields": {**FIELDS["log_fields"], "zones": zones}}
        folder = tmp_path / str(len(zones))
        async with scene(client, folder, fleet, begin=False, **terms) as play:
            with pytest.raises(BadInput, match=said):
                await operations.assess(play.client, play.archive, play.spec)
