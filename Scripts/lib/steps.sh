# shellcheck shell=bash
# Shared by the scripts beside it: steps with a name, a time and a bound.

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)"
cd "$root" || exit 1

# A crash of a test process otherwise prints pages before its message.
export SWIFT_BACKTRACE=enable=no

step_names=()
step_seconds=()

say() { printf '%s\n' "$*"; }

complain() { printf '%s\n' "$*" >&2; }

# step NAME COMMAND…: runs the command, keeps how long it took, and passes its failure on.
step() {
  local name="$1" start="$SECONDS" code=0
  shift
  say "== $name"
  "$@" || code=$?
  step_names+=("$name")
  step_seconds+=("$((SECONDS - start))")
  if [ "$code" -ne 0 ]; then
    complain "!! $name failed (exit $code) after $((SECONDS - start)) s"
  fi
  return "$code"
}

# bounded SECONDS COMMAND…: the command, ended after that time with a plain word about it.
bounded() {
  local seconds="$1" code=0
  shift
  timeout --kill-after=10 "$seconds" "$@" || code=$?
  if [ "$code" -eq 124 ] || [ "$code" -eq 137 ]; then
    complain "!! ended after its bound of $seconds s: $*"
  fi
  return "$code"
}

timings() {
  local index
  for index in "${!step_names[@]}"; do
    printf '%6d s  %s\n' "${step_seconds[$index]}" "${step_names[$index]}"
  done
}
