"""Players without a model. Each decides event by event, from what the server shows and what it studied."""
