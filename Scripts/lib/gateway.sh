# shellcheck shell=bash
# Shared by the checks of the gateway: a folder, processes that end with the script, and expectations.

work="$(mktemp -d "${TMPDIR:-/tmp}/ferry-gateway.XXXXXX")"
children=()
end_all() {
  local child
  for child in "${children[@]}"; do kill "$child" 2>/dev/null || true; done
  wait 2>/dev/null || true
  rm -rf "$work"
}
trap end_all EXIT

fail() {
  complain "!! $*"
  local log
  for log in "$work"/*.log; do if [ -e "$log" ]; then tail -3 "$log" >&2; fi; done
  return 1
}

free_port() {
  python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}

# Waits until something listens there.
await() {
  local turn
  for turn in $(seq 600); do
    if (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; then return 0; fi
    sleep 0.1
  done
  fail "nothing listens on port $1 after $turn turns"
}

expect() {
  if [ "$2" != "$3" ]; then fail "$1: expected $3, and it was $2"; fi
}

contains() {
  if ! grep -qF -- "$2" <<<"$3"; then fail "$1: no $2 in: ${3:0:600}"; fi
}

lacks() {
  if grep -qF -- "$2" <<<"$3"; then fail "$1: $2 is in: ${3:0:600}"; fi
}

# An authority of this check, and certificates of it: make_certificates NAME=SUBJECT…
make_certificates() {
  (cd "$work" && sh "$root/Tests/Fixtures/certificates.sh" "$@") >/dev/null 2>&1 ||
    fail "no certificates could be made"
}

# background NAME COMMAND…: its output goes to NAME.log, and its id to `last_child`.
background() {
  local name="$1"
  shift
  "$@" >"$work/$name.log" 2>&1 &
  last_child="$!"
  children+=("$last_child")
}
