"""What a run writes and what is read back of it."""
