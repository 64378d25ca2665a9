"""What the doctor asks of the area log-fields: permissions, the store of log entries, the destination of new
log jobs.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from edgeshift.areas import log_fields
from edgeshift.areas.log_fields.terms import LogFieldsSpec
from edgeshift.campaign_file.spec import CampaignSpec
from edgeshift.doctor.check import Check, State, ok
from edgeshift.doctor.parts import DoctorPart, Reads
from edgeshift.model.check_codes import CheckCode
from edgeshift.model.fleet import Plan, Zone
from edgeshift.runtime.secret_refs import SecretRef, SecretRefError
from edgeshift.service_api import ServiceClient
from edgeshift.stores.log_entries import LogStore, LogStoreError


class LogFieldsDoctor(DoctorPart):
    """What custom log fields stand on."""

    rights = "give it permission to read and edit rulesets and log jobs of its zones"
    edits = "#logs"

    def readings(self, client: ServiceClient, spec: CampaignSpec, zone: Zone) -> Reads:
        """Rulesets, and log jobs where the service has them."""
        found: dict[str, Callable[[], Awaitable[object]]] = {"rulesets": lambda: client.rulesets(zone.id)}
        if zone.plan is Plan.ENTERPRISE:
            # The service has no log jobs for other zones.
            found["log jobs"] = lambda: client.log_jobs(zone.id)
        return found

    async def contradictions(self, client: ServiceClient, spec: CampaignSpec, zone: Zone) -> list[str]:
        """More fields than a zone is to take, and what only a later service has in log jobs and rules."""
        if zone.plan is not Plan.ENTERPRISE:
            return []
        profile, found = spec.service.facts, []
        jobs = [job.id for job in await client.log_jobs(zone.id) if job.output_options is not None]
        if jobs and not profile.takes_output_options:
            found.append(f"log job {jobs[0]} of {zone.name} has output_options")
        for listed in await client.rulesets(zone.id):
            if listed.kind != "zone" or listed.phase != log_fields.PHASE or not listed.id:
                continue
            rules = (await client.ruleset(zone.id, listed.id)).raw.get("rules") or []
            if log_fields.unsound(rules):
                continue
            fields, most = log_fields.count(rules), profile.most_log_fields
            if most is not None and fields > most:
                found.append(f"{zone.name} has {fields} custom log fields, and {most} are the most")
            if any(map(log_fields.raw_fields, rules)) and not profile.raw_response_fields:
                found.append(f"a rule of {zone.name} has raw_response_fields")
        return found

    async def checks(self, client: ServiceClient, spec: CampaignSpec, zone: Zone) -> list[Check]:
        """Whether entries can be read, and whether new log jobs have somewhere to push."""
        return [await _check_entries(spec, zone), *_check_job(spec)]


async def _check_entries(spec: CampaignSpec, zone: Zone) -> Check:
    """Whether log entries can be read from where the file says that they are."""
    code, name = CheckCode.LOG_ENTRIES, "log entries"
    entries = spec.section(LogFieldsSpec).entries
    if entries is None:
        said = "log_fields.entries is not given: that fields arrive will not be verified"
        return Check(code, name, State.WARNING, said, "say where the log jobs' entries can be read")
    try:
        async for _ in LogStore(entries, zone).entries():
            return ok(code, name, f"there are some of {zone.name}")
    except LogStoreError as problem:
        return Check(
            code, name, State.FAILED, str(problem), "see log_fields.entries and the store's credentials"
        )
    said = f"the store can be read; there are none of {zone.name} yet"
    return ok(code, name, said)


def _check_job(spec: CampaignSpec) -> list[Check]:
    """Whether the destination of new log jobs is where the file says."""
    job = spec.section(LogFieldsSpec).job
    if job is None:
        return []
    code, name = CheckCode.LOG_DESTINATION, f"log destination, {job.destination}"
    try:
        SecretRef(job.destination).resolve()
    except SecretRefError as problem:
        return [
            Check(code, name, State.FAILED, str(problem), "the worker needs it too, in its own surroundings")
        ]
    return [ok(code, name, "is there (it is not shown, and nothing is pushed to it here)")]


PART = LogFieldsDoctor()
