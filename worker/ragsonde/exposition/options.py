"""What is configured for the series."""

from __future__ import annotations

from ragsonde_schemas.token import TokenSource


class MetricsOptions(TokenSource):
    """Who may scrape workers and monitor: who shows the token; without one nobody is asked."""
