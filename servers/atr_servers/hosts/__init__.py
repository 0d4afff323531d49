"""How environments are served: stdio, HTTP, and a state file that outlives a process."""
