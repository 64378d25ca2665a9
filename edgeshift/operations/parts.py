"""What an area reads of its own before a person signs, and when one asks whether a target still is as signed
(edgeshift/areas/parts.py).
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel

from edgeshift.areas.parts import PartOf
from edgeshift.messages import ZoneState
from edgeshift.model.body_view import Item, Mark, lines_of
from edgeshift.model.digests import Body, canonical_bytes
from edgeshift.service_api import ServiceClient
from edgeshift.stores.archive import Archive


@dataclass(frozen=True)
class Cause:
    """Why a zone waits for a sign-off of its own. ``key``: what people type; the same for every zone of which
    ``text`` is true.
    """

    key: str
    text: str

    @classmethod
    def of(cls, code: str, text: str, *about: str) -> Cause:
        """A cause by its code; ``about``: what tells it from others of the code, such as rules."""
        if not about:
            return cls(code, text)
        told = hashlib.sha256("\n".join(about).encode()).hexdigest()[:6]
        return cls(f"{code}-{told}", text)


EACH = Cause("each", "every zone is signed by itself (sign_off.per: zone)")


def joined(causes: Sequence[Cause]) -> Cause:
    """Several causes of one zone as one."""
    return Cause("+".join(one.key for one in causes), "; ".join(one.text for one in causes))


@dataclass(frozen=True)
class Facts:
    """What an area says of a proposal. ``items``: the body for people, beside what the target has.
    ``losses``, ``warnings``: in sentences; those of the proposal itself where they are None.
    ``carried_over``: what becomes something else; ``compare``: what is to be compared, since it may be lost.
    ``speaks_against``: whether the target's own evidence failed: an approval of it is offered to nobody.
    ``own``: what the area shows beside, a model of its own.
    """

    items: tuple[Item, ...]
    losses: tuple[str, ...] | None = None
    warnings: tuple[str, ...] | None = None
    carried_over: tuple[str, ...] = ()
    compare: tuple[str, ...] = ()
    speaks_against: bool = False
    own: BaseModel | None = None


class ProposalPart:
    """One area's part of what is shown of a proposal."""

    async def facts(
        self, archive: Archive, state: ZoneState, body: Body, evidence: BaseModel | None
    ) -> Facts:
        """What the archive holds for a proposal. ``body``: of the proposal; ``evidence``: the archived
        document (``DocumentsPart.evidence``), or None. Raises ArchiveError.
        """
        return Facts(items=plain_items(body))

    def json(self, own: BaseModel | None) -> dict[str, Any]:
        """What ``show --json`` says beside what it says of every proposal. ``own``: as of ``Facts``."""
        return {} if own is None else {"own": own}

    def items_of(self, body: Body) -> tuple[Item, ...]:
        """A body by itself, compared with nothing; empty where it is not known to be one of the area's."""
        return ()

    def same_thing(self, before: Body, body: Body) -> bool:
        """Whether two bodies of a target are of the same step, so that what has changed can be named."""
        return True

    def cause(self, evidence: BaseModel | None, own: BaseModel | None) -> Cause | None:
        """Why a zone's evidence does not let it be signed with others that propose the same; None where it
        does. Equal for zones of which the same is to be decided. ``own``: as of ``Facts``.
        """
        return None

    def without_own_names(self, text: str) -> str:
        """A fact of a zone's proposal without what only tells it from other zones, such as a number that the
        service has given, so that it can be compared with theirs.
        """
        return text

    def seen_of_all(self, evidence: Mapping[str, BaseModel | None]) -> Sequence[str]:
        """What was seen at work of zones that are signed together, all in all, in sentences. ``evidence``: of
        each by its name, or None.
        """
        return ()


def plain_items(body: Body) -> tuple[Item, ...]:
    """A body for people where an area says nothing better: each of its keys with its value."""
    lines = [(str(key), canonical_bytes(value).decode()) for key, value in body.items() if key != "name"]
    return (Item(mark=Mark.CHANGED, title=str(body.get("name") or "the change"), lines=lines_of(lines)),)


PROPOSALS = PartOf("proposals", ProposalPart)


class TargetCheck(BaseModel):
    """What is in force for a target now, against what was signed. ``same``: whether it is the same.
    ``effects``: what protects otherwise now, ``differences``: each by its place, ``notes``: what else is
    other. ``digest``: of what was signed. ``current``: what the service calls what it has, its identifier and
    version, or empty.
    """

    same: bool
    digest: str
    effects: tuple[str, ...] = ()
    differences: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    current: str = ""


class CheckPart:
    """One area's way to read a changed target again. As it stands, there is none. ``there``: whether there is
    one.
    """

    there: bool = False

    async def check(self, service: ServiceClient, archive: Archive, record: str) -> TargetCheck:
        """Read the target that the archived result ``record`` is of. Reads only. Raises ArchiveError,
        ServiceError.
        """
        raise NotImplementedError


CHECKS = PartOf("checks", CheckPart)
