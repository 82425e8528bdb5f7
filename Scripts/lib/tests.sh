# shellcheck shell=bash
# Builds the tests and runs them in turns; needs steps.sh, sample.sh, system.sh and a folder `record`.

closed='(✔|✘|􁁛|􀢄) Test run with'
closing="" passed=0 failed=0 unshown=0

# A warning is a failure, those of SwiftPM and of C included, which no compiler flag catches.
build() {
  local code=0
  if [ "${FERRY_BUILT:-}" = yes ]; then return; fi
  bounded 7200 swift build --build-tests 2>&1 | tee "$record/build" | grep -v '^\[' || code=${PIPESTATUS[0]}
  if [ "$code" -ne 0 ]; then
    complain "The build failed."
    return 1
  fi
  if grep 'warning:' "$record/build" > "$record/warnings"; then
    complain "The build warns, and a warning is a failure:"
    sort -u "$record/warnings" >&2
    return 1
  fi
  export FERRY_BUILT=yes
}

# Tests that calculate for long would hold up those that watch the clock: turns of their own.
network="FerryHTTP|FerryODataClientTests"
clocked="$network|WayTests"
calculating="PlantTests|SimulateTests|FerrySimulationTests|FerryTidyTests"

# Seeds of StraightSaveTests, which runs forty where nobody draws.
draw_saves() {
  FERRY_SAVES="$(draw saves 4 1 1000000 | paste -s -d ' ')"
  export FERRY_SAVES
  say "Of the saves that are compared the tree draws the seeds $FERRY_SAVES"
}

# quick_turns, small_turns: each turn is a step, so that its time is seen.
quick_turns() {
  draw_saves
  step "tests" turn --skip "$clocked|$calculating$(unchanged_tests)" || result=1
  step "tests that calculate" turn --filter "$calculating" --skip PlantTests || result=1
  step "tests of HTTP" turn --filter "$network" || result=1
}

# What the tree draws of the planted bugs is found; by hand, and in full turns, all of them are.
small_turns() {
  draw_saves
  FERRY_PLANTS="$(sed -n 's/^  case \([A-Za-z]*\)$/\1/p' Sources/Ground/World/PlantedBug.swift | draw_words plants 3 | paste -s -d ' ')"
  FERRY_KILL_PLANTS="$(sed -n '/^enum KillPlant/,/^}/s/^  case \([A-Za-z]*\)$/\1/p' Tests/Rounds/KillHouse.swift | draw_words kills 2 | paste -s -d ' ')"
  export FERRY_PLANTS FERRY_KILL_PLANTS
  say "Of the planted bugs the tree draws: $FERRY_PLANTS; of those of the rounds: $FERRY_KILL_PLANTS"
  step "tests" turn --skip "$clocked|$calculating" || result=1
  step "tests that calculate" turn --filter "$calculating" || result=1
  step "tests of HTTP" turn --filter "$network" || result=1
  step "tests of the whole circle" turn --filter "WayTests" || result=1
}

# Tests that a quick run leaves out where nothing of theirs has changed, as more of a pattern. A whole run
# has them always: two of them were wrong for a day, and nobody saw it.
unchanged_tests() {
  if odata_has_changed; then return; fi
  echo "|FerryODataTests|FerryODataAddressTests|FerryFuzzTests"
}

# Whether OData, JSON, their tests or what a fuzzer is fed with differ from main, or on main from the
# commit before. Where that is not known, as in a clone of one commit, they have.
odata_has_changed() {
  local base
  local -a places=(
    Sources/OData Sources/Ground/JSON Sources/Ground/HTTP Sources/Proof/FuzzTargets Sources/System/CLibXML2 Tests/ODataTests
    Tests/ODataAddressTests Tests/FuzzTests Tests/JSONTests Fuzzing Package.swift
    Scripts/lib/odata-peer.py Scripts/lib/peers.sh
  )
  base="$(git merge-base HEAD origin/main 2> /dev/null || true)"
  if [ -z "$base" ] || [ "$base" = "$(git rev-parse HEAD)" ]; then
    base="$(git rev-parse --quiet --verify HEAD~1)" || return 0
  fi
  ! git diff --quiet "$base" -- "${places[@]}" ||
    [ -n "$(git ls-files --others --exclude-standard -- "${places[@]}")" ]
}

