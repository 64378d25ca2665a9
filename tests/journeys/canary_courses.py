"""A campaign of each area among canaries: everything is done by the command line, and much of it fails."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable
from typing import Any

from edgeshift.model.fleet import Area, ZoneOutcome
from tests.journeys.canary_kit import BUCKET, Rehearsal, campaign_text

ENDED = (*(outcome.value for outcome in ZoneOutcome), "excluded")


def play_waf(play: Rehearsal) -> None:
    """Validation, support by the desk that fails first, a credential that is refused for a while, refusals
    and pages that repeat tokens, a lost answer to a commit, an archive that is away for a while, sign-off,
    history and report.
    """
    _, key = play.canaries.token, play.canaries.key
    zones = zone_ids(play)
    play.write("waf.yaml", campaign_text(play, "canary-waf", "validation: {window: 4h}\n"))
    doctored(play, "waf.yaml")
    play.ok("plan", "waf.yaml")
    play.echo(play.canaries.token, call="waf.config", zone=zones["echo.canary.example"])
    play.html(play.canaries.token, call="waf.status", zone=zones["shop.canary.example"])
    play.html(f"{key} {play.canaries.email}", call="waf.check", zone=zones["bank.canary.example"])
    play.fault(
        kind="server_error",
        status=502,
        body=f"upstream said {key} of {play.canaries.email}",
        effect="after",
        times=1,
        match={"call": "entrypoint.put", "zone": zones["bank.canary.example"]},
    )
    play.ok("start", "waf.yaml", "--yes")
    held(play, "canary-waf", "waf.yaml")
    archive_away(play, 1.0)
    signed_until_closed(play, "canary-waf", ("bank", "own", "shop"))
    aftermath(play, "canary-waf", ("bank", "long") if play.brief else ("bank", "long", "echo"), Area.WAF)


def play_esc(play: Rehearsal) -> None:
    """A customer's own secret and test secrets, a refusal that quotes one, a page that quotes a token; turned
    off, watched.
    """
    zones = zone_ids(play)
    more = (
        "area: esc\nesc:\n  observe: 8h\n  every: 4h\n  probe: {sample: 4, rounds: 2, per_second: 500,"
        f' sitemap: false, urls: [/, /api/items], edge: "{play.place.stack["edge"]}"}}\n'
    )
    play.write("esc.yaml", campaign_text(play, "canary-esc", more))
    play.ok("plan", "esc.yaml")
    for call in ("esc.get", "esc.set", "esc.*"):
        play.echo(play.canaries.esc_secret, call=call, zone=zones["bank.canary.example"])
    play.html(play.canaries.token, call="esc.*", zone=zones["own.canary.example"])
    play.ok("start", "esc.yaml", "--yes")
    signed_until_closed(play, "canary-esc")
    aftermath(play, "canary-esc", ("own", "bank"), Area.ESC)


def play_log_fields(play: Rehearsal) -> None:
    """Jobs of a customer's own and new ones, with keys in their destinations, ownership challenges, refusals
    that quote a destination.
    """
    zones = zone_ids(play)
    buckets = (play.place.folder / ".edgeshift/simulator/buckets/s3" / BUCKET).as_uri()
    more = (
        "area: log-fields\nlog_fields:\n  request_headers: [user-agent]\n  verify: 2h\n  every: 1h\n"
        f'  unverified: keep\n  entries: "{buckets}/{{zone}}"\n'
        f'  job: {{destination: env:CANARY_DESTINATION, challenge: "{buckets}"}}\n'
    )
    play.write("fields.yaml", campaign_text(play, "canary-fields", more))
    play.ok("plan", "fields.yaml")
    for call in ("logpush.*", "rulesets.put"):
        play.echo(play.canaries.destination, call=call, zone=zones["bank.canary.example"])
    play.html(play.canaries.destination, call="logpush.*", zone=zones["own.canary.example"])
    play.ok("start", "fields.yaml", "--yes")
    signed_until_closed(play, "canary-fields")
    aftermath(play, "canary-fields", ("own", "bank"), Area.LOG_FIELDS)


PLAYS: dict[Area, Callable[[Rehearsal], None]] = {
    Area.WAF: play_waf,
    Area.ESC: play_esc,
    Area.LOG_FIELDS: play_log_fields,
}


def doctored(play: Rehearsal, file: str) -> None:
    """The doctor, well and ill: a revoked token, a proxy that is not there, an archive that is none."""
    text = (play.place.folder / file).read_text(encoding="utf-8")
    play.write("revoked.yaml", text.replace("kept/token", "kept/revoked"))
    play.write("proxy.yaml", text.replace("env:CANARY_PROXY", "env:CANARY_BAD_PROXY"))
    play.run("doctor", "revoked.yaml")
    play.run("--debug", "doctor", "proxy.yaml", "--json")
    if not play.brief:
        play.run("doctor", file, "--json")
        play.run("--debug", "plan", "revoked.yaml")


def held(play: Rehearsal, campaign: str, file: str) -> None:
    """Let the credential be refused until the campaign pauses itself; then it is fixed, and goes on."""
    limit = time.monotonic() + 120
    with play.refused(play.canaries.token):
        while not json.loads(play.run("status", campaign, "--json").out)["summary"]["holds"]:
            if time.monotonic() > limit:
                play.failures.append(f"{campaign}: it does not pause itself")
                break
        play.run("status", campaign)
        play.run("alarms", campaign)
        play.run("doctor", file)
    play.run("doctor", file)


def archive_away(play: Rehearsal, seconds: float) -> None:
    """Let the archive be no folder for a while."""
    archive = play.place.folder / ".edgeshift/archive"
    aside = archive.with_name("archive-aside")
    archive.rename(aside)
    archive.write_text("not a folder")
    time.sleep(seconds)
    archive.unlink()
    aside.rename(archive)


def aftermath(play: Rehearsal, campaign: str, zones: tuple[str, ...], area: Area) -> None:
    """What people look at afterwards, for people and for programs."""
    play.run("status", campaign, "--json")
    for zone in zones:
        play.run("history", f"{zone}.canary.example", "--area", area.value, "--all")
    if not play.brief:
        play.run("history", f"{zones[0]}.canary.example", "--area", area.value, "--json")
        play.run("--debug", "history", "nobody.canary.example")
    play.run("report", campaign, "--out", f"{campaign}.html", "--csv", f"{campaign}.csv")


def zone_ids(play: Rehearsal) -> dict[str, str]:
    """The zones' identifiers by name."""
    listed: dict[str, Any] = asyncio.run(play.control.get("zones"))
    return {str(item["name"]): str(item["id"]) for item in listed["zones"]}


