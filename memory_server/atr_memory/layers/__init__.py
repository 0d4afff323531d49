"""The layers, one module each."""
