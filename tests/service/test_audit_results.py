"""Results of workers in an audit file."""

from __future__ import annotations

import io
from pathlib import Path

from edgeshift.audit.chain import Kind
from edgeshift.audit.proving import prove
from edgeshift.audit.spool import Spool
from edgeshift.authority.records import SignedRecords
from edgeshift.authority.roots import PersonRoot, Role, Roots, RootsFile, ServiceRoot
from edgeshift.authority.signers import parsed
from edgeshift.authority.sshsig import PrivateKey
from edgeshift.authority.statements import ResultStatement, StartStatement
from edgeshift.model.fleet import Area, ZoneOutcome
from tests.kit.audited import SENT, audited


async def test_results_that_workers_signed_are_in_it_and_counted(tmp_path: Path) -> None:
    """By a key in the role of a worker; a result by somebody else is none, and what Temporal tells beyond the
    results is named as signed by nobody; so is an outcome whose result is of another run of the campaign.
    """
    found = await audited(tmp_path)
    found.keys["worker"] = PrivateKey.made()
    start = (await SignedRecords(found.archive).starts("autumn"))[0].statement
    assert isinstance(start, StartStatement)

    async def saw(place: int, by: str, key: PrivateKey | None = None, run: str = "r") -> None:
        result = ResultStatement(
            **found.about(by, SENT),
            run=run,
            spec=start.spec,
            zone=found.zones[place].id,
            attempt=1,
            outcome=ZoneOutcome.MIGRATED,
        )
        await found.put(result, key)

    await saw(0, "worker")
    await saw(0, "worker")
    await saw(1, "worker", found.stranger)
    await saw(2, "ada")
    await saw(3, "worker", run="earlier")
    await saw(4, "worker")

    async def told(spool: Spool) -> bool:
        for place in range(6):
            row = {
                "attempt": 1,
                "campaign_run": "" if place == 4 else "r",
                "closed": None,
                "digest": "",
                "index": place,
                "outcome": "migrated" if place < 5 else "blocked",
                "reason": "",
                "record": "",
                "run": "z",
                "workflow": f"zone/{found.zones[min(place, 4)].id}/waf",
            }
            spool.add(Kind.OUTCOME, f"{place:09d}/000001/z", row)
        return True

    data = await found.export(more=told)
    people = {
        name: PersonRoot(roles=frozenset({Role.WORKER} if name == "worker" else {*Role} - {Role.WORKER}))
        for name in found.keys
    }
    services = (ServiceRoot(base_url="any", credentials=("any",)),)
    roots = Roots(RootsFile(signers="s", people=people, services=services), parsed(found.signers))
    proof = prove(io.BytesIO(data), roots)
    assert (proof.holds, proof.results, proof.told, proof.unsigned) == (
        True,
        {"migrated": 3},
        {"migrated": 5, "blocked": 1},
        3,
    )


async def test_whoever_asks_temporal_knows_each_target_by_its_index(tmp_path: Path) -> None:
    """And of which area the campaign is: what is called otherwise is no workflow of a target's. Any number
    may be written there.
    """
    found, known = await audited(tmp_path, 2), list[object]()

    async def told(spool: Spool) -> bool:
        known.extend([spool.areas, *(spool.targets_at(index) for index in (0, 1, 2, -1, 2**60))])
        return True

    await found.export(more=told)
    assert known == [{Area.WAF}, [found.zones[0]], [found.zones[1]], [], [], []]
