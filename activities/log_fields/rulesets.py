"""Writing a zone's ruleset of custom log fields while others write it too (docs/service.md §2.2, §4.2)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar, cast

from activities.change.area_work import FencedStep, in_time
from activities.change.not_sent import NotSent
from activities.log_fields.rollback_log import RollbackLog
from activities.log_fields.ruleset_reading import (
    agreed_ruleset,
    find_ruleset,
    present_ruleset,
    version_of,
    versions_since,
)
from activities.stable_read import FRESH, twice
from edgeshift.areas import log_fields
from edgeshift.areas.log_fields.rules import Rule, over_version
from edgeshift.areas.log_fields.terms import FieldSet
from edgeshift.messages import ChangeResult, ChangeStatus, Step
from edgeshift.model.counts import agreed
from edgeshift.service_api import NotFound, Refused, ServiceClient, ServiceError
from edgeshift.service_api.caller import BeforeSend, Still
from edgeshift.service_api.models import Ruleset
from edgeshift.stores.archive import ArchiveCorrupt

T = TypeVar("T")

MOST_PUTS = 8
"""How often the rules are put in one step, each time because somebody else wrote in the meantime."""

READ_AGAIN_AFTER = 2.0
"""Seconds, at most, until a reading is made again that is older than what we have put."""

ONE_A_PHASE = 20217
"""The code of the refusal of a ruleset where the zone has one of the phase (docs/service.md §7, observed)."""

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
    step: FencedStep, written: Written, what: str, request: Callable[[BeforeSend], Awaitable[object]]
) -> ChangeResult:
    """One fenced request of a step that has several, each with its own intent."""

    async def intend() -> Still:
        return await step.fence.intend(what)

    result = await step.fence.send(lambda: request(intend))
    await step.fence.confirm(result)
    if result.status is ChangeStatus.ANSWERED:
        await step.fence.close()
    if result.status in (ChangeStatus.ANSWERED, ChangeStatus.UNKNOWN):
        written.sent = True
    return result


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


def _made_over(sent: Sequence[log_fields.OwnWrite], version: log_fields.Version) -> int:
    """How many writes were made over this version, as far as it is known."""
    return sum(item.over == version.number for item in sent)


class RulesetWriter:
    """Puts the rules as often as it takes until ours are in, or out, and nobody's are lost. ``seen``: the
    zone's ruleset, or that it has none, where that was read just now.

    ``_is_there``: the zone has a ruleset, as the answer to ours says, whatever readings say: a new one may
    show later (docs/service.md §4.2).
    """

    def __init__(
        self,
        step: FencedStep,
        trail: RollbackLog,
        written: Written,
        change: RuleChange,
        seen: Ruleset | object | None = FRESH,
    ) -> None:
        self._step, self._trail, self._written, self._change = step, trail, written, change
        self._seen = seen
        self._put_over: int | None = None
        self._is_there = False

    async def put(self) -> ChangeResult:
        """Make the change. Raises NotSent."""
        back = self._step.change.step is Step.ROLL_BACK
        for number in range(1, MOST_PUTS + 1):
            if number > 1:
                self._seen = await self._up_to_date(self._present)
                if await self._stands(self._seen):
                    return ANSWERED
            ruleset = await self._up_to_date(self._agreed)
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

    async def _present(self) -> Ruleset | None:
        return await present_ruleset(self._step.client, self._step.zone.id, self._written.ruleset)

    async def _agreed(self) -> Ruleset | None:
        client, zone_id = self._step.client, self._step.zone.id
        if self._seen is FRESH:
            self._seen = await find_ruleset(client, zone_id)
        seen, known = cast("Ruleset | None", self._seen), [self._written.ruleset]
        if seen is None and not self._written.ruleset:
            known = await self._trail.rulesets()
        return await agreed_ruleset(client, zone_id, seen, *known)

    @property
    def _pause(self) -> float:
        return min(self._step.change.start.policy.poll.total_seconds(), READ_AGAIN_AFTER)

    async def _up_to_date(self, read: Callable[[], Awaitable[Ruleset | None]]) -> Ruleset | None:
        """A reading in which what we have created and put shows. From one that lags behind, the same would be
        sent again, over what others have built on ours meanwhile. Raises NotSent: with an unknown outcome
        where rules of ours do not come to show in time.
        """
        behind = False

        async def reading() -> Ruleset | None:
            nonlocal behind
            while self._is_behind(found := await read()):
                behind, self._seen = True, FRESH
                await self._step.fence.connections.clock.sleep(self._pause)
            return found

        try:
            return await in_time(self._step, reading())
        except NotSent:
            if behind and self._put_over is None:
                # It has no rules of ours, so that nothing of the change has happened.
                raise NotSent("the ruleset that was created does not show yet", turn=False) from None
            if behind:
                raise NotSent("the rules that were put do not show yet", ChangeStatus.UNKNOWN) from None
            raise

    def _is_behind(self, ruleset: Ruleset | None) -> bool:
        if ruleset is None:
            return self._is_there
        if self._put_over is None or str(ruleset.id) != self._written.ruleset:
            return False
        return str(ruleset.version).isdigit() and int(str(ruleset.version)) <= self._put_over

    async def _stands(self, ruleset: Ruleset | None) -> bool:
        """Whether our change is in a ruleset that we have put, and nobody's rules are lost. One answer is
        enough for that: nothing is sent by it, and it is looked at again.
        """
        if ruleset is None or self._put_over is None:
            return False
        client, zone_id, ruleset_id = self._step.client, self._step.zone.id, str(ruleset.id)
        base = await self._trail.first(ruleset_id)
        if base is None:
            return False
        try:
            present = version_of(ruleset)
            await self._refuse_other_base(ruleset_id, base, present)
            since = await in_time(
                self._step, versions_since(client, zone_id, ruleset_id, base.number, present)
            )
        except (NotSent, ArchiveCorrupt):
            # One answer says so: it is read again.
            return False
        found = self._reconciled(base, await self._trail.sent(ruleset_id), since, present)
        if found.put is not None or found.overwritten:
            return False
        self._written.versions, self._written.overwritten = list(found.written), []
        return True

    def _reconciled(
        self,
        base: log_fields.Version,
        sent: Sequence[log_fields.OwnWrite],
        since: Sequence[log_fields.Version],
        present: log_fields.Version,
    ) -> log_fields.Reconciled:
        over = over_version(present.number, _made_over(sent, present))
        return log_fields.reconcile(base, sent, since, lambda rules: self._change(list(rules), over))

    async def _create(self, number: int) -> ChangeResult | None:
        """Create the ruleset, unless one was created that need not show yet. None: go on; it is there, by us
        or by somebody else.
        """
        if await self._trail.created_lately():
            self._is_there = True
            return None
        zone_id, exists = self._step.zone.id, False

        async def create(intend: BeforeSend) -> None:
            nonlocal exists
            client = self._step.client
            try:
                made = await client.create_ruleset(zone_id, log_fields.RULESET, before_send=intend)
            except Refused as refusal:
                exists = ONE_A_PHASE in refusal.codes
                raise
            self._written.ruleset = made.id or ""

        result = await write(self._step, self._written, f"-ruleset-{number}", create)
        if result.status is ChangeStatus.ANSWERED:
            self._written.created_ruleset = self._is_there = True
            return None
        if result.status in (ChangeStatus.REFUSED, ChangeStatus.UNKNOWN):
            found = await self._found(wait=exists or result.status is ChangeStatus.UNKNOWN)
            if found is not None:
                # A zone has one ruleset of the phase: whoever made it, nothing more can come of ours.
                self._written.ruleset, self._is_there = str(found.id), True
                await self._step.fence.close()
                return None
        return result

    async def _found(self, *, wait: bool) -> Ruleset | None:
        """The zone's ruleset, or None. ``wait``: it is there, or may be, and is looked for in all of the
        step's time.
        """

        async def reading() -> Ruleset | None:
            while (found := await self._present()) is None and wait:
                await self._step.fence.connections.clock.sleep(self._pause)
            return found

        try:
            return await in_time(self._step, reading())
        except (ServiceError, NotSent):
            return None

    async def _put_once(self, ruleset: Ruleset, number: int) -> ChangeResult | None:
        """Look, and put once. None: look again."""
        step, zone_id, ruleset_id = self._step, self._step.zone.id, str(ruleset.id)
        if ruleset_id != self._written.ruleset:
            self._put_over = None
        self._written.ruleset = ruleset_id
        present = version_of(ruleset)
        base = await self._trail.base(ruleset_id, present)
        await self._refuse_other_base(ruleset_id, base, present)
        sent = await self._trail.sent(ruleset_id)
        since = await in_time(
            step,
            twice(
                "rulesets.versions.get",
                lambda: versions_since(step.client, zone_id, ruleset_id, base.number, present),
            ),
        )
        found = self._reconciled(base, sent, since, present)
        self._written.versions = list(found.written)
        self._written.overwritten = list(found.overwritten)
        if lost := [number for number in found.overwritten if number in found.unread]:
            versions = _versions(lost)
            note = f"what {versions} of the ruleset had was replaced and cannot be read: see to it"
            if note not in self._written.notes:
                self._written.notes.append(note)
            if step.change.step is Step.COMMIT:
                return ChangeResult(status=ChangeStatus.REFUSED, reason=note)
        if found.put is None:
            return ANSWERED
        most, count = step.client.profile.most_log_fields, log_fields.count(found.put)
        if step.change.step is Step.COMMIT and most is not None and count > most:
            said = f"with what others have added the zone would have {count} custom fields"
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
        await self._trail.sending(ruleset_id, present.number, rules, _made_over(sent, present))
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

    async def _refuse_other_base(
        self, ruleset_id: str, base: log_fields.Version, present: log_fields.Version
    ) -> None:
        """Raises ArchiveCorrupt where the record of what was there before the first write is not what the
        service has as that version: our rules would be made of whatever somebody has put into the archive.
        One that the service has no more is believed.
        """
        client, zone_id = self._step.client, self._step.zone.id

        async def same() -> bool:
            if base.number == present.number:
                return log_fields.same_rules(base.rules, present.rules)
            try:
                found = await client.ruleset_version(zone_id, ruleset_id, base.number, urgent=True)
            except NotFound:
                return True
            rules = found.raw.get("rules") or []
            return log_fields.unsound(rules) is not None or log_fields.same_rules(base.rules, rules)

        # A difference is believed when it stays.
        known = 0 <= base.number <= present.number
        if not known or not (await in_time(self._step, same()) or await in_time(self._step, same())):
            key = self._trail.base_key(ruleset_id)
            raise ArchiveCorrupt(f"the record {key} in the archive is not what the service had then")

    async def _deleted(self, ruleset_id: str) -> bool:
        """Whether a refusal came of somebody's having deleted the ruleset since it was read."""
        try:
            ruleset = await in_time(self._step, self._present())
        except (ServiceError, NotSent):
            return False
        return ruleset is None or ruleset.id != ruleset_id

    async def _landed(self, over: int, rules: list[Rule]) -> bool:
        """Whether a write whose answer was lost shows already. Where it does not, it may still come."""
        step = self._step
        try:
            ruleset = await in_time(step, self._present())
            if ruleset is None:
                return False
            present = version_of(ruleset)
            since = await in_time(
                step, versions_since(step.client, step.zone.id, str(ruleset.id), over, present)
            )
        except (ServiceError, NotSent):
            return False
        sent = log_fields.OwnWrite(over, rules)
        base = log_fields.Version(over, ())
        return bool(log_fields.reconcile(base, [sent], since, list).written)
