"""Postgres and Valkey from wheels, and the processes of ours that run beside them under `ragsonde up`."""
