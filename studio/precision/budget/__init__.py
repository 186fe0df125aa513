"""Budget: the cheapest precision of every region within what may be lost."""
