"""What reading tells of a zone before its custom fields are written."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest
from pydantic import ValidationError

from edgeshift.areas import log_fields
from edgeshift.areas.assessment import Verdict
from edgeshift.areas.log_fields import Reading, StepJobs, merge, proposal_body
from edgeshift.areas.log_fields.jobs import is_created, needed, new_options
from edgeshift.areas.log_fields.terms import FieldSet, NewJobSpec
from edgeshift.model.digests import fingerprint
from edgeshift.model.fleet import Plan
from edgeshift.model.reasons import ReasonCode
from edgeshift.profiles import PROFILES, SPECIFICATION
from tests.kit.zones import model_zone

assess = partial(log_fields.assess, profile=SPECIFICATION)

WANTED = FieldSet(request_headers=("x-a",), cookies=("Id",))
NEW = NewJobSpec(destination="env:D")
SIGNED = new_options(NEW, needed(WANTED))
LISTS = "fields=RayID,Cookies,RequestHeaders&timestamps=rfc3339"
ZONE = model_zone("a.example", plan=Plan.ENTERPRISE)
OTHER = model_zone("d.example", "d" * 32, plan=Plan.ENTERPRISE)


def job(options: str | None = "fields=RayID", **more: Any) -> dict[str, Any]:
    return {"id": 7, "dataset": "http_requests", "enabled": True, "logpull_options": options, **more}


def ruleset(*rules: dict[str, Any]) -> dict[str, Any]:
    return {"id": "c" * 32, "version": "3", "phase": "http_log_custom_fields", "rules": list(rules)}


def theirs(*names: str, **more: Any) -> dict[str, Any]:
    fields = {"request_fields": [{"name": name} for name in names]}
    rule = {"ref": "theirs", "action": "log_custom_field", "expression": "true", "enabled": True}
    return {**rule, "action_parameters": fields, **more}


def reading(**more: Any) -> Reading:
    return Reading(**{"plan": Plan.ENTERPRISE, "jobs": [job()], **more})


@pytest.mark.parametrize("shown", [{"dataset": None}, {"dataset": ""}, {}])
def test_a_job_that_names_no_dataset_is_of_requests(shown: dict[str, Any]) -> None:
    """It is the service's default: a second job would push each request again."""
    unnamed = {key: value for key, value in job().items() if key != "dataset"} | shown
    found = assess(reading(jobs=[unnamed]), ZONE, WANTED, NEW)
    assert found.additions[-1] == "log job 7 also pushes Cookies, RequestHeaders"
    assert is_created({"name": "ours", **shown}, "ours")
    assert not is_created({"name": "ours", "dataset": "firewall_events"}, "ours")
    off = assess(reading(jobs=[{**unnamed, "enabled": False}]), ZONE, WANTED, None)
    assert off.why[0].count == 1


def test_a_zone_with_a_job_and_no_ruleset_is_ready() -> None:
    """What would be changed is told."""
    found = assess(reading(), ZONE, WANTED, None)
    assert found.verdict is Verdict.READY and found.causes == ()
    assert found.additions == (
        "a ruleset for custom log fields is created",
        "logged from now on: request header x-a, cookie Id",
        "log job 7 also pushes Cookies, RequestHeaders",
    )


def test_a_zone_where_all_is_in_place_is_settled_already() -> None:
    """By whomever: rules that log every field, and every job that pushes lists what it needs."""
    there = reading(
        ruleset=ruleset(theirs("x-a"), *merge([], FieldSet(cookies=("Id",)))),
        jobs=[job(LISTS), job(enabled=False), job(dataset="dns_logs")],
    )
    assert assess(there, ZONE, WANTED, NEW).verdict is Verdict.ALREADY_SETTLED
    second = there.model_copy(update={"jobs": [job(LISTS), job()]})
    assert assess(second, ZONE, WANTED, NEW).verdict is Verdict.READY
    off = there.model_copy(update={"ruleset": ruleset(theirs("x-a", enabled=False))})
    assert assess(off, ZONE, WANTED, NEW).verdict is Verdict.READY


