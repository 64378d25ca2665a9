"""How edgeshift logs: structlog for its own words, the same form for the libraries, no secrets in either."""

from __future__ import annotations

import logging
import sys
from collections.abc import MutableMapping
from typing import Any, TextIO

import structlog
from structlog.stdlib import ProcessorFormatter
from structlog.typing import Processor

from edgeshift.runtime.redaction import redact, redact_text
from edgeshift.runtime.safe_text import visible
from edgeshift.runtime.settings import LogSettings

_TALKATIVE = ("httpcore", "httpx", "asyncio", "uvicorn.access")
"""Libraries whose `info` tells of every call; they speak from `warning` on."""


def configure_logging(settings: LogSettings | None = None, *, stream: TextIO | None = None) -> None:
    """Set up logging for this process; a second call replaces the first.

    Lines go to `stream` (standard error by default), one a record: for people in a terminal, as JSON
    elsewhere, unless the settings say which. The loggers of the Temporal SDK, of uvicorn and of every
    other library take the same way. Values of secret fields and registered secrets are masked, in
    tracebacks too.
    """
    chosen = settings or LogSettings()
    output = stream or sys.stderr
    as_json = chosen.format == "json" or (chosen.format == "auto" and not output.isatty())
    shared: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_logger_name,
        structlog.stdlib.add_log_level,
        structlog.stdlib.ExtraAdder(),
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.format_exc_info,
        redact_event,
    ]
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            structlog.stdlib.PositionalArgumentsFormatter(),
            *shared,
            ProcessorFormatter.wrap_for_formatter,
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=False,
    )
    renderer: Processor = (
        structlog.processors.JSONRenderer(default=str)
        if as_json
        else structlog.dev.ConsoleRenderer(colors=output.isatty())
    )
    handler = logging.StreamHandler(output)
    handler.setFormatter(
        _RedactingFormatter(
            foreign_pre_chain=shared,
            processors=[ProcessorFormatter.remove_processors_meta, show_all, renderer],
        )
    )
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(chosen.level.upper())
    for name in _TALKATIVE:
        logging.getLogger(name).setLevel(max(logging.WARNING, root.level))


def bridge_temporal_core() -> None:
    """Let the native core of the Temporal SDK log the same way, as `temporalio.core`.

    To be called before this process's first connection: the core is set up once. Later calls, and one
    after a connection, change nothing.
    """
    from temporalio.runtime import LogForwardingConfig, LoggingConfig, TelemetryFilter

    from edgeshift.runtime.temporal_core import set_up_core

    forwarding = LogForwardingConfig(logger=logging.getLogger("temporalio.core"))
    levels = TelemetryFilter(core_level="WARN", other_level="ERROR")
    set_up_core(LoggingConfig(filter=levels, forwarding=forwarding))


def logger(name: str) -> structlog.stdlib.BoundLogger:
    """A logger by this name: `log.info("what happened", zone=…)`, the event first, then fields."""
    bound: structlog.stdlib.BoundLogger = structlog.stdlib.get_logger(name)
    return bound


def redact_event(_logger: object, _method: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """A structlog processor that masks the values of secret fields and every registered secret."""
    for key, value in redact(event).items():
        event[key] = value
    return event


def show_all(_logger: object, _method: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """A structlog processor that shows as escapes what a terminal would obey in place of showing it."""
    for key, value in event.items():
        if isinstance(value, str):
            event[key] = visible(value, keep="\n\t")
    return event


class _RedactingFormatter(ProcessorFormatter):
    """Masks once more in the finished line, which also holds what objects say of themselves."""

    def format(self, record: logging.LogRecord) -> str:
        return redact_text(super().format(record))
