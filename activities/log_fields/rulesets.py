"""Writing a zone's ruleset of custom log fields while others write it too (docs/service.md §2.2, §4.2)."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from activities.change.area_work import Step
from activities.change.fence import NotSent
from activities.log_fields.rollback_log import RollbackLog
from activities.stable_read import twice
from edgeshift.areas import log_fields
from edgeshift.areas.log_fields.rules import Rule
from edgeshift.areas.log_fields.terms import FieldSet
from edgeshift.messages import ChangeResult, ChangeStatus
from edgeshift.messages import Step as Kind
from edgeshift.model.counts import agreed
from edgeshift.service_api import NotFound, ServiceClient, ServiceError
from edgeshift.service_api.caller import BeforeSend
from edgeshift.service_api.models import Ruleset

T = TypeVar("T")

MOST_PUTS = 8
"""How often the rules are put in one step, each time because somebody else wrote in the meantime."""

ANSWERED = ChangeResult(status=ChangeStatus.ANSWERED)

RuleChange = Callable[[list[Rule], str], list[Rule]]
"""Our change, made to any rules; with the version over which it is to be written."""


@dataclass
class Written:
    """What a step did, for its record. ``overwritten``: versions of others that our writes replaced, and that
    were put back.
    """

    ruleset: str = ""
    created_ruleset: bool = False
    versions: list[int] = field(default_factory=list)
    overwritten: list[int] = field(default_factory=list)
    jobs: list[int] = field(default_factory=list)
    created_job: str = ""
    notes: list[str] = field(default_factory=list)
    sent: bool = False


async def write(
    step: Step, written: Written, what: str, request: Callable[[BeforeSend], Awaitable[object]]
) -> ChangeResult:
    """One fenced request of a step that has several, each with its own intent."""

    async def intend() -> None:
        await step.fence.intend(what)

    result = await step.fence.send(lambda: request(intend))
    await step.fence.confirm(result)
    if result.status is ChangeStatus.ANSWERED:
        await step.fence.close()
    if result.status in (ChangeStatus.ANSWERED, ChangeStatus.UNKNOWN):
        written.sent = True
    return result


async def in_time(step: Step, reading: Coroutine[Any, Any, T]) -> T:
    """A reading within what is left of the step's time. Raises NotSent."""
    try:
        async with asyncio.timeout(max(0.0, step.fence.time_left().total_seconds())):
            return await reading
    except TimeoutError:
        raise NotSent("a fresh reading did not come in time", turn=False) from None


async def find_ruleset(client: ServiceClient, zone_id: str) -> Ruleset | None:
    """The zone's ruleset of the phase with its rules, or None."""
    for listed in await client.rulesets(zone_id, urgent=True):
        if listed.kind == "zone" and listed.phase == log_fields.PHASE and listed.id:
            try:
                return await client.ruleset(zone_id, listed.id, urgent=True)
            except NotFound:
                return None
    return None


async def agreed_ruleset(client: ServiceClient, zone_id: str) -> Ruleset | None:
    """The same, read alike twice in a row: its rules are sent back as they are."""
    return await twice(
        "rulesets.get",
        lambda: find_ruleset(client, zone_id),
        lambda found: found and (found.id, found.version, found.raw.get("rules")),
    )


def version_of(ruleset: Ruleset) -> log_fields.Version:
    """A ruleset as a version. Raises NotSent where it cannot be read as one."""
    rules = ruleset.raw.get("rules") or []
    if odd := log_fields.unsound(rules):
        raise NotSent(odd, ChangeStatus.DRIFTED)
    if not str(ruleset.version).isdigit():
        raise NotSent(f"the ruleset's version is {str(ruleset.version)[:20]!r}, and not a number")
    return log_fields.Version(int(str(ruleset.version)), rules)


async def versions_since(
    client: ServiceClient, zone_id: str, ruleset_id: str, base: int, present: log_fields.Version
) -> list[log_fields.Version]:
    """Every version after ``base``, as far as it can be read."""
    found = [present] if present.number > base else []
    for number in range(base + 1, present.number):
        try:
            one = await client.ruleset_version(zone_id, ruleset_id, number, urgent=True)
        except NotFound:
            continue
        rules = one.raw.get("rules") or []
        if log_fields.unsound(rules) is None:
            found.append(log_fields.Version(number, rules))
    return found


async def lost_since(
    client: ServiceClient, zone_id: str, trail: RollbackLog, ruleset: Ruleset | None, wanted: FieldSet
) -> str:
    """What of others a write of ours has cost after all, or empty: somebody may have written late what he
    read before it was put back.
    """
    first = await trail.first(str(ruleset.id)) if ruleset is not None else None
    if ruleset is None or first is None:
        return ""
    present = version_of(ruleset)
    since = await versions_since(client, zone_id, str(ruleset.id), first.number, present)
    found = log_fields.reconcile(
        first,
        await trail.sent(str(ruleset.id)),
        since,
        lambda rules: log_fields.merge(rules, wanted),
    )
    if found.put is None or not found.overwritten:
        return ""
    return (
        f"version {present.number} of the ruleset, by somebody else, lacks what"
        f" {_versions(found.overwritten)} had"
    )


def _versions(numbers: Sequence[int]) -> str:
    return f"{agreed(len(numbers), 'version')} {', '.join(map(str, numbers))}"


