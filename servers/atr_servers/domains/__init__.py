"""The domains: tables and handlers, nothing else, and all alike. A handler bears the name of its tool."""
