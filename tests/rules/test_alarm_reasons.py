"""Alarms are told by the codes of reasons, as rules and courses of targets give them, and by no word."""

from __future__ import annotations

import ast
import re
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from temporalio.exceptions import ApplicationError, TimeoutError

from edgeshift.alarms import KINDS, alarm_codes
from edgeshift.alarms.of_zones import BY_CODE, OF_ENTRY_SIZE, READING
from edgeshift.areas import esc, waf
from edgeshift.areas.log_fields.reading import Reading as LogReading
from edgeshift.areas.log_fields.reading import assess as assess_log_fields
from edgeshift.areas.log_fields.terms import FieldSet
from edgeshift.messages import ChangeResult, ChangeStatus
from edgeshift.model.fleet import Area, Plan, Zone
from edgeshift.model.reason_texts import text_of
from edgeshift.model.reasons import Reason, ReasonCode, Reasons, codes_of
from edgeshift.profiles import SPECIFICATION
from tests.rules.test_zone_reasons import failed as activity_failed
from tests.runbook import ROOT
from workflows.zone.changing import MOST_REFUSED_STARTS, Changes
from workflows.zone.failures import failed
from workflows.zone.state import Ended

DIGEST = "ab" * 32
EXAMPLE = ROOT / "examples/always_https/edgeshift_always_https/reasons.py"
EXAMPLES = re.findall(r'code: ClassVar\[str\] = "(.+)"', EXAMPLE.read_text(encoding="utf-8"))
"""The codes that the area brings which is installed as an example."""


def of_waf(place: str, **reading: object) -> tuple[str, ...]:
    """The alarms of a zone that was read so."""
    why = waf.assess(
        waf.Reading.model_validate({"check": {"compatible": True}, **reading}), SPECIFICATION
    ).why
    return alarm_codes(place, codes_of(why), Area.WAF)


def test_reasons_as_the_rules_give_them_are_understood() -> None:
    """Those of readings, out of the very rules that give them."""
    rule = {"id": "r", "action": "bypass", "products": ["waf"], "filter": {"expression": "x" * 5000}}
    both = ("support-too-many-rules", "support-long-expression")
    assert of_waf("support", firewall_rules=[rule] * 201) == both
    assert of_waf("support", firewall_rules=[rule] * 201, overrides=[{"id": "o"}]) == both
    assert of_waf("blocked", overrides=[{"id": "o"}]) == ("blocked-overrides",)
    assert of_waf("blocked", check={"compatible": False}) == ("blocked-not-compatible",)
    assert of_waf("blocked", config={"rules": []}) == ("blocked-log-only",)
    assert of_waf("blocked", plan="pro") == ("blocked-plan",)
    assert of_waf("blocked", listed="other") == ("blocked-plan",)
    for case in (ReasonCode.SUPPORT_REFUSAL, ReasonCode.TOO_MANY_RULES):
        assert of_waf("support", refused=(case, "call us")) == ("support-refusal",)
    gone = esc.assess(esc.Reading(), datetime(2024, 1, 2, tzinfo=UTC), SPECIFICATION)
    assert alarm_codes("blocked", codes_of(gone.why), Area.ESC) == ("blocked-removal-date",)


def test_a_page_rule_that_no_rule_can_say_is_understood() -> None:
    """By its code, which a proposal gives and no reading alone; its text names the pattern."""
    why = Reason(code=ReasonCode.PAGE_RULE_PATTERN, count=1, names=("a.example/x*y",))
    assert alarm_codes("blocked", codes_of((why,)), Area.WAF) == ("blocked-page-rule",)
    assert "(a.example/x*y)" in text_of(why)


def test_rules_that_would_be_replaced_are_understood() -> None:
    """By their code; the text names the first of them, and says that there are more."""
    why = Reason(code=ReasonCode.RULES_REPLACED, count=2, names=("rule 1 as it is: skip",))
    assert alarm_codes("blocked", codes_of((why,)), Area.WAF) == ("blocked-own-rules",)
    assert "2 rules that edgeshift did not write (rule 1 as it is: skip; …)" in text_of(why)


