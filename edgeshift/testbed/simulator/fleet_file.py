"""Reading and writing fleet files, YAML 1.2 or JSON (docs/fleet-format.md).

`load_fleet` answers every mistake by a `FleetFileError` with file, line, field and what would be right.
"""

import json
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any, get_args

from pydantic import BaseModel, ValidationError
from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError

from edgeshift.testbed.simulator.fleet_lines import line_in_json, line_in_yaml
from edgeshift.testbed.simulator.fleet_models import (
    PERMISSIONS,
    Credential,
    FirewallRule,
    FleetAccount,
    FleetUser,
    FleetZone,
    Managed,
    Migration,
    Owasp,
    PageRule,
    PageRuleAction,
    PlantedFalsePositive,
    PlantedGap,
    PreviousWaf,
    Traffic,
    UriOverride,
    Where,
    derived_id,
)
from edgeshift.testbed.simulator.fleet_whole import Fleet

__all__ = [
    "PERMISSIONS",
    "Credential",
    "FirewallRule",
    "Fleet",
    "FleetAccount",
    "FleetFileError",
    "FleetProblem",
    "FleetUser",
    "FleetZone",
    "Managed",
    "Migration",
    "Owasp",
    "PageRule",
    "PageRuleAction",
    "PlantedFalsePositive",
    "PlantedGap",
    "PreviousWaf",
    "Traffic",
    "UriOverride",
    "derived_id",
    "dump_fleet",
    "load_fleet",
]

SHOWN_PROBLEMS = 10


@dataclass(frozen=True)
class FleetProblem:
    """One mistake: line (1-based; None when unknown), field ("zones[3].plan"), what would be right."""

    line: int | None
    field: str
    text: str


class FleetFileError(ValueError):
    """A fleet file that cannot be used; the text names file, line, field and what would be right."""

    def __init__(self, path: Path, problems: list[FleetProblem]) -> None:
        self.path = path
        self.problems = problems
        lines = []
        for problem in problems[:SHOWN_PROBLEMS]:
            at = f", line {problem.line}" if problem.line else ""
            lines.append(f"{path}{at}: {problem.field + ': ' if problem.field else ''}{problem.text}")
        if len(problems) > SHOWN_PROBLEMS:
            lines.append(f"{path}: and {len(problems) - SHOWN_PROBLEMS} more")
        super().__init__("\n".join(lines))


def load_fleet(path: Path) -> Fleet:
    """The fleet of a file that ends in .json, .yaml or .yml. Raises `FleetFileError`."""
    is_json = path.suffix.lower() == ".json"
    if not is_json and path.suffix.lower() not in (".yaml", ".yml"):
        raise _one(path, None, "a fleet file ends in .yaml, .yml or .json")
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        hint = "`edgeshift fleet generate --zones 120 --out FILE` makes one"
        raise _one(path, None, f"there is no such fleet file; {hint}") from None
    except UnicodeDecodeError as error:
        raise _one(path, None, f"not UTF-8 text (byte {error.start}); save it as UTF-8") from None
    except OSError as error:
        raise _one(path, None, f"cannot be read: {error.strerror}") from None
    raw = _parse_json(path, text) if is_json else _parse_yaml(path, text)
    if not isinstance(raw, dict):
        raise _one(path, 1, "a fleet is a mapping with the keys " + ", ".join(Fleet.model_fields))
    try:
        return Fleet.model_validate(raw)
    except ValidationError as error:
        line_of = line_in_json if is_json else line_in_yaml
        found = _problems(error)
        problems = [
            FleetProblem(line_of(text, where), _field(where), said) for where, said in found[:SHOWN_PROBLEMS]
        ]
        problems += [FleetProblem(None, _field(where), said) for where, said in found[SHOWN_PROBLEMS:]]
        raise FleetFileError(path, problems) from None


def dump_fleet(fleet: Fleet, path: Path, *, header: str = "") -> None:
    """Write a fleet, without what is default; YAML or JSON by the ending. One zone a line in JSON.

    `header` becomes a comment in YAML; JSON has no comments, and takes none.
    """
    suffix = path.suffix.lower()
    if suffix not in (".yaml", ".yml", ".json"):
        raise _one(path, None, "a fleet file ends in .yaml, .yml or .json")
    others = fleet.model_dump(mode="json", exclude_defaults=True, exclude={"zones"})
    head: dict[str, Any] = {"version": fleet.version, **others}
    with path.open("w", encoding="utf-8") as out:
        if suffix == ".json":
            out.write("{\n")
            for key, value in head.items():
                out.write(f"{json.dumps(key)}: {json.dumps(value, ensure_ascii=False)},\n")
            out.write('"zones": [')
            for number, zone in enumerate(fleet.zones):
                out.write(",\n" if number else "\n")
                out.write(json.dumps(_compact(zone), ensure_ascii=False, separators=(",", ":")))
            out.write("\n]\n}\n")
            return
        out.writelines(f"# {line}".rstrip() + "\n" for line in header.splitlines())
        yaml = YAML(typ="safe", pure=True)
        yaml.default_flow_style = False
        # ruamel's own default is None, from which its type is inferred.
        yaml.sort_base_mapping_type_on_output = False  # type: ignore[assignment]
        yaml.allow_unicode = True
        yaml.width = 110
        yaml.dump(head, out)
        if not fleet.zones:
            out.write("zones: []\n")
            return
        out.write("zones:\n")
        for zone in fleet.zones:
            yaml.dump([_compact(zone)], out)


