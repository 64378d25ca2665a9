"""A campaign from its file to its end, by the command line alone. The tests run in their order on one
stack.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from edgeshift.areas.waf.plain import plain
from tests.journeys.cli_kit import CLI, Place, entry_point, of_wave, running_stack
from tests.rules.hcl_kit import resources

pytestmark = [pytest.mark.stack(55), pytest.mark.embedded, pytest.mark.timeout(600)]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory, temporal_cli_path: Path) -> Iterator[Place]:
    """A stack over the small fleet, and a campaign file for all of it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("EDGESHIFT_TEMPORAL_CLI", str(temporal_cli_path))
        with running_stack(tmp_path_factory.mktemp("campaign")) as found:
            found.campaign("main", "all: true")
            yield found


def test_the_doctor_finds_all_well(place: Place) -> None:
    """Each part is named; no secret is shown."""
    told = place.json("doctor", "main.yaml")
    assert told["ok"]
    names = {check["name"].split(",")[0] for check in told["checks"]}
    assert {"Temporal", "search attributes", "retention", "worker", "archive", "tickets", "service"} <= names
    shown = place.ok("doctor", "main.yaml")
    token = next((place.folder / ".edgeshift/credentials").iterdir()).read_text().strip()
    assert "credential 1, file:" in shown and "no check failed" in shown and token not in shown


def test_a_plan_reads_and_changes_nothing(place: Place) -> None:
    """It says of each zone what would become of it, and sends nothing but readings."""
    shown = place.ok("plan", "main.yaml", "--out", "plan.json")
    told = json.loads((place.folder / "plan.json").read_text())
    assert told["verdicts"] == {"ready": 6, "needs_support": 1, "blocked": 1}
    for word in (
        "long.example",
        "legacy.example",
        "2 Enterprise zones wait 8h",
        "Forecast",
        "Next: edgeshift start",
    ):
        assert word in shown
    assert max(len(line) for line in shown.splitlines() if "plan.json" not in line) <= 80
    assert place.writes() == []


def test_a_start_asks_and_is_refused_where_nobody_can_answer(place: Place) -> None:
    """Without a terminal and without --yes nothing is started."""
    assert "pass --yes" in place.refused(6, "start", "main.yaml")
    assert "there is no campaign main" in place.refused(5, "pause", "main")


def test_a_plan_is_started_as_it_is_or_not_at_all(place: Place) -> None:
    """A file that is none, a plan that is not in the archive, a campaign file that has changed, an old plan:
    each is refused, and says what to do. Without --plan, what has changed is told.
    """
    start = ("start", "--yes", "--plan")
    assert "name a campaign file, or a plan" in place.refused(2, "start")
    for text in ("", "[]", '{"plan": "main"}', '{"plan": 1}'):
        place.write("none.json", text)
        assert "--plan none.json is not a plan" in place.refused(2, *start, "none.json")
    place.write("none.json", json.dumps({"plan": "0" * 64}))
    assert "the plan cannot be read from the archive" in place.refused(6, *start, "none.json")
    main = (place.folder / "main.yaml").read_text()
    place.write("other.yaml", main + "window: 3\n")
    said = place.refused(2, "start", "other.yaml", "--yes", "--plan", "plan.json")
    assert "the campaign file is not the one that was planned: window differs" in said
    shown = place.run("start", "other.yaml").out
    assert "The file has changed since its plan (window): reading every zone first" in shown
    assert "Every zone is as in that plan." in shown and "targets: those of the plan made" in shown
    old = place.write("old.yaml", main.replace("name: main", "name: old") + "plan: {fresh: 1s}\n")
    place.ok("plan", old, "--out", "old.json")
    time.sleep(1.1)
    said = place.refused(6, *start, "old.json")
    assert "and plan.fresh is 1s" in said and "plan again" in said
    place.ok("plan", "main.yaml", "--out", "plan.json")


def test_a_campaign_is_started_once(place: Place) -> None:
    """Over the plan's targets; a second start names the campaign and its state."""
    out = place.ok("start", "main.yaml", "--plan", "plan.json", "--yes", "--by", "olga")
    assert "those of the plan made" in out and "edgeshift watch main" in out
    said = place.refused(6, "start", "main.yaml", "--yes")
    assert "campaign main was started already and is running (started by olga, 8 zones)" in said


