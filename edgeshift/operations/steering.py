"""Campaigns paused, resumed and aborted. What stops one is signed before anybody is told: workers heed the
word in the archive, whether or not Temporal and the campaign can be reached.
"""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from typing import TYPE_CHECKING, ClassVar

from temporalio.client import Client, WorkflowExecutionStatus, WorkflowFailureError

from edgeshift.authority.roots import Role
from edgeshift.messages import Answer, CampaignResult, Person
from edgeshift.model.campaign_phase import CampaignPhase
from edgeshift.model.fleet import campaign_id
from edgeshift.operations.calls import tell, the_campaign
from edgeshift.operations.campaigns import campaign_input, describe, summary
from edgeshift.operations.errors import (
    Failed,
    NotBegun,
    NotFound,
    OperationError,
    Refused,
    StartNotKnown,
    TemporalTrouble,
)
from edgeshift.runtime.temporal import UNREADABLE
from edgeshift.stores.archive import ArchiveError

if TYPE_CHECKING:
    from edgeshift.operations.pen import Pen, SteeringWord

LOOKS_FOR = 5.0
"""Seconds for which a campaign is looked at before it is stopped: then it is signed unseen."""

LOOKS_EVERY = 1.0
"""Seconds between looks at a campaign that somebody else is pausing."""


class NotTold(TemporalTrouble):
    """It was signed that a campaign stops, and the campaign could not be told."""

    def __init__(
        self, name: str, verb: SteeringWord, why: str, pen: Pen, unread: str = "", hint: str = ""
    ) -> None:
        heed, itself = "heed it from now on, and", "the campaign itself comes to know of it at its next sweep"
        if not pen.counts:
            heed = (
                f"heed it only if signatures count by their roots, and these have {pen.by}, with this key, as"
            )
            heed, itself = f"{heed} operator: then they", f"{itself}, where they do"
        super().__init__(
            f"campaign {name} could not be told to {verb}: {why}. It is signed and archived: workers of that"
            f" archive {heed} send nothing more of {name} but rollbacks{_unless(unread)}",
            hint
            or f"`edgeshift {verb} {name}` once more, when Temporal and a worker answer again: else {itself}",
        )


class ToldAlone(Failed):
    """A campaign was told to stop, and obeys; but workers may not go by that. ``answer``: what it said;
    ``signed``: whether it was signed all the same; ``details``: further lines for whoever asked.
    """

    answer: Answer
    signed: ClassVar[bool] = False
    details: tuple[str, ...] = ()


class NotArchived(ToldAlone):
    """A campaign was told to stop, and nothing of that is signed in the archive."""

    def __init__(self, name: str, verb: SteeringWord, answer: Answer, why: ArchiveError) -> None:
        self.answer = answer
        super().__init__(
            f"campaign {name} {answer.text}; but that is not signed: {why}",
            f"`edgeshift {verb} {name}` once more, when `edgeshift doctor` passes: workers go by what is"
            " signed, whatever Temporal is told",
        )


class NotSignedClosed(Failed):
    """Temporal says that a campaign has closed, and whether it is so cannot be read in the archive."""

    def __init__(self, name: str, verb: SteeringWord, why: ArchiveError) -> None:
        super().__init__(
            f"campaign {name} is closed, by what Temporal says, and was not told to {verb}; nor is that"
            f" signed: {why}",
            f"`edgeshift {verb} {name}` once more, when `edgeshift doctor` passes: whoever reaches Temporal"
            " can have it say that, while workers go on by what is signed",
        )


class NotSignedStop(ToldAlone):
    """A campaign was told to stop, and nobody has signed that, where signatures alone count."""

    def __init__(self, name: str, verb: str, answer: Answer) -> None:
        self.answer = answer
        super().__init__(
            f"campaign {name} {answer.text}; but that is not signed: there is no key to sign with. Workers go"
            " by what is signed, so that whoever reaches Temporal can let it go on",
            f"`edgeshift {verb} {name}` once more, with an operator's key: EDGESHIFT_AUTHORITY_KEY",
        )


class NotSignedHere(ToldAlone):
    """A campaign was told to stop, and that cannot be signed here: nobody knows who signed its start."""

    def __init__(self, name: str, verb: str, answer: Answer) -> None:
        self.answer = answer
        super().__init__(
            f"campaign {name} {answer.text}; but that is not signed: its start is signed by nobody who is a"
            " starter by the roots that are known here. Workers whose roots have them go by what is signed,"
            " so that whoever reaches Temporal can let it go on",
            f"`edgeshift {verb} {name}` once more, with the workers' roots (EDGESHIFT_AUTHORITY_ROOTS) and an"
            " operator's key (EDGESHIFT_AUTHORITY_KEY)",
        )


