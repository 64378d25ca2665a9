"""What has to be signed: as the roots ask, and where there are none."""

from __future__ import annotations

from pathlib import Path

from edgeshift.authority.roots import asking
from tests.forgeries.doors import guarded
from tests.service.gate_kit import gate


async def test_roots_ask_for_signatures_unless_they_let_names_count(tmp_path: Path) -> None:
    """Where there are none, nothing is asked for either."""
    async with guarded(tmp_path) as door:
        authority = door.gate.connections.authority
        roots = authority.roots_or_none()
        assert roots is not None and asking(roots) is roots and asking(None) is None
        door.least(proof="named")
        assert asking(authority.roots_or_none()) is None


async def test_what_has_to_be_signed_is_what_the_roots_ask_for(tmp_path: Path) -> None:
    """Without roots, results are needed all the same where the service is on another machine; starts are
    not.
    """
    async with guarded(tmp_path / "roots") as door:
        there, spec = door.gate.connections, await door.gate.connections.spec(door.gate.start.spec)
        assert there.results.needs_results(spec) and there.starts.needs_signed_starts()
        door.least(proof="named")
        assert not there.results.needs_results(spec) and not there.starts.needs_signed_starts()
    async with gate(tmp_path / "none") as alone:
        there, spec = alone.connections, await alone.connections.spec(alone.start.spec)
        assert not there.results.needs_results(spec) and not there.starts.needs_signed_starts()
        service = spec.service.model_copy(update={"base_url": "https://api.example.com/client/v4"})
        assert there.results.needs_results(spec.model_copy(update={"service": service}))
