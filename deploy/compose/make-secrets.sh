#!/bin/sh
# Makes the secrets of compose.yaml, each in a file of its own: make-secrets.sh [FOLDER]. What is there stays.
set -eu
folder=${1:-$(dirname "$0")/secrets}
umask 077
mkdir -p "$folder"

write() { # NAME, and what the file is to hold on standard input
    if [ -e "$folder/$1" ]; then
        cat >/dev/null
        return
    fi
    cat >"$folder/$1.new"
    # containers read it as users of their own; on this machine the folder is closed to others
    chmod 444 "$folder/$1.new"
    mv "$folder/$1.new" "$folder/$1"
    echo "made $folder/$1"
}

for name in broker_password grafana_admin_password grafana_database_password metrics_token migrate_password \
    monitor_password page_token postgres_password producer_password receiver_token worker_password; do
    od -An -N24 -tx1 /dev/urandom | tr -d ' \n' | write "$name"
done
# hexadecimal digits need no escaping in a URL
printf 'amqp://ragsonde:%s@rabbitmq:5672/ragsonde' "$(cat "$folder/broker_password")" | write broker_url
for role in migrate monitor worker; do
    printf 'postgresql://ragsonde_%s:%s@postgres:5432/ragsonde' "$role" "$(cat "$folder/${role}_password")" |
        write "${role}_database_url"
done
# of the mail server, for alerts: write yours into it
printf 'none' | write smtp
chmod 700 "$folder"
