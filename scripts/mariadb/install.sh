#!/usr/bin/env bash
# MariaDB for the tests, from packages of Debian or Ubuntu, unpacked into .mariadb. Nothing is installed.
set -euo pipefail
cd "$(dirname "$0")/../.."
test -x .mariadb/usr/sbin/mariadbd && exit 0
packages=$(mktemp -d)
trap 'rm -rf "$packages"' EXIT
mapfile -t libraries < <(apt-cache depends mariadb-server-core | sed -n 's/^ *Depends: \(lib\(aio\|uring\)[^ ]*\)$/\1/p')
(cd "$packages" && apt-get download -qq mariadb-server-core "${libraries[@]}")
for package in "$packages"/*.deb; do dpkg-deb -x "$package" "$packages/root"; done
rm -rf .mariadb
mv "$packages/root" .mariadb
chmod 755 .mariadb