class RulesetWriter:
    """Puts the rules as often as it takes until ours are in, or out, and nobody's are lost."""

    def __init__(self, step: Step, trail: RollbackLog, written: Written, change: RuleChange) -> None:
        self._step, self._trail, self._written, self._change = step, trail, written, change
        self._put_over: int | None = None

    async def put(self) -> ChangeResult:
        """Make the change. Raises NotSent."""
        back = self._step.change.step is Kind.ROLL_BACK
        for number in range(1, MOST_PUTS + 1):
            ruleset = await in_time(self._step, agreed_ruleset(self._step.client, self._step.zone.id))
            if ruleset is None:
                if back:
                    return ANSWERED
                result = await self._create(number)
                if result is not None:
                    return result
                continue
            result = await self._put_once(ruleset, number)
            if result is not None:
                return result
        return ChangeResult(
            status=ChangeStatus.NOTHING_HAPPENED,
            reason=f"somebody else wrote the ruleset {MOST_PUTS} times meanwhile",
        )

    async def _create(self, number: int) -> ChangeResult | None:
        """Create the ruleset. None: go on; it is there, by us or by somebody else."""
        zone_id = self._step.zone.id
        result = await write(
            self._step,
            self._written,
            f"-ruleset-{number}",
            lambda intend: self._step.client.create_ruleset(zone_id, log_fields.RULESET, before_send=intend),
        )
        if result.status is ChangeStatus.ANSWERED:
            self._written.created_ruleset = True
            return None
        if result.status in (ChangeStatus.REFUSED, ChangeStatus.UNKNOWN):
            try:
                found = await in_time(self._step, find_ruleset(self._step.client, zone_id))
            except (ServiceError, NotSent):
                return result
            if found is not None:
                # A zone has one ruleset of the phase: whoever made it, nothing more can come of ours.
                await self._step.fence.close()
                return None
        return result

    async def _put_once(self, ruleset: Ruleset, number: int) -> ChangeResult | None:
        """Look, and put once. None: look again."""
        step, zone_id, ruleset_id = self._step, self._step.zone.id, str(ruleset.id)
        self._written.ruleset = ruleset_id
        present = version_of(ruleset)
        base = await self._trail.base(ruleset_id, present)
        sent = await self._trail.sent(ruleset_id)
        since = await in_time(
            step,
            twice(
                "rulesets.versions.get",
                lambda: versions_since(step.client, zone_id, ruleset_id, base.number, present),
            ),
        )
        found = log_fields.reconcile(
            base, sent, since, lambda rules: self._change(list(rules), str(present.number))
        )
        self._written.versions = list(found.written)
        self._written.overwritten = list(found.overwritten)
        if lost := [number for number in found.overwritten if number in found.unread]:
            versions = _versions(lost)
            note = f"what {versions} of the ruleset had was replaced and cannot be read: see to it"
            if note not in self._written.notes:
                self._written.notes.append(note)
            if step.change.step is Kind.COMMIT:
                return ChangeResult(status=ChangeStatus.REFUSED, reason=note)
        if found.put is None:
            return ANSWERED
        if step.change.step is Kind.COMMIT and log_fields.count(found.put) > log_fields.MOST_FIELDS:
            said = (
                f"with what others have added the zone would have {log_fields.count(found.put)} custom fields"
            )
            return ChangeResult(status=ChangeStatus.REFUSED, reason=said)
        if self._put_over is not None and present.number == self._put_over + 1:
            return ChangeResult(
                status=ChangeStatus.REFUSED, reason="the service stores other rules than those that were sent"
            )
        known = {rule.get("id") for rule in present.rules}
        # A rule that is not there any more gets a new id, and keeps its ref.
        rules = [
            rule if rule.get("id") in known else {k: v for k, v in rule.items() if k != "id"}
            for rule in found.put
        ]
        await self._trail.sending(ruleset_id, present.number, rules)
        self._put_over = present.number
        result = await write(
            step,
            self._written,
            f"-rules-{number}",
            lambda intend: step.client.put_ruleset(zone_id, ruleset_id, {"rules": rules}, before_send=intend),
        )
        if result.status is ChangeStatus.UNKNOWN and await self._landed(present.number, rules):
            await step.fence.close()
            return None
        if result.status is ChangeStatus.REFUSED and await self._deleted(ruleset_id):
            # Versions of another ruleset are counted anew.
            self._put_over = None
            return None
        return None if result.status is ChangeStatus.ANSWERED else result

    async def _deleted(self, ruleset_id: str) -> bool:
        """Whether a refusal came of somebody's having deleted the ruleset since it was read."""
        try:
            ruleset = await in_time(self._step, find_ruleset(self._step.client, self._step.zone.id))
        except (ServiceError, NotSent):
            return False
        return ruleset is None or ruleset.id != ruleset_id

    async def _landed(self, over: int, rules: list[Rule]) -> bool:
        """Whether a write whose answer was lost shows already. Where it does not, it may still come."""
        step = self._step
        try:
            ruleset = await in_time(step, find_ruleset(step.client, step.zone.id))
            if ruleset is None:
                return False
            present = version_of(ruleset)
            since = await in_time(
                step, versions_since(step.client, step.zone.id, str(ruleset.id), over, present)
            )
        except (ServiceError, NotSent):
            return False
        sent = log_fields.Sent(over, rules)
        base = log_fields.Version(over, ())
        return bool(log_fields.reconcile(base, [sent], since, list).written)
