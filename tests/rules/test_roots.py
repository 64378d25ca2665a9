"""Roots from their files: what they have to say, who may write them, and that a change of them counts at
once.
"""

from __future__ import annotations

import os
from concurrent.futures import ProcessPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

import pytest
from ruamel.yaml import YAML

from edgeshift.authority import loading
from edgeshift.authority.editing import NotAdded, RootsEditor
from edgeshift.authority.keyring import WORKER, Keyring
from edgeshift.authority.loading import RootsError, RootsFiles, load_roots, roots_from
from edgeshift.authority.roots import Role
from edgeshift.authority.signers import line_of, parsed
from edgeshift.authority.signing import SigningFailed
from edgeshift.authority.sshsig import PrivateKey
from edgeshift.authority.worker_pen import worker_pen

NOW = datetime(2026, 6, 1, tzinfo=UTC)
ADA, GRACE = PrivateKey.made(), PrivateKey.made()

ROOTS = """\
# Who may sign. Ask the platform team before you change it.
signers: allowed_signers   # one line a key
people:
  ada: {roles: [approver]}  # security
  Grace Hopper:
    roles:
      - starter   # since March
      - operator
services:
  - base_url: https://api.example.com/client/v4
    credentials: ["file:/etc/edgeshift/token"]
"""


@pytest.fixture
def roots(tmp_path: Path) -> Path:
    """A roots file with two people."""
    (tmp_path / "allowed_signers").write_text(
        f"# security\n{line_of('ada', ADA.public.line)}\n{line_of('Grace Hopper', GRACE.public.line)}"
    )
    path = tmp_path / "roots.yaml"
    path.write_text(ROOTS)
    return path


def may(path: Path, key: PrivateKey, name: str) -> bool:
    """Whether a key signs for a person."""
    return load_roots(path).signers.may_sign(key.public, name, NOW) is None


def test_roots_say_whose_keys_count(roots: Path) -> None:
    """Names with spaces, too, and a last line without an end."""
    assert (
        may(roots, ADA, "ada") and may(roots, GRACE, "Grace Hopper") and not may(roots, ADA, "Grace Hopper")
    )
    assert load_roots(roots).signed


@pytest.mark.parametrize(
    ("was", "now", "said"),
    [
        ("signers:", "signer:", "signers: it must be given, such as `signers: allowed_signers`"),
        ("[approver]", "[aprover]", "people.ada.roles"),
        ("[approver]", "[]", "people.ada.roles"),
        ("  ada:", "  eve:", "eve has no key in allowed_signers"),
        ("allowed_signers ", "nowhere ", "nowhere: it cannot be read: No such file"),
        ("services:", "servces:", "services|servces"),
        ("  - base_url", "  base_url", "not YAML|services"),
        ("people:", "people: [", "not YAML"),
        ("people:", "policy: {required: 0}\npeople:", "policy.required"),
        ("people:", "policy: {proof: none}\npeople:", "policy.proof"),
        ("people:", "most_commits_an_hour: 0\npeople:", "most_commits_an_hour"),
        ("people:", "most_commits_a_wave: many\npeople:", "most_commits_a_wave"),
        ("people:", "most_commits_a_campaign: -1\npeople:", "most_commits_a_campaign"),
        ("people:", "people: {}\npeople:", "not YAML"),
    ],
)
def test_a_mistake_in_roots_is_named(roots: Path, was: str, now: str, said: str) -> None:
    """With the file and the place; then nothing counts."""
    roots.write_text(ROOTS.replace(was, now, 1))
    with pytest.raises(RootsError, match=said) as found:
        load_roots(roots)
    assert str(roots.parent) in str(found.value)


HEAD = "signers: allowed_signers\nservices: []\n"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            f"{HEAD}people:\n  ada: {{roles: [approver]}}\n  ada: {{roles: [operator]}}\n",
            ":5:3: not YAML: ada is given twice",
        ),
        (f"{HEAD}people: {{\n  ada: [approver\n", ":5:1: not YAML: a [ or { is not closed"),
        (f"{HEAD}most_commits_an_hour: !!int ''\n", ": not YAML: a value in it cannot be read"),
        (f"{HEAD}people: {'[' * 500}\n", ": not YAML: it is nested too deeply"),
    ],
    ids=["twice", "open", "empty", "deep"],
)
def test_what_is_no_yaml_is_told_with_its_place(text: str, said: str, tmp_path: Path) -> None:
    """And with its cause: whoever revokes a key in a hurry has to find it."""
    with pytest.raises(RootsError) as found:
        roots_from(tmp_path / "roots.yaml", text, lambda name, what: "")
    assert f"{tmp_path / 'roots.yaml'}{said}" in str(found.value)


