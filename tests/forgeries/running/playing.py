"""A campaign of an area that is attacked while it runs, in every way there is, and goes on to its end."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from traceback import extract_tb
from typing import Any

from temporalio.client import Client

from edgeshift.authority.signing import FileSigner
from edgeshift.authority.sshsig import PrivateKey
from edgeshift.messages import ZonePhase
from edgeshift.runtime.settings import TemporalSettings
from edgeshift.runtime.temporal import connect
from tests.forgeries.running import activities, activities_of_areas, archived, ends, foreign, starts, words
from tests.forgeries.running.attack import ENEMY, REVOKED_KEY
from tests.forgeries.running.begun_again import LEFT_ALONE, begun_again
from tests.forgeries.running.beside import Attacked, Tried
from tests.forgeries.running.judging import Judge
from tests.forgeries.running.kinds import KINDS
from tests.forgeries.running.listed import AREAS, PHASES, Phase, Try
from tests.harness.campaigns.authority import BOTH as TWO_WITH_FOUR_EYES
from tests.harness.campaigns.stages import ESC, LOG_FIELDS, TURNS, esc_zone, log_zone, over
from tests.kit import APPROVER, OPERATOR
from tests.kit.faults import Stage, staged, zone
from tests.kit.foreign import foreign_worker
from tests.kit.queue import on_queue

__all__ = [
    "AREAS",
    "KINDS",
    "Attacked",
    "Tried",
    "activities",
    "activities_of_areas",
    "archived",
    "attacked",
    "ends",
    "foreign",
    "starts",
    "words",
]

ROSTER = replace(
    TWO_WITH_FOUR_EYES.with_role(OPERATOR, "approver"),
    keys={APPROVER: REVOKED_KEY},
    revoked=((APPROVER, REVOKED_KEY),),
)
"""Two have to approve, and whoever has started it is none of them, though approver of others; one of them has
several keys, of which one was revoked.
"""

LONG = {"expires_after": "3650d", "valid_for": "3650d"}
"""Nothing expires while one attack follows the other."""

AT_ONCE = 3
"""Zones that are attacked at the same time; one more is left alone, and keeps the campaign open."""

WAITS, CHANGED, VALIDATED, BACK = "a", "b", "v", "w"
"""Zones of a campaign that is aborted."""

ENDS_EARLY = (Phase.VALIDATING, Phase.CHANGED, Phase.ABORTED)

LEAST_WINDOW, A_TRY = 10.0, 1.0
"""Seconds of a validation window, and what is added for each attack."""


def _fleet(area: str, names: Sequence[str]) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Zones of an area that propose the same, and the campaign's terms."""
    if area == "esc":
        return [esc_zone(name, worse=name == BACK) for name in names], ESC
    if area == "log-fields":
        return [log_zone(name, foreign=True) for name in names], LOG_FIELDS
    return [zone(name, "enterprise" if name == VALIDATED else "pro") for name in names], {}


@asynccontextmanager
async def _beside_a_campaign(
    client: Client, folder: Path, area: str, names: Sequence[str], tried: Tried, **more: Any
) -> AsyncIterator[Attacked]:
    """A running campaign of these zones whose workers know one service alone, and the enemy beside it."""
    zones, terms = _fleet(area, names)
    address = client.service_client.config.target_host
    async with (
        AsyncExitStack() as servers,
        staged(
            client,
            folder,
            *zones,
            authority=ROSTER,
            sign_off={**ROSTER.policy, **LONG},
            paced=True,
            **over(terms, commit=TURNS, **more),
        ) as stage,
    ):
        assert stage.play.keys is not None
        stage.play.keys.write(replace(ROSTER, service=stage.play.spec.service.base_url))
        connected = await connect(TemporalSettings(address=address), identity=ENEMY)
        enemy = on_queue(connected, f"faults-{stage.tag}")
        async with foreign_worker(enemy) as own, _visited(stage, area):
            key = FileSigner(PrivateKey.made())
            play = Attacked(stage, enemy, key, tried, area, own, servers, Judge(stage))
            yield play
            await play.told_later()


async def attacked(
    client: Client,
    folder: Path,
    area: str,
    tries: Sequence[Try],
    tried: Tried,
    *,
    whole: bool = True,
    at_once: int = AT_ONCE,
) -> None:
    """Attack campaigns of an area in these ways, and have them go on. ``whole``: whether one is ended and
    signed in others' names as well. ``at_once``: zones that are attacked at the same time.
    """
    by_phase = {phase: [one for one in tries if one.phase is phase] for phase in PHASES[area]}
    names = [f"z{number}" for number in range(at_once + 1)]
    async with _named(tried, area), _beside_a_campaign(client, folder / "long", area, names, tried) as play:
        await play.all_of([one.kind for one in by_phase[Phase.WAITING]])
        if whole:
            await play.aborted_by_nobody()
            await play.book_of_nobodys()
        if by_phase[Phase.PAUSED]:
            await play.paused(by_phase[Phase.PAUSED])
        await play.ends(by_phase[Phase.COMMITTING])
        await play.all_beside(by_phase[Phase.CLOSED], names)
    if any(by_phase.get(phase) for phase in ENDS_EARLY):
        async with _named(tried, area):
            await _ended_early(client, folder / "short", area, by_phase, tried)


@asynccontextmanager
async def _named(tried: Tried, area: str) -> AsyncIterator[None]:
    """A campaign that does not go on is named; the others are attacked all the same."""
    try:
        yield
    except Exception as why:
        tried.held_up.append(f"{area}: {type(why).__name__}: {why}"[:400] + f" ({_asked_at(why)})")


def _asked_at(why: Exception) -> str:
    """The last lines of these tests that the error came through: that a call ran out does not say which."""
    frames = [frame for frame in extract_tb(why.__traceback__) if "/tests/" in frame.filename]
    return " < ".join(f"{Path(frame.filename).name}:{frame.lineno}" for frame in frames[:-4:-1])


async def _ended_early(
    client: Client,
    folder: Path,
    area: str,
    by_phase: Mapping[Phase, Sequence[Try]],
    tried: Tried,
) -> None:
    """A campaign of which one zone is validated, where its area validates; one is changed, and one of esc
    taken back; and which people then abort.
    """
    validating = by_phase.get(Phase.VALIDATING, ())
    names = [*([VALIDATED] if area == "waf" else ()), WAITS, CHANGED, *([BACK] if area == "esc" else ())]
    window = f"{4 * round(LEAST_WINDOW + A_TRY * len(validating))}h"
    more = {"validation": {"window": window}} if area == "waf" else {}
    async with _beside_a_campaign(client, folder, area, names, tried, **more) as play:
        stage = play.stage
        if validating:
            await stage.phase(VALIDATED, ZonePhase.VALIDATING)
            await play.all_beside(validating, [VALIDATED])
        for short in names[names.index(CHANGED) :]:
            await stage.waits(short, LEFT_ALONE)
            await stage.play.sign_zone(stage.name(short))
            await stage.outcome(short, LEFT_ALONE)
        await stage.waits(WAITS, LEFT_ALONE)
        await play.all_beside(by_phase[Phase.CHANGED], names)
        # The enemy may have ended the one that waits, and with it the campaign.
        await begun_again(stage, WAITS)
        await stage.play.ask("abort", "enough")
        await stage.play.result()
        await play.all_beside(by_phase[Phase.ABORTED], names)


def _visited(stage: Stage, area: str) -> AbstractAsyncContextManager[None]:
    """Visitors come, whose entries are to show the fields."""
    if area == "log-fields":
        return stage.play.visited(*map(stage.name, stage.names), count=4, every=1)
    return nullcontext()
