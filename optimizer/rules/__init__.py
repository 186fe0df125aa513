"""What a rule may ask (`context`) and what it answers (`replacement`)."""
