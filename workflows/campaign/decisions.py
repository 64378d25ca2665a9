"""A campaign's book of decisions: people approve or reject fingerprints, for all zones or for one wave."""

from __future__ import annotations

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from edgeshift.campaign.target_states import Place
    from edgeshift.messages import Answer, Book, CampaignSignOff, RulingVerb
    from edgeshift.model.counts import agreed, counted
    from edgeshift.model.sign_off import Choice, Decision
    from workflows.campaign.state import CampaignState
    from workflows.campaign.steering import refuse_if_over, refused

FEW = 20
"""Fingerprints of one sign-off up to which each keeps the whole reason."""

SHORT = 80
"""Characters of a reason that are kept of a decision on more than a few fingerprints."""


class Decisions:
    """Takes decisions in, or says why one cannot count."""

    def __init__(self, state: CampaignState) -> None:
        self._state = state

    def take(self, message: CampaignSignOff) -> Answer:
        """Record a decision: it counts for each zone that waits and for each that comes later."""
        ledger = self._state.ledger
        for fingerprint in message.fingerprints:
            entry = self._entry(fingerprint, message.wave)
            before = next((item for item in entry.decisions if item.by == message.by), None)
            others = (item for item in entry.decisions if item.by != message.by)
            entry.decisions = [*others, decision := self._decision(message, fingerprint)]
            if decision.choice is Choice.REJECT:
                self._rule("rejected", decision, message.wave)
            elif before is not None and before.choice is Choice.REJECT:
                self._rule("withdrawn", decision, message.wave)
        waited = ledger.number(Place.READY, Place.REJECTING)
        self._state.apply_book(list(range(ledger.count)))
        moved = ledger.number(Place.READY, Place.REJECTING) - waited
        self._state.changed()
        what = counted(len(message.fingerprints), "fingerprint")
        then = agreed(moved, "goes on", "go on")
        if message.choice is Choice.REJECT:
            then = agreed(moved, "ends", "end")
        zones = f"{counted(moved, 'waiting zone')} {then}"
        return Answer(text=f"{message.choice.past.capitalize()} {what} ({message.by}); {zones}")

    def _rule(self, verb: RulingVerb, decision: Decision, wave: int | None) -> None:
        self._state.rule(verb, decision.by, decision.reason, fingerprint=decision.digest, wave=wave)

    def _entry(self, fingerprint: str, wave: int | None) -> Book:
        book = self._state.ledger.book
        for entry in book:
            if (entry.fingerprint, entry.wave) == (fingerprint, wave):
                return entry
        book.append(Book(fingerprint=fingerprint, wave=wave))
        return book[-1]

    def _decision(self, message: CampaignSignOff, fingerprint: str) -> Decision:
        return Decision(
            choice=message.choice,
            digest=fingerprint,
            by=message.by,
            # The campaign carries every decision with it: of many at once, each keeps a short reason.
            reason=message.reason if len(message.fingerprints) <= FEW else message.reason[:SHORT],
            at=workflow.now(),
        )

    def refuse(self, message: CampaignSignOff) -> None:
        """Raise ApplicationError (SignOffRefused, CampaignOver) where the decision cannot count."""
        state = self._state
        refuse_if_over(state)
        if state.start.policy.sign_off.per == "zone":
            raise refused("SignOffRefused", "this campaign is signed off zone by zone (sign_off.per: zone)")
        if reason := state.refusal(self._decision(message, message.fingerprints[0])):
            raise refused("SignOffRefused", reason)
        if message.wave is not None and not 0 <= message.wave < len(state.start.waves):
            raise refused(
                "SignOffRefused",
                f"there is no wave {message.wave}; waves are 0 to {len(state.start.waves) - 1}",
            )
        if state.ledger.overtaken:
            # The campaign was reset to before its zones began: what was signed then comes again before it has
            # looked at what they propose.
            return
        known = {shape.fingerprint for shape in state.ledger.known}
        if unknown := [item for item in message.fingerprints if item not in known]:
            raise refused(
                "SignOffRefused", f"no zone of this campaign has proposed the fingerprint {unknown[0]}"
            )
