"""When calls are held, who may probe, and what people are told: by the rules alone."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import pairwise

import pytest

from edgeshift.rate_limit.breaker import Breaker, Fate
from edgeshift.rate_limit.circuit import (
    MOST_HELD,
    MOST_HELD_BYTES,
    Circuit,
    OpenCircuit,
    Trouble,
    closed,
    held,
    is_crowded,
    opened,
    probe,
    stops,
    to_fix,
)

MINUTE = 60.0
NOW = 1_000_000.0


def refused(credential: str = "env:A", at: float = NOW) -> OpenCircuit:
    return held(Trouble.REFUSED, "9109 Invalid access token", datetime.fromtimestamp(at, UTC), credential)


def outage(at: float = NOW) -> OpenCircuit:
    return held(Trouble.OUTAGE, "waf.check: 500", datetime.fromtimestamp(at, UTC))


class Watch:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_a_refused_credential_stops_its_own_calls_and_an_outage_all() -> None:
    """Another credential of the same user goes on."""
    circuit = opened(Circuit(), refused("env:A"), NOW, MINUTE)
    assert stops(circuit.holds.values(), "env:A")
    assert stops(circuit.holds.values(), "env:B") is None
    circuit = opened(circuit, outage(), NOW, MINUTE)
    assert stops(circuit.holds.values(), "env:B")


def test_one_probe_a_minute_is_handed_out_whoever_asks() -> None:
    """The first a minute after the hold, in turn over what is held; nobody probes what is not theirs."""
    circuit = opened(Circuit(), refused("env:A"), NOW, MINUTE)
    circuit = opened(circuit, refused("env:B"), NOW + 30, MINUTE)
    turns = []
    for second in range(600):
        circuit, hold = probe(circuit, NOW + second, MINUTE, ["env:A", "env:B", "env:C"])
        if hold:
            turns.append((second, hold.credential))
    assert [credential for _, credential in turns[:4]] == ["env:A", "env:B", "env:A", "env:B"]
    assert all(later - earlier >= MINUTE for (earlier, _), (later, _) in pairwise(turns))
    assert turns[0][0] >= MINUTE
    assert probe(circuit, NOW + 9_999, MINUTE, ["env:C"])[1] is None


def test_older_news_than_the_last_mending_does_not_count() -> None:
    """A word that was on its way when it was fixed holds nothing."""
    circuit = closed(opened(Circuit(), refused(), NOW, MINUTE), ["env:A"], NOW + 10)
    assert not opened(circuit, refused(at=NOW + 5), NOW + 11, MINUTE).holds
    assert opened(circuit, refused(at=NOW + 12), NOW + 12, MINUTE).holds


def crowd(circuit: Circuit, at: float, *, of: str = "", most: int = MOST_HELD) -> Circuit:
    """The state once so many credentials were named that nobody has."""
    for number in range(most):
        circuit = opened(circuit, refused(f"env:{of}{number}", at), at, MINUTE)
    return circuit


@pytest.mark.parametrize("later", [1, 86_400 * 365], ids=["a second", "a year"])
@pytest.mark.parametrize("ahead", [0, 86_400 * 3_650], ids=["dated now", "dated far ahead"])
def test_a_refused_credential_is_held_whatever_was_named_before(ahead: float, later: float) -> None:
    """Two hundred that nobody has keep it from being held neither soon nor for good: one of them gives way.
    It is probed as ever, and an outage needs no room.
    """
    circuit = Circuit()
    for number in range(MOST_HELD):
        circuit = opened(circuit, refused(f"env:X{number}", NOW + ahead), NOW, MINUTE)
    now = NOW + later
    assert is_crowded(circuit, refused("env:MINE", now)) and not is_crowded(circuit, outage(now))
    circuit = opened(circuit, refused("env:MINE", now), now, MINUTE)
    assert stops(circuit.holds.values(), "env:MINE") and len(circuit.holds) == MOST_HELD
    assert "env:X0" not in circuit.holds, "the one that was held longest ago gives way"
    circuit, hold = probe(circuit, now + MINUTE, MINUTE, ["env:MINE"])
    assert hold is not None and hold.credential == "env:MINE"
    assert "" in opened(circuit, outage(now), now, MINUTE).holds


def test_what_is_probed_outlasts_a_crowd_that_nobody_probes() -> None:
    """Hundreds that are named now and then take one another's place, for hours, and put off no probe; nothing
    is kept of those that are gone.
    """
    circuit = opened(Circuit(), refused("env:MINE"), NOW, MINUTE)
    for minute in range(1, 121, 10):
        now = NOW + minute * MINUTE
        circuit, hold = probe(circuit, now, MINUTE, ["env:MINE"])
        assert hold is not None
        circuit = crowd(circuit, now + (minute > 1), of=f"{minute}-", most=MOST_HELD + 10)
        assert "env:MINE" in circuit.holds and len(circuit.holds) == MOST_HELD
    assert set(circuit.probed) == {"env:MINE"}


def test_long_names_take_no_more_room_than_there_is_and_keep_none_from_being_held() -> None:
    """Those that were held longest ago go until the new one fits."""
    circuit = Circuit()
    for number in range(40):
        circuit = opened(circuit, refused(f"{number:04}" + "x" * 4_900, NOW + number), NOW + number, MINUTE)
    assert 15 < len(circuit.holds) < 25 and "0039" in {key[:4] for key in circuit.holds}
    circuit = opened(circuit, refused("env:" + "E" * 3_000, NOW + 99), NOW + 99, MINUTE)
    assert any(key.startswith("env:E") for key in circuit.holds)
    assert sum(len(hold.model_dump_json()) for hold in circuit.holds.values()) <= MOST_HELD_BYTES


def test_older_news_takes_nobodys_place() -> None:
    """What was fixed since, and what is held already."""
    circuit = closed(opened(Circuit(), refused("env:MINE"), NOW, MINUTE), ["env:MINE"], NOW + 10)
    circuit = crowd(circuit, NOW + 11)
    for hold in (refused("env:MINE", NOW + 5), refused("env:7", NOW + 12)):
        assert not is_crowded(circuit, hold)
        assert opened(circuit, hold, NOW + 12, MINUTE) == circuit


def test_an_answer_ends_an_outage_for_all_and_a_refusal_for_its_own() -> None:
    """Whoever is answered shows that the service is there."""
    circuit = opened(opened(Circuit(), outage(), NOW, MINUTE), refused("env:B"), NOW, MINUTE)
    assert set(closed(circuit, ["env:A"], NOW).holds) == {"env:B"}


def test_ten_failures_in_a_row_over_a_minute_are_an_outage_and_a_burst_is_none() -> None:
    """Neither many in a second, nor a few over an hour, nor any with an answer in between."""
    clock = Watch()
    burst = Breaker(MINUTE, clock)
    assert not any(burst.ended(Fate.FAILED, "500", "env:A") for _ in range(1_000))
    few = Breaker(MINUTE, clock)
    for _ in range(9):
        assert few.ended(Fate.FAILED, "500", "env:A") is None
        clock.now += 400
    mixed = Breaker(MINUTE, clock)
    for _ in range(50):
        clock.now += 10
        assert mixed.ended(Fate.FAILED, "500", "env:A") is None
        mixed.ended(Fate.ANSWERED, "", "env:A")
    steady = Breaker(MINUTE, clock)
    seen = []
    for _ in range(12):
        seen.append(steady.ended(Fate.FAILED, "waf.check: 500", "env:A"))
        clock.now += 10
    found = next(hold for hold in seen if hold)
    assert (seen.index(found), found.trouble) == (9, Trouble.OUTAGE)
    assert found.said == "10 calls failed in a row, the last: waf.check: 500"


def test_after_a_hold_calls_go_one_at_a_time_until_one_is_answered() -> None:
    """A second one waits for the fate of the first; a failure holds them again at once."""
    breaker = Breaker(MINUTE, Watch())
    assert breaker.ended(Fate.REFUSED, "9109", "env:A")
    assert breaker.stops("env:A") and not breaker.stops("env:B")
    breaker.learn([])
    assert breaker.may_go("env:A")
    breaker.goes("env:A")
    assert not breaker.may_go("env:A")
    assert breaker.may_go("env:B")
    assert breaker.ended(Fate.REFUSED, "9109", "env:A")
    breaker.learn([])
    breaker.goes("env:A")
    assert breaker.ended(Fate.ANSWERED, "", "env:A") is None
    breaker.goes("env:A")
    assert breaker.may_go("env:A")


def test_a_call_that_was_not_made_says_nothing() -> None:
    """The next one is tried instead."""
    breaker = Breaker(MINUTE, Watch())
    breaker.learn([outage()])
    breaker.learn([])
    breaker.goes("env:A")
    assert not breaker.may_go("env:B")
    assert breaker.ended(Fate.NOT_MADE, "", "env:A") is None
    assert breaker.may_go("env:B")
    breaker.goes("env:B")
    hold = breaker.ended(Fate.FAILED, "waf.check: 502", "env:B")
    assert hold is not None and hold.said == "waf.check: 502"


@pytest.mark.parametrize(
    ("hold", "said", "fix"),
    [
        (
            refused("env:EDGE_TOKEN"),
            "the service refuses the credential env:EDGE_TOKEN (9109 Invalid access token)",
            "start the worker again with a valid one in EDGE_TOKEN; the campaign then resumes by itself, or"
            " at once by `edgeshift doctor FILE` or `edgeshift resume waf-autumn`; meanwhile one call a"
            " minute is made",
        ),
        (
            refused("file:/run/edge-token"),
            "the service refuses the credential file:/run/edge-token (9109 Invalid access token)",
            "put a valid one into /run/edge-token, which is read again for each call; the campaign then"
            " resumes by itself, or at once by `edgeshift doctor FILE` or `edgeshift resume waf-autumn`;"
            " meanwhile one call a minute is made",
        ),
        (
            outage(),
            "the service does not answer as it should (waf.check: 500)",
            "no action needed: the campaign resumes when the service responds, or at once by `edgeshift"
            " resume waf-autumn`; meanwhile one call a minute is made",
        ),
    ],
    ids=["env", "file", "outage"],
)
def test_people_are_told_what_to_do(hold: OpenCircuit, said: str, fix: str) -> None:
    """What happened, what to do, and what happens by itself."""
    assert str(hold) == said
    assert to_fix(hold, "waf-autumn") == fix