@pytest.mark.parametrize(
    ("changed", "cause", "said"),
    [
        ({"plan": Plan.BUSINESS}, ReasonCode.NOT_ENTITLED, "business"),
        (
            {"refused": "not entitled to use the phase"},
            ReasonCode.NOT_ENTITLED,
            "not entitled to use the phase",
        ),
        ({"jobs": []}, ReasonCode.NO_LOG_JOB, "no log job"),
        ({"jobs": [job(enabled=False)]}, ReasonCode.NO_LOG_JOB, "1 log job"),
        ({"jobs": [job(None)]}, ReasonCode.ODD_LOG_JOB, "log job 7"),
        ({"ruleset": {"rules": [{}]}}, ReasonCode.ODD_RULES, "no action"),
    ],
)
def test_what_blocks_a_zone_is_named(changed: dict[str, Any], cause: ReasonCode, said: str) -> None:
    """With the thing, and what would be right."""
    found = assess(reading(**changed), ZONE, WANTED, None)
    assert found.verdict is Verdict.BLOCKED and found.causes == (cause,)
    assert said in found.reasons[0]


@pytest.mark.parametrize(
    ("name", "template", "verdict"),
    [
        ("my-shop.example", "edgeshift-{zone}", Verdict.READY),
        ("my_shop.example", "edgeshift-{zone}", Verdict.BLOCKED),
        ("münchen.example", "edgeshift-{zone}", Verdict.BLOCKED),
        ("my_shop.example", "edgeshift-{zone_id}", Verdict.READY),
        ("my_shop.example", "edgeshift", Verdict.READY),
    ],
)
def test_a_new_job_whose_name_the_service_refuses_blocks(name: str, template: str, verdict: Verdict) -> None:
    """Before the rules are written; and what would be right is told."""
    named = model_zone().model_copy(update={"name": name})
    new = NewJobSpec(destination="env:D", name=template)
    found = assess(reading(jobs=[job(enabled=False)]), named, WANTED, new)
    assert found.verdict is verdict
    if verdict is Verdict.BLOCKED:
        assert found.causes == (ReasonCode.ODD_LOG_JOB,)
        (text,) = found.reasons
        assert f"log job edgeshift-{name}: " in text and "use {zone_id} in log_fields.job.name" in text
    # Where none is created, its name is nobody's business; nor is that of one which the service has taken.
    assert assess(reading(), named, WANTED, new).verdict is Verdict.READY
    own_name = template.replace("{zone}", name).replace("{zone_id}", named.id)
    own = job(SIGNED, enabled=False, name=own_name)
    assert assess(reading(jobs=[own]), named, WANTED, new).verdict is Verdict.READY


@pytest.mark.parametrize("name", ["a_b", "edgeshift-{zone_name}", "edgeshift-{zone", "{zon}", "ä"])
def test_a_name_has_an_underscore_in_its_placeholder_alone(name: str) -> None:
    """Anything else is a mistake in the campaign file."""
    with pytest.raises(ValidationError):
        NewJobSpec(destination="env:D", name=name)


@pytest.mark.parametrize(
    ("more", "verdict"),
    [
        ({}, Verdict.BLOCKED),
        ({"dataset": "firewall_events"}, Verdict.READY),
        ({"name": "customers"}, Verdict.READY),
        ({"logpull_options": SIGNED}, Verdict.READY),
    ],
)
def test_our_own_job_that_is_off_blocks_where_its_options_need_a_guess(
    more: dict[str, Any], verdict: Verdict
) -> None:
    """It would be turned on again, once the rules are written; no other job that is off matters."""
    made = job(None, **{"name": "edgeshift-a.example", "enabled": False, **more})
    found = assess(reading(jobs=[made]), ZONE, WANTED, NEW)
    assert found.verdict is verdict
    assert found.causes == ((ReasonCode.ODD_LOG_JOB,) if verdict is Verdict.BLOCKED else ())
    # Where another one pushes, it stays off.
    assert assess(reading(jobs=[made, job()]), ZONE, WANTED, NEW).verdict is Verdict.READY


def made(options: str = SIGNED, **more: Any) -> dict[str, Any]:
    """The job that an earlier campaign has created, and that is off."""
    return job(options, **{"id": 9, "name": "edgeshift-a.example", "enabled": False, **more})


UNLISTED = SIGNED.replace(",Cookies,RequestHeaders", "")


