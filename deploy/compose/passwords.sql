-- For psql: the roles' passwords from the secrets' files. Nothing of them is written to the server's log.
SET log_statement = 'none';
SET log_min_error_statement = 'panic';
\set migrate `cat /run/secrets/migrate_password`
\set monitor `cat /run/secrets/monitor_password`
\set worker `cat /run/secrets/worker_password`
\set grafana `cat /run/secrets/grafana_database_password`
ALTER ROLE ragsonde_migrate PASSWORD :'migrate';
ALTER ROLE ragsonde_monitor PASSWORD :'monitor';
ALTER ROLE ragsonde_worker PASSWORD :'worker';
ALTER ROLE grafana PASSWORD :'grafana';
