"""What the pages let people do that takes a while: races, profiles and what follows from them."""
