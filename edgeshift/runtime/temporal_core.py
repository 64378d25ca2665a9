"""What the native core of the Temporal SDK logs: left to itself, it writes on standard output, in colours."""

from __future__ import annotations

from temporalio.runtime import LoggingConfig, Runtime, TelemetryConfig


def set_up_core(logging: LoggingConfig | None = None) -> None:
    """Have the core log as this says, or not at all. To be called before a process's first connection: the
    core is set up once, and later calls change nothing.
    """
    try:
        # It raises where there is one.
        Runtime.prevent_default()  # type: ignore[no-untyped-call]
    except RuntimeError:
        return
    Runtime.set_default(Runtime(telemetry=TelemetryConfig(logging=logging)))
