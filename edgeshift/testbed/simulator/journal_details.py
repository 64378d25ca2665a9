"""What the journal says beyond a request's line, of calls on Edge Side Code, custom log fields, log jobs
and settings that are on or off.

Never a secret, a destination or an ownership challenge: only what was asked for, and what stood before and
after.
"""

from typing import Any

from edgeshift.testbed.simulator.answers import Answer, ApiError
from edgeshift.testbed.simulator.calls import Call
from edgeshift.testbed.simulator.esc_settings import account_scope, zone_scope
from edgeshift.testbed.simulator.journal import JournalEntry
from edgeshift.testbed.simulator.log_fields import PHASE
from edgeshift.testbed.simulator.logs.pull_options import parameters

_LOG_CALLS = ("rulesets.", "entrypoint.")
_JOB_CHANGES = ("logpush.jobs.update", "logpush.jobs.delete")
_JOB_SETTINGS = ("enabled", "frequency", "logpull_options", "output_options", "name", "dataset")
Described = dict[str, Any]


class Details:
    """The details of one call, gathered around its handling: whatever becomes of it, what it asked is kept.

    Nothing of it goes by the answer that is sent, which a fault may spoil.
    """

    def __init__(self, call: Call) -> None:
        self._call = call
        self._sent = _body(call)
        self._job = self._stored_job() if call.route.call in _JOB_CHANGES else None
        self._phase = self._phase_of() if call.route.call.startswith(_LOG_CALLS) else ""
        self._result: Any = None
        self._before: Any = self._value() if call.route.call.startswith("settings.") else ""

    def handled(self, answer: Answer) -> None:
        """The call was carried out, and this is the service's own answer."""
        document = answer.document
        self._result = document.get("result") if isinstance(document, dict) else None

    def fill(self, entry: JournalEntry) -> None:
        """Add what is known to the journal's entry."""
        name = self._call.route.call
        if name.startswith("esc."):
            entry.esc = {**self._esc(), **(self._call.esc or {})}
        elif self._phase == PHASE or name == "rulesets.list":
            entry.log_fields = self._log_fields()
        elif name.startswith("logpush.jobs."):
            entry.log_job = self._log_job()
        elif "setting" in self._call.params:
            entry.setting = self._setting()
        elif name == "settings.patch_many":
            entry.setting = {"sent": self._sent.get("items"), "before": self._before, "after": self._value()}

    def _setting(self) -> Described:
        """Which setting, and what it was and is."""
        found: Described = {"name": self._call.params["setting"], "before": self._before}
        if self._call.method == "PATCH":
            found["sent"] = self._sent.get("value")
        return found | {"after": self._value()}

    def _value(self) -> Any:
        """The value of the setting that the path names, or those of all."""
        record, name = self._call.record, self._call.params.get("setting")
        settings: dict[Any, str] = dict(record.zone.settings) if record is not None else {}
        return settings if name is None else settings.get(name, "off")

    def _esc(self) -> Described:
        """Which scope, and which of the two things that one POST path does was asked for."""
        params = self._call.params
        found: Described = {
            "scope": account_scope(params["account_id"])
            if "account_id" in params
            else zone_scope(params["zone_id"])
        }
        if self._call.method == "GET":
            found["shown"] = self._call.state.esc.visible(found["scope"]).checker()
        if self._call.method == "POST":
            found["asked"] = sorted(key for key in ("always", "with_secret") if key in self._sent)
            secret = self._sent.get("with_secret")
            if isinstance(secret, str):
                found["characters"] = len(secret)
        return found

    def _phase_of(self) -> str:
        call = self._call
        if "phase" in call.params:
            return call.params["phase"]
        if call.route.call == "rulesets.create":
            return str(self._sent.get("phase"))
        if "ruleset_id" in call.params and call.record is not None:
            found = call.state.rulesets.get(call.record.id, call.params["ruleset_id"])
            return str(found["phase"]) if found else ""
        return ""

    def _log_fields(self) -> Described | None:
        """The rules that were sent, and the version that was read or made."""
        found: Described = {}
        if self._call.method in ("POST", "PUT"):
            rules = self._sent.get("rules")
            found["rules"] = rules if isinstance(rules, list) else []
        shown = self._result
        if self._call.route.call == "rulesets.list":
            shown = next((one for one in shown or () if one["phase"] == PHASE), None)
            if shown is None:
                return None
        if isinstance(shown, dict) and self._call.route.call.startswith("rulesets.rules."):
            # A call that changes one rule is as good as one that sends all of them.
            found["rules"] = shown["rules"]
        if isinstance(shown, dict) and "version" in shown:
            found |= {"ruleset": shown["id"], "version": int(shown["version"])}
        elif isinstance(shown, list):
            found["versions"] = [int(one["version"]) for one in shown]
        return found

    def _stored_job(self) -> Any:
        text = self._call.params["job_id"]
        if self._call.record is None or not text.isascii() or not text.isdigit() or len(text) > 18:
            return None
        return self._call.state.log_jobs.get(self._call.record.id, int(text))

    def _log_job(self) -> Described:
        """The settings of one job, or of all: those that were sent, and those before and after."""
        call = self._call
        if call.route.call == "logpush.jobs.list":
            return {"jobs": [_settings(one) for one in self._result or ()]}
        found: Described = {"sent": _settings(self._sent)} if self._sent else {}
        if self._job is not None:
            found |= {"id": self._job["id"], "before": _settings(self._job), "after": _settings(self._job)}
        if call.effect != "none" and call.route.call == "logpush.jobs.delete":
            found["after"] = None
        elif call.effect != "none" and call.record is not None:
            stored = call.state.log_jobs.of_zone(call.record.id)
            changed = (
                stored[-1:] if self._job is None else [one for one in stored if one["id"] == found["id"]]
            )
            found |= {"id": changed[0]["id"], "after": _settings(changed[0])}
        return found


def _settings(job: Described) -> Described:
    """A job's settings without its destination; the parameter string taken apart. Options that have taken its
    place stand in the same way, their log fields as `fields`.
    """
    found = {key: job[key] for key in ("id", *_JOB_SETTINGS) if key in job}
    options, output = found.pop("logpull_options", None), found.pop("output_options", None)
    if isinstance(output, dict):
        found["options"] = told(output)
    elif isinstance(options, str):
        found["options"] = dict(parameters(options))
    return found


def told(output: Described) -> Described:
    """The object `output_options` as the parameters of a string would be told."""
    names = output.get("field_names")
    listed = {"fields": ",".join(map(str, names))} if isinstance(names, list) else {}
    return {key: item for key, item in output.items() if key != "field_names"} | listed


def _body(call: Call) -> Described:
    """The body as far as it is an object; a body that is none is refused elsewhere."""
    try:
        document = call.json() if call.body else {}
    except ApiError:
        return {}
    return document if isinstance(document, dict) else {}
