"""A worker's own key, with which it signs what it has read at the service, and what it records.
It permits nothing.
"""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from edgeshift.authority.loading import RootsError
from edgeshift.authority.roots import Role, Roots, asking
from edgeshift.authority.signing import Signer, SigningFailed, signer_at
from edgeshift.authority.statements import ResultStatement
from edgeshift.authority.worker_records import RecordStatement

HOW = (
    "`edgeshift keys make NAME --file PATH` makes one, `edgeshift keys add NAME --key PATH.pub --role worker`"
    " puts it into the roots; then set EDGESHIFT_AUTHORITY_WORKER_KEY=PATH (docs/authority.md, Workers' keys)"
)


class WorkerPen:
    """Signs in a worker's name, by the roots."""

    def __init__(self, signer: Signer, name: str) -> None:
        self._signer = signer
        self.name = name

    @property
    def key(self) -> str:
        """The identifier of its key."""
        return self._signer.key.id

    async def sign(self, said: ResultStatement | RecordStatement) -> str:
        """The signature of a result, or of a record. Raises SigningFailed."""
        return await self._signer.sign(said.bytes)


def worker_pen(path: Path | None, roots: Roots | None) -> WorkerPen | None:
    """The pen of a worker with these roots; None where it needs none. Raises RootsError where it has none, or
    one that its roots do not know: nobody could tell its words from a stranger's.
    """
    if (roots := asking(roots)) is None:
        return None
    if path is None:
        raise RootsError(f"this worker has roots, and no key to sign its results with: {HOW}")
    try:
        signer = signer_at(path)
    except SigningFailed as why:
        raise RootsError(f"EDGESHIFT_AUTHORITY_WORKER_KEY: {why}: {HOW}") from None
    names = worker_names(roots, signer.key.id)
    if not names:
        raise RootsError(f"the roots know no worker with the key {path} ({signer.key.id}): {HOW}")
    return WorkerPen(signer, names[0])


def worker_names(roots: Roots, key: str) -> list[str]:
    """The workers whose key this is, by its identifier, and may sign now."""
    now = datetime.now(UTC)
    return sorted(
        name
        for allowed in roots.signers.keys
        if allowed.key.id == key
        for name in allowed.names
        if name in roots.file.people
        and Role.WORKER in roots.file.people[name].roles
        and roots.signers.may_sign(allowed.key, name, now) is None
    )
