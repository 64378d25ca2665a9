"""The differential probe: asks the edge for a scope's URLs with Edge Side Code and without."""

from __future__ import annotations

from edgeshift.probes.baseline import Baseline, BaselineUrl
from edgeshift.probes.fetch import ProbeError
from edgeshift.probes.probing import Prober, prober_of

__all__ = ["Baseline", "BaselineUrl", "ProbeError", "Prober", "prober_of"]
