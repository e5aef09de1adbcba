"""HTTP in: what producers post is put on the queue, confirmed."""
