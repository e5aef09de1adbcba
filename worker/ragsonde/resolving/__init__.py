"""Code that users configured and that may do I/O: extractors, and texts for ids."""
