"""What the doctor asks of each area, a module an area."""
