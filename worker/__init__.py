"""What a worker registers, and the wiring of one process."""
