"""What each area says of its campaign files, a module an area. Pure."""
