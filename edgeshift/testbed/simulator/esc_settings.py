"""The setting that disables Edge Side Code, of zones and of accounts (docs/service.md §2.1, §3.1)."""

import hmac
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any, Literal

from edgeshift.testbed.simulator.clock import Clock, parse_timestamp, timestamp
from edgeshift.testbed.simulator.database import Database
from edgeshift.testbed.simulator.fleet_edge import EscScope
from edgeshift.testbed.simulator.options import SimulatorOptions

COOKIE = "disable_esc"
Operation = Literal["begun", "secret", "always", "both", "delete", "enable"]


def zone_scope(zone_id: str) -> str:
    """A zone as a scope: its path below the base path."""
    return f"zones/{zone_id}"


def account_scope(account_id: str) -> str:
    """An account as a scope, which covers its zones, future ones too."""
    return f"accounts/{account_id}"


@dataclass(frozen=True)
class EscSetting:
    """The setting of one scope. `always`: disabled for every request; `secret`: for those that carry it."""

    always: bool = False
    secret: str | None = field(default=None, repr=False)

    def checker(self) -> dict[str, bool]:
        """The setting for the journal: whether there is a secret, never which."""
        return {"always": self.always, "secret": self.secret is not None}

    def admits(self, values: Iterable[str]) -> bool:
        """Whether one of the cookie's values is the secret."""
        secret = self.secret
        return secret is not None and any(
            hmac.compare_digest(secret.encode(), value.encode()) for value in values
        )


@dataclass(frozen=True)
class EscChange:
    """One accepted call. `requested_at` is None for what the fleet began with, which always holds."""

    operation: Operation
    requested_at: datetime | None
    effect_seconds: float
    visibility_seconds: float
    setting: EscSetting


Delay = Callable[[EscChange], float]


class EscSettings:
    """The settings in the database, each with every change it ever had.

    A change takes its seconds (shortened by the time scale) until the edge acts on it, and until reads show
    it.
    """

    def __init__(self, database: Database, clock: Clock, removal: Callable[[], datetime]) -> None:
        """`removal`: from when on there is no Edge Side Code, and nothing of it is configured
        (docs/service.md §8).
        """
        self._connection = database.connection
        self._clock = clock
        self._removal = removal

    @property
    def removed(self) -> bool:
        """Whether the removal date has come, by the simulator's clock."""
        return self._clock.now() >= self._removal()

    def begin(self, scope: str, given: EscScope) -> None:
        """Keep the setting that a scope of the fleet begins with."""
        if given.always or given.with_secret is not None:
            self._append(scope, EscChange("begun", None, 0, 0, EscSetting(given.always, given.with_secret)))

    def change(
        self,
        scope: str,
        operation: Operation,
        options: SimulatorOptions,
        *,
        always: bool | None = None,
        secret: str | None = None,
        clear_secret: bool = False,
    ) -> EscSetting:
        """Accept a change of the parts that are given; returns what the setting becomes."""
        setting = self.accepted(scope)
        if always is not None:
            setting = replace(setting, always=always)
        if secret is not None or clear_secret:
            setting = replace(setting, secret=secret)
        now = self._clock.now()
        seconds = (options.esc_effect_seconds, options.esc_visibility_seconds)
        self._append(scope, EscChange(operation, now, *seconds, setting))
        return setting

    def accepted(self, scope: str) -> EscSetting:
        """What the setting is or becomes, after all that was accepted."""
        if self.removed:
            return EscSetting()
        return next((one.setting for one in self._newest_first(scope)), EscSetting())

    def in_force(self, scope: str) -> EscSetting:
        """What the edge acts on now."""
        return self._at(scope, lambda change: change.effect_seconds)

    def visible(self, scope: str) -> EscSetting:
        """What a GET shows now."""
        return self._at(scope, lambda change: change.visibility_seconds)

    def history(self, scope: str) -> list[dict[str, Any]]:
        """Every change, the oldest first, without secrets; the times are ISO 8601."""
        return [
            {
                "operation": one.operation,
                "requested_at": timestamp(one.requested_at) if one.requested_at else None,
                "in_force_at": timestamp(self._arrival(one.requested_at, one.effect_seconds))
                if one.requested_at
                else None,
                **one.setting.checker(),
            }
            for one in reversed(list(self._newest_first(scope)))
        ]

    def _at(self, scope: str, delay: Delay) -> EscSetting:
        if self.removed:
            return EscSetting()
        now = self._clock.now()
        for change in self._newest_first(scope):
            at = change.requested_at
            # A clock that was put back undoes nothing.
            if at is None or now < at or now >= self._arrival(at, delay(change)):
                return change.setting
        return EscSetting()

    def _arrival(self, requested_at: datetime, seconds: float) -> datetime:
        waited: timedelta = self._clock.lasting(seconds)
        return requested_at + waited

    def _newest_first(self, scope: str) -> Iterable[EscChange]:
        for operation, at, effect, visibility, always, secret in self._connection.execute(
            "SELECT operation, requested_at, effect_seconds, visibility_seconds, always, secret "
            "FROM esc_changes WHERE scope = ? ORDER BY id DESC",
            (scope,),
        ):
            moment = parse_timestamp(at) if at else None
            yield EscChange(operation, moment, effect, visibility, EscSetting(bool(always), secret))

    def _append(self, scope: str, change: EscChange) -> None:
        self._connection.execute(
            "INSERT INTO esc_changes (scope, operation, requested_at, effect_seconds, visibility_seconds, "
            "always, secret) VALUES (?, ?, ?, ?, ?, ?, ?)",
            (
                scope,
                change.operation,
                timestamp(change.requested_at) if change.requested_at else None,
                change.effect_seconds,
                change.visibility_seconds,
                int(change.setting.always),
                change.setting.secret,
            ),
        )
