#!/bin/sh
# Unpacks Debian's Prometheus and Alertmanager (promtool, amtool among them) into a folder; needs no root.
set -eu
target=${1:?usage: unpack.sh FOLDER}
command -v apt-get >/dev/null 2>&1 && command -v dpkg-deb >/dev/null 2>&1 || {
    echo "this unpacks Debian packages and needs apt-get and dpkg-deb; elsewhere put promtool, prometheus and" \
        "alertmanager into $target/usr/bin yourself" >&2
    exit 1
}
if [ -x "$target/usr/bin/promtool" ] && [ -x "$target/usr/bin/prometheus-alertmanager" ]; then
    exit 0
fi
mkdir -p "$target"
packages=$(mktemp -d)
trap 'rm -rf "$packages"' EXIT
chmod 755 "$packages"
cd "$packages"
apt-get download --quiet prometheus prometheus-alertmanager ||
    { apt-get update --quiet && apt-get download --quiet prometheus prometheus-alertmanager; } ||
    { echo "apt-get could not download prometheus and prometheus-alertmanager: try again as root" >&2; exit 1; }
cd - >/dev/null
for package in "$packages"/*.deb; do
    dpkg-deb --extract "$package" "$target"
done
"$target/usr/bin/promtool" --version
