"""The commands of the documentation that are about campaigns, typed as they stand there and in the order in
which a person would: the README's first steps, the operators' guide with the pages beside it, other areas.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.journeys.docs_kit import PAGES, Typing, meant
from tests.journeys.docs_plays import BEFORE_2024, FIRST_STEPS, GUIDE
from tests.kit.stack_file import without_rehearsed

pytestmark = [pytest.mark.stack(120), pytest.mark.embedded, pytest.mark.long, pytest.mark.timeout(600)]

README, OPERATORS, CLI = "README.md", "operators.md", "cli.md"
READY = "Ctrl-C stops it"
YES = {"[y/N]": "y"}


@pytest.fixture(autouse=True)
def server(monkeypatch: pytest.MonkeyPatch, temporal_cli_path: Path) -> None:
    """The Temporal CLI of these tests, also for whoever types `temporal`."""
    monkeypatch.setenv("EDGESHIFT_TEMPORAL_CLI", str(temporal_cli_path))
    monkeypatch.setenv("PATH", str(temporal_cli_path.parent), prepend=":")


def asked(typing: Typing, *call: str) -> Any:
    """What a verb says as JSON."""
    return json.loads(typing.type(f"edgeshift {' '.join(call)} --json 2>/dev/null"))


def until(typing: Typing, campaign: str, wanted: Callable[[dict[str, int]], bool]) -> dict[str, int]:
    """The counts of a campaign, once they are as wanted."""
    limit = time.monotonic() + 150
    places: dict[str, int] = {}
    while not wanted(places):
        assert time.monotonic() < limit, places
        time.sleep(1)
        places = asked(typing, "status", campaign)["summary"]["places"]
    return places


def places_of(typing: Typing) -> list[dict[str, int]]:
    """Where the zones of each wave of the first campaign are."""
    return [wave["places"] for wave in asked(typing, "status", "rehearsal")["summary"]["waves"]]


def test_the_first_steps_of_the_readme(tmp_path: Path) -> None:
    """From `up` to the report; a person answers the questions, and leaves `watch` with Ctrl-C."""
    typing = Typing(tmp_path, FIRST_STEPS, EDGESHIFT_USER="olga")
    with typing.beside(README, "edgeshift up --zones 60", READY):
        activate = typing.text(README, ". .venv/bin/activate")
        typing.type(f"{activate} && command -v edgeshift")
        assert "Forecast" in typing.run(README, "edgeshift plan .edgeshift/campaign.yaml")
        assert "Started" in typing.run(README, "edgeshift start", answers=YES)
        assert "rehearsal" in typing.run(README, "edgeshift watch", until="where the zones are", code=130)
        # The next wave waits for this one, and this one for two people.
        until(typing, "rehearsal", lambda places: places.get("awaiting", 0) >= 5)
        wave = "edgeshift sign-off approve rehearsal --wave"
        first = typing.run(README, f"{wave} 1 --by ada", answers=YES)
        assert "1 more approval" in first and "grace" in first
        assert places_of(typing)[1] == {"pending": 54}
        assert "go on" in typing.run(README, f"{wave} 1 --by grace", answers=YES)
        until(typing, "rehearsal", lambda places: places.get("awaiting", 0) > 10)
        assert places_of(typing)[0]["migrated"] >= 3 and "awaiting" in places_of(typing)[1]
        typing.type(meant(README, "edgeshift watch"), until="where the zones are", code=130)
        for who in ("ada", "grace"):
            typing.type(f"{wave} 2 --by {who} --yes")
        until(typing, "rehearsal", lambda places: places.get("migrated", 0) > 10)
        assert "support" in typing.run(README, "edgeshift status")
        told = typing.run(README, "edgeshift history")
        assert "misty-supply.example was migrated" in told and "ada" in told and "grace" in told
        assert ".html" in typing.run(README, "edgeshift report")
        typing.run(README, "edgeshift init")
        stack = json.loads((tmp_path / ".edgeshift/stack.json").read_text())
        (tmp_path / "edgeshift.toml").write_text(
            f'[env.production]\ntemporal_address = "{stack["address"]}"\narchive_url = "{stack["archive"]}"\n'
        )
        assert "rehearsal" in typing.run(CLI, "edgeshift --env production status")
    typing.end()


def test_what_nobody_signs_is_reopened(tmp_path: Path) -> None:
    """A zone of the README's campaign that nobody signs goes on hold by itself. The command that the README
    names for it has it wait for its sign-off again, with what it proposed before.
    """
    (command,) = re.findall(r"`(edgeshift reopen [^`]+)`\s+starts such zones again", PAGES[README])
    plays = [(README, "edgeshift up --zones 60"), (README, "edgeshift start")]
    typing = Typing(tmp_path, plays, {"scale 3600": "scale 14400"}, EDGESHIFT_USER="olga")
    with typing.beside(README, "edgeshift up --zones 60", READY):
        typing.run(README, "edgeshift start", answers=YES)
        until(typing, "rehearsal", lambda places: places.get("on_hold", 0) >= 1)
        held = asked(typing, "status", "rehearsal", "--phase", "on_hold")["zones"][0]
        assert held["code"] == "not_signed_in_time"
        assert re.search(r"Campaign rehearsal restarts \d+ zones?\.", typing.type(command, answers=YES))
        limit = time.monotonic() + 90
        while True:
            (found,) = asked(typing, "status", "rehearsal", "--zone", held["name"])["zones"]
            if found["place"] in ("awaiting", "awaiting_separate"):
                break
            assert time.monotonic() < limit, found
            time.sleep(1)
        assert (found["attempt"], found["fingerprint"]) == (held["attempt"] + 1, held["fingerprint"])
    typing.end()


SKIP = "firewall_rules: [{{expression: 'http.host eq \"{}.example\"', action: bypass, products: [waf]}}]"
LONG = 'http.request.uri.path eq "/' + "ä" * 2100 + '"'
SUPPORT = f"firewall_rules: [{{expression: '{LONG}', action: bypass, products: [waf]}}]"
FLEET = f"""\
zones:
  - {{name: maple-pottery.example, plan: pro}}
  - {{name: shop.example, plan: pro}}
  - {{name: crisp-yarn.example, plan: pro, {SKIP.format("a")}}}
  - {{name: stone-glass.example, plan: pro, {SKIP.format("b")}}}
  - {{name: signal-1.example, plan: pro, {SKIP.format("c")}}}
  - {{name: signal-2.example, plan: pro, {SKIP.format("d")}}}
  - {{name: keys.example, plan: pro, {SKIP.format("e")}}}
  - {{name: support-1.example, plan: pro, {SUPPORT}}}
  - {{name: amber-skates.example, plan: pro, {SUPPORT}}}
  - {{name: early.example, plan: pro, {SKIP.format("f")}}}
  - {{name: rest.example, plan: pro, {SKIP.format("g")}}}
