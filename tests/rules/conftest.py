"""How properties are tried: no deadline for one example; a busy machine is no counterexample."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("rules", deadline=None, max_examples=60)
settings.load_profile("rules")
