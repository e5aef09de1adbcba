"""What the process shows of itself: series for Prometheus and its health, over HTTP."""
