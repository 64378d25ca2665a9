"""What becomes of zones, brought about and ended as the runbook says."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest

from edgeshift import operations
from edgeshift.messages import ZonePhase
from edgeshift.model.sign_off import Choice
from edgeshift.stores.archive import object_key
from tests.journeys.cli_kit import POLICY
from tests.journeys.runbook_fleet import LOGS, SHORT, full, refusal
from tests.journeys.runbook_kit import PATIENCE, Desk
from tests.journeys.runbook_namespaces import hasty


def one_approved_another_rejected(here: Desk, code: str, campaign: str, stem: str) -> None:
    """Two zones wait alike: the first is approved by name, the second rejected as the entry says."""
    for number in (1, 2):
        zone = f"{stem}-{number}.example"
        here.alarmed(code, campaign, zone=zone)
        names = {"CAMPAIGN": campaign, "ZONE": zone}
        here.look(code, names)
        if number == 1:
            here.ok("sign-off", "approve", campaign, "--zone", zone, "--reason", "read")
        else:
            here.act(code, names)
        here.over(code, campaign, zone=zone)


def soon_over(here: Desk) -> None:
    """The campaign lets them 1,000 days; whoever asks finds that most of them have passed."""
    here.start("soon", full("soon-1", "soon-2"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("edgeshift.alarms.rules.NEAR", 0.0)
        one_approved_another_rejected(here, "sign-off-expires", "soon", "soon")


def a_zone(here: Desk, code: str, campaign: str, name: str) -> None:
    """Its alarm names it; once it is fixed, the entry's commands take it out of the alarm."""
    zone = f"{name}.example"
    alarm = here.alarmed(code, campaign, zone=zone)
    assert alarm["campaign"] == campaign and alarm["count"] == len(alarm["zones"])
    names = {"CAMPAIGN": campaign, "ZONE": zone, "FILE": f"{campaign}.yaml"}
    here.look(code, names)
    if name in here.troubles:
        here.fix(here.troubles.pop(name))
    if name in ("many", "long-1"):
        settings = here.control("GET", f"zones/{here.zone_id(zone)}")["settings"]
        rules = [rule["id"] for rule in settings["firewall_rules"]]
        here.control("PATCH", f"zones/{here.zone_id(zone)}", {"remove_firewall_rules": rules})
    if name == "legacy":
        here.control("PATCH", f"zones/{here.zone_id(zone)}", {"uri_overrides": []})
    if name == "own-rules":
        here.control("PATCH", f"zones/{here.zone_id(zone)}", {"entry_point": {"rules": []}})
    if name == "starred":
        here.control("PATCH", f"zones/{here.zone_id(zone)}", {"page_rules": []})
    here.act(code, names)
    here.over(code, campaign, zone=zone)


def too_late(here: Desk, code: str, name: str) -> None:
    """A campaign that lets nobody much time: for a sign-off, for the provider's support."""
    here.start(f"short-{name}", full(name), SHORT)
    a_zone(here, code, f"short-{name}", name)


def not_counted(here: Desk, code: str, name: str) -> None:
    """Temporal is told in ada's name that it is approved, which nobody has signed; nor, of one of them, the
    start.
    """
    with pytest.MonkeyPatch.context() as patch:
        if code == "on-hold-unsigned":
            patch.setattr("edgeshift.cli.shell.Shell.pen", lambda *_: None)
        here.start(name, full(name))
    here.until(name, lambda places: places == {"awaiting": 1})

    async def told() -> None:
        client = await here.client()
        (group,) = (await operations.summary(client, name)).waiting
        await operations.sign_fingerprints(client, name, [group.fingerprint], Choice.APPROVE, by="ada")

    here.wait(told())
    a_zone(here, code, name, name)


def aborted(here: Desk) -> None:
    """A campaign is aborted while its zone waits."""
    here.start("stopped", full("stopped"))
    here.until("stopped", lambda places: places == {"awaiting": 1})
    here.ok("abort", "stopped", "--yes")
    a_zone(here, "aborted", "stopped", "stopped")


