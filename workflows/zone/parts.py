"""The parts of a zone's workflow, put together over one memory."""

from __future__ import annotations

from dataclasses import dataclass

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from edgeshift.messages import ZoneStart
    from workflows.zone.changing import Changes
    from workflows.zone.ending import Ending
    from workflows.zone.inbox import Inbox
    from workflows.zone.preparing import Proposals
    from workflows.zone.reporting import Reporter
    from workflows.zone.signing import SignOffs
    from workflows.zone.state import ZoneMemory
    from workflows.zone.support import Support
    from workflows.zone.waiting import Waits


@dataclass(frozen=True)
class ZoneParts:
    """What the workflow of every area is made of. ``zone``: the memory that they share."""

    zone: ZoneMemory
    reporter: Reporter
    waits: Waits
    sign_offs: SignOffs
    changes: Changes
    support: Support
    proposals: Proposals
    ending: Ending


def parts_of(start: ZoneStart) -> ZoneParts:
    """The parts of a zone that begins, or goes on in a new run; its messages are heard from now on. Called by
    the constructor of the area's workflow.
    """
    zone = ZoneMemory(start)
    reporter = Reporter(zone)
    Inbox(zone, reporter).open()
    waits = Waits(zone, reporter)
    sign_offs = SignOffs(zone, reporter, waits)
    return ZoneParts(
        zone=zone,
        reporter=reporter,
        waits=waits,
        sign_offs=sign_offs,
        changes=Changes(zone, reporter, waits, sign_offs),
        support=Support(zone, reporter, waits),
        proposals=Proposals(zone, reporter, waits),
        ending=Ending(zone, reporter),
    )
