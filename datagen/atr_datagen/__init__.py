"""Authoring: persona sources in YAML are compiled to episodes and checked by gates."""
