"""What a trace says: which contexts are judged, and how their text is cut into sentences."""
