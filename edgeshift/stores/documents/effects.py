"""How long changes took to show (activities/effects.py)."""

from __future__ import annotations

from edgeshift.stores.documents.codec import Document


class EffectTook(Document):
    """``took/<run>/<area>/<kind>/<target>``: after how many seconds a change of this kind was seen to show,
    in the campaign whose first run this is. Only the first few of each worker are recorded.

    Written by the activities that verify; read by those of workers that have seen none yet.
    """

    seconds: float
