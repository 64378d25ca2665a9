"""What a campaign of the area log-fields needs to know of a stack's simulator: where log entries are."""

from __future__ import annotations

import json

from edgeshift.testbed.stack.parts import StackPart
from edgeshift.testbed.stack.paths import StackPaths


class LogFieldsStack(StackPart):
    """The section log_fields."""

    def section(self, places: StackPaths, edge: str) -> list[str]:
        """A few fields, and the bucket that log jobs push to."""
        entries = (places.simulator / "buckets" / "s3" / "edge-logs").as_uri()
        return [
            "log_fields:",
            '  request_headers: ["user-agent", "referer"]',
            '  response_headers: ["content-type"]',
            f"  entries: {json.dumps(f'{entries}/{{zone}}')}",
        ]


PART = LogFieldsStack()
