"""What a run leaves: each case's verdict, with the digest of the code that it is about. Verdicts without a
complaint can be put into one file, by which a run elsewhere goes on.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable
from pathlib import Path

from pydantic import BaseModel, ValidationError

from tests.harness.verdict import Verdict

ROOT = Path(__file__).resolve().parents[3]

CODE = ("edgeshift", "workflows", "activities", "worker", "tests/harness", "tests/kit")
"""Folders, and the files below whose names begin like tests/harness's own, that a verdict is about."""

CODE_FILES = (
    "tests/kit/faults.py",
    "tests/kit/faults_worker.py",
    "tests/journeys/canary_courses.py",
    "tests/journeys/canary_kit.py",
    "tests/journeys/cli_kit.py",
)


SECONDS = "seconds.json"


class Played(BaseModel):
    """One case that was played."""

    id: str
    code: str
    verdict: Verdict


class Brought(BaseModel):
    """Verdicts from elsewhere, on one state of the code; ``seconds``: of all runs that came to them."""

    code: str = ""
    seconds: float = 0.0
    verdicts: dict[str, Verdict] = {}

    @classmethod
    def of(cls, path: Path) -> Brought:
        """What is in a file: a line that says what it is about, and one for each case. Nothing where it is
        not there.
        """
        if not path.exists():
            return cls()
        head, *lines = path.read_text().splitlines() or ["{}"]
        played = [json.loads(line) for line in lines]
        verdicts = {one.pop("id"): one for one in played}
        return cls.model_validate(json.loads(head) | {"verdicts": verdicts})

    def put(self, path: Path) -> None:
        """Write the file."""
        head = {"code": self.code, "seconds": round(self.seconds)}
        rows = [
            {"id": case} | verdict.model_dump(exclude_defaults=True)
            for case, verdict in sorted(self.verdicts.items())
        ]
        fresh = path.with_suffix(".new")
        fresh.write_text("".join(json.dumps(row) + "\n" for row in (head, *rows)))
        fresh.replace(path)


class Kept:
    """The verdicts of a folder: ``cases/ID.json``, and beside them what failed cases left. ``brought``: a
    file of verdicts that count where the folder has none.
    """

    def __init__(self, folder: Path, brought: Path | None = None) -> None:
        self.folder = folder.absolute()
        self.code = code_digest()
        found = Brought.of(brought) if brought else Brought()
        self._brought = found if found.code == self.code else Brought(code=self.code)
        (self.folder / "cases").mkdir(parents=True, exist_ok=True)

    def folder_of(self, identifier: str) -> Path:
        """Where a case is played, and what it leaves where it fails."""
        return self.folder / "played" / _file_name(identifier)

    def keep(self, identifier: str, verdict: Verdict) -> None:
        """Keep a verdict; whole or not at all. Where it was played is left out of its words: verdicts are
        read on other machines, too.
        """
        path = self._path(identifier)
        here = f"{self.folder_of(identifier)}/"
        said = {
            name: [text.replace(here, "") for text in getattr(verdict, name)]
            for name in ("not_final", "complaints")
        }
        played = Played(id=identifier, code=self.code, verdict=verdict.model_copy(update=said))
        fresh = path.with_suffix(".new")
        fresh.write_text(played.model_dump_json(indent=1) + "\n")
        fresh.replace(path)

    def verdict(self, identifier: str) -> Verdict | None:
        """The verdict of a case, if it is one on the code as it is."""
        before = self._brought.verdicts.get(identifier)
        try:
            played = Played.model_validate_json(self._path(identifier).read_bytes())
        except (FileNotFoundError, ValidationError):
            return before
        return played.verdict if played.code == self.code and played.id == identifier else before

    def to_bring(self, cases: Iterable[str]) -> Brought:
        """What was brought, and the verdicts of these cases that have no complaint."""
        found = {case: verdict for case in cases if (verdict := self.verdict(case))}
        clean = {case: verdict for case, verdict in found.items() if not verdict.complaints}
        verdicts = {**self._brought.verdicts, **clean}
        return Brought(code=self.code, seconds=self._seconds(), verdicts=verdicts)

    def spent(self, seconds: float) -> float:
        """The seconds of all runs on this code, of which so many were this one's."""
        total = seconds + self._seconds()
        text = json.dumps({"code": self.code, "seconds": total}) + "\n"
        (self.folder / SECONDS).write_text(text)
        return total

    def _seconds(self) -> float:
        path = self.folder / SECONDS
        known = json.loads(path.read_text()) if path.exists() else {}
        here = float(known["seconds"]) if known.get("code") == self.code else 0.0
        return max(here, self._brought.seconds)

    def _path(self, identifier: str) -> Path:
        return self.folder / "cases" / f"{_file_name(identifier)}.json"


def _file_name(identifier: str) -> str:
    return re.sub(r"[^\w.-]", "-", identifier.replace("/", "--"))


def code_digest(root: Path = ROOT) -> str:
    """The digest of the code under test and of the harness: of every module, by its path."""
    modules = [path for folder in CODE for path in (root / folder).rglob("*.py")]
    modules += [root / name for name in CODE_FILES]
    found = hashlib.sha256()
    for path in sorted(modules):
        found.update(f"{path.relative_to(root)}\0".encode())
        found.update(hashlib.sha256(path.read_bytes()).digest())
    return found.hexdigest()
