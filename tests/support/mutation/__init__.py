"""Mutation runs: small faults put into a copy of the source one by one, and whether a test notices."""
