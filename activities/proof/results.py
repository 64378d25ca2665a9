"""Results that workers sign: what an activity has itself read of a target at the service, in the archive.

What a campaign tells of an outcome rests on them (docs/authority.md, Results). The words that zones send to
it, and what their workflows end with, can be anybody's.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta

from temporalio import activity

from activities.proof.authority import Authority, NotSigned, Specs
from activities.proof.begun_targets import BegunTargets
from activities.proof.listed_targets import Targets
from edgeshift.authority.records import Flooded, SignedRecords, may_have_results
from edgeshift.authority.roots import Role, Roots, asking, is_rehearsal
from edgeshift.authority.statements import ResultStatement
from edgeshift.authority.worker_pen import WorkerPen
from edgeshift.campaign_file.spec import CampaignSpec
from edgeshift.messages import Watch, ZoneStart
from edgeshift.model.fleet import ENDS, ZoneOutcome
from edgeshift.runtime.clock import Clock
from edgeshift.stores.archive import Archive, ArchiveUnavailable
from edgeshift.stores.documents import Intent

COUNTS_FOR = timedelta(days=3_650)
"""How long a result counts: what was read does not become untrue."""


class Results:
    """What one worker signs, and what it counts of what workers have signed. ``pen``: None where it needs
    none.
    """

    def __init__(
        self,
        authority: Authority,
        archive: Archive,
        clock: Clock,
        specs: Specs,
        targets: Targets,
        pen: WorkerPen | None,
    ) -> None:
        self._authority = authority
        self._records = SignedRecords(archive, authority.knows)
        self._begun = BegunTargets(self._roots, self._records)
        self._clock = clock
        self._specs = specs
        self._targets = targets
        self._pen = pen

    def needs_results(self, spec: CampaignSpec) -> bool:
        """Whether an outcome of a campaign counts only with its result, as the roots ask. Without roots it
        does so too, except in a rehearsal on this machine, where names count as messages give them.
        (``SignedStarts.needs_signed_starts`` differs there.) Raises ArchiveUnavailable where the roots cannot
        be read.
        """
        roots = self._roots()
        return not is_rehearsal(spec.service.base_url) if roots is None else asking(roots) is not None

    def _roots(self) -> Roots | None:
        try:
            return self._authority.roots_or_none()
        except NotSigned as why:
            # As where the archive does not answer: they can be read a little later.
            raise ArchiveUnavailable(f"whose results count is not known: {why}"[:200]) from None

    async def record(
        self,
        start: ZoneStart,
        outcome: ZoneOutcome,
        *,
        proposal: str = "",
        seen: str = "",
        sent: Intent | None = None,
        since: datetime | None = None,
    ) -> None:
        """Sign what this very activity has read of a zone. ``proposal``: digest of what is in force, or was
        undone; ``seen``: of what the archive has of the reading; ``sent``: what was read. Where another run
        is named there, it is signed for that one first: what asks whether something was seen to its end goes
        by its record. Nothing is signed of a target that is none of the campaign's, nor what is signed
        already: an end where that was after what was ``sent``, or ``since``. Raises ArchiveError,
        SigningFailed.
        """
        if self._pen is None:
            return
        spec = await self._specs(start.spec)
        if why := await self._begun.refuses(start, spec, self._targets):
            activity.logger.warning("not signed that %s is %s: %s", start.target.zone.id, outcome.value, why)
            return
        since = since if sent is None else sent.at
        run, attempt = start.origin or start.campaign_run, start.attempt
        signs = [(run, attempt)]
        if sent is not None and sent.run not in (None, run):
            signs.insert(0, (sent.run, sent.attempt or attempt))
        for of, number in signs:
            zone = start.target.zone.id
            await self._record_of(
                start.spec, of, zone, number, outcome, proposal=proposal, seen=seen, since=since
            )

    async def record_watched(self, message: Watch, seen: str, sent: Intent | None = None) -> None:
        """Sign how a change ended that can be undone, and that this very activity has looked at for the last
        time: settled, or rolled back. ``seen``: the archived result; ``sent``: the change. Raises
        ArchiveError, SigningFailed.
        """
        outcome = ZoneOutcome.ROLLED_BACK if message.back else ZoneOutcome.SETTLED
        await self.record(message.start, outcome, proposal=message.prepared.digest, seen=seen, sent=sent)

    async def of_listed(
        self, spec_digest: str, targets: str, run: str, zone: str, attempt: int, outcome: ZoneOutcome
    ) -> None:
        """As ``record``, of a target in the frozen list with the digest ``targets``, where that is the one of
        a signed start.
        """
        if self._pen is None:
            return
        if why := await self._begun.refuses_list(spec_digest, await self._specs(spec_digest), targets):
            activity.logger.warning("not signed that %s is %s: %s", zone, outcome.value, why)
            return
        await self._record_of(spec_digest, run, zone, attempt, outcome)

    async def _record_of(
        self,
        spec_digest: str,
        run: str,
        zone: str,
        attempt: int,
        outcome: ZoneOutcome,
        *,
        proposal: str = "",
        seen: str = "",
        since: datetime | None = None,
    ) -> None:
        """As ``record``, of a target's attempt that is named, where it is one that a campaign can have."""
        if self._pen is None:
            return
        if not may_have_results(run, attempt):
            activity.logger.warning(
                "not signed that %s is %s in attempt %d: no campaign has it", zone, outcome, attempt
            )
            return
        spec, now = await self._specs(spec_digest), self._clock.now().replace(microsecond=0)
        told = await self.proven(
            spec,
            run,
            zone,
            attempt,
            counts=lambda one: (one.spec, one.proposal) == (spec_digest, proposal),
        )
        if _says(told, outcome, since):
            # Whoever reaches Temporal can have it looked at for ever, and too many results count for nothing.
            return
        result = ResultStatement(
            service=spec.service.base_url,
            campaign=spec.name,
            area=spec.area,
            by=self._pen.name,
            issued=now,
            expires=now + COUNTS_FOR,
            nonce=secrets.token_hex(16),
            run=run,
            spec=spec_digest,
            zone=zone,
            attempt=attempt,
            outcome=outcome,
            proposal=proposal,
            seen=seen,
        )
        await self._records.put(result, await self._pen.sign(result))

    async def proven(
        self,
        spec: CampaignSpec,
        run: str,
        zone: str,
        attempt: int | None = None,
        *,
        back: bool = False,
        counts: Callable[[ResultStatement], bool] = lambda result: True,
    ) -> dict[ZoneOutcome, ResultStatement]:
        """The outcomes of an attempt, or of all, that a worker has signed whom the roots know, each with its
        last result. ``back``: for a rollback, which what was seen to its end keeps back: also where its
        worker's key was revoked since; and where somebody floods the place, by the first that were stored.
        ``counts``: which of them: anybody can have one signed by another campaign file of the name. Raises
        ArchiveError.
        """
        roots = self._roots()
        if roots is None or not may_have_results(run, 1 if attempt is None else attempt):
            return {}
        if back:
            roots = roots.forgiving
        try:
            found = await self._records.results(spec.name, run, zone, attempt, oldest=back)
        except Flooded as why:
            # The service is read instead.
            activity.logger.warning("%s", why)
            return {}
        counted: dict[ZoneOutcome, ResultStatement] = {}
        for said in sorted(found, key=lambda one: one.statement.issued):
            result = said.statement
            mine = isinstance(result, ResultStatement) and (result.service, result.area) == (
                spec.service.base_url,
                spec.area,
            )
            # When it was signed: a key that was replaced since has told the truth; one that was revoked not.
            if mine and roots.refuses(said, Role.WORKER, result.issued) is None:
                assert isinstance(result, ResultStatement)
                if counts(result):
                    counted[result.outcome] = result
        return counted


def _says(told: Mapping[ZoneOutcome, ResultStatement], outcome: ZoneOutcome, since: datetime | None) -> bool:
    """Whether the results of an attempt say already what one that is signed now would say. An end has to be
    the last, and from after what was sent (``since``), where that is known; results are told to the second.
    """
    if (result := told.get(outcome)) is None or outcome not in ENDS:
        return result is not None
    last = max(told[end].issued for end in ENDS if end in told)
    return since is not None and last <= result.issued >= since.replace(microsecond=0)
