"""The audit file of a campaign: who agreed to what, written from the archive and proved without it
(docs/audit.md).
"""
