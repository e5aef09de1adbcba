"""Postgres: where traces, evaluations, scores and parked messages are kept."""
