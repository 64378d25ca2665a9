"""The activities of a campaign, over batches of its zones."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from edgeshift.messages.base import By, Explained, Message, Name, Number, Permit, Why
from edgeshift.messages.campaign import Book, CampaignStart
from edgeshift.messages.held_calls import GoOn
from edgeshift.messages.zone import Expire, PermitGrant, Revoke, Ruling, Stop
from edgeshift.model.durations import Duration
from edgeshift.model.fleet import Area, ZoneOutcome
from edgeshift.model.sign_off import Digest, SignOffPolicy
from edgeshift.model.steps import Step
from edgeshift.rate_limit.circuit import OpenCircuit


class StartZones(Message):
    """Start a batch of zones. ``attempts``, ``permits`` run beside ``indexes``. ``origin``: see ZoneStart.
    ``reopened``: those of ``indexes`` that a person has reopened, so that no rejection of before counts.
    ``hears``: whether the campaign hears from the answer which zones wait for a sign-off from their start on.
    """

    campaign: str
    campaign_run: str
    origin: str = ""
    start: CampaignStart
    indexes: tuple[int, ...]
    attempts: tuple[int, ...]
    permits: tuple[Permit | None, ...]
    reopened: tuple[int, ...] = ()
    hears: bool = False


class Exclusion(Explained):
    """A zone that was not started, and why: another campaign has it, or it could not be started."""

    index: int


class AskingZone(Message):
    """What a zone waits with for a sign-off from its start on, which it does not say itself: see
    ZoneReport.
    """

    index: Number
    step: Step
    digest: Name
    fingerprint: Name
    joins: bool


class StartedZones(Message):
    """Who was started; whoever is not excluded was, or had been already. ``least``: the sign-off policy that
    they were started with, where the worker's roots ask for more than the campaign did. ``asking``: those
    started just now that wait for a sign-off from their start on, and do not say so themselves. ``found``:
    those that had been started before, of which an earlier answer, which may be lost, has told.
    """

    excluded: tuple[Exclusion, ...] = ()
    asking: tuple[AskingZone, ...] = Field(default=(), max_length=1_000)
    found: tuple[Number, ...] = Field(default=(), max_length=1_000)
    least: SignOffPolicy | None = None


class RecallRulings(Message):
    """Find the rejections of fingerprints that count from earlier runs of a campaign. ``run``: its own, the
    first one. ``archive``: see ZoneStart. ``unpacks``: whether the campaign takes them packed.
    """

    campaign: str
    run: str
    archive: str = Field(default="", max_length=32)
    unpacks: bool = False


class RecalledRulings(Message):
    """Those rejections, by fingerprint and wave. ``packed``: as a packed book, in Base64, in place of
    ``book``, with which 7,000 would be more than Temporal takes. A campaign of an earlier version has them in
    ``book``.
    """

    book: tuple[Book, ...] = ()
    packed: str = ""


class TellZones(Message):
    """Send one signal to each of a batch of zones: a permit each, or the same message to all. ``archive``:
    see ZoneStart.
    """

    campaign: str
    campaign_run: str = ""
    targets: Digest
    area: Area
    signal: str
    indexes: tuple[int, ...]
    grants: tuple[PermitGrant, ...] = ()
    revokes: tuple[Revoke, ...] = ()
    ruling: Ruling | None = None
    expire: Expire | None = None
    stop: Stop | None = None
    go_on: GoOn | None = None
    attempts: tuple[int, ...] = ()
    ended_as: tuple[ZoneOutcome | None, ...] = ()
    archive: str = Field(default="", max_length=32)


class GiveUpPermits(Message):
    """Keep anything from being sent under permits that are out, where nothing was yet. ``over_after``: how
    long after its intent nothing of a single request can be under way any more. ``unasked``: earlier runs of
    the campaign of which nobody has asked whether they came out of a reset. ``archive``: see ZoneStart.
    """

    campaign: str
    origin: str
    targets: Digest
    area: Area
    permits: tuple[Permit, ...]
    over_after: Duration
    unasked: tuple[str, ...] = ()
    archive: str = Field(default="", max_length=32)


class PermitsGivenUp(Message):
    """Numbers of permits under which nothing more is sent. ``given_up``: nor was anything; ``over``: their
    one request is over. None of a campaign that was reset: a zone may use a permit that it does not know of.
    """

    given_up: tuple[int, ...] = ()
    over: tuple[int, ...] = ()


class ToldZones(Message):
    """Indexes of zones that have no open workflow to tell, and of those that take no signal at the moment."""

    gone: tuple[int, ...] = ()
    unreached: tuple[int, ...] = ()


class DescribeZones(Message):
    """Look at zones: are their workflows open, and if not, how did they end?

    ``settles_in``: how long the effect of a step may take to show. ``waits``: those that may wait for
    something else than is known: they say again what they wait for where they are of
    ``duplicate_sequences``, or where the server shows that something is unknown of them. ``expected``: of
    each index, the beginning of the fingerprint that it waits with (``Ledger.expected``). ``asked``: the
    beginning of the run in which a zone has said again what it waits for. ``unasked``: earlier runs of the
    campaign of which nobody has asked whether they came out of a reset. ``origin``, ``archive``: see
    ZoneStart. ``ended``: those that are said to have ended, whoever said it.
    """

    campaign: str
    campaign_run: str
    targets: Digest
    spec: Digest
    area: Area
    indexes: tuple[int, ...]
    attempts: tuple[int, ...]
    settles_in: Duration
    waits: frozenset[int] = frozenset()
    duplicate_sequences: frozenset[int] = frozenset()
    expected: tuple[str, ...] = ()
    asked: dict[int, str] = Field(default_factory=dict)
    unasked: tuple[str, ...] = ()
    origin: str = ""
    ended: frozenset[int] = frozenset()
    archive: str = Field(default="", max_length=32)


class SilentZone(Explained):
    """A zone that closed, settled by its own result or by reading the service.

    ``attempt``: which of the zone's attempts was found; 0: none of the campaign's. ``told``: what its
    workflow ended with, where no worker has signed that and the service shows otherwise.
    """

    index: int
    attempt: int = 0
    outcome: ZoneOutcome
    told: ZoneOutcome | None = None


class LaterAttempt(Message):
    """A zone whose workflow is open in a later attempt than the campaign knows."""

    index: int
    attempt: int


class SignedStop(Message):
    """What somebody has signed that stops the campaign, and is its last signed word."""

    word: Literal["pause", "abort"]
    by: By
    reason: Why = ""


class DescribedZones(Message):
    """Those of the zones that turned out to be closed. ``hold``: why others could not be read. ``later``:
    those that work in a later attempt than is known. ``run``: the campaign's own. ``reset_run``: the last
    of its runs that were asked about which came out of a reset. ``stop``: what the archive has that stops
    the campaign. ``still_open``: of those that are said to have ended, the ones that have not. ``by_word``:
    none was looked at, since words count here: a rehearsal. ``names``: of the zones that are told of here.
    """

    closed: tuple[SilentZone, ...] = ()
    later: tuple[LaterAttempt, ...] = ()
    hold: OpenCircuit | None = None
    run: str = ""
    reset_run: str = ""
    stop: SignedStop | None = None
    still_open: tuple[int, ...] = ()
    by_word: bool = False
    names: dict[int, str] = Field(default_factory=dict)

    def name(self, index: int) -> str:
        """A zone's name, or its number where it is not known."""
        return self.names.get(index) or f"zone {index}"
