"""What a shell offers where a name is typed: campaigns, zones, phases, outcomes, environments. Whatever
cannot be found out within a second is not offered, and nothing here ever fails.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Callable, Iterable
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from temporalio.client import Client

    from edgeshift.cli.shell import Shell

WITHIN = 1.0
"""Seconds for which Temporal and the archive are waited for."""

MOST = 200
"""Names that are offered."""

MOST_CAMPAIGNS = 3
"""Of how many campaigns the zones are offered where none is named, the newest first."""

_PLAIN = re.compile(r"\w[\w.:@+-]*")
"""What is offered. Strangers choose names, too, and a shell may expand or run what stands in others."""


def environments(incomplete: str) -> list[str]:
    """The named environments."""
    from edgeshift.runtime.environments import names_here

    return _like(names_here(), incomplete)


def campaigns(ctx: typer.Context, incomplete: str) -> list[str]:
    """The campaigns, the newest first."""
    return _asked(ctx, incomplete, _campaigns)


def zones(ctx: typer.Context, incomplete: str) -> list[str]:
    """The zones of the campaign that is named, or of the newest ones."""
    named = _given(ctx).get("campaign") or _positional(ctx, "campaign")
    return _asked(ctx, incomplete, lambda shell, client: _zones(shell, client, named))


def phases(incomplete: str) -> list[str]:
    """What ``status --phase`` takes."""
    from edgeshift.views.rows import AS_PLACE
    from edgeshift.views.words import PLACES

    return _like(sorted({*AS_PLACE, *PLACES}), incomplete)


def outcomes(ctx: typer.Context, incomplete: str) -> list[str]:
    """The outcomes that ``retry`` or ``reopen`` begins again."""
    from edgeshift.operations.again import outcomes_for

    return _like(outcomes_for(str(ctx.info_name)), incomplete)


def _like(names: Iterable[str], incomplete: str) -> list[str]:
    return [name for name in names if _offered(name, incomplete)][:MOST]


def _offered(name: str, incomplete: str) -> bool:
    return name.startswith(incomplete) and _PLAIN.fullmatch(name) is not None


def _given(ctx: typer.Context) -> dict[str, Any]:
    """What was typed so far, by parameter: shared options stand before the verb or after it."""
    found: dict[str, Any] = {}
    at: Any = ctx
    while at is not None:
        found = {**at.params, **{name: value for name, value in found.items() if value is not None}}
        at = at.parent
    return found


def _positional(ctx: typer.Context, name: str) -> str | None:
    """The first argument of a command whose argument it is: the parser gives up before it where an option
    still lacks its value, and leaves the words as they are.
    """
    arguments = [one.name for one in ctx.command.params if one.param_type_name == "argument"]
    return ctx.args[0] if ctx.args and arguments[:1] == [name] else None


def _asked(
    ctx: typer.Context, incomplete: str, names: Callable[[Shell, Client], AsyncIterator[str]]
) -> list[str]:
    import asyncio

    from edgeshift.cli.shell import Shell

    given = _given(ctx)
    shell = Shell(
        address=given.get("address"),
        namespace=given.get("namespace"),
        archive_url=given.get("archive"),
        environment=given.get("env"),
        quiet=True,
    )
    found: dict[str, None] = {}

    async def gather() -> None:
        async with asyncio.timeout(WITHIN), shell.temporal() as client:
            async for name in names(shell, client):
                if _offered(name, incomplete):
                    found[name] = None
                    if len(found) == MOST:
                        return

    try:
        asyncio.run(gather())
    except Exception:
        # Nobody asked for an error: what was found by then is offered.
        return list(found)
    return list(found)


async def _campaigns(shell: Shell, client: Client) -> AsyncIterator[str]:
    from edgeshift.model.fleet import campaign_name
    from edgeshift.views.finding import campaigns as every

    async for execution in every(client):
        yield campaign_name(execution.id)


async def _zones(shell: Shell, client: Client, campaign: str | None) -> AsyncIterator[str]:
    from edgeshift.operations.campaigns import campaign_input
    from edgeshift.operations.errors import NotFound, Unreadable
    from edgeshift.operations.zones import frozen_targets

    archive = shell.archive()
    looked_at = 0
    async for name in _one(campaign) if campaign else _campaigns(shell, client):
        try:
            start = await campaign_input(client, name)
        except (NotFound, Unreadable):
            continue
        for target in await frozen_targets(archive, start.targets):
            yield target.zone.name
        looked_at += 1
        if looked_at == MOST_CAMPAIGNS:
            return


async def _one(name: str) -> AsyncIterator[str]:
    yield name
