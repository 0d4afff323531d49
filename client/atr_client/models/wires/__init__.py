"""One module per wire format, all alike."""
