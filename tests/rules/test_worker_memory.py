"""What a worker has loaded is left out where Python looks for what nobody needs any more."""

from __future__ import annotations

import gc
import weakref

from worker.serving import COLLECTED_EVERY, keep_loaded


class Ring:
    """Holds itself."""

    def __init__(self) -> None:
        self.self = self


def test_what_is_loaded_is_kept_and_what_comes_later_is_found() -> None:
    """Rings from before are gone at once, those that come after it once they are looked for."""
    usual = gc.get_threshold()
    before = weakref.ref(Ring())
    try:
        keep_loaded()
        assert before() is None and gc.get_freeze_count() > 1_000
        assert gc.get_threshold() == COLLECTED_EVERY
        after = weakref.ref(Ring())
        gc.collect()
        assert after() is None
    finally:
        gc.unfreeze()
        gc.set_threshold(*usual)
