"""Mutants of the door, which asks roots and signed statements alone just before a change is sent."""

from __future__ import annotations

from tests.mutants.mutant import Edit, mutant

DOOR = "edgeshift/authority/door.py"
LAST_START = "edgeshift/authority/last_start.py"
LAST_WORD = "edgeshift/authority/last_word.py"
STARTS = "edgeshift/authority/starts.py"
RECORDS = "edgeshift/authority/records.py"
ROOTS = "edgeshift/authority/roots.py"
WAYS = "activities/ways.py"
AUTHORITY = "activities/proof/authority.py"
FENCE = "activities/change/fence.py"
LISTS = "activities/proof/listed_targets.py"
CAPS = "activities/proof/commit_caps.py"
EVIDENCE = "edgeshift/areas/waf/evidence_again.py"
PROBE = "edgeshift/areas/esc/evidence_again.py"

NO_DOOR = Edit(
    AUTHORITY,
    "        if roots is None:\n            return\n",
    "        if roots is None or roots.file:\n            return\n",
)
"""No signature is asked for: what the workflow lets through is sent."""

NO_SIGNED_STOP = Edit(
    DOOR,
    '    if word is None or word.word == "resume" or asked.step is Step.ROLL_BACK:\n',
    "    if word is None or word.word:\n",
)
"""No signed word stops anything."""

