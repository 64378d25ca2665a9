"""Mutants of the way in which a change is sent: how often, when, and what is known of it afterwards."""

from __future__ import annotations

from tests.mutants.door import NO_SIGNED_STOP
from tests.mutants.mutant import Edit, mutant

FENCE = "activities/change/fence.py"
INTENTS = "activities/change/intents.py"
WAF_ZONE = "workflows/waf.py"
CHANGING = "workflows/zone/changing.py"
SIGNING = "workflows/zone/signing.py"
ZONE_STATE = "workflows/zone/state.py"
OPTIONS = "workflows/options.py"

NO_REFUSAL = [
    Edit(
        FENCE,
        'it was given up before it was sent", called_off=True)\n        return False\n',
        'it was given up before it was sent", called_off=True)\n        return True\n',
    ),
    Edit(
        "activities/change/beside.py",
        "    return SentByOthers(shows, until)\n",
        "    return SentByOthers() if start else SentByOthers(shows, until)\n",
    ),
]
"""An intent that is there keeps nothing from being sent again."""

NO_GIVING_UP = Edit(
    INTENTS,
    "            if await _gives_up(connections, batch, zone, permit):\n",
    "            if not (key and batch):\n",
)
"""A campaign that is paused gives no permit up in the archive, and waits for its zones."""

NO_SEEING_FIRST = Edit(
    ZONE_STATE,
    "            found = await self._first()\n",
    "            found = False\n",
)
"""A zone whose workflow was reset does not see through first what an earlier run may have sent."""

