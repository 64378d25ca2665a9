"""Mutants of the areas whose changes can be undone, and of keeping secrets."""

from __future__ import annotations

from tests.mutants.contents import MUTATIONS
from tests.mutants.door import NO_DOOR
from tests.mutants.mutant import Edit, mutant

REVERSIBLE = (
    mutant(
        "esc-unsigned",
        "esc is turned off after the probe, without anybody's sign-off, for which nobody is asked",
        1,
        [
            Edit(
                "activities/esc/scope.py",
                "        told = await told_unless_gone(self._connections, announce)\n",
                "        del announce\n        told = True\n",
            ),
            Edit(
                "workflows/esc.py",
                "                grant = await self._parts.sign_offs.signed_off(probed)\n",
                "                phase = ZonePhase.AWAITING_FIRST_PERMIT\n"
                "                grant = await self._parts.sign_offs.permit_for(Step.SET_SECRET, phase)\n",
            ),
            Edit(
                MUTATIONS,
                "        if change.step not in UNSIGNED:\n",
                "        if change.step not in UNSIGNED and not change.decisions and not change.step:\n",
            ),
            NO_DOOR,
        ],
        "esc-plain",
    ),
    mutant(
        "esc-way-back-believed",
        "a rollback that was answered counts as gone, and nobody looks",
        11,
        [
            Edit(
                "workflows/reversible.py",
                "                shown = await self._shows(back, wanted=False, answered=answered)\n",
                '                shown = Shown(reached=True, reason="answered")\n',
            ),
            Edit("workflows/reversible.py", "if not seen.worse:", "if seen:"),
        ],
        "esc-way-back-lost",
    ),
    mutant(
        "esc-secret-overwritten",
        "a scope with a secret of the customer's own gets a test secret too",
        3,
        [
            Edit(
                "activities/esc/proposing.py",
                "    if prepared.verdict is Verdict.READY and reading.secret is esc.Secret.NONE:\n",
                "    if prepared.verdict is Verdict.READY and reading.secret is not esc.Secret.TEST:\n",
            ),
            Edit(
                "activities/esc/changes.py",
                "        if before.always or before.secret is not esc.Secret.NONE:\n",
                "        if before.secret is esc.Secret.TEST:\n",
            ),
        ],
        "esc-plain",
    ),
    mutant(
        "log-fields-written-blindly",
        "rules are put without a look at the version that they replaced, then or afterwards",
        4,
        [
            Edit(
                "activities/log_fields/rulesets.py",
                "        return None if result.status is ChangeStatus.ANSWERED else result\n",
                "        return result\n",
            ),
            Edit(
                "activities/log_fields/rulesets.py",
                "    if found.put is None or not found.overwritten:\n",
                "    if found.put is None or found.overwritten:\n",
            ),
        ],
        "stranger-writes",
    ),
    mutant(
        "secret-in-archive",
        "what a probe was made with, its secret too, is archived with the proposal",
        10,
        [
            Edit(
                "activities/esc/scope.py",
                "        kept = await put_document(archive, baseline, verify=True)\n",
                "        kept = await put_document(archive, baseline, verify=True)\n"
                "        await archive.put_object(secret.get_secret_value().encode())\n",
            )
        ],
        "esc-plain",
    ),
    mutant(
        "secret-in-history",
        "the result of setting a secret repeats it, and so does the workflow's history",
        10,
        [
            Edit(
                "activities/esc/changes.py",
                "                return await self._closed(step, result)\n"
                "            await clock.sleep(poll)\n",
                "                told = {'reason': secret.get_secret_value()}\n"
                "                return await self._closed(step, result.model_copy(update=told))\n"
                "            await clock.sleep(poll)\n",
            )
        ],
        "esc-plain",
    ),
)
