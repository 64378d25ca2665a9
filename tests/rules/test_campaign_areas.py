"""Campaign files of the areas esc and log-fields: what is refused, where, and what would be right."""

from __future__ import annotations

import re
from datetime import timedelta
from pathlib import Path

import pytest

from edgeshift.areas.esc.terms import EscSpec
from edgeshift.areas.log_fields.terms import LogFieldsSpec
from edgeshift.campaign_file.forecast import forecast
from edgeshift.campaign_file.load import CampaignFileError, parse_campaign
from edgeshift.campaign_file.warnings import slowest, warnings
from edgeshift.model.fleet import Area
from edgeshift.runtime.settings import WorkerSettings

WAF = "name: move\ntargets: {all: true}\narea: waf\n"
ESC = "name: off\ntargets: {all: true}\narea: esc\n"
FIELDS = "name: logs\ntargets: {all: true}\narea: log-fields\n"


def mistakes(text: str) -> list[str]:
    """The mistakes of a text, a line each, without the heading and the file."""
    with pytest.raises(CampaignFileError) as caught:
        parse_campaign(text)
    return [line.removeprefix("campaign.yaml:") for line in caught.value.lines()[1:]]


def names(number: int, prefix: str = "x-") -> str:
    """So many names of headers, as YAML."""
    return f"[{', '.join(f'{prefix}{index}' for index in range(number))}]"


