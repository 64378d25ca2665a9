"""Poisoned answers: the real effect, an answer that is spoilt by a seed, and a journal that names how."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import httpx
import pytest

from edgeshift.testbed.simulator.poison import MUTATIONS, poisoned
from edgeshift.testbed.simulator.poison_brew import Brew
from tests.service.simulated import simulated

STATUS = "/waf_migration/status"
DOCUMENT = {
    "result": [
        {"id": "a" * 32, "name": "a.example", "rules": [{"action": "log", "expression": "true", "n": 1}]}
    ],
    "success": True,
    "errors": [],
    "messages": [],
    "result_info": {"page": 1, "per_page": 20, "total_pages": 1, "count": 1, "total_count": 1},
}


@pytest.mark.parametrize("name", sorted(MUTATIONS))
def test_every_mutation_spoils_any_document_the_same_way_each_time(name: str) -> None:
    """Objects, lists, bare values and none at all; the document itself stays as it was."""
    for document in (DOCUMENT, {"always": True}, [1], None):
        before = json.dumps(document)
        for seed in ("1", "2"):
            made = poisoned(seed, 200, document, others=["b" * 32], only=[name])
            assert made == poisoned(seed, 200, document, others=["b" * 32], only=[name])
            assert name in made.name
            assert made.written().startswith(b"HTTP/1.1 ")
        assert json.dumps(document) == before


def test_what_is_put_into_one_of_many_items_is_in_no_other() -> None:
    """Else an answer that is spoilt in several places takes gigabytes."""
    kinds = set()
    for seed in range(40):
        brew = Brew.of(random.Random(seed), 200, {"result": [1]}, ())
        MUTATIONS["many-items"](brew)
        items = brew.document["result"]
        kinds.add(type(items[0]))
        if isinstance(items[0], dict):
            items[0]["a"] = "text"
        elif isinstance(items[0], list):
            items[0].append("text")
        assert not any(items[1:])
    assert {dict, list} < kinds


def test_seeds_reach_every_mutation() -> None:
    """Within five hundred requests."""
    names = {poisoned(str(seed), 200, DOCUMENT).name.split("+")[0].split("@")[0] for seed in range(500)}
    assert names == set(MUTATIONS)


async def test_a_poisoned_write_has_its_effect(tmp_path: Path) -> None:
    """The zone is migrated; only the answer is spoilt, and the journal says how."""
    async with simulated(tmp_path) as call:
        fault = {"kind": "poisoned", "seed": 3, "mutations": ["cut"], "times": 1}
        await call.control("POST", "faults", {**fault, "match": {"call": "entrypoint.put"}})
        with pytest.raises(json.JSONDecodeError):
            (await call.migrate("pro", "pending")).json()
        assert await call.state("pro") == "complete"
        entry = (await call.journal(call="entrypoint.put"))[0]
        assert (entry["fault"], entry["effect"], entry["status"]) == ("poisoned:after:cut", "applied", 200)


async def test_the_same_seed_spoils_the_same_requests_alike(tmp_path: Path) -> None:
    """By the number of the request, over a restart too, and each request in its own way."""

    async def spoilt(folder: str) -> list[Any]:
        async with simulated(tmp_path / folder) as call:
            await call.control("POST", "faults", {"kind": "poisoned", "seed": 11, "match": {"call": "waf.*"}})
            for _ in range(12):
                try:
                    await call("GET", f"pro:{STATUS}")
                except httpx.HTTPError:
                    continue
            return [entry["fault"] for entry in await call.journal(call="waf.status")]

    once = await spoilt("one")
    assert once == await spoilt("two")
    assert len(set(once)) > 6
    assert all(name.startswith("poisoned:after:") for name in once)


async def test_an_unknown_mutation_is_refused(tmp_path: Path) -> None:
    """400 that names those that there are."""
    async with simulated(tmp_path) as call:
        body = {"kind": "poisoned", "mutations": ["arsenic"]}
        answer = await call.http.post(f"{call.server.control_url}/faults", json=body)
        assert answer.status_code == 400
        assert "doubled-key" in answer.text
