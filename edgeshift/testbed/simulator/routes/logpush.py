"""Log jobs of a zone, and the proof that their destinations are the customer's own (docs/service.md §2.3,
§4.2)."""

import asyncio
import re
from collections.abc import Collection
from functools import partial
from typing import Any

from edgeshift.testbed.simulator.answers import Answer, Json, refuse, succeeded
from edgeshift.testbed.simulator.calls import Call, Handler, Route
from edgeshift.testbed.simulator.log_jobs import Document
from edgeshift.testbed.simulator.logs import destinations, output_options, pull_options
from edgeshift.testbed.simulator.logs.destinations import Destination
from edgeshift.testbed.simulator.logs.field_names import DATASETS, HTTP_REQUESTS, described
from edgeshift.testbed.simulator.logs.sending import DeliveryError, put_object
from edgeshift.testbed.simulator.migration import refusal
from edgeshift.testbed.simulator.routes.bodies import without_nulls
from edgeshift.testbed.simulator.rulesets import new_id

_NAME = re.compile(r"[a-zA-Z0-9\-.]*")
_UPDATED = (
    "destination_conf",
    "enabled",
    "frequency",
    "logpull_options",
    "output_options",
    "ownership_challenge",
)
_CREATED = (*_UPDATED, "name", "dataset")
# What else the service's clients give a job: kept as it was sent and answered again, and of no effect here.
_KEPT = {
    "filter": str,
    "kind": str,
    "max_upload_bytes": int,
    "max_upload_interval_seconds": int,
    "max_upload_records": int,
}
# A null in these has a meaning: what was set before is gone.
_EMPTIED = ("logpull_options", "output_options", "filter")
_INVALID = 1003


def list_jobs(call: Call) -> Answer:
    """The zone's log jobs."""
    return succeeded([_shown(call, job) for job in call.state.log_jobs.of_zone(call.zone.id)])


def get_job(call: Call) -> Answer:
    """One log job."""
    return succeeded(_shown(call, _own(call)))


def _shown(call: Call, job: Document) -> Document:
    """A job as readings show it: the usual dataset may go without saying."""
    how = call.options.log_jobs.dataset
    if how == "named" or job["dataset"] != HTTP_REQUESTS:
        return job
    return {**job, "dataset": None} if how == "null" else {k: v for k, v in job.items() if k != "dataset"}


def create_job(call: Call) -> Answer:
    """A new log job; only its destination must be given."""
    _entitled(call)
    sent = _taken(call, _CREATED, _KEPT)
    name = sent.get("name")
    if name is not None and (not isinstance(name, str) or not _NAME.fullmatch(name)):
        raise _invalid("name", "must have letters, digits, '-' and '.' alone")
    dataset = _dataset(sent.get("dataset", HTTP_REQUESTS))
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
        **_settings(call, sent, dataset),
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
    sent = _taken(call, _UPDATED, _KEPT)
    patch = _settings(call, sent, job["dataset"])
    challenge = sent.get("ownership_challenge")
    now = destinations.parsed(job["destination_conf"])
    then = _destination(sent) if "destination_conf" in sent else now
    if challenge is not None or then.place != now.place:
        _prove(call, then, challenge)
    call.effect = "applied"
    return _answered(call, call.state.log_jobs.change(call.zone.id, job["id"], patch))


def delete_job(call: Call) -> Answer:
    """Delete a log job; the answer names its id alone."""
    _entitled(call)
    job = _own(call)
    call.state.log_jobs.remove(call.zone.id, job["id"])
    call.effect = "applied"
    return succeeded({"id": job["id"]})


def list_dataset_jobs(call: Call) -> Answer:
    """The zone's log jobs of one dataset."""
    dataset = _dataset(call.params["dataset"])
    jobs = [job for job in call.state.log_jobs.of_zone(call.zone.id) if job["dataset"] == dataset]
    return succeeded([_shown(call, job) for job in jobs])


def list_dataset_fields(call: Call) -> Answer:
    """The log fields of a dataset, by name, each with the kind of its value."""
    return succeeded(described(_dataset(call.params["dataset"])))


def validate_destination(call: Call) -> Answer:
    """Whether an address could be a job's destination."""
    address = _taken(call, ("destination_conf",)).get("destination_conf")
    try:
        destinations.parsed(address if isinstance(address, str) else "")
    except ValueError as error:
        return succeeded({"valid": False, "message": f"not a destination: {error}"})
    return succeeded({"valid": True, "message": ""})


def destination_exists(call: Call) -> Answer:
    """Whether a job of the zone pushes to the place already."""
    place = _destination(_taken(call, ("destination_conf",))).place
    jobs = call.state.log_jobs.of_zone(call.zone.id)
    found = any(destinations.parsed(job["destination_conf"]).place == place for job in jobs)
    return succeeded({"exists": found})


