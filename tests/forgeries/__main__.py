"""``python -m tests.forgeries``: forge what people sign, a thousand times, and see what comes of it."""

from __future__ import annotations

import sys

from tests.forgeries.command import main

if __name__ == "__main__":
    sys.exit(main())
