"""The settings of one call: options, then the environment, then the stack that runs in this folder, then
defaults.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import NamedTuple

from edgeshift.runtime.settings import Settings, SettingsError, TemporalSettings, load_settings

FOLDER = Path(".edgeshift")
"""Where ``edgeshift up`` keeps its stack unless it is told otherwise."""


class FoundStack(NamedTuple):
    """What a running stack's ``stack.json`` says, as far as it is needed here.

    It is read here and not by edgeshift.stack, since importing that costs each verb half a second.
    """

    address: str
    namespace: str
    archive: str


def _read(file: Path) -> FoundStack | None:
    try:
        found = json.loads(file.read_bytes())
        os.kill(int(found["pid"]), 0)
        return FoundStack(str(found["address"]), str(found["namespace"]), str(found["archive"]))
    except (OSError, ValueError, KeyError, TypeError):
        # None, a damaged one, or one whose stack has ended without taking it away.
        return None


def stack_here(folder: Path | None = None) -> FoundStack | None:
    """The stack that runs in this folder or in one above it, as long as the folders belong to the same
    user.
    """
    start = (folder or Path.cwd()).absolute()
    for place in (start, *start.parents):
        if (found := _read(place / FOLDER / "stack.json")) is not None:
            return found if (place / FOLDER).stat().st_uid == os.getuid() else None
    return None


def settings_here(*, address: str | None, namespace: str | None, archive: str | None) -> Settings:
    """The settings that count. Raises SettingsError, also for an option that is not well-formed."""
    settings = load_settings()
    environment = {name.upper() for name in os.environ}
    stack = stack_here()
    temporal: dict[str, object] = {}
    if stack is not None and "EDGESHIFT_TEMPORAL_ADDRESS" not in environment:
        temporal = {"address": stack.address, "namespace": stack.namespace}
        if "EDGESHIFT_TEMPORAL_NAMESPACE" in environment:
            del temporal["namespace"]
    if address is not None:
        temporal["address"] = address
    if namespace is not None:
        temporal["namespace"] = namespace
    change: dict[str, object] = {}
    if stack is not None and "EDGESHIFT_ARCHIVE_URL" not in environment:
        change["archive_url"] = stack.archive
    if archive is not None:
        change["archive_url"] = archive
    if temporal:
        change["temporal"] = _checked(settings.temporal, temporal)
    return settings.model_copy(update=change)


def _checked(before: TemporalSettings, change: dict[str, object]) -> TemporalSettings:
    try:
        return TemporalSettings.model_validate(before.model_dump() | change)
    except ValueError:
        raise SettingsError(
            f"--address {change.get('address')!r} is not an address: write it as HOST:PORT"
        ) from None
