"""What a worker registers of each area, a module an area."""
