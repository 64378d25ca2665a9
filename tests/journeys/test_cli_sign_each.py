"""Zones that each need a decision of their own, decided on as a list: by cause, and by several names. The
tests run in their order on one stack.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from edgeshift.cli.shell import Shell
from tests.journeys.cli_kit import Place, in_process, running_stack

pytestmark = [pytest.mark.stack(25), pytest.mark.embedded, pytest.mark.timeout(600), pytest.mark.long]

NOISY = "traffic: {requests_per_minute: 600, false_positives: [{kind: rich_text, path: /save, per_hour: 60}]}"
EDITORS = [f"editor-{number}.example" for number in range(1, 6)]
FLEET = "zones:\n  - {name: shop.example, plan: pro}\n" + "".join(
    f"  - {{name: {name}, plan: enterprise, {NOISY}}}\n" for name in EDITORS
)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory, temporal_cli_path: Path) -> Iterator[Place]:
    """A campaign in which five zones wait, each by itself, for the same cause, and one for another."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("EDGESHIFT_TEMPORAL_CLI", str(temporal_cli_path))
        with running_stack(tmp_path_factory.mktemp("each"), FLEET) as found:
            found.campaign("main", "all: true")
            found.ok("start", "main.yaml", "--yes")
            found.until("main", lambda places: places == {"awaiting": 1, "awaiting_separate": 5})
            yield found


def causes(place: Place) -> list[dict[str, Any]]:
    """The causes for which zones wait by themselves."""
    found: list[dict[str, Any]] = place.json("sign-off", "causes", "main")["causes"]
    return found


def test_the_body_is_shown_as_json_where_that_is_asked_for(place: Place) -> None:
    """Of one zone and of a list, with --raw alone; nobody answers the question, so nothing is signed."""
    body = json.dumps(place.json("show", EDITORS[0])["body"]["rules"][0]["action"])
    for named in (EDITORS[:1], EDITORS[:2]):
        sign = ("sign-off", "reject", "main", "--by", "ada", *(f"--zone={name}" for name in named))
        raw, plain = place.run(*sign, "--raw"), place.run(*sign)
        assert (raw.code, plain.code) == (6, 6) and "cannot prompt" in raw.err
        assert f'"action": {body}' in raw.out and '"action"' not in plain.out
    assert place.places("main") == {"awaiting": 1, "awaiting_separate": 5}


def test_a_cause_is_approved_but_for_one(place: Place) -> None:
    """Each gets a receipt of its own with the digest that was signed; who is left out, or waits for
    something else, still waits.
    """
    (cause,) = causes(place)
    waiting = {zone["zone"]: zone for zone in cause["zones"]}
    assert sorted(waiting) == EDITORS
    sign = ("sign-off", "approve", "main", "--by", "ada", "--yes", "--reason", "looked at each")
    left = EDITORS[2:]
    told = place.json(*sign, "--cause", cause["cause"], *(f"--except={name}" for name in left))
    assert (told["choice"], told["cause"], told["by"]) == ("approve", cause["cause"], "ada")
    assert (told["text"], told["failed"]) == ("2 zones approved", [])
    receipts = {one["name"]: (one["id"], one["digest"]) for one in told["decided"]}
    assert receipts == {name: (waiting[name]["id"], waiting[name]["digest"]) for name in EDITORS[:2]}
    place.until("main", lambda places: places.get("migrated") == 2)
    assert place.places("main") == {"awaiting": 1, "awaiting_separate": 3, "migrated": 2}
    (cause,) = causes(place)
    assert sorted(zone["zone"] for zone in cause["zones"]) == left
    for name in EDITORS[:2]:
        signed = place.ok("history", name)
        assert "ada" in signed and "looked at each" in signed


def test_who_is_decided_on_meanwhile_is_told_apart(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody rejects one of two while the question stands: the other is decided on, and the exit code is
    6; JSON names the one that was not, and why.
    """
    monkeypatch.chdir(place.folder)
    gone, *others = EDITORS[2:]

    def meanwhile(*_: object, **__: object) -> None:
        place.ok("sign-off", "reject", "main", "--zone", gone, "--by", "grace", "--yes")

    monkeypatch.setattr(Shell, "confirm", meanwhile)
    sign = ("sign-off", "approve", "main", "--by", "ada", "--zone", gone)
    ran = in_process(*sign, "--zone", others[0], "--json")
    assert ran.code == 6, ran
    told = json.loads(ran.out)
    assert [one["name"] for one in told["decided"]] == others[:1]
    ((failed),) = told["failed"]
    assert failed["name"] == gone and failed["message"] and told["text"] == "1 zone approved"
    place.until("main", lambda places: (places.get("migrated"), places.get("rejected")) == (3, 1))


def test_several_named_zones_are_decided_on(place: Place) -> None:
    """As text: a line for each with its digest; what waits with the others is asked for no more."""
    out = place.ok(
        *("sign-off", "reject", "main", "--by", "grace", "--yes"),
        *("--zone", "shop.example", "--zone", EDITORS[4]),
    )
    lines = [line for line in out.splitlines() if ": digest " in line]
    assert len(lines) == 2 and all(line.startswith("Rejected ") for line in lines), out
    assert any("shop.example" in line for line in lines) and any(EDITORS[4] in line for line in lines)
    place.until("main", lambda places: places.get("rejected") == 3)
    assert "No zone of campaign main waits for a sign-off of its own." in place.ok(
        "sign-off", "causes", "main"
    )