def test_what_cannot_be_signed_is_refused_with_its_reason(place: Place) -> None:
    """Unknown zone, nothing waiting, not listed, an old digest, a prefix of nothing: each by name."""
    came_to = {"awaiting": 5, "awaiting_separate": 1, "support": 1, "blocked": 1}
    place.until("main", lambda places: places == came_to)
    sign = ("sign-off", "approve", "main", "--yes")
    assert "did you mean shop-1.example?" in place.refused(5, *sign, "--zone", "shop1.example")
    assert "does not wait for a sign-off; it is needs support" in place.refused(
        5, *sign, "--zone", "long.example"
    )
    assert "it is blocked" in place.refused(5, *sign, "--zone", "legacy.example")
    before = sorted((place.folder / ".edgeshift/archive/signed").rglob("*"))
    for which in ("--zone=odd.example", "--wave=1"):
        said = place.refused(6, *sign, which, "--by", "mallory")
        assert "'mallory' is not an approver of this campaign; approvers are ada, grace; nothing was" in said
    assert sorted((place.folder / ".edgeshift/archive/signed").rglob("*")) == before != []
    said = place.refused(6, *sign, "--zone", "odd.example", "--by", "ada", "--digest", "0" * 64)
    assert "no longer proposes 000000000000…; it waits with " in said
    for wrong in ("123", "zz" * 16, "0" * 65):
        said = place.refused(2, *sign, "--zone", "odd.example", "--by", "ada", "--digest", wrong)
        assert f"--digest {wrong!r} is not a digest" in said and "12 to 64 hexadecimal digits" in said
    said = place.refused(5, "retry", "main", "--zone", "odd.example")
    assert "nothing to retry" in said and "`edgeshift status main` shows where its zones are" in said
    some = place.json("retry", "main", "--zone", "odd.example", "--zone", "legacy.example")
    assert (some["zones"], some["skipped"]) == (["legacy.example"], ["odd.example"])
    assert "Not restarted, since it is not blocked or failed or " in some["text"]
    place.until("main", lambda places: places == came_to)
    assert "is not a fingerprint" in place.refused(2, *sign, "--fingerprint", "zz")
    assert "waits for a sign-off of fingerprint 00000000" in place.refused(
        5, *sign, "--fingerprint", "00000000"
    )
    assert "has no wave 2\n\nhint: it has wave 1 alone" in place.refused(2, *sign, "--wave", "2")
    assert "has no wave 9\n\nhint: it has wave 1 alone" in place.refused(2, "status", "main", "--wave", "9")
    assert "did you mean awaiting?" in place.refused(2, "status", "main", "--phase", "awaitng")
    assert "did you mean shop-1.example?" in place.refused(5, "status", "main", "--zone", "shop1.example")
    there = ("status", "main", "--zone", "shop-1.example", "--phase", "blocked")
    assert "shop-1.example of campaign main is not in that wave or phase" in place.refused(5, *there)
    assert len(asyncio.run(of_wave(place, 1))) == 8 and asyncio.run(of_wave(place, 0)) == []
    shown = place.json("status", "main")
    assert [wave["number"] for wave in shown["summary"]["waves"]] == [1]
    assert {zone["wave"] for zone in shown["zones"]} == {1} == {shown["summary"]["wave"]}
    assert "exactly one of" in place.refused(2, *sign, "--wave", "1", "--zone", "odd.example")
    assert "there is no campaign none" in place.refused(5, "sign-off", "reject", "none", "--wave", "1")
    assert all("validation" in str(entry["query"]) for entry in place.writes())


def test_what_waits_is_shown_whole_by_any_of_its_names(place: Place) -> None:
    """By zone, digest, fingerprint or the archive's own name: the rules, and the bytes that are signed."""
    out = place.ok("show", "odd.example")
    assert "body: + 3 added" in out and 'on: http.host eq "odd.example"' in out
    assert "execute the OWASP core ruleset (4814384a9e5d…)" in out and "paranoia-level-4: off" in out
    found = place.json("show", "odd.example", "--campaign", "main")
    assert (found["campaign"], found["area"], found["step"]) == ("main", "waf", "commit")
    assert [rule["action"] for rule in found["body"]["rules"]] == ["skip", "execute", "execute"]
    raw = place.ok("show", "odd.example", "--raw")
    assert hashlib.sha256(raw.encode()).hexdigest() == found["digest"]
    for name in ("digest", "fingerprint", "proposal"):
        assert place.json("show", found[name])["digest"] == found["digest"]
    assert place.json("show", found["fingerprint"][:12])["zone"] == "odd.example"
    assert "evidence: fail" in place.ok("show", "editor.example")
    assert "no zone waits with a digest" in place.refused(5, "show", "0" * 64)
    assert "did you mean odd.example?" in place.refused(5, "show", "odds.example", "--campaign", "main")
    assert "zone long.example has no proposal; it is needs support" in place.refused(
        5, "show", "long.example"
    )
    both = place.run("show", "odd.example", "--raw", "--json")
    assert both.code == 2 and "exclude each other" in json.loads(both.err)["message"]


