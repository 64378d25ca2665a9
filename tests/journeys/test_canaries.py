"""A migration with a canary for every secret, by the command line, with much of it failing: afterwards none
of them is anywhere but where it belongs.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from edgeshift.model.fleet import Area
from edgeshift.testbed.invariants.leaks import scan
from tests.journeys.canary_courses import PLAYS
from tests.journeys.canary_kit import rehearsal

pytestmark = [pytest.mark.stack(120), pytest.mark.embedded, pytest.mark.timeout(900), pytest.mark.long]


def test_no_canary_is_left_behind_by_a_migration(tmp_path: Path) -> None:
    """Tokens, a key and its e-mail, the webhook's path, query and secret, the proxy's password: searched for
    in Temporal's database, logs at debug level, archive, tickets as they were sent, report, and all that was
    printed. The harness plays the other areas (`canaries/...`).
    """
    with rehearsal(tmp_path, brief=True) as play:
        PLAYS[Area.WAF](play)
        found = play.searched()
        assert play.proxy.passed > 20 and len(play.desk.bodies) > 1
    leaks = {scan_.place: scan_.leaks for scan_ in found if scan_.leaks or not scan_.sighted}
    assert leaks == {}
    assert play.failures == []
    places = {scan_.place.removeprefix(str(tmp_path)).split("/")[1] for scan_ in found}
    assert {".edgeshift", "said", "received", "up.log", "canary-waf.html", "canary-waf.csv"} <= places
    # The search is not blind: each canary is found where it is planted.
    for label, value in play.canaries.labelled().items():
        planted = tmp_path / "planted"
        planted.write_text(f"before {value} after")
        assert scan(planted, play.canaries.labelled())[0].leaks == (label,)
