"""What the area waf shows of a proposal beside what every proposal has. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import BaseModel, ConfigDict

from edgeshift.areas.waf.evidence_terms import Evidence


class WafShown(BaseModel):
    """``earlier``: the shadow window's evidence, where another window came after it. ``only_log``: what the
    proposal itself lets only log. ``overrides``: URI-based overrides of the zone. ``names``: what rules are
    called, by their identifiers, as far as something was read that says it.
    """

    model_config = ConfigDict(frozen=True)

    earlier: Evidence | None = None
    only_log: tuple[str, ...] = ()
    overrides: tuple[str, ...] = ()
    names: Mapping[str, str] = {}


def shown_of(own: BaseModel | None) -> WafShown:
    """What is shown, of a proposal that may have nothing of its own."""
    return own if isinstance(own, WafShown) else WafShown()