def unreadable(here: Desk) -> None:
    """The service fails for a zone for longer than the campaign has patience."""
    here.troubles["far"] = here.fault("server_error", "far.example", "waf.check", status=500)
    file = here.folder / here.campaign("far", full("far"))
    file.write_text(file.read_text().replace(f"patience: {PATIENCE}", "patience: 30h"))
    here.ok("start", "far.yaml", "--yes")
    a_zone(here, "failed-reading", "far", "far")


def held_by_another(here: Desk) -> None:
    """It is left out and named; when the other one is done with it, it is found as done."""
    here.start("holds", full("held"))
    here.until("holds", lambda places: places == {"awaiting": 1})
    here.start("wants", full("held"))
    said = here.alarmed("excluded", "wants")["text"]
    assert "campaign/holds" in said, said
    names = {"CAMPAIGN": "wants", "ZONE": "held.example"}
    here.look("excluded", names)
    here.ok("sign-off", "approve", "holds", "--zone", "held.example", "--yes")
    here.until("holds", lambda places: places == {"migrated": 1})
    here.act("excluded", names)
    here.over("excluded", "wants")
    here.until("wants", lambda places: places == {"already_migrated": 1})


def halted(here: Desk) -> None:
    """What failed is fixed and begun again, what is left of it accepted; the later wave begins."""
    gone = refusal("not found", 7003)
    here.troubles["halts"] = here.fault("server_error", "goes-on.example", "waf.check", status=404, body=gone)
    here.start(
        "halts", full("halts", "goes-on"), POLICY + "advance: {failures: 0}\nwaves: [{name: one, zones: 1}]\n"
    )
    assert "1 zone failed" in here.alarmed("halted", "halts")["text"]
    assert here.alarmed("failed-credential", "halts")["zones"] == ["goes-on.example"]
    here.look("halted", {"CAMPAIGN": "halts"})
    here.fix(here.troubles.pop("halts"))
    here.act("halted", {"CAMPAIGN": "halts"})
    here.over("halted", "halts")


