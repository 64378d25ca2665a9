"""The activities: what a campaign reads, changes and verifies at the service, and what it tells its zones.

Clients are injected; failures are named here.
"""
