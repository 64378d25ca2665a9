"""What an area is: one object that says how a campaign of it differs from all others. Pure.

What the rest of edgeshift asks of an area is a field of its ``AreaDefinition``. What has to be done in a room
above this one (tables of the command line, parts of the report, activities) is a *part*: the definition
names where it lies, and the room loads it by that name (edgeshift/areas/parts.py).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from edgeshift.areas import names
from edgeshift.areas.evidence import EvidenceAgain as EvidenceAgain
from edgeshift.areas.section import AreaSection as AreaSection
from edgeshift.areas.section import OwnList as OwnList
from edgeshift.areas.section import OwnSection as OwnSection
from edgeshift.areas.section import Times as Times
from edgeshift.areas.ticket import TicketText as TicketText
from edgeshift.model.area_reasons import AreaReason
from edgeshift.model.fleet import Area
from edgeshift.model.reasons import Reason, ReasonCode
from edgeshift.model.steps import BEFORE_SIGN_OFF, Step
from edgeshift.profiles import ServiceProfile

OLD = timedelta(days=1)
"""How old a zone's reading may be once its window is over: it is made anew before people sign what it says.
The commit compares it with the campaign's own ``plan.fresh``.
"""


@dataclass(frozen=True)
class Phrases:
    """What is said of the area's change. ``{}`` stands for the target.

    ``changed``, ``undone``: what happened to it. ``change``: what was sent. ``shows``, ``shows_undone``: what
    the service is read for. ``drifted``: why a step was not sent. ``done``: of the targets that are where the
    campaign takes them. ``to_change``: of those that it would change. ``basis``: what a proposal rests on.
    ``permit``: how a permit's step is joined to it.
    """

    changed: str = "{} was changed"
    undone: str = "the change of {} was undone"
    change: str = "the change"
    shows: str = "the service shows the change"
    shows_undone: str = "the service shows it undone"
    drifted: str = "not sent: the zone was no longer as it was when it was signed"
    done: str = "changed, or so before"
    to_change: str = "to change"
    basis: str = "what it is based on"
    permit: str = "to"


@dataclass(frozen=True)
class AreaDefinition:
    """One area.

    ``title``: for people. ``workflow``: the name of the workflow of one target; ``beside``: of others that it
    starts. ``reversible``: whether its change can be undone; where it cannot, a change that failed keeps its
    place in the window (docs/rules.md, rule 8). ``validates``: whether Enterprise zones are put into
    validation mode before anybody signs; ``evidence``: how what was seen meanwhile is judged again just
    before a commit; None in an area that has no evidence, and one that validates has some. ``asks_support``:
    whether targets can need the provider's support. ``enterprise_only``: whether other zones cannot have it.
    ``unverified``: by which reasons a target is told as settled whose change nobody could verify: it has no
    ✓, and is an alarm. ``first_step``: the step that a target asks a permit for before anybody has seen its
    proposal, if there is one. ``longest_step``: how long the longest of its steps without a limit of their
    own may take, before the time scale; later, it counts as stuck.

    ``words``: what its targets (``zone``), outcomes, places, phases and steps are called, where not by their
    own names (names.py lists them). ``sent``: its steps as things that are sent. ``phrases``: what is said of
    its change.

    ``section``: its own section of a campaign file: key and model; ``lists``: its own lists there.
    ``sections``: keys of parts that every campaign has, and that mean nothing in other areas. ``usual``: how
    long a change takes where no section says it, before the time scale. ``reasons``: its own reasons, whose
    codes begin with its name and a dot.
    ``support_cause``: which case for the provider's support a refusal is, by what the service says of it, or
    None; None by itself where the area has no such cases. ``ticket``: what a ticket for the support says;
    None where the zone, the cause and the service's words say it all.

    ``calls``: how many calls of the service one target takes after the plan where all goes well, for
    forecasts; ``calls_validated``: of an Enterprise zone that is validated first, where that differs,
    ``calls_read_anew``: and more where its window takes a day (``OLD``); ``calls_a_look``: of each look at a
    change, where it is watched for all of its time; ``waits``: what a
    forecast does not count. ``needs``, ``promise``: what a new campaign file has to say, and what it says of
    starting it. ``too_late``: why nothing can be done any more at the service's time that it is given, by
    the profile of the service, or None; None by itself where the area has no such date.

    ``parts``: where its parts lie, ``module:attribute`` by the part's name (edgeshift/areas/parts.py).
    """

    name: Area
    title: str
    workflow: str
    reversible: bool
    beside: tuple[str, ...] = ()
    validates: bool = False
    evidence: EvidenceAgain | None = None
    asks_support: bool = False
    enterprise_only: bool = False
    unverified: frozenset[ReasonCode] = frozenset()
    first_step: Step | None = None
    longest_step: timedelta = timedelta(hours=2)
    words: Mapping[str, str] = field(default_factory=dict)
    sent: Mapping[str, str] = field(default_factory=dict)
    phrases: Phrases = field(default_factory=Phrases)
    section: OwnSection | None = None
    lists: tuple[OwnList, ...] = ()
    sections: tuple[str, ...] = ()
    usual: Times | None = None
    reasons: tuple[type[AreaReason], ...] = ()
    support_cause: Callable[[Iterable[str]], ReasonCode | None] | None = None
    ticket: TicketText | None = None
    calls: int = 10
    calls_validated: int = 0
    calls_read_anew: int = 0
    calls_a_look: int = 0
    waits: str = "besides sign-offs and the service's own time"
    needs: str = "name, targets and area"
    promise: str = "nothing is changed without a sign-off"
    too_late: Callable[[datetime, ServiceProfile], Reason | None] | None = None
    parts: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.validates and self.evidence is None:
            raise ValueError(
                f"area {self.name} validates zones: say how their evidence is judged again (`evidence`)"
            )
        steps = [step.value for step in names.STEPS if step in BEFORE_SIGN_OFF]
        for given, known, what in (
            (self.parts, names.PARTS, "parts"),
            (self.words, names.WORDS, "words"),
            (self.sent, names.STEPS, "sent"),
            ([self.first_step] if self.first_step is not None else [], steps, "first_step"),
        ):
            if wrong := names.odd(given, known, what):
                raise ValueError(f"area {self.name}: {wrong}")
        for reason in self.reasons:
            if not reason.code.startswith(f"{self.name}."):
                raise ValueError(
                    f"the reason {reason.code!r} of area {self.name}: begin it with `{self.name}.`"
                )

        codes = {*ReasonCode, *(reason.code for reason in self.reasons)} - {ReasonCode.OTHER}
        if odd := sorted(self.unverified - codes):
            raise ValueError(f"area {self.name} gives no reason {odd[0]!r} (`unverified`)")

    @property
    def asks_first(self) -> Step:
        """``first_step``; in an area without one no target asks for it."""
        return Step(self.first_step or Step.VALIDATE)

    @property
    def keeps_unverified(self) -> bool:
        """Whether a change may stay that nobody could verify."""
        return bool(self.unverified)

    @property
    def keys(self) -> tuple[str, ...]:
        """Every key of a campaign file that means nothing in other areas."""
        own = (*self.lists, *((self.section,) if self.section else ()))
        return (*self.sections, *(one.key for one in own))
