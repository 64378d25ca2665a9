"""The JSON schema of campaign files, by which editors complete and check them. Pure.

It says which options there are, what each means and which values it takes by itself. What several of them
mean together (parts of another area, percentages beyond 100) is known to the validators alone.
"""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

from pydantic import TypeAdapter
from pydantic.json_schema import GenerateJsonSchema

from edgeshift.campaign_file.options import as_yaml
from edgeshift.campaign_file.spec import CampaignSpec
from edgeshift.model.durations import Duration
from edgeshift.model.validators import RIGHT, WHOLE

DIALECT = "https://json-schema.org/draft/2020-12/schema"

_READ = TypeAdapter(Duration).json_schema()
"""Of a duration wherever one is read."""

_DURATION = next(choice for choice in _READ["anyOf"] if choice["type"] == "string")
"""Of one in a campaign file, where a bare number is none."""


class _AsWritten(GenerateJsonSchema):
    """Defaults as people write them: ``1h``, not 3600 seconds."""

    def encode_default(self, dft: Any) -> Any:
        return as_yaml(dft) if isinstance(dft, timedelta) else super().encode_default(dft)


def campaign_schema() -> dict[str, Any]:
    """The schema as a JSON document."""
    made = CampaignSpec.model_json_schema(schema_generator=_AsWritten)
    parts = {name: _part(part) for name, part in made.pop("$defs").items()}
    return {
        "$schema": DIALECT,
        "title": "A campaign of edgeshift",
        "description": "`edgeshift init` writes a file in which every option is explained.",
        **_part(made),
        "$defs": {"Duration": _DURATION, **parts},
    }


def schema_text() -> str:
    """The schema as ``edgeshift campaign-schema`` prints it and docs/campaign.schema.json has it."""
    return json.dumps(campaign_schema(), indent=2, ensure_ascii=False) + "\n"


def _part(part: dict[str, Any]) -> dict[str, Any]:
    """The schema of one model, without the docstring of its class: that is for readers of the code."""
    kept = {key: value for key, value in part.items() if key not in ("title", "description")}
    if "properties" in kept:
        kept["properties"] = {name: _option(option) for name, option in kept["properties"].items()}
    return kept


def _option(option: dict[str, Any]) -> dict[str, Any]:
    kept = {key: value for key, value in option.items() if key not in ("title", WHOLE)}
    if kept.get("anyOf") == _READ["anyOf"]:
        del kept["anyOf"]
        kept = {"$ref": "#/$defs/Duration", **kept}
    elif _DURATION in kept.get("anyOf", ()):
        others = [choice for choice in kept["anyOf"] if choice not in _READ["anyOf"]]
        kept["anyOf"] = [{"$ref": "#/$defs/Duration"}, *others]
    if _holds_mapping(kept.get("default")):
        # The defaults of a part are those of its options, where they are explained.
        del kept["default"]
    if RIGHT in kept and "pattern" not in kept:
        # Editors look for it beside the pattern.
        said = kept.pop(RIGHT)
        choices = [*kept.get("anyOf", ()), kept.get("items", {})]
        for choice in choices:
            if "pattern" in choice:
                choice[RIGHT] = said
    return kept


def _holds_mapping(default: object) -> bool:
    return isinstance(default, dict) or (isinstance(default, list) and any(map(_holds_mapping, default)))
