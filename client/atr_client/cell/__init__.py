"""One persona x variant x model: learn, freeze, test; what is reused, and what is counted."""
