"""Campaign files: every mistake in one answer, each with its place and what would be right, and never a
secret.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from edgeshift.areas.waf import OWASP_RULESET, Adjustment
from edgeshift.areas.waf.names import OWASP_SCORE_RULE
from edgeshift.campaign_file.load import CampaignFileError, load_campaign, parse_campaign
from edgeshift.campaign_file.spec import CampaignSpec
from edgeshift.model.fleet import Plan
from worker.wiring import GRACE

SMALL = "name: waf-1\ntargets: {all: true}\n"


def mistakes(text: str) -> list[str]:
    """The mistakes of a text, a line each, without the heading."""
    with pytest.raises(CampaignFileError) as caught:
        parse_campaign(text)
    return caught.value.lines()[1:]


def only(text: str) -> str:
    """The one mistake of a text."""
    found = mistakes(text)
    assert len(found) == 1, found
    return found[0].removeprefix("campaign.yaml:")


def test_name_and_targets_are_enough() -> None:
    """Everything else has a default."""
    spec = parse_campaign(SMALL)
    assert (spec.name, spec.targets.all, spec.window) == ("waf-1", True, 20)


def test_every_mistake_is_in_one_answer() -> None:
    """Nobody has to fix a file one mistake at a time."""
    found = mistakes(
        "name: WAF 1\n"
        "targets:\n"
        "  all: true\n"
        "windw: 3\n"
        "window: 0\n"
        "service:\n"
        "  credentials:\n"
        "    - token: v1.literal-secret\n"
        "validation:\n"
        "  window: 3 fortnights\n"
        "  modes: [shadw]\n"
        "commit:\n"
        "  resend_unchanged: many\n"
    )
    assert found == [
        "campaign.yaml:1:1: name: is 'WAF 1'; a name has 1 to 60 lower-case letters, digits and hyphens,"
        " and begins with a letter or digit",
        "campaign.yaml:4:1: windw: unknown key; did you mean window?",
        "campaign.yaml:5:1: window: is 0; it must be at least 1",
        "campaign.yaml:8:7: service.credentials[0].token: a secret is never written into the file;"
        " say where it is, as env:NAME or file:PATH",
        "campaign.yaml:10:3: validation.window: a duration is written as 90s, 10m, 72h, 14d or 1h30m",
        "campaign.yaml:11:11: validation.modes[0]: is 'shadw'; it must be shadow or enforce"
        " (did you mean shadow?)",
        "campaign.yaml:13:3: commit.resend_unchanged: is 'many'; it must be a whole number",
    ]


def test_known_keys_are_listed_once() -> None:
    """Of a file about other things each key is named with its place, and what is known there with the first
    of them; so it is in each part of the file. A key that is like a known one is told that one.
    """
    found = mistakes(
        '{"name": "shop", "version": "1.0", "scripts": {}, "dependencies": {}, "windw": 3,\n'
        ' "targets": {"all": true, "jest": 1, "eslint": 2},\n'
        ' "waves": [{"name": "one", "zones": 1, "flavour": 1}, {"name": "two", "percent": 9, "flavour": 1}]}'
    )
    assert [line.partition(" known here are ")[0] for line in found] == [
        "campaign.yaml:1:18: version: unknown key;",
        "campaign.yaml:1:36: scripts: unknown key",
        "campaign.yaml:1:51: dependencies: unknown key",
        "campaign.yaml:1:71: windw: unknown key; did you mean window?",
        "campaign.yaml:2:27: targets.jest: unknown key;",
        "campaign.yaml:2:38: targets.eslint: unknown key",
        "campaign.yaml:3:40: waves[0].flavour: unknown key;",
        "campaign.yaml:3:85: waves[1].flavour: unknown key",
    ]
    assert "known here are name, targets, area, " in found[0] and "window" in found[0]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "1:1: the file is empty; a campaign needs at least name and targets"),
        ("- a\n", "1:1: the file is not a mapping"),
        ("targets: {all: true}\n", "1:1: name: must be given, such as `name: waf-2024`"),
        ("name: a\n", "1:1: targets: must be given, such as `targets: {all: true}`"),
        ("name: 12\ntargets: {all: true}\n", "1:1: name: is 12; a name has"),
        (
            "name: a\ntargets: all\n",
            "2:1: targets: is 'all'; it must be a mapping with the keys all, include",
        ),
        ("name: a\ntargets: {}\n", "2:1: targets: name zones under include"),
        ("name: a\ntargets:\n\tall: true\n", "3:1: the line is indented with a tab; YAML takes spaces only"),
        (SMALL + "window: 3\nwindow: 4\n", "4:1: window: given twice, first in line 3; keep one of them"),
        (SMALL + "window: 2.5\n", "3:1: window: is 2.5; it must be a whole number"),
        (SMALL + "window: true\n", "3:1: window: is true; it must be a number"),
        (SMALL + "window:\n", "3:1: window: is empty; it must be a whole number"),
        (SMALL + "window: wide\n", "3:1: window: is 'wide'; it must be a whole number"),
        (SMALL + "waves: 3\n", "3:1: waves: is 3; it must be a list"),
        (SMALL + "time_scale: .nan\n", "3:1: time_scale: is nan; it must be"),
        (SMALL + "area: cdn\n", "3:1: area: is 'cdn'; it must be waf, esc or log-fields"),
        (SMALL + "commit: {poll: -3}\n", "3:10: commit.poll: a duration is between 0s and ten years"),
        (
            "name: a\ntargets: {all: true, plans: [entreprise]}\n",
            "2:30: targets.plans[0]: is 'entreprise'; it must be free, pro, business, enterprise or other"
            " (did you mean enterprise?)",
        ),
        (
            "name: a\ntargets: {include: [shop.example, Shop.example]}\n",
            "2:35: targets.include[1]: 'Shop.example' is listed twice, first as item 1",
        ),
        (
            "name: a\ntargets: {include: [a.example, b.example], exclude: [b.example]}\n",
            "2:32: targets.include[1]: 'b.example' is also under exclude; keep it in one of them",
        ),
        (SMALL + "waves: [{zones: 1, percent: 2}]\n", "3:9: waves[0]: has both zones and percent; keep one"),
        (SMALL + "waves: [{}, {zones: 1}]\n", "3:9: waves[0]: has neither zones nor percent"),
        (
            SMALL + "waves:\n  - percent: 60\n  - percent: 60\n",
            "5:5: waves[1].percent: the waves sum up to 120 percent; at most 100 can be given",
        ),
        (
            SMALL + "sign_off: {approvers: [ada], required: 2}\n",
            "3:30: sign_off.required: 2 must approve, but only 1 may",
        ),
        (
            SMALL + "validation: {modes: [enforce]}\n",
            "3:14: validation.modes: has enforce, which can block",
        ),
        (SMALL + "adjustments: [{rule: abc}]\n", "3:15: adjustments[0]: changes nothing; give action"),
        (
            SMALL + "adjustments: [{ruleset: 4814384a9e5d4991b9815dcfc25d2f1f, score_threshold: 60}]\n",
            "3:59: adjustments[0].score_threshold: only the OWASP score rule has one; give"
            " ruleset: 4814384a9e5d4991b9815dcfc25d2f1f and rule: 6179ae15870a4bb7b2d480d4843b323c",
        ),
        (
            SMALL + "adjustments: [{rule: 6179ae15870a4bb7b2d480d4843b323c, score_threshold: 60}]\n",
            "3:56: adjustments[0].score_threshold: only the OWASP score rule has one",
        ),
        (SMALL + "service: {credentials: []}\n", "3:1: service: at least one credential is needed"),
        (
            SMALL + f"service: {{credentials: [{', '.join(['{token: env:ONE}'] * 256)}]}}\n",
            "3:11: service.credentials: has 256 items; it must have at most 255",
        ),
        (
            SMALL + "service: {base_url: 'http://api.example/client/v4'}\n",
            "3:11: service.base_url: http to another machine would send credentials in plain text; use https",
        ),
        (
            SMALL + "tickets: {folder: a, webhook: 'https://t.example'}\n",
            "3:1: tickets: tickets go to a folder",
        ),
        ("name: a\ntargets: {include: &a [*a]}\n", "2:20: targets.include[0]: an alias stands for something"),
        (
            "name: a\ntargets: {all: !!python/object:os.system x}\n",
            "2:11: targets.all: a YAML tag has no meaning",
        ),
        ("name: a\ntargets: [1\nb: 2", "3:2: not YAML: a [ or { is not closed"),
        ("name: a\ntargets: {all: true}\n---\nname: b\n", "3:1: not YAML: a campaign file is one document"),
        ("name: a\nx: \x01\n", "2:4: the character U+0001 may not stand in YAML; remove it"),
    ],
)
def test_a_mistake_is_named_with_its_place_and_what_is_right(text: str, said: str) -> None:
    """Line, column, field, what is wrong and what would be right."""
    assert only(text).startswith(said)


def test_what_goes_against_something_else_is_in_the_same_answer() -> None:
    """A rule between two options is asked wherever both are right by themselves, whatever else is wrong."""
    found = mistakes(
        "name: A\n"
        "targets:\n"
        "  include: [a.example, b.example]\n"
        "  exclude: [b.example]\n"
        "  plans: [gold]\n"
        "waves: [{percent: 60}, {percent: 60}]\n"
        "window: 0\n"
        "sign_off: {approvers: [ada, Ada], required: 3}\n"
        "validation: {modes: [enforce]}\n"
        "esc: {scope: account, observe: never}\n"
        "commit: {resend_unchanged: true}\n"
    )
    assert [line.removeprefix("campaign.yaml:").partition(";")[0] for line in found] == [
        "1:1: name: is 'A'",
        "3:24: targets.include[1]: 'b.example' is also under exclude",
        "5:11: targets.plans[0]: is 'gold'",
        "6:25: waves[1].percent: the waves sum up to 120 percent",
        "7:1: window: is 0",
        "8:29: sign_off.approvers[1]: 'Ada' is listed twice, first as item 1",
        "8:35: sign_off.required: 3 must approve, but only 2 may",
        "9:14: validation.modes: has enforce, which can block requests before anyone agreed",
        "10:1: esc: belongs to campaigns of area esc, and this one is of area waf: remove it, or write"
        " `area: esc`",
        "11:10: commit.resend_unchanged: is true",
    ]


def test_a_threshold_of_the_score_rule_is_right_and_an_archived_one_is_read() -> None:
    """A campaign that an earlier version began with one that changes nothing goes on."""
    rule = f"ruleset: {OWASP_RULESET}, rule: {OWASP_SCORE_RULE}"
    text = SMALL + f"adjustments: [{{{rule}, score_threshold: 60}}]\n"
    (right,) = parse_campaign(text).own_list(Adjustment)
    assert right.score_threshold == 60
    begun = {"name": "waf-1", "targets": {"all": True}, "adjustments": [{"score_threshold": 60}]}
    (archived,) = CampaignSpec.model_validate(begun).own_list(Adjustment)
    assert archived.threshold_in_vain()


SECRET = "v1.0-3f8a9c-very-secret"


@pytest.mark.parametrize(
    "text",
    [
        f"service: {{credentials: [{{token: {SECRET}}}]}}\n",
        f"service: {{credentials: [{{key: {SECRET}, email: a@b.example}}]}}\n",
        f"service: {{credentials: [{{user: '{SECRET} x'}}]}}\n",
        f"service: {{credentials: [{{{SECRET}: token}}]}}\n",
        f"service: {{credentials: ['{SECRET}']}}\n",
        f"service: {{credentials: [{{token: [{SECRET}]}}]}}\n",
        f"service:\n  credentials:\n    - token: *{SECRET}\n",
        f"service:\n  credentials:\n    - token: @{SECRET}\n",
        f"service:\n  credentials:\n    - token: '{SECRET}\n",
        f"service: {{proxy: 'http://user:{SECRET}@proxy.example'}}\n",
        f"service: {{base_url: 'https://{SECRET}@api.example/client/v4'}}\n",
        f"service: {{base_url: 'https://api.example/client/v4?key={SECRET}'}}\n",
        f"tickets: {{webhook: 'https://u:{SECRET}@t.example'}}\n",
        f"tickets: {{webhook: 'https://t.example/hook?key={SECRET}'}}\n",
        f"tickets: {{webhook: 'https://t.example/services/T0/B0/{SECRET}x9Zk20Qm41Aa55Lp81'}}\n",
        f"tickets: {{secret: '{SECRET}'}}\n",
        f"token: {SECRET}\n",
        f"service: {SECRET}\n",
        f"tickets: https://t.example/services/T0/B0/{SECRET}\n",
        "service: {credentials: [{" + SECRET[:12].replace(".", "_") + ": x, token: env:A}]}\n",
        f"area: log-fields\nlog_fields: {{cookies: [a], job: 's3://b?secret-access-key={SECRET}'}}\n",
        f"area: log-fields\nlog_fields: 's3://b?secret-access-key={SECRET}'\n",
        f"area: esc\nesc: {{probe: 'https://{SECRET}@a.example'}}\n",
    ],
)
def test_a_secret_in_the_file_is_refused_and_never_shown(text: str) -> None:
    """Whatever is wrong around it, its value is in no mistake."""
    with pytest.raises(CampaignFileError) as caught:
        parse_campaign(SMALL + text)
    for part in (SECRET, SECRET[:12].replace(".", "_")):
        assert part not in str(caught.value)
        assert part not in repr(caught.value.mistakes)


def test_a_request_is_given_no_longer_than_a_worker_stays_to_see_it_through() -> None:
    """A minute is right, more is not."""
    assert only(SMALL + "service: {request_limit: 61s}\n") == (
        "3:11: service.request_limit: is 1m 1s; at most 1m is right"
    )
    assert parse_campaign(SMALL + "service: {request_limit: 1m}\n").service.request_limit < GRACE


def test_urls_with_keys_and_an_e_mail_may_lie_elsewhere() -> None:
    """As references, which are safe to archive; a webhook without a key may stand in the file."""
    found = parse_campaign(
        SMALL
        + "service: {proxy: env:PROXY, credentials: [{key: env:KEY, email: 'file:/run/email'}]}\n"
        + "tickets: {webhook: env:HOOK}\n"
    )
    assert (found.service.proxy, found.tickets.webhook) == ("env:PROXY", "env:HOOK")
    assert found.service.credentials[0].email == "file:/run/email"
    plain = parse_campaign(SMALL + "tickets: {webhook: 'https://desk.example/tickets/new'}\n")
    assert plain.tickets.webhook == "https://desk.example/tickets/new"


def test_aliases_cannot_fill_the_memory() -> None:
    """Nine levels of nine aliases each would be 400 million values."""
    lines = ["a: &a [x,x,x,x,x,x,x,x,x]"]
    for here, before in zip("bcdefghij", "abcdefghi", strict=True):
        lines.append(f"{here}: &{here} [{','.join([f'*{before}'] * 9)}]")
    assert "more than 1,000,000 values" in mistakes("\n".join(lines))[0]


def test_aliases_nest_no_deeper_than_a_reader_can_follow() -> None:
    """Each stands in the one before, and no line of the file is deep."""
    lines = ["a0: &a0 " + "[" * 60 + "]" * 60]
    for here in range(1, 40):
        lines.append(f"a{here}: &a{here} " + "[" * 60 + f"*a{here - 1}" + "]" * 60)
    assert "more than 100 levels of values once its aliases are followed" in only("\n".join(lines))


@pytest.mark.parametrize(
    "where", ["service: {base_url", "area: esc\nesc: {probe: {edge", "tickets: {webhook"]
)
def test_an_address_hides_nothing(where: str) -> None:
    """It is named in errors, and signed."""
    for odd in ("\\x9b2J", "\\u202e", "\\u200b"):
        text = f'{SMALL}{where}: "https://x{odd}a.example"' + "}" * where.count("{") + "\n"
        assert "which is not shown; take it out" in only(text)


def test_a_tab_in_a_text_indents_nothing() -> None:
    """Editors see no other line there."""
    assert "unknown key" in only(SMALL + 'x: "a\u2028\tb"\n')


def test_yaml_is_that_of_version_1_2() -> None:
    """``no`` is a text, not false; numbers in hexadecimal are numbers."""
    spec = parse_campaign("name: a\ntargets: {include: [no, on.example]}\nwindow: 0x10\n")
    assert spec.targets.include == ("no", "on.example")
    assert spec.window == 16


def test_aliases_that_make_sense_are_followed() -> None:
    """One list may stand for another."""
    text = "name: a\ntargets: {include: &zones [a.example], plans: [pro]}\nsign_off: {approvers: [ada]}\n"
    assert parse_campaign(text).targets.plans == (Plan.PRO,)


@pytest.mark.parametrize(
    ("data", "said"),
    [(b"name: \xff\n", ":1:7: not UTF-8 text"), (b"", ":1:1: the file is empty")],
)
def test_a_file_that_cannot_be_read_is_named(tmp_path: Path, data: bytes, said: str) -> None:
    """With its path, and the place where it goes wrong."""
    file = tmp_path / "c.yaml"
    file.write_bytes(data)
    with pytest.raises(CampaignFileError) as caught:
        load_campaign(file)
    assert f"{file}{said}" in str(caught.value)


def test_a_missing_file_says_how_to_make_one(tmp_path: Path) -> None:
    """`edgeshift init` writes one."""
    with pytest.raises(CampaignFileError, match=r"none\.yaml: there is no such file$") as found:
        load_campaign(tmp_path / "none.yaml")
    assert "`edgeshift init " in found.value.hint


@given(st.text(max_size=80))
def test_whatever_the_text_only_a_named_error_comes(text: str) -> None:
    """Any text is a campaign or has mistakes with places in it."""
    try:
        parse_campaign(text)
    except CampaignFileError as problem:
        lines = (
            text.count("\n")
            + text.count("\r")
            + text.count("\x85")
            + text.count("\u2028")
            + text.count("\u2029")
        )
        assert all(0 <= mistake.line <= lines + 2 for mistake in problem.mistakes)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)
KEYS = ("name", "targets", "service", "waves", "sign_off", "validation", "tickets", "adjustments", "commit")


@given(st.dictionaries(st.sampled_from(KEYS), VALUES, max_size=5))
def test_values_of_any_type_are_mistakes_not_crashes(value: dict[str, object]) -> None:
    """JSON is YAML: whatever stands under the known keys."""
    import json

    try:
        parse_campaign(json.dumps(value))
    except CampaignFileError as problem:
        assert problem.mistakes


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ('!!int ""', "window: is ''; it must be a whole number"),
        ('!!float ""', "window: is ''; it must be a whole number"),
        (f"0x{'F' * 4_000}", "window: is a number of more than 60 digits; it must be at most"),
    ],
    ids=["int", "float", "huge"],
)
def test_a_value_that_the_parser_stumbles_over_is_a_mistake(value: str, said: str) -> None:
    """Named with its place, as any other."""
    with pytest.raises(CampaignFileError) as found:
        parse_campaign(f"name: a\ntargets: {{all: true}}\nwindow: {value}\n")
    assert f"campaign.yaml:3:1: {said}" in str(found.value)
