"""``edgeshift support-resolved``: the provider has fixed a zone."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Annotated

import typer

from edgeshift.cli import candidates
from edgeshift.cli.options import AsJson, By, Campaign, Reason
from edgeshift.cli.shell import Shell, current, run

if TYPE_CHECKING:
    from edgeshift.messages import ZoneState
    from edgeshift.model.fleet import Area


def support_resolved(
    campaign: Campaign,
    zone: Annotated[
        str, typer.Option(help="The zone, by name or identifier.", autocompletion=candidates.zones)
    ],
    reason: Reason = "",
    by: By = "",
    as_json: AsJson = False,
) -> None:
    """Say that the provider has fixed a zone: it is read again, and what came of that is printed."""
    run(_support_resolved(current(), campaign, zone, by, reason))


async def _support_resolved(shell: Shell, campaign: str, zone: str, by: str, reason: str) -> None:
    from edgeshift import operations
    from edgeshift.cli.receipts import ReadAgain, common
    from edgeshift.operations.signed_targets import refuse_other_targets

    state: ZoneState | None = None
    async with shell.temporal(writes=True) as client:
        pen = shell.pen(by, "operator")
        with shell.waiting(f"waiting for zone {zone} to be read again"):
            start = await operations.campaign_here(client, shell.archive(), campaign)
            targets = await operations.frozen_targets(shell.archive(), start.targets)
            found = operations.pick_zone(targets, zone, campaign, start.area)
            # Nothing is signed of a zone that does not wait for it.
            await operations.zone_with_support(client, found)
            if pen is not None:
                await refuse_other_targets(pen, campaign, start.spec, start.targets)
                # Of whichever account: the word permits nothing.
                zones = (found.target.zone.id,)
                await pen.again(campaign, start.spec, "support-resolved", zones=zones, reason=reason)
            before = await operations.support_resolved(client, found, by=by, reason=reason)
            with contextlib.suppress(operations.TemporalTrouble):
                # It was told all the same: what comes of it can be seen later.
                state = await operations.read_again(client, found, before)
    if not shell.as_json:
        _say_result(shell, found.name, start.area, state)
        return
    receipt = ReadAgain(
        **common(shell, "support-resolved", campaign, by, reason), zone=found.name, read=state is not None
    )
    if state is not None:
        receipt.needs_support = _still(state)
        receipt.phase, receipt.outcome = state.phase.value, state.outcome.value if state.outcome else None
        receipt.reasons, receipt.tickets = list(state.reasons), list(state.tickets)
    receipt.text = _sentence(found.name, start.area, state)
    shell.print_json(receipt)


def _still(state: ZoneState) -> bool:
    from edgeshift.messages import ZonePhase

    return state.phase is ZonePhase.NEEDS_SUPPORT


def _sentence(zone: str, area: Area, state: ZoneState | None) -> str:
    """What the zone came to when it was read again."""
    from edgeshift.views.words import look, word

    if state is None:
        return f"Zone {zone} is being read again. Its result is not there yet."
    if _still(state):
        why = f": {'; '.join(state.reasons)}" if state.reasons else ""
        return f"Zone {zone} was read again. It still needs support{why}."
    now = look(state.outcome, area).label if state.outcome else word(state.phase, area)
    return f"Zone {zone} was read again. It needs no support any more; it is now: {now}."


def _say_result(shell: Shell, zone: str, area: Area, state: ZoneState | None) -> None:
    still = state is not None and _still(state)
    shell.tell(_sentence(zone, area, state), indent=0, style="yellow" if still else "")
    for ticket in state.tickets if state is not None and still else ():
        # Whole, so that it can be copied.
        shell.console.print(f"  its ticket: {ticket}", markup=False, soft_wrap=True)