AT_THE_DOOR = (
    mutant(
        "no-check-at-the-door",
        "whatever the messages say is sent, whoever has signed it",
        12,
        [NO_DOOR],
        "nothing-signed",
    ),
    mutant(
        "anybodys-start",
        "a start counts, whoever has signed it",
        12,
        [
            Edit(
                STARTS,
                "        if refused := roots.refuses(said, Role.STARTER, now):\n",
                "        if (refused := roots.refuses(said, Role.STARTER, now)) and not said:\n",
            )
        ],
        "started-by-nobody",
    ),
    mutant(
        "policy-of-the-message",
        "the door asks for as many people as the message says, not the signed specification",
        1,
        [
            Edit(
                DOOR,
                "            spec=spec,\n",
                '            spec=spec.model_copy(update={"sign_off": start.policy.sign_off}),\n',
            )
        ],
        "weaker-policy-in-the-message",
    ),
    mutant(
        "verdict-not-judged-again",
        "evidence joins a zone to its fingerprint, whatever it says",
        1,
        [
            Edit(
                EVIDENCE,
                "if not passes(evidence, judged.evidence, judged.window, now) or evidence.since is None:",
                "if evidence.since is None:",
            )
        ],
        "evidence-that-did-not-pass",
    ),
    mutant(
        "probe-not-judged-again",
        "a probe joins a scope to its fingerprint, whatever it leaves open",
        1,
        [Edit(PROBE, "return None if doubts(report) else About(", "return About(")],
        "probe-with-doubts",
    ),
    mutant(
        "rules-act-unseen",
        "rules act in a validation window, whatever the one before it has shown",
        1,
        [
            Edit(
                "activities/waf/modes.py",
                "    if await rests_on_a_window(connections, step):\n",
                "    if not await rests_on_a_window(connections, step) and mode is None:\n",
            )
        ],
        "rules-let-act-by-nobody",
    ),
    mutant(
        "fields-of-the-body",
        "log fields are added as the signed body says, whatever the campaign's file asks for",
        12,
        [
            Edit(
                "activities/log_fields/changes.py",
                "        wanted = spec.wanted(step.zone.id, step.zone.name)\n        if",
                '        wanted = log_fields.fields_of_document(step.body["fields"])\n        if',
            )
        ],
        "fields-that-nobody-asked-for",
    ),
    mutant(
        "consent-not-asked",
        "URI overrides are deleted without the campaign file's consent, once somebody has signed that",
        12,
        [
            Edit(
                "activities/waf/deleting.py",
                "    if not consents.delete_uri_overrides:\n",
                "    if not consents:\n",
            )
        ],
        "overrides-deleted-without-consent",
    ),
    mutant(
        "role-not-asked",
        "whoever has a key in the roots may sign anything",
        12,
        [Edit(ROOTS, "if found is None or role not in found.roles:", "if found is None or not role:")],
        "approver-without-the-role",
    ),
    mutant(
        "expiry-not-asked",
        "what was signed counts for ever",
        12,
        [
            Edit(
                ROOTS,
                "        if not now < statement.expires:\n",
                "        if not now < statement.expires and not now:\n",
            )
        ],
        "approval-that-has-expired",
    ),
    mutant(
        "replay-of-an-earlier-start",
        "what was signed for an earlier start of the campaign counts for this one",
        12,
        [Edit(DOOR, "not (rejects or statement.start == start.digest)", "not (rejects or statement.start)")],
        "approval-of-an-earlier-start",
    ),
    mutant(
        "replay-of-another-attempt",
        "what was signed for one attempt of a zone counts for every other",
        12,
        [Edit(DOOR, "(rejects or statement.attempt == asked.attempt)", "(rejects or statement.attempt)")],
        "approval-of-another-attempt",
    ),
    mutant(
        "signed-pause-ignored",
        "a signed pause keeps nothing back once Temporal was told to go on",
        7,
        [NO_SIGNED_STOP],
        "resumed-by-nobody",
    ),
    mutant(
        "signed-rejection-ignored",
        "a signed rejection keeps nothing back that others approve",
        1,
        [Edit(DOOR, "    for rejection in rejections:\n", "    for rejection in rejections[:0]:\n")],
        "rejected-by-key-alone",
    ),
    mutant(
        "signed-abort-ignored",
        "a signed abort of which Temporal has not heard keeps nothing back",
        7,
        [
            Edit(
                DOOR,
                '    if word is None or word.word == "resume" or asked.step is Step.ROLL_BACK:\n',
                '    if word is None or word.word != "pause" or asked.step is Step.ROLL_BACK:\n',
            ),
            Edit(
                AUTHORITY,
                '        if word is not None and word.word != "resume":\n            return word\n',
                '        if word is not None and word.word == "pause":\n            return word\n',
            ),
        ],
        "aborted-by-key-alone",
    ),
    mutant(
        "revoked-rejection-ignored",
        "a rejection keeps nothing back once the key that signed it is revoked",
        1,
        [Edit(DOOR, "(roots.lasting, statement.issued) if", "(roots, statement.issued) if")],
        "rejected-by-a-key-revoked-since",
    ),
    mutant(
        "revoked-abort-ignored",
        "an abort keeps nothing back once the key that signed it is revoked",
        7,
        [Edit(LAST_WORD, "return roots.lasting.refuses(", "return roots.refuses(")],
        "aborted-by-a-key-revoked-since",
    ),
    mutant(
        "superseding-forgets-with-the-key",
        "a start counts again once the key that started the campaign again by another file is revoked",
        12,
        [
            Edit(
                LAST_START,
                "_counted(other, roots.lasting) and",
                "_counted(other, roots) and",
            )
        ],
        "started-again-by-a-key-revoked-since",
    ),
    mutant(
        "damaged-abort-ignored",
        "a signed abort that cannot be read counts as none",
        7,
        [
            Edit(
                RECORDS,
                'return await self._all(campaign, [f"signed/{campaign}/word"], oldest=oldest)',
                'return await self.at(campaign, f"signed/{campaign}/word")',
            )
        ],
        "aborted-by-a-damaged-word",
    ),
    mutant(
        "starter-may-approve",
        "whoever has signed the start may approve, though four eyes are asked for",
        12,
        [Edit(ROOTS, "if policy.four_eyes and (who ==", "if not policy and (who ==")],
        "approved-by-the-starter",
    ),
    mutant(
        "keys-counted-for-people",
        "one person with two keys counts as two people",
        12,
        [
            Edit(ROOTS, "if who not in people and key not in keys:", "if key not in keys:"),
            Edit(ROOTS, "            people.add(who)\n", "            people.add(key)\n"),
        ],
        "two-keys-of-one-person",
    ),
    mutant(
        "hours-not-counted",
        "commits go on in an hour, however many the roots allow",
        1,
        [
            Edit(
                CAPS,
                "self.take(caps, change.permit.name, sent=sent, ",
                "self.take(caps[:0], change.permit.name, sent=sent, ",
            )
        ],
        "more-than-an-hour-takes",
    ),
    mutant(
        "targets-not-asked",
        "a zone is changed that is not in the signed list",
        12,
        [
            Edit(
                LISTS,
                "        if why := target_foreign(start, spec, statement, targets):\n",
                "        why = target_foreign(start, spec, statement, targets)\n"
                "        if why and not found:\n",
            )
        ],
        "target-that-nobody-signed",
    ),
    mutant(
        "roots-not-asked-for-secrets",
        "a secret is sent wherever a specification says",
        10,
        [
            Edit(
                WAYS,
                "        if why:\n",
                "        if why and not spec:\n",
            ),
        ],
        "secrets-for-a-stranger",
    ),
    mutant(
        "body-not-compared",
        "an approval of one proposal counts for another",
        1,
        [
            Edit(
                RECORDS,
                "return [decisions_at(campaign, subject) for subject in sorted(subjects)]",
                'return [f"signed/{campaign}/decision"] if subjects else []',
            ),
            Edit(
                RECORDS,
                "tuple(said for said in mine if _lies_at(said.statement, place))",
                "tuple(mine)",
            ),
            Edit(
                DOOR,
                'return (rejects or policy.per == "fingerprint") and asked.fingerprint in statement.subjects',
                'return rejects or policy.per == "fingerprint"',
            ),
        ],
        "body-that-nobody-signed",
    ),
    mutant(
        "used-approval-ignored",
        "an approval lets its change through again once that was rolled back",
        1,
        [Edit(DOOR, "    used = asked.earlier.used\n", "    used = dict[int, datetime]()\n")],
        "approval-that-was-used",
    ),
    mutant(
        "retry-of-anybody",
        "an attempt sends what was approved, whoever has it begin",
        12,
        [
            Edit(
                DOOR,
                "    if asked.attempt == 1 or asked.step is Step.ROLL_BACK:\n",
                "    if asked.attempt or asked.step is Step.ROLL_BACK:\n",
            )
        ],
        "begun-again-by-nobody",
    ),
    mutant(
        "again-of-another-start",
        "what an operator has signed for another start of the campaign begins an attempt of this one",
        1,
        [Edit(DOOR, "            and statement.start == start.digest\n", "")],
        "begun-again-for-another-start",
    ),
    mutant(
        "reopen-of-a-rehearsal",
        "a reopening that was signed in a rehearsal voids a rejection",
        1,
        [
            Edit(
                DOOR,
                "        and said.statement.voids(asked.target.zone.id)\n"
                "        and _is_here(said.statement, start)\n",
                "        and said.statement.voids(asked.target.zone.id)\n",
            )
        ],
        "reopened-in-a-rehearsal",
    ),
    mutant(
        "settled-is-taken-back",
        "a change that was seen to its end is taken back by whoever asks",
        4,
        [
            Edit(
                FENCE,
                "            if signed is not None:\n",
                "            if signed is not None and not signed:\n",
            ),
            Edit(
                "activities/esc/changes.py",
                "        return asked and await is_over(self._connections, start)\n",
                "        return asked and not await is_over(self._connections, start) and False\n",
            ),
        ],
        "taken-back-by-nobody",
    ),
)
