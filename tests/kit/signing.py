"""The keys of a scene's people, the roots that its workers have, and what is signed with them."""

from __future__ import annotations

import asyncio
import base64
import json
import secrets
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from edgeshift.authority.loading import load_roots
from edgeshift.authority.records import SignedRecords
from edgeshift.authority.roots import ANY, LOOPBACK, Role
from edgeshift.authority.signers import line_of
from edgeshift.authority.signing import FileSigner
from edgeshift.authority.sshsig import PrivateKey
from edgeshift.authority.statements import Statement
from edgeshift.authority.worker_records import sealed, statement_of
from edgeshift.operations.pen import Pen
from edgeshift.stores.archive import Archive, ArchiveError
from edgeshift.testbed.invariants.keys import KeyHeld
from edgeshift.testbed.invariants.keys import Roster as Seen
from tests.kit.names import APPROVER, OPERATOR

T = TypeVar("T")

PEOPLE: Mapping[str, tuple[str, ...]] = {
    OPERATOR: ("starter", "operator"),
    APPROVER: ("approver",),
    "bob": ("approver",),
    "sam": ("operator",),
    "rita": ("starter",),
    "opal": ("operator",),
    "erin": ("approver",),
}
"""Who has a key, and in which roles it signs. ``opal`` may not approve, ``erin`` nothing of a scene's."""

ELSEWHERE: Mapping[str, tuple[str, ...]] = {"erin": ("f" * 32,)}
"""Those who decide on zones of these accounts alone."""

AWAY = 90.0
"""Seconds for which people try again to record what they sign, where the archive does not take it."""


def key_of(name: str, number: int = 1) -> FileSigner:
    """A person's key, made once in each process; ``number``: their second one, and so on."""
    return _made(name, number)


@cache
def _made(name: str, number: int) -> FileSigner:
    return FileSigner(PrivateKey.made())


@dataclass(frozen=True)
class Roster:
    """Whose word counts in a scene. ``approvers``: who signs where nobody is named. ``keys``: how many keys a
    person has, of those who have several; ``revoked``: which of them, by name and number, count no more.
    ``required``, ``four_eyes``, ``most_commits_an_hour``: the roots'. ``service``: the address of the only
    service that they know, with no webhook and no proxy; None for whatever lies on this machine.
    """

    approvers: tuple[str, ...] = (APPROVER,)
    people: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: PEOPLE)
    keys: Mapping[str, int] = field(default_factory=dict)
    revoked: tuple[tuple[str, int], ...] = ()
    required: int = 1
    four_eyes: bool = False
    most_commits_an_hour: int | None = None
    service: str | None = None

    @property
    def policy(self) -> dict[str, Any]:
        """The same in the words of a campaign's file, so that its zones ask for it before they come to the
        door.
        """
        return {"required": self.required, "four_eyes": self.four_eyes}

    def with_role(self, name: str, role: str) -> Roster:
        """The same, with one more role for somebody."""
        return replace(self, people={**self.people, name: (*self.people.get(name, ()), role)})

    def signers(self, name: str) -> list[FileSigner]:
        """Every key of a person."""
        return [key_of(name, number) for number in range(1, self.keys.get(name, 1) + 1)]

    @property
    def seen(self) -> Seen:
        """What the checkers are told: each key, and what its owner may do with it."""
        return Seen(
            keys=tuple(
                KeyHeld(
                    name=name,
                    key=base64.b64encode(signer.key.blob).decode(),
                    roles=frozenset(roles),
                    accounts=frozenset(ELSEWHERE.get(name, ())),
                )
                for name, roles in self.people.items()
                for number, signer in enumerate(self.signers(name), 1)
                if (name, number) not in self.revoked
            ),
            required=self.required,
            four_eyes=self.four_eyes,
        )


WORKER = "worker"
"""The name of a scene's workers."""


