"""A zone that another campaign has in its hands, and one that is named twice: each verb acts on what was
typed, once, or on nothing. The tests run in their order on one stack.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.journeys.cli_kit import Place, running_stack

pytestmark = [pytest.mark.stack(25), pytest.mark.embedded, pytest.mark.timeout(600), pytest.mark.long]

HANDS = "is in the hands of campaign one"
FLEET = """\
zones:
  - {name: shop.example, plan: pro}
  - {name: inn.example, plan: pro}
  - {name: bar.example, plan: pro}
  - name: long.example
    plan: pro
    firewall_rules: [{expression: 'http.request.uri.path eq "/LONG"', action: bypass, products: [waf]}]
""".replace("LONG", "ä" * 2100)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory, temporal_cli_path: Path) -> Iterator[Place]:
    """Campaign one has two zones that campaign two lists as excluded; each has a zone of its own. Whoever
    acts signs with a key of the stack's.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("EDGESHIFT_TEMPORAL_CLI", str(temporal_cli_path))
        with running_stack(tmp_path_factory.mktemp("hands"), FLEET) as found:
            for name, own in (("one", "inn.example"), ("two", "bar.example")):
                found.campaign(name, f"include: [shop.example, long.example, {own}]")
                found.ok("start", f"{name}.yaml", "--yes")
                if name == "one":
                    found.until(name, lambda places: places == {"awaiting": 2, "support": 1})
            found.until("two", lambda places: places == {"awaiting": 1, "excluded": 2})
            yield found


def documents(place: Place) -> list[Path]:
    """What the archive holds: each signed statement is one of them. Workers say meanwhile what they know, and
    record the calls that they make for a zone that waits for support.
    """
    archive = place.folder / ".edgeshift/archive"
    found = (path for path in archive.rglob("*") if path.is_file())
    return sorted(path for path in found if path.relative_to(archive).parts[0] not in ("workers", "calls"))


def identifier(place: Place, name: str, campaign: str = "one") -> str:
    """The identifier of a zone of a campaign."""
    (row,) = place.json("status", campaign, "--zone", name)["zones"]
    return str(row["id"])


@pytest.mark.parametrize("choice", ["approve", "reject"])
@pytest.mark.parametrize("also", [[], ["bar.example"]], ids=["alone", "of several"])
def test_no_decision_reaches_another_campaign(place: Place, choice: str, also: list[str]) -> None:
    """Nothing of the other one's proposal is shown, nothing is signed, and whose it is is told."""
    named = [option for name in ("shop.example", *also) for option in ("--zone", name)]
    kept = documents(place)
    ran = place.run("sign-off", choice, "two", *named, "--by", "ada", "--yes")
    assert (ran.code, ran.out) == (5, ""), ran
    assert f"zone shop.example {HANDS}" in ran.err
    assert f"hint: edgeshift sign-off {choice} one --zone shop.example" in ran.err
    assert documents(place) == kept
    assert place.places("one") == {"awaiting": 2, "support": 1}
    assert place.places("two") == {"awaiting": 1, "excluded": 2}


def test_no_word_of_support_reaches_another_campaign(place: Place) -> None:
    """And none is signed; neither is one on a zone that does not wait for support."""
    kept = documents(place)
    said = place.refused(5, "support-resolved", "two", "--zone", "long.example")
    assert f"zone long.example {HANDS}" in said
    assert "hint: edgeshift support-resolved one --zone long.example" in said
    said = place.refused(5, "support-resolved", "one", "--zone", "shop.example")
    assert "zone shop.example does not wait for support; it is awaiting sign-off" in said
    assert documents(place) == kept
    assert place.places("one") == {"awaiting": 2, "support": 1}


def test_a_proposal_of_another_campaign_is_not_shown(place: Place) -> None:
    """And the hint shows it."""
    said = place.refused(5, "show", "shop.example", "--campaign", "two")
    assert f"zone shop.example {HANDS}" in said
    assert "hint: edgeshift show shop.example --campaign one" in said


def test_a_zone_that_is_named_twice_is_signed_once(place: Place) -> None:
    """By name, in other case and by identifier it is one zone: with a digest, and with the receipt of one."""
    known = identifier(place, "shop.example")
    digest = place.json("show", "shop.example")["digest"]
    named = ("--zone", "shop.example", "--zone", "Shop.Example.", "--zone", known)
    signed = place.json(
        *("sign-off", "reject", "one", *named, "--digest", digest[:16], "--by", "ada", "--yes")
    )
    assert (signed["zones"], signed["zone"]["id"]) == (1, known)
    place.until("one", lambda places: places == {"awaiting": 1, "rejected": 1, "support": 1})
    # Several zones have no digest in common, also where only the campaign knows that they are several.
    two = ("--zone", "inn.example", "--zone", identifier(place, "long.example"))
    said = place.refused(2, "sign-off", "approve", "one", *two, "--digest", digest[:16], "--by", "ada")
    assert "--digest is of one zone, and several are named" in said


def test_a_zone_that_is_named_twice_is_reopened_once(place: Place) -> None:
    """While the campaign runs, and once it has closed: what is counted is zones."""
    twice = ("--zone", "SHOP.example", "--zone", identifier(place, "shop.example"))
    told = place.json("reopen", "one", *twice)
    assert told["zones"] == ["shop.example"] and "restarts 1 zone" in told["text"], told
    place.until("one", lambda places: places == {"awaiting": 2, "support": 1})
    place.ok("sign-off", "reject", "two", "--zone", "bar.example", "--by", "ada", "--yes")
    assert place.run("status", "two", "--until", "finished", "--timeout", "3m").code == 0
    told = place.json(
        "reopen", "two", "--zone", "bar.example", "--zone", identifier(place, "bar.example", "two")
    )
    assert told["zones"] == ["bar.example"] and "1 zone restarts" in told["text"], told
