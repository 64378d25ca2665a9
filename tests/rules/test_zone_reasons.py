"""What a zone says of an activity that failed."""

from __future__ import annotations

from temporalio.exceptions import ActivityError, ApplicationError, FailureError, TimeoutError

from workflows.zone.failures import said


def failed(cause: BaseException | None) -> ActivityError:
    """An activity that probes, failed for this reason."""
    found = ActivityError(
        "Activity task failed",
        scheduled_event_id=1,
        started_event_id=2,
        identity="worker",
        activity_type="probe_esc_scope",
        activity_id="1",
        retry_state=None,
    )
    found.__cause__ = cause
    return found


def test_an_activity_that_never_succeeded_is_named() -> None:
    """The server says that time was over; which activity it was has to be said beside."""
    late: FailureError = TimeoutError("Activity timed out", type=None, last_heartbeat_details=[])
    assert said(failed(late)) == "probe esc scope did not succeed in time, however often it was tried"
    late.__cause__ = ApplicationError("esc.get: 500", type="ServerError")
    assert said(failed(late)).endswith("it was tried: esc.get: 500")


def test_a_reason_is_told_as_it_is() -> None:
    """Also where it comes without the activity around it."""
    why = ApplicationError("waf.check: 400: not now", type="Refused")
    assert said(failed(why)) == said(why) == "waf.check: 400: not now"
