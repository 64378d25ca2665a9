"""Areas without a way to read a changed target again say so before anything is read."""

from __future__ import annotations

from pathlib import Path
from typing import cast

import pytest
from temporalio.client import Client

from edgeshift.model.fleet import Area, Plan, Zone
from edgeshift.operations.checking import check_target
from edgeshift.operations.errors import BadInput
from edgeshift.stores.archive import Archive

ZONE = Zone(id="a" * 32, name="shop.example", account="b" * 32, plan=Plan.ENTERPRISE)


@pytest.mark.parametrize("area", [Area.ESC, Area.LOG_FIELDS])
async def test_an_area_without_a_check_is_refused_by_name(tmp_path: Path, area: Area) -> None:
    """Neither a credential nor the archive is needed for the answer."""
    nobody = cast(Client, None)
    with pytest.raises(BadInput, match=rf"area {area.value} cannot be checked") as refused:
        await check_target(nobody, Archive(str(tmp_path)), ZONE, area, spec="0" * 64, record="0" * 64)
    assert "edgeshift history shop.example" in refused.value.hint
