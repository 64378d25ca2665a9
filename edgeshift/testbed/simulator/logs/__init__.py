"""Log jobs at work: their options, their destinations, the entries they push (docs/service.md §2.3, §8)."""
