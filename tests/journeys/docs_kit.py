"""The commands of the documentation, and a folder in which they are typed as they stand there."""

from __future__ import annotations

import os
import pty
import re
import select
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = {
    page.name: page.read_text(encoding="utf-8")
    for page in (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md")))
}
ELSEWHERE_WHOLE = {"runbook.md"}
"""Pages whose commands another test runs, every one: tests/journeys/test_runbook.py."""

Command = tuple[str, str]
"""A page, and a line that is typed, without its remark."""

_FENCE = re.compile(r"^```(?:console|bash|sh|shell)\n(.*?)^```", re.MULTILINE | re.DOTALL)
_REMARK = re.compile(r"\s{2,}# .*$|(?<=\S)\s# .*$", re.MULTILINE)


def commands_of(page: str, text: str) -> list[Command]:
    """Every command at a prompt, in its order; one that goes on over several lines is one command."""
    found: list[Command] = []
    for block in _FENCE.findall(text):
        lines = iter(block.splitlines())
        for line in lines:
            if not line.startswith("$ "):
                continue
            typed = _REMARK.sub("", line.removeprefix("$ "))
            while typed.endswith("\\") or not _whole(typed):
                typed = f"{typed}\n{next(lines)}"
            found.append((page, typed.strip()))
    return found


def _whole(typed: str) -> bool:
    try:
        shlex.split(typed)
    except ValueError:
        return False
    return True


def all_commands() -> set[Command]:
    """Those of all pages that are to be accounted for."""
    return {
        one for page, text in PAGES.items() if page not in ELSEWHERE_WHOLE for one in commands_of(page, text)
    }


def meant(page: str, begins: str) -> str:
    """The one command of the page that is this, or begins so."""
    some = {typed for _, typed in commands_of(page, PAGES[page])}
    found = {begins} & some or {typed for typed in some if typed.startswith(begins)}
    assert len(found) == 1, (page, begins, found)
    return found.pop()


class Typing:
    """A folder where somebody types what a page says. ``plays``: what has to be typed, as (page, beginning);
    ``instead``: what stands for a name or an address of the page.
    """

    def __init__(
        self, folder: Path, plays: Sequence[Command], instead: Mapping[str, str] = {}, **variables: str
    ) -> None:
        self.folder = folder
        self.left = list(plays)
        self.instead = dict(instead)
        (folder / ".venv").symlink_to(sys.prefix)
        kept = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith("EDGESHIFT_") or name == "EDGESHIFT_TEMPORAL_CLI"
        }
        kept |= {"PATH": f"{Path(sys.executable).parent}:{kept['PATH']}", "HOME": str(folder)}
        # A home of their own, but the ports of the stacks beside are known to both.
        kept.setdefault("XDG_CACHE_HOME", str(Path.home() / ".cache"))
        self.environment = {**kept, "PAGER": "cat", "TERM": "xterm", "COLUMNS": "100", **variables}

    def text(self, page: str, begins: str) -> str:
        """The one command of the page that begins so, as it is typed here."""
        typed = meant(page, begins)
        self.left.remove((page, begins))
        for name, real in self.instead.items():
            typed = typed.replace(name, real)
        return typed

    def run(
        self,
        page: str,
        begins: str,
        *,
        answers: Mapping[str, str] | None = None,
        code: int = 0,
        until: str = "",
        at: str = "",
    ) -> str:
        """Type the command; what is printed. ``answers``: what is typed where a question is asked;
        ``until``: once this is to be seen, Ctrl-C. ``at``: the folder below.
        """
        return self.type(self.text(page, begins), answers=answers or {}, code=code, until=until, at=at)

    def type(
        self, typed: str, *, answers: Mapping[str, str] = {}, code: int = 0, until: str = "", at: str = ""
    ) -> str:
        """Type something at a terminal."""
        ours, theirs = pty.openpty()
        done = subprocess.Popen(
            ["bash", "-c", typed],
            cwd=self.folder / at,
            env=self.environment,
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            start_new_session=True,
            preexec_fn=_own_terminal,
        )
        os.close(theirs)
        seen, asked, limit = "", dict(answers), time.monotonic() + 150
        while time.monotonic() < limit:
            if select.select([ours], [], [], 0.2)[0]:
                try:
                    more = os.read(ours, 65536)
                except OSError:
                    break
                if not more:
                    break
                seen += more.decode("utf-8", "replace")
            elif done.poll() is not None:
                break
            for question in [one for one in asked if one in seen]:
                os.write(ours, f"{asked.pop(question)}\n".encode())
            if until and until in seen:
                os.write(ours, b"\x03")
                until = ""
        else:
            done.kill()
        found = done.wait(10)
        os.close(ours)
        assert "Traceback" not in seen, seen
        assert found == code and not until, (typed, found, until, seen)
        return seen.replace("\r\n", "\n")

    @contextmanager
    def beside(self, page: str, begins: str, shows: str, *, at: str = "", **instead: str) -> Iterator[str]:
        """Have the command run until the block ends, from when it ``shows`` this. Gives what it has
        printed by then.
        """
        typed = self.text(page, begins)
        log = self.folder / at / f"beside-{len(self.left)}.log"
        with log.open("w") as out:
            process = subprocess.Popen(
                ["bash", "-c", f"exec {typed}"],
                cwd=self.folder / at,
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=out,
            )
        try:
            limit = time.monotonic() + 90
            while shows not in log.read_text():
                assert process.poll() is None and time.monotonic() < limit, log.read_text()
                time.sleep(0.2)
            yield log.read_text()
        finally:
            process.send_signal(signal.SIGINT)
            with suppress(subprocess.TimeoutExpired):
                process.wait(60)
            process.kill()
        assert "Traceback" not in log.read_text(), log.read_text()

    def end(self) -> None:
        """All that was to be typed has been."""
        assert not self.left


def _own_terminal() -> None:
    import fcntl
    import termios

    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
