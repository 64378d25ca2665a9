"""Held calls: who keeps what is held of each user, and how one waits until the service answers again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from datetime import datetime, timedelta
from typing import Protocol

from temporalio import activity
from temporalio.exceptions import ApplicationError

from activities.boundary import LONGEST, heartbeating, hold_of, named_failures
from activities.change.intent_records import by_server
from activities.connections import Connections
from activities.ways import Ways
from edgeshift.campaign_file.spec import CampaignSpec, CredentialSpec
from edgeshift.messages import AwaitService, LetCallsGo
from edgeshift.quota.leases import terms_of
from edgeshift.rate_limit.breaker import Fate
from edgeshift.rate_limit.circuit import (
    Circuit,
    OpenCircuit,
    Standing,
    Trouble,
    closed,
    held,
    opened,
    probe,
    standing,
)
from edgeshift.rate_limit.unpaced import Unpaced
from edgeshift.runtime.clock import Clock
from edgeshift.runtime.secret_refs import CredentialMissing, SecretRefError
from edgeshift.service_api import Misconfigured, NoTurn, ServiceError

LOOKS_EVERY = 5.0
"""Seconds between looks whether somebody else has found the service to answer again; a quarter of a scaled
minute where that is less.
"""

MOST_MINUTES = 60
"""A worker that does not find a secret waits for it as many scaled minutes as its activity was tried, and
this long at most, before another worker takes the activity over. With the tries that a plan's batch has, that
makes a day and a half.
"""


class HeldCalls(Protocol):
    """What is held of each user's calls, for every process of the user."""

    async def hold(self, credential: CredentialSpec, spec: CampaignSpec, hold: OpenCircuit) -> None:
        """Hold calls of the credential's user, unless they were fixed since."""

    async def standing(self, user: str) -> Standing:
        """What is held of a user's calls."""

    async def probe(self, user: str, credentials: Iterable[str]) -> OpenCircuit | None:
        """The hold that may be probed now with one of these credentials, or None."""

    async def fixed(self, user: str, credentials: Iterable[str]) -> None:
        """Let calls with these credentials go on."""


class HeldHere:
    """Kept in this process alone, where no quota keeps it (a service without a limit, skipped time)."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._circuits: dict[str, Circuit] = {}
        self._minute = 60.0

    def _circuit(self, user: str) -> Circuit:
        return self._circuits.get(user, Circuit())

    async def hold(self, credential: CredentialSpec, spec: CampaignSpec, hold: OpenCircuit) -> None:
        """Hold calls of the credential's user, unless they were fixed since."""
        self._minute = terms_of(spec).minute
        caller = spec.service.caller(credential)
        self._circuits[caller] = opened(self._circuit(caller), hold, self._now(), self._minute)

    async def standing(self, user: str) -> Standing:
        """What is held of a user's calls."""
        return standing(self._circuit(user))

    async def probe(self, user: str, credentials: Iterable[str]) -> OpenCircuit | None:
        """The hold that may be probed now with one of these credentials, or None."""
        self._circuits[user], hold = probe(self._circuit(user), self._now(), self._minute, credentials)
        return hold

    async def fixed(self, user: str, credentials: Iterable[str]) -> None:
        """Let calls with these credentials go on."""
        self._circuits[user] = closed(self._circuit(user), credentials, self._now())

    def _now(self) -> float:
        return self._clock.now().timestamp()


class _Probing(Unpaced):
    """A pacer for one call beside all slots, which keeps what became of it."""

    def __init__(self) -> None:
        self.fate, self.said = Fate.NOT_MADE, ""

    def ended(self, fate: Fate, said: str = "", credential: str = "") -> None:
        """Keep it."""
        self.fate, self.said = fate, said