def unsigned_stop(answer: Answer, *, known: bool = True) -> Answer:
    """What a campaign answered to a stop that cannot be signed, since nobody has signed its start. ``known``:
    that nobody has; else nobody whom the roots here know.
    """
    start = ", nor is its start" if known else ": its start is signed by nobody who is known here"
    return answer.model_copy(update={"text": f"{answer.text}. That is not signed{start}"})


class NotLast(ToldAlone):
    """A campaign was told to stop, and what is signed of that may not be the last word in the archive, or not
    to each start of its name.
    """

    signed = True

    def __init__(self, name: str, verb: SteeringWord, answer: Answer, unread: str) -> None:
        self.answer = answer
        super().__init__(
            f"campaign {name} {answer.text}, and that is signed{_unless(unread)}",
            f"`edgeshift {verb} {name}` once more, when `edgeshift doctor` passes: workers go by the last"
            " word that is signed, whatever Temporal is told",
        )


def _unless(unread: str) -> str:
    """What may keep a signed stop from counting, as ``Pen.word`` says it."""
    return f"; but {unread}" if unread else ""


async def pause(client: Client, name: str, *, by: str, reason: str = "", pen: Pen | None = None) -> Answer:
    """Begin no new forward step; answers once every permit that is out is settled. A campaign whose start
    nobody has signed is told, and nothing is signed. Raises NotTold, ToldAlone, NotSignedClosed, and Refused
    where somebody has resumed it by then.
    """
    return await _stop(client, name, "pause", by, reason, pen)


async def resume(client: Client, name: str, *, by: str, reason: str = "", pen: Pen | None = None) -> Answer:
    """Go on after a pause, or after a halt that nobody has paused, whose failures it accepts."""
    # The summary first: it tells quickly whether the campaign is there and whether anybody answers.
    found = await summary(client, name)
    if found.state == CampaignPhase.CLOSED:
        raise _closed(name, "resume")
    if pen is not None:
        await pen.word(name, found.spec, "resume", reason)
    return await tell(client, campaign_id(name), "resume", Person(by=by, reason=reason), the_campaign(name))


async def abort(client: Client, name: str, *, by: str, reason: str = "", pen: Pen | None = None) -> Answer:
    """End the campaign; answers once every permit that is out is settled. Raises NotTold, ToldAlone,
    NotSignedClosed.
    """
    return await _stop(client, name, "abort", by, reason, pen)


async def _stop(
    client: Client, name: str, verb: SteeringWord, by: str, reason: str, pen: Pen | None
) -> Answer:
    unsigned: ArchiveError | None = None
    unread, began, closed = "", datetime.now(UTC), False
    no_start: NotBegun | None = None
    if pen is not None:
        # Whoever may not stop it hears that before anything is signed or told.
        pen.refuse_without(Role.OPERATOR)
        spec, closed = await _spec_of(client, name)
        try:
            if closed and not await pen.can_stop(name):
                raise _closed(name, verb)
        except ArchiveError as why:
            raise NotSignedClosed(name, verb, why) from why
        try:
            unread = await _sign(pen, name, spec, verb, reason)
        except ArchiveError as why:
            unsigned = why
        except NotBegun as why:
            # Whoever ends it has only to tell it: no worker that asks for signatures changes anything of it,
            # but where workers know more starters than the roots here.
            no_start = why
    signed = pen is not None and unsigned is None and no_start is None
    try:
        if closed or (await summary(client, name)).state == CampaignPhase.CLOSED:
            raise _closed(name, verb)
        message, subject = Person(by=by, reason=reason), the_campaign(name)
        answer = await tell(client, campaign_id(name), verb, message, subject, patient=True)
    except Refused as why:
        if not signed:
            raise
        if verb == "abort" and await _has_aborted_itself(client, name, began):
            answer = Answer(text="is aborted: it found the signed word by itself, and has closed")
            if unread:
                raise NotLast(name, verb, answer, unread) from None
            return answer
        raise _closed_meanwhile(name, verb, why.text, unread) from None
    except OperationError as why:
        if pen is None or not signed:
            raise
        raise NotTold(name, verb, why.text, pen, unread) from why
    if answer.overtaken:
        answer = await _paused_by_others(client, name, answer)
    if unsigned is not None:
        raise NotArchived(name, verb, answer, unsigned)
    if unread:
        raise NotLast(name, verb, answer, unread)
    not_known = isinstance(no_start, StartNotKnown)
    if not_known and pen is not None and pen.counts:
        raise NotSignedHere(name, verb, answer)
    return answer if no_start is None else unsigned_stop(answer, known=not not_known)


