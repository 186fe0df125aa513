"""Export: take the model, the trace or a picture with you."""
