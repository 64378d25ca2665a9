"""Every command of README, CONTRIBUTING and docs is typed by a test as it stands there, or has a reason why
not; here those that need no server, and those of the simulator's page.
"""

from __future__ import annotations

import json
import re
import socket
from pathlib import Path

import pytest

from tests.journeys.docs_kit import PAGES, ROOT, Typing, all_commands, meant
from tests.journeys.docs_plays import ELSEWHERE, NOT_RUN, OFFLINE, SIMULATOR, TYPED

FLEET = """\
users: [{email: platform@example.com}]
zones:
  - name: shop.example
    plan: enterprise
    esc: {behaviours: [{kind: tls_sni, path: /api/items, to: origin.example}]}
    logs:
      jobs:
        - name: logs
          destination: "s3://edge-logs/shop.example/http?region=eu-west-1&secret-access-key=customers-own"
          logpull_options: fields=RayID,ClientRequestPath
    traffic: {requests_per_minute: 60}
"""


def test_every_command_of_the_documentation_is_accounted_for() -> None:
    """Each once: it is typed, another test runs it, or there is a reason; nothing is left of old pages."""
    lists = [*TYPED, *ELSEWHERE.values(), *NOT_RUN.values()]
    known = [(page, meant(page, begins)) for some in lists for page, begins in some]
    twice = {one for one in known if known.count(one) > 1}
    assert not twice and set(known) == all_commands()
    assert all((ROOT / test).is_file() for test in ELSEWHERE)


@pytest.mark.long
def test_what_needs_no_server_runs_as_it_stands(tmp_path: Path) -> None:
    """Help, files to begin with, completion, keys: in an empty folder, and in the project's own."""
    keys = {"~/.ssh/edgeshift": "edgeshift-key"}
    typing = Typing(tmp_path, OFFLINE, {"VERB": "status", **keys})
    assert "edgeshift [OPTIONS] COMMAND" in typing.run("cli.md", "edgeshift --help")
    assert "--until" in typing.run("cli.md", "edgeshift VERB --help")
    typing.run("cli.md", "export EDGESHIFT_ENV")
    typing.run("cli.md", "echo 'eval")
    assert "complete" in typing.type(". ~/.bashrc && complete -p edgeshift")
    typing.run("cli.md", "mkdir -p ~/.zfunc")
    (tmp_path / ".config/fish/completions").mkdir(parents=True)
    typing.run("cli.md", "edgeshift completion fish")
    assert (tmp_path / ".config/fish/completions/edgeshift.fish").read_text()
    typing.run("campaign-file.md", "edgeshift campaign-schema")
    assert json.loads((tmp_path / "campaign.schema.json").read_text())["properties"]
    typing.run("campaign-file.md", "edgeshift init")
    assert "name: waf-autumn" in (tmp_path / "waf-autumn.yaml").read_text()
    typing.run("fleet-format.md", "edgeshift fleet generate")
    assert "120 zones" in typing.run("fleet-format.md", "edgeshift fleet check")

    # The roots file that the page shows, without people, as it says.
    roots, *_ = re.findall(r"^```text\n(.*?)^```", PAGES["authority.md"], re.MULTILINE | re.DOTALL)
    (tmp_path / "roots.yaml").write_text(re.sub(r"^people:\n(  .*\n)+", "", roots, flags=re.MULTILINE))
    (tmp_path / "allowed_signers").write_text("")
    (tmp_path / "revoked_keys").write_text("")
    typing.run("authority.md", "edgeshift keys make ada")
    typing.run("authority.md", "edgeshift keys add ada")
    shown = typing.run("authority.md", "edgeshift keys list")
    assert "ada" in shown and "approver" in shown
    digest = next(word for word in shown.split() if word.startswith("SHA256:"))
    typing.instead["SHA256:e3nVSP9eClisWSDjQ8/l6aIT7rrHjnuW4cKs2GQTAXI"] = digest
    typing.run("authority.md", "edgeshift keys revoke")
    typing.run("authority.md", "edgeshift keys make worker-1")
    typing.run("authority.md", "edgeshift keys add worker-1")
    typing.run("authority.md", "export EDGESHIFT_AUTHORITY_WORKER_KEY")
    questions = {"Enter passphrase": "long enough", "same passphrase": "long enough"}
    typing.run("authority.md", "ssh-keygen -t ed25519 -f", answers=questions)
    assert (tmp_path / "edgeshift-key.pub").read_text().startswith("ssh-ed25519 ")

    typing.instead[".venv/bin/python"] = str(ROOT / ".venv/bin/python")
    typing.instead["make"] = f"make -C {ROOT}"
    assert "make demo" in typing.run("CONTRIBUTING.md", "make")
    typing.environment["PYTHONPATH"] = str(ROOT)
    assert "waf/" in typing.run("reliability.md", ".venv/bin/python -m tests.harness list")
    typing.end()


