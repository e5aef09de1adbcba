"""From a delivery's bytes to native messages or spans, or to the reason why it is neither."""
