"""The demo of each area, a module an area."""
