"""What the tellers of a zone's activities share: what has been told so far, and how a reading and its
proposal are told, which every area has. Pure.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from pydantic import ValidationError

from edgeshift.messages import BEFORE_SIGN_OFF
from edgeshift.model.fleet import DEFAULT_AREA, Area
from edgeshift.model.sign_off import Decision, SignOffPolicy, refusal
from edgeshift.views.entries import Attempt, Entry, EntryKind, listed, part
from edgeshift.views.words import one_line, short, word


@dataclass
class Context:
    """What has been told so far. ``waiting``: digests that wait for a sign-off now, and what each is of, for
    people; ``proposal``: that of the proposal among them.
    """

    attempt: Attempt
    waiting: dict[str, str] = field(default_factory=dict)
    proposal: str = ""
    area: Area = DEFAULT_AREA
    policy: SignOffPolicy | None = None
    started_by: str = ""

    def learn_policy(self, start: Mapping[str, Any]) -> None:
        """Take the sign-off policy from a workflow's input, as far as it can be read."""
        self.started_by = str(start.get("started_by") or "")
        try:
            self.policy = SignOffPolicy.model_validate(part(part(start, "policy"), "sign_off"))
        except ValidationError:
            self.policy = None

    def refused(self, decision: Mapping[str, Any]) -> str:
        """Why a decision cannot count by the zone's policy, or empty."""
        try:
            read = Decision.model_validate(decision)
        except ValidationError:
            return "it cannot be read as a decision"
        return one_line(refusal(read, self.policy, self.started_by) or "") if self.policy else ""


@dataclass(frozen=True)
class Activity:
    """One activity as its history has it. ``given``: its input, empty for a local activity, whose input no
    history has; ``came``: its result, empty where it has none. ``begun``, ``ended``: how far it came.
    """

    name: str
    given: dict[str, Any]
    came: dict[str, Any]
    begun: bool = True
    ended: bool = True


Teller: TypeAlias = Callable[[Context, Entry, Activity], bool]
"""Fills the line of an activity. False where there is nothing to say of it yet: it is told by its name. What
it is given comes from workers of any version, so that it takes nothing of it for granted.
"""


def tell_prepared(context: Context, entry: Entry, activity: Activity) -> bool:
    """The target was read, and something proposed, or not."""
    came = activity.came
    if not came:
        return False
    verdict = str(came.get("verdict") or "").replace("_", " ")
    reasons = [one_line(str(reason)) for reason in listed(came, "reasons")]
    entry.kind = EntryKind.READ
    entry.text = f"read the zone: {verdict}{f' - {reasons[0]}' if reasons else ''}"
    entry.details += reasons[1:]
    _tell_snapshot(entry, came)
    tell_proposed(context, entry, came)
    return True


def tell_planned(context: Context, entry: Entry, planned: dict[str, Any]) -> None:
    """That a zone begins with what the plan has read of it, and what that proposes."""
    entry.details.append("begins with what the plan has read of the zone")
    _tell_snapshot(entry, planned)
    tell_proposed(context, entry, planned)


def tell_proposed(context: Context, entry: Entry, came: Mapping[str, Any]) -> None:
    """What a reading proposes, and what waits for it."""
    digest, fingerprint = str(came.get("digest") or ""), str(came.get("fingerprint") or "")
    if not digest:
        return
    entry.digest = digest
    step = str(came.get("step") or "commit")
    said = f"proposed to {word(step, context.area)}: proposal {short(digest)}"
    entry.details.append(f"{said}, fingerprint {short(fingerprint)}")
    if came.get("proposal"):
        entry.objects["proposal"] = str(came["proposal"])
    context.waiting = {fingerprint: "the fingerprint", digest: "the proposal"}
    context.proposal = digest
    waits = "a permit" if step in BEFORE_SIGN_OFF else f"the sign-off of {short(digest)}"
    context.attempt.doing = f"waiting for {waits}"


def _tell_snapshot(entry: Entry, came: Mapping[str, Any]) -> None:
    snapshot = str(came.get("snapshot") or "")
    entry.details.append(f"snapshot {short(snapshot)} in the archive")
    if snapshot:
        entry.objects["snapshot"] = snapshot
