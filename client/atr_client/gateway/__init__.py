"""Agents that are not ours: they play through MCP or step by step, in the same turn loop as any model."""
