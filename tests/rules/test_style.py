"""What people read has the words of docs/style.md: its pages, and every text that the code makes."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = ("edgeshift", "activities", "workflows", "worker", "examples")
ABOUT_WORDS = ("style.md", "glossary.md")
INSTEAD = {
    "way back": "rollback",
    "ways back": "rollbacks",
    "turned back": "rolled back",
    "anew": "again",
    "mend": "fix",
    "mended": "fixed",
    "mending": "repair",
    "witness": "checker",
    "set aside": "needs a person",
}
FORBIDDEN = re.compile(rf"(?<![-\w])({'|'.join(INSTEAD)})(?![-\w])", re.IGNORECASE)


def told(source: str) -> Iterator[tuple[int, str]]:
    """The texts in a module with their lines; what stands by itself, as docstrings do, is for colleagues."""
    tree = ast.parse(source)
    alone = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in alone:
            yield node.lineno, node.value


@pytest.mark.parametrize("package", PACKAGES)
def test_no_text_has_a_word_that_style_replaces(package: str) -> None:
    """Names of messages, codes and records are no words: they are joined by underscores or hyphens."""
    found = [
        f"{file.relative_to(ROOT)}:{line}: {text!r}"
        for file in sorted((ROOT / package).rglob("*.py"))
        for line, text in told(file.read_text(encoding="utf-8"))
        if FORBIDDEN.search(text)
    ]
    pages = [
        f"{file.relative_to(ROOT)}: {word[0]}"
        for file in sorted((ROOT / package).rglob("*.j2"))
        for word in FORBIDDEN.finditer(file.read_text(encoding="utf-8"))
    ]
    assert found + pages == []


@pytest.mark.parametrize("package", PACKAGES)
def test_docstrings_and_comments_say_rollback_too(package: str) -> None:
    """Here the word has taken the place of the other one in the code as well."""
    found = [
        str(file.relative_to(ROOT))
        for file in sorted((ROOT / package).rglob("*.py"))
        if re.search(r"\bways?[\s#]+back\b", file.read_text(encoding="utf-8"), re.IGNORECASE)
    ]
    assert found == []


def test_no_page_has_a_word_that_style_replaces() -> None:
    """But those that are about words."""
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
    found = [
        f"{page.name}:{number}: {word[0]}"
        for page in pages
        if page.name not in ABOUT_WORDS
        for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1)
        for word in FORBIDDEN.finditer(line)
    ]
    assert found == []


def test_style_says_what_to_write_instead() -> None:
    """The table has each, and the glossary has the word that takes its place where that is a term."""
    style = (ROOT / "docs/style.md").read_text(encoding="utf-8")
    assert "| way back, to turn back | rollback; to roll back |" in style and "| anew | again |" in style
    assert "| mend, mending | fix, repair |" in style and "| set aside | needs a person |" in style
    assert "| witness | invariant checker, or checker |" in style
    glossary = (ROOT / "docs/glossary.md").read_text(encoding="utf-8")
    assert "\n| rollback |" in glossary and "\n| target state |" in glossary and "\n| place |" not in glossary