# One run of the test process, its output kept; a run without a closing line has crashed.
#
# Without a word all tests of a turn begin at once, and each of them lasts as long as the whole turn:
# a slow machine then meets every bound that any of them has. So a few at a time.
turn() {
  local code=0
  SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH=24 \
    bounded 7200 swift test --skip-build --parallel "$@" > "$record/turn" 2>&1 || code=$?
  cat "$record/turn" >> "$record/tests"
  # XCTest's own closing line speaks of no tests: there are none of its kind.
  closing="$(grep -E "$closed [1-9][0-9]* tests?" "$record/turn" | tail -1 || true)"
  count_results
  if [ "$code" -eq 0 ] && [ -n "$closing" ]; then
    say "$closing"
    check_shown
    return
  fi
  show_failures >&2
  if [ -z "$closing" ]; then
    complain "!! The test process ended without its closing line (exit $code): it crashed or was ended."
    complain "!! Started and not finished:"
    unfinished_tests >&2
  fi
  return 1
}

# A test that had no disk or network of its own passes and says so: where it could have had one, the
# turn has failed.
check_shown() {
  local need reason count code=0
  count="$(grep -c '^way: NOT SHOWN' "$record/turn" || true)"
  unshown=$((unshown + count))
  passed=$((passed - count))
  for need in $(sed -n 's/^way: NOT SHOWN (\([A-Za-z]*\)).*/\1/p' "$record/turn" | sort -u); do
    reason="$(excuse "$need")"
    if [ -n "$reason" ]; then
      say "Could not be shown: $reason"
    else
      complain "Tests could not show their point, and could have; see Scripts/install:"
      code=1
    fi
    grep "^way: NOT SHOWN ($need)" "$record/turn" || true
  done
  return "$code"
}

# Everything but what tells of tests that started or passed; a line without a sign belongs to the
# line with a sign above it, unless it tells of a crash.
show_failures() {
  awk '
    /^(◇|✔|􀟈|􁁛|\[)/ { shown = 0 }
    /^(✘|􀢄|↳|􀄵)/ { shown = 1 }
    /Fatal error|Precondition failed|unexpected signal|: error: / { print; next }
    shown { print }
  ' "$record/turn"
}

# Adds the tests of this turn that passed and failed, from the lines of single tests and the closing
# line. A crash is a failure too.
count_results() {
  local total lost
  lost="$(grep -E '^(✘|􀢄) Test .* failed after ' "$record/turn" | grep -cv 'Test run with' || true)"
  if [ -n "$closing" ]; then
    total="$(sed -nE 's/.*Test run with ([0-9]+) tests?.*/\1/p' <<< "$closing")"
  else
    total="$(($(grep -cE '^(✔|􁁛) Test .* passed after ' "$record/turn" || true) + lost + 1))"
    lost=$((lost + 1))
  fi
  passed=$((passed + total - lost))
  failed=$((failed + lost))
}

unfinished_tests() {
  sed -nE 's/^(◇|􀟈) Test (".*"|[^ ]*\(.*\)) started\.$/\2/p' "$record/turn" | sort -u > "$record/started"
  sed -nE 's/^(✔|✘|􁁛|􀢄) Test (".*"|[^ ]*\(.*\)) (with [0-9]+ test cases? )?(passed|failed) after .*/\2/p' \
    "$record/turn" | sort -u > "$record/ended"
  comm -23 "$record/started" "$record/ended" | sed 's/^/  /' | head -15
}