class Keys:
    """The roots of a scene in their folder, and its people's pens."""

    def __init__(self, folder: Path, roster: Roster) -> None:
        self.roster = roster
        self.roots = folder / "roots.yaml"
        folder.mkdir(mode=0o700, parents=True)
        self.worker = folder / "worker-key"
        self.worker.touch(mode=0o600)
        self.worker.write_text(key_of(WORKER)._private.text)
        self.write(roster)

    def write(self, roster: Roster) -> None:
        """Write the roots, which workers read again when they have changed."""
        self.roster = roster
        people = {
            name: {"roles": list(roles), "accounts": list(ELSEWHERE.get(name, ()))}
            for name, roles in roster.people.items()
        }
        people[WORKER] = {"roles": ["worker"]}
        lines = [line_of(name, one.key.line) for name in people for one in roster.signers(name)]
        most = {"most_commits_an_hour": roster.most_commits_an_hour} if roster.most_commits_an_hour else {}
        service: dict[str, Any] = {"base_url": roster.service or LOOPBACK, "credentials": [ANY]}
        if roster.service is None:
            service |= {"webhooks": [ANY], "proxies": [ANY]}
        found = {
            "signers": "allowed_signers",
            "people": people,
            "policy": roster.policy,
            "services": [service],
            **most,
        }
        gone = [key_of(*one).key.line for one in roster.revoked]
        if gone:
            found["revoked"] = "revoked_keys"
        for name, text in (
            ("revoked_keys", "\n".join(gone) + "\n"),
            ("allowed_signers", "\n".join(lines) + "\n"),
            (self.roots.name, json.dumps(found)),
        ):
            fresh = self.roots.with_name(f".{name}.new")
            fresh.write_text(text)
            fresh.chmod(0o600)
            fresh.replace(self.roots.with_name(name))
        self._pens: dict[str, Pen] = {}
        self._others: dict[str, Pen] = {}

    def pen(self, archive: Archive, by: str) -> Pen:
        """A person's, which keeps what it has verified. It passes over starts that nobody signed who may."""
        if by not in self._pens:
            self._pens[by] = Pen(key_of(by), archive, by, load_roots(self.roots))
        return self._pens[by]

    def anybodys(self, archive: Archive, by: str) -> Pen:
        """The same of somebody whose tools do not say what would not count: workers have to."""
        if by not in self._others:
            self._others[by] = _Unasked(key_of(by), archive, by, load_roots(self.roots))
        return self._others[by]


class _Unasked(Pen):
    """Signs whatever it is given."""

    def refuse_without(self, role: Role, *accounts: str) -> None:
        """Nothing."""


async def recorded(archive: Archive, statement: Statement, signer: FileSigner | None = None) -> str:
    """Record a statement, signed by its author or by another key; its digest."""
    used = signer or key_of(statement.by)
    signature = await used.sign(statement.bytes)
    return await insisted(lambda: SignedRecords(archive).put(statement, signature))


def about(service: str, campaign: str, area: Any, by: str) -> dict[str, Any]:
    """What every statement says, of one that counts for a day."""
    now = datetime.now(UTC).replace(microsecond=0)
    return {
        "service": service,
        "campaign": campaign,
        "area": area,
        "by": by,
        "issued": now,
        "expires": now + timedelta(days=1),
        "nonce": secrets.token_hex(16),
    }


async def insisted(record: Callable[[], Awaitable[T]]) -> T:
    """What a person records, who tries again while the archive is away. Raises ArchiveError."""
    limit = asyncio.get_running_loop().time() + AWAY
    while True:
        try:
            return await record()
        except ArchiveError:
            if asyncio.get_running_loop().time() > limit:
                raise
        await asyncio.sleep(0.3)


async def signed(
    name: str,
    contents: Mapping[str, Any],
    signer: FileSigner,
    *,
    by: str = WORKER,
    issued: datetime | None = None,
    of: str = "",
) -> bytes:
    """A record signed with this key in a worker's name. ``of``: the name that is signed, where that is
    another.
    """
    statement = statement_of(of or name, contents, by, issued or datetime.now(UTC))
    return sealed(contents, statement, await signer.sign(statement.bytes))
