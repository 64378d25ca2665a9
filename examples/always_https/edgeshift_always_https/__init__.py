"""An area of edgeshift in a distribution of its own: the zone setting Always Use HTTPS, on or off."""
