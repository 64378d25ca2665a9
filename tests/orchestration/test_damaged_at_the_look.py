"""A record that cannot be read keeps its own zone's end from being known, and no other's."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from temporalio.client import Client

from edgeshift.model.fleet import Area
from edgeshift.stores.documents import intent_key
from tests.harness.campaigns.authority import ONE
from tests.kit.faults import staged, zone

pytestmark = [pytest.mark.embedded, pytest.mark.timeout(240)]


@pytest.mark.parametrize("signed", [True, False], ids=["roots", "no roots"])
async def test_a_damaged_record_of_a_zone_that_was_cut_off_leaves_the_look_to_go_on(
    temporal_client: Client, tmp_path: Path, signed: bool
) -> None:
    """The zone is unknown, with the record that may stand for what was sent; the batch that looks at it is
    not tried again, so that the others' ends count, and the campaign closes.
    """
    how: dict[str, Any] = {"authority": ONE} if signed else {}
    async with staged(temporal_client, tmp_path, zone("a"), zone("b"), **how) as stage:
        for short in stage.names:
            await stage.waits(short)
        play = stage.play
        (target,) = [one for one in play.targets if one.zone.name == stage.name("a")]
        damaged = intent_key(target.zone, Area.WAF, "damaged")
        await play.archive.create_once(damaged, b'{"step": "com')
        await play.zone(stage.name("a")).terminate("by mistake")
        await play.until(lambda seen: seen.places.get("unknown") == 1, 60)
        notes = (await play.summary()).notes
        assert any(stage.name("a") in note and damaged in note for note in notes), notes
        assert not any("tried again" in note for note in notes), notes
        assert (await stage.finish()).outcomes == {"migrated": 1, "unknown": 1}
