"""Where scores are sent besides Postgres and Prometheus: a webhook, OTLP, or what a package adds."""
