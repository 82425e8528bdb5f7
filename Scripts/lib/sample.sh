# shellcheck shell=bash
# Small samples that the tree and the day draw: the same tree draws the same on one day, and each other
# tree, or day, others, so that many runs see much, and a run that failed can be made again.
#
#   source Scripts/lib/sample.sh      tree_hash, sample_day, draw, draw_words
#   bash Scripts/lib/sample.sh draw NAME COUNT LOWEST HIGHEST

# The hash that `git write-tree` gives of all that lies in the working tree and is not ignored. Neither
# the index nor the objects are touched. FERRY_TREE names another tree, whose sample is drawn again.
tree_hash() {
  if [ -n "${FERRY_TREE:-}" ]; then
    echo "$FERRY_TREE"
    return
  fi
  local work objects code=0
  objects="$(cd "$(git rev-parse --git-path objects)" && pwd)" || return 1
  work="$(mktemp -d "${TMPDIR:-/tmp}/ferry-tree.XXXXXX")"
  mkdir "$work/objects"
  cp "$(git rev-parse --git-path index)" "$work/index" 2> /dev/null || true
  (
    export GIT_INDEX_FILE="$work/index" GIT_OBJECT_DIRECTORY="$work/objects"
    export GIT_ALTERNATE_OBJECT_DIRECTORIES="$objects"
    git add --all && git write-tree
  ) || code=$?
  rm -rf "$work"
  return "$code"
}

# Of UTC; FERRY_DAY names another one.
sample_day() { echo "${FERRY_DAY:-$(date -u +%F)}"; }

# draw NAME COUNT LOWEST HIGHEST: so many different numbers, one a line.
draw() {
  local tree day number turn=0
  local -A drawn=()
  tree="$(tree_hash)" || return 1
  day="$(sample_day)"
  while [ "${#drawn[@]}" -lt "$2" ]; do
    number="$(printf '%s %s %s %d' "$tree" "$day" "$1" "$turn" | sha1sum)"
    drawn[$(($3 + 16#${number:0:12} % ($4 - $3 + 1)))]=1
    turn=$((turn + 1))
  done
  printf '%s\n' "${!drawn[@]}" | sort -n
}

# draw_words NAME COUNT: so many of the lines of standard input.
draw_words() {
  local tree day word hash
  tree="$(tree_hash)" || return 1
  day="$(sample_day)"
  while read -r word; do
    hash="$(printf '%s %s %s %s' "$tree" "$day" "$1" "$word" | sha1sum)"
    printf '%s %s\n' "${hash:0:40}" "$word"
  done | sort | sed -n "1,$2s/^[^ ]* //p"
}

if [ "${BASH_SOURCE[0]}" = "$0" ]; then
  set -euo pipefail
  cd "$(dirname "${BASH_SOURCE[0]}")/../.."
  "$@"
fi
