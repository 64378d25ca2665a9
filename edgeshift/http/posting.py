"""One document posted over HTTP, and the beginning of what came back."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import httpx

from edgeshift.http.proxies import proxy_at
from edgeshift.http.tls import tls_context

LARGEST_ANSWER = 64 * 1024
"""Bytes of a receiver's answer that are read."""


class NotAnswered(Exception):
    """Nobody answered in time, or the connection broke; the text names the kind of failure alone."""


@dataclass(frozen=True)
class Answer:
    """What a receiver answered. ``location``: its header, if it has one; ``body``: its beginning, as it came:
    what is longer, or packed, is not read on.
    """

    status: int
    location: str | None
    body: bytes


class Posting:
    """The way to one receiver. Settings of the environment (``HTTPS_PROXY``, ``.netrc``) do not count here.

    ``proxy``: its URL, with its password; ``ca_file``: PEM certificates trusted beside the usual ones;
    ``limit``: seconds of a whole request. Raises BadProxy, BadCaFile.
    """

    def __init__(self, url: str, *, proxy: str | None, ca_file: str | None, limit: float) -> None:
        self._url, self._limit = url, limit
        self._proxy = proxy_at(proxy)
        self._tls = tls_context(ca_file)

    async def post(self, document: Any, headers: Mapping[str, str]) -> Answer:
        """Post a document as JSON, once. Raises NotAnswered."""
        try:
            async with (
                asyncio.timeout(self._limit),
                httpx.AsyncClient(
                    verify=self._tls, proxy=self._proxy, timeout=self._limit, trust_env=False
                ) as client,
                client.stream("POST", self._url, json=document, headers=headers) as answer,
            ):
                body = await _beginning(answer)
        except (httpx.HTTPError, TimeoutError) as why:
            raise NotAnswered(type(why).__name__) from None
        return Answer(answer.status_code, answer.headers.get("location"), body)


def can_be_asked(url: str) -> bool:
    """Whether a request can be made of it."""
    try:
        httpx.URL(url)
    except (ValueError, httpx.InvalidURL):
        return False
    return True


async def _beginning(answer: httpx.Response) -> bytes:
    body = bytearray()
    async for part in answer.aiter_raw():
        body += part
        if len(body) > LARGEST_ANSWER:
            break
    return bytes(body[:LARGEST_ANSWER])
