"""Fleets of several users of the service, each with an account and a token, and what befalls all of them."""

from __future__ import annotations

from collections.abc import Sequence

from temporalio.service import RPCError

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


async def begin_held(play: Scene, within: float = 200) -> None:
    """Every token is refused once the targets are listed: none of the zones can be read, and the campaign
    hears of each what it waits for.
    """
    await play.begin(meanwhile=lambda: set_status(play, "expired"))

    async def all_are() -> bool:
        try:
            return len((await play.summary()).holds) == len(play.fleet.credentials)
        except RPCError:
            return False

    await eventually(all_are, within, "all are held")
