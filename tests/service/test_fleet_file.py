"""Fleet files: what a person may leave out, and how each mistake is answered."""

import json
from pathlib import Path
from typing import Any

import pytest

from edgeshift.testbed.simulator.fleet_file import Credential, Fleet, FleetFileError, dump_fleet, load_fleet

GOOD = {"zones": [{"name": "shop.example", "plan": "pro"}, {"name": "bank.example", "plan": "enterprise"}]}


def written(folder: Path, text: str, name: str = "fleet.yaml") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def refused(path: Path) -> str:
    with pytest.raises(FleetFileError) as caught:
        load_fleet(path)
    return str(caught.value)


def test_a_filter_of_the_zone_says_what_its_rules_say(tmp_path: Path) -> None:
    """A rule may name a filter of the list, with the same expression; another one is a mistake."""
    filtered = {"id": "f" * 32, "expression": "ssl", "paused": True}
    for expression, right in (("ssl", True), ("not ssl", False)):
        rule = {"expression": expression, "products": ["waf"], "filter_id": "f" * 32}
        zone = {"name": "a.example", "plan": "pro", "filters": [filtered], "firewall_rules": [rule]}
        path = written(tmp_path, json.dumps({"zones": [zone]}), "fleet.json")
        if right:
            (loaded,) = load_fleet(path).zones
            assert not loaded.acts(loaded.firewall_rules[0])
        else:
            assert "zones[0].firewall_rules[0].expression: its filter is in the zone's filters" in refused(
                path
            )


@pytest.mark.parametrize("ending", ["yaml", "yml", "json"])
def test_a_fleet_survives_writing_and_reading(tmp_path: Path, ending: str) -> None:
    """Every format gives back the same fleet, with the ids that were derived."""
    fleet = Fleet.model_validate(
        {
            **GOOD,
            "zones": [
                *GOOD["zones"],
                {
                    "name": "x.example",
                    "plan": "business",
                    "firewall_rules": [{"expression": 'http.host eq "ü: # x"', "products": ["waf"]}],
                    "page_rules": [{"targets": ["*x/*"], "actions": [{"id": "waf", "value": "off"}]}],
                },
            ],
        }
    )
    path = tmp_path / f"fleet.{ending}"
    dump_fleet(fleet, path, header="one line\n\nanother")
    assert load_fleet(path) == fleet


def test_only_name_and_plan_must_be_given(tmp_path: Path) -> None:
    """Accounts, users, credentials and ids are made; the same file gives the same ones."""
    path = written(tmp_path, json.dumps(GOOD), "fleet.json")
    fleet = load_fleet(path)
    assert fleet == load_fleet(path)
    assert {zone.account for zone in fleet.zones} == {fleet.accounts[0].id}
    assert len(fleet.zones[0].id) == 32 and fleet.credentials[0].user == fleet.users[0].id


def test_on_and_off_stay_words_in_yaml(tmp_path: Path) -> None:
    """YAML 1.2: a page rule's `off` is a word, not false."""
    rule = "{targets: [a], actions: [{id: waf, value: off}]}"
    text = f"zones: [{{name: a.example, plan: pro, page_rules: [{rule}]}}]"
    assert load_fleet(written(tmp_path, text)).zones[0].page_rules[0].actions[0].value == "off"


