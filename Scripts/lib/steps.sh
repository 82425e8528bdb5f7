# shellcheck shell=bash
# Shared by the scripts beside it: steps with a name, a time and a bound.

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)"
cd "$root" || exit 1

# A crash of a test process otherwise prints pages before its message.
export SWIFT_BACKTRACE=enable=no

step_names=()
# Milliseconds, of the clock and of the processor.
step_clock=()
step_processor=()
ticks="$(getconf CLK_TCK)"

say() { printf '%s\n' "$*"; }

complain() { printf '%s\n' "$*" >&2; }

# Sets `now` and `processor`: milliseconds of the clock, and of the processor that this shell and its
# children took so far; a child counts when it has ended.
look_at_time() {
  local fields
  read -r -a fields < "/proc/$BASHPID/stat"
  now=$((${EPOCHREALTIME/[.,]/} / 1000))
  processor=$(((fields[13] + fields[14] + fields[15] + fields[16]) * 1000 / ticks))
}

# step NAME COMMAND…: runs the command, keeps how long it took, and passes its failure on.
step() {
  local name="$1" code=0 now processor start before
  shift
  say "== $name"
  look_at_time
  start="$now" before="$processor"
  "$@" || code=$?
  look_at_time
  step_names+=("$name")
  step_clock+=("$((now - start))")
  step_processor+=("$((processor - before))")
  if [ "$code" -ne 0 ]; then
    complain "!! $name failed (exit $code) after $(((now - start) / 1000)) s"
  fi
  return "$code"
}

# steps_side_by_side FOLDER COMMAND NAME…: a step `COMMAND NAME` for each name, two at a time. What each
# says is kept in FOLDER, and shown when it has ended.
steps_side_by_side() {
  local folder="$1" command="$2" name code=0 result clock cost
  shift 2
  for name in "$@"; do
    while [ "$(jobs -rp | wc -l)" -ge 2 ]; do wait -n || true; done
    (
      step "$name" "$command" "$name" > "$folder/$name" 2>&1 || result=$?
      echo "${result:-0} ${step_clock[-1]} ${step_processor[-1]}" > "$folder/$name.time"
    ) &
  done
  wait
  for name in "$@"; do
    cat "$folder/$name"
    # One that was killed has written none.
    read -r result clock cost 2> /dev/null < "$folder/$name.time" || result=1 clock=0 cost=0
    step_names+=("$name")
    step_clock+=("$clock")
    step_processor+=("$cost")
    if [ "$result" -ne 0 ]; then code=1; fi
  done
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

# built ARGUMENT…: `swift build` with these, unless the whole tree was just built (FERRY_BUILT).
built() {
  if [ "${FERRY_BUILT:-}" = yes ]; then return; fi
  bounded 3600 swift build "$@"
}

# timings [MILLISECONDS]: what each step took of the clock and of the processor, and all of them
# together. Where steps ran side by side the clock of all is told.
timings() {
  local index clock=0 all=0
  printf '%10s  %10s\n' clock processor
  for index in "${!step_names[@]}"; do
    time_line "${step_clock[$index]}" "${step_processor[$index]}" "${step_names[$index]}"
    clock=$((clock + step_clock[index]))
    all=$((all + step_processor[index]))
  done
  time_line "${1:-$clock}" "$all" "together"
}

time_line() {
  printf '%6d.%d s  %6d.%d s  %s\n' \
    $(($1 / 1000)) $(($1 / 100 % 10)) $(($2 / 1000)) $(($2 / 100 % 10)) "$3"
}
