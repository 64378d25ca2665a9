"""Handlers of signals and updates that nothing which anybody may send can stop a workflow with."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, TypeVar, cast

from temporalio import workflow
from temporalio.exceptions import ApplicationError

with workflow.unsafe.imports_passed_through():
    from pydantic import BaseModel

Handler = TypeVar("Handler", bound=Callable[..., Any])


def one_message(handler: Handler) -> Handler:
    """Call the handler with exactly one message of its model; drop anything else.

    What cannot be decoded the SDK drops by itself. But null, no argument at all or too many of them reach the
    handler, where an error would fail the workflow task, again and again: the workflow would hang for good.
    """

    def fits(args: tuple[Any, ...]) -> bool:
        if len(args) == 1 and isinstance(args[0], BaseModel):
            return True
        workflow.logger.warning("a signal %s that is no message was dropped", handler.__name__)
        return False

    if inspect.iscoroutinefunction(handler):

        @functools.wraps(handler)
        async def awaited(self: object, *args: Any) -> None:
            if fits(args):
                await handler(self, *args)

        return cast(Handler, awaited)

    @functools.wraps(handler)
    def called(self: object, *args: Any) -> None:
        if fits(args):
            handler(self, *args)

    return cast(Handler, called)


def refuse_nonsense(message: object) -> None:
    """For the validator of an update: raises ApplicationError where it was sent something else than a
    message.

    Too few arguments, too many, and what cannot be decoded fail there by themselves; null gets through to the
    handler, where an error would fail the workflow task for good. So every update needs a validator.
    """
    if not isinstance(message, BaseModel):
        raise ApplicationError("a message was expected", type="BadInput", non_retryable=True)
