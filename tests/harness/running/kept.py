"""What a run leaves: each case's verdict, with the digest of the code that it is about."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path

from pydantic import BaseModel, ValidationError

from tests.harness.verdict import Verdict

ROOT = Path(__file__).resolve().parents[3]

CODE = ("edgeshift", "workflows", "activities", "worker", "tests/harness", "tests/kit")
"""Folders, and the files below whose names begin like tests/harness's own, that a verdict is about."""

CODE_FILES = (
    "tests/faults_kit.py",
    "tests/faults_worker.py",
    "tests/journeys/canary_courses.py",
    "tests/journeys/canary_kit.py",
    "tests/journeys/cli_kit.py",
)


class Played(BaseModel):
    """One case that was played."""

    id: str
    code: str
    verdict: Verdict


class Kept:
    """The verdicts of a folder: ``cases/ID.json``, and beside them what failed cases left."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder.absolute()
        self.code = code_digest()
        (self.folder / "cases").mkdir(parents=True, exist_ok=True)

    def folder_of(self, identifier: str) -> Path:
        """Where a case is played, and what it leaves where it fails."""
        return self.folder / "played" / _file_name(identifier)

    def keep(self, identifier: str, verdict: Verdict) -> None:
        """Keep a verdict; whole or not at all."""
        path = self._path(identifier)
        played = Played(id=identifier, code=self.code, verdict=verdict)
        fresh = path.with_suffix(".new")
        fresh.write_text(played.model_dump_json(indent=1) + "\n")
        fresh.replace(path)

    def verdict(self, identifier: str) -> Verdict | None:
        """The verdict of a case, if it is one on the code as it is."""
        try:
            played = Played.model_validate_json(self._path(identifier).read_bytes())
        except (FileNotFoundError, ValidationError):
            return None
        return played.verdict if played.code == self.code and played.id == identifier else None

    def spent(self, seconds: float) -> float:
        """The seconds of all runs on this code, of which so many were this one's."""
        path = self.folder / "seconds.json"
        known = json.loads(path.read_text()) if path.exists() else {}
        total = seconds + (known["seconds"] if known.get("code") == self.code else 0.0)
        path.write_text(json.dumps({"code": self.code, "seconds": total}) + "\n")
        return float(total)

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