async def _paused_by_others(client: Client, name: str, answer: Answer) -> Answer:
    """That a campaign is paused all the same, where somebody has paused it again while a pause waited: once
    nothing is in flight. ``answer``: what it said itself. Raises Refused where it is not paused, Failed where
    nobody can say.
    """
    try:
        found = await summary(client, name)
        while found.state == CampaignPhase.PAUSING:
            await asyncio.sleep(LOOKS_EVERY)
            found = await summary(client, name)
    except OperationError as why:
        raise Failed(
            f"campaign {name} {answer.text}; how it stands now is not known: {why.text}",
            f"`edgeshift status {name}` shows how it stands; `edgeshift pause {name}` pauses it",
        ) from why
    if found.state == CampaignPhase.CLOSED:
        raise _closed(name, "pause")
    if found.state == CampaignPhase.ABORTING:
        raise Refused(f"campaign {name} was aborted meanwhile", f"`edgeshift watch {name}` follows its end")
    if found.state == CampaignPhase.PAUSED and found.stopped_by:
        return Answer(text=f"is paused by {found.stopped_by}, who paused it again meanwhile")
    stands: dict[str, str] = {CampaignPhase.HALTED: "is halted", CampaignPhase.PAUSED: "has paused itself"}
    raise Refused(
        f"campaign {name} was resumed meanwhile, and {stands.get(found.state, 'runs')}",
        f"`edgeshift pause {name}` pauses it again, once whoever resumed it agrees",
    )


async def _sign(pen: Pen, name: str, spec: str | None, verb: SteeringWord, reason: str) -> str:
    """Sign the word, first to the start that Temporal tells of; where nobody signed that, to the latest
    signed. What ``Pen.word`` says.
    """
    try:
        return await pen.word(name, spec, verb, reason)
    except NotBegun:
        # Nobody was asked for a signature yet.
        if spec is None or not await pen.has_begun(name):
            raise
        return await pen.word(name, None, verb, reason)


async def stop_untold(pen: Pen, name: str, verb: SteeringWord, reason: str, why: str, hint: str = "") -> None:
    """Sign that a campaign stops of which Temporal tells nothing, or not what this archive has; ``why``: what
    it says instead; ``hint``: what to do then, where that is known. The start is that of the archive. Raises
    NotTold where it was signed; ArchiveError; Refused where nothing can be.
    """
    unread = await pen.word(name, None, verb, reason)
    raise NotTold(name, verb, why, pen, unread, hint)


async def _spec_of(client: Client, name: str) -> tuple[str | None, bool]:
    """The digest of a campaign's specification, as far as Temporal tells it in time; and whether it says that
    the campaign has closed. Neither keeps anybody from signing: whoever reaches Temporal can end it, and have
    something else of its name come to an end. Raises NotFound.
    """
    closed = False
    try:
        async with asyncio.timeout(LOOKS_FOR):
            found = await describe(client, campaign_id(name))
            closed = found is not None and found.status is WorkflowExecutionStatus.COMPLETED
            return (await campaign_input(client, name)).spec, closed
    except NotFound:
        raise
    except (TimeoutError, OperationError):
        return None, closed


def _closed(name: str, verb: SteeringWord) -> Refused:
    return Refused(
        f"campaign {name} is closed: nothing is left to {verb}",
        "`edgeshift retry` and `reopen` restart zones of it; after an abort, `edgeshift start FILE --again`"
        " starts all of it",
    )


async def _has_aborted_itself(client: Client, name: str, since: datetime) -> bool:
    """Whether a campaign has closed as aborted since then: it heeds what is signed before it is told."""
    found = await describe(client, campaign_id(name))
    if found is None or found.close_time is None or found.close_time < since:
        return False
    handle = client.get_workflow_handle(found.id, run_id=found.run_id, result_type=CampaignResult)
    try:
        result: CampaignResult = await handle.result()
    except (WorkflowFailureError, *UNREADABLE):
        return False
    return result.aborted


def _closed_meanwhile(name: str, verb: SteeringWord, why: str, unread: str) -> Refused:
    """That a campaign would not be told to stop, as ``why`` says, when that was signed already."""
    if verb == "abort":
        stands = "zones that are open send nothing, and no zone of this start can begin again"
        hint = "`edgeshift start FILE --again` starts all of it, to be signed again"
    else:
        stands = "zones that are open, or begin again, send nothing until somebody resumes it"
        hint = f"`edgeshift resume {name}` ends the pause, once `edgeshift retry` or `reopen` restarts zones"
    return Refused(f"{why}. The {verb} was signed and archived all the same: {stands}{_unless(unread)}", hint)
