"""The activities: one file an outside system. Clients are injected; each failure is named at this boundary."""
