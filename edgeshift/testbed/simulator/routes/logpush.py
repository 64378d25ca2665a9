"""Log jobs of a zone, and the proof that their destinations are the customer's own (docs/service.md §2.3,
§4.2)."""

import re
from typing import Any

from edgeshift.testbed.simulator.answers import Answer, Json, refuse, succeeded
from edgeshift.testbed.simulator.calls import Call, Route
from edgeshift.testbed.simulator.log_jobs import Document
from edgeshift.testbed.simulator.logs import destinations, pull_options
from edgeshift.testbed.simulator.logs.destinations import Destination
from edgeshift.testbed.simulator.logs.field_names import DATASETS, HTTP_REQUESTS
from edgeshift.testbed.simulator.logs.sending import DeliveryError, put_object
from edgeshift.testbed.simulator.migration import refusal
from edgeshift.testbed.simulator.rulesets import new_id

_NAME = re.compile(r"[a-zA-Z0-9\-.]*")
_UPDATED = ("destination_conf", "enabled", "frequency", "logpull_options", "ownership_challenge")
_CREATED = (*_UPDATED, "name", "dataset")
_INVALID = 1003


def list_jobs(call: Call) -> Answer:
    """The zone's log jobs."""
    return succeeded(call.state.log_jobs.of_zone(call.zone.id))


def get_job(call: Call) -> Answer:
    """One log job."""
    return succeeded(_own(call))


def create_job(call: Call) -> Answer:
    """A new log job; only its destination must be given."""
    _entitled(call)
    sent = _taken(call, _CREATED)
    name = sent.get("name")
    if name is not None and (not isinstance(name, str) or not _NAME.fullmatch(name)):
        raise _invalid("name", "must have letters, digits, '-' and '.' alone")
    dataset = sent.get("dataset", HTTP_REQUESTS)
    if dataset not in DATASETS:
        raise _invalid("dataset", f"must be one of {', '.join(DATASETS)}")
    job: Document = {
        "dataset": dataset,
        "name": name or "",
        "enabled": False,
        "frequency": "high",
        "logpull_options": None,
        "destination_conf": "",
        "last_complete": None,
        "last_error": None,
        "error_message": None,
        **_settings(sent, dataset),
    }
    if "destination_conf" not in job or not job["destination_conf"]:
        raise _invalid("destination_conf", "is required")
    _prove(call, _destination(sent), sent.get("ownership_challenge"))
    call.effect = "applied"
    return _answered(call, call.state.log_jobs.add(call.zone.id, job))


def update_job(call: Call) -> Answer:
    """Change a log job; what is not sent stays."""
    _entitled(call)
    job = _own(call)
    sent = _taken(call, _UPDATED)
    patch = _settings(sent, job["dataset"])
    challenge = sent.get("ownership_challenge")
    now = destinations.parsed(job["destination_conf"])
    then = _destination(sent) if "destination_conf" in sent else now
    if challenge is not None or then.place != now.place:
        _prove(call, then, challenge)
    call.effect = "applied"
    return _answered(call, call.state.log_jobs.change(call.zone.id, job["id"], patch))


def challenge_ownership(call: Call) -> Answer:
    """Write a challenge to the destination; who owns it can read it there."""
    _entitled(call)
    destination = _destination(_taken(call, ("destination_conf",)))
    if not destination.needs_challenge:
        if call.options.log_jobs.needless_challenge == "refuse":
            raise _invalid("destination_conf", "needs no ownership challenge")
        return succeeded({"filename": "", "valid": True, "message": ""})
    challenge = call.state.log_jobs.new_challenge(call.zone.id, destination.place)
    path = destination.path.partition(destinations.DATE)[0].rstrip("/")
    filename = f"{path}/ownership-challenge-{new_id()[:8]}.txt".lstrip("/")
    try:
        put_object(call.state.logs.buckets, destination, filename, challenge.encode())
    except DeliveryError as error:
        return succeeded({"filename": "", "valid": False, "message": str(error)})
    call.effect = "applied"
    return succeeded({"filename": filename, "valid": True, "message": ""})