@pytest.mark.parametrize("name", ["roots.yaml", "allowed_signers"])
def test_files_that_others_may_write_are_refused(roots: Path, name: str) -> None:
    """Whoever can write them could sign for everybody. The error says what to do."""
    for mode in (0o666, 0o664, 0o622):
        (roots.parent / name).chmod(mode)
        with pytest.raises(RootsError, match=rf"{name}: others may write it \(mode {mode:o}\); chmod go-w"):
            load_roots(roots)
        (roots.parent / name).chmod(0o644)
    assert may(roots, ADA, "ada")


def test_a_folder_that_others_may_write_is_refused(roots: Path) -> None:
    """They could put another file in the place of it; not into a sticky one, such as that of a mounted
    secret.
    """
    roots.parent.chmod(0o777)
    with pytest.raises(RootsError, match="others may write it"):
        load_roots(roots)
    roots.parent.chmod(0o1777)
    assert may(roots, ADA, "ada")
    roots.parent.chmod(0o700)


def test_a_link_into_a_folder_that_others_may_write_is_refused(roots: Path, tmp_path: Path) -> None:
    """They could put another file where it leads to, straight or by another link; one as a mounted secret has
    it is read.
    """
    folders = [tmp_path / name for name in ("theirs", "between", "mounted")]
    for folder in folders:
        folder.mkdir(mode=0o755)
        folder.chmod(0o755)
    theirs, between, mounted = folders
    for name in ("roots.yaml", "allowed_signers"):
        (roots.parent / name).rename(theirs / name)
        (between / name).symlink_to(theirs / name)
        (mounted / name).symlink_to(between / name)
    link = mounted / "roots.yaml"
    assert may(link, ADA, "ada")
    for folder in (theirs, between):
        folder.chmod(0o777)
        with pytest.raises(RootsError, match=f"{folder.name}: others may write it"):
            load_roots(link)
        folder.chmod(0o755)
    mounted.chmod(0o1777)
    assert may(link, ADA, "ada")


