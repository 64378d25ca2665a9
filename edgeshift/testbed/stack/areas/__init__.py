"""What a campaign of each area needs to know of a simulator, a module an area."""
