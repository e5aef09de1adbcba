"""The page for people: what it shows comes in as values, what it sends out is HTML."""
