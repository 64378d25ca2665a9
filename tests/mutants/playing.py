"""Playing cases of the harness in a mutant's copy of the project, until an oracle or a checker complains."""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from tests.harness.verdict import Verdict
from tests.mutants.mutant import Mutant
from tests.mutants.trees import written

LONGEST = 400.0
"""Seconds that one case may take with its start, on a busy machine."""

IDLE = "nothing was checked"
"""A checker that had no case. It is no proof of anything wrong with what runs."""

_BROKEN = re.compile(r"^[a-z-]+/\S+: (did not end within|(?!AssertionError: rule )[A-Za-z]+: )")
"""How the harness tells of a case that it could not play: no complaint of an oracle's."""


class Try(BaseModel):
    """One case that was played. ``complaints``: of oracles and checkers; ``trouble``: why there is no
    verdict, or only one that the harness itself is the reason of.
    """

    model_config = ConfigDict(frozen=True)

    case: str
    complaints: list[str] = Field(default_factory=list)
    lost_zones: int = 0
    trouble: str = ""
    seconds: float = 0.0


class Caught(BaseModel):
    """What came of a mutant. ``by``: the case that found it, or empty; ``complaint``: the first one."""

    model_config = ConfigDict(frozen=True)

    name: str
    wrong: str
    rule: int
    by: str = ""
    complaint: str = ""
    seconds: float = 0.0
    tried: list[Try] = Field(default_factory=list)

    @property
    def caught(self) -> bool:
        """Whether the harness has found it."""
        return bool(self.by)


class Control:
    """The unchanged project over the cases in which a mutant was complained of, each played once: a complaint
    that it gets too proves nothing.
    """

    def __init__(self, tree: Path, environment: Mapping[str, str]) -> None:
        self._tree, self._environment = tree, environment
        self._lock = threading.Lock()
        self._of: dict[str, Future[Try]] = {}

    def passes(self, case: str) -> bool:
        """Whether nobody complains of the unchanged project in this case."""
        with self._lock:
            mine = case not in self._of
            found = self._of.setdefault(case, Future())
        if mine:
            try:
                with tempfile.TemporaryDirectory(prefix="control-") as folder:
                    found.set_result(played(case, self._tree, Path(folder), self._environment))
            except BaseException as error:
                found.set_exception(error)
                raise
        one = found.result()
        return not one.complaints and not one.trouble

    @property
    def tries(self) -> list[Try]:
        """What was played."""
        return [found.result() for found in self._of.values()]


def hunted(
    mutant: Mutant, more: Sequence[str], environment: Mapping[str, str], passes: Callable[[str], bool]
) -> Caught:
    """Play the mutant's own cases, then ``more``, in a copy of the project with its edits made, until one
    complains that the unchanged project ``passes``. Raises DoesNotApply.
    """
    began, tries = time.monotonic(), list[Try]()
    by = complaint = ""
    with tempfile.TemporaryDirectory(prefix="mutant-") as folder:
        tree = written(mutant, Path(folder) / "tree")
        for case in (*mutant.cases, *(one for one in more if one not in mutant.cases)):
            tries.append(found := played(case, tree, Path(folder), environment))
            if found.complaints and passes(case):
                by = case
                # The checker of its own rule is named where that is among those who complain.
                own = f"rule {mutant.rule} "
                complaint = min(found.complaints, key=lambda text: not text.startswith(own))
                break
    return Caught(
        name=mutant.name,
        wrong=mutant.wrong,
        rule=mutant.rule,
        by=by,
        complaint=complaint[:300],
        seconds=round(time.monotonic() - began, 1),
        tried=tries,
    )


def played(case: str, tree: Path, folder: Path, environment: Mapping[str, str]) -> Try:
    """One case, by the harness's own command, in a copy of the project."""
    began = time.monotonic()
    verdict_file, keep = folder / "verdict.json", folder / "played"
    verdict_file.unlink(missing_ok=True)
    asked = [sys.executable, "-m", "tests.harness", "play", case]
    asked += ["--json", str(verdict_file), "--keep", str(keep)]
    trouble = ""
    try:
        ended = subprocess.run(
            asked, cwd=tree, env=dict(environment), capture_output=True, text=True, timeout=LONGEST
        )
        trouble = f"no verdict, exit code {ended.returncode}: {ended.stderr[-300:]}"
    except subprocess.TimeoutExpired:
        trouble = f"no verdict within {LONGEST:g} s"
    try:
        verdict = Verdict.model_validate_json(verdict_file.read_text())
    except (OSError, ValidationError):
        return Try(case=case, trouble=trouble, seconds=round(time.monotonic() - began, 1))
    return tried(case, verdict, round(time.monotonic() - began, 1))


def tried(case: str, verdict: Verdict, seconds: float) -> Try:
    """What a verdict says: complaints of oracles and checkers count, those of the harness about itself do
    not.
    """
    broken = [text for text in verdict.complaints if _BROKEN.match(text)]
    return Try(
        case=case,
        complaints=[text for text in verdict.complaints if text not in broken and not text.endswith(IDLE)],
        lost_zones=verdict.lost_zones,
        trouble="; ".join(broken)[:600],
        seconds=seconds,
    )
