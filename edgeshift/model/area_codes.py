"""Codes that an installed area brings beside those that edgeshift lists: the area's name, a dot, and a name
of its own. So they are told from all others, and are read everywhere, also where the area is not installed.
Pure.
"""

from __future__ import annotations

import re
from enum import StrEnum
from functools import lru_cache
from typing import TypeVar

Code = TypeVar("Code", bound=StrEnum)

_NAMESPACED = re.compile(r"[a-z][a-z0-9-]{0,29}\.[a-z][a-z0-9_-]{0,59}")


def of_an_area(kind: type[Code], value: object) -> Code | None:
    """An area's own code as one of this kind; None for what is none."""
    return _made(kind, value) if isinstance(value, str) and _NAMESPACED.fullmatch(value) else None


@lru_cache(maxsize=1024)
def _made(kind: type[Code], value: str) -> Code:
    # Beside the listed ones. Two of the same value are equal, as texts are.
    code = str.__new__(kind, value)
    code._name_, code._value_ = value, value
    return code