def test_each_area_has_its_own_part() -> None:
    """Its options are read as they are written."""
    esc = parse_campaign(
        ESC + "esc: {scope: account, observe: 2h, probe: {urls: [/a, 'https://b.example/c']}}\n"
    )
    terms = esc.section(EscSpec)
    assert (esc.area, terms.scope, terms.observe) == (Area.ESC, "account", timedelta(hours=2))
    logs = parse_campaign(
        FIELDS + "log_fields: {cookies: [Id, id], zones: {a.example: {request_headers: [x-a]}}}\n"
    )
    assert logs.section(LogFieldsSpec).cookies == ("Id", "id")
    assert logs.section(LogFieldsSpec).wanted("0" * 32, "a.example").request_headers == ("x-a",)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            ESC + "validation: {window: 1h}\n",
            "4:1: validation: belongs to campaigns of area waf, and this one is of area esc: remove it,",
        ),
        (
            ESC + "adjustments: [{rule: a, action: log}]\n",
            "4:1: adjustments: belongs to campaigns of area waf",
        ),
        (ESC + "consents: {delete_uri_overrides: true}\n", "4:1: consents: belongs to campaigns of area waf"),
        (
            FIELDS + "log_fields: {cookies: [a]}\nesc: {observe: 3h}\n",
            "5:1: esc: belongs to campaigns of area esc, and this one is of area log-fields",
        ),
        (
            "name: a\ntargets: {all: true}\nlog_fields: {cookies: [a]}\n",
            "3:1: log_fields: belongs to campaigns of area log-fields, and this one is of area waf",
        ),
        (
            ESC + "esc: {scope: acount}\n",
            "4:7: esc.scope: is 'acount'; it must be zone or account (did you mean",
        ),
        (ESC + "esc: {observe: 1h, every: 2h}\n", "4:20: esc.every: is longer than esc.observe"),
        (ESC + "esc: {every: 61m}\n", "4:7: esc.every: is longer than esc.observe"),
        (ESC + "esc: {tolerance: 1}\n", "4:7: esc.tolerance: is 1; it must be less than 1"),
        (ESC + "esc: {probe: {rounds: 1}}\n", "4:15: esc.probe.rounds: is 1; it must be at least 2"),
        (ESC + "esc: {probe: {method: POST}}\n", "4:15: esc.probe.method: is 'POST'; it must be GET or HEAD"),
        (
            ESC + "esc: {probe: {urls: [login]}}\n",
            "4:22: esc.probe.urls[0]: is not right (its value is not shown); a path such as",
        ),
        (
            ESC + "esc: {probe: {urls: [/a, /b, /a]}}\n",
            "4:30: esc.probe.urls[2]: is listed twice, first as item 1",
        ),
        (
            ESC + "esc: {probe: {urls: ['https://ann:pw@a.example/']}}\n",
            "4:22: esc.probe.urls[0]: a user or password does not belong",
        ),
        (
            ESC + "esc: {probe: {urls: ['https://a.example:8443/']}}\n",
            "4:22: esc.probe.urls[0]: a port does not belong",
        ),
        (ESC + "esc: {every: 0s}\n", "4:7: esc.every: is 0s; at least 1s is right"),
        (ESC + "esc: {fresh: 10s}\n", "4:7: esc.fresh: is 10s; at least 5m is right"),
        (
            ESC + "esc: {observe: 24h, every: 10s}\n",
            "4:21: esc.every: is 10s, too often for esc.observe of 1d: 1,000 looks are made at most; at least"
            " 1m 27s is right",
        ),
        (ESC + "esc: {observe: 30d}\n", "4:1: esc.every: is 10m, too often for esc.observe of 30d"),
        (
            "name: a\narea: esc\ntargets: {include: [a.example]}\nesc: {scope: account}\n",
            "3:11: targets.include: include chooses among zones, but esc.scope is account",
        ),
        (
            ESC.replace("true", "true, plans: [pro]") + "esc: {scope: account}\n",
            "2:22: targets.plans: plans chooses among zones, but esc.scope is account",
        ),
        (ESC + "sign_off: {per: zones}\n", "4:12: sign_off.per: is 'zones'; it must be fingerprint or zone"),
    ],
)
def test_a_mistake_is_named_with_its_place_and_what_is_right(text: str, said: str) -> None:
    """Found before anything is sent, and the only one."""
    found = mistakes(text)
    assert len(found) == 1 and found[0].startswith(said), found


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ("{}", "log_fields: no field is named: name at least one"),
        (
            "{request_headers: [X-Id]}",
            "log_fields.request_headers[0]: 'X-Id' has upper-case letters: the service takes header names"
            ' in lower case, write "x-id"',
        ),
        (
            "{response_headers: ['x id']}",
            "log_fields.response_headers[0]: 'x id' is no name of a response",
        ),
        ("{cookies: ['']}", "log_fields.cookies[0]: '' is empty: write the name of a cookie"),
        (
            "{cookies: [id, sid, id]}",
            "log_fields.cookies[2]: 'id' is listed twice, first as item 1; name it once",
        ),
        (
            "{cookies: [id], zones: {a.example: {cookies: [Id, id]}}}",
            "log_fields.zones.a.example.cookies[1]: 'id' is a field of every zone of the campaign already",
        ),
        (
            f"{{request_headers: {names(20)}, response_headers: {names(20)}, cookies: [a]}}",
            "log_fields: 41 custom fields: a zone takes 40 at most",
        ),
        (
            f"{{request_headers: {names(39)}, zones: {{a.example: {{cookies: [a, b]}}}}}}",
            "log_fields.zones.a.example: 41 custom fields: a zone takes 40 at most",
        ),
        (
            "{cookies: [a], zones: {A.example: {cookies: [b]}}}",
            "log_fields.zones.A.example: zones are named as the service does, in lower case",
        ),
        (
            "{cookies: [a], zones: {a.example: {cooky: [b]}}}",
            "log_fields.zones.a.example.cooky: unknown key",
        ),
        (
            "{zones: {a.example: {cookies: [b]}}}",
            "log_fields: only the zones under log_fields.zones have fields",
        ),
        (
            "{cookies: [a], entries: 'ftp://logs'}",
            "log_fields.entries: is no object store that edgeshift can",
        ),
        (
            "{cookies: [a], entries: 's3://k:s@logs'}",
            "log_fields.entries: credentials and options do not",
        ),
        (
            "{cookies: [a], entries: 'file:///l/{zoen}'}",
            "log_fields.entries: {zoen} stands for nothing; {zone} and {zone_id} become",
        ),
        (
            "{cookies: [a], entries: 'file:///l/{zone'}",
            "log_fields.entries: has a brace without its partner",
        ),
        (
            "{cookies: [a], job: {destination: 's3://logs?secret=abc'}}",
            "log_fields.job.destination: a destination may carry credentials and is never written",
        ),
        (
            "{cookies: [a], job: {destination: 'env:D', challenge: 'https://x/y'}}",
            "log_fields.job.challenge: is no object store",
        ),
        (
            "{cookies: [a], job: {destination: 'env:D', name: 'a b'}}",
            "log_fields.job.name: is 'a b'; it has letters, digits, hyphens and dots",
        ),
        ("{cookies: [a], verify: 1m}", ""),
        ("{cookies: [a], verify: 1m, every: 2m}", "log_fields.every: is longer than log_fields.verify"),
    ],
)
def test_a_field_that_no_zone_may_have_is_named(fields: str, said: str) -> None:
    """By its place in the list, also where it was added for one zone alone."""
    text = f"{FIELDS}log_fields: {fields}\n"
    if not said:
        parse_campaign(text)
        return
    found = mistakes(text)
    assert len(found) == 1 and found[0].startswith("4:") and found[0].partition(": ")[2].startswith(said), (
        found
    )


def test_forty_fields_are_right_and_one_more_is_not() -> None:
    """The limit itself is allowed, over all three lists together and with a zone's additions."""
    forty = f"{FIELDS}log_fields: {{request_headers: {names(20)}, response_headers: {names(20)}}}\n"
    assert len(parse_campaign(forty).section(LogFieldsSpec).request_headers) == 20
    added = f"{FIELDS}log_fields: {{cookies: {names(39)}, zones: {{a.example: {{cookies: [more]}}}}}}\n"
    assert parse_campaign(added).section(LogFieldsSpec).zones


def test_a_zone_that_is_no_target_is_named_as_far_as_the_file_tells() -> None:
    """Names can be compared; identifiers and accounts are only known to the service."""
    text = FIELDS.replace("{all: true}", "{include: [a.example]}")
    zones = "log_fields: {cookies: [a], zones: {b.example: {cookies: [b]}}}\n"
    assert "is not among the targets" in mistakes(text + zones)[0]
    parse_campaign(text.replace("a.example", "a" * 32) + zones)
    own = "log_fields: {zones: {a.example: {cookies: [b]}}}\n"
    parse_campaign(text + own)
    bare = text.replace("[a.example]", "[a.example, c.example]") + own
    assert "c.example would get no field" in mistakes(bare)[0]


