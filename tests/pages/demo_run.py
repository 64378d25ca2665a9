"""What ``make demo`` really printed, for the first pictures of the README: ``python -m tests.pages.demo_run``
runs the demo on a terminal, for some minutes, and records it anew.
"""

from __future__ import annotations

import fcntl
import json
import os
import pty
import re
import struct
import subprocess
import sys
import tempfile
import termios
from pathlib import Path

from rich.console import Group, RenderableType
from rich.text import Text

from edgeshift.cli.picture import WIDTH
from edgeshift.testbed.demo.show import outcome_table, rule_table
from edgeshift.testbed.invariants import RuleCheck

RECORDED = Path(__file__).parent / "recorded"
RUNNING = RECORDED / "demo-running.txt"
"""A look at the campaign while it runs, as it stood on the terminal, with its colours."""
RESULT = RECORDED / "demo-result.json"
"""The result of the same run, of which its last tables are made."""

ROWS = 60
BEFORE = "\n  Notes\n"
"""The picture shows what stands above the notes, which are long."""

_REDRAWN = re.compile(r"\r\x1b\[2K(?:\x1b\[1A\x1b\[2K)+")
"""What rich writes before it draws a live picture anew."""
_STYLE = re.compile(r"\x1b\[[0-9;]*m")
_CONTROL = re.compile(r"\x1b\[[0-9;?]*[A-Zac-ln-z]")


def running() -> Text:
    """The demo while its campaign runs."""
    return Text.from_ansi(RUNNING.read_text(encoding="utf-8"))


def end() -> RenderableType:
    """The tables with which the demo ends."""
    outcomes, checks = result()
    return Group(outcome_table(outcomes), Text(), rule_table(checks))


def result() -> tuple[dict[str, int], list[RuleCheck]]:
    """How the zones ended, and what the checkers of the rules say."""
    found = json.loads(RESULT.read_text(encoding="utf-8"))
    return found["outcomes"], [RuleCheck.model_validate(rule) for rule in found["rules"]]


def looks(printed: str) -> list[str]:
    """The live pictures that were drawn over each other, one after the other."""
    drawn = _REDRAWN.split(printed.replace("\r\n", "\n"))
    return [_CONTROL.sub("", one) for one in drawn]


def chosen(printed: str) -> str:
    """The first look at which the last wave has begun and people are asked, as far as the notes."""
    for look in looks(printed):
        plain = "\n".join(line.rstrip() for line in _STYLE.sub("", look).split("\n"))
        begun = re.search(r"^  rest +[^·\s]", plain, re.MULTILINE)
        if begun and "waiting for a sign-off" in plain and BEFORE in plain:
            lines = plain.partition(BEFORE)[0].count("\n")
            kept = (_bare(line) for line in look.split("\n")[: lines + 1])
            return "\n".join(kept).strip("\n") + "\n"
    raise AssertionError("the demo was never seen with its last wave begun and sign-offs that wait")


def _bare(line: str) -> str:
    """A line without the spaces that fill it."""
    return re.sub(r" +$", "", line)


def printed() -> tuple[str, str]:
    """Run the demo on a terminal, in a folder of its own: what it writes to the screen, and its result."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, WIDTH, 0, 0))
    kept = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES", "NO_COLOR")}
    with tempfile.TemporaryDirectory() as folder:
        demo = subprocess.Popen(
            [sys.executable, "-m", "edgeshift.cli.main", "demo"],
            cwd=folder,
            env={**kept, "TERM": "xterm-256color"},
            stdin=subprocess.DEVNULL,
            stdout=theirs,
            stderr=subprocess.STDOUT,
        )
        os.close(theirs)
        seen = bytearray()
        try:
            while more := os.read(ours, 65536):
                seen += more
        except OSError:
            pass  # The terminal has no other side any more: the demo has ended.
        assert demo.wait() == 0, seen[-4000:].decode("utf-8", "replace")
        return seen.decode("utf-8"), (Path(folder) / "out" / "demo.json").read_text(encoding="utf-8")


def main() -> None:
    """Run the demo and keep what it printed."""
    screen, found = printed()
    RUNNING.write_text(chosen(screen), encoding="utf-8")
    RESULT.write_text(found, encoding="utf-8")
    print("recorded; `make screenshots` draws the pictures anew")


if __name__ == "__main__":
    main()
