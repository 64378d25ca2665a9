"""What a verb loads before it answers: people wait for it (`make bench AREA=startup` measures how long)."""

from __future__ import annotations

import importlib
import subprocess
import sys
from pathlib import Path

import pytest

HEAVY = (
    "cryptography",
    "edgeshift.authority",
    "edgeshift.campaign_file.spec",
    "edgeshift.service_api",
    "edgeshift.testbed",
    "graphql",
    "httpx",
    "jinja2",
    "rich.markdown",
    "rich.traceback",
    "ruamel",
    "starlette",
    "structlog",
    "uvicorn",
)
"""What neither help nor a list of campaigns needs."""

HELP = (*HEAVY, "asyncio", "pydantic", "rich", "temporalio")


@pytest.mark.parametrize(
    ("arguments", "never", "needs"),
    [
        (("--help",), HELP, "edgeshift.cli.main"),
        (("status", "--address", "127.0.0.1:9"), HEAVY, "temporalio.client"),
    ],
    ids=["help", "status"],
)
def test_nothing_heavy_is_loaded(
    tmp_path: Path, arguments: tuple[str, ...], never: tuple[str, ...], needs: str
) -> None:
    """Nor anything beneath it; what is needed is seen, so that the list is one of modules."""
    command = [sys.executable, "-X", "importtime", "-m", "edgeshift.cli.entry", *arguments]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    loaded = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines() if "|" in line}
    assert needs in loaded
    found = {name for name in loaded for one in never if name == one or name.startswith(f"{one}.")}
    assert not found


@pytest.mark.parametrize("package", ["edgeshift.operations", "edgeshift.stores.documents"])
def test_a_package_gives_every_name_that_it_lists(package: str) -> None:
    """Out of the module that it names, and no other."""
    module = importlib.import_module(package)
    names = {name for some in module._NAMES.values() for name in some}
    assert names == set(module.__all__)
    for home, some in module._NAMES.items():
        for name in some:
            assert getattr(module, name) is getattr(importlib.import_module(f"{package}.{home}"), name)
    with pytest.raises(AttributeError, match="has no attribute 'nonsense'"):
        _ = module.nonsense
