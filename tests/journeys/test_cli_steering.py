"""What programs and people in a hurry do with several campaigns: wait for them, steer all of them, complete
their names, look at them in a browser, and watch them while Temporal goes away. The tests run in their order
on one stack.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
from temporalio.client import Client, WorkflowExecution, WorkflowExecutionDescription

from edgeshift import operations
from edgeshift.cli import begin_again, candidates, control, receipts
from edgeshift.cli.completion import complete
from edgeshift.messages import CampaignSummary
from edgeshift.operations.campaigns import published
from edgeshift.views import finding
from tests.journeys.cli_kit import CLI, Place, Ran, in_process, running_stack, worker_polls

pytestmark = [pytest.mark.stack(90), pytest.mark.embedded, pytest.mark.timeout(900)]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory, temporal_cli_path: Path) -> Iterator[Place]:
    """A stack over the small fleet, two campaign files, and a named environment that is the stack."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("EDGESHIFT_TEMPORAL_CLI", str(temporal_cli_path))
        with running_stack(tmp_path_factory.mktemp("steering")) as found:
            found.campaign("one", "include: [shop-1.example, shop-2.example]")
            found.campaign("two", "include: [odd.example, long.example]")
            stack = found.stack
            found.write(
                "edgeshift.toml",
                f'[env.rehearsal]\ntemporal_address = "{stack["address"]}"\n'
                f'temporal_namespace = "{stack["namespace"]}"\narchive_url = "{stack["archive"]}"\n',
            )
            yield found


