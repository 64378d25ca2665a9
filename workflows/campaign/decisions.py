"""A campaign's book of decisions: people approve or reject fingerprints, for all zones or for one wave."""

from __future__ import annotations

from datetime import datetime, timedelta

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from edgeshift.campaign.book import MOST_WEIGHT, Word, weight_of
    from edgeshift.messages import Answer, CampaignSignOff, RulingVerb
    from edgeshift.model.counts import agreed, counted
    from edgeshift.model.sign_off import Choice, Decision
    from workflows.campaign.state import CampaignState
    from workflows.campaign.steering import refuse_if_over, refused

MOST_UNRECORDED = 4_000
"""Fingerprints of decisions that may wait for the archive to take them."""


class Decisions:
    """Takes decisions in, or says why one cannot count."""

    def __init__(self, state: CampaignState) -> None:
        self._state = state

    def take(self, message: CampaignSignOff) -> Answer:
        """Record a decision: it counts for each zone that waits and for each that comes later."""
        state, book = self._state, self._state.ledger.book
        fingerprints = tuple(dict.fromkeys(message.fingerprints))
        word = Word(message.choice, message.by, book.kept(message.reason), _to_milliseconds(workflow.now()))
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
        return Answer(text=f"{message.choice.past.capitalize()} {what} ({message.by}); {zones}")

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
        if message.wave is not None and not 0 <= message.wave < len(state.start.waves):
            raise refused(
                "SignOffRefused",
                f"there is no wave {message.wave}; waves are 0 to {len(state.start.waves) - 1}",
            )
        self._refuse_if_full(len(message.fingerprints))
        if state.ledger.newer_attempts:
            # The campaign was reset to before its zones began: what was signed then comes again before it has
            # looked at what they propose.
            return
        if unknown := [item for item in message.fingerprints if not state.ledger.is_known(item)]:
            raise refused(
                "SignOffRefused", f"no zone of this campaign has proposed the fingerprint {unknown[0]}"
            )

    def _refuse_if_full(self, fingerprints: int) -> None:
        """Raise ApplicationError (SignOffRefused) where the campaign would carry more than it can: a run that
        goes on in a new one takes all of it along.
        """
        book = self._state.ledger.book
        if book.weight + weight_of(fingerprints, 1) > MOST_WEIGHT:
            raise refused(
                "SignOffRefused",
                f"the campaign keeps {counted(len(book), 'decision')} and has no room for"
                f" {fingerprints:,} more; decide zone by zone, or in another campaign",
            )
        waiting = sum(len(note.fingerprints) for note in self._state.unrecorded)
        if waiting + fingerprints > MOST_UNRECORDED:
            raise refused(
                "SignOffRefused",
                f"the archive has not taken {counted(waiting, 'earlier decision')} yet;"
                " decide again once it has",
            )


def _to_milliseconds(at: datetime) -> datetime:
    return at - timedelta(microseconds=at.microsecond % 1_000)
