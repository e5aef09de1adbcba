"""The dashboards for Grafana, as code: `make dashboards` writes their JSON."""