def log_reasons(reading: LogReading, *names: str) -> Reasons:
    """Why the rules of log-fields would not have a zone."""
    target = Zone(id="0" * 32, name="a.example", account="1" * 32, plan=reading.plan)
    return assess_log_fields(
        reading, target, FieldSet(request_headers=names or ("x-a",)), None, SPECIFICATION
    ).why


def test_reasons_of_log_fields_are_understood() -> None:
    """Plan, number of fields, their names, jobs, other people's rules; each, where there are several."""
    job = {"id": 7, "enabled": True, "dataset": "http_requests", "logpull_options": "fields=RayID"}
    good = LogReading(plan=Plan.ENTERPRISE, jobs=[job])

    def found(reading: LogReading, *names: str) -> tuple[str, ...]:
        return alarm_codes("blocked", codes_of(log_reasons(reading, *names)), Area.LOG_FIELDS)

    many = tuple(f"x-{number}" for number in range(41))
    assert found(LogReading(plan=Plan.PRO)) == ("blocked-plan",)
    assert found(good, *many)[0] == "blocked-fields"
    assert found(good, "X-A") == ("blocked-fields",)
    assert found(good.model_copy(update={"jobs": []})) == ("blocked-log-job",)
    assert found(good.model_copy(update={"jobs": []}), *many) == ("blocked-fields", "blocked-log-job")
    twice = [{**job, "logpull_options": "fields=RayID&fields=Cookies"}]
    assert found(good.model_copy(update={"jobs": twice})) == ("blocked-log-job",)
    theirs = {"id": "r", "action": "skip"}
    assert found(good.model_copy(update={"ruleset": {"rules": [theirs]}})) == ("blocked-rules",)


@pytest.mark.parametrize(
    ("place", "code", "alarm"),
    [
        ("failed", ReasonCode.CHANGE_REFUSED, "failed-refused"),
        ("failed", ReasonCode.EDITED_SINCE, "failed-edited"),
        ("failed", ReasonCode.DELETION_REFUSED, "failed-refused"),
        ("failed", ReasonCode.SECRET_REFUSED, "failed-refused"),
        ("blocked", ReasonCode.SECRET_REFUSED, "blocked-plan"),
        ("failed", ReasonCode.GIVEN_UP, "failed-tries"),
        ("failed", ReasonCode.STORED_RULES_DIFFER, "failed-differs"),
        ("failed", ReasonCode.NOT_ROLLED_BACK, "failed-way-back"),
        ("failed", ReasonCode.WORKFLOW_ENDED, "zone-ended"),
        ("failed", ReasonCode.SERVICE_FAILED, "failed-reading"),
        ("failed", ReasonCode.NOT_IN_TIME, "failed-reading"),
        ("unknown", ReasonCode.WORKFLOW_ENDED, "zone-ended"),
        ("unknown", ReasonCode.VALIDATION_NOT_SHOWN, "unknown-validation"),
        ("unknown", ReasonCode.NEVER_SHOWED, "unknown-commit"),
        ("unknown", ReasonCode.NOT_SEEN, "unknown-commit"),
    ],
)
def test_reasons_of_a_course_are_understood(place: str, code: ReasonCode, alarm: str) -> None:
    """Those that workflows and activities give to an end."""
    assert alarm_codes(place, (code,), Area.WAF) == (alarm,)


@pytest.mark.parametrize("code", [*EXAMPLES, "of_a_later_version"])
def test_a_failure_by_a_code_that_is_not_known_claims_nothing_of_what_was_sent(code: str) -> None:
    """Such as those of an installed area; also where an activity failed as well. Beside one that is known,
    that one counts.
    """
    assert len(EXAMPLES) == 5
    (alarm,) = {
        alarm_codes("failed", codes, Area.WAF)
        for codes in (
            (ReasonCode(code),),
            (ReasonCode(code), ReasonCode.SERVICE_FAILED),
            (ReasonCode.NOT_IN_TIME, ReasonCode(code)),
            (),
        )
    }
    assert alarm == ("failed",) and "nothing was sent" not in KINDS["failed"].what
    known = (ReasonCode(code), ReasonCode.NOT_ROLLED_BACK)
    assert alarm_codes("failed", known, Area.WAF) == ("failed-way-back",)


