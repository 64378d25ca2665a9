"""What a new campaign file may not have, though a campaign that an earlier version has archived goes on with
it.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from ruamel.yaml import YAML

from edgeshift.authority.loading import RootsError, load_roots
from edgeshift.campaign_file.load import CampaignFileError, parse_campaign
from edgeshift.campaign_file.options import as_yaml
from edgeshift.campaign_file.spec import CampaignSpec
from edgeshift.model.fleet import CAMPAIGN_NAME
from tests.rules.test_campaign_file import SMALL, only


def test_it_is_told_with_what_no_file_may_have() -> None:
    """Nobody corrects one mistake and hears of the next one only then, but for those of one part."""
    text = "windw: 9\nadvance: {percent: 0}\nsweep: 0s\nwaves: [{name: rest, zones: 3}]\n"
    with pytest.raises(CampaignFileError) as refused:
        parse_campaign(f"name: A\ntargets: {{all: true}}\n{text}")
    told = [mistake.field for mistake in refused.value.mistakes]
    assert told == ["name", "windw", "advance.percent", "sweep", "waves[0].name"]
    with pytest.raises(CampaignFileError) as refused:
        parse_campaign(f"{SMALL}area: cdn\nsweep: 0s\n")
    assert [mistake.field for mistake in refused.value.mistakes] == ["area"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("sweep: 0s", "3:1: sweep: is 0s; at least 1s is right"),
        ("sweep: 999ms", "3:1: sweep: is 999ms; at least 1s is right"),
        ("silence: 0s", "3:1: silence: is 0s; at least 1s is right"),
        ("sign_off: {valid_for: 0s}", "3:12: sign_off.valid_for: is 0s; at least 1s is right"),
        ("sign_off: {expires_after: 0s}", "3:12: sign_off.expires_after: is 0s; at least 1s is right"),
        ("service: {request_limit: 0s}", "3:11: service.request_limit: is 0s; at least 1s is right"),
        ("commit: {lease: 0s}", "3:10: commit.lease: is 0s; at least 1s is right"),
        ("commit: {send_window: 0s}", "3:10: commit.send_window: is 0s; at least 1s is right"),
        ("service: {rate: {per: 0s}}", "3:18: service.rate.per: is 0s; at least 1s is right"),
        ("service: {rate: {per: 25h}}", "3:18: service.rate.per: is 1d 1h; at most 1d is right"),
        (
            "service: {credentials: [{token: env:A}, {token: env:B, accounts: [x]}, {token: env:C}]}",
            "3:72: service.credentials[2]: names no accounts, as item 1 does, and would never be used;"
            " name its accounts, or remove it",
        ),
        (
            "waves: [{name: a, zones: 6}, {name: a, percent: 20}]",
            "3:31: waves[1].name: 'a' is the name of wave 1, too; each needs its own",
        ),
        (
            "waves: [{name: rest, zones: 3}]",
            "3:10: waves[0].name: 'rest' is what the wave of all other zones is called; write another name",
        ),
        (
            "waves: [{name: wave 2, zones: 3}, {zones: 3}]",
            "3:10: waves[0].name: 'wave 2' is what wave 2, which has no name, is called; name that one",
        ),
        (
            "advance: {failures: 9007199254740992}",
            "3:11: advance.failures: is a number of more than 15 digits; it must be at most"
            " 9,007,199,254,740,991",
        ),
        (
            "validation: {window: 72}",
            "3:14: validation.window: has no unit; write 72s, 72m or 72h, as it is meant",
        ),
        (
            "commit: {turn_window: 1.5}",
            "3:10: commit.turn_window: has no unit; write 1.5s, 1.5m or 1.5h, as it is meant",
        ),
    ],
)
def test_what_never_worked_is_refused_and_an_archived_one_is_read(text: str, said: str) -> None:
    """A campaign that an earlier version has archived with such a time is read as it was."""
    assert only(f"{SMALL}{text}\n") == said
    begun = YAML(typ="safe", pure=True).load(f"{SMALL}{text}\n")
    assert CampaignSpec.model_validate(begun)


@pytest.mark.parametrize(
    "text",
    [
        "waves: [{name: a, zones: 6}, {name: rest}]",
        "waves: [{zones: 3}, {name: wave 2, zones: 3}, {name: wave 9, zones: 1}]",
        "waves: [{name: A, zones: 6}, {name: a, percent: 20}]",
        "service: {credentials: [{token: env:A, accounts: [x]}, {token: env:B}]}",
    ],
)
def test_what_is_told_apart_is_right(text: str) -> None:
    """Waves and credentials of which no two are the same."""
    assert parse_campaign(f"{SMALL}{text}\n")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            'targets: {include: ["\\ud800"]}',
            "2:21: targets.include[0]: has half of a character, such as \\ud800",
        ),
        ('targets: {include: ["\\UFFFFFFFF"]}', "1:1: this is not YAML"),
    ],
)
def test_what_is_no_character_is_named(text: str, said: str) -> None:
    """Half of one, and one beyond all."""
    assert only(f"name: a\n{text}\n").startswith(said)


def test_roots_with_what_is_no_character_are_named(tmp_path: Path) -> None:
    """As any text that is no YAML."""
    roots = tmp_path / "roots.yaml"
    roots.write_text('people: {}\nx: "\\UFFFFFFFF"\n')
    with pytest.raises(RootsError, match=r"roots\.yaml: not YAML"):
        load_roots(roots)


@pytest.mark.parametrize("name", ["true", "1e5", "null", "0x1f", "12", "off", "autumn", "2024-10-01", "---"])
def test_a_text_is_written_so_that_it_is_read_as_one(name: str) -> None:
    """Bare, or in quotes where YAML would take it for something else, as `init true.yaml` has it."""
    if CAMPAIGN_NAME.fullmatch(name):
        assert parse_campaign(f"name: {as_yaml(name)}\ntargets: {{all: true}}\n").name == name
    assert as_yaml("autumn") == "autumn" and as_yaml("true") == '"true"' and as_yaml("---") == '"---"'
