"""The lexical judge: free, offline, deterministic; it compares words and looks nothing up."""
