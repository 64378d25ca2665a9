"""A file is as long as a reader can keep in mind."""

from __future__ import annotations

from tests.runbook import ROOT

LONGEST = 400
"""Lines of a Python file at most; most have about 300 (CONTRIBUTING.md)."""


def test_no_python_file_is_longer_than_a_reader_can_keep_in_mind() -> None:
    """Nor is one of a test. What was made, and what is none of ours, lies in folders of its own."""
    files = [
        file
        for folder in ROOT.iterdir()
        if folder.is_dir() and folder.name not in ("out", "build", "dist") and not folder.name.startswith(".")
        for file in folder.rglob("*.py")
    ]
    assert len(files) > 1000
    lengths = {str(file.relative_to(ROOT)): len(file.read_bytes().splitlines()) for file in files}
    assert not {file: length for file, length in lengths.items() if length > LONGEST}
