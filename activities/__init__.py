"""The activities: one file an outside system. Clients are injected; failures are named here."""
