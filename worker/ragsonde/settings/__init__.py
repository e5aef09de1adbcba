"""Settings: one frozen object, read once at the top and handed down as values."""

from ragsonde.settings.fields import Ports, RetentionDays, Settings
from ragsonde.settings.reading import Reading, read_settings, read_with_origins

__all__ = ["Ports", "Reading", "RetentionDays", "Settings", "read_settings", "read_with_origins"]
