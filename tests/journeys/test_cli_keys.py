"""The command line of keys: made, put into roots, tried, revoked; a decision that is signed elsewhere; and a
worker whose roots cannot be read.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from temporalio.api.common.v1 import WorkflowExecution
from temporalio.api.workflowservice.v1 import DeleteWorkflowExecutionRequest
from temporalio.service import RPCError

from edgeshift.operations.proof import UNHEEDED
from edgeshift.runtime.settings import TemporalSettings
from edgeshift.runtime.temporal import connect
from tests.journeys.cli_kit import CLI, Place, running_stack
from tests.kit.openssh import Keypair

ROOTS = """\
# The platform team's.
signers: allowed_signers
people: {}
services:
  - {base_url: "https://api.example.com/client/v4", credentials: ["env:TOKEN"]}
"""


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """A folder with roots of nobody."""
    place = Place(tmp_path, XDG_CONFIG_HOME=str(tmp_path / "config"))
    place.write("allowed_signers", "")
    place.write("roots.yaml", ROOTS)
    return place


def test_a_key_from_its_making_to_its_end(place: Place) -> None:
    """Made, added, tried, revoked: each verb says what it did, and the exit code what came of it."""
    out = place.ok("keys", "make", "ada", "--file", "ada")
    key = next(word for word in out.split() if word.startswith("SHA256:"))
    assert "ssh-keygen -t ed25519-sk" in out
    assert (place.folder / "ada").stat().st_mode & 0o777 == 0o600
    before = (place.folder / "ada").read_bytes()
    assert "never overwritten" in place.refused(6, "keys", "make", "ada", "--file", "ada")
    assert (place.folder / "ada").read_bytes() == before

    roots = ("--roots", "roots.yaml")
    place.environment["EDGESHIFT_AUTHORITY_KEY"] = "ada"
    tried = ("keys", "test", "--by", "ada", *roots)
    assert "nobody's that is known" in place.refused(6, *tried)
    assert "has no role yet" in place.refused(6, "keys", "add", "ada", "--key", "ada.pub", *roots)
    added = place.ok("keys", "add", "ada", "--key", "ada.pub", "--role", "approver", *roots)
    assert f"ada signs with {key} as approver" in added
    assert "signs for ada: approver" in place.ok(*tried)
    assert "is ada's" in place.refused(
        6, "keys", "add", "eve", "--key", "ada.pub", "--role", "starter", *roots
    )
    assert "is not olga's, but ada's" in place.refused(6, "keys", "test", *roots)
    (place.folder / "ada").chmod(0o644)
    assert "chmod 600" in place.refused(6, *tried)
    (place.folder / "ada").chmod(0o600)

    listed = place.json("keys", "list", *roots)
    assert listed["people"][0]["keys"][0] == {
        "id": key,
        "kind": "ssh-ed25519",
        "valid_after": None,
        "valid_before": None,
        "revoked": False,
    }
    shown = place.ok("keys", "list", *roots)
    assert key in shown and "env:TOKEN" in shown and "signed" in shown
    assert "any number of commits an hour" in shown
    assert key in place.ok("keys", "revoke", "ada", *roots)
    assert "revoked already" in place.ok("keys", "revoke", key, *roots)
    assert "revoked" in place.ok("keys", "list", *roots)
    assert "was revoked" in place.refused(6, *tried)
    ran = place.run(*tried, "--json")
    assert ran.code == 6 and json.loads(ran.out)["counts"] is False
    assert "neither a person" in place.refused(5, "keys", "revoke", "mallory", *roots)
    assert (place.folder / "roots.yaml").read_text().startswith("# The platform team's.\n")


def test_roots_with_a_cap_say_it(place: Place) -> None:
    """Those without are told what is recommended."""
    place.write("roots.yaml", f"{ROOTS}most_commits_an_hour: 200\n")
    shown = place.ok("keys", "list", "--roots", "roots.yaml")
    assert "at most 200 commits an hour" in shown and "any number of commits" not in shown


def test_mistakes_with_keys_are_named(place: Place) -> None:
    """No roots, broken ones, no key, one that is none, a name that is none."""
    assert "there are no roots" in place.refused(2, "keys", "list")
    assert "cannot be read: No such file" in place.refused(2, "keys", "list", "--roots", "none.yaml")
    assert "no key to sign with" in place.refused(2, "keys", "test", "--roots", "roots.yaml")
    place.environment["EDGESHIFT_AUTHORITY_KEY"] = "nowhere"
    assert "keys make" in place.refused(6, "keys", "test", "--roots", "roots.yaml")
    add = ("keys", "add", "ada", "--role", "approver", "--roots", "roots.yaml", "--key")
    place.write("text", "hello")
    assert "text: it has what is no public key" in place.refused(2, *add, "text")
    assert "No such file" in place.refused(2, *add, "none.pub")
    assert "no name for a key" in place.refused(2, "keys", "make", "a,b")
    place.write("roots.yaml", ROOTS.replace("people", "poeple"))
    assert "poeple" in place.refused(2, "keys", "list", "--roots", "roots.yaml")
    (place.folder / "roots.yaml").chmod(0o666)
    assert "chmod go-w" in place.refused(2, "keys", "list", "--roots", "roots.yaml")


def test_a_key_lies_in_the_configuration_folder_by_default(place: Place) -> None:
    """With a name that has spaces, too."""
    place.ok("keys", "make", "Ada Lovelace")
    found = sorted(path.name for path in (place.folder / "config/edgeshift/keys").iterdir())
    assert found == ["Ada Lovelace", "Ada Lovelace.pub"]


def test_a_worker_without_readable_roots_ends_with_the_reason(place: Place) -> None:
    """Before it looks for Temporal: it would refuse everything."""
    place.environment["EDGESHIFT_AUTHORITY_ROOTS"] = "nowhere.yaml"
    error = place.refused(2, "worker", "--address", "127.0.0.1:9")
    assert "nowhere.yaml: it cannot be read" in error and "docs/authority.md" in error


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--print", "--statement", "s"], "exclude each other"),
        (["--out", "d"], "--out needs --print"),
        (["--signature", "s.sig"], "--signature needs --statement"),
        (
            ["--statement", "text", "--signature", "a", "--signature", "b"],
            "1 of --statement and 2 of --signature",
        ),
        (["--statement", "text"], "text: it is no statement"),
        (["--statement", "other"], "other.sig: it does not sign other"),
    ],
)
def test_options_for_signing_elsewhere_go_together(place: Place, options: list[str], said: str) -> None:
    """Each mistake is named before Temporal is asked."""
    place.write("text", "hello")
    place.write("text.sig", "hello")
    place.write("other", "{}")
    place.write("other.sig", "-----BEGIN SSH SIGNATURE-----\nAAAA\n-----END SSH SIGNATURE-----\n")
    assert said in place.refused(2, "sign-off", "approve", "autumn", "--wave", "1", *options)


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    """A stack with a campaign that olga has started."""
    with running_stack(tmp_path_factory.mktemp("keys")) as place:
        place.ok("start", place.campaign("elsewhere", "include: [shop-1.example, shop-2.example]"), "--yes")
        place.until("elsewhere", lambda places: places.get("awaiting", 0) == 2)
        yield place


def checks(place: Place) -> dict[str, dict[str, Any]]:
    """What the doctor found."""
    ran = place.run("doctor", "--json")
    return {check["name"]: check for check in json.loads(ran.out)["checks"]}


@pytest.mark.stack(30)
def test_a_decision_may_be_signed_elsewhere(stack: Place, tmp_path: Path) -> None:
    """Printed here, signed by `ssh-keygen` with an RSA key, handed back: it migrates. Handed back to another
    thing, or by a key that does not count, it is refused, and nothing is told to anybody.
    """
    roots = stack.folder / ".edgeshift/authority/roots.yaml"
    key = Keypair(tmp_path, "rsa-3072")
    (tmp_path / "grace.pub").write_text(key.public.line + "\n")
    sign = ("sign-off", "approve", "elsewhere", "--wave", "1")
    printed = stack.run(*sign, "--by", "grace", "--print")
    assert printed.code == 0 and "Nothing is signed yet" in printed.err
    # Whoever reads what they sign, to be sure of it, finds another number there than the one they typed.
    assert json.loads(printed.out)["wave"] == 0
    assert 'its "wave":0 is wave 1 everywhere else' in printed.err
    statement = stack.folder / "statement.json"
    statement.write_text(printed.out)
    key.sign([statement])
    back = ("--statement", "statement.json", "--yes")
    assert "nobody's that is known" in stack.refused(6, *sign, *back)
    stack.ok("keys", "add", "grace", "--key", str(tmp_path / "grace.pub"), "--role", "approver")
    assert roots.stat().st_mode & 0o777 == 0o600
    assert "to approve" in stack.refused(2, "sign-off", "reject", "elsewhere", "--wave", "1", *back)
    one = ("sign-off", "approve", "elsewhere", "--zone", "shop-1.example", *back)
    assert "is not what waits now" in stack.refused(6, *one)
    changed = json.loads(printed.out) | {"by": "ada"}
    (stack.folder / "changed.json").write_text(json.dumps(changed, separators=(",", ":"), sort_keys=True))
    forged = ("--statement", "changed.json", "--signature", "statement.json.sig", "--yes")
    assert "does not sign changed.json" in stack.refused(2, *sign, *forged)
    assert stack.places("elsewhere")["awaiting"] == 2
    assert "grace" in stack.ok(*sign, *back)
    stack.until("elsewhere", lambda places: places.get("migrated", 0) == 2)


@pytest.mark.stack(30)
def test_doctor_names_the_roots_of_workers_and_a_worker_without(stack: Place) -> None:
    """All agree; then a worker without roots comes, which is said."""
    assert checks(stack)["roots of authority"]["state"] == "ok"
    environment = {**stack.environment, "EDGESHIFT_TEMPORAL_ADDRESS": stack.stack["address"]}
    environment |= {"EDGESHIFT_ARCHIVE_URL": stack.stack["archive"], "EDGESHIFT_WORKER_QUEUES": "long"}
    other = subprocess.Popen([*CLI, "worker"], cwd=stack.folder, env=environment, stderr=subprocess.DEVNULL)
    try:
        limit = time.monotonic() + 90
        while (found := checks(stack)["roots of authority"])["state"] == "ok":
            assert other.poll() is None and time.monotonic() < limit, found
            time.sleep(1)
        assert found["state"] in ("warning", "failed")
    finally:
        other.terminate()
        other.wait(120)


@pytest.mark.stack(30)
def test_screens_say_where_nothing_is_signed(stack: Place) -> None:
    """Of a campaign whose signed start is gone from the archive; not of one that has it."""
    name = "elsewhere"
    assert UNHEEDED.split(":")[0] not in stack.ok("status", name)
    with without_its_start(stack, name):
        assert UNHEEDED.split(":")[0] in stack.ok("status", name)
        assert stack.json("status", name)["note"] == UNHEEDED
        assert stack.json("report", name)["note"] == UNHEEDED
        stack.ok("report", name, "--out", "report.html")
        assert UNHEEDED.split(":")[0] in (stack.folder / "report.html").read_text()


@pytest.mark.stack(30)
def test_alarms_say_what_to_do_first_where_nothing_is_signed(stack: Place) -> None:
    """No sign-off of such a campaign is offered, for none would count."""
    name = "begun"
    stack.ok("start", stack.campaign(name, "include: [shop-3.example]"), "--yes")
    stack.until(name, lambda places: places.get("awaiting", 0) == 1)

    def offered() -> list[str]:
        found = json.loads(stack.run("alarms", name, "--json").out)["alarms"]
        (waits,) = (alarm for alarm in found if alarm["code"] == "sign-off-waits")
        return [" ".join(command.split()[:3]) for command in waits["do"]]

    assert offered() == ["edgeshift sign-off approve", "edgeshift sign-off reject"]
    with without_its_start(stack, name):
        assert offered() == [f"edgeshift abort {name}", "edgeshift start FILE"]


@contextmanager
def without_its_start(place: Place, name: str) -> Iterator[None]:
    """While the signed start of a campaign is gone from the archive."""
    kept = Path(place.stack["archive"].removeprefix("file://")) / "signed" / name / "start"
    away = kept.with_name("away")
    kept.rename(away)
    try:
        yield
    finally:
        away.rename(kept)


async def forget(address: str, campaign: str) -> None:
    """Have Temporal forget all of a campaign, as it does by itself once the retention is over."""
    client = await connect(TemporalSettings(address=address))
    ids = [f"campaign/{campaign}"]
    async for execution in client.list_workflows(f"EdgeshiftCampaign = '{campaign}'"):
        ids.append(execution.id)
    for identifier in set(ids):
        await client.workflow_service.delete_workflow_execution(
            DeleteWorkflowExecutionRequest(
                namespace=client.namespace, workflow_execution=WorkflowExecution(workflow_id=identifier)
            )
        )
    for identifier in set(ids):
        with pytest.raises(RPCError):
            while True:
                await client.get_workflow_handle(identifier).describe()
                await asyncio.sleep(0.2)


@pytest.mark.stack(30)
def test_the_audit_file_outlives_the_histories(stack: Place) -> None:
    """It is proved by the keys alone, also with a key of another kind; outcomes are in it while Temporal
    knows them. Of a campaign that Temporal has forgotten, a file can still be written.
    """
    name, signers = "elsewhere", ("--signers", ".edgeshift/authority/allowed_signers")
    limit = time.monotonic() + 90
    while stack.json("status", name)["summary"]["state"] != "closed":
        assert time.monotonic() < limit
        time.sleep(0.5)
    alone = stack.run("audit", "export", name, "--archive-only")
    assert alone.code == 0 and "without outcomes" in alone.err and alone.out.startswith('{"data":')
    written = stack.json("audit", "export", name, "--out", "audit.jsonl")
    assert written["told"] and written["sealed_by"] == "olga" and written["kinds"]["target"] == 2
    asyncio.run(forget(stack.stack["address"], name))
    proof = stack.json("audit", "verify", "audit.jsonl", *signers)
    assert proof["holds"] and proof["sent"]["commit"] == 2 and proof["agreed"] == {"grace": 2}
    assert proof["told"] == {"migrated": 2} and proof["sealed"]["name"] == "olga"
    later = stack.json("audit", "export", name, "--out", "later.jsonl")
    assert not later["told"] and "outcome" not in later["kinds"]
    shown = stack.ok("audit", "verify", "later.jsonl", *signers)
    assert "it holds" in shown and "2 requests agreed to by grace" in shown
    roots = ("--roots", ".edgeshift/authority/roots.yaml")
    assert stack.json("audit", "verify", "later.jsonl", *roots)["holds"]

    changed = (stack.folder / "audit.jsonl").read_text().replace("shop-1.example", "shop-9.example", 1)
    stack.write("changed.jsonl", changed)
    ran = stack.run("audit", "verify", "changed.jsonl", *signers)
    assert ran.code == 1 and "it does not hold" in ran.out and "line " in ran.out
    stack.write("none.jsonl", "{}\n")
    for file in ("none.jsonl", "nowhere.jsonl"):
        assert file in stack.refused(2, "audit", "verify", file, *signers)
    assert "one of them" in stack.refused(2, "audit", "verify", "audit.jsonl")
    assert "nobody has signed the start" in stack.refused(5, "audit", "export", "nothing", "--archive-only")
    ran = stack.run("audit", "export", name, "--json")
    assert ran.code == 2 and "needs --out" in json.loads(ran.err)["message"]
