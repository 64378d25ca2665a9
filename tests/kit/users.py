"""Fleets of several users of the service, each with an account and a token, and what befalls all of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from temporalio.service import RPCError

from edgeshift.messages import CampaignSummary
from edgeshift.testbed.simulator.fleet_file import Fleet
from tests.kit import Scene, eventually
from tests.kit.held import set_status


def fleet_of_users(names: Sequence[str], count: int, tag: str = "") -> Fleet:
    """A fleet of so many zones, in turn one of each user. ``tag``: tells them from another scene's."""
    return Fleet.model_validate(
        {
            "users": [{"email": f"{name}@example.com"} for name in names],
            "credentials": [
                {"label": name, "user": f"{name}@example.com", "accounts": [name]} for name in names
            ],
            "accounts": [{"name": name} for name in names],
            "zones": [
                {"name": f"z{number}{tag}.example", "plan": "pro", "account": names[number % len(names)]}
                for number in range(count)
            ],
        }
    )


def names_of(count: int) -> list[str]:
    """Names of so many users."""
    return [f"u{number}" for number in range(count)]


async def all_held(play: Scene, within: float = 150) -> None:
    """Every token is refused once all zones wait for their sign-offs; then all are signed, and the campaign
    hears of each what it waits for.
    """
    zones, users = len(play.fleet.zones), len(play.fleet.credentials)

    async def says(holds: Callable[[CampaignSummary], bool]) -> bool:
        try:
            return holds(await play.summary())
        except RPCError:
            return False

    await eventually(lambda: says(lambda found: found.places.get("awaiting") == zones), within, "all wait")
    await set_status(play, "expired")
    for zone in play.fleet.zones:
        await play.sign_zone(zone.name)
    await eventually(lambda: says(lambda found: len(found.holds) == users), within, "all are held")
