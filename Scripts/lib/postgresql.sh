#!/usr/bin/env bash
# Runs a server of PostgreSQL of its own, in a temporary folder, until its standard input ends.
#
#   Scripts/lib/postgresql.sh [--durable | --standby-of SOCKET] [setting=value …]
#
# Prints one line when the server takes connections: the folder of its socket, a blank, and the folder
# of PostgreSQL's programs. It listens on that
# socket only, so it needs no port; the user is ferry, without a password. Without --durable it does
# not wait for the disk. With --standby-of it is a streaming standby of the server with that socket. The
# server is ended by its process id, and its folder is removed.
#
# A line `kill` on its standard input kills the server and all its processes by SIGKILL, and starts it
# again on its data; the first line is printed once more when it takes connections.
set -euo pipefail

# The programs of Debian's package stand on no path.
bin="$(dirname "$(compgen -G "/usr/lib/postgresql/*/bin/initdb" | sort -V | tail -1 || true)")"
if [ ! -x "$bin/initdb" ]; then
  initdb="$(command -v initdb || true)"
  bin="$(dirname "${initdb:-/nowhere/initdb}")"
fi
if [ ! -x "$bin/initdb" ]; then
  echo "There is no server of PostgreSQL here; Scripts/install brings it." >&2
  exit 1
fi

settings=(-c fsync=off -c synchronous_commit=off -c full_page_writes=off)
if [ "${1:-}" = "--durable" ]; then
  settings=()
  shift
fi
primary=""
if [ "${1:-}" = "--standby-of" ]; then
  primary="$2"
  shift 2
fi
for setting in "$@"; do settings+=(-c "$setting"); done

# It refuses to run as root.
as=()
owner="$(id -un)"
if [ "$(id -u)" -eq 0 ]; then
  owner=postgres
  id "$owner" > /dev/null 2>&1 || owner=nobody
  as=(setpriv --reuid "$owner" --regid "$(id -gn "$owner")" --clear-groups)
fi

folder="$(mktemp -d "${TMPDIR:-/tmp}/ferry-postgresql.XXXXXX")"
server=""
# shellcheck disable=SC2317 # It is reached by the trap.
clean_up() {
  if [ -n "$server" ]; then
    kill -QUIT "$server" 2> /dev/null || true
    wait "$server" 2> /dev/null || true
  fi
  rm -rf "$folder"
}
trap clean_up EXIT
trap 'exit 143' TERM INT HUP

chmod 755 "$folder"
mkdir "$folder/data" "$folder/socket"
if [ "${#as[@]}" -gt 0 ]; then chown "$owner" "$folder/data" "$folder/socket"; fi
cd "$folder"
if [ -n "$primary" ]; then
  chmod 700 "$folder/data"
  if ! "${as[@]}" "$bin/pg_basebackup" -h "$primary" -U ferry -D "$folder/data" -R -X stream \
    -c fast --no-sync > "$folder/log" 2>&1; then
    cat "$folder/log" >&2
    exit 1
  fi
elif ! "${as[@]}" "$bin/initdb" -D "$folder/data" -U ferry -A trust -E UTF8 --locale=C.UTF-8 \
  --no-sync > "$folder/log" 2>&1; then
  cat "$folder/log" >&2
  exit 1
fi
start() {
  "${as[@]}" "$bin/postgres" -D "$folder/data" -c listen_addresses= \
    -c unix_socket_directories="$folder/socket" -c max_connections=100 -c shared_buffers=32MB \
    -c jit=off -c timezone=UTC "${settings[@]}" >> "$folder/log" 2>&1 < /dev/null &
  server="$!"
  until "$bin/pg_isready" -q -h "$folder/socket"; do
    if ! kill -0 "$server" 2> /dev/null; then
      cat "$folder/log" >&2
      exit 1
    fi
    sleep 0.05
  done
  echo "$folder/socket $bin"
}

# The processes of the server, by their ids: those that it started itself.
children_of() {
  local file
  for file in /proc/[0-9]*/stat; do
    awk -v parent="$1" '{ sub(/^.*\) /, ""); if ($2 == parent) print FILENAME }' "$file" 2> /dev/null || true
  done | sed 's|/proc/\([0-9]*\)/stat|\1|'
}

crash() {
  local child children
  children="$(children_of "$server")"
  kill -KILL "$server" 2> /dev/null || true
  for child in $children; do kill -KILL "$child" 2> /dev/null || true; done
  wait "$server" 2> /dev/null || true
  # No new server starts beside one of the old processes.
  for child in $children; do
    while kill -0 "$child" 2> /dev/null; do sleep 0.01; done
  done
}

start
# Until whoever asked for the server closes the line, or is gone.
while read -r word; do
  if [ "$word" = kill ]; then
    crash
    start
  fi
done
