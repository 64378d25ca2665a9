"""Stopping a campaign of which Temporal tells nothing, or something else than the archive: whatever it says
keeps nobody from signing that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from edgeshift.cli.errors import CommandError, ExitCode, described

if TYPE_CHECKING:
    from temporalio.client import Client

    from edgeshift.cli.shell import Shell
    from edgeshift.operations.pen import Pen


async def look_before_steering(
    shell: Shell, client: Client, campaign: str, verb: str, reason: str, pen: Pen | None
) -> None:
    """That a campaign keeps its documents in this archive, as far as anybody can say. Where Temporal says
    otherwise, or what nobody can read, and this archive has a start of it that counts, a stop is signed to
    that and NotTold raised: whoever reaches Temporal can start anything under its name.
    """
    from edgeshift import operations

    try:
        await refuse_other_archive(shell, client, campaign, verb)
    except operations.OperationError as why:
        problem = await untold(pen, campaign, verb, why, begun=False) if pen is not None else None
        if pen is not None and problem is not None:
            await stop_untold(pen, campaign, verb, reason, problem)
        raise


async def refuse_other_archive(shell: Shell, client: Client, campaign: str, verb: str) -> None:
    """Raises Refused where the campaign has another archive. One that cannot be read keeps nobody from
    stopping a campaign, nor does a folder that is not there, as where its disk is not mounted.
    """
    from edgeshift import operations
    from edgeshift.stores.archive import ArchiveError

    archive = shell.archive_if_any()
    if isinstance(archive, ArchiveError):
        why = str(archive)
    elif verb != "resume" and not archive.is_made:
        why = f"{archive.name} is no folder, and nothing can be signed there"
    else:
        try:
            await operations.campaign_here(client, archive, campaign)
            return
        except ArchiveError as unread:
            why = str(unread)
    said = f"whether this is the campaign's archive cannot be read: {why}"
    shell.errors.print(said, markup=False, soft_wrap=True)


async def untold(
    pen: Pen | None, campaign: str, verb: str, why: Exception, *, begun: bool = True
) -> CommandError | None:
    """What keeps a campaign from being told to stop, where that can be signed all the same. ``begun``:
    whether it was tried already, and may be signed; before that whatever Temporal says is such a reason.
    Raises CommandError where Temporal is lost and nothing can be signed, or the archive cannot be read,
    either: with another code than where it is signed.
    """
    from edgeshift import operations
    from edgeshift.stores.archive import ArchiveError

    problem = described(why)
    if verb == "resume" or isinstance(why, operations.NotTold) or problem is None:
        return None
    lost = problem.code in (ExitCode.TEMPORAL, ExitCode.NOTHING)
    lost = lost or (not begun and isinstance(why, operations.OperationError))
    if not lost:
        return None
    if pen is None:
        unsigned = "nothing is signed: there is no key (EDGESHIFT_AUTHORITY_KEY)"
    else:
        try:
            if await pen.has_begun(campaign):
                return problem
            unsigned = (
                f"nothing is signed, either: this archive has no start of {campaign} that was signed by a"
                " starter who is known here"
            )
        except ArchiveError as unread:
            raise _unsigned(problem, f"nothing is signed, either: {unread}") from why
    if problem.code is not ExitCode.TEMPORAL:
        return None
    raise _unsigned(problem, unsigned) from why


def _unsigned(problem: CommandError, said: str) -> CommandError:
    """What nobody could be told for, where that is not signed either."""
    code = ExitCode.FAILED if problem.code is ExitCode.TEMPORAL else problem.code
    return CommandError(problem.text, code, hint=problem.hint, details=(*problem.details, said))


async def can_be_stopped(pen: Pen, campaign: str) -> bool:
    """Whether a campaign that is said to be closed can be stopped all the same, as far as the archive can be
    read; where it cannot, whoever stops it is told that then.
    """
    from edgeshift.stores.archive import ArchiveError

    try:
        return await pen.can_stop(campaign)
    except ArchiveError:
        return False


async def stop_untold(pen: Pen, campaign: str, verb: str, reason: str, problem: CommandError) -> None:
    """Sign that a campaign stops, and raise what it could not be told for."""
    from edgeshift import operations

    stops: Literal["pause", "abort"] = "abort" if verb == "abort" else "pause"
    hint = "" if problem.code in (ExitCode.TEMPORAL, ExitCode.NOTHING) else _odd(campaign, problem)
    await operations.stop_untold(pen, campaign, stops, reason, problem.text, hint)


def _odd(campaign: str, problem: CommandError) -> str:
    """What to do where Temporal has a workflow of this name that is not the archive's campaign."""
    look = f"`temporal workflow list` shows who started what runs as {campaign}"
    return f"{problem.hint}; if this is its archive, {look}" if problem.hint else look
