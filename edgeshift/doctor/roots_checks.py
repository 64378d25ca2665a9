"""Whether workers have roots of authority, and the same ones."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from temporalio.api.taskqueue.v1 import PollerInfo
from temporalio.client import Client
from temporalio.service import RPCError

from edgeshift.authority.held import TOLD_WITHIN, RootsHeld, last_told
from edgeshift.authority.loading import RootsError, load_roots
from edgeshift.authority.worker_pen import HOW
from edgeshift.doctor.check import Check, State, ok
from edgeshift.model.check_codes import CheckCode
from edgeshift.model.counts import agreed, counted
from edgeshift.runtime.queues import Queue
from edgeshift.runtime.settings import Settings
from edgeshift.runtime.temporal import polling
from edgeshift.stores.archive import Archive, ArchiveError

CODE, NAME = CheckCode.ROOTS, "roots of authority"

RENEWED = timedelta(seconds=80)
"""After which a worker's long poll has surely been renewed."""

_SAME_ARCHIVE = "give this command the workers' archive: --archive URL or EDGESHIFT_ARCHIVE_URL"
_SAME_ROOTS = "give every worker the same roots files; one that has ended counts for another minute"


async def check_roots(client: Client, settings: Settings) -> list[Check]:
    """Which roots each worker has that polls, by what it has recorded, and whether they agree; and whether
    those of this machine are the same.
    """
    try:
        identities = polls_now([poller for queue in Queue for poller in await polling(client, queue)])
        archive = Archive(settings.archive, make=False)
        told = await _told(archive, identities)
        if _changing(told, datetime.now(UTC)):
            await asyncio.sleep(TOLD_WITHIN.total_seconds() + 1)
            told = await _told(archive, identities)
    except RPCError as problem:
        said = f"the task queues cannot be read: {problem.message[:150]}"
        return [Check(CheckCode.WORKER, NAME, State.FAILED, said)]
    except ArchiveError as problem:
        said = f"what workers recorded of theirs cannot be read: {problem}"
        return [Check(CheckCode.ARCHIVE, NAME, State.FAILED, said)]
    if not told:
        return [Check(CODE, NAME, State.SKIPPED, "no worker polls")]
    return [*judged(told), *keys_judged(told), *_here(settings, told)]


def polls_now(pollers: Sequence[PollerInfo]) -> set[str]:
    """Identities of those who poll now: Temporal lists one that has ended for minutes, and a long poll is
    renewed every minute.
    """
    seen = {(poller.identity, poller.last_access_time.ToDatetime(tzinfo=UTC)) for poller in pollers}
    newest = max((at for _, at in seen), default=None)
    return {identity for identity, at in seen if newest is not None and newest - at <= RENEWED}


async def _told(archive: Archive, identities: set[str]) -> dict[str, RootsHeld | None]:
    return {identity: await last_told(archive, identity) for identity in sorted(identities)}


def _changing(told: dict[str, RootsHeld | None], now: datetime) -> bool:
    """Whether workers differ that may be reading new roots just now."""
    known = [held for held in told.values() if held is not None]
    new = any(now - held.at < 3 * TOLD_WITHIN for held in known)
    return new and len({(held.state, held.digest) for held in known}) > 1


def judged(told: dict[str, RootsHeld | None]) -> list[Check]:
    """What is to be said of the roots that workers have, by identity; None: of one that recorded nothing."""
    if silent := [identity for identity, held in told.items() if held is None]:
        said = f"{', '.join(silent[:3])} recorded nothing of its roots in this archive"
        return [Check(CODE, NAME, State.WARNING, said, _SAME_ARCHIVE)]
    known = {identity: held for identity, held in told.items() if held is not None}
    found = []
    if broken := [identity for identity, held in known.items() if held.state == "unreadable"]:
        said = f"{', '.join(broken[:3])} cannot read its roots, and refuses every change"
        found.append(Check(CODE, NAME, State.FAILED, said, "its log names the file and the place"))
    if without := [identity for identity, held in known.items() if held.state == "none"]:
        verb = agreed(len(without), "has", "have")
        changes = agreed(len(without), "changes", "change")
        said = (
            f"{', '.join(without[:3])} {verb} none, and {changes} nothing but rehearsals on this machine;"
            " anyone who can reach Temporal may sign there"
        )
        found.append(
            Check(CODE, NAME, State.WARNING, said, "set EDGESHIFT_AUTHORITY_ROOTS; see docs/authority.md")
        )
    by_digest: dict[str, list[str]] = {}
    for identity, held in known.items():
        if held.state == "held":
            by_digest.setdefault(held.digest, []).append(identity)
    if len(by_digest) > 1 or (by_digest and (without or broken)):
        each = "; ".join(f"{digest[:12]}: {', '.join(some[:3])}" for digest, some in by_digest.items())
        found.append(Check(CODE, NAME, State.FAILED, f"the workers do not agree: {each}", _SAME_ROOTS))
    elif by_digest and not found:
        ((digest, some),) = by_digest.items()
        proof = known[some[0]].proof
        said = f"{counted(len(some), 'worker')} {agreed(len(some), 'has', 'have')} {digest[:12]} ({proof})"
        if proof == "named":
            found.append(
                Check(
                    CODE,
                    NAME,
                    State.WARNING,
                    f"{said}: anyone who can reach Temporal may sign, in anybody's name",
                    "",
                )
            )
        else:
            found.append(ok(CODE, NAME, said))
    return found


def keys_judged(told: dict[str, RootsHeld | None]) -> list[Check]:
    """What is to be said of the workers' own keys, with which they sign their results; nothing where no roots
    ask for signatures.
    """
    code, name = CheckCode.WORKER_KEYS, "workers' keys"
    asked = {
        identity: held
        for identity, held in told.items()
        if held is not None and held.state == "held" and held.proof == "signed"
    }
    if not asked:
        return []
    if unknown := [identity for identity, held in asked.items() if not held.worker]:
        verb, whose = agreed(len(unknown), "has", "have"), agreed(len(unknown), "its", "their")
        said = f"{', '.join(unknown[:3])} {verb} no key that the roots know: {whose} results do not count"
        return [Check(code, name, State.FAILED, said, HOW)]
    names = sorted({held.worker for held in asked.values() if held.worker})
    return [ok(code, name, f"{', '.join(names[:5])} {agreed(len(names), 'signs', 'sign')} the results")]


def _here(settings: Settings, told: dict[str, RootsHeld | None]) -> list[Check]:
    """Whether the roots that this machine's settings name are the workers'."""
    code, name, path = CheckCode.ROOTS_HERE, "roots, here", settings.authority.roots
    if path is None:
        return []
    try:
        digest = load_roots(path).digest
    except RootsError as problem:
        return [Check(code, name, State.FAILED, str(problem), "correct it; docs/authority.md describes it")]
    theirs = {held.digest for held in told.values() if held is not None}
    if digest in theirs:
        return [ok(code, name, f"{digest[:12]}, as a worker has them")]
    return [Check(code, name, State.WARNING, f"{digest[:12]}, which no worker has ({path})", _SAME_ROOTS)]
