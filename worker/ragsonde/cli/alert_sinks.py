"""Where notices of alerts are sent, built from settings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragsonde.regression.options import GRAFANA
from ragsonde.settings.secrets import build_token_reader
from ragsonde.sinks.alert_annotation import AlertAnnotation
from ragsonde.sinks.alert_webhook import AlertWebhook
from ragsonde_schemas.errors import ConfigError
from ragsonde_schemas.http_place import WEBHOOK

if TYPE_CHECKING:
    from ragsonde.regression.options import RegressionOptions
    from ragsonde.watching.notice_jobs import AlertSink


def build_alert_sinks(options: RegressionOptions) -> dict[str, AlertSink]:
    """The sinks that are configured, by name; nothing is connected yet.

    Raises:
        ConfigError: a file that is named cannot be read, or does not hold what it should.
    """
    sinks: dict[str, AlertSink] = {}
    try:
        if options.webhook is not None:
            sinks[WEBHOOK] = AlertWebhook(options.webhook)
    except ConfigError as error:
        raise ConfigError(*(f"regression.webhook.{problem}" for problem in error.problems)) from error
    if options.grafana is not None:
        read_token = build_token_reader(options.grafana, key="regression.grafana")
        try:
            sinks[GRAFANA] = AlertAnnotation(options.grafana, read_token=read_token)
        except ConfigError as error:
            raise ConfigError(*(f"regression.grafana.{problem}" for problem in error.problems)) from error
    return sinks
