"""Judges: who answers questions about a trace, free and offline, from a file, or by asking an LLM."""