def test_no_mistake_shows_what_may_be_secret() -> None:
    """Neither a destination nor an address with credentials in it."""
    found = "\n".join(
        mistakes(
            FIELDS
            + "log_fields:\n  cookies: [a]\n  entries: s3://ann:hunter2@logs\n"
            + "  job: {destination: 's3://logs?secret-access-key=hunter2', challenge: 'x://hunter2'}\n"
        )
    )
    assert "hunter2" not in found and found.count("\n") == 2


def test_what_may_surprise_is_said() -> None:
    """Each area's own, and none of another's."""
    esc = warnings(
        parse_campaign(ESC + "esc: {scope: account, tolerance: 0.1, probe: {method: HEAD}}\n"), signed=True
    )
    assert any("one of all its zones at once" in said for said in esc)
    assert any("10% of a scope's URLs may fail" in said for said in esc)
    assert any("a body is not seen" in said for said in esc)
    logs = warnings(
        parse_campaign(FIELDS + "log_fields: {cookies: [a], job: {destination: 'env:D'}}\n"), signed=True
    )
    assert any("that fields arrive is not verified" in said for said in logs)
    assert any("log_fields.job.challenge" in said for said in logs)
    assert not any("esc" in said for said in logs)


@pytest.mark.parametrize(
    ("commit", "said"),
    [
        ("{migration_limit: 5m, resend_unchanged: 1}", True),
        ("{migration_limit: 1h, resend_unchanged: 1}", False),
        ("{migration_limit: 5m}", False),
    ],
)
def test_a_step_that_is_sent_again_while_the_first_may_still_show_is_told(commit: str, said: bool) -> None:
    """A migration can take up to an hour."""
    found = warnings(parse_campaign(f"name: a\ntargets: {{all: true}}\ncommit: {commit}\n"), signed=True)
    assert any(one.startswith("commit.migration_limit is 5m, and a migration") for one in found) == said


def test_a_time_that_is_shorter_than_the_usual_pause_is_allowed_and_told() -> None:
    """Whoever says nothing of the pause did nothing wrong, but nothing is looked at in between."""
    esc = warnings(parse_campaign(ESC + "esc: {observe: 5m}\n"), signed=True)
    assert any(said.startswith("esc.every is 10m, longer than esc.observe") for said in esc)
    fields = "log_fields: {cookies: [a], entries: 's3://logs', verify: 1m}\n"
    logs = warnings(parse_campaign(FIELDS + fields), signed=True)
    assert any(said.startswith("log_fields.every is 5m, longer than log_fields.verify") for said in logs)


def test_the_forecast_counts_the_calls_of_its_area() -> None:
    """By the rate limit alone; what is waited for beside is named."""
    for text, waits in ((ESC, "probes"), (FIELDS + "log_fields: {cookies: [a]}\n", "log entries")):
        found = forecast(parse_campaign(text), enterprise=10, others=20)
        assert found.calls == forecast(parse_campaign(text), enterprise=0, others=30).calls > 0
        assert waits in found.said()


def test_the_window_bounds_how_fast_migrations_of_an_hour_go() -> None:
    """Five at once are five an hour; eleven zones take three turns."""
    said = slowest(parse_campaign(WAF + "window: 5\n"), 11)
    assert "5 zones work at once" in said and "5 zones an hour, 3h for all" in said


@pytest.mark.parametrize("area", [WAF, ESC, FIELDS + "log_fields: {cookies: [a]}\n"])
def test_a_window_beyond_what_one_worker_looks_at_is_told(area: str) -> None:
    """What follows is said, and what helps; by the default that the workers' own settings have."""
    slots = WorkerSettings().long_activities

    def told(more: str) -> list[str]:
        return [said for said in warnings(parse_campaign(area + more), signed=True) if "LONG_" in said]

    (said,) = told(f"window: {slots + 1}\n")
    assert said.startswith(f"window: up to {slots + 1:,} changes may be looked at at once until")
    assert f"a worker looks at {slots:,} unless" in said and "EDGESHIFT_WORKER_LONG_ACTIVITIES" in said
    assert "rollbacks" in said and "more workers" in said and "smaller window" in said
    assert not told(f"window: {slots}\n") and not told("")
    # Whoever lets so many fail has said so; without it `auto` says no number of its own.
    bounded = f"window: auto\nadvance: {{failures: {slots}}}\n"
    assert len(told(bounded)) == (area == WAF) and not told("window: auto\n")


PAGE = Path(__file__).parents[2] / "docs" / "campaign-file.md"


@pytest.mark.parametrize(
    "text", re.findall(r"^```yaml\n(.*?)^```", PAGE.read_text(), re.MULTILINE | re.DOTALL)
)
def test_the_examples_of_the_documentation_are_right(text: str) -> None:
    """Each is a whole file of its area."""
    found = parse_campaign(text)
    assert f"\narea: {found.area.value}\n" in text
