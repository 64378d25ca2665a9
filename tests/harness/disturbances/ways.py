"""The ways that zones go through an area, as the stage for what is done beside a campaign."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from temporalio.service import RPCError

from edgeshift.messages import ZonePhase
from tests.harness.campaigns.stages import ESC, LOG_FIELDS, esc_zone, log_zone, over
from tests.kit.faults import Stage, zone

TOO_LONG = [{"expression": f'http.request.uri.path eq "/{"x" * 4097}"', "products": ["waf"]}]
OVERRIDE = {"urls": ["shop.example/admin/*"], "rules": {"100000": "disable"}}

COMMIT: dict[str, Any] = {
    "resend_unchanged": 1,
    "migration_limit": "8s",
    "turn_window": "2s",
    "send_window": "3s",
    "margin": "1s",
    "lease": "30s",
    "poll": "1s",
}
"""Time-outs that are over within seconds."""

SHORT_LEASE = {**COMMIT, "lease": "8s"}
"""The permit's too."""

REQUEST_LIMIT = "5s"

PAST_EVERY_TIMEOUT = 25.0
"""Seconds: past a step's time to be sent and answered (11), a short permit's lease and its margin (8 + 15),
the silence of an activity (3), and a workflow task (4).
"""


@dataclass(frozen=True)
class Way:
    """One way. ``zone``: a zone of a name that goes it. ``outcome``: where it leads when nobody meddles.
    ``phases``: those in which somebody may come, with the faults of the service that make each last.
    """

    name: str
    area: str
    zone: Callable[[str], dict[str, Any]]
    outcome: str
    phases: Mapping[ZonePhase, tuple[dict[str, Any], ...]]
    terms: dict[str, Any] = field(default_factory=dict)
    simulator: dict[str, Any] = field(default_factory=dict)
    supported: bool = False

    @property
    def done(self) -> frozenset[str]:
        """Outcomes that are the same to whoever asks what is so at the service."""
        return frozenset(
            {self.outcome, self.outcome if self.outcome == "rolled_back" else f"already_{self.outcome}"}
        )

    async def people(self, stage: Stage) -> None:
        """Let support fix what zones wait for, until cancelled."""
        while self.supported:
            await asyncio.sleep(0.3)
            for short in stage.names:
                if await _waits_for_support(stage, short):
                    await fix(stage, short)


async def fix(stage: Stage, short: str) -> None:
    """Support fixes a zone, and a person says so."""
    await stage.change(short, firewall_rules=[])
    # The zone may have been told to stop meanwhile, or be started anew: it then sees for itself.
    with suppress(RPCError):
        await stage.play.resolve_support(stage.name(short))


async def _waits_for_support(stage: Stage, short: str) -> bool:
    try:
        async with asyncio.timeout(5):
            return (await stage.play.state(stage.name(short))).phase is ZonePhase.NEEDS_SUPPORT
    except Exception:
        # Nobody answers for it at the moment, or it has not begun, or it is over.
        return False


def _slow(call: str, seconds: float = 3.0) -> dict[str, Any]:
    return {"kind": "latency", "match": {"call": call}, "seconds": seconds}


LONG_WAIT = "40d"
"""How long a zone waits for support: four minutes, while others are flooded with messages first."""

PUT = (_slow("entrypoint.put"),)
SET = (_slow("esc.set"),)
RULES = (_slow("rulesets.put"),)

WAYS: dict[str, Way] = {
    way.name: way
    for way in (
        Way(
            "professional",
            "waf",
            zone,
            "migrated",
            {
                ZonePhase.ASSESSING: (_slow("waf.check"),),
                ZonePhase.AWAITING_SIGN_OFF: (),
                ZonePhase.COMMITTING: PUT,
                ZonePhase.VERIFYING: (),
                ZonePhase.CLOSED: (),
            },
            {"commit": COMMIT},
            {"migration_seconds": 57_600},
        ),
        Way(
            "enterprise",
            "waf",
            lambda name: zone(name, "enterprise"),
            "migrated",
            {
                ZonePhase.STARTING_VALIDATION: PUT,
                ZonePhase.VALIDATING: (),
                ZonePhase.AWAITING_SIGN_OFF: (),
                ZonePhase.COMMITTING: PUT,
                ZonePhase.VERIFYING: (),
                ZonePhase.CLOSED: (),
            },
            {"commit": COMMIT, "validation": {"window": "16h"}},
            {"migration_seconds": 57_600},
        ),
        Way(
            "support",
            "waf",
            lambda name: zone(name, firewall_rules=TOO_LONG),
            "migrated",
            {ZonePhase.NEEDS_SUPPORT: (), ZonePhase.AWAITING_SIGN_OFF: (), ZonePhase.COMMITTING: PUT},
            {"commit": COMMIT, "waits_for_support": LONG_WAIT},
            {"migration_seconds": 57_600},
            supported=True,
        ),
        Way(
            "overrides",
            "waf",
            lambda name: zone(name, uri_overrides=[OVERRIDE]),
            "migrated",
            {
                ZonePhase.AWAITING_SIGN_OFF: (),
                ZonePhase.DELETING_OVERRIDES: (_slow("waf.overrides.delete"),),
                ZonePhase.COMMITTING: PUT,
                ZonePhase.VERIFYING: (),
            },
            {"commit": COMMIT, "consents": {"delete_uri_overrides": True}},
            {"migration_seconds": 57_600},
        ),
        Way(
            "secret",
            "esc",
            esc_zone,
            "settled",
            {
                ZonePhase.SETTING_SECRET: SET,
                ZonePhase.AWAITING_SIGN_OFF: (),
                ZonePhase.COMMITTING: SET,
                ZonePhase.WATCHING: (),
                ZonePhase.CLOSED: (),
            },
            over(ESC, commit=COMMIT, esc={"observe": "4s"}),
            {"esc_effect_seconds": 3_000, "esc_visibility_seconds": 3_000},
        ),
        Way(
            "worse",
            "esc",
            lambda name: esc_zone(name, worse=True),
            "rolled_back",
            {ZonePhase.COMMITTING: SET, ZonePhase.ROLLING_BACK: (_slow("esc.delete"),), ZonePhase.CLOSED: ()},
            over(ESC, commit=COMMIT),
        ),
        Way(
            "shared",
            "log-fields",
            lambda name: log_zone(name, foreign=True),
            "settled",
            {
                ZonePhase.AWAITING_SIGN_OFF: (),
                ZonePhase.COMMITTING: RULES,
                ZonePhase.WATCHING: (),
                ZonePhase.CLOSED: (),
            },
            over(LOG_FIELDS, commit=COMMIT, log_fields={"verify": "4s"}),
        ),
        Way(
            "unseen",
            "log-fields",
            lambda name: log_zone(name, foreign=True),
            "rolled_back",
            {ZonePhase.COMMITTING: RULES, ZonePhase.ROLLING_BACK: RULES, ZonePhase.CLOSED: ()},
            over(LOG_FIELDS, commit=COMMIT, log_fields={"unverified": "roll_back"}),
        ),
    )
}

IN_PART = {"shared": frozenset({"rolled_back"})}
"""Ways whose step is several requests: one that is interrupted between them is taken back."""
