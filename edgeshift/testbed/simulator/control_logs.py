"""Log delivery and strangers' writes, as the control API shows and drives them."""

from typing import Any

from edgeshift.testbed.simulator.answers import ApiError
from edgeshift.testbed.simulator.ruleset_checks import check_phase, checked_body
from edgeshift.testbed.simulator.rulesets import MANAGED_PHASE
from edgeshift.testbed.simulator.state import State
from edgeshift.testbed.simulator.strangers import StrangerWrite
from edgeshift.testbed.simulator.zone_records import ZoneRecord


class LogControl:
    """Writes rulesets as a stranger, and pushes log entries before they are due."""

    def __init__(self, state: State) -> None:
        self._state = state

    def write(self, record: ZoneRecord, phase: str, body: Any) -> dict[str, Any]:
        """Write now, or arm the write for its moment. Raises ValueError (also pydantic's)."""
        state, write = self._state, StrangerWrite.model_validate(body)
        try:
            check_phase(phase)
            checked_body({"rules": write.rules}, phase, state.options)
        except ApiError as error:
            raise ValueError(error.errors[0]["message"]) from None
        if phase == MANAGED_PHASE:
            raise ValueError("the managed rules are changed by PATCH of the zone: entry_point")
        with state.database.transaction():
            if write.when == "now":
                return {"ruleset": state.strangers.carry_out(record.id, phase, write)}
            state.strangers.arm(record.id, phase, write)
        return {"armed": state.strangers.armed()}

    def writes(self) -> dict[str, Any]:
        """The writes that wait and those that were carried out."""
        return {"armed": self._state.strangers.armed(), "done": self._state.strangers.done()}

    def forget(self) -> dict[str, Any]:
        """Disarm the writes that wait."""
        with self._state.database.transaction():
            return {"removed": self._state.strangers.clear()}

    def standing(self) -> dict[str, Any]:
        """Where the buckets lie, and what waits for delivery."""
        return {"buckets": str(self._state.logs.buckets.absolute()), "jobs": self._state.logs.standing()}

    async def flush(self) -> dict[str, Any]:
        """Push everything that waits."""
        return {"delivered": await self._state.logs.flush(), **self.standing()}
