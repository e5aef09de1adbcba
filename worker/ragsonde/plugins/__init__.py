"""What installed packages add, found by their entry points; a module for each kind of thing."""