@pytest.fixture
def within(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """This process in the stack's folder."""
    monkeypatch.chdir(place.folder)
    monkeypatch.setenv("EDGESHIFT_USER", "olga")
    monkeypatch.setenv("COLUMNS", "80")


def receipt(ran: Ran, model: type[receipts.Receipt]) -> Any:
    """The receipt that was printed, with every field of its model and no other."""
    assert ran.code == 0, ran
    found = json.loads(ran.out)
    assert set(found) == set(model.model_fields)
    return found


def test_a_start_gives_a_receipt(place: Place) -> None:
    """Of what was started, by whom; in a named environment, which is said before anything is done."""
    told = receipt(place.run("start", "one.yaml", "--yes", "--json", "--by", "olga"), receipts.Started)
    assert (told["verb"], told["campaign"], told["by"], told["zones"]) == ("start", "one", "olga", 2)
    assert told["environment"] is None and sum(told["waves"].values()) == 2
    ran = place.run("--env", "rehearsal", "start", "two.yaml", "--yes", "--json")
    assert receipt(ran, receipts.Started)["environment"] == "rehearsal"
    assert "in environment rehearsal (" in ran.err and "at Temporal " in ran.err
    assert ran.err.index("in environment rehearsal (") < ran.err.index("Campaign two (waf)")


def test_a_program_waits_for_a_state(place: Place) -> None:
    """It is shown once it is there; what takes too long ends with 8, and says how it stands."""
    told = place.run("status", "one", "--until", "waiting", "--timeout", "5m", "--json")
    assert told.code == 0 and json.loads(told.out)["summary"]["places"].get("awaiting")
    place.until("one", lambda places: places.get("awaiting") == 2)
    place.until("two", lambda places: places.get("awaiting") == 1 and places.get("support") == 1)
    said = place.refused(8, "status", "one", "--until", "paused", "--timeout", "1s")
    assert "campaign one was not paused within 1s; it is running, with 0 of 2 zones finished" in said
    assert place.refused(5, "status", "none", "--until", "paused").startswith(
        "error: there is no campaign none"
    )


def test_names_are_completed(
    within: None, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Campaigns, the newest first, and the zones of the one that is named, or of all."""
    monkeypatch.setattr(candidates, "WITHIN", 60.0)
    monkeypatch.setenv("_EDGESHIFT_COMPLETE", "complete_bash")

    def offered(line: str) -> list[str]:
        monkeypatch.setenv("COMP_WORDS", line)
        monkeypatch.setenv("COMP_CWORD", str(len(line.split(" ")) - 1))
        assert complete() == 0
        return [word for word in capsys.readouterr().out.splitlines() if word]

    assert sorted(offered("edgeshift watch ")) == ["one", "two"]
    assert offered("edgeshift report t") == ["two"]
    assert offered("edgeshift sign-off approve one --zone ") == ["shop-1.example", "shop-2.example"]
    assert set(offered("edgeshift history ")) >= {"shop-1.example", "odd.example"}
    assert offered("edgeshift history long") == ["long.example"]


def test_all_campaigns_are_paused_and_resumed(place: Place) -> None:
    """After a question, with a receipt for each; there is nothing to pause twice."""
    ran = place.run("pause", "--all")
    assert ran.code == 6 and "one: running" in ran.out and "two: running" in ran.out
    ran = place.run("pause", "--all", "--yes", "--reason", "lunch", "--json")
    assert ran.code == 0, ran
    told = json.loads(ran.out)
    assert set(told) == set(receipts.SteeredAll.model_fields)
    assert sorted(one["campaign"] for one in told["campaigns"]) == ["one", "two"]
    for one in told["campaigns"]:
        assert set(one) == set(receipts.Steered.model_fields)
        assert (one["verb"], one["by"], one["reason"]) == ("pause", "olga", "lunch")
        assert "is paused" in one["text"]
    assert not told["failed"] and not told["left_out"]
    assert place.run("status", "two", "--until", "paused", "--timeout", "1m").code == 0
    assert "there is no campaign to pause" in place.refused(5, "pause", "--all", "--yes")
    told = receipt(place.run("resume", "one", "--json"), receipts.Steered)
    assert told["text"] == "Campaign one is running again; it was paused."
    place.run("status", "one", "--until", "running", "--timeout", "1m")
    out = place.ok("resume", "--all", "--yes")
    assert "not one: running" in out and "Campaign two is running again" in out


def test_an_archive_that_cannot_be_opened_keeps_nobody_from_stopping(place: Place) -> None:
    """Where a file lies in its place: the campaign is paused, and whoever has a key hears that nothing is
    signed. What looks at campaigns says what is wrong.
    """
    elsewhere = ("--archive", place.write("plain", "no folder"))
    ran = place.run("pause", "one", *elsewhere)
    assert ran.code == 0 and "whether this is the campaign's archive cannot be read: " in ran.err, ran
    place.run("status", "one", "--until", "paused", "--timeout", "1m")
    place.ok("resume", "one")
    place.ok("keys", "make", "olga", "--file", "olga.key")
    signs = Place(place.folder, EDGESHIFT_AUTHORITY_KEY=str(place.folder / "olga.key"))
    ran = signs.run("pause", "one", *elsewhere)
    assert ran.code == 1 and "; but that is not signed: " in ran.err, ran
    assert "one" in place.ok("status", *elsewhere)
    ran = place.run("status", "one", *elsewhere)
    assert ran.code == 1 and "one  waf  paus" in ran.out, ran
    assert "the archive cannot be read, so zones and their alarms are not listed: " in ran.err
    ran = place.run("status", "one", "--json", *elsewhere)
    told = json.loads(ran.out)
    assert ran.code == 1 and told["unreadable"] in ran.err and told["unreadable"] and not told["zones"], ran
    assert told["summary"]["places"] == place.json("status", "one")["summary"]["places"]
    place.refused(1, "status", "one", "--phase", "awaiting", *elsewhere)
    looked = place.run("alarms", "--json", *elsewhere)
    assert looked.code == 7 and "archive" in {one["code"] for one in json.loads(looked.out)["alarms"]}, looked
    place.run("status", "one", "--until", "paused", "--timeout", "1m")
    place.ok("resume", "one")
    place.run("status", "one", "--until", "running", "--timeout", "1m")


def test_a_pause_of_all_believes_neither_an_old_word_nor_the_first_list(
    within: None, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both run: one still publishes that it is paused, and Temporal lists the other only later. Both are
    paused, and are left out then, since they say so themselves.
    """
    now, listed, listings = published, finding.campaigns, []

    async def before(described: WorkflowExecutionDescription) -> CampaignSummary | None:
        found = await now(described)
        return found and found.model_copy(update={"state": "paused", "stopped_by": "olga"})

    async def lagging(client: Client) -> AsyncIterator[WorkflowExecution]:
        listings.append(client)
        async for execution in listed(client):
            if len(listings) > 1 or execution.id != "campaign/two":
                yield execution

    monkeypatch.setattr(control, "LAGS", 0.5)
    monkeypatch.setattr("edgeshift.operations.campaigns.published", before)
    monkeypatch.setattr(finding, "campaigns", lagging)
    ran = in_process("pause", "--all", "--yes", "--json")
    assert ran.code == 0, ran
    told = json.loads(ran.out)
    assert [one["campaign"] for one in told["campaigns"]] == ["one", "two"]
    assert (told["failed"], told["left_out"], len(listings)) == ([], [], 3)
    for name in ("one", "two"):
        assert place.json("status", name)["summary"]["state"] == "paused"
    assert "there is no campaign to pause" in in_process("pause", "--all", "--yes").err
    for name in ("one", "two"):
        place.ok("resume", name)
        place.run("status", name, "--until", "running", "--timeout", "1m")


def test_a_resumption_of_all_believes_no_old_word(
    within: None, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One is paused and still publishes that it runs, the other runs and still publishes that it is paused:
    the one is resumed, and the other left out as it says of itself.
    """
    now = published

    async def before(described: WorkflowExecutionDescription) -> CampaignSummary | None:
        found = await now(described)
        stood = ("running", "") if described.id == "campaign/one" else ("paused", "olga")
        return found and found.model_copy(update=dict(zip(("state", "stopped_by"), stood, strict=True)))

    place.ok("pause", "one")
    monkeypatch.setattr("edgeshift.operations.campaigns.published", before)
    ran = in_process("resume", "--all", "--yes", "--json")
    assert ran.code == 0, ran
    told = json.loads(ran.out)
    assert [one["campaign"] for one in told["campaigns"]] == ["one"]
    assert (told["failed"], told["left_out"]) == ([], ["two"])
    assert "there is no campaign to resume" in in_process("resume", "--all", "--yes").err
    place.run("status", "one", "--until", "running", "--timeout", "1m")


def test_a_resumption_of_all_leaves_alone_what_does_not_answer(
    within: None, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may have paused itself since it was paused by hand: it is named as not resumed, and goes on to be
    paused, also where it answers again before it is told.
    """
    asked = operations.summary

    async def silent(client: Client, name: str) -> CampaignSummary:
        if name == "one":
            raise operations.TemporalTrouble("it does not answer")
        return await asked(client, name)

    place.ok("pause", "one")
    place.run("status", "one", "--until", "paused", "--timeout", "1m")
    monkeypatch.setattr(operations, "summary", silent)
    ran = in_process("resume", "--all", "--yes")
    assert (ran.code, "one: it did not answer" in ran.err) == (1, True), ran
    assert "paused" in place.ok("status", "one")
    place.ok("resume", "one")
    place.run("status", "one", "--until", "running", "--timeout", "1m")


def test_a_zone_that_nobody_knows_is_told_with_what_was_meant(place: Place) -> None:
    """Wherever a zone is named."""
    for verb in ("history", "show", "snapshot", "check"):
        assert "did you mean shop-1.example?" in place.refused(5, verb, "shop1.example")
    for line in (("export", "terraform", "one"), ("retry", "one"), ("support-resolved", "one")):
        assert "did you mean shop-1.example?" in place.refused(5, *line, "--zone", "shop1.example")


def test_what_is_opened(within: None, place: Place, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The pages of the workflow, where it is known where they are; the report, written now."""
    assert "no web pages are known" in place.refused(5, "open", "ui", "two")
    monkeypatch.setenv("EDGESHIFT_TEMPORAL_UI", "http://127.0.0.1:8233")

    def url(*arguments: str) -> str:
        ran = in_process("open", *arguments, "--print", "--json")
        assert ran.code == 0, ran
        found = json.loads(ran.out)
        assert found["opened"] is False
        return unquote(found["url"])

    assert url("ui") == "http://127.0.0.1:8233/namespaces/default/workflows"
    assert url("ui", "two") == "http://127.0.0.1:8233/namespaces/default/workflows/campaign/two"
    zone = place.json("status", "two", "--zone", "odd.example")["zones"][0]
    assert url("ui", "odd.example").endswith(f"/workflows/zone/{zone['id']}/waf")
    assert in_process("open", "ui", "three").code == 5
    browser = tmp_path / "browser"
    browser.write_text(f'#!/bin/sh\necho "$1" > "{tmp_path}/opened"\n')
    browser.chmod(0o755)
    done = subprocess.run(
        [*CLI, "open", "report", "one", "--out", "one.html"],
        cwd=place.folder,
        env={**place.environment, "BROWSER": f"{browser} %s"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done
    report = (place.folder / "one.html").absolute()
    assert done.stdout.strip() == report.as_uri() == (tmp_path / "opened").read_text().strip()
    assert "shop-1.example" in report.read_text()


def test_people_decide_and_get_receipts(place: Place) -> None:
    """A wave, a zone, one that needs support; what is shown of them goes to stderr."""
    ran = place.run("sign-off", "approve", "two", "--zone", "odd.example", "--by", "ada", "--yes", "--json")
    told = receipt(ran, receipts.Signed)
    assert told["zone"]["name"] == "odd.example" and told["choice"] == "approve" and told["zones"] == 1
    assert told["zone"]["digest"][:12] in ran.err and "body: " in ran.err
    ran = place.run("sign-off", "reject", "one", "--wave", "1", "--by", "ada", "--yes", "--json", "-q")
    told = receipt(ran, receipts.Signed)
    assert told["zones"] == 2 and told["fingerprints"] and told["wave"] == 1 and ran.err == ""
    told = receipt(
        place.run("support-resolved", "two", "--zone", "long.example", "--json"), receipts.ReadAgain
    )
    assert told["read"] and told["needs_support"] and told["tickets"] and "bytes" in told["text"]


def test_a_finished_campaign_is_nothing_but_finished(place: Place) -> None:
    """Who waits for something else is told at once; who starts it hears what begins again, zones or all."""
    assert place.run("status", "one", "--until", "finished", "--timeout", "3m").code == 0
    said = place.refused(5, "status", "one", "--until", "waiting")
    assert "campaign one has finished, and will not be waiting any more" in said
    said = place.refused(6, "start", "one.yaml", "--yes")
    assert "campaign one has been run and is completed" in said
    assert "hint: `edgeshift retry` or `reopen` restarts zones of it; `edgeshift start FILE --again`" in said


def test_many_are_reopened_after_a_question(within: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Many are few here. Named ones are meant, and so are those of which somebody has said yes."""
    monkeypatch.setattr(begin_again, "MANY", 1)
    ran = in_process("reopen", "one", "--outcome", "rejected")
    assert (
        ran.code == 6
        and "Campaign one: 2 rejected; all of them would restart." in ran.out
        and "--yes" in ran.err
    )
    ran = in_process("reopen", "one", "--zone", "shop-1.example", "--json")
    told = receipt(ran, receipts.BegunAgain)
    assert told["zones"] == ["shop-1.example"] and told["outcomes"] == []
    ran = in_process("reopen", "one", "--outcome", "rejected", "--yes", "--json")
    assert receipt(ran, receipts.BegunAgain)["outcomes"] == ["rejected"]


def _watching(place: Place, *options: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [*CLI, "watch", "two", *options],
        cwd=place.folder,
        env={**place.environment, "PYTHONUNBUFFERED": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def _until(process: subprocess.Popen[str], words: str) -> str:
    seen = ""
    assert process.stdout is not None
    while words not in seen:
        line = process.stdout.readline()
        assert line, seen
        seen += line
    return seen


def test_watch_goes_on_when_temporal_is_back(place: Place) -> None:
    """One line when it goes, one when it is back, then the campaign as it is; or the end, with 3."""
    watching, hasty = _watching(place), _watching(place, "--reconnect", "2s")
    for one in (watching, hasty):
        _until(one, "two: running")
    os.kill(place.stack["pid"], signal.SIGTERM)
    assert "trying again, for 10m at most" in _until(watching, "two: no answer: ")
    out, err = hasty.communicate(timeout=120)
    assert hasty.returncode == 3 and "Temporal has not answered for 2s" in err, (out, err)
    assert out.count("two: no answer: ") == 1
    limit = time.monotonic() + 120
    while (place.folder / ".edgeshift/stack.json").exists():
        assert time.monotonic() < limit
        time.sleep(0.5)
    with contextlib.ExitStack() as ends:
        log = ends.enter_context((place.folder / "up-again.log").open("w"))
        up = subprocess.Popen([*CLI, "up"], cwd=place.folder, env=place.environment, stdout=log, stderr=log)
        ends.callback(up.wait, 60)
        ends.callback(up.send_signal, signal.SIGTERM)
        seen = _until(watching, "two: Temporal answers again, after ")
        assert "no answer" not in seen
        while not (place.folder / ".edgeshift/stack.json").exists() or not worker_polls(place):
            assert up.poll() is None and time.monotonic() < limit + 240, (
                place.folder / "up-again.log"
            ).read_text()
            time.sleep(0.5)
        told = receipt(place.run("abort", "two", "--yes", "--json"), receipts.Steered)
        assert told["verb"] == "abort" and told["in_flight"] == []
        out, err = watching.communicate(timeout=240)
        assert watching.returncode == 0, (out, err)
