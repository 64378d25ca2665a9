"""What each area prints of its own, a module an area."""