SENDING = (
    mutant(
        "blind-retry",
        "Temporal tries the change again when its request failed, and no intent keeps it from being sent",
        2,
        [
            Edit(OPTIONS, "RetryPolicy(maximum_attempts=1)", "RetryPolicy(maximum_attempts=4)"),
            Edit(
                FENCE,
                "            return judged(failure, self.change.start.area)\n",
                "            raise OSError(str(failure)) from None\n",
            ),
            *NO_REFUSAL,
        ],
        "answer-lost",
    ),
    mutant(
        "client-sends-again",
        "the client sends a write again when its connection breaks",
        2,
        [
            Edit(
                "edgeshift/service_api/transport.py",
                "                    return await self._exchange(alone, call, request)\n",
                "                    try:\n"
                "                        return await self._exchange(alone, call, request)\n"
                "                    except httpx.HTTPError:\n"
                "                        return await self._exchange(alone, call, request)\n",
            )
        ],
        "answer-lost",
    ),
    mutant(
        "status-once",
        "after an unknown outcome the status is read once, and the commit is sent again",
        2,
        [
            Edit(
                "activities/polling.py",
                "        self._limit = limit.total_seconds()\n",
                "        self._limit = 0.0\n",
            ),
            NO_REFUSAL[1],
        ],
        "answer-lost",
    ),
    mutant(
        "unknown-is-failed",
        "a commit whose answer was lost counts as refused",
        11,
        [
            Edit(
                "activities/change/judging.py",
                "return ChangeResult(status=ChangeStatus.UNKNOWN, cause=",
                "return ChangeResult(status=ChangeStatus.REFUSED, cause=",
            )
        ],
        "answer-lost",
    ),
    mutant(
        "no-intent",
        "no intent is archived before a change is sent",
        2,
        [
            Edit(
                FENCE,
                "created = await self.connections.archive.create_once(key, data)",
                "created = bool(key and record)",
            )
        ],
        "reset-while-verified",
    ),
    mutant(
        "reset-forgets-what-was-sent",
        "a run that was reset, and has something in its way, does not look for what was sent before",
        2,
        [
            Edit(
                FENCE,
                "        if sent_here or not self.change.anew or",
                "        if result is not None or sent_here or not self.change.anew or",
            ),
            NO_REFUSAL[1],
            NO_SEEING_FIRST,
        ],
        "reset-and-unread",
    ),
    mutant(
        "gone-folder-is-empty",
        "an archive whose folder was moved away counts as one in which there is nothing yet",
        2,
        [
            Edit(
                "edgeshift/stores/folder_place.py",
                "        try:\n            found = os.stat(self._root)\n",
                "        if self._known or not self._known:\n            return\n"
                "        try:\n            found = os.stat(self._root)\n",
            ),
            # Else the next write would fail, since it makes no folder of the archive's own.
            Edit(
                "edgeshift/stores/folder_files.py",
                "    folder = str(place.path)\n",
                "    folder = str(place.path)\n    os.makedirs(folder, exist_ok=True)\n",
            ),
        ],
        "archive-moved-away",
    ),
    mutant(
        "commit-in-local-activity",
        "the change is a local activity, which the next worker runs again, and no intent keeps it from that",
        2,
        [
            Edit(
                CHANGING,
                "made = workflow.start_activity_method(\n            MutationActivities.change,",
                "made = workflow.start_local_activity_method(\n            MutationActivities.change,",
            ),
            *NO_REFUSAL,
        ],
        "killed-after-commit",
    ),
    mutant(
        "given-up-unasked",
        "a change that was never answered counts as one that was not sent",
        2,
        [
            Edit(
                INTENTS,
                "    return await is_given_up(connections, key)\n",
                "    return bool(key)\n",
            ),
            NO_REFUSAL[1],
        ],
        "killed-after-commit",
    ),
    mutant(
        "sent-before-forgotten",
        "a zone that is aborted ends at once, whatever an earlier attempt has sent",
        11,
        [
            Edit(
                WAF_ZONE,
                "        if ended.outcome is ZoneOutcome.UNKNOWN or ended.outcome in DONE or self._zone.read_back:\n",  # noqa: E501
                "        if ended.reason:\n",
            )
        ],
        "aborted-in-a-later-attempt",
    ),
    mutant(
        "abort-forgets-an-end",
        "an abort tells of a zone that was to begin again as aborted, though its change is under way",
        11,
        [
            Edit(
                "edgeshift/campaign/attempts.py",
                "(before := self.ended_as.pop(index, None)) is None",
                "(before := None) is None",
            )
        ],
        "aborted-before-a-later-attempt",
    ),
    mutant(
        "heartbeat-on-commit",
        "the change has a heartbeat time-out: it counts as over while it may still be sent",
        7,
        [
            Edit(
                OPTIONS,
                '        "retry_policy": ONCE,\n',
                '        "retry_policy": ONCE,\n        "heartbeat_timeout": timedelta(seconds=1),\n',
            ),
            # Else it would be given up, which keeps it from being sent.
            Edit(FENCE, "        if created or await self._is_this(key, data):\n", "        if key:\n"),
            NO_SIGNED_STOP,
        ],
        "stalled-in-a-pause",
    ),
    mutant(
        "permit-expiry-ignored",
        "a change is sent under a permit that has run out",
        7,
        [
            Edit(
                "activities/change/step_time.py",
                "until = min(self._expires_at, ",
                "until = max(self._expires_at, ",
            ),
            NO_GIVING_UP,
            NO_SIGNED_STOP,
        ],
        "stalled-past-its-permit",
    ),
    mutant(
        "given-up-in-name",
        "a pause counts permits as given up, and nothing keeps what is under way from being sent",
        7,
        [
            Edit(INTENTS, NO_GIVING_UP.old, "            if key and batch:\n"),
            NO_SIGNED_STOP,
        ],
        "stalled-in-a-pause",
    ),
    mutant(
        "no-grace",
        "a worker that is told to stop throws away what is on the wire",
        11,
        [
            Edit(
                "worker/wiring.py",
                "graceful_shutdown_timeout=grace,",
                "graceful_shutdown_timeout=timedelta(0),",
            ),
            Edit(
                "activities/change/calling_off.py",
                "                if task.cancelled():\n",
                "                if not task.done():\n"
                "                    task.cancel()\n"
                "                    raise\n"
                "                if task.cancelled():\n",
            ),
        ],
        "orderly-restart",
    ),
)
