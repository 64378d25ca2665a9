"""``edgeshift show``: a proposal as it would be sent, by its zone, its digest or its fingerprint."""

from __future__ import annotations

import json
import sys
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

from edgeshift.cli import candidates
from edgeshift.cli.errors import CommandError, ExitCode
from edgeshift.cli.options import OfArea, campaign_option
from edgeshift.cli.proposals import show_digest, show_items, show_proposal
from edgeshift.cli.shell import Shell, current, run
from edgeshift.model.fleet import Area, campaign_name
from edgeshift.model.zone_names import typed_zone

if TYPE_CHECKING:
    from temporalio.client import Client

    from edgeshift.model.body_view import Item
    from edgeshift.model.digests import Body
    from edgeshift.operations.showing import NamedProposal
    from edgeshift.stores.archive import Archive

EVERYTHING = sys.maxsize
"""Lines of one kind, where all are wanted."""


def show(
    what: Annotated[
        str,
        typer.Argument(
            metavar="ZONE|DIGEST|FINGERPRINT",
            help="A zone by name or identifier, or the beginning of a digest or fingerprint that waits.",
            autocompletion=candidates.zones,
        ),
    ],
    campaign: Annotated[str | None, campaign_option("Only of this campaign.")] = None,
    area: OfArea = None,
    raw: Annotated[
        bool, typer.Option("--raw", help="Print only the bytes that the digest is of, as canonical JSON.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON (docs/output.md).")] = False,
) -> None:
    """Show exactly what a zone would be sent: each rule, as a difference from what it has, with evidence."""
    if raw and as_json:
        raise CommandError(
            "--raw and --json exclude each other",
            ExitCode.BAD_INPUT,
            hint="--json has the body too, beside everything else that is known of it",
        )
    shell = current()
    found, body, digest, note = run(_find(shell, what, campaign, area), waiting=f"looking for {what}")
    if raw:
        _print_raw(body)
    elif as_json:
        shell.print_json(_json(found, body, digest, note))
    else:
        with shell.paged():
            shell.say_note(note)
            _print(shell, found, body, digest)


async def _find(
    shell: Shell, what: str, campaign: str | None, area: Area | None
) -> tuple[NamedProposal | None, Body, str, str]:
    """The proposal, its body, and the digest of that; what holds of its campaign. Of a digest that only the
    archive knows, the body alone.
    """
    from edgeshift.model.digests import digest
    from edgeshift.operations.errors import Failed, NotFound, TemporalTrouble
    from edgeshift.operations.showing import proposal_by_digest, proposal_of
    from edgeshift.views.finding import checked_name, find_zone

    wanted = typed_zone(what)
    archive = shell.archive()
    async with shell.temporal() as client:
        if not _is_digest(wanted):
            named = await find_zone(client, archive, wanted, campaign, area)
            found = await proposal_of(client, archive, named.workflow_id, what, named.area, campaign)
            return found, found.preview.body, found.preview.digest, await _note(shell, client, archive, found)
        try:
            chosen = _one(client, archive, checked_name(campaign)) if campaign else _running(client)
            found = await proposal_by_digest(client, archive, wanted, chosen)
        except (NotFound, TemporalTrouble, Failed):
            body = await _archived(client, archive, wanted, campaign)
            if body is None:
                raise
            return None, body, digest(body), ""
        note = await _note(shell, client, archive, found)
    return found, found.preview.body, found.preview.digest, note


async def _note(shell: Shell, client: Client, archive: Archive, found: NamedProposal) -> str:
    """What holds of its campaign; of a zone that waits, also that no worker has recorded what is shown, or
    that this cannot be read.
    """
    from edgeshift.messages import ZonePhase

    note = await shell.note_for(client, found.campaign)
    roots = shell.readable_roots
    if roots is None or found.state.phase is not ZonePhase.AWAITING_SIGN_OFF:
        return note
    from edgeshift.operations.by_workers import unrecorded
    from edgeshift.stores.archive import ArchiveError

    shown = found.preview
    try:
        why = await unrecorded(archive, found.state, shown.area, shown.evidence, roots)
    except ArchiveError as trouble:
        # What is shown was read, and signs nothing.
        told = f"It cannot be read whether a worker has recorded what is shown: {trouble}."
    else:
        told = "" if why is None else f"Not to be signed: what is shown is no worker's: {why}."
    return " ".join(part for part in (note, told) if part)


def _is_digest(what: str) -> bool:
    """Whether this is (the beginning of) a digest; one of 32 digits is a zone's identifier."""
    return 4 <= len(what) <= 64 and len(what) != 32 and not set(what) - set("0123456789abcdef")


