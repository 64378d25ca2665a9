"""The demo: a whole campaign over a generated fleet, with stand-ins for the people, checked by the
checkers.
"""
