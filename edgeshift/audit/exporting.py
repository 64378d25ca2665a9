"""Writing a campaign's audit file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable
from datetime import datetime
from importlib.metadata import version
from typing import BinaryIO

from pydantic import BaseModel, ConfigDict

from edgeshift.audit.chain import FORMAT, ChainWriter, Kind, SealStatement
from edgeshift.audit.collecting import Collector
from edgeshift.audit.spool import Spool
from edgeshift.authority.signing import Signer
from edgeshift.authority.sshsig import rearmored
from edgeshift.model.digests import canonical_bytes
from edgeshift.stores.archive import Archive

More = Callable[[Spool], Awaitable[bool]]
"""Adds what others than the archive know; whether they knew anything."""


class Exported(BaseModel):
    """What was written: how many lines of each kind, and the digest of the last one before the seal.
    ``sealed_by``: whoever signed the seal, or empty. ``told``: whether Temporal knew the campaign.
    """

    model_config = ConfigDict(frozen=True)

    campaign: str
    lines: int
    kinds: dict[str, int]
    head: str
    sealed_by: str
    key: str
    told: bool


async def export(
    archive: Archive,
    campaign: str,
    out: BinaryIO,
    now: datetime,
    *,
    by: str = "",
    signer: Signer | None = None,
    more: More | None = None,
) -> Exported:
    """Write all that is known of a campaign. ``by``: in whose name ``signer`` signs the seal; without one
    nobody does. Raises NothingSigned, ArchiveError, SigningFailed.
    """
    with Spool() as spool:
        await Collector(archive, campaign, spool).collect()
        told = await more(spool) if more is not None else False
        now = now.replace(microsecond=0)
        header = {
            "at": now.isoformat(),
            "campaign": campaign,
            "edgeshift": version("edgeshift"),
            "format": FORMAT,
        }
        spool.add(Kind.HEADER, "", header)
        chain, kinds = ChainWriter(out), Counter[str]()
        for kind, data in spool.lines():
            chain.add(kind, data)
            kinds[kind.value] += 1
    count, head = chain.count, chain.head
    seal: dict[str, object] = {"signature": None, "statement": None}
    if signer is not None:
        statement = SealStatement(campaign=campaign, by=by, at=now, count=count, head=head)
        signature = rearmored(await signer.sign(statement.bytes))
        seal = {"signature": signature, "statement": statement.model_dump(mode="json")}
    chain.add(Kind.SEAL, canonical_bytes(seal))
    return Exported(
        campaign=campaign,
        lines=chain.count,
        kinds=dict(kinds),
        head=head,
        sealed_by=by if signer is not None else "",
        key=signer.key.id if signer is not None else "",
        told=told,
    )
