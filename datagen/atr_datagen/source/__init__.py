"""Persona sources: the grammar, what it means, and the episodes compiled from it."""
