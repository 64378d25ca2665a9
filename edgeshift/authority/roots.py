"""The roots of authority: who may say what, which no message can reach. Pure; ``loading`` reads the files."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import datetime, timedelta
from enum import StrEnum
from functools import cached_property
from ipaddress import ip_address
from typing import Annotated, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from edgeshift.authority.signers import AllowedKey, Signers
from edgeshift.authority.sshsig import PublicKey
from edgeshift.authority.statements import Attested
from edgeshift.campaign_file.parts import DIRECT
from edgeshift.campaign_file.spec import CampaignSpec
from edgeshift.model.digests import canonical_bytes, sha256
from edgeshift.model.sign_off import SignOffPolicy, person
from edgeshift.model.zone_names import is_identifier

SKEW_AHEAD = timedelta(minutes=5)
"""How far a signer's clock may be ahead."""


def as_of(said: Attested) -> datetime:
    """As of when a statement counts that stops something, or begins it again: when it was signed; where that
    was by a clock that was ahead, when the archive took it, by however little. What is signed next comes
    after it.
    """
    issued, stored = said.statement.issued, said.stored
    return issued if stored is None else min(issued, stored)


def is_after(later: Attested, said: Attested) -> bool:
    """Whether a statement came after another one: by the times at which they were signed; where the other
    one's clock was ahead, also by when the archive took them.
    """
    counts = as_of(said)
    if counts != said.statement.issued and later.stored is not None and later.stored <= counts:
        return False
    return as_of(later) > counts


def taken_late(said: Attested) -> datetime | None:
    """When the archive took a statement, where that was so long after its date that it may have been signed
    later; else None.
    """
    late = said.stored is not None and said.stored - said.statement.issued > SKEW_AHEAD
    return said.stored if late else None


LOOPBACK = "loopback"
"""Stands for every service on this machine: in the roots of a rehearsal."""

ANY = "*"
"""Stands for every reference and every address, as long as what is sent stays on this machine."""

Kept = Callable[[str], str | None]
"""Gives what a reference leads to, and any other text as it is."""


class Role(StrEnum):
    """What a person, or a worker, may do."""

    STARTER = "starter"
    """Start a campaign."""
    APPROVER = "approver"
    """Approve and reject."""
    OPERATOR = "operator"
    """Pause, resume, abort; begin zones again; tell of a resolved support case."""
    WORKER = "worker"
    """Say what the service showed of a zone: a worker's own key. It permits nothing."""


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)


def _account(name: str) -> str:
    if not is_identifier(name):
        # Whoever is limited to an account that there is not counts for no zone, and is told so by nobody.
        raise ValueError(f"{name!r} is no account's identifier, which is 32 digits and letters from a to f")
    return name


class PersonRoot(_Part):
    """A person. ``accounts``: identifiers of the only accounts whose zones they decide on, and begin again;
    none: of any.
    """

    roles: frozenset[Role] = Field(min_length=1)
    accounts: tuple[Annotated[str, AfterValidator(_account)], ...] = ()


class LeastPolicy(_Part):
    """What every campaign is held to, whatever its file says. ``proof``: ``signed``: a start, a decision and
    a word count only with a signature; ``named``: as the messages name people, who may be anybody.
    """

    required: Annotated[int, Field(ge=1, le=10)] = 1
    four_eyes: bool = False
    proof: Literal["signed", "named"] = "signed"


class ServiceRoot(_Part):
    """A service, and what may be sent there: references of credentials, and of destinations of log jobs; and
    beside it which proxies, which webhooks of tickets with their secrets, and which addresses probes may ask
    in place of DNS, for they carry a scope's secret.
    """

    base_url: str
    credentials: Annotated[tuple[str, ...], Field(min_length=1)]
    proxies: tuple[str, ...] = ()
    webhooks: tuple[str, ...] = ()
    probes: tuple[str, ...] = ()


class RootsFile(_Part):
    """A roots file. ``signers``, ``revoked``: files beside it. ``most_commits_an_hour``: over all campaigns
    of the archive, in each hour of the clock; ``most_commits_a_wave``, ``most_commits_a_campaign``: of each
    campaign of one name, however often it is started. None for any number.
    """

    signers: str
    revoked: str | None = None
    people: dict[str, PersonRoot] = {}
    policy: LeastPolicy = LeastPolicy()
    services: Annotated[tuple[ServiceRoot, ...], Field(min_length=1)]
    most_commits_an_hour: Annotated[int, Field(ge=1)] | None = None
    most_commits_a_wave: Annotated[int, Field(ge=1)] | None = None
    most_commits_a_campaign: Annotated[int, Field(ge=1)] | None = None

    @property
    def most_commits(self) -> dict[str, int]:
        """The most commits by what they are counted of: an hour, a wave, a campaign."""
        found = {
            "hour": self.most_commits_an_hour,
            "wave": self.most_commits_a_wave,
            "campaign": self.most_commits_a_campaign,
        }
        return {of: most for of, most in found.items() if most is not None}


