"""A simulator for a client to drive, and what came of it."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from edgeshift.testbed.simulator.fleet_file import Credential, Fleet, FleetAccount, FleetUser, FleetZone
from tests.service.simulated import simulated

ROOT = Path(__file__).parents[2]
SHOP = "shop.example"


@dataclass(frozen=True)
class Driven:
    """Every step of a client's course by its name (`result` or `error`), and the simulator's journal."""

    steps: dict[str, dict[str, Any]]
    journal: list[dict[str, Any]]

    def __getitem__(self, step: str) -> Any:
        """The result of a step that must have succeeded."""
        assert "result" in self.steps[step], (step, self.steps[step])
        return self.steps[step]["result"]

    @property
    def errors(self) -> dict[str, str]:
        return {name: step["error"] for name, step in self.steps.items() if "error" in step}

    @property
    def refusals(self) -> list[tuple[str, int, str | None]]:
        """The calls that the simulator refused, each with its status and why."""
        return [(one["call"], one["status"], one["refusal"]) for one in self.journal if one["status"] >= 400]


def a_fleet() -> Fleet:
    """An Enterprise zone that has not migrated, and more zones than a page holds."""
    others = [FleetZone(name=f"other-{number}.example", plan="pro") for number in range(7)]
    return Fleet(
        users=[FleetUser(email="ada@example.com")],
        credentials=[Credential(label="ada-token")],
        accounts=[FleetAccount(name="First")],
        zones=[FleetZone(name=SHOP, plan="enterprise"), *others],
    )


def driven(
    program: Sequence[str | Path], data: Path, *, env: dict[str, str] | None = None, **options: Any
) -> Driven:
    """Let a program drive its client to the end: it gets the arguments of course.Place, and prints its
    steps. `options` are the simulator's."""
    return asyncio.run(_driven([str(part) for part in program], data, env or {}, options))


async def _driven(program: list[str], data: Path, env: dict[str, str], options: dict[str, Any]) -> Driven:
    fleet = a_fleet()
    async with simulated(data, fleet=fleet, **options) as call:
        zone = fleet.zones[0]
        place = (
            call.server.base_url,
            fleet.credentials[0].value,
            zone.id,
            zone.account,
            str(data / "buckets"),
        )
        process = await asyncio.create_subprocess_exec(
            *program,
            *place,
            cwd=ROOT,
            env={**os.environ, "NO_PROXY": "*", **env},
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        said, complained = await process.communicate()
        assert process.returncode == 0, complained.decode()
        return Driven(json.loads(said), await call.journal())