def test_what_waits_singly_is_grouped_by_cause_and_decided_on_as_a_list(place: Place) -> None:
    """Each cause with its zones; each zone's evidence is shown, and each gets a receipt. A zone that is left
    out, or named wrongly, is not decided on. Others that propose the same are not touched.
    """
    found = place.json("sign-off", "causes", "main")
    assert found["waiting"] == 1
    ((cause,),) = (found["causes"],)
    assert cause["cause"].startswith("false-positives-")
    assert [zone["zone"] for zone in cause["zones"]] == ["editor.example"]
    out = place.ok("sign-off", "causes", "main")
    assert f"{cause['cause']}  1 zone: the new WAF alone stops requests: rule" in out
    # Its evidence failed: an approval is not what is offered.
    assert f"edgeshift sign-off reject main --cause {cause['cause']}" in out and "approve" not in out
    sign = ("sign-off", "reject", "main", "--yes", "--by", "ada")
    assert "--except needs --cause" in place.refused(2, *sign, "--zone", "odd.example", "--except", "x")
    assert "waits by itself for cause 'gaps'" in place.refused(5, *sign, "--cause", "gaps")
    said = place.refused(2, *sign, "--cause", "false", "--except", "odd.example")
    assert "--except odd.example: no such zone waits for cause 'false'; nothing was signed" in said
    said = place.refused(5, *sign, "--cause", "false", "--except", "editor.example")
    assert "no zone is left to decide on" in said
    said = place.refused(5, *sign, "--zone", "shop-1.example", "--zone", "long.example")
    assert "long.example does not wait for a sign-off; nothing was signed" in said
    before = place.places("main")
    draft = place.run(*sign, "--cause", "false", "--print")
    assert json.loads(draft.out)["zone"] == cause["zones"][0]["id"] and place.places("main") == before
    assert "evidence: fail" in draft.err and cause["zones"][0]["digest"] in draft.err


def test_nothing_is_signed_that_cannot_be_shown(place: Place) -> None:
    """Where the archive has another body than the one that waits, the zone is refused, and its fingerprint
    left out of the wave; nothing is sent. It can still be rejected.
    """
    before = len(place.writes())
    found = place.json("show", "odd.example")
    (kept,) = (place.folder / ".edgeshift/archive/objects").rglob(found["proposal"])
    whole = kept.read_bytes()
    kept.write_bytes(whole.replace(b"skip", b"log"))
    try:
        sign = ("sign-off", "approve", "main", "--by", "ada", "--yes")
        assert "damaged" in place.refused(1, *sign, "--zone", "odd.example")
        assert "nothing was signed" in place.refused(6, *sign, "--fingerprint", found["fingerprint"])
        ran = place.run("sign-off", "approve", "main", "--wave", "1", "--by", "ada")
        # Both are named, one is left out of the question, which nobody answers here.
        assert ran.code == 6 and "cannot prompt" in ran.err
        assert found["fingerprint"][:12] in ran.out and "not shown, and not signed" in ran.out
        ran = place.run("sign-off", "reject", "main", "--by", "ada", "--zone", "odd.example")
        assert "It cannot be shown:" in ran.out and "cannot prompt" in ran.err
    finally:
        kept.write_bytes(whole)
    assert place.places("main")["awaiting"] == 5 and len(place.writes()) == before


def test_a_pause_answers_and_nothing_begins_until_resume(place: Place) -> None:
    """What is signed meanwhile is committed after it."""
    assert "Campaign main is paused; no step was in flight." in place.ok("pause", "main", "--reason", "lunch")
    before = len(place.writes())
    out = place.ok(
        "sign-off", "approve", "main", "--wave", "1", "--yes", "--by", "ada", "--reason", "as expected"
    )
    assert "Not signed by this: their own evidence did not pass" in out and "editor.example" in out
    assert "this cannot be undone" in out and "evidence: pass" in out
    for zone in place.json("status", "main", "--phase", "awaiting")["zones"]:
        assert zone["fingerprint"][:12] in out
    assert len(place.writes()) == before
    assert "Campaign main is running again; it was paused." in place.ok("resume", "main")
    place.until("main", lambda places: places.get("migrated") == 5)


