"""Mutants of what is believed of those who tell what became of a zone (docs/authority.md)."""

from __future__ import annotations

from tests.mutants.mutant import Edit, mutant

TOLD = (
    mutant(
        "outcome-by-word",
        "a word that a zone has ended counts, whoever has said it",
        11,
        [
            Edit(
                "workflows/campaign/state.py",
                'workflow.patched("ends-are-proven")',
                'workflow.patched("ends-are-proven") and False',
            )
        ],
        "migrated-by-a-word",
    ),
    mutant(
        "outcome-without-a-result",
        "what a zone's workflow ended with counts, though no worker has signed it",
        11,
        [
            Edit(
                "activities/looks.py",
                "if told in CLAIMS and await on_record(",
                "if told in CLAIMS or await on_record(",
            ),
            Edit("activities/comparing.py", "known = not signed or await", "known = bool(told) or await"),
        ],
        "answered-without-a-call",
    ),
    mutant(
        "result-of-anybody",
        "a result counts, whoever has signed it",
        11,
        [
            Edit(
                "activities/proof/results.py",
                "if mine and roots.refuses(said, Role.WORKER, result.issued) is None:",
                "if mine:",
            )
        ],
        "result-of-a-stranger",
    ),
    mutant(
        "record-of-anybody",
        "what came of a change is believed of the archive's records, whoever has laid them there",
        2,
        [
            Edit(
                "activities/proof/records.py",
                "        why = refused(key, data, roots.forgiving if forgiving else roots, now)\n",
                "        why = refused(key, data, roots.forgiving if forgiving else roots, now) and None\n",
            )
        ],
        "nothing-came-of-it",
    ),
)
"""What a campaign tells of outcomes."""
