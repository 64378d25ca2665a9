"""Whether what a running campaign names may be asked from here. Its specification is what somebody put into
Temporal and the archive: a stranger's would lead the secrets of this machine to whichever host it says.
"""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from edgeshift.authority.loading import RootsError, load_roots
from edgeshift.authority.records import SignedRecords
from edgeshift.authority.roots import leads_away
from edgeshift.authority.starts import start_of
from edgeshift.campaign_file.spec import CampaignSpec
from edgeshift.runtime.secret_refs import SecretRefError, said_or_kept
from edgeshift.stores.archive import Archive, ArchiveError


async def refused_here(archive: Archive, spec: CampaignSpec, digest: str, roots: Path | None) -> str:
    """Why no secret is looked up, nothing called and no folder made for this specification, as workers have
    it: the roots let its service and references through, and where they ask for signatures, a start by it
    counts; without roots all of it lies on this machine. Nothing where it may be asked. ``digest``: of
    ``spec``; ``roots``: the roots file that is known here.
    """
    try:
        if roots is None:
            away = leads_away(spec, said_or_kept)
            return f"{away} leads beyond this machine, and no roots are known here" if away else ""
        known = load_roots(roots)
        if (why := known.refuses_service(spec, said_or_kept)) or not known.signed:
            return why or ""
        found = start_of(
            spec, digest, await SignedRecords(archive).starts(spec.name), known, datetime.now(UTC)
        )
    except (RootsError, SecretRefError, ArchiveError) as trouble:
        return str(trouble)
    return f"its start is signed by nobody who is known here ({found})" if isinstance(found, str) else ""
