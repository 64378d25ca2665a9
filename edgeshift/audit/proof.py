"""What the verification of an audit file found."""

from __future__ import annotations

from pydantic import AwareDatetime, BaseModel

MOST = 20
"""Findings that are kept; all are counted."""


class Finding(BaseModel):
    """Something that keeps a file from proving what it says. ``line``: of the file, from 1. ``odd``: which of
    the proof's ``odd`` it is about, in the same words; empty where it is about none.
    """

    line: int
    text: str
    odd: str = ""


class Said(BaseModel):
    """What one person said with one key. ``said``: how often what, such as ``approve commit``; ``uncounted``:
    decisions among it that the campaign does not count, since they are no approver, or by four eyes;
    ``first``, ``last``: when, as they signed it.
    """

    name: str
    key: str
    said: dict[str, int]
    uncounted: dict[str, int] = {}
    first: AwareDatetime
    last: AwareDatetime


class Sealed(BaseModel):
    """Who signed the end of the file, with which key, and when."""

    name: str
    key: str
    at: AwareDatetime


class Proof(BaseModel):
    """What a file proves. ``holds``: whether all that it says rests on signatures, and none of it is missing.

    ``sent``: requests by step, each of which rests on what people signed where ``holds``; ``zones``: that any
    was sent to. ``agreed``: requests by which people agreed to them. ``unrecorded``: requests whose record no
    worker has signed whose key is known; where workers' keys are known, they are in neither. ``told``:
    outcomes as workers and Temporal told them, which proves nothing. ``results``: outcomes that workers have
    signed, which
    know the service; ``unsigned``: those of ``told`` that say something of the service and that no worker has
    signed. ``strangers``: statements by keys that are nobody's here, or
    not that person's. ``odd``: records that could not be read; one of what people signed, or of a request, is
    a finding as well. ``truncated``: whether reading ended at the
    first finding, since nothing after it can be trusted.
    """

    campaign: str = ""
    service: str = ""
    area: str = ""
    exported_at: AwareDatetime | None = None
    lines: int = 0
    sealed: Sealed | None = None
    people: list[Said] = []
    targets: int = 0
    sent: dict[str, int] = {}
    zones: int = 0
    agreed: dict[str, int] = {}
    unrecorded: int = 0
    told: dict[str, int] = {}
    results: dict[str, int] = {}
    unsigned: int = 0
    strangers: int = 0
    odd: list[str] = []
    holds: bool = False
    truncated: bool = False
    findings: list[Finding] = []
    found: int = 0
