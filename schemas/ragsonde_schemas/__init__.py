"""The values that travel through ragsonde: no effects, nothing of ours imported."""
