"""Independent checkers of what must always hold: the service's journal, the archive and tickets as files,
the Temporal server's own lists, and a byte scan. None of them believes what a campaign says of itself.
"""

from edgeshift.testbed.invariants.check import check_rules
from edgeshift.testbed.invariants.seen import CheckerInput, RuleCheck

__all__ = ["CheckerInput", "RuleCheck", "check_rules"]
