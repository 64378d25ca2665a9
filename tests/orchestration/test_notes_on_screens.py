"""Every screen says where names on record are claims: nobody signed the start, or a stranger did."""

from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path

import pytest

from edgeshift.operations.pen import Pen
from edgeshift.operations.proof import UNKNOWN, UNSIGNED, note_of, together
from edgeshift.runtime.settings import TemporalSettings
from edgeshift.runtime.temporal import connect
from edgeshift.testbed.temporal_server.embedded import EmbeddedTemporal
from tests.journeys.cli_kit import in_process
from tests.kit import fleet_of, scene
from tests.kit.signing import Keys, Roster, key_of

pytestmark = [pytest.mark.embedded, pytest.mark.long, pytest.mark.timeout(600)]

STRANGER = "mallory"


async def test_each_screen_says_so(
    own_server: EmbeddedTemporal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A rehearsal without keys; then a stranger has signed its start, which hides nothing; and once whoever
    signed it is a starter by roots that can be read here, nothing is said.
    """
    fleet = fleet_of({"name": "a.example", "plan": "pro"})
    client = await connect(TemporalSettings(address=own_server.address), identity="test")
    async with scene(client, tmp_path, fleet, paced=True) as play:
        name = play.spec.name
        await play.sign_everything()
        monkeypatch.setenv("EDGESHIFT_TEMPORAL_ADDRESS", own_server.address)
        monkeypatch.setenv("EDGESHIFT_ARCHIVE_URL", play.settings.archive)
        monkeypatch.setenv("COLUMNS", "80")
        monkeypatch.chdir(tmp_path)
        screens = [
            ("status",),
            ("status", name),
            ("watch", name),
            ("show", "a.example", "--campaign", name),
            ("history", "a.example", "--campaign", name),
            ("check", "a.example", "--campaign", name),
            ("check", name, "--all"),
            ("alarms", name),
            ("report", name, "--for-approval", "--out", "page.html"),
        ]

        async def said(note: str, others: tuple[str, ...], audit: int) -> None:
            lines = [*screens, ("audit", "export", name, "--out", "a.jsonl")]
            for line in lines:
                ran = await asyncio.to_thread(in_process, *line)
                codes = {"alarms": (0, 7), "audit": (audit,), "check": (0, 1)}.get(line[0], (0,))
                assert ran.code in codes, (line, ran)
                page = (tmp_path / "page.html").read_text() if line[0] == "report" else ""
                told = " ".join((ran.out + ran.err + page).split())
                mine = rf"\b{name}(, [\w-]+)*: " if line == ("status",) else ""
                if note and (line[0] != "audit" or not audit):
                    assert re.search(mine + re.escape(note.partition(":")[0]), told), (line, ran)
                for other in others:
                    assert not re.search(mine + re.escape(other.partition(":")[0]), told), (line, ran)
                if line[0] == "watch" or "--for-approval" in line or (line[0] == "audit" and audit):
                    continue
                ran = await asyncio.to_thread(in_process, *line, "--json")
                found = json.loads(ran.out)
                of = [one for one in found.get("campaigns", []) if one["name"] == name] or [found]
                assert of[0]["note"].removeprefix(f"{name}: ") == note, line

        await said(UNSIGNED, (UNKNOWN,), 5)
        assert play.start is not None
        await Pen(key_of(STRANGER), play.archive, STRANGER).start(play.start, play.spec)
        await said(UNKNOWN, (UNSIGNED,), 0)
        roots = Keys(tmp_path / "others", Roster()).roots
        monkeypatch.setenv("EDGESHIFT_AUTHORITY_ROOTS", str(roots))
        await said(UNKNOWN, (UNSIGNED,), 0)
        roots = Keys(tmp_path / "known", Roster(people={STRANGER: ("starter",)})).roots
        monkeypatch.setenv("EDGESHIFT_AUTHORITY_ROOTS", str(roots))
        await said("", (UNSIGNED, UNKNOWN), 0)
        assert await note_of(play.archive, name, "f" * 64, None) == UNSIGNED


def test_notes_of_several_campaigns_are_told_once() -> None:
    """Each with the names that it is of."""
    found = together({"a": UNSIGNED, "b": "", "c": UNSIGNED, "d": UNKNOWN})
    assert found == [f"a, c: {UNSIGNED}", f"d: {UNKNOWN}"]
