"""A copy of the project for each mutant, and the proof that the copy is what runs."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from tests.mutants.mutant import Mutant

ROOT = Path(__file__).resolve().parents[2]
PARTS = ("edgeshift", "workflows", "activities", "worker", "tests", "pyproject.toml")
LEFT_OUT = shutil.ignore_patterns("histories", "broken", ".pytest_cache", "*.part")


class DoesNotApply(ValueError):
    """An edit of a mutant whose text is not in its file, or not once: the code has changed since."""


def mutated(mutant: Mutant, root: Path = ROOT) -> dict[str, str]:
    """The mutant's files with its edits made, by their paths. Raises DoesNotApply, naming mutant and file."""
    found: dict[str, str] = {}
    for edit in mutant.edits:
        path = root / edit.file
        if not path.is_file():
            raise DoesNotApply(f"mutant {mutant.name}: there is no file {edit.file}")
        text = found.get(edit.file) or path.read_text(encoding="utf-8")
        if (times := text.count(edit.old)) != 1:
            raise DoesNotApply(
                f"mutant {mutant.name}: {edit.file} has this {times} times, and is to have it once:\n"
                f"{edit.old}"
            )
        found[edit.file] = text.replace(edit.old, edit.new)
    return found


def copied(folder: Path, root: Path = ROOT) -> Path:
    """A copy of the project in a new folder, as it is. Compiled files come along, since they stay valid."""
    for part in PARTS:
        if (root / part).is_dir():
            shutil.copytree(root / part, folder / part, ignore=LEFT_OUT)
        else:
            shutil.copy2(root / part, folder / part)
    return folder


def written(mutant: Mutant, folder: Path, root: Path = ROOT) -> Path:
    """A copy of the project with a mutant's edits made. Raises DoesNotApply."""
    changed = mutated(mutant, root)
    copied(folder, root)
    for file, text in changed.items():
        (folder / file).write_text(text, encoding="utf-8")
    return folder


def check_origin(folder: Path, environment: Mapping[str, str]) -> None:
    """See that a process which is started in the copy, and worker processes of its own, run the copy's
    modules. Raises RuntimeError with those that come from elsewhere.
    """
    asked = [sys.executable, "-m", "tests.mutants.origin"]
    answer = subprocess.run(
        asked, cwd=folder, env=dict(environment), capture_output=True, text=True, check=True, timeout=900
    )
    found: dict[str, str] = json.loads(answer.stdout.splitlines()[-1])
    strange = {name: file for name, file in found.items() if not Path(file).is_relative_to(folder)}
    if strange or not found:
        raise RuntimeError(f"modules that are not of the copy {folder}: {strange or 'no module at all'}")