class Roots:
    """Who may say what, and where credentials may be sent. ``place``: the path of their file, if any."""

    def __init__(self, file: RootsFile, signers: Signers, place: str = "") -> None:
        self.file = file
        self.signers = signers
        self.place = place

    @property
    def digest(self) -> str:
        """Of all of it: workers with equal ones agree."""
        keys = sorted(
            [*key.names, key.key.line, str(key.after), str(key.before), *key.namespaces]
            for key in self.signers.keys
        )
        people = {
            name: {"roles": sorted(found.roles), "accounts": list(found.accounts)}
            for name, found in self.file.people.items()
        }
        file = {**self.file.model_dump(mode="json", exclude={"people"}), "people": people}
        held = {"file": file, "keys": keys, "revoked": sorted(self.signers.revoked)}
        return sha256(canonical_bytes(held))

    @property
    def signed(self) -> bool:
        """Whether only signatures count."""
        return self.file.policy.proof == "signed"

    def refuses(self, said: Attested, role: Role, now: datetime, account: str | None = None) -> str | None:
        """Why a statement does not count, or None: its key, its owner's role, its time. ``account``: of the
        zone that it is about.
        """
        statement = said.statement
        by = statement.by
        if why := self.signers.may_sign(said.key, by, now):
            return why
        if why := self.refuses_key(said.key, by, role, statement.issued, now):
            return why
        if why := self._refuses_person(by, role, account):
            return why
        if not now < statement.expires:
            return f"what {by} signed has expired"
        return None

    def refuses_key(self, key: PublicKey, by: str, role: Role, issued: datetime, now: datetime) -> str | None:
        """Why what this key has signed in somebody's name, at that time, is no word of theirs in this role;
        or None.
        """
        if why := self.signers.may_sign(key, by, issued):
            return why
        if why := self._refuses_person(by, role):
            return why
        # No sum of times: whoever signs writes any, and a key that was revoked is asked about as of its own.
        if issued - now > SKEW_AHEAD:
            return f"what {by} signed is from the future"
        return None

    def refuses_to_sign(
        self, by: str, role: Role, now: datetime, *, key: PublicKey | None = None, account: str | None = None
    ) -> str | None:
        """Why what a person signs from now on in this role will not count, or None: what is looked at before
        anybody signs. ``key``: None where it is elsewhere; ``account``: as in ``refuses``.
        """
        if key is not None and (why := self.signers.may_sign(key, by, now)):
            return why
        return self._refuses_person(by, role, account)

    def _refuses_person(self, by: str, role: Role, account: str | None = None) -> str | None:
        found = self.file.people.get(by)
        if found is None or role not in found.roles:
            return f"{by} is no {role.value}"
        if account is not None and found.accounts and account not in found.accounts:
            return f"{by} is no {role.value} of this account"
        return None

    def policy_for(self, own: SignOffPolicy) -> SignOffPolicy:
        """A campaign's policy, made no weaker than the least."""
        least = self.file.policy
        return own.model_copy(
            update={
                "required": max(own.required, least.required),
                "four_eyes": own.four_eyes or least.four_eyes,
            }
        )

    @cached_property
    def lasting(self) -> Roots:
        """These, but that keys count which were revoked since: by which it is judged whether a statement
        stops something. That a key is lost, or its owner leaves, says nothing for going on: what was stopped
        with it stays so until somebody whose key counts lets it go on. No thief stops for good: a key that is
        taken out of the signers is nobody's here either.
        """
        return Roots(self.file, Signers(list(self.signers.keys)), self.place)

    @property
    def forgiving(self) -> Roots:
        """These, but that keys count which were revoked since, and no least policy: by which it is judged
        whether a change was agreed to when it was made, that is to be undone now.
        """
        file = self.file.model_copy(update={"policy": LeastPolicy(proof=self.file.policy.proof)})
        return Roots(file, self.lasting.signers)

    def knowing(self, said: Iterable[Attested], role: Role) -> Roots:
        """These, but that whoever has signed these is known and may, in this role: by which it is judged
        whether roots that people were taken out of are all that stands in the way. They let nothing through.
        """
        people, keys = dict(self.file.people), list(self.signers.keys)
        for one in said:
            by = one.statement.by
            roles = people[by].roles | {role} if by in people else frozenset({role})
            accounts = people[by].accounts if by in people else ()
            people[by] = PersonRoot(roles=roles, accounts=accounts)
            # Also one that the roots have under another name: whoever signed may be called otherwise by now.
            keys.append(AllowedKey(one.key, (by,)))
        file = self.file.model_copy(update={"people": people})
        return Roots(file, Signers(keys, self.signers.revoked))

    def refuses_service(self, spec: CampaignSpec, kept: Kept) -> str | None:
        """Why a campaign may not send its secrets where its file says, or None. ``kept``: looks up proxies
        and webhooks where ``*`` of the roots stands for them.
        """
        service, tickets = spec.service, spec.tickets
        local = is_rehearsal(service.base_url)
        found = next(
            (
                root
                for root in self.file.services
                if _same(root.base_url, service.base_url) or (local and root.base_url == LOOPBACK)
            ),
            None,
        )
        if found is None:
            return f"{service.base_url} is no service of the worker's roots"

        def listed(value: str, some: tuple[str, ...], *way: str | None) -> bool:
            """``way``: the addresses by which it would be sent."""
            return value in some or (ANY in some and local and _all_here(way, kept))

        for proxy in (service.proxy, tickets.proxy):
            if proxy and proxy != DIRECT and not listed(proxy, found.proxies, proxy):
                return "its proxy is none of the roots"
        way = (tickets.webhook, tickets.proxy or service.proxy)
        if tickets.webhook and not listed(tickets.webhook, found.webhooks, *way):
            return "its webhook for tickets is none of the roots"
        if tickets.secret and not listed(tickets.secret, found.webhooks, *way):
            return f"the secret {tickets.secret} is not for a webhook, by the roots"
        for reference in (one for credential in service.credentials for one in credential.references):
            if not listed(reference, found.credentials, service.proxy):
                return f"the credential {reference} is not for {service.base_url}, by the roots"
        for key, section in spec.own_sections.items():
            for path, reference in section.references.items():
                if not listed(reference, found.credentials, service.proxy):
                    return f"{key}.{path} {reference} is not for {service.base_url}, by the roots"
            for address in section.addresses.values():
                if not (local and is_rehearsal(address)) and address not in found.probes:
                    return f"{address} is no address that probes may ask, by the roots"
        return None