def validate_origin(call: Call) -> Answer:
    """Whether a parameter string could be a job's."""
    text = _taken(call, ("logpull_options",)).get("logpull_options")
    try:
        given = text if isinstance(text, str) else "fields="
        pull_options.parsed(given, HTTP_REQUESTS, any_field=_any_field(call))
    except ValueError as error:
        return succeeded({"valid": False, "message": str(error)})
    return succeeded({"valid": True, "message": ""})


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
    put = partial(put_object, call.state.logs.buckets, destination, filename, challenge.encode())
    if seconds := call.options.log_jobs.challenge_seconds:
        late = call.state.clock.lasting(seconds).total_seconds()
        asyncio.get_running_loop().call_later(late, put)
    else:
        try:
            put()
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


def _taken(call: Call, keys: Collection[str], more: Collection[str] = ()) -> dict[str, Json]:
    """The body's `keys`, and null in them only where it means something.

    Others are passed over, or refused where the options say so; then `more` are others too.
    """
    sent, bodies = call.object(), call.options.bodies
    if bodies.unknown_keys == "refuse":
        more = ()
        for key in sent:
            if key not in keys:
                raise _invalid(key[:80], f"cannot be given: this call takes {', '.join(keys)}")
    if bodies.nulls == "ignore":
        # What is null inside of output_options is not given either.
        sent = {
            key: without_nulls(value) for key, value in sent.items() if value is not None or key in _EMPTIED
        }
    return {key: value for key, value in sent.items() if key in keys or key in more}


def _dataset(name: Json) -> str:
    if not isinstance(name, str) or name not in DATASETS:
        raise _invalid("dataset", f"must be one of {', '.join(DATASETS)}")
    return name


def _any_field(call: Call) -> bool:
    """Whether a job may list log fields that its dataset does not have (docs/service.md §4.2)."""
    return call.options.log_jobs.unknown_fields == "ignore"


def _settings(call: Call, sent: dict[str, Json], dataset: str) -> Document:
    """What of a job's settings was sent, when it is right."""
    found: dict[str, Any] = {}
    any_field = _any_field(call)
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
            pull_options.parsed(text, dataset, any_field=any_field)
        except ValueError as error:
            raise _invalid("logpull_options", f"is invalid: {error}") from None
        found["logpull_options"] = text
    if "output_options" in sent:
        options = sent["output_options"]
        wrong = output_options.problem(options, dataset, any_field=any_field) if options is not None else None
        if wrong:
            raise _invalid("/".join(filter(None, ("output_options", wrong[0]))), wrong[1])
        found["output_options"] = options
    for key, kind in _KEPT.items():
        if key in sent:
            if sent[key] is not None and (isinstance(sent[key], bool) or not isinstance(sent[key], kind)):
                raise _invalid(key, f"must be {'a string' if kind is str else 'an integer'}")
            found[key] = sent[key]
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
    # More digits than the store's integers have are no job's id.
    right = text.isascii() and text.isdigit() and len(text) <= 18
    job = call.state.log_jobs.get(call.zone.id, int(text)) if right else None
    if job is None:
        raise refuse(404, f"could not find log job {text[:20]}", 10003)
    return job


def _invalid(key: str, why: str) -> Exception:
    return refuse(400, f"{key} {why}", _INVALID, pointer=f"/{key}")


_READ, _EDIT = ("logs:read",), ("logs:edit",)
_LOGS = "/zones/{zone_id}/logpush"
_JOBS, _JOB = _LOGS + "/jobs", _LOGS + "/jobs/{job_id}"
_DATASET, _VALID = _LOGS + "/datasets/{dataset}", _LOGS + "/validate"
_OWNED = _LOGS + "/ownership"


def _secret(path: str, call: str, handler: Handler, *, method: str = "POST") -> Route:
    """A call whose body may have credentials in it."""
    return Route(method, path, call, handler, _EDIT, confidential=True)


ROUTES = [
    Route("GET", _JOBS, "logpush.jobs.list", list_jobs, _READ),
    _secret(_JOBS, "logpush.jobs.create", create_job),
    Route("GET", _JOB, "logpush.jobs.get", get_job, _READ),
    _secret(_JOB, "logpush.jobs.update", update_job, method="PUT"),
    Route("DELETE", _JOB, "logpush.jobs.delete", delete_job, _EDIT),
    Route("GET", _DATASET + "/jobs", "logpush.datasets.jobs", list_dataset_jobs, _READ),
    Route("GET", _DATASET + "/fields", "logpush.datasets.fields", list_dataset_fields, _READ),
    _secret(_VALID + "/destination", "logpush.validate.destination", validate_destination),
    _secret(_VALID + "/destination/exists", "logpush.validate.destination_exists", destination_exists),
    Route("POST", _VALID + "/origin", "logpush.validate.origin", validate_origin, _EDIT),
    _secret(_OWNED, "logpush.ownership", challenge_ownership),
    _secret(_OWNED + "/validate", "logpush.ownership.validate", validate_ownership),
]
