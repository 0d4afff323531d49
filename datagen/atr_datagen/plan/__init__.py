"""The composition of the whole dataset, drawn before anything is written."""