def test_a_zone_whose_evidence_failed_is_signed_singly(place: Place) -> None:
    """Its findings are shown; a rejection of it does not touch others; reopened by name it waits again."""
    out = place.ok("sign-off", "reject", "main", "--zone", "editor.example", "--by", "grace", "--yes")
    assert "evidence: fail" in out and "false positive: rule" in out
    place.until("main", lambda places: places.get("rejected") == 1)
    said = place.refused(2, "retry", "main", "--outcome", "rejected")
    assert "'rejected' zones cannot be retried\n\nhint: use reopen" in said
    assert "nothing to reopen: none of these zones of campaign main is" in place.refused(5, "reopen", "main")
    assert "Campaign main restarts 1 zone." in place.ok("reopen", "main", "--zone", "editor.example")
    place.until("main", lambda places: places.get("awaiting_separate") == 1)
    place.ok("sign-off", "approve", "main", "--zone", "editor.example", "--by", "ada", "--yes")
    place.until("main", lambda places: places.get("migrated") == 6)


def test_support_is_told_of_only_for_a_zone_that_waits_for_it(place: Place) -> None:
    """The zone is read anew; one that is not fixed goes back to wait, with the ticket that it had."""
    assert "does not wait for support; it is migrated" in place.refused(
        5, "support-resolved", "main", "--zone", "odd.example"
    )
    out = place.ok("support-resolved", "main", "--zone", "long.example")
    assert "was read again. It still needs support" in out and "bytes" in out and ".md" in out
    place.until("main", lambda places: places.get("support") == 1)
    assert len(list((place.folder / ".edgeshift/tickets").glob("*.md"))) == 1


def test_a_zone_of_a_running_campaign_is_excluded_from_another(place: Place) -> None:
    """Named with the campaign that has it; nothing of it is touched."""
    place.campaign("other", "include: [long.example]")
    place.ok("start", "other.yaml", "--yes")
    place.until("other", lambda places: places.get("excluded") == 1)
    zone = place.json("status", "other", "--zone", "long.example")["zones"][0]
    assert zone["place"] == "excluded" and "main" in zone["reason"]


def test_an_abort_ends_it_and_a_closed_campaign_says_so(place: Place) -> None:
    """What waits ends as aborted; the abort is signed, so that zones begin again only with the campaign, and
    that only with --again.
    """
    assert "Campaign main is aborting. No commit is in flight." in place.ok(
        "abort", "main", "--yes", "--reason", "enough"
    )
    places = place.until("main", lambda places: places.get("aborted") == 1)
    assert places == {"migrated": 6, "blocked": 1, "aborted": 1}
    # Once its last zone has ended, it closes.
    place.ok("status", "main", "--until", "finished", "--timeout", "3m")
    said = place.refused(6, "pause", "main")
    assert "campaign main is closed" in said and "after an abort, `edgeshift start FILE --again`" in said
    said = place.refused(6, "start", "main.yaml", "--yes")
    assert "campaign main has been run and is aborted" in said
    # What the hint names works, and what does not work is not named.
    assert "hint: `edgeshift start FILE --again`" in said and "retry" not in said and "reopen" not in said
    for verb in ("retry main", "retry main --outcome blocked", "reopen main --zone long.example"):
        said = place.refused(6, *verb.split())
        assert "campaign main was aborted by olga, who signed that" in said
        assert "hint: `edgeshift start FILE --again`" in said
    assert place.places("main") == places


def test_each_zone_was_committed_once(place: Place) -> None:
    """By the simulator's journal: six zones, six commits, after all that was said above."""
    commits = [entry["path"] for entry in place.writes() if "pending" in str(entry["query"])]
    assert len(commits) == len(set(commits)) == 6


def test_terraform_is_what_the_service_has(place: Place) -> None:
    """Of every migrated zone, for each range; who is left out is named, and the exit code says so."""
    export = ("export", "terraform", "main")
    assert "--out is needed" in place.refused(2, *export)
    assert "'6' is not a range of the provider; use 3.35, 4, 5" in place.refused(
        2, *export, "--provider", "6"
    )
    assert "not a version of Terraform" in place.refused(2, *export, "--terraform", "new")
    assert "not migrated: aborted" in place.refused(5, *export, "--zone", "long.example")
    for provider, version in (("3.35", "3.35.0"), ("4", "4.20.0"), ("5", "5.22.0")):
        ran = place.run(*export, "--provider", provider, "--out", f"tf-{provider}", "--json")
        told = json.loads(ran.out)
        assert ran.code == 1 and len(told["zones"]) == 6
        assert {one["name"] for one in told["left_out"]} == {"long.example", "legacy.example"}
        assert ("warning" in ran.err) is (provider == "3.35")
        folder = place.folder / f"tf-{provider}"
        assert sorted(told["files"]) == sorted(file.name for file in folder.iterdir())
        assert {"README.md", "state-rm.sh", "versions.tf"} <= {*told["files"]}
        for one in told["zones"]:
            (resource,) = resources((folder / one["file"]).read_text(), version)
            stored = entry_point(place, one["id"])
            assert plain({"name": resource.rest["name"], "rules": resource.rules}) == plain(stored)
            assert one["import_id"].endswith(f"{one['id']}/{stored['id']}")