def for_a_reason_unheard_of(here: Desk) -> None:
    """A reason whose code whoever asks does not know, as of a later version: it is blocked all the same."""
    here.troubles["unheard"] = here.fault(
        "wrong_types", "unheard.example", "waf.check", replace={"/result/compatible": False}
    )
    here.start("words", full("unheard"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("edgeshift.alarms.of_zones.BY_CODE", {})
        a_zone(here, "blocked", "words", "unheard")


def failed_for_a_reason_unheard_of(here: Desk) -> None:
    """So it is with one that failed: nothing is claimed of what was sent."""
    gone = refusal("not found", 7003)
    here.troubles["odd-end"] = here.fault(
        "server_error", "odd-end.example", "waf.check", status=404, body=gone
    )
    here.start("odd-ends", full("odd-end"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("edgeshift.alarms.of_zones.BY_CODE", {})
        a_zone(here, "failed", "odd-ends", "odd-end")


def given_up(here: Desk) -> None:
    """The service answers each try with 429."""
    with hasty(here):
        here.start("tries", full("busy"))
        here.until("tries", lambda places: places == {"awaiting": 1})
        here.troubles["busy"] = here.fault("rate_limit", "busy.example", "entrypoint.put", retry_after=1)
        here.ok("sign-off", "approve", "tries", "--zone", "busy.example", "--yes")
        a_zone(here, "failed-tries", "tries", "busy")


def not_for_this_zone(here: Desk) -> None:
    """The service takes the credential, and not for this zone."""
    denied = refusal("Authentication error", 10000)
    here.troubles["apart"] = here.fault("server_error", "apart.example", "waf.check", status=403, body=denied)
    here.start("denied", full("apart"))
    a_zone(here, "failed-credential", "denied", "apart")


def damaged_copy(here: Desk) -> None:
    """Its proposal is damaged while its window passes, and there is no copy: nothing is judged by it."""
    here.start("copies", full("copy"), POLICY.replace("window: 8h", "window: 40h"))
    here.until("copies", lambda places: places == {"waiting": 1})
    proposal = here.until_in(ZonePhase.VALIDATING, "copy.example", "waf").proposal
    (here.stack.places.archive / object_key(proposal)).write_bytes(b"[]")
    assert proposal in here.alarmed("failed-archive", "copies")["text"]
    a_zone(here, "failed-archive", "copies", "copy")


def edited(here: Desk) -> None:
    """Its rules of the new WAF are others by the time that it is signed off."""
    here.start("edits", full("edited"))
    here.until("edits", lambda places: places == {"awaiting": 1})
    other = {"/result/rules": LOGS}
    here.troubles["edited"] = here.fault("wrong_types", "edited.example", "entrypoint.get", replace=other)
    here.ok("sign-off", "approve", "edits", "--zone", "edited.example", "--yes")
    a_zone(here, "failed-edited", "edits", "edited")


def with_rules_of_its_own(here: Desk) -> None:
    """Somebody has given it rules of the new WAF, and takes them away again."""
    zone = f"zones/{here.zone_id('own-rules.example')}"
    here.control("PATCH", zone, {"entry_point": {"rules": LOGS}})
    here.start("own", full("own-rules"))
    a_zone(here, "blocked-own-rules", "own", "own-rules")


def of_main(code: str, name: str) -> Callable[[Desk], None]:
    """A zone of the campaign in which most things are wrong."""
    return partial(a_zone, code=code, campaign="main", name=name)


ZONES: dict[tuple[str, ...], Callable[[Desk], None]] = {
    ("sign-off-again",): partial(
        one_approved_another_rejected, code="sign-off-again", campaign="main", stem="drifts"
    ),
    ("sign-off-alone",): partial(
        one_approved_another_rejected, code="sign-off-alone", campaign="main", stem="editor"
    ),
    ("sign-off-expires",): soon_over,
    ("rejected",): of_main("rejected", "waits-2"),
    ("support-too-many-rules",): of_main("support-too-many-rules", "many"),
    ("support-long-expression",): of_main("support-long-expression", "long-1"),
    ("support-refusal",): of_main("support-refusal", "asks"),
    ("needs-support",): partial(too_late, code="needs-support", name="long-2"),
    ("on-hold-uncounted",): partial(not_counted, code="on-hold-uncounted", name="unkeyed"),
    ("on-hold-unsigned",): partial(not_counted, code="on-hold-unsigned", name="nobodys"),
    ("on-hold",): partial(too_late, code="on-hold", name="late"),
    ("blocked-overrides",): of_main("blocked-overrides", "legacy"),
    ("blocked-not-compatible",): of_main("blocked-not-compatible", "odd"),
    ("blocked-log-only",): of_main("blocked-log-only", "logs-only"),
    ("blocked-unprotected",): of_main("blocked-unprotected", "shell"),
    ("blocked-own-rules",): with_rules_of_its_own,
    ("blocked-page-rule",): of_main("blocked-page-rule", "starred"),
    ("blocked",): for_a_reason_unheard_of,
    ("aborted",): aborted,
    ("failed-edited",): edited,
    ("failed-refused",): of_main("failed-refused", "refused"),
    ("failed-tries",): given_up,
    ("failed-credential",): not_for_this_zone,
    ("failed-archive",): damaged_copy,
    ("failed-reading",): unreadable,
    ("failed",): failed_for_a_reason_unheard_of,
    ("failed-differs",): of_main("failed-differs", "differs"),
    ("unknown-commit",): of_main("unknown-commit", "sent"),
    ("unknown-validation",): of_main("unknown-validation", "bank"),
    ("zone-ended",): of_main("zone-ended", "ended"),
    ("excluded",): held_by_another,
    ("halted",): halted,
}
"""Each situation by the codes of the entries that it plays."""
