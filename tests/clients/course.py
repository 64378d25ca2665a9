"""What a program that drives a client keeps of its course: the result or the error of every step."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

BUCKET = "s3://logs/client?region=us-east-1"
POSTED = "https://logs.example/push?header_Authorization=Basic%20c2VjcmV0"
EXPRESSION = '(http.host eq "shop.example")'
LOG_RULE = {
    "action": "log_custom_field",
    "expression": "true",
    "description": "fields",
    "action_parameters": {"request_fields": [{"name": "x-request-id"}]},
}
EVENTS = '{ viewer { zones(filter: {zoneTag: "%s"}) { zoneTag } } }'
PAGE_TARGET = {"target": "url", "constraint": {"operator": "matches", "value": "*shop.example/a*"}}


@dataclass(frozen=True)
class Place:
    """Where a client is to go, as its program's arguments: the base URL, a token, a zone with its account,
    and the folder in which the customer finds what lies in the buckets."""

    base_url: str
    token: str
    zone: str
    account: str
    buckets: Path

    @classmethod
    def given(cls) -> Place:
        base_url, token, zone, account, buckets = sys.argv[1:]
        return cls(base_url, token, zone, account, Path(buckets))

    def challenge(self, filename: str) -> str:
        """The ownership challenge in the bucket."""
        return (self.buckets / "s3" / "logs" / filename).read_text()


class Course:
    """Runs steps one after another; what goes wrong in one is kept, and the next one follows."""

    def __init__(self) -> None:
        self._steps: dict[str, Any] = {}

    def __call__(self, name: str, step: Callable[[], Any]) -> Any:
        """The step's result, None where it failed."""
        if name in self._steps:
            raise ValueError(f"the step {name} is taken twice")
        try:
            result = step()
            self._steps[name] = {"result": plain(result)}
            return result
        except Exception as error:
            self._steps[name] = {"error": f"{type(error).__name__}: {error}"[:500]}
            return None

    def report(self) -> None:
        """Print every step, as one JSON object by name."""
        print(json.dumps(self._steps))


def plain(value: Any) -> Any:
    """`value` as JSON has it, also a model of the client."""
    if hasattr(value, "model_dump"):
        return value.model_dump(mode="json", by_alias=True, exclude_unset=True)
    if isinstance(value, list | tuple):
        return [plain(one) for one in value]
    if isinstance(value, dict):
        return {key: plain(one) for key, one in value.items()}
    return value
