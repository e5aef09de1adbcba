#!/bin/sh
# Makes roles and rights, and sets the roles' passwords, in the database of compose.yaml.
set -eu
PGPASSWORD=$(cat /run/secrets/postgres_password)
export PGPASSWORD
exec psql --host=postgres --username=postgres --dbname=ragsonde --no-psqlrc --quiet \
    --set=ON_ERROR_STOP=1 --file=/ragsonde/roles.sql --file=/ragsonde/passwords.sql