def free_ports(many: int) -> list[str]:
    """Ports that nobody uses now."""
    some = [socket.socket() for _ in range(many)]
    for one in some:
        one.bind(("127.0.0.1", 0))
    found = [str(one.getsockname()[1]) for one in some]
    for one in some:
        one.close()
    return found


@pytest.mark.long
@pytest.mark.timeout(120)
def test_the_simulators_page_runs_as_it_stands(tmp_path: Path) -> None:
    """One simulator after the other, each called, disturbed, and asked for what it has seen."""
    page = "simulator.md"
    ports = dict(zip(("8790", "8791", "8780"), free_ports(3), strict=True))
    typing = Typing(tmp_path, SIMULATOR, ports)
    typing.run(page, "edgeshift fleet generate --zones 60 --out")
    token = next(
        word for word in typing.run(page, "edgeshift fleet check").split() if word.startswith("simulated-")
    )
    with typing.beside(page, "edgeshift simulator --fleet fleet.yaml --data data", "their traffic"):
        typing.environment["TOKEN"] = token
        assert '"success":true' in typing.run(page, 'curl -H "Authorization').replace(" ", "")
    with typing.beside("fleet-format.md", "edgeshift simulator", "control at"):
        pass
    typing.run(page, "edgeshift fleet generate --zones 60 --esc")
    with typing.beside(page, "edgeshift simulator --fleet esc.yaml", "their traffic"):
        pass

    (tmp_path / "shop.yaml").write_text(FLEET)
    typing.environment |= {"SECRET": "none"}
    typing.run(page, "echo ")
    typing.instead["--fleet fleet.yaml --data slow"] = (
        f"--fleet shop.yaml --data data-of-shop --edge-port {ports['8791']}"
    )
    typing.instead["cat data/"] = "cat data-of-shop/"
    with typing.beside(page, "edgeshift simulator --fleet fleet.yaml --data slow", "their traffic"):
        zones = json.loads(typing.type(f"curl -s http://127.0.0.1:{ports['8790']}/_simulator/zones"))
        typing.environment["ZONE"] = zones[0]["id"] if isinstance(zones, list) else zones["zones"][0]["id"]
        assert "200" in typing.run(page, 'curl -i -H "Host: www.shop.example" http')
        assert "200" in typing.run(page, 'curl -i -H "Host: www.shop.example" -b')
        typing.run(page, "curl http://127.0.0.1:8790/_simulator/zones")
        assert "theirs" in typing.run(page, "curl http://127.0.0.1:8790/_simulator/stranger-writes")
        typing.run(page, 'curl -X POST "http://127.0.0.1:8790/_simulator/edge')
        typing.run(page, "curl -X POST http://127.0.0.1:8790/_simulator/logs/flush")
        assert "RayID" in typing.run(page, "cat data/buckets")
        assert "accept" in typing.run(page, "curl -X PUT http://127.0.0.1:8790/_simulator/options")
        typing.run(page, "curl -X PATCH")
        assert "3600" in typing.run(page, "curl -X PUT http://127.0.0.1:8790/_simulator/clock")
        typing.run(page, 'curl "http://127.0.0.1:8790/_simulator/journal')
        typing.run(page, 'curl http://127.0.0.1:8790/_simulator/faults --json \'{"kind": "server_error"')
        typing.run(page, "curl http://127.0.0.1:8790/_simulator/faults --json '[")
        typing.instead['"ID"'] = f'"{typing.environment["ZONE"]}"'
        typing.run(page, 'curl http://127.0.0.1:8790/_simulator/faults --json \'{"kind": "poisoned"')
        shown = typing.run(page, "curl http://127.0.0.1:8790/_simulator/faults")
        assert all(
            kind in shown for kind in ("server_error", "latency", "rate_limit", "not_json", "poisoned")
        )
        typing.run(page, "curl -X DELETE")
    typing.end()
