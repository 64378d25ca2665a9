"""The rules of the WAF migration (docs/service.md §3.2, §4.3, §7, §8), pure: what was read goes in, what
follows comes out. One name for its three parts: what reading tells, the bodies that are sent, the cases
for support.
"""

from edgeshift.areas.waf.answers import (
    AS_DELIVERED,
    MANAGED_RULESET,
    OWASP_RULESET,
    Reading,
    page_rule_effects,
    page_rule_patterns,
)
from edgeshift.areas.waf.body import (
    Adjustment,
    Mode,
    Proposal,
    adjust,
    is_log_only,
    may_send,
    pinned_since,
    propose,
    rules_digest,
    same_rules,
    shadow,
    unsound,
    with_assigned,
)
from edgeshift.areas.waf.bypass_rules import bypasses
from edgeshift.areas.waf.defaults import Defaults, defaults_of, logs_anyway
from edgeshift.areas.waf.loss_texts import text_of_loss
from edgeshift.areas.waf.losses import Fate, Loss, SettingKind, losses
from edgeshift.areas.waf.page_rules import NeedsWildcard, Unwritable, covered, names_port, skip_rule
from edgeshift.areas.waf.protection import protection_warnings, runs_nothing, unprotected
from edgeshift.areas.waf.reading import (
    WITHOUT_WINDOW,
    Assessment,
    Verdict,
    assess,
    expression_bytes,
    in_validation,
    is_migrated,
    is_migrated_to,
    is_past,
    may_be_migrated,
    migrates,
    migration_state,
    warnings,
)
from edgeshift.areas.waf.replaced import replaced
from edgeshift.areas.waf.score import score_of
from edgeshift.areas.waf.support import support_cause, ticket_text
from edgeshift.areas.waf.weakness import only_logging, weakened

__all__ = [
    "AS_DELIVERED",
    "MANAGED_RULESET",
    "OWASP_RULESET",
    "WITHOUT_WINDOW",
    "Adjustment",
    "Assessment",
    "Defaults",
    "Fate",
    "Loss",
    "Mode",
    "NeedsWildcard",
    "Proposal",
    "Reading",
    "SettingKind",
    "Unwritable",
    "Verdict",
    "adjust",
    "assess",
    "bypasses",
    "covered",
    "defaults_of",
    "expression_bytes",
    "in_validation",
    "is_log_only",
    "is_migrated",
    "is_migrated_to",
    "is_past",
    "logs_anyway",
    "losses",
    "may_be_migrated",
    "may_send",
    "migrates",
    "migration_state",
    "names_port",
    "only_logging",
    "page_rule_effects",
    "page_rule_patterns",
    "pinned_since",
    "propose",
    "protection_warnings",
    "replaced",
    "rules_digest",
    "runs_nothing",
    "same_rules",
    "score_of",
    "shadow",
    "skip_rule",
    "support_cause",
    "text_of_loss",
    "ticket_text",
    "unprotected",
    "unsound",
    "warnings",
    "weakened",
    "with_assigned",
]