@pytest.mark.parametrize("name", ["roots.yaml", "allowed_signers", "."])
def test_what_belongs_to_somebody_else_is_refused_to_a_worker(
    roots: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever it belongs to may write it; root's are everybody's. People read it whosever it is, and change
    it where they may: a worker's user has it, and another brings it out.
    """
    of = roots.parent / name
    me, there = os.geteuid(), of.stat()
    if me == 0:
        os.chown(of, 4_241, -1)
    owner, files = of.stat().st_uid, RootsFiles(roots, owned=True)
    monkeypatch.setattr(os, "geteuid", lambda: 4_242)
    said = rf"others may write it \(it is user {owner}'s\); chown it to root, or to 4242"
    with pytest.raises(RootsError, match=said):
        load_roots(roots, owned=True)
    with pytest.raises(RootsError, match=said):
        files.current()
    assert may(roots, ADA, "ada") and RootsFiles(roots).current().signed
    assert RootsEditor(roots).add("ada", ADA.public, ["operator"])
    monkeypatch.setattr(os, "geteuid", lambda: owner)
    if me == 0:
        os.chown(of, there.st_uid, -1)
    assert files.current().signed


@pytest.mark.parametrize("kind", ["folder", "binary", "large", "none"])
def test_a_file_that_cannot_be_read_is_named(roots: Path, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder in its place, no text, too much of it, nothing there."""
    roots.unlink()
    if kind == "folder":
        roots.mkdir()
    elif kind == "binary":
        roots.write_bytes(b"\xff\xfe\x00")
    elif kind == "large":
        monkeypatch.setattr(loading, "LARGEST", 100)
        roots.write_text(ROOTS)
    with pytest.raises(RootsError, match=str(roots)):
        load_roots(roots)


def test_a_change_of_any_file_counts_at_once(roots: Path) -> None:
    """A person is added, a key revoked, the roots broken, and mended again."""
    files = RootsFiles(roots)
    before = files.current()
    assert files.current() is before
    new = PrivateKey.made()
    RootsEditor(roots).add("eve", new.public, [Role.APPROVER])
    assert "eve" in files.current().file.people
    RootsEditor(roots).revoke(ADA.public.id)
    assert files.current().signers.may_sign(ADA.public, "ada", NOW) == f"key {ADA.public.id} was revoked"
    RootsEditor(roots).revoke(new.public.id)
    assert "was revoked" in str(files.current().signers.may_sign(new.public, "eve", NOW))
    text = roots.read_text()
    roots.write_text("people: [")
    with pytest.raises(RootsError):
        files.current()
    with pytest.raises(RootsError):
        files.current()
    roots.write_text(text)
    assert "eve" in files.current().file.people
    (roots.parent / "revoked_keys").unlink()
    with pytest.raises(RootsError, match="revoked_keys"):
        files.current()


def test_a_revocation_while_roots_are_being_read_is_not_missed(
    roots: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is written just after a file was read is seen at the next look."""
    RootsEditor(roots).revoke("Grace Hopper")
    files, parse = RootsFiles(roots), parsed

    def slowly(signers: str, revoked: str = "") -> object:
        monkeypatch.setattr(loading, "parsed", parse)
        with (roots.parent / "revoked_keys").open("a") as file:
            file.write(ADA.public.line + "\n")
        return parse(signers, revoked)

    monkeypatch.setattr(loading, "parsed", slowly)
    files.current()
    assert "was revoked" in str(files.current().signers.may_sign(ADA.public, "ada", NOW))


def test_workers_with_equal_roots_have_equal_digests(roots: Path) -> None:
    """Comments make no difference; a role, a key or a revocation does."""
    first = load_roots(roots).digest
    roots.write_text("# changed\n" + ROOTS)
    assert load_roots(roots).digest == first
    seen = {first}
    RootsEditor(roots).add("ada", ADA.public, [Role.OPERATOR])
    seen.add(load_roots(roots).digest)
    RootsEditor(roots).add("ada", PrivateKey.made().public, [])
    seen.add(load_roots(roots).digest)
    RootsEditor(roots).revoke(ADA.public.id)
    seen.add(load_roots(roots).digest)
    assert len(seen) == 4


def test_adding_somebody_keeps_what_people_wrote(roots: Path) -> None:
    """Comments, order and mode of the file stay."""
    roots.chmod(0o640)
    new = PrivateKey.made()
    assert RootsEditor(roots).add("Ada B", new.public, [Role.APPROVER, Role.STARTER], ["a" * 32])
    text = roots.read_text()
    for line in ROOTS.splitlines():
        assert " ".join(line.split()) in [" ".join(found.split()) for found in text.splitlines()], line
    assert roots.stat().st_mode & 0o777 == 0o640
    found = load_roots(roots).file.people["Ada B"]
    assert found.roles == {Role.APPROVER, Role.STARTER} and found.accounts == ("a" * 32,)
    assert may(roots, new, "Ada B") and may(roots, GRACE, "Grace Hopper")
    assert not RootsEditor(roots).add("Ada B", new.public, [Role.APPROVER])
    assert sorted(path.name for path in roots.parent.iterdir()) == ["allowed_signers", "roots.yaml"]


def test_a_key_belongs_to_one_person(roots: Path) -> None:
    """Two people with one key would be counted as one, whoever signed."""
    before = roots.read_text(), (roots.parent / "allowed_signers").read_text()
    with pytest.raises(NotAdded, match="is ada's already"):
        RootsEditor(roots).add("eve", ADA.public, [Role.APPROVER])
    with pytest.raises(NotAdded, match="eve has no role yet"):
        RootsEditor(roots).add("eve", PrivateKey.made().public, [])
    with pytest.raises(NotAdded, match="no name for a key"):
        RootsEditor(roots).add("eve,ada", PrivateKey.made().public, [Role.APPROVER])
    assert before == (roots.read_text(), (roots.parent / "allowed_signers").read_text())


def test_a_revoked_key_is_not_added_again(roots: Path) -> None:
    """Neither to its owner nor to anybody else; revoking it twice changes nothing."""
    assert [key.id for key in RootsEditor(roots).revoke("ada")] == [ADA.public.id]
    assert RootsEditor(roots).revoke("ada") == ()
    with pytest.raises(NotAdded, match="was revoked"):
        RootsEditor(roots).add("ada", ADA.public, [Role.OPERATOR])
    with pytest.raises(NotAdded, match="neither a person with a key nor a key"):
        RootsEditor(roots).revoke("mallory")


def test_a_file_that_lies_there_by_chance_is_kept_when_the_first_key_is_revoked(roots: Path) -> None:
    """It has keys that somebody revoked without naming the file."""
    (roots.parent / "revoked_keys").write_text(GRACE.public.line)
    RootsEditor(roots).revoke("ada")
    assert load_roots(roots).signers.revoked == {ADA.public.id, GRACE.public.id}


def _signs(folder: Path, name: str) -> str:
    return Keyring(folder).signer(name).key.id


def test_many_commands_may_make_keys_of_a_rehearsal_at_once(tmp_path: Path) -> None:
    """Each person has one key, whoever asks first, and everybody is in the roots."""
    folder = tmp_path / "authority"
    Keyring(folder).make()
    names = [f"person {number % 6}" for number in range(30)]
    with ProcessPoolExecutor(6) as pool:
        ids = list(pool.map(_signs, [folder] * len(names), names))
    by_name: dict[str, set[str]] = {}
    for name, key in zip(names, ids, strict=True):
        by_name.setdefault(name, set()).add(key)
    assert all(len(keys) == 1 for keys in by_name.values())
    roots = load_roots(folder / "roots.yaml")
    assert set(roots.file.people) == set(by_name) == roots.signers.names
    assert len(roots.signers.keys) == 6
    assert all(path.stat().st_mode & 0o077 == 0 for path in folder.rglob("*"))


@pytest.mark.parametrize("name", ["a,b", "*", "#x", 'a"b'])
def test_a_name_that_is_none_does_not_break_a_rehearsal(tmp_path: Path, name: str) -> None:
    """It is refused, and everybody else signs as before."""
    ring = Keyring(tmp_path / "authority")
    ring.make()
    ada = ring.signer("ada").key
    with pytest.raises(SigningFailed, match="no name for a key"):
        ring.signer(name)
    assert load_roots(ring.roots).signers.may_sign(ada, "ada", NOW) is None


def test_a_key_whose_owner_was_never_admitted_is_not_left_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A command that dies in between leaves nothing that would sign for nobody."""
    ring = Keyring(tmp_path / "authority")
    ring.make()

    def dies(*_: object) -> bool:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(RootsEditor, "add", dies)
        with pytest.raises(KeyboardInterrupt):
            ring.signer("ada")
    key = ring.signer("ada").key
    assert load_roots(ring.roots).signers.may_sign(key, "ada", NOW) is None


def test_the_roots_of_a_rehearsal_are_for_this_machine_alone(tmp_path: Path) -> None:
    """Its folder, too, is its owner's alone."""
    ring = Keyring(tmp_path / "authority")
    ring.make()
    assert [service.base_url for service in load_roots(ring.roots).file.services] == ["loopback"]
    assert ring.folder.stat().st_mode & 0o777 == 0o700
    assert YAML(typ="safe").load(ring.roots)["people"] == {}
    assert os.stat(ring.roots).st_mode & 0o777 == 0o600


def test_a_worker_with_roots_needs_a_key_that_they_know(tmp_path: Path) -> None:
    """In the role of a worker; else it says what to do. Where names count, none is needed."""
    ring = Keyring(tmp_path / "authority")
    ring.make()
    key = ring.worker()
    found = load_roots(ring.roots)
    pen = worker_pen(key, found)
    assert pen is not None and pen.name == WORKER and found.file.people[WORKER].roles == {Role.WORKER}
    assert worker_pen(None, None) is None
    with pytest.raises(RootsError, match="no key to sign its results with: `edgeshift keys make"):
        worker_pen(None, found)
    ring.signer("ada")
    with pytest.raises(RootsError, match="the roots know no worker with the key"):
        worker_pen(ring.keys / "ada", load_roots(ring.roots))
    with pytest.raises(RootsError, match="cannot be read"):
        worker_pen(tmp_path / "nowhere", found)
    RootsEditor(ring.roots).revoke(WORKER)
    with pytest.raises(RootsError, match="the roots know no worker"):
        worker_pen(key, load_roots(ring.roots))
    ring.roots.write_text(ring.roots.read_text() + "policy: {proof: named}\n")
    assert worker_pen(None, load_roots(ring.roots)) is None
