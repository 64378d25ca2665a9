"""An area's own section of a campaign file: a model, and what the rest of edgeshift asks of it. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Protocol, Self

from edgeshift.model.fleet import Plan
from edgeshift.model.validators import Part, Trouble
from edgeshift.profiles import ServiceProfile

_KEY = re.compile(r"[a-z][a-z0-9_]{0,29}")


def shorter(value: timedelta, scale: float, floor: float = 0.0) -> timedelta:
    """A duration of a campaign that runs so many times as fast. ``floor``: the seconds that real work takes;
    nothing becomes longer than it was.
    """
    return min(value, max(value / scale, timedelta(seconds=floor)))


@dataclass(frozen=True)
class Times:
    """How long a change of one target takes: ``effect``: until the service shows it; ``watch``: for how long
    it is watched afterwards, ``every`` so often. ``fresh``: how old what people are shown may be when it is
    acted upon; ``first_step_takes``: how long the step before it, such as a test secret, may take to work.
    All are scaled as the section that they come from.
    """

    effect: timedelta
    watch: timedelta
    every: timedelta
    fresh: timedelta = timedelta(hours=24)
    first_step_takes: timedelta = timedelta(seconds=30)

    def faster(self, scale: float) -> Times:
        """The same, so many times as fast."""
        return Times(
            effect=shorter(self.effect, scale, 20),
            watch=shorter(self.watch, scale, 1),
            every=shorter(self.every, scale, 0.5),
            fresh=shorter(self.fresh, scale, 60),
            first_step_takes=shorter(self.first_step_takes, scale, 0.5),
        )


class Targets(Protocol):
    """The targets of a campaign file (edgeshift/campaign_file/parts.py)."""

    @property
    def all(self) -> bool:
        """Every zone."""
        ...

    @property
    def include(self) -> Sequence[str]:
        """Zones by name or identifier."""
        ...

    @property
    def exclude(self) -> Sequence[str]:
        """Zones that are none, by name or identifier."""
        ...

    @property
    def accounts(self) -> Sequence[str]:
        """Accounts by name or identifier."""
        ...

    @property
    def plans(self) -> Sequence[Plan]:
        """The only plans; empty for any."""
        ...


class AreaSection(Part):
    """A section that one area alone has. Every option has a default and says what it means
    (``Field(description=…)``); what is wrong by itself is a type or a validator.
    """

    @property
    def times(self) -> Times | None:
        """How long a change of one target takes; None: as long as the area's ``usual`` times say."""
        return None

    @property
    def references(self) -> Mapping[str, str]:
        """What of it leads to a secret of the workers' (``env:NAME``, ``file:PATH``), by its path from the
        section. The roots have to list it among the credentials of the service (docs/authority.md).
        """
        return {}

    @property
    def addresses(self) -> Mapping[str, str]:
        """What of it names a place that workers send something to beside the service, by its path from the
        section. The roots have to list it among the probes of the service, where it is not on this machine.
        """
        return {}

    def faster(self, scale: float) -> Self:
        """The section of the same campaign so many times as fast. One with durations says what each becomes
        (``shorter``).
        """
        return self

    def troubles(self, targets: Targets | None) -> Iterable[Trouble]:
        """What is wrong with it beside the targets of its campaign, each with its path from the section.
        ``targets``: None where they are wrong by themselves.
        """
        return ()

    def over(self, profile: ServiceProfile) -> Iterable[Trouble]:
        """What in it is over a limit of the service, by the campaign's profile, each with its path from the
        section.
        """
        return ()


@dataclass(frozen=True)
class OwnSection:
    """Where the section stands: its ``key`` in the file, its ``model``, and what it means, in a sentence."""

    key: str
    model: type[AreaSection]
    meaning: str

    def __post_init__(self) -> None:
        _check_key(self.key)


@dataclass(frozen=True)
class OwnList:
    """A list that one area alone has, beside its section: its ``key`` in the file, the ``model`` of each
    item, what it means, in a sentence, and an ``example``, as a file would have it. It is empty unless a file
    says more.
    """

    key: str
    model: type[Part]
    meaning: str
    example: Sequence[Mapping[str, object]]

    def __post_init__(self) -> None:
        _check_key(self.key)


def _check_key(key: str) -> None:
    if not _KEY.fullmatch(key):
        raise ValueError(f"{key!r} is no key of a section: lower-case letters, digits and _ are")
