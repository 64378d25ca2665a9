"""What was measured, kept part by part: no part is measured twice by the same course on the same code."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from bench.fleet.labels import slug

ROOT = Path(__file__).resolve().parents[2]

CODE = ("edgeshift", "workflows", "activities", "worker", "bench")
"""Folders that the figures are about."""


class Kept:
    """The figures of a folder, a file for each label, with the digest of the code that they are of."""

    def __init__(self, folder: Path, code: str | None = None) -> None:
        self.folder = folder
        self.code = code or code_digest()
        folder.mkdir(parents=True, exist_ok=True)

    def figures(self, name: str, course: BaseModel) -> dict[str, Any] | None:
        """What was measured under this label, on the code as it is and by this very course; or None."""
        kept = self._read(self._path(name))
        if kept is None or kept["asked"] != _plain(course):
            return None
        found: dict[str, Any] = kept["figures"]
        return found

    def all(self) -> dict[str, dict[str, Any]]:
        """All that was measured on the code as it is, by whatever course, by its labels."""
        kept = [self._read(path) for path in sorted(self.folder.glob("*.json"))]
        return {one["name"]: one["figures"] for one in kept if one is not None}

    def keep(self, name: str, course: BaseModel, figures: dict[str, Any]) -> None:
        """Keep the figures of a part under its label; whole or not at all."""
        kept = {"name": name, "code": self.code, "asked": _plain(course), "figures": figures}
        fresh = self._path(name).with_suffix(".new")
        fresh.write_text(json.dumps(kept, indent=1) + "\n")
        fresh.replace(self._path(name))

    def _read(self, path: Path) -> dict[str, Any] | None:
        """A file of this code; None where there is none, or of another code."""
        try:
            kept: dict[str, Any] = json.loads(path.read_text())
        except (FileNotFoundError, ValueError):
            return None
        return kept if kept.get("code") == self.code and "name" in kept else None

    def _path(self, name: str) -> Path:
        return self.folder / f"{slug(name)}.json"


def _plain(course: BaseModel) -> Any:
    return json.loads(course.model_dump_json())


def code_digest(root: Path = ROOT) -> str:
    """The digest of every module that the figures are about, by its path."""
    found = hashlib.sha256()
    for path in sorted(path for folder in CODE for path in (root / folder).rglob("*.py")):
        found.update(f"{path.relative_to(root)}\0".encode())
        found.update(hashlib.sha256(path.read_bytes()).digest())
    return found.hexdigest()


def described(code: str) -> dict[str, Any]:
    """Which code, when, and on what: for the page."""
    return {
        "code": code,
        "commit": _commit(),
        "cores": os.cpu_count(),
        "measured_at": datetime.now(UTC).isoformat(timespec="minutes"),
    }


def _commit() -> str | None:
    """The commit that is checked out, with a plus where files differ from it."""
    try:
        said = subprocess.run(
            ["git", "describe", "--always", "--dirty=+", "--abbrev=12"],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=True,
        )
    except (OSError, subprocess.CalledProcessError):
        return None
    return said.stdout.strip()