async def _archived(client: Client, archive: Archive, wanted: str, campaign: str | None) -> Body | None:
    """The body with this digest, as the archive has it. Raises Refused where it has none, and a campaign of
    those that are meant has another archive, which may have it.
    """
    from edgeshift.operations.showing import DIGITS, archived_body
    from edgeshift.stores.archive import ArchiveError
    from edgeshift.views.finding import refuse_elsewhere

    try:
        body = await archived_body(archive, wanted) if len(wanted) == DIGITS else None
    except ArchiveError:
        await refuse_elsewhere(client, archive, campaign)
        raise
    if body is None:
        await refuse_elsewhere(client, archive, campaign)
    return body


async def _one(client: Client, archive: Archive, name: str) -> AsyncIterator[str]:
    """The campaign that was named; none where it has come to its end, since nothing waits in it."""
    from temporalio.client import WorkflowExecutionStatus

    from edgeshift.model.fleet import campaign_id
    from edgeshift.operations.archives import campaign_here
    from edgeshift.operations.campaigns import describe

    await campaign_here(client, archive, name)
    found = await describe(client, campaign_id(name))
    if found is not None and found.status is not WorkflowExecutionStatus.COMPLETED:
        yield name


async def _running(client: Client) -> AsyncIterator[str]:
    """The campaigns that run, newest first: in others nothing waits."""
    from edgeshift.views.finding import campaigns

    async for execution in campaigns(client):
        if execution.close_time is None:
            yield campaign_name(execution.id)


def _print(shell: Shell, found: NamedProposal | None, body: Body, digest: str) -> None:
    if found is None:
        from edgeshift.operations.parts import plain_items

        show_digest(shell, "digest", digest, indent=0)
        shell.tell("in the archive; no zone waits with it now")
        show_items(shell, _items(body) or plain_items(body))
        return
    from edgeshift.views.words import word

    phase = word(found.state.outcome or found.state.phase, found.preview.area)
    shell.tell(f"Campaign {found.campaign}, attempt {found.state.attempt}: {phase}", indent=0)
    show_proposal(shell, found.preview, most=EVERYTHING)
    if found.waiting > 1:
        from edgeshift.views.figures import sign_command

        shell.tell(f"{found.waiting:,}", lead="zones that wait with this fingerprint: ")
        shell.tell("To see how they differ, before you are asked:", indent=0)
        # On a line of its own, so that it can be copied.
        command = f"  {sign_command(found.campaign, found.preview.fingerprint)}"
        shell.console.print(command, markup=False, soft_wrap=True)


def _items(body: Body) -> tuple[Item, ...]:
    """The things of a body, compared with nothing: whose it is is not known, so that the areas are asked."""
    from edgeshift.areas import AREAS
    from edgeshift.operations.parts import PROPOSALS

    return next((found for area in AREAS if (found := PROPOSALS.of(area).items_of(body))), ())


def _print_raw(body: Body) -> None:
    """Print the bytes that the digest is of; on a terminal as readable JSON in plain ASCII."""
    from edgeshift.model.digests import canonical_bytes, essence

    if sys.stdout.isatty():
        sys.stdout.write(json.dumps(essence(body), indent=2) + "\n")
    else:
        sys.stdout.buffer.write(canonical_bytes(essence(body)))
    sys.stdout.flush()


def _json(found: NamedProposal | None, body: Body, digest: str, note: str) -> dict[str, Any]:
    if found is None:
        return {"digest": digest, "body": body}
    from edgeshift.operations.parts import PROPOSALS

    shown = found.preview
    return {
        "campaign": found.campaign,
        "note": note,
        "zone": shown.zone,
        "id": found.state.zone.id,
        "area": shown.area.value,
        "phase": found.state.phase.value,
        "outcome": found.state.outcome.value if found.state.outcome else None,
        "step": shown.step.value,
        "digest": shown.digest,
        "fingerprint": shown.fingerprint,
        "proposal": shown.proposal,
        "waiting": found.waiting,
        "body": shown.body,
        "items": shown.items,
        "additions": shown.additions,
        "losses": shown.losses,
        "compare": shown.compare,
        "carried_over": shown.carried_over,
        "warnings": shown.warnings,
        "drifted": shown.drifted,
        "changes": shown.changes,
        "evidence": shown.evidence,
        "earlier_evidence": None,
        "names": {},
        **PROPOSALS.of(shown.area).json(shown.own),
    }
