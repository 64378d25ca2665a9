"""What a new campaign file may not have, though a campaign that an earlier version has archived goes on with
it.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from ruamel.yaml import YAML

from edgeshift.areas.waf import MANAGED_RULESET, OWASP_RULESET
from edgeshift.areas.waf.names import OWASP_SCORE_RULE
from edgeshift.authority.loading import RootsError, load_roots
from edgeshift.campaign_file.load import CampaignFileError, parse_campaign
from edgeshift.campaign_file.options import as_yaml
from edgeshift.campaign_file.spec import CampaignSpec
from edgeshift.model.fleet import CAMPAIGN_NAME
from tests.rules.test_campaign_file import SMALL, mistakes, only


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
        ("commit: {migration_limit: 0s}", "3:10: commit.migration_limit: is 0s; at least 1s is right"),
        ("area: esc\nesc: {effect_limit: 0s}", "4:7: esc.effect_limit: is 0s; at least 1s is right"),
        (
            "area: log-fields\nlog_fields: {cookies: [a], effect_limit: 0s}",
            "4:28: log_fields.effect_limit: is 0s; at least 1s is right",
        ),
        ("commit: {send_window: 0s}", "3:10: commit.send_window: is 0s; at least 1s is right"),
        ("service: {rate: {per: 0s}}", "3:18: service.rate.per: is 0s; at least 1s is right"),
        ("service: {rate: {per: 25h}}", "3:18: service.rate.per: is 1d 1h; at most 1d is right"),
        (
            "service: {credentials: [{token: env:A}, {token: env:B, accounts: [x]}, {token: env:C}]}",
            "3:72: service.credentials[2]: names no accounts, as item 1 does, and would never be used;"
            " name its accounts, or remove it",
        ),
        (
            "service: {credentials: [{token: env:A, user: Ada@b.example, accounts: [x]},"
            " {token: env:B, user: ada@b.example}]}",
            "3:40: service.credentials[0].user: is the user of item 2 in another case, and both share one"
            " rate limit; write it in lower case",
        ),
        (
            "service: {credentials: [{token: env:A, accounts: [x]}, {key: env:A, email: a@b.c, user: b}]}",
            "3:83: service.credentials[1].user: is another than that of item 1, whose secret is the same;"
            " write one user in both, since they have one rate limit",
        ),
        (
            "service: {base_url: 'https://api–gw.example/client/v4'}",
            "3:11: service.base_url: its host is no name that can be looked up, as where a dash stands in"
            " place of a hyphen; write it as https://HOST/client/v4",
        ),
        (
            "adjustments: [{action: managed-challenge}]",
            "3:16: adjustments[0].action: is no action that managed rules can take; it must be log, block,"
            " challenge, js_challenge or managed_challenge",
        ),
        (
            "adjustments: [{rule: '', action: log}]",
            "3:16: adjustments[0].rule: is empty; write the rule's identifier, or leave it out for the"
            " ruleset as a whole",
        ),
        (
            "adjustments: [{ruleset: OWASP, enabled: false}]",
            "3:16: adjustments[0].ruleset: is no identifier; write 32 digits and letters a to f, such as"
            f" {MANAGED_RULESET}",
        ),
        (
            f"adjustments: [{{ruleset: {OWASP_RULESET}, action: log}}]",
            "3:59: adjustments[0].action: the OWASP score rule has an action of its own, which counts; give"
            f" rule: {OWASP_SCORE_RULE}",
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
        "service: {credentials: [{token: env:A, user: A@b.example, accounts: [x]}, {token: env:B, user: a}]}",
        "service: {credentials: [{token: env:A, user: Ada, accounts: [x]}, {token: env:B, user: ada}]}",
        "service: {credentials: [{token: env:A, user: b, accounts: [x]}, {token: env:A, user: b}]}",
        "service: {base_url: 'https://bücher.example/client/v4'}",
        "service: {base_url: 'https://xn--bcher-kva.example/client/v4'}",
        "service: {base_url: 'http://[::1]:8780/client/v4'}",
        f"adjustments: [{{ruleset: {OWASP_RULESET}, rule: {OWASP_SCORE_RULE}, action: log}}]",
        f"adjustments: [{{ruleset: {OWASP_RULESET}, enabled: false}}, {{action: managed_challenge}}]",
    ],
)
def test_what_is_told_apart_is_right(text: str) -> None:
    """Waves and credentials of which no two are the same, and what is like a mistake."""
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


@pytest.mark.parametrize(
    "host",
    ["xn--", "é..x", "300.1.1.1", "a..b", ".x", "x..", ".", f"{'a' * 64}.example", f"a.xn--{'b' * 60}"],
)
def test_a_host_without_a_form_for_the_dns_is_refused(host: str) -> None:
    """Each call would fail by it."""
    said = only(f"{SMALL}service: {{base_url: 'https://{host}/client/v4'}}\n")
    assert said.startswith("3:11: service.base_url: its host is no name that can be looked up")


def test_each_later_place_of_a_key_is_named() -> None:
    """With the line of the first, whose own mistakes are told where it stands."""
    assert mistakes(f"{SMALL}window: 0\nwindow: 6\nwindow: 7\n") == [
        "campaign.yaml:3:1: window: is 0; it must be at least 1",
        "campaign.yaml:4:1: window: given twice, first in line 3; keep one of them",
        "campaign.yaml:5:1: window: given twice, first in line 3; keep one of them",
    ]


@pytest.mark.parametrize("version", ["1.1", "1.3", "2.0"])
def test_another_version_of_yaml_is_refused(version: str) -> None:
    """By which `010` would be 8, and `yes` a truth."""
    said = only(f"# a\n%YAML {version}\n---\nname: a\ntargets: {{all: yes}}\nwindow: 010\n")
    assert said == "2:1: the file is read as YAML 1.2; remove this line, or write %YAML 1.2"
    assert parse_campaign(f"%YAML 1.2\n---\n{SMALL}window: 010\n").window == 10


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


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "tickets: {folder: t, secret: 'env:DESK'}",
            "3:22: tickets.secret: means nothing without tickets.webhook; give that, or remove this",
        ),
        (
            "tickets: {proxy: 'http://p:3128'}",
            "3:11: tickets.proxy: means nothing without tickets.webhook; give that, or remove this",
        ),
        (
            "area: log-fields\nlog_fields: {request_headers: [a], unverified: roll_back}",
            "4:36: log_fields.unverified: is roll_back, and without log_fields.entries every zone would be"
            " rolled back; say where entries are, or write keep",
        ),
    ],
)
def test_what_cannot_do_what_it_says_is_refused(text: str, said: str) -> None:
    """A webhook's words without a webhook; a watch that can only end in one way."""
    assert only(f"{SMALL}{text}\n") == said
