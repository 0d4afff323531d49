"""The six domains: tables and handlers, nothing else, and all alike."""
