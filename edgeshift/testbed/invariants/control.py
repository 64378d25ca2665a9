"""The simulator's control API, as the checkers and the demo use it: its journal, its state, its faults."""

from __future__ import annotations

import asyncio
import json
import urllib.error
import urllib.request
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

PAGE = 1000
PATIENCE = 30.0


class ControlError(Exception):
    """The control API is not there, or refused what was asked."""


class Control:
    """A simulator's control API at ``url`` (``http://127.0.0.1:8780/_simulator``)."""

    def __init__(self, url: str) -> None:
        self.url = url.rstrip("/")
        # Never by a proxy: the control API is on this machine.
        self._open = urllib.request.build_opener(urllib.request.ProxyHandler({})).open

    async def get(self, path: str, **query: object) -> Any:
        """The JSON that is at ``path``. Raises ControlError."""
        return await self._call("GET", path, None, query)

    async def send(self, method: str, path: str, body: object = None) -> Any:
        """Send JSON; the JSON that it answers. Raises ControlError."""
        return await self._call(method, path, body, {})

    async def journal(self) -> list[dict[str, Any]]:
        """Every request that the simulator saw, oldest first."""
        found: list[dict[str, Any]] = []
        after: int | None = 0
        while after is not None:
            page = await self.get("journal", after=after, limit=PAGE)
            found += page["entries"]
            after = page["next"]
        return found

    async def _call(self, method: str, path: str, body: object, query: Mapping[str, object]) -> Any:
        url = f"{self.url}/{path}" + (f"?{urlencode(query)}" if query else "")
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(
            url, data=data, method=method, headers={"Content-Type": "application/json"}
        )
        return await asyncio.to_thread(self._answer, request)

    def _answer(self, request: urllib.request.Request) -> Any:
        try:
            with self._open(request, timeout=PATIENCE) as answer:
                content = answer.read()
        except urllib.error.HTTPError as error:
            text = error.read(500).decode(errors="replace")
            raise ControlError(f"{request.method} {request.full_url}: {error.code} {text}") from None
        except (OSError, ValueError) as error:
            raise ControlError(f"{request.method} {request.full_url}: {error}") from None
        try:
            return json.loads(content) if content else None
        except ValueError:
            raise ControlError(f"{request.method} {request.full_url}: the answer is no JSON") from None
