"""How properties are tried: no deadline for one example, for a busy machine is no counterexample. The usual
share has the same examples each time; another seed, or all, has fresh ones.
"""

from __future__ import annotations

import os

from hypothesis import settings

from tests.harness.running.share import share_of

USUALLY = share_of({}) == share_of(dict(os.environ))

settings.register_profile("rules", deadline=None, max_examples=60, derandomize=USUALLY)
settings.load_profile("rules")
