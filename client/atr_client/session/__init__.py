"""One session: the turn loop and what it talks to."""
