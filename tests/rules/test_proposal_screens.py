"""The screen that people sign by: it fits every terminal, breaks no word, and shows only what is signed."""

from __future__ import annotations

import contextlib
import fcntl
import io
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from edgeshift.areas import waf
from edgeshift.areas.esc import body as esc_body
from edgeshift.areas.esc.features import Feature
from edgeshift.areas.esc.features import Kind as FactKind
from edgeshift.areas.esc.probe import Coverage, Difference, ProbeReport
from edgeshift.areas.esc.report import summary
from edgeshift.areas.evidence import EvidenceVerdict
from edgeshift.areas.waf.evidence import Evidence, Finding, Kind
from edgeshift.areas.waf.evidence_terms import ClientLine, RuleLine
from edgeshift.areas.waf.preview_part import WafShown
from edgeshift.cli.errors import CommandError, ExitCode
from edgeshift.cli.parts import MOST_LINES
from edgeshift.cli.proposals import show_proposal
from edgeshift.cli.shell import Shell
from edgeshift.cli.show import EVERYTHING, _json
from edgeshift.messages import Step, ZonePhase, ZoneState
from edgeshift.model.digests import canonical_bytes, digest, essence, fingerprint
from edgeshift.model.fleet import Area, Plan, Zone
from edgeshift.operations.errors import NotAsSigned
from edgeshift.operations.preview import Preview, preview_of
from edgeshift.operations.showing import NamedProposal
from edgeshift.stores.archive import Archive
from edgeshift.stores.documents import Proposal, Snapshot, put_document, put_proposal
from tests.rules.test_body_items import LOGIN, RULE, body, execute

AT = datetime(2026, 3, 1, tzinfo=UTC)
ZONE = Zone(id="a" * 32, name="maple-pottery.example", account="b" * 32, plan=Plan.ENTERPRISE)
SKIP = {
    "action": "skip",
    "expression": 'http.host eq "maple-pottery.example"',
    "action_parameters": {"ruleset": "current"},
}
SIGNED = body(
    SKIP,
    execute(
        expression=LOGIN,
        action_parameters={
            "id": waf.MANAGED_RULESET,
            "overrides": {"rules": [{"id": RULE, "action": "block"}]},
        },
    ),
)
EVIDENCE = Evidence(
    mode="shadow",
    verdict=EvidenceVerdict.FAIL,
    why="27 requests that only the new WAF stops; at most 0 agreed",
    events=90,
    requests=27,
    agreed=0,
    false_positives=27,
    gaps=0,
    rules=(RuleLine(waf="new", ruleset=waf.MANAGED_RULESET, rule=RULE, alike=5, alone=27),),
    findings=(
        Finding(
            kind=Kind.FALSE_POSITIVE,
            rule=RULE,
            path="/save",
            requests=27,
            clients=2,
            verdict=EvidenceVerdict.FAIL,
            samples=("DELETE maple-pottery.example/save",),
            top_clients=(
                ClientLine(network="198.51.100.0/24", requests=15),
                ClientLine(network="198.51.100.0/24", requests=12),
            ),
        ),
    ),
    names={RULE: "Anomaly:Header:User-Agent"},
)


def shell_of(width: int, *, colour: bool = False) -> Shell:
    """A command line on a terminal of this width."""
    shell = Shell()
    shell.console = Console(
        width=width,
        file=io.StringIO(),
        color_system="truecolor" if colour else None,
        force_terminal=colour,
        highlight=False,
    )
    return shell


def printed(shown: Preview, width: int, *, colour: bool = False, most: int = MOST_LINES) -> str:
    """What a terminal of this width shows before the sign-off, or with so many lines of a kind."""
    shell = shell_of(width, colour=colour)
    show_proposal(shell, shown, most=most)
    found: str = shell.console.file.getvalue()  # type: ignore[attr-defined]
    return found


