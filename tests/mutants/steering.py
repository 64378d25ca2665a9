"""Mutants of sign-off, permits, stops, the window, the pace, the lock, and the campaign's sweep."""

from __future__ import annotations

from tests.mutants.door import NO_DOOR, NO_SIGNED_STOP
from tests.mutants.mutant import Edit, Mutant, mutant
from tests.mutants.sending import NO_GIVING_UP, NO_SEEING_FIRST, SIGNING, ZONE_STATE

STARTER = "workflows/campaign/starter.py"
WINDOW = "workflows/campaign/window.py"
SIGN_OFF = "edgeshift/model/sign_off.py"
BOOK = "edgeshift/campaign/book.py"
LEDGER = "edgeshift/campaign/ledger.py"

ANY_DIGEST = Edit(
    SIGN_OFF,
    "        if decision.digest not in digests or refusal(decision, policy, started_by):\n",
    "        if refusal(decision, policy, started_by):\n",
)

STEERING = (
    mutant(
        "one-of-two",
        "one approver is enough where two are required",
        1,
        [
            Edit(
                SIGN_OFF,
                "Tally.APPROVED if len(people) >= policy.required else",
                "Tally.APPROVED if people else",
            ),
            NO_DOOR,
        ],
        "signed-by-one-of-two",
    ),
    mutant(
        "permit-not-awaited",
        "a zone that is signed off commits without a permit of its campaign",
        7,
        [
            Edit(
                SIGNING,
                "            await self._waits.until(lambda: zone.usable_grant is not None, None, "
                "resumable=True)\n",
                "            from datetime import timedelta\n\n"
                "            from edgeshift.messages import Permit\n\n"
                "            zone.grant = PermitGrant(\n"
                "                campaign_run=zone.start.campaign_run,\n"
                "                permit=Permit(\n"
                "                    number=1,\n"
                "                    name=f'own-{workflow.info().run_id}-{zone.sequence}',\n"
                "                    index=zone.start.index,\n"
                "                    step=step,\n"
                "                    expires_at=workflow.now() + timedelta(seconds=30),\n"
                "                ),\n"
                "            )\n",
            ),
            NO_SIGNED_STOP,
        ],
        "signed-in-a-pause",
    ),
    mutant(
        "revoked-permit-used",
        "a permit that the campaign has taken back is used all the same",
        7,
        [
            Edit(
                ZONE_STATE,
                "if self.grant is None or self.grant.permit.number in self.revoked:",
                "if self.grant is None:",
            ),
            NO_GIVING_UP,
            NO_SIGNED_STOP,
        ],
        "permit-overtaken",
    ),
    mutant(
        "pause-not-asked",
        "a paused campaign goes on granting permits",
        7,
        [
            Edit(
                STARTER,
                "if state.stands_still or state.aborted or state.halted:\n",
                "if state.aborted or state.halted:\n",
            ),
            NO_SIGNED_STOP,
        ],
        "signed-in-a-pause",
    ),
    mutant(
        "sign-off-of-any-digest",
        "an approver's name is enough, whatever digest the word was about",
        1,
        [
            ANY_DIGEST,
            Edit(
                SIGNING,
                "            if decision.digest == prepared.digest and (zone.joins or",
                "            if (zone.joins or",
            ),
            NO_DOOR,
        ],
        "words-that-do-not-count",
    ),
    mutant(
        "fingerprint-of-another",
        "a sign-off of one fingerprint counts for zones that propose something else",
        1,
        [
            ANY_DIGEST,
            Edit(
                LEDGER,
                " or group is None or group.fingerprint not in self.book:\n",
                " or group is None:\n",
            ),
            Edit(
                LEDGER,
                "        for fingerprint in fingerprints:\n            verdicts",
                "        for fingerprint in self._numbers_of:\n            verdicts",
            ),
            Edit(
                BOOK,
                "            for about in self._waves.get(fingerprint, ())\n"
                "            if about in (None, wave)\n"
                "            for word in self._entries[fingerprint, about].values()\n",
                "            for entry in self._entries.values()\n            for word in entry.values()\n",
            ),
            Edit(
                SIGNING,
                "in (grant.decisions if grant else ()) if item.digest == prepared.fingerprint",
                "in (grant.decisions if grant else ())",
            ),
            NO_DOOR,
        ],
        "signed-for-another",
    ),
    mutant(
        "approvers-not-asked",
        "anybody's approval counts, listed or not",
        1,
        [
            Edit(
                SIGN_OFF,
                "    if policy.approvers and decision.by not in policy.approvers:\n",
                "    if policy.approvers and not decision.by:\n",
            ),
            NO_DOOR,
        ],
        "words-that-do-not-count",
    ),
    mutant(
        "four-eyes-not-kept",
        "whoever started the campaign may also approve",
        1,
        [
            Edit(
                SIGN_OFF,
                "    if policy.four_eyes and decision.choice",
                "    if not policy and decision.choice",
            ),
            NO_DOOR,
        ],
        "words-that-do-not-count",
    ),
    mutant(
        "expired-sign-off",
        "a sign-off counts for ever",
        1,
        [
            Edit(
                SIGN_OFF,
                "if decision.at is not None and decision.at <= now < decision.at + policy.valid_for:",
                "if decision.at is not None:",
            ),
            NO_DOOR,
        ],
        "signed-too-long-ago",
    ),
    mutant(
        "window-not-kept",
        "every zone that is signed off gets its permit at once",
        8,
        [
            Edit(
                WINDOW,
                "return self.most_in_flight() - ledger.in_flight()",
                "return 1000 - ledger.in_flight()",
            )
        ],
        "window-of-one",
    ),
    mutant(
        "failures-not-counted",
        "a campaign goes on granting permits, however many zones have failed",
        8,
        [
            Edit(
                STARTER,
                "or state.aborted or state.halted:\n",
                "or state.aborted:\n",
            )
        ],
        "halted-by-failures",
    ),
    mutant(
        "rejection-forgotten",
        "a campaign that is started again knows nothing of who was rejected before",
        1,
        [
            Edit(
                SIGNING,
                "        if prepared.digest in self._zone.start.rejected:\n            self._zone.rejected",
                "        if not prepared.digest:\n            self._zone.rejected",
            ),
            NO_DOOR,
        ],
        "rejected-and-started-anew",
    ),
    mutant(
        "failures-keep-no-place",
        "a zone that failed makes room for another commit as if nothing had happened",
        8,
        [
            Edit(
                WINDOW,
                "max(1, budget - self._state.failures)",
                "max(1, budget)",
            )
        ],
        "a-failure-keeps-its-place",
    ),
    Mutant(
        "place-lost-by-a-reset",
        "a zone that is reset while its commit is in flight says that it waits, and makes room for another",
        8,
        (
            NO_SEEING_FIRST,
            Edit(
                ZONE_STATE,
                "            if not self.is_later_run:\n                self.to_release",
                "            if self.grant:\n                self.to_release",
            ),
            Edit(
                "workflows/campaign/state.py",
                'workflow.patched("permits-keep-their-places")',
                'workflow.patched("permits-keep-their-places") and False',
            ),
        ),
        ("reset-zone/waf/enterprise/verifying",),
    ),
    mutant(
        "no-pace",
        "calls are made as fast as they come, whatever the rate limit is",
        6,
        [
            Edit(
                "worker/wiring.py",
                "        pacer or quotas.pacer,\n",
                "        lambda *of: "
                "__import__('edgeshift.rate_limit.unpaced').rate_limit.unpaced.Unpaced(),\n",
            )
        ],
        "paced",
    ),
    mutant(
        "lock-taken-over",
        "a campaign that finds a zone in another one's hands ends the other's workflow",
        9,
        [
            Edit(
                "activities/zone_starter.py",
                "id_conflict_policy=WorkflowIDConflictPolicy.FAIL,",
                "id_conflict_policy=WorkflowIDConflictPolicy.TERMINATE_EXISTING,",
            ),
            Edit(
                "activities/zone_starter.py",
                "        reuse = WorkflowIDReusePolicy.REJECT_DUPLICATE\n",
                "        reuse = WorkflowIDReusePolicy.ALLOW_DUPLICATE\n",
            ),
        ],
        "rival-campaign",
    ),
    mutant(
        "no-sweep",
        "a campaign waits for the word of its zones alone, and never looks for them",
        11,
        [
            Edit(
                "workflows/campaign/sweeper.py",
                "        state.sweeps_due += 1\n",
                "        state.sweeps_due += 0\n",
            )
        ],
        "terminated",
    ),
)