@pytest.mark.parametrize(
    ("one", "said"),
    [
        (made(SIGNED.replace("RayID", "RayID,ClientIP,ResponseHeaders")), "lists ClientIP, ResponseHeaders"),
        (made(SIGNED.replace("RayID,", "")), "does not list RayID"),
        (made(SIGNED + "&sample_rate=0.01"), "has sample_rate=0.01"),
        (made(SIGNED.replace("rfc3339", "unix")), "has timestamps=unix"),
        (made(SIGNED.replace("&timestamps=rfc3339", "")), "has no timestamps"),
        (made(frequency="low"), "has frequency=low"),
        (made(filter='{"where": {}}'), "has a filter"),
        (made(kind="edge"), "has kind=edge"),
    ],
)
def test_our_own_job_that_is_off_blocks_where_it_is_not_as_people_would_sign_it(
    one: dict[str, Any], said: str
) -> None:
    """It would push what nobody has seen; another name has a new one made."""
    found = assess(reading(jobs=[one]), ZONE, WANTED, NEW)
    assert found.verdict is Verdict.BLOCKED and found.causes == (ReasonCode.ODD_LOG_JOB,)
    (text,) = found.reasons
    assert "log job 9: " in text and "give log_fields.job another name" in text and said in text
    other = NewJobSpec(destination="env:D", name="other-{zone}")
    assert assess(reading(jobs=[one]), ZONE, WANTED, other).verdict is Verdict.READY
    # Where it pushes already, or another one does, it stays what it is.
    for jobs in ([{**one, "enabled": True}], [one, job()]):
        assert assess(reading(jobs=jobs), ZONE, WANTED, NEW).verdict is Verdict.READY


@pytest.mark.parametrize("more", [{}, {"frequency": "high", "filter": None, "kind": ""}])
def test_our_own_job_that_is_off_and_as_signed_is_turned_on_again(more: dict[str, Any]) -> None:
    """As after a rollback of the same file; it may lack the log fields of this campaign."""
    found = assess(reading(jobs=[made(**more)]), ZONE, WANTED, NEW)
    assert found.verdict is Verdict.READY and found.additions[-1] == "log job 9 is turned on again"
    found = assess(reading(jobs=[made(UNLISTED, **more)]), ZONE, WANTED, NEW)
    assert found.additions[-2:] == (
        "log job 9 is turned on again",
        "log job 9 also pushes Cookies, RequestHeaders",
    )


@pytest.mark.parametrize(
    ("more", "verdict"),
    [
        ({}, Verdict.READY),
        ({"sample_rate": 1, "output_type": "ndjson", "batch_prefix": ""}, Verdict.READY),
        ({"sample_rate": 0.5}, Verdict.BLOCKED),
        ({"output_type": "csv"}, Verdict.BLOCKED),
        ({"timestamp_format": "unix"}, Verdict.BLOCKED),
    ],
)
def test_output_options_are_compared_as_the_string_is(more: dict[str, Any], verdict: Verdict) -> None:
    """What is as it would be without being said differs from nothing."""
    options = {"field_names": [*NEW.fields, "Cookies"], "timestamp_format": "rfc3339", **more}
    there = reading(jobs=[made(output_options=options)])
    assert log_fields.assess(there, ZONE, WANTED, NEW, PROFILES["public-2025-04"]).verdict is verdict


def test_wrong_names_block_before_anything_is_sent() -> None:
    """Every mistake at once."""
    found = assess(reading(), ZONE, FieldSet(request_headers=("X-A", "x b")), None)
    assert found.verdict is Verdict.BLOCKED and len(found.reasons) == 2


@pytest.mark.parametrize(("theirs_have", "verdict"), [(38, Verdict.READY), (39, Verdict.BLOCKED)])
def test_somebody_elses_fields_count_among_the_forty(theirs_have: int, verdict: Verdict) -> None:
    """The fortieth is taken, the next is not."""
    there = reading(ruleset=ruleset(theirs(*(f"x-{number}" for number in range(theirs_have)))))
    found = assess(there, ZONE, WANTED, None)
    assert found.verdict is verdict
    if verdict is Verdict.BLOCKED:
        assert found.causes == (ReasonCode.TOO_MANY_FIELDS,) and "would have 41" in found.reasons[0]