def validate_ownership(call: Call) -> Answer:
    """Whether a challenge proves the ownership of a destination."""
    _entitled(call)
    sent = _taken(call, ("destination_conf", "ownership_challenge"))
    return succeeded({"valid": _proven(call, _destination(sent), sent.get("ownership_challenge"))})


def _entitled(call: Call) -> None:
    if call.zone.zone.plan != "enterprise":
        raise refusal(call.options.log_jobs.not_entitled)


def _taken(call: Call, keys: tuple[str, ...]) -> dict[str, Json]:
    """The body's `keys`. Others are refused, or passed over, as the options say."""
    sent = call.object()
    if call.options.log_jobs.unknown_keys == "refuse":
        for key in sent:
            if key not in keys:
                raise _invalid(key[:80], f"cannot be given: this call takes {', '.join(keys)}")
    return {key: value for key, value in sent.items() if key in keys}


def _settings(sent: dict[str, Json], dataset: str) -> Document:
    """What of a job's settings was sent, when it is right."""
    found: dict[str, Any] = {}
    if "enabled" in sent:
        if not isinstance(sent["enabled"], bool):
            raise _invalid("enabled", "must be a boolean")
        found["enabled"] = sent["enabled"]
    if "frequency" in sent:
        if sent["frequency"] not in ("high", "low"):
            raise _invalid("frequency", "must be one of high, low")
        found["frequency"] = sent["frequency"]
    if "logpull_options" in sent:
        text = sent["logpull_options"]
        if text is not None and not isinstance(text, str):
            raise _invalid("logpull_options", "must be a string")
        try:
            pull_options.parsed(text, dataset)
        except ValueError as error:
            raise _invalid("logpull_options", f"is invalid: {error}") from None
        found["logpull_options"] = text
    if "destination_conf" in sent:
        _destination(sent)
        found["destination_conf"] = sent["destination_conf"]
    return found


def _destination(sent: dict[str, Json]) -> Destination:
    address = sent.get("destination_conf")
    if not isinstance(address, str) or not address:
        raise _invalid("destination_conf", "is required and must be a string")
    try:
        return destinations.parsed(address)
    except ValueError as error:
        raise _invalid("destination_conf", f"is not a destination: {error}") from None


def _prove(call: Call, destination: Destination, challenge: Json) -> None:
    if not _proven(call, destination, challenge):
        raise refusal(call.options.log_jobs.wrong_challenge)


def _proven(call: Call, destination: Destination, challenge: Json) -> bool:
    if not destination.needs_challenge:
        return True
    return isinstance(challenge, str) and call.state.log_jobs.proves(
        call.zone.id, destination.place, challenge.strip()
    )


def _answered(call: Call, job: Document | None) -> Answer:
    """What a write of a job answers, which is not known."""
    match call.options.log_jobs.answer:
        case "bare":
            return Answer(200, job)
        case "empty":
            return Answer(200, text="")
    return succeeded(job)


def _own(call: Call) -> Document:
    text = call.params["job_id"]
    right = text.isascii() and text.isdigit() and int(text[:18]) > 0
    job = call.state.log_jobs.get(call.zone.id, int(text[:18])) if right else None
    if job is None:
        raise refuse(404, f"could not find log job {text[:20]}", 10003)
    return job


def _invalid(key: str, why: str) -> Exception:
    return refuse(400, f"{key} {why}", _INVALID, pointer=f"/{key}")


_READ, _EDIT = ("logs:read",), ("logs:edit",)
_JOBS = "/zones/{zone_id}/logpush/jobs"
_OWNERSHIP = "/zones/{zone_id}/logpush/ownership"
ROUTES = [
    Route("GET", _JOBS, "logpush.jobs.list", list_jobs, _READ),
    Route("POST", _JOBS, "logpush.jobs.create", create_job, _EDIT, confidential=True),
    Route("GET", _JOBS + "/{job_id}", "logpush.jobs.get", get_job, _READ),
    Route("PUT", _JOBS + "/{job_id}", "logpush.jobs.update", update_job, _EDIT, confidential=True),
    Route("POST", _OWNERSHIP, "logpush.ownership", challenge_ownership, _EDIT, confidential=True),
    Route(
        "POST",
        _OWNERSHIP + "/validate",
        "logpush.ownership.validate",
        validate_ownership,
        _EDIT,
        confidential=True,
    ),
]
