"""Sample networks that come with Passlens."""
