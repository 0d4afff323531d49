"""The timing track: players that need no model, how they play through the server, gates and commands."""
