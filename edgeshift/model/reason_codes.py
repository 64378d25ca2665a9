"""The codes of reasons (edgeshift/model/reasons.py). Pure."""

from __future__ import annotations

from enum import StrEnum

from edgeshift.model.area_codes import of_an_area


class ReasonCode(StrEnum):
    """Why a target has an outcome, waits, or is not ready. Codes keep their names: they stand in histories,
    tickets, the archive and JSON. One that this version does not know, of a later one, reads as ``OTHER``.

    Those that an installed area brings (edgeshift/model/area_reasons.py) are not listed here: they begin with
    the area's name and a dot, and are read as they are, also where the area is not installed.
    """

    OTHER = "other"

    # What reading tells: waf.
    ALREADY_MIGRATED = "already_migrated"
    ALREADY_IN_VALIDATION = "already_in_validation"
    TOO_MANY_RULES = "too_many_rules"
    EXPRESSION_TOO_LONG = "expression_too_long"
    SUPPORT_REFUSAL = "support_refusal"
    URI_OVERRIDES = "uri_overrides"
    NOT_COMPATIBLE = "not_compatible"
    EMPTY_CONFIGURATION = "empty_configuration"
    LOG_ONLY = "log_only"
    UNPROTECTED = "unprotected"
    RULES_REPLACED = "rules_replaced"
    PAGE_RULE_PATTERN = "page_rule_pattern"
    OTHER_PLAN = "other_plan"
    PLAN_UNKNOWN = "plan_unknown"

    # What reading tells: esc.
    ESC_OFF_ALREADY = "esc_off_already"
    REMOVED = "removed"
    SECRET_NOT_SENDABLE = "secret_not_sendable"
    ACCOUNT_ZONES_HELD = "account_zones_held"

    # What reading tells: log-fields.
    FIELDS_IN_PLACE = "fields_in_place"
    WRONG_NAMES = "wrong_names"
    NOT_ENTITLED = "not_entitled"
    TOO_MANY_FIELDS = "too_many_fields"
    NO_LOG_JOB = "no_log_job"
    ODD_LOG_JOB = "odd_log_job"
    ODD_RULES = "odd_rules"
    FIELDS_OFTEN_CUT_OFF = "fields_often_cut_off"
    FIELDS_CUT_OFF = "fields_cut_off"
    FIELDS_NEARLY_FULL = "fields_nearly_full"
    FIELD_NAMES_UNKNOWN = "field_names_unknown"
    FIELDS_SIZE_UNKNOWN = "fields_size_unknown"

    # What a target waits for.
    VALIDATION_ADOPTED = "validation_adopted"
    VALIDATION_WINDOW = "validation_window"
    WATCHED = "watched"
    EARLIER_CHANGE_AWAITED = "earlier_change_awaited"
    NO_ROOM_BY_ROOTS = "no_room_by_roots"
    CREDENTIAL_REFUSED = "credential_refused"
    CREDENTIAL_MISSING = "credential_missing"
    SERVICE_OUTAGE = "service_outage"

    # What people decided, or did not.
    REJECTED = "rejected"
    REJECTED_BEFORE = "rejected_before"
    REJECTION_NOT_RECORDED = "rejection_not_recorded"
    NOT_SIGNED_IN_TIME = "not_signed_in_time"
    NOT_SIGNED = "not_signed"
    SIGN_OFF_NOT_COUNTED = "sign_off_not_counted"
    CAMPAIGN_ABORTED = "campaign_aborted"
    CANCELLED = "cancelled"
    ATTEMPT_OVER = "attempt_over"
    CAMPAIGN_OVER = "campaign_over"
    WORKFLOW_ENDED = "workflow_ended"
    NOT_ON_RECORD = "not_on_record"
    HELD_BY_ANOTHER = "held_by_another"
    EARLIER_ATTEMPT_OPEN = "earlier_attempt_open"

    # What the service was asked, and did not do.
    CHANGE_REFUSED = "change_refused"
    EDITED_SINCE = "edited_since"
    DELETION_REFUSED = "deletion_refused"
    SECRET_REFUSED = "secret_refused"
    GIVEN_UP = "given_up"

    # What was seen of a change: waf.
    MIGRATED_AS_SIGNED = "migrated_as_signed"
    STORED_RULES_DIFFER = "stored_rules_differ"
    STATUS_SHOWS = "status_shows"
    STATUS_CHANGED = "status_changed"
    STATUS_STAYED = "status_stayed"
    STATUS_UNREADABLE = "status_unreadable"
    VALIDATION_NOT_SHOWN = "validation_not_shown"

    # What was seen of a change: esc.
    ESC_OFF = "esc_off"
    ESC_ON = "esc_on"
    ESC_STAYED_ON = "esc_stayed_on"
    ESC_STAYED_OFF = "esc_stayed_off"
    ESC_OFF_BY_URLS = "esc_off_by_urls"
    ESC_ON_BY_URLS = "esc_on_by_urls"
    ESC_TURNED_ON = "esc_turned_on"
    SECRET_ALONE = "secret_alone"
    NO_URL_TELLS = "no_url_tells"
    NOT_SHOWN_AND_WORSE = "not_shown_and_worse"
    SETTING_UNREADABLE = "setting_unreadable"
    HOSTS_UNMARKED = "hosts_unmarked"
    URLS_CHANGED = "urls_changed"
    URLS_CONTRADICT = "urls_contradict"
    URLS_WORSE = "urls_worse"
    URLS_AS_AGREED = "urls_as_agreed"
    URLS_AS_BEFORE = "urls_as_before"
    URLS_NOT_AS_BEFORE = "urls_not_as_before"
    ACCOUNT_OFF = "account_off"
    DIFFERENCES_STAY = "differences_stay"
    SECRET_DROPPED = "secret_dropped"
    HELD_AFTER_TURNED_OFF = "held_after_turned_off"

    # What was seen of a change: log-fields.
    FIELDS_LOGGED = "fields_logged"
    FIELDS_OUT = "fields_out"
    FIELDS_LACKING = "fields_lacking"
    FIELDS_STAY = "fields_stay"
    FIELDS_TAKEN_OUT = "fields_taken_out"
    FIELDS_CHANGED_BY_OTHERS = "fields_changed_by_others"
    WRITE_LOST = "write_lost"
    FIELDS_OF_OTHERS_STOPPED = "fields_of_others_stopped"
    FIELDS_NOT_VERIFIED = "fields_not_verified"
    FIELDS_KEPT_UNVERIFIED = "fields_kept_unverified"
    FIELDS_SEEN = "fields_seen"
    ZONE_UNREADABLE = "zone_unreadable"

    # What became of a change, in every area.
    NOT_SEEN = "not_seen"
    NEVER_SHOWED = "never_showed"
    EARLIER_CHANGE_UNCLEAR = "earlier_change_unclear"
    PART_MAY_BE_LEFT = "part_may_be_left"
    ROLLED_BACK = "rolled_back"
    NOT_ROLLED_BACK = "not_rolled_back"
    WAY_BACK_TAKEN_UP = "way_back_taken_up"
    ROLLBACK_NOT_MADE = "rollback_not_made"
    NOT_WATCHED = "not_watched"
    NOT_LOOKED_AT_AGAIN = "not_looked_at_again"
    NOT_READ_BACK = "not_read_back"

    # Why nothing is signed of a look at a change, in every area.
    CHANGE_NOT_SIGNED = "change_not_signed"
    WATCHED_TOO_SHORT = "watched_too_short"
    MADE_BY_OTHERS = "made_by_others"
    MAY_STILL_SHOW = "may_still_show"
    SEEN_TO_ITS_END = "seen_to_its_end"

    # Reasons an activity failed, beside what the service refuses (edgeshift/model/failures.py).
    NOT_PERMITTED = "not_permitted"
    NOT_THERE = "not_there"
    SERVICE_REFUSED = "service_refused"
    SERVICE_FAILED = "service_failed"
    SERVICE_HELD = "service_held"
    ARCHIVE_DAMAGED = "archive_damaged"
    ARCHIVE_GONE = "archive_gone"
    ARCHIVE_UNAVAILABLE = "archive_unavailable"
    TICKETS_UNAVAILABLE = "tickets_unavailable"
    BAD_INPUT = "bad_input"
    NOT_IN_TIME = "not_in_time"
    FAILED = "failed"

    @classmethod
    def _missing_(cls, value: object) -> ReasonCode:
        return of_an_area(cls, value) or cls.OTHER
