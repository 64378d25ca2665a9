"""The mutants are kept alive as the code changes: each still applies, and says what finds it."""

from __future__ import annotations

import pytest

from tests.harness.families.every import all_cases
from tests.harness.verdict import Verdict
from tests.mutants.catalogue import MUTANTS
from tests.mutants.mutant import Edit, mutant
from tests.mutants.playing import tried
from tests.mutants.trees import DoesNotApply, mutated


def test_every_edit_applies_once_and_compiles() -> None:
    """An edit whose text is gone is an error that names the mutant and the file."""
    for one in MUTANTS:
        for file, text in mutated(one).items():
            compile(text, f"{one.name}/{file}", "exec")


def test_every_mutant_has_a_name_of_its_own_and_cases_that_there_are() -> None:
    """At least as many as issue and rules ask for, each with a case that is to find it."""
    names = [one.name for one in MUTANTS]
    assert len(names) == len(set(names)) >= 18
    known = {case.id for case in all_cases()}
    for one in MUTANTS:
        assert one.cases, one.name
        assert set(one.cases) <= known, one.name
    assert {one.rule for one in MUTANTS} == set(range(1, 13))


def test_an_edit_that_does_not_apply_is_named() -> None:
    """So that whoever changes the code knows which mutant to look at."""
    old = mutant("old", "nothing", 1, [Edit("edgeshift/model/sign_off.py", "no such text\n", "")])
    with pytest.raises(DoesNotApply, match=r"mutant old: edgeshift/model/sign_off.py .* 0 times"):
        mutated(old)
    gone = mutant("gone", "nothing", 1, [Edit("edgeshift/gone.py", "a", "b")])
    with pytest.raises(DoesNotApply, match="mutant gone: there is no file"):
        mutated(gone)


def test_what_the_harness_says_of_itself_finds_no_mutant() -> None:
    """A crash and a case that does not end are trouble; complaints of checkers and oracles count."""
    texts = [
        "aimed/plain: RPCError: workflow execution already completed",
        "aimed/plain: did not end within 400 s ()",
    ]
    words = ["rule 1 (signed): z: nobody had signed it", "z ended as settled (): esc is on"]
    found = tried("aimed/plain", Verdict(complaints=[*texts, *words]), 1.0)
    assert found.complaints == words
    assert found.trouble == "; ".join(texts)
