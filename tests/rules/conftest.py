"""How properties are tried: without a deadline for one example, since a busy machine is not a counterexample."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("rules", deadline=None, max_examples=60)
settings.load_profile("rules")
