"""Generated fleets with Edge Side Code, and the commands that start the edge."""

from __future__ import annotations

import asyncio
import os
import re
import sys
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx
import pytest
from typer.testing import CliRunner

from edgeshift.cli.errors import CommandError
from edgeshift.cli.fleet import app
from edgeshift.testbed.simulator.edge.origin import known_paths
from edgeshift.testbed.simulator.expressions import wildcard_pattern
from edgeshift.testbed.simulator.fleet_edge import ZoneEdge, ZoneEsc
from edgeshift.testbed.simulator.fleet_file import FleetFileError, dump_fleet, load_fleet
from edgeshift.testbed.simulator.generate import generate_fleet
from edgeshift.testbed.stack.paths import StackPaths
from tests.service.edge_kit import ESC_KINDS, edge

RUN = CliRunner()


def test_only_what_was_asked_for_is_planted() -> None:
    """With a share, nothing but Edge Side Code and noise differs from the fleet without."""
    plain, planted = generate_fleet(80, 5), generate_fleet(80, 5, esc=0.25)
    assert not any(zone.esc.behaviours or zone.edge.noise for zone in plain.zones)
    assert generate_fleet(80, 5, esc=0.25) == planted
    able = [zone for zone in planted.zones if zone.status == "active" and not zone.paused]
    assert sum(bool(zone.esc.behaviours) for zone in planted.zones) == round(0.25 * len(able))
    for zone in planted.zones:
        zone.esc, zone.edge = ZoneEsc(), ZoneEdge()
    planted.note = plain.note
    assert planted == plain
    with pytest.raises(ValueError, match="from 0 to 1"):
        generate_fleet(10, 1, esc=1.5)


def test_every_kind_is_planted_where_it_shows() -> None:
    """Nine zones have every kind, and each behaviour acts on a known path of which no other is."""
    zones = [zone for zone in generate_fleet(60, 2, esc=0.4).zones if zone.esc.behaviours]
    kinds = Counter(one.kind for zone in zones for one in zone.esc.behaviours)
    assert set(kinds) == set(ESC_KINDS)
    for zone in zones:
        for one in zone.esc.behaviours:
            on = [path for path in known_paths(zone) if wildcard_pattern(one.path).fullmatch(path)]
            assert on
            others = [other for other in zone.esc.behaviours if other is not one]
            assert not any(wildcard_pattern(other.path).fullmatch(path) for other in others for path in on)
    assert any(zone.edge.noise for zone in zones) and any(not zone.edge.noise for zone in zones)


def test_a_planted_fleet_is_written_and_read(tmp_path: Path) -> None:
    """YAML and JSON keep it; the commands plant it and count it."""
    fleet = generate_fleet(60, 3, esc=0.5)
    for name in ("fleet.yaml", "fleet.json"):
        dump_fleet(fleet, tmp_path / name)
        assert load_fleet(tmp_path / name) == fleet
    path = tmp_path / "made.json"
    made = RUN.invoke(app, ["generate", "--zones", "60", "--seed", "3", "--esc", "0.5", "--out", str(path)])
    assert made.exit_code == 0, made.output
    assert load_fleet(path) == fleet
    assert "with Edge Side Code" in RUN.invoke(app, ["check", str(path)]).output


def test_a_mistake_in_a_fleet_names_its_place_and_no_secret(tmp_path: Path) -> None:
    """Line, field and what would be right; a secret one character too long is not shown."""
    path = tmp_path / "fleet.yaml"
    secret = "private" * 14 + "abc"
    path.write_text(
        "zones:\n  - name: a.example\n    plan: pro\n    esc:\n"
        f"      with_secret: {secret}\n      behaviours:\n        - kind: tls_sni\n"
    )
    with pytest.raises(FleetFileError) as caught:
        load_fleet(path)
    assert "line 5: zones[0].esc.with_secret" in str(caught.value) and "100 characters" in str(caught.value)
    assert "line 7: zones[0].esc.behaviours[0]: this dict: tls_sni needs to" in str(caught.value)
    assert "private" not in str(caught.value)


