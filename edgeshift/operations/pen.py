"""The pen: what people ask of a campaign is signed with their keys, and recorded in the archive before
Temporal hears of it.
"""

from __future__ import annotations

import secrets
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Literal

from edgeshift.authority.last_start import dated_last, superseded_by, to_come
from edgeshift.authority.last_word import is_meant, last_word
from edgeshift.authority.records import SignedRecords, as_far_as_read, surely_read
from edgeshift.authority.roots import Role, Roots, asking
from edgeshift.authority.signing import Signer, SigningFailed
from edgeshift.authority.statements import (
    MOST_SUBJECTS,
    AgainStatement,
    Attested,
    DecisionStatement,
    RepairStatement,
    StartStatement,
    Statement,
    WaveSaid,
    WordStatement,
)
from edgeshift.campaign_file.spec import CampaignSpec
from edgeshift.messages import CampaignStart, Step, ZoneState
from edgeshift.model.counts import counted
from edgeshift.model.fleet import Area
from edgeshift.model.sign_off import Choice
from edgeshift.operations.errors import Refused
from edgeshift.operations.hands import Drafts, Hand, SignsNow
from edgeshift.operations.listed import refuse_unlisted
from edgeshift.operations.not_counted import would_not_count
from edgeshift.operations.signed_to import MOST_STOPPED, own_start, refused_here, to_each, to_stop
from edgeshift.stores.archive import Archive, ArchiveError

STANDS = timedelta(days=366)
"""How long a start and a word count."""

DECISION_STANDS = timedelta(days=90)
"""The longest that a decision counts, whatever the campaign's file says."""

HIGHEST = 1_000_000
"""The highest number of a word."""

SteeringWord = Literal["pause", "resume", "abort"]


ROLES: Mapping[type[Statement], Role] = {
    StartStatement: Role.STARTER,
    DecisionStatement: Role.APPROVER,
    WordStatement: Role.OPERATOR,
    AgainStatement: Role.OPERATOR,
    RepairStatement: Role.OPERATOR,
}
"""In which role people sign what: workers ask for the same (edgeshift/authority/door.py)."""


