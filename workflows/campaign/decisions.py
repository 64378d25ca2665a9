"""A campaign's book of decisions: people approve or reject fingerprints, for all zones or for one wave."""

from __future__ import annotations

from datetime import datetime, timedelta

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from edgeshift.campaign.book import DecidingWord
    from edgeshift.campaign.zone_reports import MOST_GROUPS
    from edgeshift.messages import Answer, CampaignSignOff, RulingVerb
    from edgeshift.model.counts import agreed, counted
    from edgeshift.model.sign_off import Choice, Decision, said_of_several, still_needed
    from workflows.campaign.state import CampaignState
    from workflows.campaign.steering import refuse_if_over, refuse_if_unrecorded, refused


class Decisions:
    """Takes decisions in, or says why one cannot count."""

    def __init__(self, state: CampaignState) -> None:
        self._state = state

    def take(self, message: CampaignSignOff) -> Answer:
        """Record a decision: it counts for each zone that waits and for each that comes later."""
        state, book = self._state, self._state.ledger.book
        fingerprints = tuple(dict.fromkeys(message.fingerprints))
        word = DecidingWord(
            message.choice, message.by, book.kept(message.reason), _to_milliseconds(workflow.now())
        )
        before = [book.record(fingerprint, message.wave, word) for fingerprint in fingerprints]
        rejects = message.choice is Choice.REJECT
        withdrawn = tuple(
            fingerprint
            for fingerprint, said in zip(fingerprints, before, strict=True)
            if not rejects and said is not None and said.choice is Choice.REJECT
        )
        # The whole reason is there.
        self._rule("rejected" if rejects else "approved", message, fingerprints)
        if withdrawn:
            self._rule("withdrawn", message, withdrawn)
        moved = state.apply_to(fingerprints)
        state.changed()
        what = counted(len(fingerprints), "fingerprint")
        then = agreed(moved, "ends", "end") if rejects else agreed(moved, "goes on", "go on")
        zones = f"{counted(moved, 'waiting zone')} {then}"
        needed = "" if rejects else self._still_needed(message, fingerprints, moved)
        return Answer(text=f"{message.choice.past.capitalize()} {what} ({message.by}); {zones}{needed}")

    def _still_needed(self, message: CampaignSignOff, fingerprints: tuple[str, ...], moved: int) -> str:
        """What the fingerprints lack still, by the one that lacks most. Where that is not said of all that
        was decided on, it says of what: some go on, which lack nothing.
        """
        state, now = self._state, workflow.now()
        wave = state.wave if message.wave is None else message.wave
        policy, by = state.start.policy.sign_off, state.start.started_by
        needed = [
            still_needed(state.ledger.book.said(fingerprint, wave), policy, by, now)
            for fingerprint in fingerprints
        ]
        said = said_of_several(needed)
        lacking = sum(1 for more, _ in needed if more)
        if said and lacking < len(fingerprints):
            said = f"for {lacking:,} of the fingerprints, {said}"
        elif said and moved:
            # Those that go on are of waves with decisions of their own.
            said = f"in wave {wave + 1}, {said}"
        return f"; {said}" if said else ""

    def _rule(self, verb: RulingVerb, message: CampaignSignOff, fingerprints: tuple[str, ...]) -> None:
        self._state.rule(verb, message.by, message.reason, fingerprints=fingerprints, wave=message.wave)

    def refuse(self, message: CampaignSignOff) -> None:
        """Raise ApplicationError (SignOffRefused, CampaignOver) where the decision cannot count."""
        state = self._state
        refuse_if_over(state)
        if state.start.policy.sign_off.per == "zone":
            raise refused("SignOffRefused", "this campaign is signed off zone by zone (sign_off.per: zone)")
        decision = Decision(choice=message.choice, digest=message.fingerprints[0], by=message.by)
        if reason := state.refusal(decision):
            raise refused("SignOffRefused", reason)
        count = len(state.start.waves)
        if message.wave is not None and not 0 <= message.wave < count:
            # Whoever reads this counts waves from 1, as everything else that people see does.
            right = "there is wave 1 alone" if count == 1 else f"waves are 1 to {count}"
            raise refused("SignOffRefused", f"there is no wave {message.wave + 1}; {right}")
        self._refuse_if_full(message)
        unknown = [item for item in message.fingerprints if not state.ledger.is_known(item)]
        if unknown and state.ledger.newer_attempts and self._has_room_for(unknown):
            # The campaign was reset to before its zones began: what was signed then comes again before it has
            # looked at what they propose.
            return
        if unknown:
            raise refused(
                "SignOffRefused", f"no zone of this campaign has proposed the fingerprint {unknown[0]}"
            )

    def _has_room_for(self, unknown: list[str]) -> bool:
        """Whether so many fingerprints that no zone has proposed may be proposed yet: no campaign has more
        than ``MOST_GROUPS``, and anybody may say that a zone is in an attempt that nobody knows.
        """
        ledger = self._state.ledger
        ahead = {*unknown, *(one for one in ledger.book.fingerprints() if not ledger.is_known(one))}
        return len(ahead) <= MOST_GROUPS

    def _refuse_if_full(self, message: CampaignSignOff) -> None:
        """Raise ApplicationError (SignOffRefused) where the campaign would carry more than it can: a run that
        goes on in a new one takes all of it along.
        """
        ledger, fingerprints = self._state.ledger, tuple(dict.fromkeys(message.fingerprints))
        word = DecidingWord(message.choice, message.by, "", _to_milliseconds(workflow.now()))
        known = [group.fingerprint for group in ledger.known]
        if not ledger.book.has_room_for(fingerprints, message.wave, word, known):
            kind = "approval" if message.choice is Choice.APPROVE else "decision"
            raise refused(
                "SignOffRefused",
                f"the campaign has no room for this beside {counted(len(ledger.book), 'decision')}: each that"
                f" was given by itself takes its own, and so does each name. Give one {kind} for many"
                " fingerprints, as sign-off does with --wave or several fingerprints; it takes the place of"
                " those that you gave one by one. Or decide zone by zone (--zone)",
            )
        refuse_if_unrecorded(self._state, "SignOffRefused", len(fingerprints))


def _to_milliseconds(at: datetime) -> datetime:
    return at - timedelta(microseconds=at.microsecond % 1_000)