class HeldCallActivities:
    """Waiting for the service: a campaign's, and a plan's."""

    def __init__(self, connections: Connections, calls: HeldCalls) -> None:
        self._connections = connections
        self._calls = calls

    @activity.defn(name="await_service")
    @named_failures
    @heartbeating
    async def wait(self, message: AwaitService) -> None:
        """Return once nothing is held any more of what the campaign calls with, or of what is named where it
        waits ``apart``: somebody else has found out, or a probe of this process was answered. At most one
        probe a minute is made of a user, by whomever. Raises WorkerLacks where this worker lacks a secret for
        the probe for a while, and WorkerStops where it is to end.
        """
        spec = await self._connections.spec(message.spec)
        await self._until_free(spec, message.holds, message.holds if message.apart else None)

    async def is_over(self, spec: CampaignSpec, hold: OpenCircuit) -> bool:
        """Whether calls that were held go on; the probe is made that shows it, where one is due. Of calls
        that nothing waits for, nobody else finds out.
        """
        return not await self._still_held(spec, (hold,))

    async def wait_out(self, spec: CampaignSpec, failure: Exception) -> None:
        """Within an activity that heartbeats: return once a call may be made again that was held, refused for
        its credential, or given no turn. Raises WorkerStops where the worker is to end, WorkerLacks where it
        does not find the credential for a while, and the failure itself where it is another one.
        """
        if isinstance(failure, CredentialMissing):
            await self._until_found(spec, failure)
        elif hold := hold_of(failure):
            await self._until_free(spec, (hold,), (hold,))
        elif isinstance(failure, NoTurn):
            await self._pause(spec)
        else:
            raise failure

    async def _until_found(self, spec: CampaignSpec, missing: CredentialMissing) -> None:
        """Holds nobody's calls: that this worker does not find a secret says nothing of the others."""
        until = self._until_another(spec)
        while self._lacks(spec, missing.credential):
            self._leave_to_another(str(hold_of(missing)), until)
            await self._pause(spec)

    def _until_another(self, spec: CampaignSpec) -> datetime:
        """Until when this worker waits for a secret that it lacks from now on."""
        minutes = min(activity.info().attempt, MOST_MINUTES)
        return self._connections.clock.now() + minutes * timedelta(seconds=terms_of(spec).minute)

    def _leave_to_another(self, why: str, until: datetime) -> None:
        if self._connections.clock.now() >= until:
            # Temporal gives it to any worker that has room, which may find the secret.
            raise ApplicationError(why[:LONGEST], type="WorkerLacks")

    def _lacks(self, spec: CampaignSpec, reference: str) -> bool:
        ways = self._connections.ways(spec)
        return any(
            credential.reference == reference and lacking(ways, credential)
            for credential in spec.service.credentials
        )

    async def _until_free(
        self, spec: CampaignSpec, holds: Iterable[OpenCircuit], apart: Iterable[OpenCircuit] | None
    ) -> None:
        for hold in holds:
            for credential in spec.service.credentials:
                if credential.reference == hold.credential:
                    await self._calls.hold(credential, spec, hold)
        until: datetime | None = None
        while still := await self._still_held(spec, apart):
            # What it cannot probe, another worker may: of a rollout that is half done, say.
            why = self._unable(spec, still)
            until = (until or self._until_another(spec)) if why else None
            if until is not None:
                self._leave_to_another(why, until)
            await self._pause(spec)

    def _unable(self, spec: CampaignSpec, still: Mapping[str, Set[str]]) -> str:
        """Why this worker cannot probe something of what is held, where it lacks a secret for that."""
        try:
            ways = self._connections.ways(spec)
        except Misconfigured:
            return ""
        users = users_of(spec)
        for user, what in still.items():
            missing = {name: lacking(ways, credential) for name, credential in users[user].items()}
            for name in what:
                # An outage can be probed with any of the user's: no reason, where one lacks nothing.
                if why := missing[name] if name else min(missing.values()):
                    return why
        return ""

    async def _pause(self, spec: CampaignSpec) -> None:
        if activity.is_worker_shutdown():
            raise ApplicationError("the worker stops; another one waits on", type="WorkerStops")
        await self._connections.clock.sleep(min(LOOKS_EVERY, terms_of(spec).minute / 4))

    async def _still_held(
        self, spec: CampaignSpec, apart: Iterable[OpenCircuit] | None
    ) -> dict[str, Set[str]]:
        """Look at each user's holds, and make the probe where one is due; what is held still, or of what is
        waited for ``apart``: of each user, the credentials, and the empty one for an outage.
        """
        still = dict[str, Set[str]]()
        for user, credentials in users_of(spec).items():
            mine = {"", *credentials}
            if apart is not None:
                mine = {one.credential for one in apart if one.user in ("", user)} & mine
            if not mine:
                # Hundreds may be held, each with a wait of its own: none asks for the others' users.
                continue
            found = await self._calls.standing(user)
            held_of_mine = {hold.credential for hold in found.holds} & mine
            if held_of_mine:
                known = await self._found_over(spec, user, credentials, found)
                if left := held_of_mine - known:
                    still[user] = left
        return still

    async def _found_over(
        self, spec: CampaignSpec, user: str, credentials: Mapping[str, CredentialSpec], found: Standing
    ) -> Set[str]:
        """Make the user's probe if one is due; of what it shows that nothing is held any more."""
        # By the server's clock, whose time it is, or by this machine's: one that is hours behind would keep
        # the user's calls held for hours, since nobody else looks meanwhile.
        if max(self._connections.clock.now(), by_server(self._connections)).timestamp() < found.probe_at:
            return frozenset()
        try:
            ways = self._connections.ways(spec)
        except Misconfigured as why:
            # It may not probe, and takes nobody's turn.
            activity.logger.info("no probe: %s", why)
            return frozenset()
        # Nor does one that lacks the secret: the user's turns are for those that have it.
        able = {one: credential for one, credential in credentials.items() if not lacking(ways, credential)}
        # Whoever keeps the hold has the last word: clocks differ, and others ask too.
        if not able or (hold := await self._calls.probe(user, able)) is None:
            return frozenset()
        credential = able.get(hold.credential) or next(iter(able.values()))
        answered = await self._probe(spec, ways, credential, hold)
        return {"", credential.reference} if answered else frozenset()

    async def _probe(
        self, spec: CampaignSpec, ways: Ways, credential: CredentialSpec, hold: OpenCircuit
    ) -> bool:
        """One call, with the secret that the reference leads to now: the cheapest that the campaign needs.
        Whether it was answered.
        """
        service, pacer = spec.service, _Probing()
        try:
            probing = ways.client(ways.credential(credential), pacer)
        except (Misconfigured, SecretRefError) as why:
            activity.logger.info("no probe: %s", why)
            return False
        async with probing as client:
            try:
                await anext(client.zones(), None)
            except ServiceError as failure:
                activity.logger.info("probe: %s", failure)
        caller = service.caller(credential)
        if pacer.fate is Fate.ANSWERED:
            await self._calls.fixed(caller, [credential.reference])
        elif pacer.fate is Fate.REFUSED and hold.trouble is Trouble.OUTAGE:
            now = self._connections.clock.now()
            refused = held(Trouble.REFUSED, pacer.said, now, credential.reference)
            await self._calls.hold(credential, spec, refused)
            await self._calls.fixed(caller, [])
        return pacer.fate is Fate.ANSWERED

    @activity.defn(name="let_calls_go")
    @named_failures
    async def let_go(self, message: LetCallsGo) -> None:
        """A person says that it is fixed: calls with the campaign's credentials go on, for every campaign of
        the user. Where it is not fixed, the first call holds them again.
        """
        spec = await self._connections.spec(message.spec)
        for user, credentials in users_of(spec).items():
            await self._calls.fixed(user, credentials)


def users_of(spec: CampaignSpec) -> dict[str, dict[str, CredentialSpec]]:
    """A campaign's credentials by whose calls they are for, and by reference."""
    found: dict[str, dict[str, CredentialSpec]] = {}
    for credential in spec.service.credentials:
        found.setdefault(spec.service.caller(credential), {})[credential.reference] = credential
    return found


def lacking(ways: Ways, credential: CredentialSpec) -> str:
    """Why this worker cannot call with a credential, where it does not find its secret, or the proxy's."""
    try:
        ways.find_all(credential)
    except SecretRefError as why:
        return str(why)
    return ""
