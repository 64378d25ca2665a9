"""What the activities of one area alone take and give back."""