"""
"""The zones that the pages name, those of a cause for support, and one for each other way to sign."""

POLICY = """\
waves:
  - {name: canary, zones: 9}
  - {name: early, zones: 1}
advance: {percent: 1, failures: 1000}
waits_for_support: 1000d
sign_off: {approvers: [ada, grace], required: 2, expires_after: 1000d, valid_for: 1000d}
"""


def fingerprint_of(typing: Typing, zone: str, key: str = "fingerprint") -> str:
    """What a zone proposes now."""
    (found,) = asked(typing, "status", "waf-autumn", "--zone", zone)["zones"]
    return str(found[key])


def until_waits(typing: Typing, wave: int) -> None:
    """Wait until a zone of the wave waits for its sign-off."""
    limit = time.monotonic() + 90
    call = ("status", "waf-autumn", "--phase", "awaiting", "--wave", str(wave))
    while not asked(typing, *call)["zones"]:
        assert time.monotonic() < limit
        time.sleep(1)


def test_the_operators_guide(tmp_path: Path) -> None:
    """A campaign with waves and two approvers: signed by fingerprint, wave, zone, signal and key; paused,
    resumed, retried, reopened, reported, exported, audited and aborted.
    """
    typing = Typing(
        tmp_path,
        GUIDE,
        {"--zones 60": "--fleet guide.yaml", "scale 3600": "scale 14400", "ADDRESS": ""},
        EDGESHIFT_USER="olga",
    )
    page, run = OPERATORS, typing.run

    def by(who: str) -> None:
        typing.environment["EDGESHIFT_USER"] = who

    (tmp_path / "guide.yaml").write_text(FLEET)
    with typing.beside(page, "edgeshift up", READY):
        made = without_rehearsed((tmp_path / ".edgeshift/campaign.yaml").read_text())
        (tmp_path / "waf-autumn.yaml").write_text(made.replace("rehearsal", "waf-autumn", 1) + POLICY)
        run(page, "edgeshift doctor")
        run(page, "edgeshift plan waf-autumn")
        run(page, "edgeshift start", answers=YES)
        until(typing, "waf-autumn", lambda places: places.get("awaiting", 0) >= 7)
        run(page, "edgeshift watch", until="where the zones are", code=130)
        assert "waiting for a sign-off" in run(page, "edgeshift status waf-autumn")
        run(page, "edgeshift status waf-autumn --zone")
        assert "No zone is in that state" in run(page, "edgeshift status waf-autumn --phase")
        run(page, "edgeshift pause")
        run(page, "edgeshift resume")

        # One is shown, rejected and reopened. The next waves begin when some zone is over.
        by("ada")
        shown = run(CLI, "edgeshift show crisp-yarn.example")
        assert fingerprint_of(typing, "crisp-yarn.example", "digest")[:12] in shown
        raw = run(CLI, "edgeshift show crisp-yarn.example --raw")
        assert f"{fingerprint_of(typing, 'crisp-yarn.example', 'digest')}  -" in raw
        run(page, "edgeshift sign-off reject", answers=YES)
        typing.type("edgeshift sign-off reject waf-autumn --zone stone-glass.example --yes")
        until(typing, "waf-autumn", lambda places: places.get("rejected", 0) == 2)
        until_waits(typing, 3)
        run(page, "edgeshift sign-off approve waf-autumn --wave", answers=YES)
        by("olga")
        run(page, "edgeshift reopen", answers=YES)
        # By fingerprint, both approvers.
        typing.instead["3bed57c67adb"] = fingerprint_of(typing, "maple-pottery.example")[:12]
        run(CLI, "edgeshift show 3bed57c67adb")
        by("ada")
        first = run(page, "edgeshift sign-off approve waf-autumn --fingerprint", answers=YES)
        assert "1 more approval" in first and "grace" in first
        by("grace")
        wave = "edgeshift sign-off approve waf-autumn"
        typing.type(f"{wave} --fingerprint {typing.instead['3bed57c67adb']} --yes")
        until(typing, "waf-autumn", lambda places: places.get("migrated", 0) >= 2)
        by("olga")
        # By the plain signal: counted by name, and sent only where signatures are not asked for.
        stack = json.loads((tmp_path / ".edgeshift/stack.json").read_text())
        typing.environment["TEMPORAL_ADDRESS"] = stack["address"]
        for told, zone in ((page, "signal-1"), (CLI, "signal-2")):
            identifier, proposed = (
                fingerprint_of(typing, f"{zone}.example", key) for key in ("id", "digest")
            )
            typing.instead |= {
                "f08f7fd68d1a50bb5c4c3b5284285ab1": identifier,
                "ZONE_ID": identifier,
                "357d351b06a9054ff814263b191eb72a4b915a7b291eee4f03fa21e18b666164": proposed,
                "DIGEST": proposed,
                "grace@example.com": "grace",
            }
            run(told, "temporal workflow signal")
        # On another machine, with a key.
        typing.instead |= {
            "3bed57c6 ": fingerprint_of(typing, "keys.example")[:8] + " ",
            "-f KEY": f"-f {next((tmp_path / '.edgeshift/authority/keys').glob('ada*'))}",
        }
        keyed = "authority.md"
        run(keyed, "edgeshift sign-off approve waf-autumn --fingerprint 3bed57c6 --by ada")
        run(keyed, "ssh-keygen -Y sign")
        run(keyed, "edgeshift sign-off approve waf-autumn --fingerprint 3bed57c6 --statement", answers=YES)
        run(keyed, "edgeshift doctor")
        # Support, and the waves.
        run(page, "edgeshift support-resolved", answers=YES)
        run(page, "edgeshift retry", answers=YES, code=5)
        for who in ("ada", "grace"):
            by(who)
            typing.type(f"{wave} --wave 1 --yes")
        by("olga")
        until(typing, "waf-autumn", lambda places: places.get("migrated", 0) >= 5)
        # What is told of it.
        run(page, "edgeshift history")
        run(page, "edgeshift report")
        # Zones that were not migrated are left out, which 1 says (docs/output.md).
        run("terraform.md", "edgeshift export terraform waf-autumn --out", code=1)
        run("terraform.md", "edgeshift export terraform waf-autumn --wave", answers=YES, code=1)
        run("terraform.md", "edgeshift export terraform waf-autumn --zone")
        run("terraform.md", "edgeshift check", answers=YES)
        run(page, "edgeshift abort", answers=YES)
        run("audit.md", "edgeshift audit export")
        typing.instead["allowed_signers"] = ".edgeshift/authority/allowed_signers"
        run("audit.md", "edgeshift audit verify waf-autumn")
        run(page, "edgeshift init log-fields")
    typing.end()


def scope_with_a_secret(typing: Typing, below: str) -> str:
    """A scope that waits for its sign-off, which it does once it has been probed with its secret."""
    limit = time.monotonic() + 120
    while True:
        told = typing.type("edgeshift status esc-autumn --phase awaiting --json 2>/dev/null", at=below)
        if zones := json.loads(told)["zones"]:
            return str(zones[0]["name"])
        assert time.monotonic() < limit, told
        time.sleep(1)


def test_the_other_areas(tmp_path: Path) -> None:
    """The README's fleet of before 2024, and the guide's esc campaign with the secret of one scope."""
    typing = Typing(tmp_path, BEFORE_2024, EDGESHIFT_USER="olga")
    typing.run(README, "mkdir before-2024")
    below = "before-2024"
    typing.run(README, "edgeshift fleet generate", at=below)
    with typing.beside(README, "edgeshift up --fleet", READY, at=below):
        activate = typing.text(README, ". ../.venv/bin/activate")
        typing.type(f"{activate} && command -v edgeshift", at=below)
        typing.run(README, "edgeshift plan .edgeshift/campaign-esc.yaml", at=below)
        typing.run(OPERATORS, "edgeshift init esc-autumn", at=below)
        plan = typing.run(OPERATORS, "edgeshift plan esc-autumn", at=below)
        assert "scope" in plan
        started = typing.type("edgeshift start esc-autumn.yaml --yes", at=below)
        assert "Started campaign esc-autumn" in started
        zone = scope_with_a_secret(typing, below)
        typing.instead["stone-glass.example"] = zone
        assert "edgeshift-" in typing.run(OPERATORS, "edgeshift esc secret", at=below)
    typing.end()
