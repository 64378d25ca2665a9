"""Whether a text is a sentence of the service's rules language, whatever fields, functions and lists it
names.

The service has far more of them than edgeshift.testbed.simulator.expressions evaluates, and refuses what is
no sentence (docs/service.md §7). Nothing else is refused here, so that whatever the service would take is
taken: only two operands with nothing between them, an operator that does not exist, and what is missing.
"""

from edgeshift.testbed.simulator.expressions import ExpressionError, tokens

_LOGIC = frozenset({"and", "or", "xor", "&&", "||", "^^"})
_NOT = frozenset({"not", "!"})
_COMPARISONS = frozenset(
    {
        *("eq", "ne", "lt", "le", "gt", "ge", "contains", "matches", "wildcard", "in", "bitwise_and"),
        *("==", "!=", "<", "<=", ">", ">=", "~", "&"),
    }
)
_OPERAND, _TERM, _TEST = "operand", "term", "test"


def grammar_problem(text: str) -> str | None:
    """What is wrong with the grammar of an expression; None if nothing. Nesting may be of any depth."""
    try:
        reader = _Reader(text)
        reader.read()
    except ExpressionError as problem:
        return str(problem)
    return None


class _Reader:
    """Reads token by token. ``due``: an operand is; or a term was read, which may be compared; or a whole
    test was. ``opened``: of each open bracket whether it is a call's, and what it is when it closes.
    """

    def __init__(self, text: str) -> None:
        self.left = tokens(text)[::-1]
        self.due = _OPERAND
        self.opened: list[tuple[bool, str]] = []

    def read(self) -> None:
        while self.left:
            if self.due == _OPERAND:
                self.operand()
            else:
                self.after()
        if self.due == _OPERAND:
            raise self.expected("a field, a function or '('")
        if self.opened:
            raise self.expected("')'")

    def expected(self, what: str) -> ExpressionError:
        return ExpressionError(f"expected {what} at {self.left[-1][2] if self.left else 'the end'}")

    def take(self, *values: str, kind: str = "") -> bool:
        """Whether the next token is one of these, or a string, or any word; it is behind then."""
        if not self.left:
            return False
        found, value, _ = self.left[-1]
        right = found == kind if kind else found != "string" and value in values
        if right:
            self.left.pop()
        return right

    def operand(self) -> None:
        if self.take(*_NOT):
            return
        if self.take("("):
            self.opened.append((False, _TEST))
        elif self.take("true", "false") or (self.opened and self.opened[-1][0] and self.take(kind="string")):
            self.due = _TEST
        elif self.left[-1][1] not in _LOGIC | _COMPARISONS and self.take(kind="word"):
            self.named(_TERM)
        else:
            raise self.expected("a field, a function or '('")

    def named(self, due: str) -> None:
        """What may follow a name: the arguments of a call, or places in a map or an array."""
        self.due = due
        if self.take("(") and not self.take(")"):
            self.opened.append((True, due))
            self.due = _OPERAND
        else:
            self.places()

    def places(self) -> None:
        while self.take("["):
            if not (self.take(kind="string") or self.take(kind="word")):
                raise self.expected("a key or an index")
            if not self.take("]"):
                raise self.expected("']'")

    def after(self) -> None:
        """What may follow a term or a test."""
        if self.take(*_LOGIC):
            self.due = _OPERAND
        elif self.opened and self.take(")"):
            call, self.due = self.opened.pop()
            if call:
                self.places()
        elif self.opened and self.opened[-1][0] and self.take(","):
            self.due = _OPERAND
        elif self.due == _TERM and self.compared():
            return
        elif self.due == _TERM and self.left[-1][0] == "word":
            raise ExpressionError(f"unknown operator at {self.left[-1][2]}")
        else:
            raise self.expected("'and', 'or' or the end")

    def compared(self) -> bool:
        """A comparison, if one follows."""
        if self.take("in"):
            self.several()
            return True
        if self.take("strict"):
            if not self.take("wildcard"):
                raise self.expected("wildcard after strict")
        elif not self.take(*_COMPARISONS):
            return False
        self.due = _TEST
        if self.take(kind="string"):
            return True
        if not (self.left and self.left[-1][1] not in _LOGIC | _NOT and self.take(kind="word")):
            raise self.expected("a value")
        self.named(_TEST)
        return True

    def several(self) -> None:
        """What follows `in`: a named list, or values and ranges in braces."""
        self.due = _TEST
        if self.left and self.left[-1][1].startswith("$") and self.take(kind="word"):
            return
        if not self.take("{"):
            raise self.expected("'{' or a list after in")
        while not self.take("}"):
            if not (self.take(kind="string") or self.take("..", ",") or self.take(kind="word")):
                raise self.expected("a value or '}'")
