"""Packages whose names are imported from their modules only when they are asked for: who needs one of them
does not wait for all.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module


def names_of(package: str, names: Mapping[str, Sequence[str]]) -> Callable[[str], object]:
    """The ``__getattr__`` of a package. ``names``: by module of the package, what is taken from it. The
    modules themselves are found as well. Raises AttributeError for anything else, as a package does.
    """
    where = {name: module for module, some in names.items() for name in some}

    def found(name: str) -> object:
        if name in names:
            return import_module(f"{package}.{name}")
        if name not in where:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(f"{package}.{where[name]}"), name)

    return found
