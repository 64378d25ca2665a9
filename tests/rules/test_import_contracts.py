"""Import contracts (pyproject.toml) say what they say of every package: what none names may do anything."""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from edgeshift.areas import BUILT_IN
from edgeshift.model.fleet import Area

ROOT = Path(__file__).parents[2]
ROOMS = {f"edgeshift.{path.parent.name}" for path in (ROOT / "edgeshift").glob("*/__init__.py")} | {
    "workflows",
    "activities",
    "worker",
}

NOT_NAMED = {
    # The checkers themselves, and the one package that they may import: facts without behaviour.
    "Simulator and invariants are independent checkers": {"edgeshift.testbed", "edgeshift.profiles"},
}
"""Packages that a contract leaves out, and why."""

GIVEN = ("edgeshift.operations", "edgeshift.testbed", "edgeshift.views")
"""Where a pure module is one that only builds: what it is given are models of packages that do more."""


def contract(name: str) -> dict[str, Any]:
    """One contract, by its name."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    return next(found for found in contracts if found["name"] == name)


def within(module: str, packages: Iterable[str]) -> bool:
    """Whether the module is one of these, or lies in one."""
    return any(module == one or module.startswith(f"{one}.") for one in packages)


def pure() -> Iterator[str]:
    """Every module of edgeshift that says of itself that it is pure."""
    for path in sorted((ROOT / "edgeshift").rglob("*.py")):
        said = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
        if re.search(r"\bpure\b(?! but)", said, re.IGNORECASE):
            yield ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


@pytest.mark.parametrize("name", NOT_NAMED)
def test_a_contract_names_every_package(name: str) -> None:
    """Or it is said here why it does not: a new package is not forgotten."""
    found = contract(name)
    named = {*found["source_modules"], *found["forbidden_modules"]}
    assert {room for room in ROOMS if room not in named} == NOT_NAMED[name]


def test_no_contract_has_an_exception() -> None:
    """What may import what is said by packages, so that nobody has to look for what is left out."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    assert [found["name"] for found in contracts if found.get("ignore_imports")] == []


def test_http_is_spoken_by_packages_that_say_so() -> None:
    """Each as a whole, and it does."""
    speaks = contract("HTTP is spoken by the clients of outside systems alone")["allowed_importers"]
    assert set(speaks) <= ROOMS
    for room in speaks:
        files = (ROOT / room.replace(".", "/")).rglob("*.py")
        assert any("\nimport httpx\n" in file.read_text(encoding="utf-8") for file in files), room


@pytest.mark.parametrize("area", list(BUILT_IN), ids=str)
def test_a_contract_protects_every_package_of_an_area(area: Area) -> None:
    """What a room has of one area lies in its ``areas/``, and no other room may import it: a new one is not
    forgotten.
    """
    held = contract(f"Nothing but the packages of the area {area.value} imports them")
    name = area.value.replace("-", "_")
    found = [
        path.relative_to(ROOT)
        for room in ("edgeshift", "activities", "worker", "workflows")
        for path in (ROOT / room).rglob("*.py")
        if path.parent.name == "areas" and (path.stem == name or path.stem.startswith(f"{name}_"))
    ]
    assert len(found) > 5
    modules = {".".join(path.with_suffix("").parts) for path in found}
    assert modules - set(held["protected_modules"]) == set()
    assert modules - set(held["allowed_importers"]) == set()


def test_whatever_calls_itself_pure_is_held_to_it() -> None:
    """A reader who is told that a module is pure looks for no file, clock or network behind it."""
    held = contract("The rules import no I/O, clock or randomness")["source_modules"]
    assert [one for one in pure() if not within(one, held) and not within(one, GIVEN)] == []
