"""What each area reads of its own before a person signs, a module an area."""
