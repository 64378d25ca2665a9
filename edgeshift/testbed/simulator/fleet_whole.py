"""A fleet as a whole: what the simulator is started with."""

from functools import cached_property

from pydantic import model_validator
from pydantic_core import PydanticCustomError

from edgeshift.testbed.simulator.fleet_models import FleetParts, FleetZone
from edgeshift.testbed.simulator.fleet_references import resolve


class Fleet(FleetParts):
    """Everything the simulator is started with. References by name are ids once it is made."""

    @model_validator(mode="after")
    def _resolve(self) -> "Fleet":
        if problems := resolve(self):
            first = f"{'.'.join(map(str, problems[0][0]))}: {problems[0][1]}"
            raise PydanticCustomError("references", "{first}", {"first": first, "problems": problems})
        return self

    @cached_property
    def zones_by_id(self) -> dict[str, FleetZone]:
        """The zones by id."""
        return {zone.id: zone for zone in self.zones}
