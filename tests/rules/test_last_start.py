"""Which start of a campaign's name is the last one. What was agreed to under the one before lets nothing more
through, whatever has become of the key that started it again.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from edgeshift.authority.last_start import dated_last, started_since, superseded_by
from edgeshift.authority.roots import PersonRoot, Role, Roots, RootsFile, ServiceRoot
from edgeshift.authority.signers import parsed
from edgeshift.authority.sshsig import PrivateKey
from edgeshift.authority.statements import Attested, StartStatement, attested
from edgeshift.model.fleet import Area

NOW = datetime(2026, 11, 29, 12, tzinfo=UTC)
ROLES = {"sam": Role.STARTER, "grace": Role.STARTER, "ada": Role.APPROVER}
KEYS = {name: PrivateKey.made() for name in ROLES}


def hours(number: float) -> datetime:
    """So many hours after noon."""
    return NOW + timedelta(hours=number)


def roots(*, revoked: str = "", ended: str = "", without: str = "") -> Roots:
    """Those of the workers. ``revoked``: whose key was; ``ended``: whose key served until 11:00; ``without``:
    whose line was taken out of the signers.
    """
    until = 'valid-before="202611291100Z" '
    lines = [
        f"{name} {until * (name == ended)}{key.public.line}" for name, key in KEYS.items() if name != without
    ]
    gone = KEYS[revoked].public.line if revoked else ""
    people = {name: PersonRoot(roles=frozenset({role})) for name, role in ROLES.items()}
    services = (ServiceRoot(base_url="any", credentials=("any",)),)
    file = RootsFile(signers="signers", people=people, services=services)
    return Roots(file, parsed("\n".join(lines), gone))


def start(
    by: str, issued: datetime, file: str = "a", *, stored: datetime | None = None, **more: Any
) -> Attested:
    """A start that somebody signed, and when the archive took it: where nothing is said, at once."""
    said: dict[str, Any] = {
        "service": "https://api.example.com/client/v4",
        "campaign": "autumn",
        "area": Area.WAF,
        "by": by,
        "issued": issued,
        "expires": issued + timedelta(days=366),
        "nonce": "0" * 32,
        "spec": file * 64,
        "targets": "b" * 64,
        "count": 0,
        "waves": (),
    }
    statement = StartStatement(**{**said, **more})
    found = attested(statement.model_dump(mode="json"), KEYS[by].sign(statement.bytes))
    return found.model_copy(update={"stored": stored or issued})


BEFORE = start("sam", hours(-3))
SINCE = start("grace", hours(-2), "c")


@pytest.mark.parametrize(
    ("known", "now"),
    [
        (roots(), NOW),
        (roots(revoked="grace"), NOW),
        (roots(ended="grace"), NOW),
        (roots(), NOW + timedelta(days=366)),
    ],
    ids=["its key serves", "revoked since", "its key has ended", "it has ended"],
)
def test_no_start_comes_alive_again_when_the_later_one_counts_no_more(known: Roots, now: datetime) -> None:
    """The later one counted when it was signed: whoever started it again meant other terms."""
    assert superseded_by(BEFORE, [SINCE, BEFORE], known, now) is SINCE
    why = started_since(BEFORE, [SINCE, BEFORE], known, now)
    assert why == "grace has started the campaign again since, by another file"


@pytest.mark.parametrize("known", [roots(), roots(revoked="grace")], ids=["its key serves", "revoked since"])
def test_whoever_starts_it_again_ends_that(known: Roots) -> None:
    """By whichever file, that of before among them."""
    again = start("sam", hours(-1))
    assert superseded_by(again, [again, SINCE, BEFORE], known, NOW) is None
    assert superseded_by(BEFORE, [again, SINCE, BEFORE], known, NOW) is again


@pytest.mark.parametrize(
    ("other", "known"),
    [
        (start("ada", hours(-2), "c"), roots()),
        (SINCE, roots(without="grace")),
        (start("grace", hours(-0.5), "c"), roots(ended="grace")),
        (start("grace", hours(1), "c"), roots(revoked="grace")),
        (start("grace", hours(-2), "c", expires=hours(-2)), roots(revoked="grace")),
    ],
    ids=["no starter's", "taken out of the signers", "after its key's end", "of the future", "never counted"],
)
def test_what_never_counted_supersedes_nothing(other: Attested, known: Roots) -> None:
    """Whoever has a stolen key ends no campaign for good: its line is taken out."""
    assert superseded_by(BEFORE, [other, BEFORE], known, NOW) is None


@pytest.mark.parametrize(
    "dated", [-4, -2, 0.05, 9], ids=["before it", "since", "a little ahead", "far ahead"]
)
def test_with_a_revoked_key_nobody_ends_a_start_that_is_signed_later(dated: float) -> None:
    """Whatever date a thief writes: it supersedes nothing that is signed after the archive took it."""
    forged = start("grace", hours(dated), "c", stored=hours(-2.5))
    again = start("sam", hours(-1))
    for now in (NOW, hours(10)):
        assert superseded_by(again, [forged, again, BEFORE], roots(revoked="grace"), now) is None


def test_one_by_a_clock_that_was_ahead_is_superseded_all_the_same() -> None:
    """Whoever started it again was dated after that, and so a little ahead as well (``dated_last``)."""
    ahead = start("sam", hours(-2.9), stored=hours(-3))
    since = start("grace", hours(-2.9) + timedelta(seconds=1), "c", stored=hours(-2.95))
    assert superseded_by(ahead, [since, ahead], roots(revoked="grace"), NOW) is since


def test_a_start_is_dated_after_one_of_a_key_that_was_revoked_just_now() -> None:
    """Workers may not have heard of that yet."""
    ahead = start("grace", NOW + timedelta(minutes=2), "c")
    dated = dated_last({"issued": NOW}, [ahead, BEFORE], roots(revoked="grace"))
    assert dated["issued"] == ahead.statement.issued + timedelta(seconds=1)
