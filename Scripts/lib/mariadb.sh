#!/usr/bin/env bash
# Runs a server of MariaDB of its own, in a temporary folder, until its standard input ends.
#
#   Scripts/lib/mariadb.sh [--durable] [--setting=value …]
#
# Prints the path of its socket when the server takes connections. It listens on that socket only, so it
# needs no port; the user is ferry, without a password. Without --durable it does not wait for the disk.
# The server is ended by its process id, and its folder is removed.
#
# A line `kill` on its standard input kills the server by SIGKILL, and starts it again on its data; the
# line is printed once more when it takes connections.
set -euo pipefail

PATH="$PATH:/usr/sbin:/usr/local/sbin"
if ! command -v mariadbd > /dev/null || ! command -v mariadb-install-db > /dev/null; then
  echo "There is no server of MariaDB here; Scripts/install brings it." >&2
  exit 1
fi

settings=(--innodb-flush-log-at-trx-commit=0 --innodb-doublewrite=0 --sync-frm=0)
if [ "${1:-}" = "--durable" ]; then
  settings=()
  shift
fi
settings+=("$@")

# It refuses to run as root without being told who it is.
owner="$(id -un)"
as=()
if [ "$(id -u)" -eq 0 ]; then
  owner=mysql
  id "$owner" > /dev/null 2>&1 || owner=nobody
  as=(--user="$owner")
fi

folder="$(mktemp -d "${TMPDIR:-/tmp}/ferry-mariadb.XXXXXX")"
server=""
# shellcheck disable=SC2317 # It is reached by the trap.
clean_up() {
  if [ -n "$server" ]; then
    kill -KILL "$server" 2> /dev/null || true
    wait "$server" 2> /dev/null || true
  fi
  rm -rf "$folder"
}
trap clean_up EXIT
trap 'exit 143' TERM INT HUP

chmod 755 "$folder"
mkdir "$folder/data" "$folder/temporary"
socket="$folder/socket"
if [ "${#as[@]}" -gt 0 ]; then chown "$owner" "$folder" "$folder/data" "$folder/temporary"; fi
if ! TMPDIR="$folder/temporary" mariadb-install-db --no-defaults "${as[@]}" --datadir="$folder/data" --skip-test-db \
  --auth-root-authentication-method=normal --innodb-buffer-pool-size=16M > "$folder/log" 2>&1; then
  cat "$folder/log" >&2
  exit 1
fi
printf '%s;\n' "CREATE USER IF NOT EXISTS ferry@localhost" \
  "GRANT ALL ON *.* TO ferry@localhost WITH GRANT OPTION" > "$folder/first.sql"
chmod 644 "$folder/first.sql"

start() {
  mariadbd --no-defaults "${as[@]}" --datadir="$folder/data" --tmpdir="$folder/temporary" \
    --socket="$socket" --skip-networking --pid-file="$folder/data/pid" --init-file="$folder/first.sql" \
    --innodb-buffer-pool-size=64M --character-set-server=utf8mb4 --max-connections=200 \
    "${settings[@]}" >> "$folder/log" 2>&1 < /dev/null &
  server="$!"
  until mariadb-admin --no-defaults --socket="$socket" --user=ferry status > /dev/null 2>&1; do
    if ! kill -0 "$server" 2> /dev/null; then
      cat "$folder/log" >&2
      exit 1
    fi
    sleep 0.05
  done
  echo "$socket"
}

start
# Until whoever asked for the server closes the line, or is gone.
while read -r word; do
  if [ "$word" = kill ]; then
    kill -KILL "$server" 2> /dev/null || true
    wait "$server" 2> /dev/null || true
    rm -f "$socket"
    start
  fi
done
