"""Mutants of what a change is made of, and of what its answer or its refusal is taken for."""

from __future__ import annotations

from tests.mutants.mutant import Edit, mutant
from tests.mutants.sending import WAF_ZONE

MUTATIONS = "activities/change/door.py"
WAF_WORK = "activities/waf/changes.py"
ENVELOPE = "edgeshift/service_api/envelope.py"

CONTENTS = (
    mutant(
        "no-digest-check",
        "what the archive holds is sent without a look at its digest",
        1,
        [
            Edit(
                "edgeshift/stores/archive.py",
                "        if (found := sha256(data)) != digest:\n",
                "        if (found := sha256(data)) != digest and not found:\n",
            ),
            Edit(
                MUTATIONS,
                "if digest(body) != change.digest or fingerprint(body, zone) != change.fingerprint:",
                "if not (digest(body) and fingerprint(body, zone)):",
            ),
        ],
        "archive-lies",
    ),
    mutant(
        "snapshot-late",
        "the snapshot is archived after the change was sent",
        5,
        [
            Edit(
                "activities/snapshots.py",
                "    found = await put_document(connections.archive, document, verify=True)\n",
                "    from edgeshift.stores.documents import encoded\n\n"
                "    later = vars(connections).setdefault('later', [])\n"
                "    later.append((target, area, encoded(document)))\n"
                "    return __import__('hashlib').sha256(encoded(document)).hexdigest()\n"
                "    found = await put_document(connections.archive, document, verify=True)\n",
            ),
            Edit(
                MUTATIONS,
                "            return await area.send(FencedStep(change, fence, body, client))\n",
                "            result = await area.send(FencedStep(change, fence, body, client))\n"
                "            archive = self._connections.archive\n"
                "            for zone, of, data in vars(self._connections).pop('later', []):\n"
                "                found = await archive.put_object(data)\n"
                "                await archive.create_once(snapshot_key(zone, of, found), b'{}')\n"
                "            return result\n",
            ),
            Edit(
                MUTATIONS,
                "        if await archive.get_named(snapshot_key(",
                "        if False and await archive.get_named(snapshot_key(",
            ),
            Edit(MUTATIONS, "        await get_document(archive, Snapshot[Any], change.snapshot)\n", ""),
        ],
        "plain",
    ),
    mutant(
        "drift-not-looked-for",
        "a commit is sent without a fresh look at the zone's configuration",
        1,
        [
            Edit(
                WAF_WORK,
                "body = await self._compare_fresh(step)\n            await self._refuse_edited_since(step)",
                "body = step.body\n            await self._refuse_edited_since(step)",
            )
        ],
        "drifted",
    ),
    mutant(
        "log-only-body-committed",
        "what the validation window ran, which only logs, is committed",
        1,
        [
            Edit(
                WAF_WORK,
                "self._put(step, body, waf.Mode.PENDING)",
                "self._put(step, waf.shadow(body), waf.Mode.PENDING)",
            )
        ],
        "plain",
    ),
    mutant(
        "validation-for-everybody",
        "zones of every plan go through validation mode",
        3,
        [
            Edit(
                WAF_ZONE,
                "return self._zone.start.target.zone.plan is Plan.ENTERPRISE",
                "return self._zone.start.target.zone.plan in Plan",
            ),
            Edit(
                "edgeshift/areas/waf/body.py",
                "    if mode is Mode.VALIDATION and plan is not Plan.ENTERPRISE:\n",
                "    if mode is Mode.VALIDATION and plan not in Plan:\n",
            ),
        ],
        "plain",
    ),
    mutant(
        "answer-believed",
        "a commit that was answered counts as a migration, and nothing is read back",
        11,
        [
            Edit(
                WAF_ZONE,
                "        return await self._committed(prepared, result.reason, answered=answered",
                "        if result.status is ChangeStatus.ANSWERED:\n"
                "            return prepared.proposal\n"
                "        return await self._committed(prepared, result.reason, answered=answered",
            )
        ],
        "answered-without-effect",
    ),
    mutant(
        "error-body-as-success",
        "the HTTP status alone decides: 200 with success false is a success",
        4,
        [
            Edit(
                ENVELOPE,
                "    if success is False:\n",
                "    if success is None:\n",
            ),
            Edit(
                ENVELOPE,
                "    if success is not True:\n",
                "    if success is None:\n",
            ),
            Edit(
                ENVELOPE,
                '    if document.get("errors"):\n',
                '    if document.get("errors") and success is None:\n',
            ),
        ],
        "over-a-limit",
    ),
    mutant(
        "limits-not-counted",
        "a zone with 201 rules to migrate is sent its commit",
        4,
        [
            Edit(
                "edgeshift/areas/waf/reading.py",
                "    if over := _over_limits(lengths, profile):\n",
                "    if (over := _over_limits(lengths, profile)) and not lengths:\n",
            )
        ],
        "over-a-limit",
    ),
    mutant(
        "ticket-without-key",
        "each try opens a ticket of its own",
        4,
        [
            Edit(
                "activities/tickets.py",
                "        key = ticket_key(zone.id, start.area.value, message.cause.value)\n",
                "        key = ticket_key(zone.id, start.area.value, message.cause.value)\n"
                "        key += '-' + __import__('uuid').uuid4().hex[:8]\n",
            )
        ],
        "over-a-limit",
    ),
)
