"""Side by side with other tools; see README.md here."""
