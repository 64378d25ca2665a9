"""Which of many like cases `make test` plays, and which the long tier."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest


def tiered(cases: Iterable[Any], quick: int = 1) -> list[Any]:
    """Values for ``parametrize``: the first ``quick`` are played by `make test`, the others are long. Several
    arguments of a case are a tuple.
    """
    return [
        one if place < quick else pytest.param(*_arguments(one), marks=pytest.mark.long)
        for place, one in enumerate(cases)
    ]


def _arguments(case: Any) -> tuple[Any, ...]:
    return case if isinstance(case, tuple) else (case,)