class Pen:
    """A person who signs. ``signer``: their key; or, where it is elsewhere, the drafts of what is to be
    signed there: then nothing is recorded. ``by``: their name, as the workers' roots have it. ``roots``:
    those that are known here; then what strangers have put into the archive is passed over, and each verb
    raises Refused, before anything is signed, where they would not count the person in its role
    (``refuse_without``). ``tell``: says something to whoever is asked for signatures, before.
    """

    def __init__(
        self,
        signer: Signer | Drafts,
        archive: Archive | ArchiveError,
        by: str,
        roots: Roots | None = None,
        tell: Callable[[str], None] | None = None,
    ) -> None:
        self.by, self._tell = by, tell
        self._hand: Hand = signer if isinstance(signer, Drafts) else SignsNow(signer)
        self._records = SignedRecords(archive)
        self._roots = roots

    def refuse_without(self, role: Role, *accounts: str) -> None:
        """Raises Refused where the roots that are known here would not count what this person signs in this
        role, on zones of these accounts. Without roots here nobody knows; and where those let names count,
        workers do not look at signatures. What is signed elsewhere is looked at when it is handed in.
        """
        roots, key = asking(self._roots), self._hand.key
        if roots is None or key is None:
            return
        now = datetime.now(UTC)
        for account in accounts or (None,):
            if why := roots.refuses_to_sign(self.by, role, now, key=key, account=account):
                raise would_not_count(why, roots, role)

    @property
    def counts(self) -> bool:
        """Whether it is known here that workers with the same roots go by what this person signs."""
        return asking(self._roots) is not None

    async def start(
        self, start: CampaignStart, spec: CampaignSpec, *, still: Callable[[], Awaitable[None]] | None = None
    ) -> str:
        """Sign that a campaign begins; the statement's digest. ``still`` raises where it may not begin any
        more: that is asked again once it is signed, which takes as long as somebody needs for it.
        """
        about = self._about(spec.service.base_url, start.name, start.area, STANDS)
        starts, _ = await self._records.starts_as_far(start.name)
        if (later := to_come(about, starts, self._roots)) is not None:
            raise Refused(
                f"{later.statement.by} has signed a start of campaign {start.name} by a clock that was ahead:"
                f" from {later.statement.issued:%Y-%m-%d %H:%M} UTC on it would stop this one",
                "start it after that, or under another name",
            )
        said = {**dated_last(about, starts, self._roots), "listed": True}
        waves = tuple(WaveSaid(name=wave.name, first=wave.first, end=wave.end) for wave in start.waves)
        return await self._put(
            StartStatement(**said, spec=start.spec, targets=start.targets, count=start.count, waves=waves),
            still=still,
        )

    async def refuse_unlisted(self, archive: Archive, start: CampaignStart) -> None:
        """Raises Refused where no worker has recorded the targets of a start: it could never count."""
        await refuse_unlisted(archive, start.spec, start.targets, self._roots)

    async def proposal(
        self,
        campaign: str,
        spec: str,
        state: ZoneState,
        choice: Choice,
        reason: str = "",
    ) -> str:
        """Sign a decision on what one zone proposes by this state, which a person has seen. ``spec``: digest
        of the campaign's specification. A rejection is to the starts of ``to_stop``: to which it is not, or
        nothing.
        """
        self.refuse_without(Role.APPROVER, state.zone.account)

        def said(start: Attested) -> Sequence[Statement]:
            one = DecisionStatement(
                **self._with(start, DECISION_STANDS),
                step=state.step or Step.COMMIT,
                choice=choice,
                about="proposal",
                subjects=(state.digest,),
                shown=(state.proposal,),
                zone=state.zone.id,
                attempt=state.attempt,
                evidence=state.evidence,
                reason=reason,
            )
            return [one]

        return await self._put_to(await self._decided_on(campaign, spec, choice), said)

    async def fingerprints(
        self,
        campaign: str,
        spec: str,
        choice: Choice,
        *,
        step: Step,
        fingerprints: Sequence[str],
        wave: int | None = None,
        reason: str = "",
    ) -> str:
        """Sign a decision on fingerprints, of one wave or of all: one signature for thousands. Gives what
        ``proposal`` does.
        """

        def said(start: Attested) -> Sequence[Statement]:
            return [
                DecisionStatement(
                    **self._with(start, DECISION_STANDS),
                    step=step,
                    choice=choice,
                    about="fingerprint",
                    subjects=tuple(fingerprints[first : first + MOST_SUBJECTS]),
                    wave=wave,
                    reason=reason,
                )
                for first in range(0, len(fingerprints), MOST_SUBJECTS)
            ]

        return await self._put_to(await self._decided_on(campaign, spec, choice), said)

    async def _decided_on(self, campaign: str, spec: str, choice: Choice) -> list[Attested]:
        """The starts that a decision is to."""
        starts = await self._records.starts(campaign)
        start = own_start(campaign, spec, starts, self._roots)
        if choice is not Choice.REJECT:
            return [start]
        return to_stop(start, starts, self._roots, datetime.now(UTC))

    async def word(self, campaign: str, spec: str | None, word: SteeringWord, reason: str = "") -> str:
        """Sign a word that stops a campaign or lets it go on. ``spec``: None where nobody can say it: then of
        its latest start. A word that stops is to the other starts of its name, too (``to_stop``).

        What may keep one that stops from counting, though it is signed, or nothing: others cannot be read, or
        it is not signed for all of the starts. A resume is not signed where others cannot be read. Raises
        ArchiveError, Refused, NotBegun.
        """
        self.refuse_without(Role.OPERATOR)
        starts = await self._starts_as_far(campaign, spec, stops=word != "resume")
        start = starts[0]
        words, lost = await surely_read(lambda: as_far_as_read(self._records.words(campaign, oldest=True)))
        unread = lost.unread if lost else None
        if unread is not None and word == "resume":
            raise unread
        said = [item.statement for item in words if not refused_here(item, Role.OPERATOR, self._roots)]
        # Without roots a stranger's is not told apart, but where it is higher than there are words: an honest
        # one never is. Followed, it would leave no number to whoever resumes.
        most = HIGHEST if self._roots is not None else len(words) + (len(lost.found) if lost else 0)
        numbers = (item.number for item in said if isinstance(item, WordStatement))
        number = min(max((one for one in numbers if one <= most), default=0) + 1, HIGHEST)
        if word == "resume":
            self._refuse_paused_for_good(campaign, words, start, number)
        # One number for all of them: each is the last word to its own service and area.
        about: dict[str, Any] = {"word": word, "number": number, "reason": reason}
        left = await self._put_to(starts, lambda one: [WordStatement(**self._with(one, STANDS), **about)])
        if unread is not None and word == "pause":
            why = f"a resume may count before it: what was signed until now cannot be read ({unread})"
            return f"{why}; {left}" if left else why
        return left

    def _refuse_paused_for_good(
        self, campaign: str, words: Sequence[Attested], start: Attested, number: int
    ) -> None:
        """Raises Refused where a resume with this number would come after a pause that counts by the roots
        that are known here, and not be the last word: among equal numbers a pause is.
        """
        last = None if self._roots is None else last_word(words, start, self._roots, datetime.now(UTC))
        if last is not None and last.word == "pause" and last.number >= number:
            raise Refused(
                f"campaign {campaign} was paused by {last.by} with the highest number of all: it would stay"
                " paused, whoever resumes it",
                "`edgeshift abort` ends it; `edgeshift start FILE --again` starts it, to be signed again",
            )

    async def again(
        self,
        campaign: str,
        spec: str,
        verb: Literal["retry", "reopen", "support-resolved"],
        *,
        zones: Sequence[str] = (),
        places: Sequence[str] = (),
        accounts: Sequence[str] = (),
        reason: str = "",
    ) -> None:
        """Sign that zones begin again. ``zones``: identifiers; ``accounts``: those that they belong to.
        Raises Refused where somebody has signed an abort: nothing would come of it.
        """
        self.refuse_without(Role.OPERATOR, *accounts)
        await self.refuse_aborted(campaign, spec)
        start = await self.start_of(campaign, spec)
        await self._put(
            AgainStatement(
                **self._with(start, STANDS),
                verb=verb,
                zones=tuple(zones),
                places=tuple(places),
                reason=reason,
            )
        )

    async def refuse_aborted(self, campaign: str, spec: str) -> None:
        """Raises Refused where somebody has signed that this start of the campaign is aborted: workers change
        nothing of it any more, whatever begins again. Also where somebody has signed a start by another file
        since.
        """
        starts, words = await self._records.starts(campaign), await self._records.words(campaign)
        start = own_start(campaign, spec, starts, self._roots)
        if self._roots is not None:
            other = superseded_by(start, starts, self._roots, datetime.now(UTC))
            if other is not None:
                raise Refused(
                    f"{other.statement.by} has signed a start of campaign {campaign} by another file since:"
                    " workers send nothing more by this one",
                    "`edgeshift start FILE --again` starts it, to be signed again",
                )
        if (by := self._aborted_by(words, start)) is not None:
            raise Refused(
                f"campaign {campaign} was aborted by {by}, who signed that: workers change nothing of"
                " this start any more, so that no zone of it can begin again",
                "`edgeshift start FILE --again`, once it has closed, starts all of it, to be signed again;"
                " what is done is found as done",
            )

    def _aborted_by(self, words: Sequence[Attested], start: Attested) -> str | None:
        """Who has signed that this start is aborted, if anybody whose word counts as far as is known."""
        if self._roots is not None:
            last = last_word(words, start, self._roots, datetime.now(UTC))
            return last.by if last is not None and last.word == "abort" else None
        meant = (said.statement for said in words if is_meant(said, start))
        aborts = (word for word in meant if isinstance(word, WordStatement) and word.word == "abort")
        return next((word.by for word in aborts), None)

    async def can_stop(self, campaign: str) -> bool:
        """Whether the archive has a signed start of this campaign that nobody has aborted. Raises
        ArchiveError.
        """
        try:
            starts = await self._starts_as_far(campaign, None, stops=True)
        except Refused:
            return False
        words, _ = await as_far_as_read(self._records.words(campaign, oldest=True))
        return any(self._aborted_by(words, start) is None for start in starts[:MOST_STOPPED])

    async def repair(
        self, campaign: str, spec: str, *, workflow: str, run: str, task: int, reason: str = ""
    ) -> str:
        """Sign that a workflow of a campaign is reset, to this workflow task of this run; the statement's
        digest.
        """
        start = await self.start_of(campaign, spec)
        statement = RepairStatement(
            **self._with(start, STANDS), workflow=workflow, run=run, task=task, reason=reason
        )
        return await self._put(statement)

    async def _put(self, statement: Statement, *, still: Callable[[], Awaitable[None]] | None = None) -> str:
        """Sign and record what this person may say, as far as that is known here; its digest."""
        self.refuse_without(ROLES[type(statement)])
        try:
            signature = await self._hand.sign(statement)
        except SigningFailed as why:
            raise Refused(f"nothing was signed, and nothing sent: {why}", why.hint) from why
        if still is not None:
            await still()
        if signature is not None:
            await self._records.put(statement, signature)
        return statement.digest

    async def _put_to(
        self, starts: Sequence[Attested], said: Callable[[Attested], Sequence[Statement]]
    ) -> str:
        """Sign and record what is said to each of these starts, as far as it is (``to_each``)."""
        number = len(starts[:MOST_STOPPED])
        if number > 1 and self._hand.asks and self._tell is not None:
            each = "one for each service and area that has a start of this name"
            self._tell(f"{counted(number * len(said(starts[0])), 'signature')}: {each}")

        async def put(start: Attested) -> None:
            for statement in said(start):
                await self._put(statement)

        return await to_each(starts, self._roots, put)

    async def has_begun(self, campaign: str) -> bool:
        """Whether the archive has a signed start of this campaign, to which a stop can be signed. Raises
        ArchiveError.
        """
        try:
            await self._starts_as_far(campaign, None, stops=True)
        except Refused:
            return False
        return True

    async def _starts_as_far(self, campaign: str, spec: str | None, *, stops: bool) -> list[Attested]:
        """The start that a word is to, and the others that it is to where it ``stops``, as far as starts can
        be read: what is damaged, or floods the archive, keeps nobody from stopping; workers name it, and
        change nothing meanwhile. Raises ArchiveError, NotBegun.
        """
        starts, lost = await surely_read(lambda: self._records.starts_as_far(campaign))
        try:
            start = own_start(campaign, spec, starts, self._roots, stops=stops)
        except Refused as why:
            raise (lost.unread if lost else None) or why from None
        return to_stop(start, starts, self._roots, datetime.now(UTC)) if stops else [start]

    async def start_of(self, campaign: str, spec: str | None) -> Attested:
        """The start that this person signs to. Raises ArchiveError, NotBegun."""
        return own_start(campaign, spec, await self._records.starts(campaign), self._roots)

    def _with(self, start: Attested, stands: timedelta) -> dict[str, Any]:
        said = start.statement
        return {"start": start.digest, **self._about(said.service, said.campaign, said.area, stands)}

    def _about(self, service: str, campaign: str, area: Area, stands: timedelta) -> dict[str, Any]:
        now = datetime.now(UTC).replace(microsecond=0)
        return {
            "service": service,
            "campaign": campaign,
            "area": area,
            "by": self.by,
            "issued": now,
            "expires": now + stands,
            "nonce": secrets.token_hex(16),
        }
