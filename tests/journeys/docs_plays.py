"""Who runs which command of the documentation: tests type them, or say why nobody does."""

from __future__ import annotations

from tests.journeys.docs_kit import Command


def _of(page: str, *begins: str) -> tuple[Command, ...]:
    return tuple((page, one) for one in begins)


OFFLINE = (
    *_of("CONTRIBUTING.md", "make"),
    *_of("campaign-file.md", "edgeshift campaign-schema", "edgeshift init"),
    *_of(
        "cli.md",
        "edgeshift --help",
        "edgeshift VERB --help",
        "export EDGESHIFT_ENV",
        "echo 'eval",
        "mkdir -p ~/.zfunc",
        "edgeshift completion fish",
    ),
    *_of("fleet-format.md", "edgeshift fleet generate", "edgeshift fleet check"),
    *_of(
        "authority.md",
        "edgeshift keys make ada",
        "edgeshift keys add ada",
        "edgeshift keys list",
        "edgeshift keys make worker-1",
        "edgeshift keys add worker-1",
        "export EDGESHIFT_AUTHORITY_WORKER_KEY",
        "edgeshift keys revoke",
        "ssh-keygen -t ed25519 -f",
    ),
    *_of("reliability.md", ".venv/bin/python -m tests.harness list"),
)
"""Typed by tests/journeys/test_docs_commands.py, without a server."""

SIMULATOR = (
    *_of("fleet-format.md", "edgeshift simulator"),
    *_of(
        "simulator.md",
        "edgeshift fleet generate --zones 60 --out",
        "edgeshift fleet check",
        "edgeshift simulator --fleet fleet.yaml --data data",
        'curl -H "Authorization',
        "edgeshift fleet generate --zones 60 --esc",
        "edgeshift simulator --fleet esc.yaml",
        'curl -i -H "Host: www.shop.example" http',
        'curl -i -H "Host: www.shop.example" -b',
        "curl http://127.0.0.1:8790/_simulator/zones",
        "curl http://127.0.0.1:8790/_simulator/stranger-writes",
        'curl -X POST "http://127.0.0.1:8790/_simulator/edge',
        "curl -X POST http://127.0.0.1:8790/_simulator/logs/flush",
        "cat data/buckets",
        "echo ",
        "edgeshift simulator --fleet fleet.yaml --data slow",
        "curl -X PUT http://127.0.0.1:8790/_simulator/options",
        "curl -X PATCH",
        "curl -X PUT http://127.0.0.1:8790/_simulator/clock",
        'curl "http://127.0.0.1:8790/_simulator/journal',
        'curl http://127.0.0.1:8790/_simulator/faults --json \'{"kind": "server_error"',
        "curl http://127.0.0.1:8790/_simulator/faults --json '[",
        'curl http://127.0.0.1:8790/_simulator/faults --json \'{"kind": "poisoned"',
        "curl http://127.0.0.1:8790/_simulator/faults",
        "curl -X DELETE",
    ),
)
"""Typed there too, with a simulator beside."""

FIRST_STEPS = (
    *_of(
        "README.md",
        ". .venv/bin/activate",
        "edgeshift up --zones 60",
        "edgeshift plan .edgeshift/campaign.yaml",
        "edgeshift start",
        "edgeshift watch",
        "edgeshift sign-off approve rehearsal --wave 1 --by ada",
        "edgeshift sign-off approve rehearsal --wave 1 --by grace",
        "edgeshift status",
        "edgeshift history",
        "edgeshift report",
        "edgeshift init",
    ),
    *_of("cli.md", "edgeshift --env production status"),
)
GUIDE = (
    *_of(
        "operators.md",
        "edgeshift up",
        "edgeshift doctor",
        "edgeshift plan waf-autumn",
        "edgeshift start",
        "edgeshift watch",
        "edgeshift status waf-autumn",
        "edgeshift status waf-autumn --phase",
        "edgeshift status waf-autumn --zone",
        "edgeshift sign-off approve waf-autumn --fingerprint",
        "edgeshift sign-off approve waf-autumn --wave",
        "edgeshift sign-off reject",
        "temporal workflow signal",
        "edgeshift init log-fields",
        "edgeshift pause",
        "edgeshift resume",
        "edgeshift abort",
        "edgeshift retry",
        "edgeshift reopen",
        "edgeshift support-resolved",
        "edgeshift history",
        "edgeshift report",
    ),
    *_of(
        "cli.md",
        "edgeshift show crisp-yarn.example",
        "edgeshift show 3bed57c67adb",
        "edgeshift show crisp-yarn.example --raw",
        "temporal workflow signal",
    ),
    *_of(
        "terraform.md",
        "edgeshift export terraform waf-autumn --out",
        "edgeshift export terraform waf-autumn --wave",
        "edgeshift export terraform waf-autumn --zone",
        "edgeshift check",
    ),
    *_of(
        "audit.md",
        "edgeshift audit export",
        "edgeshift audit verify waf-autumn",
    ),
    *_of(
        "authority.md",
        "edgeshift sign-off approve waf-autumn --fingerprint 3bed57c6 --by ada",
        "ssh-keygen -Y sign",
        "edgeshift sign-off approve waf-autumn --fingerprint 3bed57c6 --statement",
        "edgeshift doctor",
    ),
)
BEFORE_2024 = (
    *_of(
        "README.md",
        "mkdir before-2024",
        "edgeshift fleet generate",
        "edgeshift up --fleet",
        ". ../.venv/bin/activate",
        "edgeshift plan .edgeshift/campaign-esc.yaml",
    ),
    *_of(
        "operators.md",
        "edgeshift init esc-autumn",
        "edgeshift plan esc-autumn",
        "edgeshift esc secret",
    ),
)
"""Typed by tests/journeys/test_docs_campaigns.py, each on a stack."""

ELSEWHERE: dict[str, tuple[Command, ...]] = {
    "tests/journeys/test_demo.py": _of("README.md", "make demo"),
    "tests/journeys/test_installed_area.py": _of(
        "adding-an-area.md", "python -m edgeshift", "edgeshift init", "edgeshift demo"
    ),
    "tests/service/test_audit_docs.py": _of(
        "audit.md", "edgeshift audit verify docs/audit-example", "ssh-keygen -Y verify"
    ),
}
"""What other tests run, by file, or by what a target of the Makefile calls."""

NOT_RUN: dict[str, tuple[Command, ...]] = {
    "it is what runs these tests": (
        *_of("README.md", "make test"),
        *_of("reliability.md", *(f"make test-faults{more}" for more in ("", " SHARE", " ONLY", " SEED"))),
    ),
    "it installs from package registries; CI begins with it": _of("CONTRIBUTING.md", "make setup"),
    "it measures for minutes, or for hours": _of(
        "performance.md",
        "make bench AREA",
        "make bench-fleet",
        "make bench-fleet PART",
        "make bench-fleet SHORT",
    ),
    "it plays a case of the harness, as tests/faults/test_faults_harness.py does": _of(
        "reliability.md", ".venv/bin/python -m tests.harness play"
    ),
    "it writes into the pages themselves": (
        *_of("performance.md", ".venv/bin/python -m bench.fleet table"),
        *_of("reliability.md", "cp docs/reliability-verdicts.jsonl"),
    ),
    "it needs a hardware key": _of("authority.md", "ssh-keygen -t ed25519-sk"),
}
"""What no test runs, by the reason."""

TYPED = (OFFLINE, SIMULATOR, FIRST_STEPS, GUIDE, BEFORE_2024)
