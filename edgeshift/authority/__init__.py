"""Whose word counts: statements signed by people's keys, the roots that say whose keys those are, and where
the statements are kept. Temporal carries questions; what is here proves the answers.
"""
