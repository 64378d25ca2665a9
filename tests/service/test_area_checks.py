"""The doctor's checks of esc and log-fields, and the reading of a scope's secret, against the simulator."""

from __future__ import annotations

import asyncio
import contextlib
import os
import pty
import subprocess
import sys
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from edgeshift.alarms import Facts, alarms_of
from edgeshift.areas.esc import Secret
from edgeshift.areas.log_fields.terms import LogFieldsSpec
from edgeshift.campaign.start import campaign_start
from edgeshift.campaign_file.spec import CampaignSpec
from edgeshift.doctor.areas.esc import check_removal
from edgeshift.doctor.check import Check, State
from edgeshift.doctor.checks import check_credential, is_about_calls
from edgeshift.doctor.parts import DOCTOR, DoctorPart
from edgeshift.model.check_codes import CheckCode
from edgeshift.model.fleet import Zone
from edgeshift.operations import BadInput, NotFound
from edgeshift.operations.areas.esc_secret import scope_secret
from edgeshift.profiles import SPECIFICATION
from edgeshift.runtime.queues import Queue
from edgeshift.runtime.settings import Settings, TemporalSettings
from edgeshift.service_api import ServiceClient
from edgeshift.service_api.models import Zone as ListedZone
from edgeshift.stores.archive import Archive
from edgeshift.stores.documents import put_document
from edgeshift.testbed.simulator.fleet_file import Fleet, FleetAccount
from edgeshift.views.alarming import checks_of
from tests.service.simulated import Caller, a_fleet, simulated

BEFORE = "2023-11-01T00:00:00Z"
SECRET = "edgeshift-0123456789abcdefghijklmnop"


@pytest.fixture
async def caller(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Caller]:
    """A simulator on a day well before the removal, its token where the specification looks for it."""
    async with simulated(tmp_path / "data", clock=BEFORE) as found:
        token = next(one.value for one in found.fleet.credentials if one.label == "ada-token")
        monkeypatch.setenv("EDGESHIFT_TEST_TOKEN", token)
        yield found


def spec(caller: Caller, area: str, **more: Any) -> CampaignSpec:
    """A campaign of this area at the simulator."""
    service = {"base_url": caller.server.base_url, "credentials": [{"token": "env:EDGESHIFT_TEST_TOKEN"}]}
    data = {"name": "doctored", "targets": {"all": True}, "service": service, "area": area, **more}
    return CampaignSpec.model_validate(data)


async def checked(campaign: CampaignSpec) -> dict[str, tuple[State, str]]:
    """What each check of the service finds."""
    found = await check_credential(campaign, campaign.service.credentials[0], 0)
    return {check.name.partition(",")[0]: (check.state, check.text) for check in found}


async def test_esc_has_its_permissions_its_date_and_its_edge_checked(caller: Caller) -> None:
    """By the service's own clock, and by connecting to where the probe would."""
    found = await checked(spec(caller, "esc", esc={"probe": {"edge": caller.server.edge_url}}))
    assert found["credential 1"][0] is State.OK
    state, said = found["removal date"]
    assert state is State.OK and said.startswith("2024-01-01, 60d") and said.endswith("the service's clock")
    assert found["probe"][0] is State.OK and "takes connections" in found["probe"][1]
    # This machine's clock is years ahead, which is named.
    assert found["clock"][0] is State.WARNING
    gone = await checked(spec(caller, "esc", esc={"probe": {"edge": "http://127.0.0.1:9"}}))
    assert gone["probe"][0] is State.FAILED and "nobody answers at 127.0.0.1:9" in gone["probe"][1]


async def checked_with(
    caller: Caller, monkeypatch: pytest.MonkeyPatch, without: set[str], targets: dict[str, Any]
) -> list[Check]:
    """What is found where the service lists these zones without their account; all where none is named."""
    real = ServiceClient.zones

    async def zones(client: ServiceClient, **how: Any) -> AsyncIterator[ListedZone]:
        async for one in real(client, **how):
            yield one.model_copy(update={"account": None}) if not without or one.name in without else one

    monkeypatch.setattr(ServiceClient, "zones", zones)
    campaign = spec(caller, "waf", targets=targets)
    return await check_credential(campaign, campaign.service.credentials[0], 0)


