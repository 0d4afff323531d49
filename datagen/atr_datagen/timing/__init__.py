"""The seeded generator of the timing track: a small work world, scenes in words, faces under a salt."""
