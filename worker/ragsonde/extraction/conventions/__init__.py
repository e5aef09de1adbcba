"""What the attributes of spans mean: one file a convention, each from a span to a step."""
