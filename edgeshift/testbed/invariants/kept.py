"""What the simulator keeps and its control API does not show, read from its database: every version of the
custom log fields, log jobs, and the secrets that must be nowhere else.
"""

from __future__ import annotations

import json
import re
import sqlite3
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

from edgeshift.testbed.invariants.seen import RulesVersion

DATABASE = "simulator.sqlite3"
PHASE = "http_log_custom_fields"
CHALLENGES = "ownership-challenge-*"


class KeptLogFields:
    """The rules and log jobs of every zone, as they lie in the simulator's data folder."""

    def __init__(self, data: Path) -> None:
        self._rules: defaultdict[str, list[RulesVersion]] = defaultdict(list)
        self._jobs: defaultdict[str, list[dict[str, Any]]] = defaultdict(list)
        with _open(data) as database:
            for zone, ruleset, number, document in database.execute(
                "SELECT zone, ruleset, version, ruleset_versions.document FROM ruleset_versions"
                " JOIN rulesets ON rulesets.id = ruleset WHERE phase = ? ORDER BY version",
                (PHASE,),
            ):
                rules = tuple(json.loads(document)["rules"])
                self._rules[zone].append(RulesVersion(ruleset=ruleset, number=number, rules=rules))
            for zone, job, document in database.execute(
                "SELECT zone, id, document FROM log_jobs ORDER BY id"
            ):
                self._jobs[zone].append({"id": job, **_job(json.loads(document))})

    def rules_of(self, zone: str) -> tuple[RulesVersion, ...]:
        """Every version of a zone's rules, the oldest first."""
        return tuple(self._rules[zone])

    def jobs_of(self, zone: str) -> tuple[dict[str, Any], ...]:
        """A zone's log jobs of requests, without their destinations."""
        return tuple(job for job in self._jobs[zone] if job.get("dataset") == "http_requests")


def _job(document: dict[str, Any]) -> dict[str, Any]:
    # It may be the address of a pull, or its query with the question mark.
    text = re.sub(r"^[^=&?]*\?", "", document.get("logpull_options") or "")
    options = dict(parse_qsl(text, keep_blank_values=True))
    if output := document.get("output_options"):
        options = {"fields": ",".join(output.get("field_names") or ())}
    return {key: document.get(key) for key in ("dataset", "enabled", "name")} | {"options": options}


def load_secrets(data: Path, buckets: Path | None = None) -> dict[str, str]:
    """Everything secret that came about at the service, by what it is: secrets of Edge Side Code, whoever
    made them, destinations of log jobs, and ownership challenges.
    """
    found: dict[str, str] = {}
    with _open(data) as database:
        for place, scope, secret in database.execute(
            "SELECT id, scope, secret FROM esc_changes WHERE secret IS NOT NULL"
        ):
            found[f"esc secret {place} of {scope}"] = secret
        for job, document in database.execute("SELECT id, document FROM log_jobs"):
            found[f"destination of log job {job}"] = json.loads(document)["destination_conf"]
    folder = buckets or data / "buckets"
    for path in sorted(folder.rglob(CHALLENGES)) if folder.exists() else ():
        found[f"ownership challenge {path.name}"] = path.read_text().strip()
    by_value = {value: label for label, value in found.items()}
    return {label: value for value, label in by_value.items()}


@contextmanager
def _open(data: Path) -> Iterator[sqlite3.Connection]:
    path = (data / DATABASE).resolve()
    connection = sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True, timeout=10)
    try:
        yield connection
    finally:
        connection.close()
