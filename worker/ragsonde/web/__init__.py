"""What servers of whole HTTP requests share: connections that stay without need make room for others."""
