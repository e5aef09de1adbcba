"""Records that other tools write in JSON: one file a format, each from a document to its fields."""
