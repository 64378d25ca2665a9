"""Settings of the previous WAF that a migration does not carry over are facts, one by one."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from edgeshift.areas.waf import (
    MANAGED_RULESET,
    OWASP_RULESET,
    Fate,
    Loss,
    Reading,
    SettingKind,
    assess,
    losses,
    text_of_loss,
)
from edgeshift.areas.waf.loss_texts import summaries, to_do
from edgeshift.areas.waf.losses import Replacement, lost_counts
from edgeshift.areas.waf.names import OWASP_SCORE_RULE
from edgeshift.profiles import SPECIFICATION

Json = dict[str, Any]
CORE: Json = {"id": "core", "name": "Core", "detection_mode": "anomaly", "sensitivity": "high"}
OWN: Json = {"id": "own", "name": "Provider", "detection_mode": "traditional", "status": "active"}
ROBOTS = {"id": "r", "name": "Bad Robots"}


def reading(**more: Any) -> Reading:
    """A zone with both packages and nothing changed, unless told otherwise."""
    found: Json = {"check": {}, "waf_setting": {"value": "on"}, "packages": [CORE, OWN], "config": managed()}
    return Reading(**(found | more))


def managed(ruleset: str = MANAGED_RULESET, **parameters: Any) -> Json:
    """A configuration that runs one managed ruleset."""
    rule = {"action": "execute", "expression": "true", "action_parameters": {"id": ruleset, **parameters}}
    return {"name": "default", "rules": [rule]}


def group(package: str, mode: str = "on", name: str = "Bad Robots", **more: Any) -> Json:
    return {"id": "r", "name": name, "package_id": package, "mode": mode, **more}


def rule(package: str, mode: str, **more: Any) -> Json:
    facts = {"id": "981138", "description": "A robot", "group": ROBOTS, "package_id": package, "mode": mode}
    return facts | more


def settings(found: Reading) -> list[Loss]:
    """What is told but for the sensitivity."""
    return [loss for loss in losses(found) if loss.kind is not SettingKind.PACKAGE]


def test_each_rule_and_group_of_the_core_is_named() -> None:
    """By identifier, description, mode, group and package."""
    found = reading(groups=[group("core", "off")], rules=[rule("core", "off")])
    off, own = settings(found)
    assert (off.kind, off.id, off.name, off.mode, off.fate) == ("group", "r", "Bad Robots", "off", Fate.LOST)
    assert (own.kind, own.id, own.name, own.group) == ("rule", "981138", "A robot", "Bad Robots")
    assert (own.package, own.mode, own.fate) == ("Core", "off", Fate.LOST)
    assert text_of_loss(own) == "rule 981138 (A robot) of Core, Bad Robots: off"
    assert text_of_loss(off) == "group Bad Robots of Core: off"
    assert lost_counts(losses(found)) == {"package": 1, "group": 1, "rule": 1}
    assert lost_counts(losses(found.model_copy(update={"config": core_runs()}))) == {"group": 1, "rule": 1}


LEVELS_OFF = [{"category": f"paranoia-level-{level}", "enabled": False} for level in (3, 4)]


def core_runs(**score: Any) -> Json:
    """A configuration that runs the new core ruleset at level 2, with a score rule like the service's."""
    rule = {"id": OWASP_SCORE_RULE, "action": "block", "enabled": True, "score_threshold": 25} | score
    return managed(OWASP_RULESET, overrides={"categories": LEVELS_OFF, "rules": [rule]})


def test_the_core_s_global_settings_become_what_the_configuration_says() -> None:
    """They are carried over, and no loss: the specification says that they migrate."""
    core = {**CORE, "sensitivity": "medium", "action_mode": "block"}
    (loss,) = losses(reading(packages=[core], config=core_runs()))
    assert (loss.kind, loss.fate) == (SettingKind.PACKAGE, Fate.CARRIED_OVER)
    assert (loss.paranoia_level, loss.score_threshold, loss.action) == (2, 25, "block")
    said = (
        "Core: sensitivity medium with action block becomes"
        " paranoia level 2 with score threshold 25 and action block in the core ruleset 3.x"
    )
    assert text_of_loss(loss) == said and summaries([loss], Fate.CARRIED_OVER) == (said,)
    assert (lost_counts([loss]), to_do([loss]), summaries([loss], Fate.LOST)) == ({}, (), ())
    (loss,) = losses(reading(packages=[core], config=core_runs(action=None)))
    assert loss.action == "" and text_of_loss(loss).endswith("threshold 25 in the core ruleset 3.x")


def test_the_sensitivity_is_lost_where_the_configuration_does_not_show_what_it_became() -> None:
    """The core ruleset does not run or its score rule is off, or it is silent on the level or on the
    threshold: no number is claimed that is not there. Before it is read, nothing is said.
    """
    disabled = core_runs()
    disabled["rules"][0]["enabled"] = False
    all_off = [{"category": f"paranoia-level-{level}", "enabled": False} for level in (1, 2, 3, 4)]
    threshold = [{"id": OWASP_SCORE_RULE, "score_threshold": 25}]
    for config in (
        managed(),
        managed(OWASP_RULESET),
        disabled,
        core_runs(enabled=False),
        core_runs(score_threshold=True),
        core_runs(id="another"),
        managed(OWASP_RULESET, overrides={"rules": threshold}),
        managed(OWASP_RULESET, overrides={"categories": all_off, "rules": threshold}),
    ):
        (loss,) = losses(reading(config=config))
        assert (loss.fate, loss.score_threshold, loss.action) == (Fate.LOST, None, ""), config
    (loss,) = losses(reading(config=managed(OWASP_RULESET, overrides={"categories": LEVELS_OFF})))
    assert (loss.fate, loss.mode, loss.paranoia_level) == (Fate.LOST, "sensitivity high", 2)
    assert "at paranoia level 2" in text_of_loss(loss)
    (loss,) = losses(reading())
    assert loss.paranoia_level is None and "at paranoia level" not in text_of_loss(loss)
    assert losses(reading(config=None)) == ()