@pytest.mark.parametrize(
    ("targets", "is_named"),
    [
        ({"all": True}, True),
        ({"accounts": ["Any"]}, True),
        ({"include": ["LAST"]}, True),
        ({"include": ["FIRST"]}, False),
        ({"all": True, "exclude": ["LAST"]}, False),
        ({"all": True, "plans": ["other"]}, False),
    ],
)
async def test_zones_without_an_account_are_named_where_the_targets_mean_them(
    caller: Caller, monkeypatch: pytest.MonkeyPatch, targets: dict[str, Any], is_named: bool
) -> None:
    """The plan ends by such a zone: it is named with how it is left out, and another one is read."""
    names = sorted(zone.name for zone in caller.fleet.zones)
    placed = {"FIRST": names[0], "LAST": names[-1]}
    given = {
        key: [placed.get(one, one) for one in value] if isinstance(value, list) else value
        for key, value in targets.items()
    }
    found = await checked_with(caller, monkeypatch, {names[-1]}, given)
    about = [check for check in found if check.code is CheckCode.CREDENTIAL_ZONES]
    assert [check.state for check in about] == [State.WARNING] * is_named
    for check in about:
        said = f"1 of the first {len(names)} zones is listed without its account: {names[-1]}"
        assert check.text == said and "targets.exclude" in check.fix
    works = next(check for check in found if check.code is CheckCode.CREDENTIAL)
    assert works.state is State.OK and names[0] in works.text


