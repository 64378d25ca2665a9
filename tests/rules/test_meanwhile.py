"""What goes on beside other work, and no longer than that."""

from __future__ import annotations

import asyncio

import pytest

from edgeshift.runtime.meanwhile import meanwhile


async def test_it_goes_on_until_the_block_ends() -> None:
    """It is over when the block is left, also by an error, which stays what it was."""
    begun, ended = asyncio.Event(), []

    async def work() -> None:
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.append(True)

    with pytest.raises(LookupError, match="of the block"):
        async with meanwhile(work()):
            await begun.wait()
            raise LookupError("of the block")
    assert ended == [True]


async def test_what_it_failed_by_is_raised_at_the_end() -> None:
    """Nobody waits for it before."""

    async def work() -> None:
        raise LookupError("of the work")

    done = []
    with pytest.raises(LookupError, match="of the work"):
        async with meanwhile(work()):
            await asyncio.sleep(0)
            done.append(True)
    assert done == [True]
