"""Sheets for readers who saw nothing else, and the scores of what they answered (gates B1 to B4)."""
