"""A document of a verb, written as JSON on stdout."""

from __future__ import annotations

import json
import sys
from typing import Any

from edgeshift.cli.streams import speaks_unicode
from edgeshift.runtime.safe_text import json_text


def print_json(value: object) -> None:
    """Print a value: no colours, no wrapping. Models are dumped. What a terminal would obey, or lacks, is
    escaped as JSON does it.
    """

    def plain(item: Any) -> Any:
        if hasattr(item, "model_dump"):
            return item.model_dump(mode="json")
        raise TypeError(f"{type(item).__name__} has no JSON")

    text = json.dumps(value, indent=2, ensure_ascii=not speaks_unicode(sys.stdout), default=plain)
    sys.stdout.write(json_text(text) + "\n")
    sys.stdout.flush()
