"""Calls of Temporal that go past the SDK's own client."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from tests.runbook import ROOT

SERVICES = {"workflow_service", "operator_service"}

FIRST = {"edgeshift/runtime/temporal.py: describe_namespace"}
"""What is asked over a connection that was made just now: whoever waits for a server asks again."""


def test_each_is_tried_again_where_the_server_has_closed_the_connection() -> None:
    """A server recycles each connection after some minutes, and what is sent over it just then comes back as
    cancelled. The SDK's client tries that again; whoever goes past it has to say so.
    """
    once = {f"{path}: {name}" for path, name, again in _calls() if not again}
    assert once == FIRST


def _calls() -> Iterator[tuple[str, str, bool]]:
    """File, name, and whether it is tried again."""
    for package in ("edgeshift", "activities", "worker", "workflows"):
        for file in sorted((ROOT / package).rglob("*.py")):
            if "testbed" not in file.parts:
                yield from _calls_in(file)


def _calls_in(file: Path) -> Iterator[tuple[str, str, bool]]:
    for node in ast.walk(ast.parse(file.read_text())):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
            continue
        service = node.func.value
        if isinstance(service, ast.Attribute) and service.attr in SERVICES:
            again = any(word.arg == "retry" for word in node.keywords)
            yield str(file.relative_to(ROOT)), node.func.attr, again
