"""Writes to a ruleset by somebody else than the client under test, at a chosen moment: at once, or around a
call that the client is going to make."""

import json
from collections.abc import Callable
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from edgeshift.testbed.simulator.answers import ApiError
from edgeshift.testbed.simulator.clock import Clock, timestamp
from edgeshift.testbed.simulator.database import Database
from edgeshift.testbed.simulator.options import SimulatorOptions
from edgeshift.testbed.simulator.ruleset_checks import checked_body
from edgeshift.testbed.simulator.rulesets import Document, Rulesets, prepared

Moment = Literal["before_create", "before_put", "after_put"]
_KEPT = "stranger_writes"


class StrangerWrite(BaseModel):
    """What a stranger does to the ruleset of a phase.

    `replace` puts `rules` in place of those that are there, `append` behind them, `delete` removes the
    ruleset. `when` is `now`, or the client's call of the phase around which it happens, once; `skip` lets so
    many such calls pass first.
    """

    model_config = ConfigDict(extra="forbid")

    rules: list[dict[str, Any]] = Field(default_factory=list)
    how: Literal["replace", "append", "delete"] = "replace"
    when: Literal["now"] | Moment = "now"
    skip: int = Field(0, ge=0)


class ArmedWrite(BaseModel):
    """A write that waits for its moment."""

    zone: str
    phase: str
    write: StrangerWrite


class Strangers:
    """Carries writes out, now or when their moment comes. Those that wait survive a restart."""

    def __init__(
        self,
        database: Database,
        rulesets: Rulesets,
        clock: Clock,
        options: Callable[[], SimulatorOptions],
    ) -> None:
        self._database, self._rulesets, self._clock, self._options = database, rulesets, clock, options
        self._armed = [ArmedWrite.model_validate(one) for one in database.value(_KEPT) or []]

    def armed(self) -> list[dict[str, Any]]:
        """The writes that wait, oldest first."""
        return [one.model_dump(mode="json") for one in self._armed]

    def done(self) -> list[dict[str, Any]]:
        """What was carried out, oldest first: `time`, `zone`, `phase`, `how`, the `rules` that were written,
        the ruleset's `version` since then (None: there is none), and whether it was `refused`, as a client's
        would have been."""
        rows = self._database.connection.execute("SELECT entry FROM stranger_writes ORDER BY id")
        return [json.loads(row[0]) for row in rows]

    def arm(self, zone: str, phase: str, write: StrangerWrite) -> None:
        """Let a write wait for its moment. Call it inside a transaction."""
        self._armed.append(ArmedWrite(zone=zone, phase=phase, write=write))
        self._keep()

    def clear(self) -> int:
        """Forget the writes that wait; how many there were. Call it inside a transaction."""
        count = len(self._armed)
        self._armed.clear()
        self._keep()
        return count

    def met(self, zone: str, phase: str, moment: Moment) -> None:
        """Carry out what was waiting for this moment, in the order in which it was asked for. Call it inside
        a transaction."""
        waiting = [
            one for one in self._armed if (one.zone, one.phase, one.write.when) == (zone, phase, moment)
        ]
        for one in waiting:
            if one.write.skip:
                one.write.skip -= 1
            else:
                self._armed.remove(one)
                self.carry_out(zone, phase, one.write)
        if waiting:
            self._keep()

    def carry_out(self, zone: str, phase: str, write: StrangerWrite) -> Document | None:
        """Do it now; the ruleset as it is then. Call it inside a transaction."""
        refused = False
        try:
            stored = self._written(zone, phase, write)
        except ApiError:
            refused, stored = True, self._rulesets.of_phase(zone, phase)
        entry = {
            "time": timestamp(self._clock.now()),
            "zone": zone,
            "phase": phase,
            "how": write.how,
            "rules": write.rules,
            "version": stored["version"] if stored else None,
            "refused": refused,
        }
        self._database.connection.execute(
            "INSERT INTO stranger_writes (entry) VALUES (?)", (json.dumps(entry),)
        )
        return stored

    def _written(self, zone: str, phase: str, write: StrangerWrite) -> Document | None:
        current = self._rulesets.of_phase(zone, phase)
        if write.how == "delete":
            if current is not None:
                self._rulesets.delete(zone, current["id"])
            return None
        rules = list(write.rules)
        if write.how == "append" and current is not None:
            rules = [*current["rules"], *rules]
        options = self._options()
        body = checked_body({"rules": rules}, phase, options)
        document = prepared(body, current, self._clock.now(), phase=phase, options=options)
        return self._rulesets.store(zone, document)

    def _keep(self) -> None:
        self._database.keep(_KEPT, self.armed())
