"""What an enemy's messages to activities say: of which zone they are, by which specification, and what was
proposed.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from edgeshift.areas import esc
from edgeshift.areas.assessment import Verdict
from edgeshift.areas.esc.report import ProbeReport, summary
from edgeshift.campaign_file.spec import CampaignSpec
from edgeshift.messages import CampaignStart, Permit, Prepared, Step, ZoneStart
from edgeshift.model.digests import digest, fingerprint
from edgeshift.model.fleet import MOST_ATTEMPTS, Zone
from edgeshift.probes import Baseline
from edgeshift.stores.documents import Proposal, put_document
from edgeshift.stores.documents.areas.esc import ProbedProposal
from edgeshift.stores.documents.proposals import put_proposal
from tests.forgeries.running.attack import BOTH, ENEMY, Attack
from tests.kit.stored import put_json

SENT_BEFORE = timedelta(minutes=1)
HIGH = 60_000
"""An attempt that nobody began, nor ever will."""

TO_COME = 200
"""An attempt that a target may come to, and nobody began."""


@dataclass(frozen=True)
class Dress:
    """The parts that messages are made of. ``back``: as if a change were being taken back; ``evidence``: what
    is said to speak for it.
    """

    start: ZoneStart
    prepared: Prepared
    permit: Permit
    decisions: tuple[Any, ...]
    campaign: CampaignStart
    since: datetime
    back: bool = False
    evidence: str = ""

    @property
    def spec(self) -> str:
        """The digest of the specification."""
        return self.start.spec

    @property
    def zone(self) -> Zone:
        """The zone that it is about."""
        return self.start.target.zone


Dressing = Callable[[Attack], Awaitable[Dress]]


async def in_its_own_name(a: Attack) -> Dress:
    """As the zone itself would say it, but for a policy that asks for one person and no second pair of eyes,
    with a permit and decisions of the enemy's own.
    """
    start, campaign = await a.started_with(), a.stage.play.start
    assert campaign is not None
    weak = start.policy.sign_off.model_copy(update={"required": 1, "four_eyes": False})
    policy = start.policy.model_copy(update={"sign_off": weak})
    bare = {"policy": policy, "permit": None, "carried": None, "planned": None, "attempt": a.state.attempt}
    a.touched.add(start.target.zone.id)
    return Dress(
        start=start.model_copy(update=bare),
        prepared=Prepared(
            verdict=Verdict.READY,
            snapshot=a.state.snapshot,
            step=a.state.step or Step.COMMIT,
            digest=a.state.digest,
            fingerprint=a.state.fingerprint,
            proposal=a.state.proposal,
            config=await a.configuration(),
        ),
        permit=a.permit(),
        decisions=tuple(a.word(name) for name in BOTH),
        campaign=campaign.model_copy(update={"policy": policy}),
        since=datetime.now(UTC) - SENT_BEFORE,
        evidence=a.state.evidence,
    )


async def of_another_zone(a: Attack) -> Dress:
    """What this zone proposes, said to be of the campaign's last zone."""
    dress, last = await in_its_own_name(a), len(a.stage.play.targets) - 1
    target = a.stage.play.targets[last]
    a.touched.add(target.zone.id)
    update = {"target": target, "index": last}
    return replace(dress, start=dress.start.model_copy(update=update))


async def in_a_later_attempt(a: Attack) -> Dress:
    """As of an attempt that nobody began."""
    dress = await in_its_own_name(a)
    return replace(dress, start=dress.start.model_copy(update={"attempt": HIGH}))


async def in_another_run(a: Attack) -> Dress:
    """As of a run of the campaign that never was: what people have signed counts for it all the same."""
    dress = await in_its_own_name(a)
    return replace(dress, start=dress.start.model_copy(update={"origin": f"{ENEMY}-run"}))


async def _in_attempt(a: Attack, attempt: int) -> Dress:
    dress = await in_its_own_name(a)
    return replace(dress, start=dress.start.model_copy(update={"attempt": attempt}))


async def in_an_attempt_to_come(a: Attack) -> Dress:
    """As of one that a campaign could count."""
    return await _in_attempt(a, TO_COME)


async def before_the_first_attempt(a: Attack) -> Dress:
    """As of one that nobody would have to begin."""
    return await _in_attempt(a, 0)


async def in_a_run_without_a_name(a: Attack) -> Dress:
    """As of a run whose records would be found by nobody."""
    dress = await in_its_own_name(a)
    nameless = {"origin": "", "campaign_run": ""}
    return replace(dress, start=dress.start.model_copy(update=nameless))


