"""Between which levels a mean can fall, and by how much it must."""

SMALLEST_DROP = 0.02
LOWEST_LEVEL, HIGHEST_LEVEL = 0.02, 0.98
