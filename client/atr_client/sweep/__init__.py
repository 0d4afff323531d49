"""Many cells: configuration, plan, models and endpoints, scheduling."""
