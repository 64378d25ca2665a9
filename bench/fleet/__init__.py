"""What fleets are measured by: campaigns at the rate limit, with every part in a process of its own."""
