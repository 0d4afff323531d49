"""Makes the weights of the offline user from the labelled data. Not part of the installed package."""
