"""Tickets by HTTP: one POST per ticket, with an idempotency key."""

from __future__ import annotations

import asyncio
import json
from typing import Any
from urllib.parse import urljoin, urlsplit

import httpx
from pydantic import SecretStr

from edgeshift.model.addresses import PLAIN_TICKETS, is_loopback_host
from edgeshift.runtime.proxies import BadProxy, proxy_at
from edgeshift.runtime.redaction import redact_text
from edgeshift.runtime.safe_text import one_line
from edgeshift.runtime.tls import BadCaFile, tls_context
from edgeshift.service_api.envelope import is_page
from edgeshift.stores.tickets.ticket import (
    Ticket,
    TicketRef,
    TicketsMisconfigured,
    TicketsRefused,
    TicketsUnavailable,
)

LARGEST_ANSWER = 64 * 1024
"""Bytes of a receiver's answer that are read."""

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
        self._url = url
        self._at = _shown(url, path_shown=path_shown)
        self._headers = {"Authorization": f"Bearer {_header_value(secret)}"} if secret else {}
        self._limit = limit
        try:
            self._proxy = proxy_at(proxy)
            self._tls = tls_context(ca_file)
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
            async with (
                asyncio.timeout(self._limit),
                httpx.AsyncClient(
                    verify=self._tls, proxy=self._proxy, timeout=self._limit, trust_env=False
                ) as client,
                client.stream("POST", self._url, json=document, headers=headers) as answer,
            ):
                body = await _read(answer)
        except (httpx.HTTPError, TimeoutError) as why:
            raise TicketsUnavailable(
                f"{self._at}: ticket {ticket.key} was not taken ({type(why).__name__})"
            ) from None
        if not (answer.is_success or answer.status_code == 409):
            kind = (
                TicketsUnavailable
                if answer.status_code >= 500 or answer.status_code in _RETRIED
                else TicketsRefused
            )
            raise kind(f"{self._at}: answered {answer.status_code} to ticket {ticket.key}")
        if is_page(body):
            raise TicketsUnavailable(
                f"{self._at}: answered {answer.status_code} to ticket {ticket.key} with a page, as a proxy or"
                " a log-in does; the receiver of tickets has to answer itself"
            )
        return TicketRef(
            key=ticket.key, location=self._location(answer, body), created=answer.status_code != 409
        )

    def _location(self, answer: httpx.Response, body: bytes) -> str:
        found: Any = answer.headers.get("location")
        if not found:
            try:
                document = json.loads(body)
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
        httpx.URL(url)
    except (ValueError, httpx.InvalidURL):
        parts, port = urlsplit(""), ""
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.username or parts.password:
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


async def _read(answer: httpx.Response) -> bytes:
    """The beginning of a receiver's answer, as it came: what is longer, or packed, says nothing of where the
    ticket is.
    """
    body = bytearray()
    async for part in answer.aiter_raw():
        body += part
        if len(body) > LARGEST_ANSWER:
            break
    return bytes(body[:LARGEST_ANSWER])