async def waiting(archive: Archive, signed: dict[str, Any], **more: Any) -> ZoneState:
    """A zone of waf that waits with this body, which the archive has."""
    reading = waf.Reading(check={"compatible": True}, config=signed)
    return ZoneState(
        zone=ZONE,
        campaign="campaign/autumn",
        wave=0,
        attempt=1,
        phase=ZonePhase.AWAITING_SIGN_OFF,
        since=AT,
        step=Step.COMMIT,
        **{
            "digest": digest(signed),
            "fingerprint": fingerprint(signed, ZONE),
            "proposal": await put_proposal(archive, Proposal(body=signed)),
            "snapshot": await put_document(archive, Snapshot[waf.Reading](zone=ZONE, reading=reading)),
            "evidence": await put_document(archive, EVIDENCE),
            "evidence_verdict": EVIDENCE.verdict,
            **more,
        },
    )


@pytest.fixture
def archive(tmp_path: Path) -> Archive:
    return Archive(tmp_path.as_uri())


@pytest.mark.parametrize("width", [40, 80, 200])
async def test_a_sign_off_fits_every_terminal(archive: Archive, width: int) -> None:
    """No line is longer than the terminal, and every word of it is whole: names, networks, expressions."""
    shown = await preview_of(archive, await waiting(archive, SIGNED), Area.WAF)
    text = printed(shown, width)
    words = ["maple-pottery.example", "Anomaly:Header:User-Agent", "198.51.100.0/24", "/save,", '"/login"))']
    words += [RULE[:12], waf.MANAGED_RULESET[:12], "(starts_with(http.request.uri.path,"]
    assert not [word for word in words if word not in text], text
    assert max(map(len, text.splitlines())) <= width, text
    assert (digest(SIGNED) in text) is (width >= 80)
    assert text.count(digest(SIGNED)[:12]) == 1


async def test_every_rule_is_shown_with_its_evidence_by_name(archive: Archive) -> None:
    """What it does, where, what it overrides; the numbers of each rule of both WAFs; a network once."""
    text = printed(await preview_of(archive, await waiting(archive, SIGNED), Area.WAF), 200)
    assert "body: + 2 added" in text and f"on: {LOGIN}" in text
    assert f"rule Anomaly:Header:User-Agent ({RULE[:12]}…): action block" in text
    assert f"rule Anomaly:Header:User-Agent ({RULE[:12]}…) stopped 27 alone, 5 with the other WAF" in text
    # Under the finding that it belongs to.
    assert "\n    false positive: rule Anomaly" in text and "\n      most from 198.51.100.0/24 (27)\n" in text
    coloured = printed(await preview_of(archive, await waiting(archive, SIGNED), Area.WAF), 200, colour=True)
    assert "\x1b[1;31mfail\x1b[0m" in coloured
    # The evidence's verdict, and that of each finding.
    assert "\x1b[1;31mfalse positive: rule Anomaly:Header:User-Agent" in coloured


async def test_the_archive_answers_to_the_digest_on_the_screen(archive: Archive) -> None:
    """With the very bytes that it is the digest of."""
    shown = await preview_of(archive, await waiting(archive, SIGNED), Area.WAF)
    assert await archive.get_object(shown.digest) == canonical_bytes(essence(shown.body))


@pytest.mark.parametrize("what", ["body", "digest", "fingerprint", "gone"])
async def test_what_is_not_as_it_waits_is_not_shown(archive: Archive, what: str) -> None:
    """The digest is computed again from the body that would be shown: another body, digest or fingerprint,
    or no proposal at all, is refused with the zone's name.
    """
    other = await put_proposal(archive, Proposal(body=body(execute(enabled=False))))
    wrong = {
        "body": {"proposal": other},
        "digest": {"digest": "d" * 64},
        "fingerprint": {"fingerprint": "f" * 64},
        "gone": {"proposal": ""},
    }
    with pytest.raises(NotAsSigned, match=r"what zone maple-pottery\.example waits with") as refused:
        await preview_of(archive, await waiting(archive, SIGNED, **wrong[what]), Area.WAF)
    assert refused.value.hint