def _compact(zone: FleetZone) -> dict[str, Any]:
    return zone.model_dump(mode="json", exclude_defaults=True)


def _one(path: Path, line: int | None, text: str, field: str = "") -> FleetFileError:
    return FleetFileError(path, [FleetProblem(line, field, text)])


def _parse_json(path: Path, text: str) -> Any:
    def no_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        made = dict(pairs)
        if len(made) != len(pairs):
            names = [name for name, _ in pairs]
            name = next(name for name in names if names.count(name) > 1)
            raise _one(path, None, "this key is given twice in one object; keep one", name)
        return made

    try:
        return json.loads(text, object_pairs_hook=no_duplicates)
    except json.JSONDecodeError as error:
        raise _one(path, error.lineno, f"not JSON: {error.msg} (column {error.colno})") from None
    except (ValueError, RecursionError) as error:
        if isinstance(error, FleetFileError):
            raise
        raise _one(
            path, None, "not JSON: it is nested too deeply, or has a number that is too long"
        ) from None


def _parse_yaml(path: Path, text: str) -> Any:
    try:
        return YAML(typ="safe", pure=True).load(text)
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        said = (error.problem or "malformed").splitlines()[0]
        raise _one(path, mark.line + 1 if mark else None, f"not YAML: {said}") from None
    except RecursionError:
        raise _one(path, None, "not YAML: it is nested too deeply") from None
    except (KeyError, IndexError):
        raise _one(path, None, "not YAML: a value in it cannot be read") from None
    except (YAMLError, ValueError) as error:
        raise _one(path, None, f"not YAML: {str(error).splitlines()[0]}") from None


def _field(where: Where) -> str:
    shown = ""
    for part in where:
        shown += f"[{part}]" if isinstance(part, int) else f".{part}"
    return shown.lstrip(".")


def _problems(error: ValidationError) -> list[tuple[Where, str]]:
    found: list[tuple[Where, str]] = []
    for item in error.errors(include_url=False):
        where = tuple(part for part in item["loc"] if not _is_union_tag(part))
        if item["type"] == "references":
            found += item["ctx"]["problems"]
        else:
            found.append((where, _said(item["type"], where, item)))
    # A union reports each of its branches: they become one text a place.
    joined: dict[Where, str] = {}
    for where, text in found:
        joined[where] = f"{joined[where]}; or {text}" if where in joined else text
    return list(joined.items())


def _is_union_tag(part: str | int) -> bool:
    return isinstance(part, str) and ("[" in part or part in ("literal", "constrained-str"))


def _said(kind: str, where: Where, item: Any) -> str:
    value = item["input"]
    # A secret that was mistyped must not be shown, alone or inside what it belongs to.
    secret = "credentials" in where or "with_secret" in where or isinstance(value, dict | list)
    shown = f"this {type(value).__name__}" if secret else repr(value)[:60]
    if kind == "extra_forbidden":
        keys = _keys_at(where[:-1])
        near = get_close_matches(str(where[-1]), keys, n=1)
        return (
            f"unknown key; did you mean {near[0]}?" if near else f"unknown key; known are {', '.join(keys)}"
        )
    if kind == "missing":
        return "must be given"
    if kind == "literal_error":
        near = get_close_matches(str(value), [str(one) for one in _choices(item)], n=1)
        hint = f" (did you mean {near[0]}?)" if near else ""
        return f"{shown} is none of {item['ctx']['expected']}{hint}"
    if kind.startswith("bad_"):
        return f"{shown}: {item['msg']}"
    message = item["msg"].removeprefix("Input ")
    return f"{shown}: {message}"


def _choices(item: Any) -> list[str]:
    return [part.strip(" '\"") for part in item["ctx"]["expected"].replace(" or ", ",").split(",")]


def _keys_at(where: Where) -> list[str]:
    """The keys that a mapping of the file may have."""
    model: type[BaseModel] = Fleet
    for part in where:
        if isinstance(part, int):
            continue
        field = model.model_fields.get(part)
        inner = _model_in(field.annotation) if field else None
        if inner is None:
            return []
        model = inner
    return list(model.model_fields)


def _model_in(annotation: Any) -> type[BaseModel] | None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next((found for one in get_args(annotation) if (found := _model_in(one))), None)
