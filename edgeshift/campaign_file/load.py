"""Reading campaign files (YAML 1.2). Every mistake of a file is found at once, each with its place and
what is right.

A mistake never shows the value of a field that may hold a secret.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from shlex import quote
from typing import Any

from pydantic import ValidationError
from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode
from ruamel.yaml.reader import ReaderError
from ruamel.yaml.tokens import DirectiveToken, StreamStartToken

from edgeshift.campaign_file.error_text import in_words, parse_trouble
from edgeshift.campaign_file.new_mistakes import as_written, new_mistakes
from edgeshift.campaign_file.spec import CampaignSpec
from edgeshift.http.hosts import NO_HOST, has_host
from edgeshift.model.validators import Where

LARGEST = 32 * 1024 * 1024
"""Bytes of the largest campaign file: far more than 100,000 zones listed by name."""

MOST_VALUES = 1_000_000
"""Values that a file may have after its aliases are followed, so that nested aliases cannot fill the
memory.
"""

DEEPEST = 100
"""Levels that a value may be nested, its aliases followed: far more than any campaign has."""

VERSION = (1, 2)
"""The version of YAML that campaign files are written in."""

ANOTHER_VERSION = "the file is read as YAML 1.2; remove this line, or write %YAML 1.2"

_MAP, _SEQ = "tag:yaml.org,2002:map", "tag:yaml.org,2002:seq"
_PLAIN = ("str", "int", "float", "bool", "null", "timestamp")


@dataclass(frozen=True, order=True)
class Mistake:
    """One mistake: 1-based line and column (0 for the file as a whole), the field (``waves[0].percent``),
    the text.
    """

    line: int
    column: int
    field: str
    text: str


class CampaignFileError(ValueError):
    """A campaign file that cannot be used. Its text has a line for each mistake: ``file:line:column:
    field: text``.
    """

    def __init__(self, path: str, mistakes: list[Mistake], hint: str = "") -> None:
        self.path = path
        self.hint = hint
        self.mistakes = sorted(set(mistakes))
        super().__init__("\n".join(self.lines()))

    def lines(self) -> list[str]:
        """A heading and a line for each mistake."""
        count = len(self.mistakes)
        if self.hint and count == 1:
            # The file as a whole is not there, or cannot be read.
            return [f"{self.path}: {self.mistakes[0].text}"]
        found = [f"{self.path} has {count} mistakes" if count > 1 else f"{self.path} has a mistake"]
        for mistake in self.mistakes:
            place = f":{mistake.line}:{mistake.column}" if mistake.line else ""
            found.append(f"{self.path}{place}: {mistake.field + ': ' if mistake.field else ''}{mistake.text}")
        return found


class _TooMuch(Exception):
    """The file has more values than a campaign can need, or more levels of them; it says what is right."""


@dataclass
class _Parsed:
    """A file's values and where each stands. ``places``: of the key, or of the item in a list; of a key that
    is given more than once, of the first, whose value counts. ``twice``: a mistake for each later one.
    """

    value: Any = None
    places: dict[Where, tuple[int, int]] = field(default_factory=dict)
    mistakes: list[tuple[Where, str]] = field(default_factory=list)
    twice: list[Mistake] = field(default_factory=list)
    count: int = 0

    def place(self, where: Where) -> tuple[int, int]:
        """The place of ``where``, or of the nearest thing around it that the file has."""
        while where and where not in self.places:
            where = where[:-1]
        return self.places.get(where, (1, 1))


def load_campaign(path: Path) -> CampaignSpec:
    """The campaign that a file describes. Raises CampaignFileError with all of its mistakes."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        missing = [Mistake(0, 0, "", "there is no such file")]
        hint = f"`edgeshift init {quote(str(path))}` writes one"
        raise CampaignFileError(str(path), missing, hint) from None
    except OSError as why:
        unread = [Mistake(0, 0, "", f"cannot be read: {why.strerror}")]
        raise CampaignFileError(str(path), unread, "name a file that you may read") from None
    if len(data) > LARGEST:
        text = f"the file has {len(data):,} bytes; a campaign file has at most {LARGEST:,}"
        raise CampaignFileError(str(path), [Mistake(0, 0, "", text)])
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as why:
        line = data.count(b"\n", 0, why.start) + 1
        column = why.start - data.rfind(b"\n", 0, why.start)
        raise CampaignFileError(
            str(path), [Mistake(line, column, "", "not UTF-8 text; save the file as UTF-8")]
        ) from None
    return parse_campaign(text, str(path))


