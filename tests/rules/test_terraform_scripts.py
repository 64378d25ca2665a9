"""The scripts of an export, run by a shell with a Terraform that only keeps a list."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from edgeshift.areas.waf.terraform.scripts import BACKUP, import_script, state_script
from edgeshift.model.fleet import Plan, Zone

OURS, OTHER = "a" * 32, "b" * 32
ZONE = Zone(id=OURS, name="shop.example", account="c" * 32, plan=Plan.PRO)

TERRAFORM = f"""#!{sys.executable}
import json, pathlib, sys
file = pathlib.Path("state.json")
state = json.loads(file.read_text())
words = sys.argv[1:]
with open("calls", "a") as calls:
    calls.write(" ".join(words) + "\\n")
if words == ["state", "list"]:
    print("\\n".join(state))
elif words == ["state", "pull"]:
    print(json.dumps(state))
elif words[:3] == ["state", "show", "-no-color"]:
    kind, name, zone = state[words[3]]
    print(f'# {{words[3]}}:\\nresource "{{kind}}" "{{name}}" {{{{')
    if zone:
        print(f'    zone_id = "{{zone}}"')
    print("}}")
elif words[:2] == ["state", "rm"]:
    del state[words[2]]
elif words[0] == "import":
    state[words[-2]] = ["cloudflare_ruleset", "x", words[-1]]
else:
    sys.exit(9)
file.write_text(json.dumps(state))
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a Terraform of its own."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/terraform").write_text(TERRAFORM)
    (tmp_path / "bin/terraform").chmod(0o755)
    return tmp_path


def play(
    folder: Path, script: str, state: dict[str, list[str]]
) -> tuple[int, list[str], dict[str, list[str]]]:
    """Run a script over a state: its exit code, the changing calls, the state afterwards."""
    (folder / "state.json").write_text(json.dumps(state))
    (folder / "script.sh").write_text(script)
    path = f"{folder / 'bin'}:{os.environ['PATH']}"
    done = subprocess.run(
        ["sh", "script.sh"],
        cwd=folder,
        env={"PATH": path},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=120,
    )
    calls = (folder / "calls").read_text().splitlines()
    changing = [call for call in calls if call.startswith(("state rm", "import"))]
    return done.returncode, changing, json.loads((folder / "state.json").read_text())


def test_legacy_resources_of_the_exported_zones_alone_are_forgotten(folder: Path) -> None:
    """What refers to others first; with indexes and modules; a copy of the state is kept from before."""
    state = {
        "cloudflare_waf_package.p": ["cloudflare_waf_package", "p", OURS],
        "cloudflare_waf_rule.r": ["cloudflare_waf_rule", "r", OURS],
        "cloudflare_waf_rule.other": ["cloudflare_waf_rule", "other", OTHER],
        'module.zones["shop.example"].cloudflare_waf_group.g["x y"]': ["cloudflare_waf_group", "g", OURS],
        "cloudflare_waf_override.o[0]": ["cloudflare_waf_override", "o", OURS],
        'cloudflare_record.x["a.cloudflare_waf_rule.b"]': ["cloudflare_record", "x", OURS],
        "data.cloudflare_waf_rules.all": ["cloudflare_waf_rules", "all", OURS],
    }
    code, calls, left = play(folder, state_script((ZONE,)), state)
    assert code == 0
    assert calls == [
        "state rm cloudflare_waf_override.o[0]",
        "state rm cloudflare_waf_rule.r",
        'state rm module.zones["shop.example"].cloudflare_waf_group.g["x y"]',
        "state rm cloudflare_waf_package.p",
    ]
    assert {"cloudflare_waf_rule.other", 'cloudflare_record.x["a.cloudflare_waf_rule.b"]'} <= left.keys()
    assert OTHER in (folder / BACKUP).read_text() and "waf_package.p" in (folder / BACKUP).read_text()


def test_a_resource_whose_zone_is_not_known_ends_the_script(folder: Path) -> None:
    """It may be of a zone that has not migrated."""
    code, calls, left = play(
        folder, state_script((ZONE,)), {"cloudflare_waf_rule.r": ["cloudflare_waf_rule", "r", ""]}
    )
    assert code == 1 and calls == [] and left


def test_entry_points_are_imported_once(folder: Path) -> None:
    """One that is in the state already is left as it is."""
    script = import_script((("cloudflare_ruleset.a", "zone/a/1"), ("cloudflare_ruleset.b", "zone/b/2")))
    code, calls, _ = play(folder, script, {"cloudflare_ruleset.b": ["cloudflare_ruleset", "b", OTHER]})
    assert code == 0
    assert calls == ["import -input=false cloudflare_ruleset.a zone/a/1"]
