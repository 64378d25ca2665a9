"""Tickets by HTTP: one POST per ticket, with an idempotency key."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import urljoin, urlsplit

from pydantic import SecretStr

from edgeshift.http.posting import Answer, NotAnswered, Posting, can_be_asked
from edgeshift.http.proxies import BadProxy
from edgeshift.http.tls import BadCaFile
from edgeshift.model.addresses import PLAIN_TICKETS, is_loopback_host
from edgeshift.runtime.redaction import redact_text
from edgeshift.runtime.safe_text import one_line
from edgeshift.service_api.envelope import is_page
from edgeshift.stores.tickets.ticket import (
    Ticket,
    TicketRef,
    TicketsMisconfigured,
    TicketsRefused,
    TicketsUnavailable,
)

_RETRIED = frozenset({408, 421, 423, 425, 429})


class WebhookTickets:
    """Posts a ticket as JSON, with its key in the header ``Idempotency-Key`` and as the field ``key``.

    The receiver keeps one ticket per key: sending again is safe. 2xx says that it has the ticket, 409 that it
    had it before; a page says neither, whatever its status: somebody between has sent it. ``path_shown``:
    whether the URL's path may be repeated; for many receivers it is the key. The ticket's address is the
    answer's ``Location`` header, or ``url``, ``location`` or ``html_url`` in its JSON. ``secret`` goes along
    as a bearer token. ``proxy``: its URL, with its password; ``ca_file``: PEM certificates trusted beside the
    usual ones. Raises TicketsMisconfigured.
    """

    def __init__(
        self,
        url: str,
        *,
        secret: SecretStr | None = None,
        proxy: str | None = None,
        ca_file: str | None = None,
        limit: float = 30.0,
        path_shown: bool = True,
    ) -> None:
        self._at = _shown(url, path_shown=path_shown)
        self._headers = {"Authorization": f"Bearer {_header_value(secret)}"} if secret else {}
        try:
            self._posting = Posting(url, proxy=proxy, ca_file=ca_file, limit=limit)
        except BadProxy as bad:
            raise TicketsMisconfigured(f"tickets: the proxy cannot be used: {bad}") from None
        except BadCaFile as bad:
            raise TicketsMisconfigured(str(bad)) from None

    def __repr__(self) -> str:
        return f"WebhookTickets({self._at!r})"

    async def open(self, ticket: Ticket) -> TicketRef:
        """Post the ticket. Raises TicketsUnavailable, which may be tried again, or TicketsRefused."""
        document = ticket.model_dump(mode="json")
        headers = {**self._headers, "Idempotency-Key": ticket.key, "Accept-Encoding": "identity"}
        try:
            answer = await self._posting.post(document, headers)
        except NotAnswered as why:
            raise TicketsUnavailable(f"{self._at}: ticket {ticket.key} was not taken ({why})") from None
        if not (200 <= answer.status < 300 or answer.status == 409):
            kind = TicketsUnavailable if answer.status >= 500 or answer.status in _RETRIED else TicketsRefused
            raise kind(f"{self._at}: answered {answer.status} to ticket {ticket.key}")
        if is_page(answer.body):
            raise TicketsUnavailable(
                f"{self._at}: answered {answer.status} to ticket {ticket.key} with a page, as a proxy or"
                " a log-in does; the receiver of tickets has to answer itself"
            )
        return TicketRef(key=ticket.key, location=self._location(answer), created=answer.status != 409)

    def _location(self, answer: Answer) -> str:
        found: Any = answer.location
        if not found:
            try:
                document = json.loads(answer.body)
            except (ValueError, RecursionError):
                document = None
            if isinstance(document, dict):
                found = next(filter(None, map(document.get, ("url", "location", "html_url"))), None)
        if not isinstance(found, str):
            return self._at
        try:
            # A receiver may repeat what it was called by, and more than an address.
            return one_line(redact_text(urljoin(self._at, found)), 500)
        except ValueError:
            # No address: the ticket is there all the same.
            return self._at


def _shown(url: str, *, path_shown: bool) -> str:
    """A receiver as texts name it. Raises TicketsMisconfigured, which repeats nothing: it may be a secret."""
    try:
        parts = urlsplit(url)
        port = f":{parts.port}" if parts.port else ""
    except ValueError:
        parts, port = urlsplit(""), ""
    good = parts.scheme in ("http", "https") and can_be_asked(url)
    if not good or not parts.hostname or parts.username or parts.password:
        raise TicketsMisconfigured("tickets.webhook: write it as https://HOST/PATH, without user or password")
    if parts.scheme == "http" and not is_loopback_host(parts.hostname):
        raise TicketsMisconfigured(f"tickets.webhook: {PLAIN_TICKETS}")
    return f"{parts.scheme}://{parts.hostname}{port}{parts.path if path_shown else ''}"


def _header_value(secret: SecretStr) -> str:
    value = secret.get_secret_value()
    if not value.isascii() or not value.isprintable():
        raise TicketsMisconfigured(
            "tickets.secret: it has characters that no header may carry: one line of printable ASCII is right"
        )
    return value
