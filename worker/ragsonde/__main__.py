"""`python -m ragsonde` is the console script."""

from ragsonde.cli.main import run

run()
