"""A fleet as a whole: what the simulator is started with."""

from pydantic import model_validator
from pydantic_core import PydanticCustomError

from edgeshift.testbed.simulator.fleet_models import FleetParts, Where
from edgeshift.testbed.simulator.fleet_references import resolve


def _wrong_logs(fleet: FleetParts) -> list[tuple[Where, str]]:
    """Custom log fields that the fleet's profile does not allow a zone."""
    return [
        (("zones", place, "logs"), told)
        for place, zone in enumerate(fleet.zones)
        if zone.logs.fields and (told := zone.logs.wrong_by(fleet.profile))
    ]


class Fleet(FleetParts):
    """Everything the simulator is started with. References by name are ids once it is made."""

    @model_validator(mode="after")
    def _resolve(self) -> "Fleet":
        if problems := [*resolve(self), *_wrong_logs(self)]:
            first = f"{'.'.join(map(str, problems[0][0]))}: {problems[0][1]}"
            raise PydanticCustomError("references", "{first}", {"first": first, "problems": problems})
        return self
