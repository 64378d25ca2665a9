"""The settings of one call: options, then a named environment, or the variables and the stack that runs in
this folder, then defaults.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from pydantic import ValidationError

from edgeshift.model.addresses import is_loopback_host
from edgeshift.runtime.settings import Settings, SettingsError, TemporalSettings, load_settings

if TYPE_CHECKING:
    from edgeshift.runtime.environments import Environment

FOLDER = Path(".edgeshift")
"""Where ``edgeshift up`` keeps its stack unless it is told otherwise."""


_MORE = ("authority", "ui", "campaign")


class FoundStack(NamedTuple):
    """What a running stack's ``stack.json`` says, as far as it is needed here.

    It is read here and not by edgeshift.testbed.stack, since importing that costs each verb half a second.
    """

    address: str
    namespace: str
    archive: str
    authority: str | None = None
    ui: str | None = None
    campaign: str | None = None


def _read(file: Path) -> FoundStack | None:
    try:
        found = json.loads(file.read_bytes())
        pid, (host, _, port) = found["pid"], str(found["address"]).rpartition(":")
        # A stranger may have written it into what was cloned: 0 and less stand for processes of one's own,
        # and whoever answers at the address is sent the API key.
        if type(pid) is not int or pid <= 0 or not port.isdecimal() or not is_loopback_host(host.strip("[]")):
            return None
        os.kill(pid, 0)
        return FoundStack(
            str(found["address"]),
            str(found["namespace"]),
            str(found["archive"]),
            *(None if (value := found.get(name)) is None else str(value) for name in _MORE),
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError):
        # None, a damaged one, or one whose stack has ended without taking it away.
        return None


def _nearest(folder: Path | None) -> tuple[Path, FoundStack | None] | None:
    """The nearest folder of a stack, in this folder or above it, and the stack if it runs."""
    start = (folder or Path.cwd()).absolute()
    for place in (start, *start.parents):
        own = place / FOLDER
        if (found := _read(own / "stack.json")) is not None:
            return own, found
        # The ports stay from one start to the next.
        if (own / "ports.json").exists() and own.stat().st_uid == os.getuid():
            return own, None
    return None


def stack_here(folder: Path | None = None) -> FoundStack | None:
    """The stack that runs in this folder or in one above it, as long as the folders belong to the same
    user. One that has stopped is nearer than one that runs farther above: then there is none.
    """
    nearest = _nearest(folder)
    return nearest[1] if nearest is not None and nearest[0].stat().st_uid == os.getuid() else None


def stopped_stack(folder: Path | None = None) -> Path | None:
    """The nearest folder of a stack that does not run, in this folder or above it. None where one runs, where
    there is none, and where the environment says which Temporal is meant.

    Settings never fall back from it to the default address: whatever answers there is somebody else's.
    """
    if "EDGESHIFT_TEMPORAL_ADDRESS" in {name.upper() for name in os.environ}:
        return None
    nearest = _nearest(folder)
    return nearest[0] if nearest is not None and nearest[1] is None else None


def settings_here(
    *, address: str | None, namespace: str | None, archive: str | None, named: Environment | None = None
) -> Settings:
    """The settings that count. ``named``: the environment that was chosen; then the stack of this folder
    counts for nothing. Raises SettingsError, also for an option that is not well-formed.
    """
    settings = named.settings() if named else load_settings()
    environment = {name.upper() for name in os.environ}
    stack = None if named else stack_here()
    temporal: dict[str, object] = {}
    if stack is not None and "EDGESHIFT_TEMPORAL_ADDRESS" not in environment:
        temporal = {"address": stack.address, "namespace": stack.namespace}
        if stack.ui:
            temporal["ui"] = stack.ui
        if "EDGESHIFT_TEMPORAL_NAMESPACE" in environment:
            del temporal["namespace"]
    if address is not None:
        # The web pages that are known are those of another server.
        temporal |= {"address": address, "ui": None}
    if namespace is not None:
        temporal["namespace"] = namespace
    change: dict[str, object] = {}
    if stack is not None and "EDGESHIFT_ARCHIVE_URL" not in environment:
        change["archive_url"] = stack.archive
    elif (
        not named and "EDGESHIFT_ARCHIVE_URL" not in environment and (stopped := stopped_stack()) is not None
    ):
        # What it has archived can be looked at without it.
        change["archive_url"] = str(stopped / "archive")
    if archive is not None:
        change["archive_url"] = archive
    if temporal:
        change["temporal"] = _checked(settings.temporal, temporal)
    return settings.model_copy(update=change)


def _checked(before: TemporalSettings, change: dict[str, object]) -> TemporalSettings:
    try:
        return TemporalSettings.model_validate(before.model_dump() | change)
    except ValidationError as why:
        error = why.errors(include_url=False)[0]
        wrong = error["loc"][:1]
        if wrong == ("address",):
            # Of one that is written as an address, the setting's own check says what cannot be.
            own = error["type"] == "address"
            said = f": {error['msg']}" if own else " is not an address: write it as HOST:PORT"
            raise SettingsError(f"--address {change.get('address')!r}{said}") from None
        raise SettingsError(f"--{''.join(map(str, wrong))} cannot be used so") from None