def parse_campaign(text: str, path: str = "campaign.yaml") -> CampaignSpec:
    """The campaign that a text describes; ``path`` names it in mistakes. Raises CampaignFileError."""
    if tabs := _tabs(text):
        raise CampaignFileError(path, tabs)
    parsed = _parse(text, path)
    if not isinstance(parsed.value, dict):
        said = "the file is empty" if parsed.value is None else "the file is not a mapping"
        needs = f"{said}; a campaign needs at least name and targets"
        needs += " (`edgeshift init` writes a file with every option)"
        raise CampaignFileError(path, [Mistake(*parsed.place(()), "", needs)])
    found = list(parsed.mistakes)
    spec: CampaignSpec | None = None
    try:
        spec = CampaignSpec.model_validate(parsed.value)
    except ValidationError as problem:
        # What could not be read as YAML was complained of already; the model only sees that it is not there.
        unread = {where for where, _ in parsed.mistakes}
        found += [(where, said) for where, said in in_words(problem) if where not in unread]
    complained = {where for where, _ in found}
    found += [(where, said) for where, said in as_written(parsed.value) if where not in complained]
    if spec is not None:
        found += _of_a_new_file(spec)
    else:
        found += _beside(parsed.value, {where[0] for where, _ in found if where})
    if found or parsed.twice or spec is None:
        mistakes = [Mistake(*parsed.place(where), shown(where), said) for where, said in found]
        raise CampaignFileError(path, mistakes + parsed.twice)
    return spec


def _of_a_new_file(spec: CampaignSpec) -> Iterator[tuple[Where, str]]:
    """What a new file may not have: also an address with a host that can never be called."""
    if not has_host(spec.service.base_url):
        yield ("service", "base_url"), NO_HOST
    yield from new_mistakes(spec)


def _beside(value: dict[str, Any], wrong: set[str | int]) -> Iterator[tuple[Where, str]]:
    """What a new file may not have in its other parts, where those in ``wrong`` are not right by the model:
    nobody should hear of it only once these are corrected. Nothing where the rest is no campaign by itself.
    """
    if "area" in wrong:
        return
    rest = {"name": "a", "targets": {"all": True}} | {key: value[key] for key in value if key not in wrong}
    try:
        spec = CampaignSpec.model_validate(rest)
    except ValidationError:
        return
    yield from ((where, said) for where, said in _of_a_new_file(spec) if where[0] not in wrong)


def shown(where: Where) -> str:
    """A field's path as people write it: ``waves[0].percent``."""
    path = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in where)
    return path.removeprefix(".")


def _tabs(text: str) -> list[Mistake]:
    """A mistake for each line that is indented with a tab, which YAML does not allow."""
    found = []
    for number, line in enumerate(text.split("\n"), start=1):
        indent = line[: len(line) - len(line.lstrip())]
        if "\t" in indent and line.strip() and not line.lstrip().startswith("#"):
            said = "the line is indented with a tab; YAML takes spaces only"
            found.append(Mistake(number, indent.index("\t") + 1, "", said))
    return found


