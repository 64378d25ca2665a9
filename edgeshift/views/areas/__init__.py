"""What each area has of its own in timelines and reports, a module an area."""
