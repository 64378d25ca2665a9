"""The workflows: campaign, zone, assessment and quota. Deterministic, no I/O."""
