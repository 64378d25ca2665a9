"""Mutations of what stands around a result: success and errors, the result as a whole, and what an answer
says of its pages. Pure.
"""

from __future__ import annotations

import copy
from typing import Any

from edgeshift.profiles import SPECIFICATION
from edgeshift.testbed.simulator.poison_brew import Brew, Mutation
from edgeshift.testbed.simulator.poison_values import null

_ERROR = {"code": 1000, "message": "something is not as it should be"}
_MOST = SPECIFICATION.most_firewall_rules
_SUPPORT = {"message": f"cannot migrate more than {_MOST} firewall rules, please contact support"}


def _enveloped(brew: Brew) -> dict[str, Any]:
    """The answer's envelope, put around it where it has none."""
    if not isinstance(brew.document, dict) or "success" not in brew.document:
        brew.root[""] = {"result": brew.document, "success": True, "errors": [], "messages": []}
    found: dict[str, Any] = brew.document
    return found


def success_with_errors(brew: Brew) -> None:
    """``success`` true beside errors."""
    _enveloped(brew)["errors"] = [brew.chance.choice([_ERROR, _SUPPORT, "text", None, 7])]


def failure_with_result(brew: Brew) -> None:
    """``success`` false beside a result."""
    envelope = _enveloped(brew)
    envelope["success"] = False
    envelope["errors"] = brew.chance.choice(
        [[], None, [_ERROR], [_SUPPORT], "text", {"0": _ERROR}, [[_ERROR]]]
    )


def odd_success(brew: Brew) -> None:
    """``success`` that is neither true nor false, or missing."""
    envelope = _enveloped(brew)
    envelope.pop("success")
    chosen: Any = brew.chance.choice(["missing", "true", "false", None, 1, 0, [], {}, [True]])
    if chosen != "missing":
        envelope["success"] = chosen


def odd_errors(brew: Brew) -> None:
    """Errors and messages that are no lists, or lists of odd things."""
    deep: dict[str, Any] = {"message": "outermost"}
    for _ in range(50):
        deep = {"message": "further in", "error_chain": [deep]}
    odd: Any = brew.chance.choice([None, {}, "text", 7, [None], [[]], [{"code": "x", "message": 1}], [deep]])
    envelope = _enveloped(brew)
    envelope["errors"] = envelope["messages"] = odd


def other_result(brew: Brew) -> None:
    """A result of another kind: null, a list, an object, a text, or none."""
    envelope = _enveloped(brew)
    held = envelope.pop("result", None)
    chosen: Any = brew.chance.choice(
        ["missing", None, [], {}, "", "text", 0, True, [held], {"result": held}, [None]]
    )
    if chosen != "missing":
        envelope["result"] = chosen


def bare(brew: Brew) -> None:
    """The result without its envelope, or with one around the other."""
    envelope = _enveloped(brew)
    brew.root[""] = brew.chance.choice([envelope.get("result"), {**envelope, "result": envelope}])


def lying_pages(brew: Brew) -> None:
    """What an answer says of its pages is not so."""
    envelope = _enveloped(brew)
    info = envelope.get("result_info")
    info = dict(info) if isinstance(info, dict) else {"page": 1, "per_page": 20}
    info[brew.chance.choice(["total_pages", "total_count", "per_page", "page", "count"])] = (
        brew.chance.choice([0, 1, 2, 10**9, -1, None, "many", 10**30, 0.5, [], True])
    )
    if brew.chance.random() < 0.3:
        info["cursors"] = brew.chance.choice(
            [{"after": "again"}, {"after": 1}, [], "after", None, {"after": ""}]
        )
    envelope["result_info"] = brew.chance.choice([info, info, info, None, [], "pages"])


def repeated_page(brew: Brew) -> None:
    """A page that says that a thousand million follow."""
    envelope = _enveloped(brew)
    envelope["result_info"] = {
        "page": 1,
        "per_page": 1,
        "total_pages": 10**9,
        "total_count": 10**9,
        "count": 1,
    }


def endless_pages(brew: Brew) -> None:
    """A page of things that no other page has, after which there is always one more."""
    envelope = _enveloped(brew)
    held = envelope.get("result")
    items = held if isinstance(held, list) and held else [{}]
    fresh = [
        {**copy.deepcopy(one), "id": f"{brew.chance.getrandbits(128):032x}"}
        for one in items
        if isinstance(one, dict)
    ]
    envelope["result"] = fresh
    lie = {"page": 1, "per_page": len(fresh)}
    more = [{"total_pages": 10**9}, {}, {"total_pages": 9_999, "total_count": 10**6}]
    envelope["result_info"] = {
        **lie,
        **brew.chance.choice(more),
        "cursors": {"after": fresh[0]["id"] if fresh else "x"},
    }


def lost_items(brew: Brew) -> None:
    """A list that is shorter than it says, or empty."""
    envelope = _enveloped(brew)
    held = envelope.get("result")
    if not isinstance(held, list) or not held:
        return null(brew)
    envelope["result"] = brew.chance.choice([[], held[:-1], held[1:]])


ENVELOPES: dict[str, Mutation] = {
    "success-with-errors": success_with_errors,
    "failure-with-result": failure_with_result,
    "odd-success": odd_success,
    "odd-errors": odd_errors,
    "other-result": other_result,
    "bare": bare,
    "lying-pages": lying_pages,
    "repeated-page": repeated_page,
    "endless-pages": endless_pages,
    "lost-items": lost_items,
}