def _parse(text: str, path: str) -> _Parsed:
    yaml = YAML(typ="safe", pure=True)
    try:
        other = _of_another_version(text)
        root = None if other else yaml.compose(text)
    except MarkedYAMLError as why:
        mark = why.problem_mark or why.context_mark
        place = (mark.line + 1, mark.column + 1) if mark else (1, 1)
        said = parse_trouble(why.problem, why.context)
        raise CampaignFileError(path, [Mistake(place[0], place[1], "", said)]) from None
    except ReaderError as why:
        before = text[: why.position]
        place = (before.count("\n") + 1, len(before) - before.rfind("\n"))
        said = f"the character U+{ord(text[why.position]):04X} may not stand in YAML; remove it"
        raise CampaignFileError(path, [Mistake(*place, "", said)]) from None
    except (YAMLError, ValueError, IndexError, OverflowError, RecursionError):
        said = "this is not YAML (`edgeshift init` writes a file that is)"
        raise CampaignFileError(path, [Mistake(1, 1, "", said)]) from None
    if other:
        raise CampaignFileError(path, [Mistake(*other, "", ANOTHER_VERSION)])
    parsed = _Parsed()
    if root is not None:
        parsed.places[()] = _start(root)
        try:
            parsed.value = _value(yaml, root, (), parsed, ())
        except _TooMuch as why:
            said = f"more than {why} once its aliases are followed; write fewer"
            raise CampaignFileError(path, [Mistake(0, 0, "", said)]) from None
    return parsed


def _of_another_version(text: str) -> tuple[int, int] | None:
    """Where a text says that it is of another version of YAML, in which `yes` is a truth and `010` is 8."""
    for token in YAML(typ="safe", pure=True).scan(text):
        if isinstance(token, DirectiveToken):
            if token.name == "YAML" and token.value != VERSION:
                return _start(token)
        elif not isinstance(token, StreamStartToken):
            break
    return None


def _start(node: Node | DirectiveToken) -> tuple[int, int]:
    return node.start_mark.line + 1, node.start_mark.column + 1


def _value(yaml: YAML, node: Node, where: Where, parsed: _Parsed, above: tuple[int, ...]) -> Any:
    """The value of a node. Mistakes and places are noted in ``parsed``; ``above`` are the nodes it stands
    in.
    """
    parsed.count += 1
    if parsed.count > MOST_VALUES:
        raise _TooMuch(f"{MOST_VALUES:,} values")
    if len(above) > DEEPEST:
        raise _TooMuch(f"{DEEPEST} levels of values")
    if id(node) in above:
        parsed.mistakes.append(
            (where, "an alias stands for something that it is a part of; write the value out")
        )
        return None
    if isinstance(node, MappingNode) and str(node.tag) == _MAP:
        return dict(_pairs(yaml, node, where, parsed, (*above, id(node))))
    if isinstance(node, SequenceNode) and str(node.tag) == _SEQ:
        items = []
        for index, item in enumerate(node.value):
            parsed.places[(*where, index)] = _start(item)
            items.append(_value(yaml, item, (*where, index), parsed, (*above, id(node))))
        return items
    if isinstance(node, ScalarNode):
        kind = str(node.tag).removeprefix("tag:yaml.org,2002:")
        if kind in ("str", "timestamp"):
            return str(node.value)
        if kind in _PLAIN:
            try:
                return yaml.constructor.construct_object(node)
            except (YAMLError, ValueError, KeyError, IndexError):
                return str(node.value)
    parsed.mistakes.append((where, "a YAML tag has no meaning here; write the value without it"))
    return None


def _pairs(
    yaml: YAML, node: MappingNode, where: Where, parsed: _Parsed, above: tuple[int, ...]
) -> Iterator[tuple[str, Any]]:
    for key, item in node.value:
        if not isinstance(key, ScalarNode):
            parsed.mistakes.append((where, "a key is a single word"))
            continue
        name = str(key.value)
        inner = (*where, name)
        if inner in parsed.places:
            # The later place is where the reader has to look, so that is what the mistake points at.
            said = f"given twice, first in line {parsed.places[inner][0]}; keep one of them"
            parsed.twice.append(Mistake(*_start(key), shown(inner), said))
            continue
        parsed.places[inner] = _start(key)
        yield name, _value(yaml, item, inner, parsed, above)