def ended(places: dict[str, int]) -> int:
    """How many zones have an outcome."""
    return sum(places.get(place, 0) for place in ENDED)


def waits(places: dict[str, int]) -> int:
    """How many zones wait for a sign-off."""
    return places.get("awaiting", 0) + places.get("awaiting_separate", 0)


def until(
    play: Rehearsal, campaign: str, holds: Callable[[dict[str, int]], bool], seconds: float = 300
) -> None:
    """Return once the campaign's places are as wanted; else note it, since what is left behind counts."""
    limit = time.monotonic() + seconds
    places: dict[str, int] = {}
    while time.monotonic() < limit:
        places = play.place.places(campaign)
        if holds(places):
            return
        time.sleep(0.5)
    play.failures.append(f"{campaign}: not within {seconds:g} s: {places}")


def signed_until_closed(play: Rehearsal, campaign: str, apart: tuple[str, ...] = ("own", "bank")) -> None:
    """Approve what comes to wait until every zone has an outcome, or is with support. ``apart``: zones that
    may wait apart from others of their fingerprint.
    """
    total = len(zone_ids(play))

    def done(places: dict[str, int]) -> bool:
        return ended(places) + places.get("support", 0) >= total

    def signed(places: dict[str, int]) -> bool:
        if waits(places):
            play.run("sign-off", "approve", campaign, "--wave", "1", "--yes", "--reason", "as planned")
        for zone in apart if places.get("awaiting_separate") else ():
            play.run("sign-off", "approve", campaign, "--zone", f"{zone}.canary.example", "--yes")
        return done(places)

    until(play, campaign, signed)
