"""From the broker to the pipeline: topology, consumer, publisher."""