def test_people_are_warned_of_what_logs_will_not_show() -> None:
    """Headers that a transform sets, credentials, samples, jobs that fail, rules that somebody turned off."""
    change = {"headers": {"X-A": {"operation": "set", "value": "1"}, "x-gone": {"operation": "remove"}}}
    there = reading(
        transforms={"http_request_late_transform": [{"enabled": True, "action_parameters": change}]},
        ruleset=ruleset(theirs("x-gone", enabled=False)),
        jobs=[job("fields=RayID&sample=0.5", error_message="no", last_error="yesterday")],
    )
    wanted = FieldSet(request_headers=("x-a", "x-gone", "authorization"), response_headers=("set-cookie",))
    found = "\n".join(assess(there, ZONE, wanted, None).warnings)
    assert "x-a: a rule of the phase http_request_late_transform" in found
    assert "x-gone: a rule of the phase" not in found and "turned it off" in found
    assert "authorization carries credentials" in found and "only the first one" in found
    assert "(sample=0.5)" in found and "failed last, at yesterday" in found


@pytest.mark.parametrize("options", ["", "&sample=1", "&sample=1.0", "&sample_rate=1", "&sampled=0.5"])
def test_a_job_that_pushes_every_request_is_no_warning(options: str) -> None:
    """Whether it says so or not."""
    there = reading(jobs=[job(f"?fields=RayID{options}")])
    assert assess(there, ZONE, FieldSet(request_headers=("x-a",)), None).warnings == ()


@pytest.mark.parametrize("headers", [["x-a"], "x-a", 7, None])
def test_headers_of_a_transform_that_are_no_object_are_passed_over(headers: object) -> None:
    """Another form is no reason to tell nothing of the zone."""
    rule = {"enabled": True, "action_parameters": {"headers": headers}}
    there = reading(transforms={"http_request_late_transform": [rule]})
    assert assess(there, ZONE, FieldSet(request_headers=("x-a",)), None).warnings == ()


def test_what_is_signed_is_the_end_state() -> None:
    """A stranger's rules and jobs, and a step that was made in part, do not change it; zones of one shape
    have one fingerprint.
    """
    body = proposal_body(reading(), ZONE, WANTED, NEW)
    assert body == {
        "name": "log_fields",
        "fields": {"request_headers": ["x-a"], "response_headers": [], "cookies": ["Id"]},
        "jobs": {"list": ["Cookies", "RequestHeaders"], "new": None},
    }
    part = reading(ruleset=ruleset(theirs("x-z"), *merge([], WANTED)), jobs=[job(LISTS), job()])
    assert proposal_body(part, ZONE, WANTED, NEW) == body
    bare = proposal_body(reading(jobs=[]), ZONE, WANTED, NEW)
    made = job(LISTS, name="edgeshift-a.example")
    assert bare["jobs"]["new"]["destination"] == "env:D"
    assert proposal_body(reading(jobs=[made]), ZONE, WANTED, NEW) == bare
    other = proposal_body(reading(jobs=[]), OTHER, WANTED, NEW)
    assert fingerprint(other, OTHER) == fingerprint(bare, ZONE)


def test_a_job_that_came_later_need_not_list_what_was_written() -> None:
    """One that pushed when it was proposed, or that the step wrote or made, has to."""
    ours, later = job(LISTS), job(id=9)
    there = reading(ruleset=ruleset(*merge([], WANTED)), jobs=[ours, later])
    lacking = partial(log_fields.lacking, wanted=WANTED, profile=SPECIFICATION)
    of_step = StepJobs(frozenset({7}))
    assert lacking(there) == lacking(there, of_step=StepJobs(frozenset({7, 9})))
    assert lacking(there) == "log job 9 does not list Cookies, RequestHeaders"
    assert lacking(there, of_step=of_step) == ""
    assert log_fields.came_since(there, WANTED, SPECIFICATION, of_step) == (
        "log job 9 came since and does not list Cookies, RequestHeaders",
    )
    lost = there.model_copy(update={"jobs": [job(), job(LISTS, id=9)]})
    assert lacking(lost, of_step=of_step) == "log job 7 does not list Cookies, RequestHeaders"
    created = StepJobs(frozenset(), "edgeshift-a.example")
    named = there.model_copy(update={"jobs": [job(id=8, name="edgeshift-a.example"), job(LISTS, id=9)]})
    assert lacking(named, of_step=created) == "log job 8 does not list Cookies, RequestHeaders"
    # Where none of them pushes any more, the fields are in the logs by the others alone.
    off = there.model_copy(update={"jobs": [{**ours, "enabled": False}, later]})
    assert lacking(off, of_step=of_step) == "log job 9 does not list Cookies, RequestHeaders"