@pytest.mark.parametrize(
    ("kind", "text", "alarm"),
    [
        ("InvalidCredential", "waf.check: 401: [1000] Invalid API Token (GET /zones)", "failed-credential"),
        ("InvalidCredential", "waf.check: 400: [6111] Invalid format", "failed-credential"),
        ("Forbidden", "waf.check: 403: [9109] Unauthorized", "failed-credential"),
        ("NotFound", "waf.check: 404: [7003] not found (GET /zones)", "failed-credential"),
        ("SecretUnresolved", "file:/run/token: there is no such file", "failed-credential"),
        ("CredentialMissing", "env:TOKEN: the variable TOKEN is not set", "failed-credential"),
        ("ArchiveCorrupt", f"/archive: object {DIGEST} is damaged: its bytes", "failed-archive"),
        ("ArchiveMissing", f"/archive has no object {DIGEST}", "failed-archive"),
        ("ServerError", "waf.check: 500 (GET /zones)", "failed-reading"),
        ("Refused", "waf.check: 400: [1] 401 403 404", "failed-reading"),
        ("KeyError", "env: what nobody expected", "failed-reading"),
    ],
)
@pytest.mark.parametrize("late", [False, True])
def test_what_an_activity_failed_by_is_understood(kind: str, text: str, alarm: str, late: bool) -> None:
    """By the type of the failure, also of the last try of many; never by its words."""
    cause: BaseException = ApplicationError(text, type=kind)
    if late:
        timeout = TimeoutError("Activity timed out", type=None, last_heartbeat_details=[])
        timeout.__cause__, cause = cause, timeout
    why = failed(activity_failed(cause))
    assert alarm_codes("failed", (why.code,), Area.WAF) == (alarm,)
    assert text in text_of(why)


@pytest.mark.parametrize(("damaged", "alarm"), [(True, "failed-archive"), (False, "failed-tries")])
async def test_a_step_that_is_given_up_for_a_record_that_cannot_be_read_is_an_alarm_of_the_archive(
    damaged: bool, alarm: str
) -> None:
    """It names the record: whoever is called has to see to the archive, and not to the service."""
    zone = SimpleNamespace(refused_starts=MOST_REFUSED_STARTS)
    changes = Changes(*(cast(Any, part) for part in (zone, None, None, None)))
    said = "before it was sent: the intent intent/1/waf/p in the archive cannot be read: it is not JSON"
    result = ChangeResult(status=ChangeStatus.NOTHING_HAPPENED, reason=said, damaged=damaged)
    with pytest.raises(Ended) as ended:
        await changes.pause_before_again(result)
    (why,) = ended.value.why
    assert alarm_codes("failed", (why.code,), Area.WAF) == (alarm,)
    assert "intent/1/waf/p" in ended.value.reason


def sources() -> dict[Path, ast.Module]:
    """Every module that may give a reason."""
    files = [
        file
        for folder in ("edgeshift", "activities", "workflows")
        for file in (ROOT / folder).rglob("*.py")
        if file.parent != ROOT / "edgeshift" / "alarms" and file.name != "reason_texts.py"
    ]
    return {file: ast.parse(file.read_text(encoding="utf-8")) for file in files}


def test_every_code_that_an_alarm_decides_by_is_given_somewhere() -> None:
    """A code that nobody gives would be an alarm that never comes."""
    given = {
        node.attr
        for tree in sources().values()
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id == "ReasonCode"
    }
    decided = {code for codes in BY_CODE.values() for code in codes} | OF_ENTRY_SIZE | READING
    assert {code.name for code in decided} <= given
    # And no code is there that nobody gives; OTHER stands for those of other versions.
    assert {code.name for code in ReasonCode} - given <= {"OTHER"}


def test_no_alarm_is_told_by_words() -> None:
    """Regular expressions fill the placeholders of commands, and do nothing else in the room of alarms."""
    for file in (ROOT / "edgeshift" / "alarms").glob("*.py"):
        tree = ast.parse(file.read_text(encoding="utf-8"))
        imported = {
            alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names
        }
        assert "re" not in imported or file.name == "kinds.py", file
        parsed = {
            node.attr
            for node in ast.walk(tree)
            if isinstance(node, ast.Attribute)
            and isinstance(node.value, ast.Attribute)
            and node.value.attr in ("reason", "why", "said", "notes", "failing")
        }
        assert not parsed & {"startswith", "endswith", "find", "split", "partition", "removeprefix"}, file