def test_nothing_is_advised_where_the_previous_waf_was_off() -> None:
    """Its settings are named and were not in force; its sensitivity did nothing. A page rule that turns it on
    puts them in force again.
    """
    off = {"waf_setting": {"value": "off"}, "rules": [rule("core", "off"), rule("own", "disable")]}
    found = losses(reading(**off))
    assert [(loss.kind, loss.in_force) for loss in found] == [("rule", False), ("rule", False)]
    assert all("not in force" in text_of_loss(loss) and loss.replacement is None for loss in found)
    assert to_do(found) == ()
    page = {"id": "p", "status": "active", "actions": [{"id": "waf", "value": "on"}]}
    assert all(loss.in_force for loss in losses(reading(**off, page_rules=[page])))
    core_off = {**CORE, "sensitivity": "off"}
    (loss,) = losses(reading(packages=[core_off], rules=[rule("core", "off")]))
    assert not loss.in_force


def test_what_comes_near_is_never_called_the_same() -> None:
    """For a rule of the provider the rule described alike, for a group the category of its name. The core's
    rules were written anew, and nothing stands in for them.
    """
    php = group("own", "off", "Managed WordPress")
    found = settings(reading(groups=[php], rules=[rule("own", "simulate"), rule("core", "off")]))
    core, wordpress, simulated = found
    assert core.replacement is None
    assert wordpress.replacement == Replacement(ruleset=MANAGED_RULESET, category="wordpress", enabled=False)
    assert simulated.replacement == Replacement(ruleset=MANAGED_RULESET, described="A robot", action="log")
    assert not simulated.replacement.equivalent
    assert "not equivalent" in text_of_loss(simulated) and "'A robot' with action log" in text_of_loss(
        simulated
    )
    (other,) = settings(reading(groups=[group("own", "off", "Managed Specials")]))
    assert other.replacement is None


def test_settings_of_the_provider_s_rules_are_to_be_compared_where_the_configuration_has_some() -> None:
    """Where it has none they are lost; before it is read, nothing is said."""
    rules = [rule("own", "disable")]
    overrides = {"rules": [{"id": "x", "enabled": False}]}
    fates = [
        [loss.fate for loss in settings(reading(rules=rules, config=config))]
        for config in (managed(), managed(overrides=overrides), managed(OWASP_RULESET, overrides=overrides))
    ]
    assert fates == [[Fate.LOST], [Fate.COMPARE], [Fate.LOST]]
    assert settings(reading(rules=rules, config=None)) == []
    (compare,) = to_do(settings(reading(rules=rules, config=managed(overrides=overrides))))
    assert compare.startswith("compare 1 setting of the previous rules with the overrides")


def test_a_group_of_the_provider_that_is_off_may_be_so_as_delivered() -> None:
    """It is no loss for certain: people compare."""
    (loss,) = settings(reading(groups=[group("own", "off")]))
    assert loss.fate is Fate.COMPARE
    assert lost_counts([loss]) == {}


def test_rules_that_the_service_counts_and_does_not_list_are_counted() -> None:
    """By group, beyond those that are listed with a mode."""
    found = settings(reading(groups=[group("core", modified_rules_count=3)], rules=[rule("core", "off")]))
    assert [(loss.id, loss.count) for loss in found] == [("981138", 1), ("", 2)]
    assert text_of_loss(found[1]).startswith("2 rules of Core, Bad Robots, changed by the service's count")
    assert lost_counts(found) == {"rule": 3}


def test_many_zones_share_the_sentences_of_a_plan() -> None:
    """One for each package and the sensitivity, without identifiers."""
    found = losses(
        reading(groups=[group("core", "off"), group("own", "off")], rules=[rule("core", "off")] * 2)
    )
    assert summaries(found, Fate.LOST)[1:] == (
        "Core: 1 rule group off and 2 rules with settings of their own, not carried over",
    )
    (compare,) = summaries(found, Fate.COMPARE)
    assert compare == "Provider: 1 rule group off, to compare with the overrides of the new configuration"


def test_nothing_changed_is_nothing_lost() -> None:
    """But for the sensitivity that was in force."""
    assert settings(reading(groups=[group("core"), group("own")])) == []
    assert losses(reading(packages=[])) == ()
    assert (
        assess(
            reading(
                status={
                    "migration_state": "complete",
                    "new_waf_status": "enabled",
                    "old_waf_status": "disabled",
                }
            ),
            SPECIFICATION,
        ).losses
        == ()
    )


KEYS = st.sampled_from(
    [
        *("id", "name", "mode", "group", "package_id", "description"),
        *("detection_mode", "sensitivity", "modified_rules_count"),
    ]
)
odd = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=6,
)


@given(st.lists(st.dictionaries(KEYS, odd, max_size=6), max_size=4))
def test_odd_answers_are_no_errors(items: list[Json]) -> None:
    """Whatever the service says in place of a name, a mode or a count, each loss has words."""
    for loss in losses(reading(packages=[*items, CORE], groups=items, rules=items)):
        assert text_of_loss(loss) and Loss.model_validate(loss.model_dump(mode="json")) == loss
