"""One sitting of the timing track behind the workstream server."""
