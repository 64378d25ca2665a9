"""The command line among other processes: odd terminals, closed and full streams, lost readers, Ctrl-C."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.journeys.cli_kit import CLI, Place

pytestmark = pytest.mark.long

NOWHERE = ("--address", "127.0.0.1:9")


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """An empty folder."""
    return Place(tmp_path)


def shell(place: Place, line: str, **variables: str) -> tuple[int, str, str]:
    """A line of a shell with the command line as ``$E``: its exit code, stdout and stderr."""
    done = subprocess.run(
        ["bash", "-c", f'E="{" ".join(CLI)}"\n{line}'],
        cwd=place.folder,
        env={**place.environment, **variables},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=120,
    )
    out, err = done.stdout.decode("utf-8"), done.stderr.decode("utf-8")
    assert "Traceback" not in out + err and "Exception ignored" not in err, err
    return done.returncode, out, err


@pytest.mark.parametrize(
    "variables",
    [
        {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0", "PYTHONIOENCODING": "ascii"},
        {"PYTHONIOENCODING": "ascii"},
        {"PYTHONIOENCODING": "latin-1"},
        {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0", "PYTHONIOENCODING": ""},
    ],
)
def test_a_terminal_without_unicode_gets_plainer_characters(place: Place, variables: dict[str, str]) -> None:
    """Help, an error, and JSON, which stays JSON."""
    code, out, _ = shell(place, "$E --help", **variables)
    assert code == 0 and out.isascii() and "EDGESHIFT_ARCHIVE_URL" in out
    code, _, err = shell(place, "$E status c --phase waitng", **variables)
    assert code == 2 and "is not a phase" in err and "did you mean waiting?" in err
    code, _, err = shell(place, "$E status c --phase waitng --json", **variables)
    assert code == 2 and json.loads(err)["hint"] == "did you mean waiting?"
    code, out, _ = shell(place, "$E campaign-schema", **variables)
    assert code == 0 and json.loads(out)["type"] == "object"


@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-", "<&- >&- 2>&-"])
def test_a_closed_stream_is_one_that_nobody_reads(place: Place, closed: str) -> None:
    """The verb does its work, and its exit code is its own."""
    assert shell(place, f"$E init a.yaml {closed}")[0] == 0
    assert (place.folder / "a.yaml").read_text().startswith("#")
    assert shell(place, f"$E init a.yaml {closed}")[0] == 6
    assert shell(place, f"$E campaign-schema {closed}")[0] == 0


@pytest.mark.parametrize("line", ["$E campaign-schema", "$E --help", "$E init b.yaml"])
def test_a_full_disk_under_stdout_is_an_error(place: Place, line: str) -> None:
    """It names stdout: what was printed is not there."""
    code, _, err = shell(place, f"{line} > /dev/full")
    assert code == 1
    assert err.startswith("error: stdout cannot be written: No space left on device\n\nhint: ")


def test_a_reader_that_goes_away_ends_a_look_quietly(place: Place) -> None:
    """As `| head -1` does: exit 0, and not a word."""
    code, out, err = shell(place, "$E campaign-schema | head -1; exit ${PIPESTATUS[0]}")
    assert (code, out, err) == (0, "{\n", "")
    code, _, err = shell(place, "$E --help | true; exit ${PIPESTATUS[0]}")
    assert (code, err) == (0, "")
    assert shell(place, "$E fleet generate --zones 60 --out fleet.yaml")[0] == 0
    for reader in ("head -1 >/dev/null", "true"):
        code, _, err = shell(place, f"$E fleet check fleet.yaml | {reader}; exit ${{PIPESTATUS[0]}}")
        assert (code, err) == (0, "")


def test_a_verb_that_acts_says_that_it_ended_early(monkeypatch: pytest.MonkeyPatch, capfd: object) -> None:
    """Nobody believes that something was done which was not."""
    from edgeshift.cli import control, main

    def gone(*_: object) -> None:
        raise BrokenPipeError

    monkeypatch.setattr(main, "_to_nowhere", lambda: None)
    monkeypatch.setattr(control, "run", gone)
    monkeypatch.setattr(control, "_steer_one", lambda *_: None)
    assert main.called(["pause", "c"]) == 1
    err = capfd.readouterr().err  # type: ignore[attr-defined]
    assert "`edgeshift pause` ended early" in err and "hint: `edgeshift status`" in err


@pytest.mark.parametrize("imports", [1, 2, 20, 91, 200, 401])
def test_ctrl_c_in_the_first_moments_says_stopped(place: Place, imports: int) -> None:
    """After however many modules it comes, once the first one of ours is there: one line, 130."""
    command = [
        sys.executable,
        "-X",
        "importtime",
        *CLI[1:],
        "status",
        *NOWHERE,
        *(["--json"] * (imports % 2)),
    ]
    process = subprocess.Popen(
        command, cwd=place.folder, env=place.environment, stderr=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert process.stderr is not None and process.stdout is not None
    begun = left = 0
    said = []
    # Python tells of each module on stderr as it is imported.
    for line in process.stderr:
        text = line.decode()
        begun = begun or "edgeshift.cli.interrupts" in text
        if begun and left <= imports:
            left += 1
            if left > imports:
                process.send_signal(signal.SIGINT)
        if not text.startswith("import time:"):
            said.append(text)
    code = process.wait(60)
    assert process.stdout.read() == b"" and not any("Traceback" in line for line in said), said
    assert code == 130, (code, said)
    assert said[-1] == "stopped\n" or json.loads(said[-1])["code"] == "interrupted"
