"""A distribution of an area that does not fit this edgeshift, or that another one brings as well."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests.journeys.cli_kit import CLI

ROOT = Path(__file__).parents[2]

NOWHERE = "127.0.0.1:9"

BROKEN = ("cdn", "edgeshift.areas.area:Moved")
"""An area that was made for another version."""


def installed(site: Path, *areas: tuple[str, str]) -> None:
    """Lay down distributions as pip does, each with the entry point of an area."""
    for number, (name, where) in enumerate(areas):
        folder = site / f"one{number}-0.1.0.dist-info"
        folder.mkdir(parents=True)
        (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: one{number}\nVersion: 0.1.0\n")
        (folder / "entry_points.txt").write_text(f"[edgeshift.areas]\n{name} = {where}\n")


@pytest.mark.parametrize(
    ("areas", "said"),
    [
        ((BROKEN,), "edgeshift.areas.area:Moved cannot be loaded: "),
        ((("cdn", "a.b:C"), ("cdn", "d.e:F")), "two installed distributions bring an area 'cdn': "),
    ],
)
def test_it_is_named_by_what_uses_the_area_and_keeps_nobody_from_stopping(
    tmp_path: Path, areas: tuple[tuple[str, str], ...], said: str
) -> None:
    """A worker ends with what to do; files of other areas, and what stops a campaign, need nothing of it."""
    installed(tmp_path / "site", *areas)
    kept = {name: value for name, value in os.environ.items() if not name.startswith("EDGESHIFT_")}
    path = os.pathsep.join([str(ROOT), str(tmp_path / "site")])

    def called(*line: str) -> tuple[int, str]:
        ran = subprocess.run(
            [*CLI, *line],
            cwd=tmp_path,
            env={**kept, "PYTHONPATH": path, "EDGESHIFT_TEMPORAL_ADDRESS": NOWHERE},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        return ran.returncode, ran.stderr

    for line in ("worker",), ("init", "cdn.yaml", "--area", "cdn"):
        code, err = called(*line)
        assert code == 1 and f"error: {said}" in err, err
        assert "hint: install the version of that distribution that fits this edgeshift" in err
    assert called("init", "waf.yaml")[0] == 0
    code, err = called("pause", "waf-1")
    assert code == 1 and f"no Temporal answers at {NOWHERE}" in err, err
