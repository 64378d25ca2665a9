"""Lists that are kept by hand agree with each other."""

from __future__ import annotations

import ast
from importlib import import_module
from pathlib import Path

import pytest


@pytest.mark.parametrize("name", ["edgeshift.operations", "edgeshift.stores.documents"])
def test_a_package_names_what_it_has_three_times_alike(name: str) -> None:
    """For mypy (``TYPE_CHECKING``), for readers (``__all__``) and for whoever asks (``_NAMES``): a name that
    mypy alone knows would fail at run time.
    """
    package = import_module(name)
    where = {one: f"{name}.{module}" for module, some in package._NAMES.items() for one in some}
    body = ast.parse(Path(package.__file__ or "").read_text(encoding="utf-8")).body
    (checked,) = (node for node in body if isinstance(node, ast.If) and "not" not in ast.unparse(node.test))
    imports = [node for node in checked.body if isinstance(node, ast.ImportFrom)]
    assert {alias.name: node.module for node in imports for alias in node.names} == where
    assert sorted(package.__all__) == sorted(where)
    assert [one for one in where if getattr(package, one) is not vars(import_module(where[one]))[one]] == []
