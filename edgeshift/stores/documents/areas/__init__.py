"""What each area keeps in the archive of its own."""
