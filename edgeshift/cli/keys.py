"""``edgeshift keys``: keys of people, and the roots that say whose they are and what each may sign."""

from __future__ import annotations

from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from edgeshift.authority.roots import Role
from edgeshift.cli.errors import CommandError, ExitCode, bad_input
from edgeshift.cli.options import AsJson, By, writing
from edgeshift.cli.shell import Shell, current, run
from edgeshift.model.counts import counted
from edgeshift.model.zone_names import is_identifier

if TYPE_CHECKING:
    from edgeshift.authority.roots import Roots
    from edgeshift.authority.signing import Signer
    from edgeshift.authority.sshsig import PublicKey

app = typer.Typer(help="Make keys, and say in the workers' roots whose they are.")

Person = Annotated[str, typer.Argument(metavar="NAME", help="A person, as decisions name them; or a worker.")]
RootsPath = Annotated[
    Path | None,
    typer.Option("--roots", metavar="FILE", help="The roots file. Default: the setting, or this stack's."),
]

LONGEST_KEY = 65_536
"""Bytes of a file that are looked at for a public key."""

_OTHERS = (
    "With a passphrase:   ssh-keygen -t ed25519 -f {path}",
    "On a hardware key:   ssh-keygen -t ed25519-sk -f {path}",
)


@app.command()
def make(
    name: Person,
    file: Annotated[
        Path | None,
        typer.Option(metavar="PATH", help="Where to write it. Default: your configuration folder."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Make an Ed25519 key without a passphrase, for a person or a worker; PATH.pub goes into the roots."""
    from edgeshift.authority.signers import BadSigners, checked_name
    from edgeshift.authority.sshsig import PrivateKey
    from edgeshift.cli.receipts import KeyMade

    try:
        checked_name(name)
    except BadSigners as why:
        raise bad_input(str(why), "write the name that EDGESHIFT_USER or --by has") from None
    path = _home("--file", file) if file else _usual_place(name)
    public = path.with_name(f"{path.name}.pub")
    for one in (path, public):
        if one.exists() or one.is_symlink():
            raise CommandError(
                f"{one} is there already; a key is never overwritten",
                ExitCode.REFUSED,
                hint="use that key, or name another --file",
            )
    key = PrivateKey.made()
    with writing("--file", path):
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        _create(path, key.text, 0o600)
        _create(public, f"{key.public.line} {name}\n", 0o644)
    shell = current()
    shell.answer(
        KeyMade(name=name, key=key.public.id, private=str(path), public=str(public)),
        f"Key {key.public.id} of {name}: {path}",
    )
    named = quote(name) if quote(name) != name else f"'{name}'"
    shell.advise(
        f"Sign with it:        export EDGESHIFT_AUTHORITY_KEY={quote(str(path))}",
        f"Into the roots:      edgeshift keys add {named} --key {quote(str(public))} --role approver",
        f"For a worker:        --role worker, and EDGESHIFT_AUTHORITY_WORKER_KEY={quote(str(path))}",
        "It has no passphrase: whoever reads the file can sign. Better in production, instead of it:",
        *("  " + line.format(path=quote(str(path))) for line in _OTHERS),
    )


@app.command("list")
def list_(roots: RootsPath = None, as_json: AsJson = False) -> None:
    """Show who may do what, with which keys; the least policy; and which services may be sent credentials."""
    shell = current()
    path = _roots_file(shell, roots)
    found = _load(path)
    if as_json:
        shell.print_json(_as_json(path, found))
        return
    _show(shell, path, found)


@app.command()
def add(
    name: Person,
    key: Annotated[Path, typer.Option(metavar="FILE.pub", help="Their public key.")],
    role: Annotated[
        list[Role] | None, typer.Option(help="What they may do; may be repeated.", show_default=False)
    ] = None,
    account: Annotated[
        list[str] | None,
        typer.Option(help="Only zones of this account; may be repeated.", show_default=False),
    ] = None,
    roots: RootsPath = None,
    as_json: AsJson = False,
) -> None:
    """Let a person sign with a key: it goes to the allowed signers, their roles to the roots."""
    from edgeshift.authority.editing import NotAdded, RootsEditor
    from edgeshift.cli.receipts import KeyAdded

    shell = current()
    if odd := [one for one in account or [] if not is_identifier(one)]:
        hint = "an identifier is 32 digits and letters from a to f; the service's pages show an account's"
        raise bad_input(f"--account {odd[0]} is no account's identifier", hint)
    path, public = _roots_file(shell, roots), _public(key)
    try:
        changed = RootsEditor(path).add(name, public, role or [], account or [])
    except NotAdded as why:
        raise _refused(why) from None
    now = _load(path).file.people[name]
    roles = ", ".join(sorted(now.roles))
    limited = f", for zones of {', '.join(now.accounts)} alone" if now.accounts else ""
    said = f"{name} signs with {public.id} as {roles}" if changed else f"{name} has this key and these roles"
    receipt = KeyAdded(
        name=name,
        key=public.id,
        roles=sorted(now.roles),
        accounts=list(now.accounts),
        roots=str(path),
        changed=changed,
    )
    shell.answer(receipt, f"{said}{limited} ({path})")
    if changed:
        shell.advise("It counts from the next check on; every worker needs the same roots.")


@app.command()
def revoke(
    who: Annotated[str, typer.Argument(metavar="NAME|SHA256:HASH", help="All keys of a person, or one key.")],
    roots: RootsPath = None,
    as_json: AsJson = False,
) -> None:
    """Let a key, or all keys of a person, let nothing go on any more. What they approved or resumed counts no
    more; what they paused, aborted or rejected stays so.
    """
    from edgeshift.authority.editing import NotAdded, RootsEditor
    from edgeshift.cli.receipts import KeysRevoked

    shell = current()
    path = _roots_file(shell, roots)
    try:
        gone = RootsEditor(path).revoke(who)
    except NotAdded as why:
        raise CommandError(str(why), ExitCode.NOTHING, hint="`edgeshift keys list` shows them") from None
    receipt = KeysRevoked(who=who, keys=[key.id for key in gone], roots=str(path))
    if not gone:
        shell.answer(receipt, f"{who} was revoked already ({path})")
        return
    shell.answer(receipt, *(f"Revoked: {key.id} ({path})" for key in gone))
    shell.advise(
        "Do the same for the roots of every worker; `edgeshift doctor` shows whether they agree.",
        "What these keys stopped stays stopped: `edgeshift resume`, `reopen` or `start FILE --again` ends it;"
        " what they resumed or reopened counts no more.",
    )


@app.command()
def test(
    roots: RootsPath = None,
    by: By = "",
    as_json: AsJson = False,
) -> None:
    """Sign something with your key, and say whose it is by the roots and what they may do. Exit 6 if nothing
    that it signs would count.
    """
    shell = current()
    path = _roots_file(shell, roots)
    signer = shell.signer(by)
    # A stack makes a key and a place in its roots for whoever has none.
    found = _load(path)
    if signer is None:
        raise CommandError(
            "there is no key to sign with",
            ExitCode.BAD_INPUT,
            hint="set EDGESHIFT_AUTHORITY_KEY; `edgeshift keys make` makes a key",
        )
    key = run(_tried(signer))
    why = _would_not_count(found, key, by)
    person_ = found.file.people.get(by)
    roles = sorted(person_.roles) if person_ and not why else []
    if as_json:
        shell.print_json(
            {
                "by": by,
                "key": key.id,
                "counts": not why,
                "why": why or "",
                "roles": roles,
                "accounts": list(person_.accounts) if person_ and not why else [],
                "roots": str(path),
            }
        )
        if why:
            raise typer.Exit(ExitCode.REFUSED)
        return
    if why:
        raise CommandError(
            f"key {key.id} signs, and what it signs for {by} does not count: {why}",
            ExitCode.REFUSED,
            hint="`edgeshift keys list` shows whose keys count; --by names another person",
        )
    where = f" (accounts {', '.join(person_.accounts)})" if person_ and person_.accounts else ""
    shell.console.print(
        f"Key {key.id} signs for {by}: {', '.join(roles)}{where}", markup=False, soft_wrap=True
    )


async def _tried(signer: Signer) -> PublicKey:
    """The key that signs, tried out: what is signed is of no kind that counts anywhere."""
    import secrets

    from edgeshift.authority.sshsig import verify
    from edgeshift.model.digests import canonical_bytes

    message = canonical_bytes({"edgeshift": 1, "kind": "test", "nonce": secrets.token_hex(16)})
    return verify(message, await signer.sign(message))


def _would_not_count(roots: Roots, key: PublicKey, name: str) -> str | None:
    from datetime import UTC, datetime

    if why := roots.signers.may_sign(key, name, datetime.now(UTC)):
        owners = sorted(
            {n for allowed in roots.signers.keys if allowed.key.blob == key.blob for n in allowed.names}
        )
        return f"{why}, but {', '.join(owners)}'s" if owners and name not in owners else why
    return None if name in roots.file.people else f"{name} has no role"


def _as_json(path: Path, roots: Roots) -> dict[str, object]:
    return {
        "roots": str(path),
        "digest": roots.digest,
        "people": [
            {
                "name": name,
                "roles": sorted(found.roles),
                "accounts": list(found.accounts),
                "keys": [
                    {
                        "id": allowed.key.id,
                        "kind": allowed.key.kind,
                        "valid_after": allowed.after.isoformat() if allowed.after else None,
                        "valid_before": allowed.before.isoformat() if allowed.before else None,
                        "revoked": allowed.key.id in roots.signers.revoked,
                    }
                    for allowed in roots.signers.keys
                    if name in allowed.names
                ],
            }
            for name, found in sorted(roots.file.people.items())
        ],
        "without_role": sorted(roots.signers.names - set(roots.file.people)),
        "policy": roots.file.policy,
        "services": roots.file.services,
        "most_commits_an_hour": roots.file.most_commits_an_hour,
        "most_commits_a_wave": roots.file.most_commits_a_wave,
        "most_commits_a_campaign": roots.file.most_commits_a_campaign,
    }


def _show(shell: Shell, path: Path, roots: Roots) -> None:
    def say(*parts: str | tuple[str, str]) -> None:
        shell.console.print(Text.assemble(*parts), soft_wrap=True)

    say((f"Roots {roots.digest[:12]}", "bold"), f"  {path}")
    for name, found in sorted(roots.file.people.items()):
        only = f"  accounts {', '.join(found.accounts)}" if found.accounts else ""
        say((name, "bold"), f"  {', '.join(sorted(found.roles))}{only}")
        for allowed in roots.signers.keys:
            if name not in allowed.names:
                continue
            limits = [
                *([f"from {allowed.after:%Y-%m-%d %H:%M} UTC"] if allowed.after else []),
                *([f"until {allowed.before:%Y-%m-%d %H:%M} UTC"] if allowed.before else []),
                *(["revoked"] if allowed.key.id in roots.signers.revoked else []),
            ]
            say(f"  {allowed.key.id}  {allowed.key.kind}", *(f"  {limit}" for limit in limits))
    if without := sorted(roots.signers.names - set(roots.file.people)):
        say(f"with a key and no role: {', '.join(without)}")
    policy = roots.file.policy
    eyes = ", whoever starts does not approve" if policy.four_eyes else ""
    proof = "signed" if policy.proof == "signed" else "named: no signature is asked for"
    say(("Least policy", "bold"), f"  {counted(policy.required, 'approval')}{eyes}; {proof}")
    for of, most in roots.file.most_commits.items():
        say(f"  at most {counted(most, 'commit')} {'an' if of == 'hour' else 'a'} {of}")
    if roots.file.most_commits_an_hour is None:
        say("  any number of commits an hour: set most_commits_an_hour (docs/authority.md recommends 200)")
    for service in roots.file.services:
        say(("Service", "bold"), f"  {service.base_url}  credentials {', '.join(service.credentials)}")
        for label, some in (
            ("proxies", service.proxies),
            ("webhooks", service.webhooks),
            ("probes", service.probes),
        ):
            if some:
                say(f"  {label} {', '.join(some)}")


def _roots_file(shell: Shell, given: Path | None) -> Path:
    path = _home("--roots", given) if given else shell.roots_file()
    if path is None:
        shell.check_stack()
        raise bad_input(
            "there are no roots: no --roots, no EDGESHIFT_AUTHORITY_ROOTS, and no stack runs in this folder",
            "name the workers' roots file; docs/authority.md shows one to begin with",
        )
    return path


def _home(option: str, path: Path) -> Path:
    """The path with ``~`` as somebody's folder."""
    try:
        return path.expanduser()
    except RuntimeError:
        raise bad_input(f"{option} {path}: there is no such user here", "write the whole path") from None


def _load(path: Path) -> Roots:
    from edgeshift.authority.loading import load_roots

    return load_roots(path)


def _public(path: Path) -> PublicKey:
    from edgeshift.authority.sshsig import BadKey, PublicKey

    hint = "name the file that ends in .pub: ssh-keygen -y -f KEY prints it, too"
    try:
        with _home("--key", path).open("rb") as file:
            words = file.read(LONGEST_KEY).decode(errors="replace").split()
    except OSError as problem:
        raise bad_input(f"--key {path}: {problem.strerror or problem}", hint) from None
    try:
        return PublicKey.parsed(*words[:2])
    except (BadKey, TypeError) as why:
        said = str(why) if isinstance(why, BadKey) else "what is no public key"
        raise bad_input(f"{path}: it has {said}", hint) from None


def _usual_place(name: str) -> Path:
    from urllib.parse import quote

    import platformdirs

    return platformdirs.user_config_path("edgeshift") / "keys" / quote(name, safe="@ ")


def _create(path: Path, text: str, mode: int) -> None:
    import os

    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    with os.fdopen(descriptor, "w") as file:
        file.write(text)


def _refused(why: Exception) -> CommandError:
    return CommandError(str(why), ExitCode.REFUSED, hint="`edgeshift keys list` shows who has which key")
