"""When is a record whole."""
