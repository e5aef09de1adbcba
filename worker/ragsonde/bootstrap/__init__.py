"""The top: what a process is made of, wired."""
