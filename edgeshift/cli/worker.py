"""``edgeshift worker``: run a worker until it is told to stop."""

from __future__ import annotations

from edgeshift.cli.shell import current, run


def worker() -> None:
    """Run a worker until SIGINT or SIGTERM; what is on the wire is seen through first."""
    from edgeshift.runtime.logging import bridge_temporal_core, configure_logging
    from worker import process

    current().check_stack()
    settings = current().settings
    configure_logging(settings.log)
    bridge_temporal_core()
    run(process.run(settings))
