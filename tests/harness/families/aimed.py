"""Small scenes that each go for one rule. They are what finds the wrong versions of tests/mutants first."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from tests.harness.aimed import areas, asked, door, people, records, results, secrets, used, waf, windows
from tests.harness.cases import Case, World
from tests.harness.verdict import Verdict

FAMILY = "aimed"

Scene = Callable[[World], Awaitable[Verdict]]

SCENES: tuple[tuple[Scene, int], ...] = (
    (waf.plain, 2),
    (waf.answer_lost, 2),
    (waf.killed_after_commit, 1),
    (waf.reset_while_verified, 1),
    (waf.reset_and_unread, 1),
    (waf.answered_without_effect, 1),
    (waf.over_a_limit, 2),
    (waf.drifted, 1),
    (waf.archive_lies, 1),
    (waf.rival_campaign, 2),
    (waf.terminated, 2),
    (waf.aborted_in_a_later_attempt, 2),
    (waf.aborted_before_a_later_attempt, 2),
    (waf.orderly_restart, 1),
    (people.signed_in_a_pause, 2),
    (people.permit_overtaken, 1),
    (people.stalled_in_a_pause, 1),
    (people.stalled_past_its_permit, 1),
    (people.words_that_do_not_count, 1),
    (people.signed_by_one_of_two, 1),
    (people.signed_for_another, 2),
    (people.signed_too_long_ago, 1),
    (people.rejected_and_started_anew, 2),
    (people.window_of_one, 4),
    (people.halted_by_failures, 3),
    (people.a_failure_keeps_its_place, 3),
    (people.paced, 2),
    (areas.esc_plain, 3),
    (areas.esc_way_back_lost, 1),
    (areas.stranger_writes, 1),
    (door.nothing_signed, 1),
    (door.started_by_nobody, 1),
    (door.weaker_policy_in_the_message, 1),
    (door.evidence_that_did_not_pass, 1),
    (door.probe_with_doubts, 1),
    (door.approver_without_the_role, 1),
    (door.approval_that_has_expired, 1),
    (door.approval_of_an_earlier_start, 1),
    (door.approval_of_another_attempt, 1),
    (door.resumed_by_nobody, 1),
    (door.rejected_by_key_alone, 2),
    (door.reopened_in_a_rehearsal, 2),
    (door.rejected_by_a_key_revoked_since, 2),
    (door.aborted_by_key_alone, 2),
    (door.aborted_by_a_damaged_word, 2),
    (door.aborted_by_a_key_revoked_since, 2),
    (door.approved_by_the_starter, 1),
    (door.two_keys_of_one_person, 1),
    (door.more_than_an_hour_takes, 2),
    (door.target_that_nobody_signed, 2),
    (door.body_that_nobody_signed, 2),
    (windows.rules_let_act_by_nobody, 1),
    (asked.fields_that_nobody_asked_for, 1),
    (asked.overrides_deleted_without_consent, 2),
    (used.approval_that_was_used, 1),
    (used.begun_again_by_nobody, 2),
    (used.begun_again_for_another_start, 2),
    (used.taken_back_by_nobody, 2),
    (used.started_again_by_a_key_revoked_since, 1),
    (secrets.service_of_a_stranger, 1),
    (results.migrated_by_a_word, 2),
    (results.answered_without_a_call, 2),
    (results.result_of_a_stranger, 2),
    (records.nothing_came_of_it, 2),
    (records.archive_moved_away, 2),
    (secrets.secrets_for_a_stranger, 1),
)
"""Each scene with the zones that it plays."""


def cases() -> list[Case]:
    """A case for each scene, such as ``aimed/answer-lost``."""
    return [
        Case(f"{FAMILY}/{scene.__name__.replace('_', '-')}", FAMILY, zones, scene, within=400)
        for scene, zones in SCENES
    ]
