"""Log jobs of a zone and the ownership of their destinations (docs/service.md §2.3, §4.2)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import SecretStr, ValidationError

from edgeshift.runtime.redaction import (
    destination_secrets,
    register_destination,
    register_secret,
    secret_forms,
)
from edgeshift.service_api.caller import BeforeSend, Caller
from edgeshift.service_api.confidential import LogJob, OwnershipChallenge, OwnershipValidity
from edgeshift.service_api.envelope import acknowledged
from edgeshift.service_api.identifiers import count, hex_id
from edgeshift.service_api.transport import Call


class LogJobCalls(Caller):
    """Reading and writing log jobs. Every write is sent once.

    Bodies may have ``destination_conf`` and ``ownership_challenge`` as SecretStr. Neither is repeated in an
    error, whatever the service says.
    """

    async def log_jobs(self, zone_id: str, *, urgent: bool = False) -> list[LogJob]:
        """Every log job of the zone, of any dataset; the list is not paged. Raises OddPages where the service
        says that there are more than it sent.
        """
        return await self._many(Call("logpush.jobs.list", "GET", _jobs(zone_id)), LogJob, urgent=urgent)

    async def request_log_fields(self, zone_id: str) -> frozenset[str]:
        """The names of the log fields that jobs of the dataset http_requests can list (docs/service.md §4.2).
        Raises NotUnderstood where the answer names none.
        """
        path = f"/zones/{hex_id(zone_id, 'zone id')}/logpush/datasets/http_requests/fields"
        call = Call("logpush.datasets.fields", "GET", path)
        result = (await self._envelope(call)).result
        if not isinstance(result, dict) or not result:
            raise self._not_understood(call, "expected an object with the names of log fields")
        return frozenset(result)

    async def log_job(self, zone_id: str, job_id: int, *, urgent: bool = False) -> LogJob:
        """One log job."""
        return await self._one(Call("logpush.jobs.get", "GET", _jobs(zone_id, job_id)), LogJob, urgent=urgent)

    async def create_log_job(
        self, zone_id: str, body: Mapping[str, Any], *, before_send: BeforeSend | None = None
    ) -> LogJob | None:
        """Create a log job: ``destination_conf`` and whatever else of docs/service.md §2.3 is wanted.

        What the service answers is not shown: None where no job can be read from a 2xx; list them then.
        """
        call = _call("logpush.jobs.create", "POST", _jobs(zone_id), body)
        return _job(await self._exchanged(call, acknowledged, before_send=before_send))

    async def update_log_job(
        self, zone_id: str, job_id: int, body: Mapping[str, Any], *, before_send: BeforeSend | None = None
    ) -> LogJob | None:
        """Update a log job: of ``destination_conf``, ``enabled``, ``frequency``, ``logpull_options``,
        ``output_options`` and ``ownership_challenge`` what is to change; what is not sent stays. None as for
        ``create_log_job``.
        """
        call = _call("logpush.jobs.update", "PUT", _jobs(zone_id, job_id), body)
        return _job(await self._exchanged(call, acknowledged, before_send=before_send))

    async def ownership_challenge(
        self, zone_id: str, destination_conf: SecretStr, *, before_send: BeforeSend | None = None
    ) -> OwnershipChallenge:
        """Have the service put a file with a challenge at the destination."""
        body = {"destination_conf": destination_conf}
        call = _call("logpush.ownership", "POST", _ownership(zone_id), body)
        return await self._one(call, OwnershipChallenge, before_send=before_send)

    async def validate_ownership(
        self,
        zone_id: str,
        destination_conf: SecretStr,
        challenge: SecretStr,
        *,
        before_send: BeforeSend | None = None,
    ) -> bool:
        """Whether ``challenge`` is the one that the service put at the destination."""
        body = {"destination_conf": destination_conf, "ownership_challenge": challenge}
        call = _call("logpush.ownership.validate", "POST", f"{_ownership(zone_id)}/validate", body)
        return (await self._one(call, OwnershipValidity, before_send=before_send)).valid is True


def _call(name: str, method: str, path: str, body: Mapping[str, Any]) -> Call:
    """A write whose errors repeat no secret of its body."""
    plain = {
        key: item.get_secret_value() if isinstance(item, SecretStr) else item for key, item in body.items()
    }
    secrets: list[str] = []
    if isinstance(destination := plain.get("destination_conf"), str):
        register_destination(destination)
        secrets += destination_secrets(destination)
    if isinstance(challenge := plain.get("ownership_challenge"), str):
        register_secret(challenge)
        secrets.append(challenge)
    forms = sorted({form for secret in secrets for form in secret_forms(secret)}, key=len, reverse=True)
    return Call(name, method, path, json=plain, write=True, secrets=tuple(forms))


def _job(document: Any) -> LogJob | None:
    try:
        return LogJob.of(document)
    except ValidationError:
        return None


def _jobs(zone_id: str, job_id: int | None = None) -> str:
    path = f"/zones/{hex_id(zone_id, 'zone id')}/logpush/jobs"
    return path if job_id is None else f"{path}/{count(job_id, 'job id')}"


def _ownership(zone_id: str) -> str:
    return f"/zones/{hex_id(zone_id, 'zone id')}/logpush/ownership"
