"""What is given to a target of the Makefile is what it plays, and nothing else is: no variable of one target
is that of another.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

PLAYED = [
    (("bench-fleet",), "-m bench.fleet run"),
    (("bench-fleet", "PART=stuck"), "-m bench.fleet run stuck"),
    (("bench-fleet", "SHORT=1"), "-m bench.fleet run --short"),
    (("bench-fleet", "PART=paced", "ZONES=60", "WORKERS=2", "SCALE=5"),
     "-m bench.fleet run paced --zones 60 --workers 2 --scale 5"),
    (("bench",), "-m bench"),
    (("bench", "AREA=authority"), "-m bench authority"),
    (("test-faults", "SHARE=5m", "SEED=2"), "-m tests.harness run --share 5m --seed 2"),
    (("test-forgeries", "COUNT=60"), "-m tests.forgeries run --count 60 --seed 1"),
    (("test-schedules", "SEED=3"), "-m tests.schedules run --count 200 --seed 3"),
]  # fmt: skip


@pytest.mark.parametrize(("given", "played"), PLAYED, ids=[" ".join(given) for given, _ in PLAYED])
def test_a_target_plays_what_it_is_given(given: tuple[str, ...], played: str) -> None:
    """``make bench-fleet`` is not the short one because another target has a word for short."""
    # Nothing of the make that runs the tests.
    env = {key: value for key, value in os.environ.items() if not key.startswith(("MAKE", "MFLAGS"))}
    said = subprocess.run(
        ["make", "--no-print-directory", "-n", *given], cwd=ROOT, env=env, capture_output=True, text=True
    )
    assert said.returncode == 0, said.stderr
    lines = [" ".join(line.split()) for line in said.stdout.splitlines()]
    assert [line for line in lines if line.endswith(f"python {played}")], said.stdout
