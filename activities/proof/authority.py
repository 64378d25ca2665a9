"""Whose word a step rests on, just before it is sent: the worker's own roots and signed statements in the
archive, and nothing that a message says of policy, plan, people or evidence.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from typing import NamedTuple

from activities.proof.commit_caps import CommitCaps
from activities.proof.evidence_at_the_door import evidence_gathered, evidence_passes
from activities.proof.listed_targets import ListedTargets, Targets
from activities.proof.records import WorkerRecords
from edgeshift.authority.door import Asked, Earlier, agreed_then, begun_again, decided, halted, rejects
from edgeshift.authority.last_start import last_start_of
from edgeshift.authority.last_word import last_word
from edgeshift.authority.loading import RootsError, RootsFiles
from edgeshift.authority.records import Looked, SignedRecords, as_far_as_read
from edgeshift.authority.roots import Role, Roots, asking, leads_away, policy_by
from edgeshift.authority.sshsig import PublicKey
from edgeshift.authority.starts import (
    campaign_refused,
    start_of,
    starts_alike,
    starts_by_file,
    starts_then,
    target_refused,
)
from edgeshift.authority.statements import Attested, StartStatement, WordStatement
from edgeshift.campaign_file.spec import CampaignSpec
from edgeshift.messages import UNSIGNED, Change, Step, ZoneStart
from edgeshift.model.fleet import Target
from edgeshift.model.sign_off import SignOffPolicy
from edgeshift.runtime.clock import SystemClock
from edgeshift.runtime.secret_refs import SecretRefError, said_or_kept
from edgeshift.stores.archive import Archive, ArchiveError
from edgeshift.stores.documents import Intent, intents_at

Specs = Callable[[str], Awaitable[CampaignSpec]]
"""The specification with a digest, its durations scaled."""

MOST_PASSED = 1_000
"""Steps whose evidence passed, of which a worker remembers that."""

MOST_NAMED = 20
"""Damaged statements that a worker names each time that it comes upon some."""

NO_ROOTS = (
    "this worker has no roots of authority, and changes nothing but a rehearsal on this machine:"
    " set EDGESHIFT_AUTHORITY_ROOTS"
)
LEADS_AWAY = (
    "this worker has no roots of authority, and sends nothing beyond this machine:"
    " set EDGESHIFT_AUTHORITY_ROOTS, or change "
)


class NotSigned(Exception):
    """A step does not rest on what people signed. ``halted``: it did, and the campaign was paused since;
    ``full``: so too, and the roots let no more commits through for now; ``uncounted``: all but its sign-off
    is there; ``aborted_by``: who has ended the campaign.
    """

    def __init__(
        self,
        reason: str,
        *,
        halted: bool = False,
        full: bool = False,
        uncounted: bool = False,
        aborted_by: str = "",
    ) -> None:
        super().__init__(reason)
        self.halted = halted
        self.full = full
        self.uncounted = uncounted
        self.aborted_by = aborted_by


class NotLetByRoots(NotSigned):
    """The roots do not know the service, or another address or reference of the campaign file; or of a
    rollback, who has started what it undoes, or agreed to it.
    """


class RootsUnreadable(NotLetByRoots):
    """Nobody can say, for the roots cannot be read now."""


class _Shown(NamedTuple):
    """A step whose evidence passed at its first check."""

    permit: str
    spec: str
    run: str
    target: Target
    digest: str
    evidence: str


class Authority:
    """What a worker's roots let through. ``roots``: None where it has none: then it changes only what lies on
    this machine.
    """

    def __init__(
        self, roots: RootsFiles | None, archive: Archive, recorded: WorkerRecords | None = None
    ) -> None:
        self._files = roots
        self._archive = archive
        self._records = SignedRecords(archive, self.knows)
        self._recorded = recorded or WorkerRecords(roots, archive, SystemClock())
        self._caps = CommitCaps(archive, self._recorded)
        self._lists = ListedTargets(self._recorded)
        self._passed: OrderedDict[_Shown, None] = OrderedDict()

    def refuses_service(self, spec: CampaignSpec) -> str | None:
        """Why nothing is sent where a campaign file says, least of all a credential; or None. Raises
        RootsUnreadable.
        """
        try:
            if (roots := self._current()) is not None:
                return roots.refuses_service(spec, said_or_kept)
            away = leads_away(spec, said_or_kept)
        except SecretRefError as why:
            return str(why)
        return NO_ROOTS if away == "service.base_url" else f"{LEADS_AWAY}{away}" if away else None

    async def refuses_own_secret(
        self, start: ZoneStart, spec: CampaignSpec, frozen: Targets, now: datetime
    ) -> str | None:
        """Why a target is not asked with its own secret, or None: where signatures count, it is one of those
        that people signed, by the name that it had there.
        """
        if (roots := asking(self._current())) is None:
            return None
        found = start_of(spec, start.spec, await self._records.starts(spec.name), roots, now)
        return found if isinstance(found, str) else await self._lists.foreign(start, spec, found, frozen)

    def policy_for(self, own: SignOffPolicy) -> SignOffPolicy:
        """A campaign's policy, made no weaker than what is asked for at the door; as it is where the roots
        cannot be read.
        """
        try:
            return policy_by(self._current(), own)
        except NotSigned:
            return own

    async def word_that_stops(self, digest: str, specs: Specs, now: datetime) -> WordStatement | None:
        """The last signed word to a campaign, where that is a pause or an abort: it holds whatever Temporal
        was told. ``digest``: of its specification. Raises ArchiveError, also where none is found among what
        can be read, and something cannot.
        """
        try:
            roots = asking(self._current())
        except NotSigned:
            roots = None
        if roots is None:
            return None
        spec = await specs(digest)
        found = start_of(spec, digest, await self._records.starts(spec.name), roots, now)
        if isinstance(found, str):
            return None
        words, damaged = await self._named(self._records.words(spec.name))
        word = last_word(words, found, roots, now)
        if word is not None and word.word != "resume":
            return word
        if damaged is not None:
            raise damaged
        return None

    async def _named(self, asked: Awaitable[tuple[Attested, ...]]) -> Looked:
        """What can be read of what is asked for, and what is damaged of it, which people are told of."""
        return await self._report_damage(await as_far_as_read(asked))

    async def _report_damage(self, looked: Looked) -> Looked:
        read, damaged = looked
        found = damaged.found[:MOST_NAMED] if damaged else ()
        for one in (*found, *await self._records.of_others()):
            await self._recorded.tell_damaged(one.name, one.key, one.data, one.why)
        return read, damaged

    def knows(self, key: PublicKey) -> bool:
        """Whether a key is anybody's, revoked or not; also where roots cannot be read, or there are none."""
        try:
            roots = self._current()
        except NotSigned:
            return True
        return roots is None or roots.signers.knows(key)

    def roots_or_none(self) -> Roots | None:
        """The roots as they are now; None without any. Raises NotSigned where they cannot be read."""
        return self._current()

    def _current(self) -> Roots | None:
        try:
            return self._files.current() if self._files else None
        except RootsError as why:
            raise RootsUnreadable(f"the worker's roots of authority cannot be read: {why}") from None

    async def check(self, change: Change, spec: CampaignSpec, frozen: Targets, now: datetime) -> None:
        """Raises NotSigned where the step does not rest on what people signed; ArchiveError where that cannot
        be read. ``spec``: of ``change.start.spec``, its durations scaled.
        """
        await self._refuse(change, spec, frozen, now)
        await self._refuse_full(change, spec, now, sent=False)

    async def _refuse_full(self, change: Change, spec: CampaignSpec, now: datetime, *, sent: bool) -> None:
        if full := await self._caps.full(change, spec.name, self._current(), now, sent=sent):
            raise NotSigned(str(full), halted=True, full=True)

    async def check_again(self, change: Change, spec: CampaignSpec, frozen: Targets, now: datetime) -> None:
        """As ``check``, of a step that was checked before, without the caps. Its evidence passed then, and
        does not change; people's words may have.
        """
        await self._refuse(change, spec, frozen, now, again=True)

    async def check_earlier(
        self, change: Change, spec: CampaignSpec, frozen: Targets, now: datetime, earlier: Earlier
    ) -> None:
        """As ``check``, of a step that is about to be sent, by what was sent before it: raises NotSigned
        where that used what people signed, where nobody has signed that its attempt begins, or where a cap is
        full.
        """
        if earlier.used or change.start.attempt != 1:
            await self._refuse(change, spec, frozen, now, again=True, earlier=earlier)
        await self._refuse_full(change, spec, now, sent=False)

    async def take_places(self, change: Change, spec: CampaignSpec, frozen: Targets, now: datetime) -> None:
        """Raises NotSigned where a cap has no place left for a commit whose intent is recorded by now."""
        await self._refuse_full(change, spec, now, sent=True)

    async def _refuse(
        self,
        change: Change,
        spec: CampaignSpec,
        frozen: Targets,
        now: datetime,
        *,
        again: bool = False,
        earlier: Earlier | None = None,
    ) -> None:
        """Raises NotSigned, as far as the roots ask for signatures."""
        start = change.start
        if why := self.refuses_service(spec):
            raise NotLetByRoots(why)
        roots = asking(self._current())
        if roots is None:
            return
        if why := campaign_refused(start, spec):
            raise NotSigned(why)
        if change.step is Step.ROLL_BACK:
            asked = await self._asked(change, spec, now, again=again)
            await self._refuse_rollback(change, asked, frozen, roots)
            return
        starts = await self._records.starts(spec.name)
        found = last_start_of(spec, start.spec, starts, roots, now)
        if isinstance(found, str):
            raise NotSigned(found)
        asked = await self._asked(change, spec, now, found.digest, again=again)
        asked = replace(asked, alike=starts_alike(found, starts), by_file=starts_by_file(found, starts))
        if earlier is not None:
            asked = replace(asked, earlier=earlier)
        if why := await self._lists.foreign(start, spec, found, frozen):
            raise NotSigned(why)
        words, damaged = await self._named(self._records.words(spec.name))
        word = last_word(words, found, roots, now)
        if why := halted(asked, word):
            assert word is not None
            if word.word == "abort":
                raise NotSigned(word.reason, aborted_by=word.by)
            raise NotSigned(why, halted=True)
        if damaged is not None:
            # It may be a pause or an abort.
            raise damaged
        if earlier is not None:
            agains, _ = await self._named(self._records.agains(asked.campaign, asked.target.zone.id))
            if why := begun_again(asked, found, agains, roots, now):
                raise NotSigned(why)
        await self._refuse_undecided(change, asked, found, roots, now)

    async def _refuse_rollback(self, change: Change, asked: Asked, frozen: Targets, roots: Roots) -> None:
        """Raises NotSigned where a rollback is of something that people had not started and agreed to.
        Nothing that was said or revoked since holds it back, nor does what anybody floods or damages.
        """
        starts, lost = await self._report_damage(await self._records.starts_as_far(asked.campaign))
        subjects = frozenset({change.digest, change.fingerprint})
        decisions, damaged = await self._named(self._records.decisions(asked.campaign, subjects, oldest=True))

        async def refuse(roots: Roots) -> None:
            await self._refuse_never_started(asked, frozen, starts, roots)
            await self._refuse_other_rollback(change, asked, starts, decisions, roots)

        try:
            await refuse(roots)
        except NotSigned as why:
            # It may rest on what can be read another time.
            if unread := next((one.unread for one in (lost, damaged) if one and one.unread), None):
                raise unread from None
            with suppress(NotSigned):
                await refuse(roots.knowing(starts, Role.STARTER).knowing(decisions, Role.APPROVER))
                why = NotLetByRoots(f"{why}, by the roots as they are")
            raise why from None

    async def _refuse_never_started(
        self, asked: Asked, frozen: Targets, starts: Sequence[Attested], roots: Roots
    ) -> None:
        """Raises NotSigned where no start that counted when it was given has the target in its list. Any of
        them will do: whoever has a revoked key can still sign others.
        """
        found = starts_then(asked.spec, asked.spec_digest, starts, roots)
        if isinstance(found, str):
            raise NotSigned(found)
        why, unread = "", None
        for said in found:
            assert isinstance(said.statement, StartStatement)
            try:
                targets = await frozen(said.statement.targets)
            except ArchiveError as failure:
                unread = failure
                continue
            if not (why := target_refused(asked.index, asked.target, said.statement, targets) or ""):
                return
        raise unread or NotSigned(why)

    async def _refuse_undecided(
        self, change: Change, asked: Asked, found: Attested, roots: Roots, now: datetime
    ) -> None:
        """Raises NotSigned where a step is not decided on as it has to be; StatementsDamaged where it is, by
        what can be read, and what cannot may be a rejection.
        """
        subjects = frozenset({change.digest, change.fingerprint})
        if change.step in UNSIGNED:
            await self._named(self._records.decisions(asked.campaign, subjects))
            return
        looks = await self._records.decided(asked.campaign, subjects, asked.target.zone.id)
        (decisions, damaged), (agains, lost) = [await self._report_damage(looked) for looked in looks]
        if isinstance(why := decided(asked, found, decisions, agains, roots, now), str):
            raise NotSigned(why, uncounted=True)
        if damaged is not None:
            raise damaged
        if lost is not None and any(rejects(said) for said in decisions):
            # A reopening voids what was approved before it, where somebody had rejected.
            raise lost

    async def _refuse_other_rollback(
        self,
        change: Change,
        asked: Asked,
        starts: Sequence[Attested],
        decisions: Sequence[Attested],
        roots: Roots,
    ) -> None:
        """Raises NotSigned where a rollback is of nothing that this campaign was to send: of no commit that
        is on record, or of one that people had not agreed to. What was agreed to is undone without asking
        (docs/rules.md, rule 7), and nothing else.
        """
        start, why = change.start, "nothing is on record that it would undo"
        unread: ArchiveError | None = None
        # As of then: a worker's key that was revoked since holds up no rollback.
        async for _, record in self._recorded.each(Intent, intents_at(start.target.zone, start.area)):
            if isinstance(record, ArchiveError):
                unread = record
                continue
            named = record.step, record.campaign, record.digest
            if named != (Step.COMMIT.value, start.campaign, change.digest):
                continue
            if agreed_then(replace(asked, attempt=record.in_attempt), record.at, starts, decisions, roots):
                return
            why = "people had not agreed to what it would undo"
        raise unread or NotSigned(why)

    async def _asked(
        self, change: Change, spec: CampaignSpec, now: datetime, *begun_by: str, again: bool
    ) -> Asked:
        start, run = change.start, change.start.origin or change.start.campaign_run
        shown = _Shown(change.permit.name, start.spec, run, start.target, change.digest, change.evidence)
        passed: bool | None = True
        if not again or shown not in self._passed:
            passed = await evidence_passes(self._archive, self._recorded, change, spec, now, begun_by)
        if passed and not again:
            self._passed[shown] = None
            while len(self._passed) > MOST_PASSED:
                self._passed.popitem(last=False)
        gathered = passed is not False
        if not gathered:
            gathered = await evidence_gathered(self._archive, self._recorded, change, begun_by)
        asked = Asked.of(start, spec, change.step, change.digest, change.fingerprint)
        return replace(asked, evidence_digest=change.evidence, passed=passed, gathered=gathered)
