# shellcheck shell=bash
# A PostgreSQL server of a script's own: begin_postgresql FOLDER [setting=value …], end_postgresql.
#
# `postgresql_socket` and `postgresql_bin` say where it is. It ends with the script in any case.

postgresql_server=""

begin_postgresql() {
  mkfifo "$1/line"
  "$root/Scripts/lib/postgresql.sh" "${@:2}" < "$1/line" > "$1/postgresql" &
  postgresql_server="$!"
  exec 9> "$1/line"
  for _ in $(seq 600); do
    [ ! -s "$1/postgresql" ] || break
    kill -0 "$postgresql_server" 2> /dev/null || break
    sleep 0.1
  done
  read -r postgresql_socket postgresql_bin < "$1/postgresql" || {
    complain "!! the PostgreSQL server did not start"
    return 1
  }
}

# shellcheck disable=SC2317 # It is reached by a trap.
end_postgresql() {
  [ -n "$postgresql_server" ] || return 0
  # It ends with its line.
  exec 9>&-
  wait "$postgresql_server" 2> /dev/null || true
  postgresql_server=""
}