async def test_a_credential_whose_zones_all_come_without_their_account_reaches_some(
    caller: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is not said that it reaches none."""
    found = await checked_with(caller, monkeypatch, set(), {"all": True})
    number = len(caller.fleet.zones)
    works = next(check for check in found if check.code is CheckCode.CREDENTIAL)
    said = f"each of the first {number} zones that it lists comes without its account"
    assert (works.state, works.text) == (State.FAILED, said)
    (about,) = [check for check in found if check.code is CheckCode.CREDENTIAL_ZONES]
    assert about.text.startswith(f"{number} of the first {number} zones are listed without their account")


class OddDoctor(DoctorPart):
    """An installed area's part, with a check of its own whose title is like those of others."""

    async def checks(self, client: ServiceClient, spec: CampaignSpec, zone: Zone) -> list[Check]:
        """One that failed."""
        return [Check(CheckCode("always-https.setting"), "service setting", State.FAILED, "cannot be read")]


async def test_a_failed_check_of_an_installed_area_is_an_alarm_and_holds_no_calls(
    caller: Caller, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Whatever its title is: what is done by a check goes by its code."""
    monkeypatch.setattr(DOCTOR, "of", lambda area: OddDoctor())
    campaign = spec(caller, "waf")
    found = await check_credential(campaign, campaign.service.credentials[0], 0)
    (odd,) = [check for check in found if check.code == "always-https.setting"]
    assert odd.name.startswith("service") and not is_about_calls(odd)
    archive = Archive((tmp_path / "archive").as_uri())
    kept = await put_document(archive, campaign)
    start = campaign_start(campaign, kept, targets=kept, count=1, waves=(), enterprise="", started_by="olga")
    settings = Settings(state_dir=tmp_path, temporal=TemporalSettings(address="127.0.0.1:1"))
    checks = await checks_of(settings, archive, campaign.name, start, service=True)
    alarms = alarms_of(Facts(now=datetime.now(UTC), checks=checks))
    assert [(one.code, one.campaign, one.text) for one in alarms if one.code != "clock"] == [
        ("check-failed", "doctored", "service setting (always-https.setting): cannot be read")
    ]


async def test_a_credential_that_may_not_is_named_with_what_it_cannot_read(
    caller: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And what would give it the right is said."""
    reader = next(one.value for one in caller.fleet.credentials if one.label == "ada-reader")
    monkeypatch.setenv("EDGESHIFT_TEST_TOKEN", reader)
    for area, what in (("esc", "ESC setting of a zone"), ("log-fields", "log jobs")):
        more = {"log_fields": {"cookies": ["a"]}} if area == "log-fields" else {}
        campaign = spec(caller, area, **more)
        found = await check_credential(campaign, campaign.service.credentials[0], 0)
        check = next(one for one in found if one.name.startswith("credential"))
        assert check.state is State.WARNING and what in check.text, check
        assert "give it permission" in check.fix


READS = (Queue.CONTROL, Queue.ZONES, Queue.LONG, Queue.QUOTA)


@pytest.mark.parametrize("area", ["waf", "log-fields"])
async def test_a_token_may_do_what_this_machines_worker_does_and_no_more(
    area: str, caller: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever makes changes needs one that may edit, whoever reads one that may not; where people type,
    either will do. Nothing is written to find out.
    """
    secrets = {one.label: one.value for one in caller.fleet.credentials}
    more = {"log_fields": {"cookies": ["a"]}} if area == "log-fields" else {}
    campaign = spec(caller, area, **more)

    async def judged(token: str, served: tuple[Queue, ...] | None) -> tuple[State, str]:
        monkeypatch.setenv("EDGESHIFT_TEST_TOKEN", secrets[token])
        found = await check_credential(campaign, campaign.service.credentials[0], 0, served)
        (check,) = [one for one in found if one.name.startswith("rights of credential 1")]
        return check.state, check.text

    assert (await judged("ada-token", (Queue.CHANGES,)))[0] is State.OK
    assert (await judged("ada-token", tuple(Queue)))[0] is State.OK
    state, said = await judged("ada-token", READS)
    assert state is State.WARNING and "makes no change (it serves control, zones, long, quota)" in said
    assert (await judged("ada-reader", READS))[0] is State.OK
    state, said = await judged("ada-reader", (Queue.CHANGES,))
    assert state is State.FAILED and "makes no change" in said
    for token in ("ada-token", "ada-reader"):
        assert (await judged(token, None))[0] is State.OK
    journal = await caller.journal()
    assert {entry["method"] for entry in journal} <= {"GET", "HEAD"}


def test_the_removal_date_is_ok_near_or_over() -> None:
    """A service that does not tell the time leaves it to this machine, which is said."""
    assert check_removal(SPECIFICATION.esc_removed_at - timedelta(days=15), SPECIFICATION).state is State.OK
    assert (
        check_removal(SPECIFICATION.esc_removed_at - timedelta(days=13), SPECIFICATION).state is State.WARNING
    )
    assert (
        check_removal(SPECIFICATION.esc_removed_at - timedelta(seconds=1), SPECIFICATION).state
        is State.WARNING
    )
    assert check_removal(SPECIFICATION.esc_removed_at, SPECIFICATION).state is State.FAILED
    assert check_removal(datetime(2024, 6, 1, tzinfo=UTC), SPECIFICATION).text.endswith(
        "there is nothing left to turn off"
    )
    untold = check_removal(None, SPECIFICATION)
    assert untold.state is State.WARNING and "this machine's clock decides" in untold.text


async def test_log_fields_have_their_store_and_destination_checked(
    caller: Caller, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A store that cannot be, one without entries yet, none at all; a destination that is nowhere."""
    missing = await checked(spec(caller, "log-fields", log_fields={"cookies": ["a"]}))
    assert missing["credential 1"][0] is State.OK and "enterprise.example" in missing["credential 1"][1]
    assert missing["log entries"][0] is State.WARNING
    fields = {
        "cookies": ["a"],
        "entries": f"{tmp_path.as_uri()}/{{zone}}",
        "job": {"destination": "env:EDGESHIFT_TEST_DESTINATION"},
    }
    empty = await checked(spec(caller, "log-fields", log_fields=fields))
    assert empty["log entries"] == (
        State.OK,
        "the store can be read; there are none of enterprise.example yet",
    )
    assert empty["log destination"][0] is State.FAILED
    monkeypatch.setenv("EDGESHIFT_TEST_DESTINATION", "s3://logs?region=x&secret-access-key=hunter2")
    folder = tmp_path / "enterprise.example"
    folder.mkdir()
    (folder / "one.log").write_text('{"RayID": "a"}\n')
    full = await checked(spec(caller, "log-fields", log_fields=fields))
    assert full["log entries"] == (State.OK, "there are some of enterprise.example")
    assert full["log destination"][0] is State.OK and "hunter2" not in str(full)
    # No file says so, but a store that this version cannot read may be in an archive.
    sound = spec(caller, "log-fields", log_fields=fields)
    foreign = sound.section(LogFieldsSpec).model_copy(update={"entries": "ftp://x"})
    other = await checked(sound.model_copy(update={"log_fields": foreign}))
    assert other["log entries"][0] is State.FAILED


async def test_a_secret_is_read_by_name_or_identifier_of_zone_or_account(caller: Caller) -> None:
    """It never appears in what is printed of the answer."""
    campaign = spec(caller, "esc")
    with pytest.raises(NotFound, match=r"zone pro\.example has no secret; a campaign sets one"):
        await scope_secret(campaign, "pro.example")
    assert (await caller("POST", "pro:/disable_esc", {"with_secret": SECRET})).is_success
    assert (await caller("POST", "pro:/disable_esc", {"always": True})).is_success
    with pytest.raises(NotFound, match=r"shows no secret of zone pro\.example while esc is off") as untold:
        await scope_secret(campaign, "pro.example")
    assert "has no secret" not in str(untold.value)
    assert (await caller("DELETE", "pro:/disable_esc")).is_success
    account = next(one for one in caller.fleet.accounts if one.name == "First")
    own = "our-very-own-one"
    assert (await caller("POST", f"/accounts/{account.id}/disable_esc", {"with_secret": own})).is_success
    for name in ("pro.example", "PRO.example.", caller.ids["pro"]):
        found = await scope_secret(campaign, name)
        assert (found.kind, found.name, found.whose) == ("zone", "pro.example", Secret.TEST)
        assert found.secret.get_secret_value() == SECRET and SECRET not in repr(found)
    for name in ("First", account.id):
        found = await scope_secret(campaign, name)
        assert (found.kind, found.whose) == ("account", Secret.OWN)
        assert found.secret.get_secret_value() == own
    with pytest.raises(NotFound, match="no zone or account 'nowhere' is known to the service"):
        await scope_secret(campaign, "nowhere")
    with pytest.raises(NotFound, match="no zone or account"):
        await scope_secret(campaign, "f" * 32)


async def test_a_name_of_zone_and_account_is_asked_for_by_identifier(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both have it: which one is meant cannot be guessed."""
    fleet = a_fleet()
    both = Fleet.model_validate(
        {**fleet.model_dump(), "accounts": [*fleet.accounts, FleetAccount(name="pro.example")]}
    )
    async with simulated(tmp_path / "data", fleet=both, clock=BEFORE) as caller:
        token = next(one.value for one in both.credentials if one.label == "ada-token")
        monkeypatch.setenv("EDGESHIFT_TEST_TOKEN", token)
        with pytest.raises(BadInput, match="names 2 scopes; name one by its identifier: zone"):
            await scope_secret(spec(caller, "esc"), "pro.example")


async def test_the_command_shows_a_secret_at_a_terminal_alone(caller: Caller, tmp_path: Path) -> None:
    """Elsewhere it is refused unless it is asked for; then nothing but the secret is printed."""
    assert (await caller("POST", "pro:/disable_esc", {"with_secret": SECRET})).is_success
    file = tmp_path / "esc.yaml"
    file.write_text(
        f"name: off\ntargets: {{all: true}}\narea: esc\nservice:\n  base_url: {caller.server.base_url}\n"
        "  credentials: [{token: env:EDGESHIFT_TEST_TOKEN}]\n"
    )
    refused = await ran("esc", "secret", "pro.example", "--file", str(file))
    assert refused.returncode == 6 and "at a terminal only" in refused.stderr
    assert SECRET not in refused.stdout + refused.stderr
    told = await ran("esc", "secret", "pro.example", "--file", str(file), "--stdout")
    assert (told.returncode, told.stdout) == (0, SECRET + "\n"), told.stderr
    shown = await asyncio.to_thread(at_a_terminal, "esc", "secret", "pro.example", "--file", str(file))
    assert f"Cookie: disable_esc={SECRET}" in shown and "secret made by edgeshift" in shown
    nothing = await ran("esc", "secret", "enterprise.example", "--file", str(file), "--stdout")
    assert nothing.returncode == 5 and "has no secret" in nothing.stderr


async def ran(*arguments: str) -> subprocess.CompletedProcess[str]:
    """The command line, called as a person would."""
    command = [sys.executable, "-m", "edgeshift.cli.main", *arguments]
    return await asyncio.to_thread(
        subprocess.run, command, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=60
    )


def at_a_terminal(*arguments: str) -> str:
    """What the command line shows at a terminal."""
    terminal, inside = pty.openpty()
    command = [sys.executable, "-m", "edgeshift.cli.main", *arguments]
    # Wide enough for the cookie on one line.
    environment = {**os.environ, "COLUMNS": "200", "TERM": "dumb"}
    with subprocess.Popen(command, stdout=inside, stdin=subprocess.DEVNULL, env=environment) as called:
        os.close(inside)
        seen = b""
        with contextlib.suppress(OSError):
            # The terminal of a process that has ended reports an error in place of an end.
            while more := os.read(terminal, 1000):
                seen += more
    os.close(terminal)
    assert called.returncode == 0, seen
    return seen.decode()