async def on_the_way_back_in_the_last_attempt(a: Attack) -> Dress:
    """As if the change were taken back in an attempt after which none can come."""
    return replace(await _in_attempt(a, MOST_ATTEMPTS), back=True)


async def on_the_way_back(a: Attack) -> Dress:
    """As if the change had been made, and were taken back."""
    return replace(await in_its_own_name(a), back=True)


def _under(dress: Dress, name: str) -> Dress:
    return replace(dress, permit=dress.permit.model_copy(update={"name": name}))


async def under_an_empty_name(a: Attack) -> Dress:
    """By a permit whose records would lie in the place of all of the zone's."""
    return _under(await in_its_own_name(a), "")


async def under_a_name_of_two_parts(a: Attack) -> Dress:
    """By a permit whose name would be that of a folder."""
    dress = await in_its_own_name(a)
    return _under(dress, f"{dress.permit.name}/{ENEMY}")


async def below_what_was_sent(a: Attack) -> Dress:
    """By a permit whose records would lie below one of what the campaign has sent, where it has sent any."""
    dress = await in_its_own_name(a)
    folder = a.folder / "intent" / dress.zone.id / dress.start.area.value
    found = sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []
    return _under(dress, f"{found[0] if found else 'p-1'}/x")


async def with_a_planted_proposal(a: Attack) -> Dress:
    """By a proposal that the enemy has laid into the archive, which asks for nothing, so that all of it is
    done.
    """
    dress = await in_its_own_name(a)
    body, proposal, evidence = await _planted(a, dress.zone)
    update = {"proposal": proposal, "digest": digest(body), "fingerprint": fingerprint(body, dress.zone)}
    return replace(dress, prepared=dress.prepared.model_copy(update=update), evidence=evidence)


async def with_a_planted_proposal_on_the_way_back(a: Attack) -> Dress:
    """The same, as if it were taken back."""
    return replace(await with_a_planted_proposal(a), back=True)


async def _planted(a: Attack, zone: Zone) -> tuple[dict[str, Any], str, str]:
    """The body of a proposal for a zone of this area, its digest in the archive, and that of its evidence."""
    match a.stage.play.spec.area.value:
        case "esc":
            report = ProbeReport(made_at=datetime.now(UTC), rounds=2)
            body = esc.body(zone, summary(report))
            report = report.model_copy(update={"zone": zone.id, "proposal": digest(body)})
            evidence = await put_document(a.archive, report)
            kept = ProbedProposal(
                body=body, report=evidence, baseline=await put_document(a.archive, Baseline())
            )
            return body, await put_proposal(a.archive, kept), evidence
        case "log-fields":
            fields = {"request_headers": ["x-team"], "response_headers": [], "cookies": ["Basket"]}
            body = {"name": ENEMY, "fields": fields, "jobs": {"new": None}}
        case _:
            body = {"name": ENEMY, "rules": []}
    return body, await put_proposal(a.archive, Proposal(body=body)), a.state.evidence


# --- specifications of his own


async def _by(a: Attack, **parts: dict[str, Any]) -> Dress:
    """By the campaign's specification with these parts changed, which lies in the archive with its digest.
    Everything takes a moment by it.
    """
    dress = await in_its_own_name(a)
    found = a.stage.play.spec.model_dump(mode="json")
    changed = {key: {**found[key], **part} for key, part in parts.items()}
    spec = CampaignSpec.model_validate({**found, **changed, "time_scale": 1_000_000})
    stored = await put_json(a.archive, spec.model_dump(mode="json"))
    return replace(
        dress,
        start=dress.start.model_copy(update={"spec": stored}),
        campaign=dress.campaign.model_copy(update={"spec": stored}),
    )


async def by_a_strangers_service(a: Attack) -> Dress:
    """The service is the stranger's; it is called with the campaign's credentials."""
    return await _by(a, service={"base_url": a.server.service})


async def by_a_strangers_proxy(a: Attack) -> Dress:
    """The service is reached by the stranger."""
    return await _by(a, service={"proxy": a.server.web})


async def by_a_strangers_webhook(a: Attack) -> Dress:
    """Tickets go to the stranger, with the campaign's token for their secret."""
    secret = a.stage.play.spec.service.credentials[0].reference
    return await _by(a, tickets={"webhook": a.server.web, "secret": secret, "proxy": "direct"})


async def by_a_strangers_edge(a: Attack) -> Dress:
    """Probes ask the stranger in place of the service's edge."""
    found = a.stage.play.spec.model_dump(mode="json")["esc"]
    return await _by(a, esc={"probe": {**found["probe"], "edge": a.server.elsewhere}})
