"""Lists on pages that have to be whole and in order: settings, packages, folders of tests."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from pydantic import BaseModel

from edgeshift.runtime.settings import PREFIX, Settings

ROOT = Path(__file__).parents[2]


def page(name: str) -> str:
    """A page's text."""
    return (ROOT / name).read_text(encoding="utf-8")


def variables(model: type[BaseModel], prefix: str = PREFIX) -> Iterator[str]:
    """The environment variable of each setting."""
    for name, field in model.model_fields.items():
        kind = field.annotation
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            yield from variables(kind, f"{prefix}{name.upper()}_")
        else:
            yield f"{prefix}{name.upper()}"


@pytest.mark.parametrize("variable", list(variables(Settings)))
def test_operators_are_told_of_every_setting(variable: str) -> None:
    """An error about one says that docs/operators.md lists all."""
    rows = [line.split("|")[1] for line in page("docs/operators.md").splitlines() if line.startswith("| `")]
    assert any(f"`{variable}`" in row for row in rows), variable


def test_the_rooms_stand_as_their_imports_run() -> None:
    """docs/architecture.md says that a package imports what is below it alone: its list has every package,
    in the order of the import contract.
    """
    contracts = tomllib.loads(page("pyproject.toml"))["tool"]["importlinter"]["contracts"]
    layers = next(
        found["layers"] for found in contracts if found["type"] == "layers" and "worker" in found["layers"]
    )
    level = {
        room.strip().removeprefix("edgeshift."): number
        for number, layer in enumerate(layers)
        for room in layer.split("|")
    }
    told = re.findall(r"^(?:edgeshift/)?([a-z_]+)/ ", page("docs/architecture.md"), re.MULTILINE)
    assert sorted(told) == sorted(level)
    assert told == sorted(told, key=lambda room: level[room])


def test_every_module_that_the_architecture_names_is_there() -> None:
    """By its path, or by its name alone in some package."""
    rooms = ("edgeshift", "workflows", "activities", "worker", "tests", "bench")
    modules = {path.relative_to(ROOT).as_posix() for room in rooms for path in (ROOT / room).rglob("*.py")}
    named = set(re.findall(r"`([\w/]+\.py)`", page("docs/architecture.md")))
    missing = [one for one in named if not any(f"/{path}".endswith(f"/{one}") for path in modules)]
    assert named and missing == []


def test_every_folder_of_tests_is_told_to_contributors() -> None:
    """The table of CONTRIBUTING.md names each that has tests, or what plays them."""
    folders = {path.parent.name for path in (ROOT / "tests").glob("*/*.py")} - {"kit"}
    told = set(re.findall(r"^\| `tests/([a-z]+)/`", page("CONTRIBUTING.md"), re.MULTILINE))
    assert told == folders