def much(shown: Preview) -> Preview:
    """The same proposal with more of everything than a sign-off shows."""
    [first] = EVIDENCE.findings
    seen = EVIDENCE.model_copy(
        update={
            "findings": tuple(
                first.model_copy(
                    update={"path": f"/path-{n}", "also": tuple(f"also-{rule}" for rule in range(9))}
                )
                for n in range(30)
            ),
            "rules": tuple(
                RuleLine(waf="new", ruleset=waf.MANAGED_RULESET, rule=f"stopped-{n}", alike=1, alone=1)
                for n in range(30)
            ),
        }
    )
    return replace(
        shown,
        evidence=seen,
        own=WafShown(only_log=tuple(f"logging-{n}" for n in range(30))),
        drifted=True,
        changes=tuple(f"drift-{n}" for n in range(30)),
        losses=tuple(f"loss-{n}" for n in range(30)),
        compare=tuple(f"compare-{n}" for n in range(30)),
        additions=tuple(f"addition-{n}" for n in range(30)),
        warnings=tuple(f"warning-{n}" for n in range(30)),
    )


KINDS = ("path", "stopped", "logging", "drift", "loss", "compare", "addition", "warning")
"""What each line of ``much`` is called, but for its number."""


async def test_a_sign_off_says_of_what_it_leaves_lines_out(archive: Archive) -> None:
    """How many there are, and the command that shows them all: never silently."""
    shown = much(await preview_of(archive, await waiting(archive, SIGNED), Area.WAF))
    text = printed(shown, 200)
    whole = "edgeshift show maple-pottery.example"
    assert f"only logs, as signed: … and 24 more: {whole}" in text
    assert f"… and 10 more: {whole}" in text and f"lost: … and 10 more: {whole}" in text
    assert f"and 24 more findings of a rule on a path: {whole}" in text
    assert f"and 24 more rules: {whole}" in text
    assert not [kind for kind in KINDS if f"{kind}-29" in text]


async def test_what_shows_all_leaves_no_line_out(archive: Archive) -> None:
    """``show`` has every line of every kind, and each rule that a finding names."""
    shown = much(await preview_of(archive, await waiting(archive, SIGNED), Area.WAF))
    text = printed(shown, 200, most=EVERYTHING)
    assert not [f"{kind}-{n}" for kind in KINDS for n in range(30) if f"{kind}-{n}" not in text]
    assert "also-8" in text and not [line for line in text.splitlines() if re.search(r"\d+ more\b", line)]


async def test_findings_that_nobody_has_are_not_said_to_be_anywhere(archive: Archive) -> None:
    """Evidence keeps the first ones and counts the others."""
    shown = await preview_of(archive, await waiting(archive, SIGNED), Area.WAF)
    cut = replace(shown, evidence=EVIDENCE.model_copy(update={"findings_left_out": 7}))
    text = " ".join(printed(cut, 200, most=EVERYTHING).split())
    assert "and 7 findings of a rule on a path that the evidence counts and does not keep" in text
    assert "more finding" not in text


async def test_a_probe_names_each_host_that_did_not_answer(archive: Archive) -> None:
    """Before a sign-off the first ones, and how many more; ``show`` has all. One past the edge answers."""
    shown = await preview_of(archive, await esc_waiting(archive, probe("200"), probe("200")), Area.ESC)
    hosts = tuple(f"host-{n}.example" for n in range(9))
    silent = Coverage(hosts_tried=(*hosts, "past.example"), hosts_unmarked=("past.example",))
    cut = replace(shown, evidence=probe("200").model_copy(update={"coverage": silent}))
    assert "host-5.example and 3 more" in " ".join(printed(cut, 200).split())
    text = printed(cut, 200, most=EVERYTHING)
    assert "host-8.example" in text and "more" not in text
    assert "answered without the mark of the edge (CF-Ray): past.example" in text


async def esc_waiting(archive: Archive, found: ProbeReport, agreed: ProbeReport) -> ZoneState:
    """A scope that waits with what one probe found, and shows another."""
    signed = esc_body(ZONE, summary(agreed))
    return await waiting(
        archive, signed, snapshot="", evidence=await put_document(archive, found), evidence_verdict=None
    )


def probe(after: str) -> ProbeReport:
    """A probe that found one redirect gone."""
    found = Difference(
        host=ZONE.name,
        path="/old",
        kind=FactKind.STATUS,
        what="",
        before="301",
        after=after,
        feature=Feature.REDIRECT_RULE,
    )
    return ProbeReport(differences=(found,), made_at=AT, rounds=3)


