"""Both modes of the validation window in turn: first the form that logs, then the rules themselves."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from temporalio.client import Client

from edgeshift.areas.evidence import EvidenceVerdict
from edgeshift.areas.waf.evidence import Evidence, Kind
from edgeshift.areas.waf.evidence_texts import evidence_lines
from edgeshift.areas.waf.preview_part import shown_of
from edgeshift.messages import ZonePhase
from edgeshift.operations.preview import preview_of
from tests.kit import fleet_of, scene

pytestmark = pytest.mark.embedded

ABSENT = {4, 7}


@pytest.mark.long
async def test_the_rules_themselves_are_validated_where_their_shadow_passed(
    temporal_client: Client, tmp_path: Path
) -> None:
    """With consent: the quiet zone is validated twice and the evidence of both windows is kept; where the
    shadow found false positives, the new WAF is never let act before people have looked.
    """
    busy: dict[str, Any] = {"requests_per_minute": 600}
    planted: dict[str, Any] = {"false_positives": [{"kind": "rich_text", "path": "/save", "per_hour": 60}]}
    fleet = fleet_of(
        {"name": "quiet.example", "plan": "enterprise", "traffic": busy},
        {"name": "editor.example", "plan": "enterprise", "traffic": busy | planted},
    )
    terms: dict[str, Any] = {
        # Long enough for the rarest attack of the simulated traffic to be in both windows.
        "validation": {"window": "36h", "modes": ["shadow", "enforce"]},
        "consents": {"enforce_validation": True},
    }
    async with scene(temporal_client, tmp_path, fleet, **terms) as play:
        states = {
            name: await play.zone_until(
                name, lambda state: state.phase is ZonePhase.AWAITING_SIGN_OFF and bool(state.evidence)
            )
            for name in ("quiet.example", "editor.example")
        }
        sent = {
            name: [entry["log_only"] for entry in await play.journal("entrypoint.put", name)]
            for name in states
        }
        assert sent == {"quiet.example": [True, False], "editor.example": [True]}

        quiet = await preview_of(play.archive, states["quiet.example"], play.spec.area)
        earlier = shown_of(quiet.own).earlier
        assert isinstance(quiet.evidence, Evidence) and earlier is not None
        assert (quiet.evidence.mode, earlier.mode) == ("enforce", "shadow")
        assert quiet.evidence.verdict is earlier.verdict is EvidenceVerdict.PASS
        assert quiet.evidence.unseen == quiet.evidence.as_before > 0
        assert "cannot see" in "\n".join(evidence_lines(quiet.evidence))

        editor = Evidence.model_validate(await play.archive.get_json(states["editor.example"].evidence))
        assert (editor.mode, editor.verdict) == ("shadow", EvidenceVerdict.FAIL)
        assert {(item.kind, item.path) for item in editor.findings} == {(Kind.FALSE_POSITIVE, "/save")}
        assert "only log mode was tested" in "\n".join(evidence_lines(editor))
        await play.sign_everything()
        assert [len(await play.commits(name)) for name in states] == [1, 1]
        await play.check_rules(absent=ABSENT)