def _same(one: str, other: str) -> bool:
    return one.rstrip("/") == other.rstrip("/")


def is_rehearsal(base_url: str) -> bool:
    """Whether a service lies on this machine: the only one that is changed without roots."""
    try:
        host = urlsplit(base_url).hostname or ""
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def asking(roots: Roots | None) -> Roots | None:
    """The roots, where they ask for signatures: they let signatures alone count. None where there are none,
    and where they let names count, as messages give them (``proof: named``).
    """
    return roots if roots is not None and roots.signed else None


def policy_by(roots: Roots | None, own: SignOffPolicy) -> SignOffPolicy:
    """A campaign's policy, made no weaker than what is asked for at the door, where signatures count."""
    return asked.policy_for(own) if (asked := asking(roots)) is not None else own


def leads_away(spec: CampaignSpec, kept: Kept) -> str | None:
    """The first setting of a campaign file by which something would be sent to another machine; or None."""
    addresses = {
        "service.base_url": spec.service.base_url,
        "service.proxy": spec.service.proxy,
        "tickets.proxy": spec.tickets.proxy,
        "tickets.webhook": spec.tickets.webhook,
    }
    for key, section in spec.own_sections.items():
        addresses |= {f"{key}.{path}": address for path, address in section.addresses.items()}
    return next((place for place, one in addresses.items() if not _all_here((one,), kept)), None)


def _all_here(addresses: Iterable[str | None], kept: Kept) -> bool:
    return all(is_rehearsal(kept(one) or "") for one in addresses if one and one != DIRECT)


def quorum(said: Iterable[tuple[str, str]], starter: tuple[str, str], policy: SignOffPolicy) -> list[str]:
    """The people whom these are, of (name, identifier of the key): one a name and one a key. With four eyes,
    whoever has started, by name or by key, is none.
    """
    found: list[str] = []
    people: set[str] = set()
    keys: set[str] = set()
    for name, key in said:
        who = person(name)
        if policy.four_eyes and (who == person(starter[0]) or key == starter[1]):
            continue
        if who not in people and key not in keys:
            people.add(who)
            keys.add(key)
            found.append(name)
    return found