@pytest.mark.parametrize("width", [40, 80, 200])
async def test_a_probe_is_said_to_have_finished(archive: Archive, width: int) -> None:
    """Not to have passed: what it found is among what is signed."""
    shown = await preview_of(archive, await esc_waiting(archive, probe("200"), probe("200")), Area.ESC)
    text = printed(shown, width)
    flat = " ".join(text.split())
    assert "probe: finished, 1 difference" in flat and "answer: 301 → 200" in flat
    assert "replaced by: redirect rule" in flat and f"at: {ZONE.name}/old" in flat
    assert "pass" not in text and max(map(len, text.splitlines())) <= width


async def test_a_probe_that_found_something_else_is_not_shown(archive: Archive) -> None:
    """What is seen is what is signed."""
    with pytest.raises(NotAsSigned, match="did not find what its proposal says"):
        await preview_of(archive, await esc_waiting(archive, probe("404"), probe("200")), Area.ESC)


def test_words_keep_their_indent_and_no_more_than_some() -> None:
    """Also after a label, and where they go on in the next line; whoever writes them moves nothing far."""
    shell = shell_of(40)
    shell.tell("  most from 198.51.100.0/24 (27), 203.0.113.0/24 (3)", indent=4)
    shell.tell("  replaced by: redirect rule", lead="seen: ")
    shell.tell(" " * 60 + "far", indent=0)
    first, second, labelled, far = shell.console.file.getvalue().splitlines()  # type: ignore[attr-defined]
    assert first == "      most from 198.51.100.0/24 (27),"
    assert second == "        203.0.113.0/24 (3)"
    assert labelled == "  seen:   replaced by: redirect rule"
    assert far.strip() == "far" and len(far) < 20


PAGED = """
from edgeshift.cli.shell import Shell
shell = Shell()
with shell.paged():
    for number in range({lines}):
        shell.tell(f"line {{number}}", style="green")
print("asked")
"""


@pytest.mark.parametrize("lines", [5, 100])
def test_what_is_longer_than_the_terminal_can_be_paged(tmp_path: Path, lines: int) -> None:
    """All of it goes through the pager before anything is asked; what fits is printed as ever."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    kept = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES", "LESS")}
    running = subprocess.Popen(
        [sys.executable, "-c", PAGED.format(lines=lines)],
        env={**kept, "PAGER": "tee paged", "TERM": "xterm", "PYTHONPATH": os.getcwd()},
        cwd=tmp_path,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
    )
    os.close(theirs)
    seen = b""
    with contextlib.suppress(OSError):
        while data := os.read(ours, 4096):
            seen += data
    os.close(ours)
    assert running.wait(30) == 0, seen
    paged = tmp_path / "paged"
    assert paged.exists() is (lines == 100)
    assert all(f"line {number}".encode() in seen for number in range(lines))
    assert seen.rindex(b"asked") > seen.rindex(b"line ")
    if lines == 100:
        assert b"\x1b[32m" in paged.read_bytes()


def test_nobody_is_asked_about_what_is_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    """With --json what is signed is read on stderr, which --quiet silences: then no question is asked, and
    --yes goes on as it does anywhere.
    """
    monkeypatch.setattr(Shell, "interactive", True)
    monkeypatch.setattr("builtins.input", lambda: "y")
    silent = Shell(as_json=True, quiet=True)
    with pytest.raises(CommandError) as refused:
        silent.confirm("Approve 1 fingerprint?", yes=False)
    assert refused.value.code is ExitCode.BAD_INPUT and "leave --quiet out" in str(refused.value.hint)
    silent.confirm("Approve 1 fingerprint?", yes=True)
    for shell in (Shell(as_json=True), Shell(quiet=True)):
        shell.confirm("Approve 1 fingerprint?", yes=False)


async def test_the_document_of_a_proposal_has_all_that_the_screen_has(tmp_path: Path) -> None:
    """Also what is to be compared, since it may be lost."""
    archive = Archive(tmp_path / "archive")
    state = await waiting(archive, SIGNED)
    shown = replace(await preview_of(archive, state, Area.WAF), compare=("an override of one rule",))
    found = _json(NamedProposal("autumn", shown, state), shown.body, shown.digest, "")
    assert found["compare"] == ("an override of one rule",) and "an override of one rule" in printed(
        shown, 80
    )
