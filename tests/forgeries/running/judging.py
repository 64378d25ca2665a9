"""What an attack may have led to that nobody is told of: requests under the enemy's permits, secrets that his
server was told, and records that a worker has signed of what the service does not show.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from edgeshift.authority.statements import BadStatement, ResultStatement, opened
from edgeshift.model.fleet import CLAIMS, ZoneOutcome
from edgeshift.testbed.invariants.kept import load_secrets
from tests.forgeries.running.attack import requests, sent
from tests.forgeries.running.stranger import Stranger
from tests.kit.faults import Stage
from tests.kit.signing import WORKER, key_of

SENDS_NOTHING = frozenset({"given_up", "opened"})
"""What an intent may be of under which nothing is sent."""

AS_SIGNED = frozenset({"commit", "roll_back"})
"""What may be sent of a change that people have just signed, whoever schedules it: the change itself, and the
rollback while it is watched (docs/threat-model.md).
"""

INTENT_PARTS = 3
"""Of the name of an intent: its target, its area, its permit."""

LOG_FIELDS_PUT = "rulesets.put"


@dataclass
class Judge:
    """Looks at what an attack left, and says each thing once."""

    stage: Stage
    said: set[str] = field(default_factory=set)

    @property
    def _archive(self) -> Path:
        return self.stage.play.folder / "state" / "archive"

    async def counted(self, permits: Collection[str], *, signed: bool = False) -> list[str]:
        """Changes that were about to be sent under these permits of the enemy's, and records of any that lie
        where no listing finds them. ``signed``: people have just signed the change itself; the rules say
        whether it was made once.
        """
        nothing = SENDS_NOTHING | (AS_SIGNED if signed else frozenset())

        def found() -> list[str]:
            return [*self._under(permits, nothing), *self._out_of_place()]

        return self.new(await asyncio.to_thread(found))

    async def leaked(self, server: Stranger) -> list[str]:
        """Whether a server of the enemy's was told a secret."""
        if not server.heard:
            return []
        tokens = {
            os.environ.get(credential.reference.removeprefix("env:"), "")
            for credential in self.stage.play.spec.service.credentials
        }
        kept = await asyncio.to_thread(load_secrets, self.stage.play.folder / "simulator")
        learnt = server.learnt({*tokens, *kept.values()})
        return self.new([f"{learnt} secrets told to the enemy's server at {server.port}"] if learnt else [])

    async def untrue(self, zones: Collection[str]) -> list[str]:
        """Records of these zones that a worker has signed, and that say what the service does not show."""
        changed = {request.zone for request in await sent(self.stage) if request.took_effect}
        undone = await self._undone()
        found = await asyncio.to_thread(lambda: list(self._records(zones, changed, undone)))
        return self.new(found)

    def new(self, found: Iterable[str]) -> list[str]:
        """What of this was not said before."""
        fresh = [text for text in found if text not in self.said]
        self.said.update(fresh)
        return fresh

    def _under(self, permits: Collection[str], nothing: Collection[str]) -> Iterable[str]:
        for permit in permits:
            for path in (self._archive / "intent").glob(f"*/*/{permit}*"):
                record = _read(path)
                if _by_worker(record) and record.get("step") not in nothing:
                    yield f"{record.get('step')} of {path.parent.parent.name} under {path.name}"

    def _out_of_place(self) -> Iterable[str]:
        """What a worker has signed under a permit whose name is not one part of a name."""
        intents = self._archive / "intent"
        for path in intents.rglob("*"):
            name = path.relative_to(intents)
            if len(name.parts) != INTENT_PARTS and path.is_file() and _by_worker(_read(path)):
                yield f"a record of what is sent lies at intent/{name}"

    async def _undone(self) -> set[str | None]:
        """Zones of which the service has seen a change go back, whatever they show by now: people may have
        had them changed again. Of waf none does.
        """
        area = self.stage.play.spec.area.value
        seen = [one for one in await requests(self.stage) if one.mutates and one.took_effect]
        if area == "esc":
            return {one.zone for one in seen if one.turns_on}
        # A rollback of log fields looks as a change does.
        puts = Counter(one.zone for one in seen if one.call == LOG_FIELDS_PUT)
        return {zone for zone, times in puts.items() if times > 1}

    def _records(
        self, zones: Collection[str], changed: Collection[str | None], undone: Collection[str | None]
    ) -> Iterable[str]:
        for zone in zones:
            for path in (self._archive / "signed").glob(f"*/result/*/{zone}/*/*"):
                result = self._result(path)
                if result is None or result.outcome not in CLAIMS:
                    continue
                back = result.outcome is ZoneOutcome.ROLLED_BACK
                if zone not in changed or (back and zone not in undone):
                    yield f"a worker signed that {zone} is {result.outcome.value} ({path.name[:8]})"
            if zone in changed:
                continue
            for path in (self._archive / "seen").glob(f"{zone}/*/*"):
                intent = _read(self._archive / "intent" / path.relative_to(self._archive / "seen"))
                if _by_worker(_read(path)) and intent.get("step") == "commit":
                    yield f"a worker signed that a commit of {zone} was seen ({path.name})"
            for path in (self._archive / "gathered").glob(f"{zone}/*"):
                name = path.name
                evidence = _read(self._archive / "objects" / name[:2] / name)
                if _by_worker(_read(path)) and evidence.get("verdict") == "pass" and not self.validates:
                    yield f"a worker signed that evidence of {zone} passes ({name[:8]})"

    @property
    def validates(self) -> bool:
        """Whether zones of the campaign are validated, so that they have evidence of their own."""
        return any(target.zone.plan.value == "enterprise" for target in self.stage.play.targets) and (
            self.stage.play.spec.area.value == "waf"
        )

    def _result(self, path: Path) -> ResultStatement | None:
        """A result that a worker has signed, by where it lies."""
        statement = path.parents[4] / "statement" / path.name
        try:
            said = opened(statement.read_bytes())
        except (OSError, BadStatement):
            return None
        mine = isinstance(said.statement, ResultStatement) and said.key == key_of(WORKER).key
        return said.statement if mine else None  # type: ignore[return-value]


def _read(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _by_worker(record: dict[str, Any]) -> bool:
    return bool(record.get("signed", {}).get("by") == WORKER)
