"""What the documentation of fleet files shows is what the code does."""

import json
import re
from pathlib import Path

import jsonschema
import pytest
from ruamel.yaml import YAML

from edgeshift.cli.fleet import fleet_schema
from edgeshift.testbed.simulator.fleet_file import load_fleet

DOCS = Path(__file__).parents[2] / "docs"


def examples() -> list[str]:
    return re.findall(r"```yaml\n(.*?)```", (DOCS / "fleet-format.md").read_text(encoding="utf-8"), re.DOTALL)


def test_the_schema_in_the_documentation_is_current() -> None:
    """docs/fleet.schema.json is what `edgeshift fleet schema` prints."""
    assert json.loads((DOCS / "fleet.schema.json").read_text(encoding="utf-8")) == fleet_schema()


@pytest.mark.parametrize("number", range(2))
def test_an_example_of_the_documentation_loads_and_fits_the_schema(number: int, tmp_path: Path) -> None:
    """Both examples are fleets, by the loader and by the schema."""
    path = tmp_path / "fleet.yaml"
    path.write_text(examples()[number], encoding="utf-8")
    fleet = load_fleet(path)
    assert [zone.name for zone in fleet.zones][:1] == ["shop.example"]
    document = YAML(typ="safe", pure=True).load(path)
    jsonschema.validate(document, fleet_schema())


def test_the_complete_example_means_what_its_comments_say(tmp_path: Path) -> None:
    """Values, scopes and states of the complete example."""
    path = tmp_path / "fleet.yaml"
    path.write_text(examples()[1], encoding="utf-8")
    fleet = load_fleet(path)
    zones = {zone.name: zone for zone in fleet.zones}
    audit = next(one for one in fleet.credentials if one.label == "audit-token")
    shop, pilot = zones["shop.example"], zones["pilot.example"]
    assert audit.covers(shop.id, shop.account) and not audit.covers(pilot.id, pilot.account)
    assert audit.allows("waf:read") and not audit.allows("waf:edit")
    assert shop.page_rules[0].actions[0].value == "off"
    assert pilot.migration.state == "validation" and pilot.migration.migration_seconds == 3600
