"""What is taken out of texts, and which ids are replaced, before anything rests or leaves."""