MISTAKES = [
    ("zones:\n- name: a.example\n  plan: gold\n", "line 3: zones[0].plan: 'gold' is none of 'free', 'pro'"),
    ("zones:\n- name: a.example\n  plan: entreprise\n", "did you mean enterprise?"),
    ("zones:\n- name: a.example\n", "line 2: zones[0].plan: must be given"),
    (
        "zones:\n- name: a.example\n  plan: pro\n  acount: x\n",
        "line 4: zones[0].acount: unknown key; did you mean account?",
    ),
    (
        "zones:\n- name: a.example\n  plan: pro\n- name: a.example\n  plan: pro\n",
        "line 4: zones[1].name: a.example is also",
    ),
    (
        f"zones:\n- {{name: a.example, plan: pro, id: {'a' * 32}}}\n"
        f"- {{name: b.example, plan: pro, id: {'a' * 32}}}\n",
        "line 3: zones[1].id",
    ),
    (
        "zones:\n- name: a.example\n  plan: pro\n  account: Nobody\n",
        "line 4: zones[0].account: there is no account 'Nobody'",
    ),
    (
        "accounts: [{name: Retail}]\nzones:\n- {name: a.example, plan: pro, account: Retial}\n",
        "there is no account 'Retial'; did you mean Retail?",
    ),
    (
        "credentials:\n- label: a\n  user: who@x.y\n",
        "line 3: credentials[0].user: there is no user 'who@x.y'",
    ),
    ("credentials:\n- label: a\n- label: a\n", "line 3: credentials[1].label: a is also"),
    (
        "zones:\n- name: a.example\n  plan: pro\n  paused: perhaps\n",
        "line 4: zones[0].paused: 'perhaps': should be a valid boolean",
    ),
    ("zones:\n- name: a.example\n  plan: pro\n  id: xyz\n", "line 4: zones[0].id: 'xyz': an id is 32 digits"),
    (
        "zones:\n- name: Shop\n  plan: pro\n",
        "line 2: zones[0].name: 'Shop': a zone's name is a lower-case domain",
    ),
    ("zones: many\n", "line 1: zones: 'many': should be a valid list"),
    ("- a\n- b\n", "a fleet is a mapping with the keys version"),
    ("zones: [\n", "not YAML"),
    ("zones: []\nzones: []\n", "line 2: not YAML: found duplicate key"),
    ("version: 2\n", "line 1: version: 2 is none of 1"),
    ("users: []\n", "users: must not be empty"),
    (
        "zones:\n- name: a.example\n  plan: pro\n  migration: {state: validation}\n",
        "line 4: zones[0].migration.state: only an enterprise zone can be in validation",
    ),
    (
        "zones:\n- name: a.example\n  plan: pro\n  previous_waf:\n    managed:\n      groups:\n"
        "        Managed Wordpres: off\n",
        "line 7: zones[0].previous_waf.managed.groups.Managed Wordpres: there is no such group; known are",
    ),
    (
        "zones:\n- name: a.example\n  plan: pro\n  firewall_rules:\n  - expression: x\n    products: waf\n",
        "line 6: zones[0].firewall_rules[0].products: 'waf': should be a valid list",
    ),
]


@pytest.mark.parametrize(("text", "said"), MISTAKES)
def test_a_mistake_is_answered_with_line_field_and_what_would_be_right(
    text: str, said: str, tmp_path: Path
) -> None:
    """Each kind of mistake, in YAML."""
    path = written(tmp_path, text)
    answer = refused(path)
    assert said in answer and str(path) in answer


def test_a_mistake_in_json_has_its_line_too(tmp_path: Path) -> None:
    """The line is found in JSON as well, behind strings with brackets and escapes."""
    document: dict[str, Any] = {
        "note": 'a "] } \\ trap',
        "zones": [{"name": "a.example", "plan": "pro"}, {"name": "b.example", "plan": 7}],
    }
    path = written(tmp_path, json.dumps(document, indent=1), "fleet.json")
    assert "fleet.json, line 10: zones[1].plan: 7 is none of" in refused(path)
    assert "line 1: not JSON" in refused(written(tmp_path, "{]", "broken.json"))
    assert "plan: this key is given twice" in refused(
        written(tmp_path, '{"zones": [{"name": "a.example", "plan": "pro", "plan": "free"}]}', "twice.json")
    )


def test_what_cannot_be_read_is_named(tmp_path: Path) -> None:
    """A missing file, a folder, another ending and other bytes."""
    assert "there is no such fleet file" in refused(tmp_path / "none.yaml")
    assert "ends in .yaml, .yml or .json" in refused(tmp_path / "fleet.toml")
    (tmp_path / "folder.yaml").mkdir()
    assert "cannot be read" in refused(tmp_path / "folder.yaml")
    (tmp_path / "bytes.yaml").write_bytes(b"zones: [\xff]")
    assert "not UTF-8" in refused(tmp_path / "bytes.yaml")


def test_many_mistakes_are_listed_to_a_bound(tmp_path: Path) -> None:
    """Ten are shown, the rest is counted."""
    zones = "".join(f"- {{name: z{number}.example, plan: no}}\n" for number in range(25))
    answer = refused(written(tmp_path, f"zones:\n{zones}"))
    assert answer.count("is none of") == 10 and "and 15 more" in answer


def test_a_secret_is_never_shown() -> None:
    """Neither a repr nor an error carries a credential's value."""
    value = "s3cret-" + "x" * 33
    assert value not in repr(Fleet(credentials=[Credential(label="a", value=value)]))


@pytest.mark.parametrize("value", ["hunter2hunter2", "hunter2" * 6])
def test_a_mistyped_secret_is_not_shown_in_the_error(value: str, tmp_path: Path) -> None:
    """The error names the credential's place, not its value."""
    answer = refused(written(tmp_path, f"credentials:\n- label: a\n  value: {value}\n"))
    assert "credentials[0]" in answer and "hunter2" not in answer
    twice = f"credentials:\n- {{label: a, value: {'v' * 40}}}\n- {{label: b, value: {'v' * 40}}}\n"
    answer = refused(written(tmp_path, twice))
    assert "credentials[1].value" in answer and "vvv" not in answer