async def test_every_planted_behaviour_is_seen_at_the_edge(tmp_path: Path) -> None:
    """Over a generated fleet: with the cookie the answer is another one on each planted path, by the oracle
    of what acts; on the other known paths of quiet zones it is the same."""
    fleet = generate_fleet(60, 4, esc=0.3)
    async with edge(tmp_path, fleet=fleet) as at:
        for account in fleet.accounts:
            path = f"/accounts/{account.id}/disable_esc"
            token = fleet.credentials[0].label
            assert (await at.call("POST", path, {"with_secret": "probe"}, by=token)).is_success
        lines = {one["id"]: one for one in (await at.call.control("GET", "edge"))["zones"]}
        looked = 0
        for zone in fleet.zones:
            if zone.id not in lines or zone.edge.noise:
                continue
            for path in known_paths(zone):
                on = await at.get(zone.name, path)
                off = await at.get(zone.name, path, cookie="disable_esc=probe")
                left = [(one.status_code, one.text, sorted(_stable(one))) for one in (on, off)]
                planted = any(wildcard_pattern(one.path).fullmatch(path) for one in zone.esc.behaviours)
                assert (left[0] != left[1]) is (planted and lines[zone.id]["active"]), (zone.name, path)
                looked += 1
        assert looked > 50


def _stable(answer: httpx.Response) -> list[tuple[str, str]]:
    return [one for one in answer.headers.multi_items() if one[0] not in ("cf-ray", "date")]


async def test_the_command_says_where_the_edge_is(tmp_path: Path) -> None:
    """With a clock before the removal, both listeners answer, and the folder keeps the clock."""
    fleet = tmp_path / "fleet.json"
    dump_fleet(generate_fleet(60, 1, esc=0.5), fleet)
    zone = next(one for one in load_fleet(fleet).zones if one.esc.behaviours)
    command = [sys.executable, "-m", "edgeshift.cli.main", "simulator", "--fleet", str(fleet)]
    command += ["--data", str(tmp_path / "data"), "--listen", "127.0.0.1:0", "--clock"]
    for clock in ("2023-10-01", "2030-01-01"):
        process = await asyncio.create_subprocess_exec(
            *command, clock, stdout=asyncio.subprocess.PIPE, env={**os.environ, "PYTHONUNBUFFERED": "1"}
        )
        try:
            assert process.stdout is not None
            text = b"".join([await process.stdout.readline() for _ in range(3)]).decode()
            control, traffic = re.findall(r"control at (\S+?)(?:,|$)|by Host header, at (\S+)", text)
            async with httpx.AsyncClient(trust_env=False) as http:
                health = (await http.get(f"{control[0]}/health")).json()
                assert health["edge"] == traffic[1]
                assert (await http.get(traffic[1], headers={"host": zone.name})).status_code == 200
            now = datetime.fromisoformat(health["now"])
            assert timedelta() <= now - datetime(2023, 10, 1, tzinfo=UTC) < timedelta(days=1)
        finally:
            process.terminate()
            await process.wait()


async def test_a_clock_that_is_none_is_refused(tmp_path: Path) -> None:
    """With the option and what would be right."""
    from edgeshift.cli.main import build

    result = RUN.invoke(build(None), ["simulator", "--fleet", "x", "--data", "y", "--clock", "soon"])
    assert isinstance(result.exception, CommandError)
    assert (result.exception.code, result.exception.text) == (2, "--clock soon is not a moment")


def test_a_folder_of_an_earlier_version_gets_a_port_for_the_edge(tmp_path: Path) -> None:
    """The ports that it has noted stay."""
    places = StackPaths(tmp_path)
    first = places.ports()
    noted = first.model_dump(exclude={"edge"})
    (tmp_path / "ports.json").write_text(str(noted).replace("'", '"'))
    again = places.ports()
    assert again.model_dump(exclude={"edge"}) == noted
    assert again.edge not in noted.values()
    assert places.ports() == again
