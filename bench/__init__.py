"""Measurements: ratios within one run, since machines are noisy. ``make bench`` writes out/bench-*.json."""
