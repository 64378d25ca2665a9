"""The few expressions of the rules language that make a text: literals, fields, and `concat` of them."""

from collections.abc import Callable
from functools import lru_cache

from edgeshift.testbed.simulator.expressions import FIELDS, ExpressionError, Values, tokens

Text = Callable[[Values], str]


@lru_cache(maxsize=1024)
def compile_text(source: str) -> Text:
    """Compile such an expression. Raises ExpressionError."""
    found = tokens(source)
    made, at = _text(found, 0)
    if at < len(found):
        raise ExpressionError(f"expected the end at {found[at][2]}")
    return made


def _text(found: list[tuple[str, str, int]], at: int) -> tuple[Text, int]:
    kind, value, place = found[at] if at < len(found) else ("end", "", 0)
    if kind == "string":
        return (lambda values: value), at + 1
    if kind == "word" and value in FIELDS:
        return (lambda values: str(values.get(value, ""))), at + 1
    if kind == "word" and value == "concat" and _is(found, at + 1, "("):
        parts: list[Text] = []
        at += 1
        while True:
            part, at = _text(found, at + 1)
            parts.append(part)
            if not _is(found, at, ","):
                break
        if not _is(found, at, ")"):
            raise ExpressionError("expected ')' after concat")
        return (lambda values: "".join(part(values) for part in parts)), at + 1
    raise ExpressionError(f"expected a string, a field or concat at {place or 'the end'}")


def _is(found: list[tuple[str, str, int]], at: int, sign: str) -> bool:
    return at < len(found) and found[at][:2] == ("op", sign)
