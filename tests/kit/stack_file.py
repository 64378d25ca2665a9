"""Files of a stack: the campaign file that it writes, for tests that have waves and people of their own, and
what it says of itself.
"""

from __future__ import annotations

import os
from pathlib import Path

from pydantic import ValidationError

from edgeshift.testbed.stack import StackFile
from edgeshift.testbed.stack.areas.waf import REHEARSED


def without_rehearsed(text: str) -> str:
    """The file without the waves and approvers that it has for whoever begins; another area's has none."""
    return text.replace("\n".join(REHEARSED) + "\n", "")


def read_stack_file(folder: Path) -> StackFile | None:
    """What the folder's ``stack.json`` says, if a stack runs there that can be believed."""
    try:
        found = StackFile.model_validate_json((folder / "stack.json").read_bytes())
        os.kill(found.pid, 0)
    except (OSError, ValidationError, OverflowError):
        return None
    return found