def test_nothing_is_overwritten_without_asking(place: Place) -> None:
    """One zone is printed, and needs no folder; for an old Terraform its import is a command."""
    export = ("export", "terraform", "main")
    assert "pass --yes" in place.refused(6, *export, "--out", "tf-4")
    assert "Next: tf-4/README.md" in place.run(*export, "--out", "tf-4", "--yes").out
    out = place.ok(*export, "--zone", "shop-1.example", "--terraform", "1.3")
    assert "\n# terraform import 'cloudflare_ruleset.shop-1_example_waf_managed' 'zone/" in out
    (resource,) = resources(out, "4.20.0")
    assert resource.label == "shop-1_example_waf_managed"


def test_an_export_that_is_refused_writes_nothing(place: Place) -> None:
    """No folder that was not there; one that was there, with its files, stays as it was."""
    export = ("export", "terraform", "main", "--out")
    kept = place.folder / "kept"
    kept.mkdir()
    (kept / "mine.tf").write_text("# mine\n")

    def there() -> list[Path]:
        return sorted(one for one in place.folder.rglob("*") if ".edgeshift" not in one.parts)

    before = there()
    for out in ("new/below", "kept", "kept/below"):
        place.refused(5, *export, out, "--zone", "long.example")
        place.refused(2, *export, out, "--wave", "9")
        place.refused(5, "export", "terraform", "nothing", "--out", out)
    assert there() == before and (kept / "mine.tf").read_text() == "# mine\n"
    # Of several files, the last one cannot be written: then none is.
    (kept / "versions.tf").mkdir()
    said = place.refused(2, *export, "kept", "--yes")
    assert "--out kept/versions.tf cannot be written: it is a folder" in said
    assert there() == sorted([*before, kept / "versions.tf"])


def test_a_check_tells_whether_a_zone_still_is_as_signed(place: Place) -> None:
    """It reads only; levels that came back on are named, and the exit code says so."""
    wrote = len(place.writes())
    zone = place.json("check", "shop-1.example")
    assert zone["same"] and zone["campaign"] == "main" and not zone["differences"]
    assert "shop-1.example is as signed (campaign main, digest " in place.ok("check", "shop-1.example")
    assert "was not changed by a campaign" in place.refused(5, "check", "long.example")
    every = "6 outcomes compared with what workers signed, 6 of them with the service: none told wrong"
    assert every in place.ok("check", "main", "--all")
    told = place.json("check", "main", "--all")
    counts = [told[count] for count in ("outcomes", "read", "unread", "unnamed")]
    assert counts == [6, 6, 0, 0] and (told["unread_for"], told["wrong"]) == ({}, [])
    assert len(place.writes()) == wrote
    rules = entry_point(place, zone["zone"])["rules"]
    weaker = json.loads(json.dumps(rules))
    del weaker[-1]["action_parameters"]["overrides"]["categories"]
    entry_point(place, zone["zone"], weaker)
    ran = place.run("check", "shop-1.example")
    assert ran.code == 1 and "shop-1.example is not as signed" in ran.out
    assert "category paranoia-level-3 of the OWASP core ruleset: off → as delivered" in ran.out
    told = json.loads(place.run("check", "shop-1.example", "--json").out)
    assert not told["same"] and len(told["effects"]) == 2
    assert all(line.startswith(f"changed: rule {len(rules)}, ") for line in told["differences"])
    entry_point(place, zone["zone"], rules)
    assert place.json("check", "shop-1.example")["same"]


def test_a_worker_ends_when_it_is_told_to(place: Place) -> None:
    """SIGTERM: it takes no new work and exits with 0."""
    worker = subprocess.Popen(
        [*CLI, "worker"], cwd=place.folder, env=place.environment, stderr=subprocess.PIPE, text=True
    )
    assert worker.stderr is not None
    assert "worker runs" in worker.stderr.readline()
    worker.terminate()
    assert worker.wait(60) == 0
